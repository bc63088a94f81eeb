"""Routes of estimates: how far a study has come, and what its answers say."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from sfumato.reading.name_lists import listed
from sfumato.service.attributes import asked_attributes
from sfumato.service.clock import iso
from sfumato.service.documents import Attributes, Means, Progress, Shares
from sfumato.service.estimates import FALSE
from sfumato.service.routes.who import allowed, collection

router = APIRouter(prefix="/v1/studies/{study}", tags=["estimates"])

_PARQUET = "application/vnd.apache.parquet"
Level = Annotated[float, Query(ge=0.5, lt=1, description="how often the interval holds")]
Names = Annotated[
    str,
    Query(
        description="attributes, with commas between them; a name with a comma stands in double quotes", max_length=2000
    ),
]
Wish = Annotated[float | None, Query(gt=0, le=1, description="half the width that the intervals should have")]
False_ = Annotated[float, Query(gt=0, lt=1, description="the share of false answers that might move the numbers")]


@router.get("/progress", response_model=Progress)
async def progress(study: str, request: Request) -> Any:
    """How many answers there are, in total and by hour."""
    who = allowed(request, "admin", "miner", study=study)
    held = collection(request)
    asked = held.studies[study]
    found = held.responses.collected(asked)
    return {
        "state": asked.state,
        "responses": found.responses,
        "minimum": asked.minimum,
        "hours": [{"hour": iso(hour), "responses": n} for hour, n in sorted(found.hours.items())],
        **await held.looks.run(who.id, lambda: held.uploads.progress(study)),
    }


@router.get("/attributes", response_model=Attributes)
async def attributes(study: str, request: Request) -> Any:
    """What the study asks, with its wording."""
    allowed(request, "admin", "miner", study=study)
    return {"attributes": asked_attributes(collection(request).studies[study])}


@router.get("/estimates", response_model=Shares)
async def shares(
    study: str, request: Request, names: Names, level: Level = 0.95, wish: Wish = None, false: False_ = FALSE
) -> Any:
    """Shares of one or more attributes, with intervals."""
    who = allowed(request, "admin", "miner", study=study)
    held = collection(request)
    return await held.looks.run(who.id, lambda: held.estimates(study).shares(listed(names), level, wish, false))


@router.get("/means", response_model=Means)
async def means(
    study: str, request: Request, name: Names, by: Names = "", level: Level = 0.95, false: False_ = FALSE
) -> Any:
    """Means, by group if asked."""
    who = allowed(request, "admin", "miner", study=study)
    held = collection(request)
    return await held.looks.run(who.id, lambda: held.estimates(study).means(name, listed(by), level, false))


@router.get("/release", response_model=None, responses={200: {"content": {_PARQUET: {}}}})
async def release(study: str, request: Request) -> Any:
    """All rows as a release, in random order and without ids."""
    who = allowed(request, "admin", "miner", study=study)
    held = collection(request)
    path = await held.downloads.run(who.id, lambda: held.export(study))
    return FileResponse(
        path, media_type=_PARQUET, filename=f"{study}.parquet", background=BackgroundTask(path.unlink, missing_ok=True)
    )
