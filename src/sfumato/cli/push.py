"""sfumato push: send a release to a collection server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli import console
from sfumato.cli.service_address import HERE, To, TokenFile, client
from sfumato.errors import SfumatoError
from sfumato.printable import many


def push(
    release: Annotated[
        Path, typer.Argument(help="A release as Parquet (sfumato randomize), or counts (sfumato counts, add).")
    ],
    study: Annotated[str, typer.Option(help="The study's id.")],
    to: To = HERE,
    token_file: TokenFile = None,
    json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Send a release to a study of a collection server, with the token of a site.

    It is sent in pieces, and goes on where it stood if the connection breaks. The server checks it against the study's
    scheme and takes it whole or not at all. Pushing the same file again changes nothing.

        SFUMATO_TOKEN=sfs_... sfumato push released.parquet --to https://collect.example.org --study commuting

        sfumato push released.parquet --study commuting --token-file site.token --json

    A site that may share no rows pushes tables of counts, or the sum of the shares that all sites sent it:

        sfumato push counts.json --study commuting --token-file site.token
    """
    from sfumato.service.push import push as send

    if release.is_dir():
        raise SfumatoError(f"{release}: is a folder; name a file")
    server = client(to, token_file)
    with console.progress(f"pushing {release.name}", release.stat().st_size) as advance:
        receipt = send(server, release, study, advance)
    if json:
        console.emit(receipt)
        return
    console.say(f"taken by {study}: {many(receipt['rows'], 'row')} of {release}")
    if isinstance(note := receipt.get("note"), str):
        console.say(note)
    console.say(f"receipt {receipt['receipt']}")
