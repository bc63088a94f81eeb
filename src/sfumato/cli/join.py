"""sfumato join and concat: the releases of several parties as one."""

from __future__ import annotations

from functools import reduce
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli import console
from sfumato.cli.outputs import inputs_and_output
from sfumato.cli.release_files import check_once
from sfumato.errors import ReleaseError
from sfumato.printable import many
from sfumato.release import Release

Out = Annotated[
    Path | None,
    typer.Option(
        "--out", "-o", help="The release to write: .parquet, or .csv with a .json beside it. Else the last name is it."
    ),
]
Overwrite = Annotated[bool, typer.Option(help="Replace the output if it exists.")]
Clear = Annotated[bool, typer.Option("--clear", help="Write raw records that a release holds as they are.")]
AsJson = Annotated[bool, typer.Option("--json", help="Machine output.")]


def join(
    files: Annotated[list[Path], typer.Argument(help="Two or more releases: other columns of the same records.")],
    out: Out = None,
    on: Annotated[str | None, typer.Option(help="The id column; the releases' own by default.")] = None,
    common: Annotated[bool, typer.Option("--common", help="Leave out records that not all of them hold.")] = False,
    overwrite: Overwrite = False,
    clear: Clear = False,
    json: AsJson = False,
) -> None:
    """Join releases that hold different columns of the same records, matched by their ids or pseudonyms.

    The parties must have made their pseudonyms under one link key (sfumato randomize --id ... --link-key-file ...).

        sfumato join clinic.parquet laboratory.parquet both.parquet --on patient

        sfumato join clinic.parquet laboratory.parquet pharmacy.parquet --out all.parquet

    Parties that do not hold quite the same records: those that all of them hold are joined.

        sfumato join clinic.parquet laboratory.parquet both.parquet --common
    """
    files, out = inputs_and_output(files, out, "join")
    releases = _several(files, "join")
    joined = reduce(lambda left, right: left.join(right, on=on, common=common), releases)
    _write(joined, out, overwrite, clear, json, "joined")
    for file, release in zip(files, releases, strict=True):
        if len(release) > len(joined) and not json:
            lost, one = many(len(release) - len(joined), "record"), len(release) - len(joined) == 1
            told = "is not in all releases and was" if one else "are not in all releases and were"
            console.note(f"{lost} of {file} {told} left out")


def concat(
    files: Annotated[list[Path], typer.Argument(help="Two or more releases: other records, the same attributes.")],
    out: Out = None,
    ids: Annotated[bool, typer.Option("--ids/--no-ids", help="Keep the ids or pseudonyms, or leave them out.")] = True,
    overwrite: Overwrite = False,
    clear: Clear = False,
    json: AsJson = False,
) -> None:
    """Put releases of different records together, also such that were made under different schemes.

    sfumato concat north.parquet south.parquet all.parquet

    sfumato concat north.parquet south.parquet --out all.csv --overwrite

    Where only one of them has ids: sfumato concat north.parquet south.parquet all.parquet --no-ids
    """
    files, out = inputs_and_output(files, out, "concat")
    _write(Release.concat(_several(files, "concat"), ids=ids), out, overwrite, clear, json, "put together")


def _several(files: list[Path], verb: str) -> list[Release]:
    if len(files) < 2:
        raise ReleaseError(f"{verb} needs at least two releases, got {len(files)}")
    check_once(files)
    return [Release.load(file) for file in files]


def _write(release: Release, out: Path, overwrite: bool, clear: bool, json: bool, done: str) -> None:
    release.save(out, overwrite=overwrite, clear=clear)
    if json:
        names = list(release.schema.names)
        console.emit({"out": str(out), "rows": len(release), "parts": len(release.parts), "attributes": names})
        return
    parts = f" in {len(release.parts)} parts" if len(release.parts) > 1 else ""
    console.say(f"{many(len(release), 'record')}{parts} {done} into {out}: {', '.join(release.schema.names)}")
