"""Routes of responses: sent, asked for, withdrawn."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from sfumato.printable import printable
from sfumato.service.documents import Deleted, ReportIn, ReportsIn, ResponseIn, ResponseOut, Results
from sfumato.service.lane import store
from sfumato.service.refusals import RefusalError
from sfumato.service.responses import Stored
from sfumato.service.routes.who import collection, secret_of, write
from sfumato.service.tokens import Token

router = APIRouter(prefix="/v1", tags=["responses"])


@router.post(
    "/studies/{study}/responses", status_code=201, response_model=ResponseOut, responses={200: {"model": ResponseOut}}
)
async def respond(study: str, body: ResponseIn, request: Request) -> Any:
    """Store a response. The same again is acknowledged again and counts once."""
    stored = await store(collection(request), study, body, secret_of(request))
    return JSONResponse(stored.public(), 201 if stored.status == "accepted" else 200)


@router.post("/responses", response_model=Results, response_model_exclude_none=True)
async def respond_many(body: ReportsIn, request: Request) -> Any:
    """Store several responses, also of several studies; each has an outcome of its own."""
    held = collection(request)
    request.app.state.guard.charge(request.scope, len(body.responses) - 1)  # the first was counted at the door
    secret = secret_of(request)
    token = None if secret is None else held.tokens.find(secret)
    outcomes = await asyncio.gather(*(_one(request, report, token, secret) for report in body.responses))
    return {"results": outcomes}


async def _one(request: Request, report: ReportIn, token: Token | None, secret: str | None) -> dict[str, Any]:
    held = collection(request)
    try:
        given = (report.study, report.id, report.fingerprint, report.form, report.answers)
        stored: Stored = await held.writer.soon(held.responses, held.responses.report(*given, token, secret))
    except RefusalError as refusal:
        # half of a surrogate pair cannot be sent back, and the others of the request have their outcomes
        return {"id": printable(report.id), "status": refusal.code, "message": str(refusal)}
    return stored.public()


@router.get("/studies/{study}/responses/{id}", response_model=ResponseOut)
async def find(study: str, id: str, request: Request) -> Any:
    """Whether a response is there; whoever knows its id may ask."""
    held = collection(request)

    def look() -> Stored:
        with held.database.engine.connect() as connection:
            return held.responses.find(connection, study, id)

    return (await run_in_threadpool(look)).public()


@router.delete("/studies/{study}/responses/{id}", response_model=Deleted)
async def withdraw(study: str, id: str, request: Request) -> Any:
    """Take a response back; whoever knows its id may. The id stays, so that a late retry does not bring it back."""
    await write(request, collection(request).responses.delete(study, id))
    return {"status": "deleted", "id": id}
