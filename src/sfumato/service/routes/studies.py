"""Routes of studies: made, read, changed, opened, closed."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from fastapi import APIRouter, Request, Response

from sfumato.service.documents import StudyChange, StudyIn, StudyList, StudyOut
from sfumato.service.refusals import RefusalError
from sfumato.service.routes.who import allowed, collection, token_of, write
from sfumato.service.study import Study

router = APIRouter(prefix="/v1/studies", tags=["studies"])


@router.post("", status_code=201, response_model=StudyOut, responses={200: {"model": StudyOut}})
async def create(body: StudyIn, request: Request, response: Response) -> Any:
    """Make a draft. The same study again is acknowledged again."""
    allowed(request, "admin")
    fields = body.model_dump(by_alias=True)
    study, new = await write(request, collection(request).studies.create(fields.pop("id"), fields))
    response.status_code = 201 if new else 200
    return study.public()


@router.get("", response_model=StudyList)
async def every(request: Request) -> Any:
    """All studies for an admin, their own for a miner."""
    token = allowed(request, "admin", "miner")
    mine = (study for study in collection(request).studies if token.study in (None, study.id))
    return {"studies": [study.public() for study in mine]}


@router.get("/{study}", response_model=StudyOut)
async def one(study: str, request: Request) -> Any:
    """Everything that a survey page needs; a draft is shown to its admin and miner only."""
    return _shown(study, request).public()


@router.get("/{study}/questionnaire", response_model=dict[str, Any])
def asked(study: str, request: Request) -> Any:
    """How a page asks the questions, and the integers from which it draws the released codes."""
    return Response(_shown(study, request).questionnaire_json(), media_type="application/json")


@router.patch("/{study}", response_model=StudyOut)
async def change(study: str, body: StudyChange, request: Request) -> Any:
    """Change a draft; of an open study only title, text and end."""
    allowed(request, "admin")
    fields = body.model_dump(by_alias=True, exclude_unset=True)
    return (await write(request, collection(request).studies.change(study, fields))).public()


@router.post("/{study}/open", response_model=StudyOut)
async def open_(study: str, request: Request) -> Any:
    """Freeze the scheme and take answers."""
    allowed(request, "admin")
    return (await write(request, collection(request).studies.open(study))).public()


@router.post("/{study}/close", response_model=StudyOut)
async def close(study: str, request: Request) -> Any:
    """Take no more answers."""
    allowed(request, "admin")
    return (await write(request, collection(request).studies.close(study))).public()


@router.delete("/{study}", response_model=StudyOut)
async def delete(study: str, request: Request) -> Any:
    """Delete a draft."""
    allowed(request, "admin")
    return (await write(request, collection(request).studies.delete(study))).public()


def _shown(study: str, request: Request) -> Study:
    """The study, if whoever asks may read it."""
    studies = collection(request).studies
    with suppress(RefusalError):  # a token that is not good shows what none shows
        token = token_of(request) if studies[study].state == "draft" else None
        if token is not None and token.role in ("admin", "miner") and token.study in (None, study):
            return studies[study]
    return studies.public(study)
