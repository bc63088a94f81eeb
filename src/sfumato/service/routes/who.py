"""Who asks: the token of a request, and what everything else of the server is reached by."""

from __future__ import annotations

from typing import Any

from fastapi import Request

from sfumato.service.collection import Collection
from sfumato.service.tokens import Token, bearer, require


def collection(request: Request) -> Collection:
    """What the server holds."""
    found: Collection = request.app.state.collection
    return found


def secret_of(request: Request) -> str | None:
    """The token in the header, if there is one."""
    header = request.headers.get("authorization")
    return None if header is None else bearer(header)


def token_of(request: Request) -> Token | None:
    """The token of a request, if it has one; one that is not good is refused."""
    secret = secret_of(request)
    return None if secret is None else collection(request).tokens.find(secret)


def allowed(request: Request, *roles: str, study: str | None = None) -> Token:
    """The token, if it is of one of these roles, and of this study."""
    return require(token_of(request), roles, study)


async def write(request: Request, job: Any) -> Any:
    """Have a job written, and wait until it is on the disk."""
    return await collection(request).writer.soon(job)
