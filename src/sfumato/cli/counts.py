"""sfumato counts, split and add: sites that share tables of counts, and sites that share only their sum."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli import console
from sfumato.cli.outputs import inputs_and_output
from sfumato.cli.release_files import check_once, load_together
from sfumato.errors import ReleaseError
from sfumato.evidence.counted import counted
from sfumato.owner.secure_sum import add_shares, split_counts
from sfumato.printable import many
from sfumato.reading.name_lists import listed
from sfumato.release import Release
from sfumato.released.counts_file import SHARE, read_document
from sfumato.released.shares import Share
from sfumato.secrets.additive_shares import MODULUS

Overwrite = Annotated[bool, typer.Option(help="Replace the output if it exists.")]
AsJson = Annotated[bool, typer.Option("--json", help="Machine output.")]


def counts(
    files: Annotated[list[Path], typer.Argument(help="One or more releases; several are taken as different records.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The tables to write: .json. Else the last name is it.")
    ] = None,
    table: Annotated[
        list[str] | None, typer.Option(help="The attributes of one table, comma-separated; may be given again.")
    ] = None,
    overwrite: Overwrite = False,
    json: AsJson = False,
) -> None:
    """Count the randomized answers of a release, for sites that may share tables of counts but no rows.

    The file carries its scheme. Estimate and learn from it as from a release, as far as its tables tell; without
    --table it holds those of every pair of attributes. Nothing else of the rows is in it, and no ids.

        sfumato counts north.parquet north.json

        sfumato counts north.parquet --table sex,age,income --table town,sex --out north.json

        sfumato add north.json south.json both.json

        sfumato estimate both.json --mean income --by sex
    """
    files, out = inputs_and_output(files, out, "counts", least=1)
    release = load_together(files)
    found = counted(release, None if not table else [listed(names, release.schema) for names in table])
    found.save(out, overwrite=overwrite)
    _said(found, out, json, "counted")


def split(
    file: Annotated[Path, typer.Argument(help="The counts of this site, as sfumato counts writes them.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="A folder for the shares, one file for each site.")],
    sites: Annotated[int, typer.Option(help="How many sites there are, at least 3.")],
    site: Annotated[int, typer.Option(help="Which of them this is, from 1.")],
    modulus: Annotated[int, typer.Option(help="What sums are taken modulo; the same for all sites.")] = MODULUS,
    overwrite: Overwrite = False,
    json: AsJson = False,
) -> None:
    """Split the counts of a site into shares, so that the sites learn their sum and nobody the counts of a site.

    Keep the share for yourself, send each of the others to its site by a way that nobody else reads. Every share is
    uniform noise by itself. Then each site adds what came to it, shows the result, and anybody adds those:

        sfumato split north.json --sites 3 --site 1 -o shares

        sfumato add from-1-to-1.json from-2-to-1.json from-3-to-1.json -o sum-1.json

        sfumato add sum-1.json sum-2.json sum-3.json -o everybody.json
    """
    shares = split_counts(Release.load(file), sites, site, modulus)
    out.mkdir(parents=True, exist_ok=True)
    paths = [share.save(out / f"from-{site}-to-{share.to}.json", overwrite) for share in shares]
    if json:
        console.emit({"out": [str(path) for path in paths], "sites": sites, "site": site, "modulus": modulus})
        return
    console.say(f"{len(paths)} shares in {out}: keep {paths[site - 1].name}, send each of the others to its site alone")


def add(
    files: Annotated[list[Path], typer.Argument(help="Counts of sites, or shares: all for one site, or all sums.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The sum to write: .json. Else the last name is it.")
    ] = None,
    overwrite: Overwrite = False,
    json: AsJson = False,
) -> None:
    """Add the counts of several sites, or the shares that they were split into.

    sfumato add north.json south.json both.json

    sfumato add from-1-to-2.json from-2-to-2.json from-3-to-2.json -o sum-2.json

    sfumato add sum-1.json sum-2.json sum-3.json -o everybody.json
    """
    files, out = inputs_and_output(files, out, "add")
    if len(files) < 2:
        raise ReleaseError(f"add needs at least two files, got {len(files)}")
    check_once(files)
    other = [file for file in files if file.suffix.lower() != ".json"]
    if other:
        raise ReleaseError(f"{other[0]}: is no file that sfumato counts or sfumato split wrote")
    shares = [file for file in files if read_document(file).get("format") == SHARE]
    if shares and len(shares) < len(files):
        raise ReleaseError("these are counts and shares of counts: add either")
    if not shares:
        total = Release.concat([Release.load(file) for file in files])
        total.save(out, overwrite=overwrite)
        _said(Release.load(out), out, json, "added up")
        return
    found = add_shares([Share.load(file) for file in files])
    found.save(out, overwrite=overwrite)
    if isinstance(found, Release):
        _said(found, out, json, "added up")
    elif json:
        console.emit({"out": str(out), "site": found.to, "sites": found.sites, "modulus": found.modulus})
    else:
        console.say(f"the sum of what {many(found.sites, 'site')} sent to site {found.to}: show {out} to all of them")


def _said(release: Release, out: Path, json: bool, done: str) -> None:
    held = [list(columns) for columns in dict.fromkeys(columns for part in release.parts for columns in part.rows)]
    if json:
        console.emit({"out": str(out), "records": len(release), "parts": len(release.parts), "tables": held})
        return
    shown = console.some([" x ".join(columns) for columns in held])
    console.say(f"{many(len(release), 'record')} {done} into {out}: {many(len(held), 'table')}, {shown}")
