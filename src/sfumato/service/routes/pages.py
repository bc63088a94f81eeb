"""The pages: plain files, read once at the start, with the digest of every script and style they load."""

from __future__ import annotations

import base64
import hashlib
import mimetypes
import re
from importlib.resources import files
from importlib.resources.abc import Traversable

from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from sfumato.pages.shell import stylesheet

#: Which page an address shows. What comes after the page's name is for its script.
ADDRESSES = {
    "/": "index.html",
    "/answer/{study}": "answer.html",
    "/results/{study}": "results.html",
    "/design": "design.html",
}
#: What a browser is shown at any other address.
MISSING = "missing.html"
#: What asks for the head of a page alone, to see whether the server is there, is no mistake.
METHODS = ["GET", "HEAD"]
_LOADS = re.compile(r'<(script|link)\b([^>]*?)\b(src|href)="(/assets/[^"]+)"')
_TYPES = {".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".svg": "image/svg+xml"}


def add_pages(app: FastAPI) -> None:
    """Serve the pages and what they load. None of them is part of the API."""
    folder = files("sfumato.service").joinpath("pages")
    assets = {"style.css": stylesheet().encode(), **_read(folder.joinpath("assets"))}
    digests = {
        name: f"sha384-{base64.b64encode(hashlib.sha384(data).digest()).decode()}" for name, data in assets.items()
    }
    app.state.missing = _signed(folder.joinpath(MISSING).read_text(encoding="utf-8"), digests)
    for address, name in ADDRESSES.items():
        file = folder.joinpath(name)
        if file.is_file():
            page = _page(_signed(file.read_text(encoding="utf-8"), digests))
            app.add_api_route(address, page, methods=METHODS, include_in_schema=False)

    @app.api_route("/assets/{path:path}", methods=METHODS, include_in_schema=False)
    async def asset(path: str) -> Response:
        if path not in assets:
            raise HTTPException(404)
        return Response(assets[path], media_type=_type(path), headers={"cache-control": "no-cache"})


def missing(request: Request) -> Response | None:
    """The page of an address that is none, for who asks for pages: a browser. Programs are answered in JSON."""
    wanted = request.headers.get("accept", "")
    if request.url.path.startswith("/v1/") or "text/html" not in wanted or "application/json" in wanted:
        return None
    return Response(request.app.state.missing, 404, media_type="text/html; charset=utf-8")


def _page(text: str):  # type: ignore[no-untyped-def]
    async def page() -> Response:
        return Response(text, media_type="text/html; charset=utf-8", headers={"cache-control": "no-cache"})

    return page


def _signed(text: str, digests: dict[str, str]) -> str:
    """The page with ``integrity`` at everything it loads; a file that is not there is a mistake of ours."""

    def sign(found: re.Match[str]) -> str:
        return f'{found[0]} integrity="{digests[found[4].removeprefix("/assets/")]}"'

    return _LOADS.sub(sign, text)


def _read(folder: Traversable, prefix: str = "") -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for entry in folder.iterdir() if folder.is_dir() else ():
        if entry.is_dir():
            found |= _read(entry, f"{prefix}{entry.name}/")
        elif not entry.name.startswith("."):
            found[prefix + entry.name] = entry.read_bytes()
    return found


def _type(path: str) -> str:
    suffix = "." + path.rpartition(".")[2]
    return _TYPES.get(suffix) or mimetypes.guess_type(path)[0] or "application/octet-stream"
