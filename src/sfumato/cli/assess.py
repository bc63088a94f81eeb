"""sfumato assess: what a scheme or a release discloses."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato.assess.report import TITLE, report
from sfumato.channels.additive import parse_noise
from sfumato.cli import console, scheme_files
from sfumato.cli.shares import read_json
from sfumato.errors import SfumatoError
from sfumato.evidence import Evidence, evidence
from sfumato.forms import Forms
from sfumato.release import Release
from sfumato.scheme import Scheme


def assess(
    file: Annotated[Path, typer.Argument(help="A scheme (.json), or a release (.parquet, .csv).")],
    n: Annotated[int | None, typer.Option("--n", help="How many records there will be; of a release, its own.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write the report as one self-contained page.")] = None,
    prior: Annotated[Path | None, typer.Option(help='Public shares, as JSON: {"sex": {"F": 0.5, "M": 0.5}}.')] = None,
    noise: Annotated[
        list[str] | None, typer.Option(help="A column released with additive noise beside it: income=gaussian:5.")
    ] = None,
    ledger: Annotated[Path | None, typer.Option(help="The owner's ledger: what was released before.")] = None,
    rounds: Annotated[int, typer.Option(min=1, help="How often people are asked in a year: 52 is every week.")] = 52,
    title: Annotated[str | None, typer.Option(help="The title of the report.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Say what an adversary can learn, attribute by attribute and jointly, and what accuracy is left.

    Before any data is collected:

        sfumato assess scheme.json --n 20000 --html report.html

    Of a release, with the shares estimated from it:

        sfumato assess release.parquet --html report.html

    Taking earlier releases into account:

        sfumato assess scheme.json --n 20000 --ledger ledger.sqlite
    """
    scheme, evidence = _read(file)
    found = report(
        scheme,
        evidence,
        n,
        prior=_prior(prior),
        noise=_noise(noise or []),
        ledger=ledger,
        rounds=rounds,
        title=TITLE if title is None else title,
    )
    if html is not None:
        found.html(html)
        console.note(f"written to {html}")
    if json:
        console.emit(json_text.loads(found.json()))
    elif html is None:
        console.say(found.text(min(100, console.width())))


def _read(file: Path) -> tuple[Scheme | Forms, Evidence | None]:
    if file.suffix == ".json":
        return scheme_files.read_scheme_or_forms(file), None
    release = Release.load(file)
    if not release.whole:
        rows: dict[Scheme, int] = {}
        for part in release.parts:
            rows[part.scheme] = rows.get(part.scheme, 0) + len(part)
        held = [scheme for scheme, count in rows.items() if count]
        return Forms(held, [rows[scheme] / len(release) for scheme in held]), evidence(release)
    return release.scheme, evidence(release)


def _prior(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    document = read_json(path)
    if not isinstance(document, dict):
        raise SfumatoError(f'{path}: shares are given as {{"attribute": [0.5, 0.5]}}')
    return document


def _noise(given: list[str]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for text in given:
        name, equals, kind = text.partition("=")
        if not equals:
            raise SfumatoError(f"--noise must look like income=gaussian:5, got {text!r} instead")
        out[name] = parse_noise(kind)
    return out
