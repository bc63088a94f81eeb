"""The web application: routes over a collection, one shape for every refusal, the guard around all of it."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from sfumato import __version__
from sfumato.service.collection import Collection
from sfumato.service.documents import Refused
from sfumato.service.guard import Guard, retry_after
from sfumato.service.lane import Lane
from sfumato.service.refusals import STATUS, RefusalError, malformed
from sfumato.service.routes import design, estimates, health, models, responses, studies, tokens, uploads
from sfumato.service.routes.pages import add_pages, missing

_CODES = {400: "malformed", 404: "not_found", 405: "method_not_allowed", 413: "too_large"}


def create_app(collection: Collection) -> Guard:
    """The server's application over what a collection holds; the caller closes the collection."""
    app = FastAPI(
        title="Sfumato collection service",
        version=__version__,
        openapi_url="/v1/openapi.json",
        docs_url=None,  # those pages load scripts from elsewhere
        redoc_url=None,
        responses=_documented(),
    )
    app.state.collection = collection
    for part in (studies, tokens, responses, estimates, models, uploads, design, health):
        app.include_router(part.router)
    add_pages(app)
    app.add_exception_handler(RefusalError, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _refused)
    guard = Guard(Lane(app, collection), collection.settings)
    app.state.guard = guard
    return guard


def _documented() -> dict[int | str, dict[str, Any]]:
    """Every status that a refusal can have, with the codes that it stands for."""
    by_status: dict[int | str, dict[str, Any]] = {}
    for status in sorted(set(STATUS.values()) - {500}):
        codes = [code for code, own in STATUS.items() if own == status]
        by_status[status] = {"model": Refused, "description": ", ".join(codes)}
    return by_status


async def _refused(_: Request, problem: Exception) -> JSONResponse:
    refusal = (
        problem if isinstance(problem, RefusalError) else RefusalError("internal", "something went wrong in the server")
    )
    headers = {name.decode(): value.decode() for name, value in retry_after(refusal)}
    return JSONResponse(refusal.document(), refusal.status, headers)


async def _invalid(request: Request, problem: Exception) -> JSONResponse:
    errors = problem.errors() if isinstance(problem, RequestValidationError) else []
    return await _refused(request, malformed(errors, skip=1))


async def _http(request: Request, problem: Exception) -> Response:
    status = problem.status_code if isinstance(problem, HTTPException) else 400
    code = _CODES.get(status, "malformed")
    page = missing(request) if code == "not_found" else None
    if page is not None:
        return page
    said = {"not_found": "there is no such address", "method_not_allowed": "this address does not take that method"}
    answer = await _refused(request, RefusalError(code, said.get(code, "the body cannot be read")))
    allow = (getattr(problem, "headers", None) or {}).get("Allow")
    if allow:
        answer.headers["allow"] = allow
    return answer
