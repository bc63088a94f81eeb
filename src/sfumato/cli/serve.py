"""sfumato serve: collect randomized answers over HTTP."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli import console
from sfumato.cli.service_address import TOKEN_FILE
from sfumato.errors import MissingPartError, SfumatoError

if TYPE_CHECKING:
    from sfumato.service.collection import Collection


def serve(
    folder: Annotated[Path, typer.Argument(help="Where the answers are kept.")] = Path("sfumato-data"),
    host: Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 for all.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0 takes any free one.")] = 8000,
    database: Annotated[
        str | None,
        typer.Option(envvar="SFUMATO_DATABASE", help="PostgreSQL instead of SQLite: postgresql://user@host/name."),
    ] = None,
    per_address: Annotated[float, typer.Option(help="Requests a second from one address; 0 for no limit.")] = 50.0,
    per_token: Annotated[float, typer.Option(help="Requests a second with one token; 0 for no limit.")] = 200.0,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="A proxy stands in front: take addresses from X-Forwarded-For.")
    ] = False,
    new_admin_token: Annotated[
        bool, typer.Option("--new-admin-token", help="Make another token for an admin.")
    ] = False,
) -> None:
    """Collect randomized answers: survey pages for people, uploads for sites, estimates for the miner.

    Answers are kept in a folder, in SQLite; nothing else is needed. The first start writes the token of an admin to
    admin.token in that folder.

        sfumato serve

        sfumato serve /srv/collected --port 9000

    With PostgreSQL, and behind a proxy that speaks https:

        sfumato serve /srv/collected --database postgresql://collect@localhost/collect --behind-proxy

    The API: docs/http-api.md. Then: sfumato study create ...
    """
    try:
        from sfumato.service.collection import open_collection
        from sfumato.service.running import server
        from sfumato.service.settings import Settings
    except ImportError as problem:
        raise MissingPartError.named("the server", problem.name or "FastAPI", "server") from None
    settings = Settings(per_address=per_address, per_token=per_token, behind_proxy=behind_proxy)
    collection = open_collection(folder, database, settings)
    try:
        secret = _admin_token(collection, folder) if collection.fresh or new_admin_token else None

        def ready(found: int) -> None:
            address = f"http://{'localhost' if host in ('127.0.0.1', '0.0.0.0') else host}:{found}"
            console.note(f"collecting at {address}, into {folder}; Ctrl+C stops")
            if secret is not None and sys.stderr.isatty():
                console.note(f"your page: {address}/#token={secret}")

        running = server(collection, host, port, ready)
        running.run()
        if not running.started:
            raise SfumatoError(f"port {port} of {host} cannot be listened on: is it in use? choose another --port")
    finally:
        collection.close()
    console.note("stopped; everything acknowledged is on the disk")


def _admin_token(collection: Collection, folder: Path) -> str:
    """A new token of an admin, in a file that its owner alone can read."""
    ((_, secret),) = collection.writer.now(collection.tokens.make("admin", None, "made at the start"))
    path = folder / TOKEN_FILE
    path.touch(mode=0o600, exist_ok=True)
    path.chmod(0o600)
    path.write_text(secret + "\n")
    console.note(f"the token of an admin was written to {path}: move it to a safe place")
    return str(secret)
