"""sfumato serve: collect randomized answers over HTTP."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli import console
from sfumato.cli.serve_demo import STUDY, DemoStudy, Shifted
from sfumato.cli.service_address import TOKEN_FILE
from sfumato.errors import MissingPartError, SfumatoError

if TYPE_CHECKING:
    from sfumato.service.collection import Collection

#: What requests may call a server that only this machine reaches.
_HERE = ("localhost", "127.0.0.1", "[::1]", "::1")


def serve(
    folder: Annotated[Path | None, typer.Argument(help="Where the answers are kept; sfumato-data by default.")] = None,
    host: Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 for all.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on; 0 takes any free one.")] = 8000,
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
    demo: Annotated[
        bool, typer.Option("--demo", help="Show a study with simulated respondents; nothing is kept.")
    ] = False,
) -> None:
    """Collect randomized answers: survey pages for people, uploads for sites, estimates for the miner.

    Answers are kept in a folder, in SQLite; nothing else is needed. The first start writes the token of an admin to
    admin.token in that folder.

        sfumato serve

        sfumato serve /srv/collected --port 9000

    With PostgreSQL, and behind a proxy that speaks https:

        sfumato serve /srv/collected --database postgresql://collect@localhost/collect --behind-proxy

    To look around first, with a study in which simulated people answer:

        sfumato serve --demo

    The API: docs/http-api.md. Then: sfumato study create ...
    """
    try:
        from sfumato.service.clock import system
        from sfumato.service.collection import open_collection
        from sfumato.service.listening import listening
        from sfumato.service.running import server
        from sfumato.service.settings import Settings
    except ImportError as problem:
        raise MissingPartError.named("the server", problem.name or "FastAPI", "server") from None
    hosts = _HERE if host in _HERE and not behind_proxy else ()
    settings = Settings(per_address=per_address, per_token=per_token, hosts=hosts, behind_proxy=behind_proxy)
    with listening(host, port) as sockets, _place(folder, database, demo) as place:
        clock = Shifted() if demo else None
        collection = open_collection(place, database, settings, clock or system)
        study = None
        try:
            secret = _admin_token(collection, place, demo) if collection.fresh or new_admin_token else None
            study = None if clock is None else DemoStudy(collection, clock)

            def ready(found: int) -> None:
                here = "localhost" if host in ("127.0.0.1", "0.0.0.0") else host
                address = f"http://{here}:{found}"
                if study is not None:
                    study.start("127.0.0.1" if here == "localhost" else host, found)
                    _show_demo(study, address)
                else:
                    console.note(f"collecting at {address}, into {place}; Ctrl+C stops")
                if secret is not None and (sys.stderr.isatty() or demo):
                    console.note(f"your page: {address}/#token={secret}")

            server(collection, host, port, ready).run(sockets)
        finally:
            if study is not None:
                study.stop()
            collection.close()
    console.note("stopped; nothing was kept" if demo else "stopped; everything acknowledged is on the disk")


@contextmanager
def _place(folder: Path | None, database: str | None, demo: bool) -> Iterator[Path]:
    """Where the answers go; those of a demonstration to a folder that is deleted in the end."""
    if not demo:
        yield folder or Path("sfumato-data")
        return
    if folder is not None or database is not None:
        raise SfumatoError("a demonstration keeps nothing: leave out the folder and --database")
    with tempfile.TemporaryDirectory(prefix="sfumato-demo-") as path:
        yield Path(path)


def _show_demo(study: DemoStudy, address: str) -> None:
    console.note(f"results, while people answer: {address}/results/{STUDY}#token={study.miner}")
    console.note(f"the survey, to answer yourself: {address}/answer/{STUDY}")
    console.note("nothing of this is kept; Ctrl+C stops")


def _admin_token(collection: Collection, folder: Path, quiet: bool) -> str:
    """A new token of an admin, in a file that its owner alone can read."""
    ((_, secret),) = collection.writer.now(collection.tokens.make("admin", None, "made at the start"))
    path = folder / TOKEN_FILE
    path.touch(mode=0o600, exist_ok=True)
    path.chmod(0o600)
    path.write_text(secret + "\n")
    if not quiet:
        console.note(f"the token of an admin was written to {path}: move it to a safe place")
    return str(secret)
