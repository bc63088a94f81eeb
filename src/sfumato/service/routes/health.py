"""Routes that say how the server is."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse

from sfumato import __version__
from sfumato.service.documents import Health
from sfumato.service.refusals import RefusalError
from sfumato.service.routes.who import allowed, collection

router = APIRouter(prefix="/v1", tags=["health"])


@router.get("/health", response_model=Health)
async def health(request: Request) -> Any:
    """Whether answers can be stored."""
    if collection(request).writer.failing:
        raise RefusalError("busy", "the last commit failed: nothing can be stored now")
    return {"status": "ok", "version": __version__}


@router.get(
    "/metrics", response_model=None, responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}
)
async def metrics(request: Request) -> PlainTextResponse:
    """Counts for a monitoring system, in the text format of Prometheus."""
    allowed(request, "admin")
    held, guard = collection(request), request.app.state.guard
    lines = [
        "# TYPE sfumato_requests_total counter",
        *(
            f'sfumato_requests_total{{route="{route}",status="{status}"}} {count}'
            for (route, status), count in sorted(guard.answers.items())
        ),
        *_single("request_seconds_total", "counter", f"{guard.seconds:.6f}"),
        *_single("requests_running", "gauge", guard.running),
        *_single("responses", "gauge", sum(held.responses.collected(study).responses for study in held.studies)),
        *_single("studies_open", "gauge", sum(study.state == "open" for study in held.studies)),
        *_single("commits_total", "counter", held.writer.commits),
        *_single("writes_waiting", "gauge", held.writer.waiting),
        *_single("storage_failing", "gauge", int(held.writer.failing)),
    ]
    return PlainTextResponse("\n".join(lines) + "\n")


def _single(name: str, kind: str, value: Any) -> tuple[str, str]:
    return f"# TYPE sfumato_{name} {kind}", f"sfumato_{name} {value}"
