"""sfumato schema: from any table to a schema, one verdict per column."""

from __future__ import annotations

import json as json_text
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato.cli import console
from sfumato.columns import Examination, Requests, examine
from sfumato.columns.numbers import LARGEST
from sfumato.domains.numeric import MOST_BINS
from sfumato.errors import SchemaError, SfumatoError
from sfumato.printable import many, percentage
from sfumato.reading import tables
from sfumato.reading.name_lists import listed
from sfumato.schema import FORMAT, VERSION, Schema
from sfumato.writing.whole_files import replacing

#: Whole numbers that may be the numbers of categories: no more than so many.
MOST_CODES = 9
_NAMED = 12  # columns in a line
#: The first and the last of dates: each a year, a month or a day. Two years are numbers too, and left to them.
_PERIOD = r"(\d{4}(?:(?:-\d\d){0,2}|-Q[1-4]|-W\d\d))"
_SPAN = re.compile(rf"(?=.*-){_PERIOD}:{_PERIOD}")


def schema(
    source: Annotated[Path, typer.Argument(help="The raw table: .csv, .tsv or .parquet, of any size.")],
    save: Annotated[Path | None, typer.Option(help="Write the schema here, as JSON to edit.")] = None,
    columns: Annotated[str | None, typer.Option(help="Only these columns (a,b,c).")] = None,
    drop: Annotated[str | None, typer.Option(help="All columns but these (a,b,c).")] = None,
    bins: Annotated[
        list[str] | None, typer.Option(help="About how many bins numbers go into (20): 10, or age=10,dose=5.")
    ] = None,
    range: Annotated[
        list[str] | None,
        typer.Option(
            help="Publicly known limits, as age=0:100 or day=2019-01:2020-12; values outside go to the nearest end."
        ),
    ] = None,
    edges: Annotated[list[str] | None, typer.Option(help="Publicly known bins, as dose=0:5:10:50.")] = None,
    points: Annotated[
        list[str] | None,
        typer.Option(help="Round these at random to so many points, for unbiased means, as income=11."),
    ] = None,
    by: Annotated[list[str] | None, typer.Option(help="The periods of dates, as admitted=week.")] = None,
    as_kind: Annotated[
        list[str] | None,
        typer.Option(
            "--as", help="What a column is, whatever it looks like: zip=categorical, note=text, visit=identifier."
        ),
    ] = None,
    most_values: Annotated[int, typer.Option(min=2, help="The most values of a categorical column.")] = 100,
    overwrite: Annotated[bool, typer.Option(help="Replace the schema if it exists.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Say of every column what it is, why, and what publishing its values would disclose.

    Looking at the data is itself a disclosure: check each verdict before the schema becomes public.

        sfumato schema patients.csv

        sfumato schema patients.csv --drop note,phone --range age=0:100 --by admitted=month --save schema.json

    Postal codes are left out as identifiers, unless they are to be a category:

        sfumato schema patients.csv --as zip=categorical --most-values 500

    A file that is not what it looks like:

        sfumato schema export.csv --delimiter ";" --decimal , --encoding cp1252 --no-header

    Then edit schema.json, and go on with it:

        sfumato design schema.json --n 4000 --gamma 3 --save scheme.json
    """
    requests = _requests(bins or [], range or [], edges or [], by or [], points or [], most_values, as_kind or [])
    present = tables.column_names(source)
    names = None if columns is None else listed(columns, present)
    found = examine(source, names, listed(drop or "", present), requests)
    if save is not None:
        _save(found, save, overwrite)
    if json:
        console.emit(_document(source, found))
        return
    _show(source, found)
    if save is not None:
        console.note(f"written to {save}: check it, edit it, then sfumato design {save} --n {found.rows} --gamma 3")
    else:
        console.note("Nothing was written: give --save schema.json for a schema to edit and to go on with.")


def _requests(
    bins: list[str],
    ranges: list[str],
    edges: list[str],
    by: list[str],
    points: list[str],
    most_values: int,
    kinds: list[str],
) -> Requests:
    try:
        overall = next((int(text) for text in reversed(bins) if "=" not in text), 20)
        bins_of = {name: int(value) for name, value in _pairs([text for text in bins if "=" in text], "--bins")}
    except ValueError:
        raise SfumatoError(f"--bins must look like 20 or like age=10,dose=5, got {' '.join(bins)!r} instead") from None
    if not all(1 <= number <= MOST_BINS for number in (overall, *bins_of.values())):
        raise SfumatoError(f"--bins must lie between 1 and {MOST_BINS}, got {' '.join(bins)[:40]!r}")
    try:
        grids = {name: int(value) for name, value in _pairs(points, "--points")}
    except ValueError:
        raise SfumatoError(f"--points must look like income=11, got {points[0]!r} instead") from None
    asked = dict(_pairs(ranges, "--range"))
    spans = {name: (found[1], found[2]) for name, value in asked.items() if (found := _SPAN.fullmatch(value))}
    limits = {name: _numbers(value, f"--range {name}", 2) for name, value in asked.items() if name not in spans}
    cuts = {name: _numbers(value, f"--edges {name}", None) for name, value in _pairs(edges, "--edges")}
    return Requests(
        overall,
        bins_of,
        {name: (low, high) for name, (low, high) in limits.items()},
        cuts,
        dict(_pairs(by, "--by")),
        spans,
        grids,
        most_values,
        dict(_pairs(kinds, "--as")),
    )


def _pairs(texts: list[str], option: str) -> list[tuple[str, str]]:
    """Names and values from name=value, several of them between commas or in several options."""
    parts = [(*part.rpartition("="), text) for text in texts for part in listed(text)]
    if not all(name.strip() and sign for name, sign, _, _ in parts):
        raise SfumatoError(f"{option} must look like name=value, got {texts[0]!r} instead")
    return [(name if f'"{name}"' in text else name.strip(), value.strip()) for name, _, value, text in parts]


def _numbers(text: str, option: str, count: int | None) -> tuple[float, ...]:
    try:
        numbers = tuple(float(part) for part in text.split(":"))
    except ValueError:
        numbers = ()
    if not all(abs(one) < LARGEST for one in numbers):
        raise SfumatoError(f"{option} must be numbers within ±{LARGEST:g}, got {text[:40]!r} instead")
    if len(numbers) < 2 or (count is not None and len(numbers) != count) or list(numbers) != sorted(set(numbers)):
        form = "LOW:HIGH" if count == 2 else "numbers that increase, between colons"
        raise SfumatoError(f"{option} must be {form}, got {text!r} instead")
    return numbers


def _save(found: Examination, save: Path, overwrite: bool) -> None:
    if not found.domains:
        raise SchemaError("no column is left for a schema: every one is an identifier, free text, constant or empty")
    Schema(found.domains)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "attributes": {verdict.name: verdict.to_dict() for verdict in found.verdicts if verdict.kept},
        "left_out": {verdict.name: verdict.to_dict() for verdict in found.left_out},
    }
    with replacing(save, overwrite) as temporary:
        temporary.write_text(editable(document) + "\n", encoding="utf-8")


def editable(value: Any, inset: str = "") -> str:
    """JSON with a line for every entry of an object, and every list on one line."""
    if not isinstance(value, dict) or not value:
        return json_text.dumps(value, ensure_ascii=False)
    entries = [
        f"{inset} {json_text.dumps(key, ensure_ascii=False)}: "
        + editable(_whole(entry) if key == "edges" and isinstance(entry, list) else entry, inset + " ")
        for key, entry in value.items()
    ]
    return "{\n" + ",\n".join(entries) + f"\n{inset}}}"


def _whole(edges: list[float]) -> list[float]:
    return [int(edge) if float(edge).is_integer() and abs(edge) < 2**53 else edge for edge in edges]


def _document(source: Path, found: Examination) -> dict[str, Any]:
    text = tables.csv_format(source)
    about = {} if text is None else {"format": _format(text)}
    columns = [
        {
            "name": verdict.name,
            "verdict": verdict.kind,
            "kept": verdict.kept,
            "why": verdict.why,
            "discloses": verdict.discloses,
            "problems": list(verdict.problems),
            "empty": verdict.blank,
            "domain": verdict.domain.to_dict() if verdict.domain is not None and verdict.kept else None,
        }
        for verdict in found.verdicts
    ]
    return {"file": str(source), "rows": found.rows, **about, "notes": list(found.notes), "columns": columns}


def _format(text: Any) -> dict[str, Any]:
    told = {key: getattr(text, key) for key in ("delimiter", "decimal", "thousands", "encoding", "header")}
    return {**told, "skip": text.above}


def _show(source: Path, found: Examination) -> None:
    text = tables.csv_format(source)
    if text is not None:
        sign = {"\t": "tab"}.get(text.delimiter, text.delimiter)
        console.note(
            f"{source.name}: {many(found.rows, 'row')}, {many(len(found.verdicts), 'column')}; delimiter {sign} "
            f"decimal {text.decimal} encoding {text.encoding}, {'with' if text.header else 'without'} a header"
        )
    else:
        console.note(f"{source.name}: {many(found.rows, 'row')}, {many(len(found.verdicts), 'column')}")
    console.table(
        ["column", "verdict", "why", "publishing it discloses"],
        [[v.name, v.kind, v.why, v.discloses if v.kept else "left out"] for v in found.verdicts],
    )
    said = [*found.notes, *_empty(found), *_problems(found), *_codes(found)]
    if said:
        console.say("\nTo check:")
        for line in said:
            console.say("  " + line)
    console.say(
        f"\n{len(found.domains)} of {many(len(found.verdicts), 'column')} for a schema. Looking at the data is "
        "itself a disclosure: what stands in the last column becomes public with the schema."
    )


def _named(columns: list[str]) -> str:
    more = f" and {len(columns) - _NAMED:,} more" if len(columns) > _NAMED else ""
    return ", ".join(columns[:_NAMED]) + more


def _empty(found: Examination) -> list[str]:
    """Which columns have empty cells, and how many."""
    columns = [f"{v.name} ({_percent(v.blank / found.rows)})" for v in found.verdicts if v.kept and v.blank]
    meant = 'each becomes the answer "no answer" (nullable in the schema)'
    return [f"{_named(columns)}: empty cells; {meant}"] if columns else []


def _percent(share: float) -> str:
    return "under 1 %" if share < 0.01 else "over 99 %" if share > 0.99 else percentage(share)


def _problems(found: Examination) -> list[str]:
    """What is to be checked of every column; what many columns have in common is said once."""
    columns: dict[str, list[str]] = {}
    for verdict in found.verdicts:
        for problem in verdict.problems:
            columns.setdefault(problem, []).append(verdict.name)
    return [f"{_named(names)}: {problem}" for problem, names in columns.items()]


def _codes(found: Examination) -> list[str]:
    """Few whole numbers look like grades; that they are numbers of categories, only their owner knows."""
    few = [v.name for v in found.verdicts if v.kind == "ordinal" and 2 < len(v.numbers) <= MOST_CODES]
    how = f"--as {few[0]}=categorical" if few else ""
    return (
        [f"{_named(few)}: taken for grades or amounts. If the numbers stand for categories, say {how}"] if few else []
    )
