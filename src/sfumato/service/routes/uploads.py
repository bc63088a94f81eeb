"""Routes of uploads: announced, sent in pieces, committed. A site sees its own and nothing else."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Request, Response
from fastapi.concurrency import run_in_threadpool

from sfumato.service.documents import Received, UploadIn, UploadList, UploadOut
from sfumato.service.refusals import RefusalError
from sfumato.service.routes.who import allowed, collection, write
from sfumato.service.tokens import Token

router = APIRouter(prefix="/v1/studies/{study}/uploads", tags=["uploads"])

_PIECE = 1 << 20  # bytes that are written at a time


def _owner(token: Token) -> str | None:
    """Whose uploads this token sees: its own, or all."""
    return None if token.role == "admin" else token.id


@router.post("", status_code=201, response_model=UploadOut, responses={200: {"model": UploadOut}})
async def announce(study: str, body: UploadIn, request: Request, response: Response) -> Any:
    """Announce a file; again, and it says how much of it has arrived."""
    token = allowed(request, "site", study=study)
    uploads = collection(request).uploads
    if uploads.unfinished:
        await run_in_threadpool(uploads.sweep)
    found, new = await write(request, uploads.announce(study, body.id, token.id, body.digest, body.bytes))
    response.status_code = 201 if new else 200
    return uploads.public(found)


@router.get("", response_model=UploadList)
async def every(study: str, request: Request) -> Any:
    """All uploads of this site; of all sites for an admin."""
    token = allowed(request, "site", "admin", study=study)
    uploads = collection(request).uploads
    return {"uploads": [uploads.public(one) for one in uploads.every(study, _owner(token))]}


@router.get("/{id}", response_model=UploadOut)
async def one(study: str, id: str, request: Request) -> Any:
    """How far an upload is, and its receipt."""
    token = allowed(request, "site", "admin", study=study)
    uploads = collection(request).uploads
    return uploads.public(uploads.find(study, id, _owner(token)))


@router.patch(
    "/{id}",
    response_model=Received,
    openapi_extra={"requestBody": {"required": True, "content": {"application/octet-stream": {}}}},
)
async def piece(study: str, id: str, request: Request, upload_offset: Annotated[int, Header(ge=0, le=1 << 62)]) -> Any:
    """Bytes that follow those which have arrived. What arrived before a connection broke is kept."""
    token = allowed(request, "site", study=study)
    uploads = collection(request).uploads
    found = uploads.find(study, id, token.id)
    lock = uploads.lock(found)
    if not lock.acquire(blocking=False):
        raise RefusalError(
            "conflict", "another piece of this upload is arriving", received=uploads.files.received(found)
        )
    try:
        found = uploads.find(study, id, token.id)  # it may have been taken or forgotten meanwhile
        held, there = bytearray(), upload_offset
        try:
            async for some in request.stream():
                held += some
                if len(held) >= _PIECE:
                    there, held = await run_in_threadpool(uploads.files.append, found, there, bytes(held)), bytearray()
        finally:
            there = await run_in_threadpool(uploads.files.append, found, there, bytes(held))
        return {"received": there}
    finally:
        lock.release()


@router.post("/{id}/commit", status_code=201, response_model=UploadOut, responses={200: {"model": UploadOut}})
async def commit(study: str, id: str, request: Request, response: Response) -> Any:
    """Check the file and take it, whole or not at all."""
    token = allowed(request, "site", study=study)
    uploads, may = collection(request).uploads, collection(request).tokens.allowed_columns(token)
    found, new = await run_in_threadpool(uploads.commit, study, id, token.id, may)
    response.status_code = 201 if new else 200
    return uploads.public(found)


@router.delete("/{id}", response_model=UploadOut)
async def delete(study: str, id: str, request: Request) -> Any:
    """Take the rows of an upload out again."""
    allowed(request, "admin")
    uploads = collection(request).uploads
    return uploads.public(await run_in_threadpool(uploads.delete, study, id))
