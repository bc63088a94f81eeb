"""Routes of tokens: made, listed, revoked."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from sfumato.service.clock import seconds_of
from sfumato.service.documents import NewTokens, TokenList, TokenOut, TokensIn
from sfumato.service.routes.who import allowed, collection, write
from sfumato.service.tokens import ROLES

router = APIRouter(prefix="/v1/tokens", tags=["tokens"])


@router.post("", status_code=201, response_model=NewTokens)
async def make(body: TokensIn, request: Request) -> Any:
    """New tokens. Their secrets are shown this once; the server keeps hashes."""
    allowed(request, "admin")
    until = seconds_of(body.expires, "expires")
    job = collection(request).tokens.make(body.role, body.study, body.name, body.count, until, body.columns)
    return {"tokens": [{"id": token.id, "token": secret} for token, secret in await write(request, job)]}


@router.get("", response_model=TokenList)
async def every(request: Request, study: str | None = None) -> Any:
    """All tokens, or those of a study, without their secrets."""
    allowed(request, "admin")
    found = collection(request)
    if study is not None:
        found.studies[study]
    return {"tokens": [token.public() for token in found.tokens if study in (None, token.study)]}


@router.get("/self", response_model=TokenOut)
async def mine(request: Request) -> Any:
    """What the token of this request allows."""
    return allowed(request, *ROLES).public()


@router.delete("/{id}", response_model=TokenOut)
async def revoke(id: str, request: Request) -> Any:
    """Nothing is granted to this token any more."""
    allowed(request, "admin")
    return (await write(request, collection(request).tokens.revoke(id))).public()
