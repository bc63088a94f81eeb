"""The route of designs: what a wish for privacy or precision gives, before any answer is collected."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool

from sfumato.service.design.documents import DesignIn, DesignOut
from sfumato.service.routes.who import collection

router = APIRouter(prefix="/v1/design", tags=["design"])

#: Anybody may ask, and it keeps a processor busy: one design counts as so many requests.
_COST = 10


@router.post("", response_model=DesignOut)
async def design(body: DesignIn, request: Request) -> Any:
    """The scheme that a wish leads to, what an adversary learns from it, and how exact estimates will be.

    Nothing is stored, and nobody needs a token.
    """
    request.app.state.guard.charge(request.scope, _COST - 1)  # the first was counted at the door
    return await run_in_threadpool(collection(request).designs.ask, body.model_dump(by_alias=True))
