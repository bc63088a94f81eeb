"""sfumato mgas: edges of a numeric attribute that hide enough records each."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from sfumato.cli import console, scheme_files
from sfumato.cli.schema import editable
from sfumato.columns.bin_edges import nice_step
from sfumato.columns.verdict import rows_that
from sfumato.domains import Numeric
from sfumato.errors import OutsideDomainError, SchemaError
from sfumato.owner.discretize import mgas as group
from sfumato.printable import many
from sfumato.reading import tables
from sfumato.reading.json_documents import read_json
from sfumato.schema import FORMAT, VERSION
from sfumato.writing.whole_files import replacing

_FARTHEST = 1e50  # limits that hold every number of a schema


def mgas(
    source: Annotated[Path, typer.Argument(help="The raw table: .csv, .tsv or .parquet.")],
    column: Annotated[str, typer.Option(help="The column of numbers.")],
    min_records: Annotated[int, typer.Option(help="Every group holds at least so many records.")] = 1500,
    min_width: Annotated[float, typer.Option(help="Every group is at least so wide, in the column's unit.")] = 0.25,
    save: Annotated[Path | None, typer.Option(help="Write the edges here, as a schema of this one attribute.")] = None,
    into: Annotated[Path | None, typer.Option(help="Put the edges into this schema, in place of its own.")] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace --save if it exists.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Group the numbers of a column by MGAS (Ma 2006): each group hides enough records in a wide enough interval.

    The edges are made by looking at the data, so they tell something about it. The outer ones are rounded. With --into
    the column is read as that schema says: its words for no answer, its unit, its limits where it clips.

        sfumato mgas patients.csv --column hours --min-records 500 --min-width 5

        sfumato mgas patients.csv --column hours --min-records 500 --min-width 5 --save hours.json

        sfumato mgas patients.csv --column age --min-records 400 --min-width 5 --into schema.json
    """
    schema = None if into is None else scheme_files.read_schema(into)
    document = {} if into is None else read_json(scheme_files.read_text(into), "it")
    if into is not None and document.get("format") != FORMAT:
        raise SchemaError(f"{into}: --into takes a schema, and this is a scheme, which would no longer be one")
    old = schema[column] if schema is not None and column in schema else None
    old = old if isinstance(old, Numeric) else None
    values, gaps = _numbers(source, column, old)
    groups = group(values, min_records, min_width)
    missing, unit, step = (old.missing, old.unit, old.step) if old is not None else ((), None, None)
    if old is None and bool((values == np.rint(values)).all()):
        step = 1.0
    edges = _rounded(np.asarray(groups.edges), step)
    nullable = bool(gaps) or (old is not None and old.nullable)
    domain = Numeric(edges=edges, nullable=nullable, step=step, clip=True, missing=missing, unit=unit)
    if save is not None:
        alone = {"format": FORMAT, "version": VERSION, "attributes": {column: domain.to_dict()}}
        _write(save, json_text.dumps(alone, indent=1, ensure_ascii=False), overwrite)
    if into is not None:
        told = {"why": f"groups of at least {many(min_records, 'record')}", "discloses": "the edges, from the data"}
        document["attributes"][column] = {**domain.to_dict(), **told}
        if isinstance(left_out := document.get("left_out"), dict):
            left_out.pop(column, None)
        _write(into, editable(document), True)
    if json:
        console.emit({"column": column, "edges": list(edges), "sizes": groups.sizes, "widths": groups.widths})
        return
    console.table(
        ["group", "records", "width of its values"],
        [
            [label, int(size), float(width)]
            for label, size, width in zip(domain.labels, groups.sizes, groups.widths, strict=False)
        ],
    )
    if gaps:
        console.note(f"left out: {many(gaps, 'row')} without a number; the attribute is nullable")
    console.say(f"edges: {' '.join(f'{edge:.12g}' for edge in edges)}")
    for path in (save, into):
        if path is not None:
            console.note(f"written to {path}: {column!r} has edges from the data, which become public with it")


def _numbers(
    source: Path, column: str, old: Numeric | None
) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], int]:
    """The numbers of a column, read as the schema says, and how many rows have none."""
    import pyarrow as pa

    found = [batch.column(0) for batch in tables.batches(source, [column], tables.AS_TEXT)]
    if not found:
        raise SchemaError(f"{source}: the table is empty: there is nothing to group")
    missing, unit = (old.missing, old.unit) if old is not None else ((), None)
    low, high = (old.low, old.greatest) if old is not None and old.clip else (-_FARTHEST, _FARTHEST)
    reader = Numeric(low, high, bins=1, nullable=True, clip=True, missing=missing, unit=unit)
    try:
        numbers = reader.unrounded(pa.chunked_array(found), column)
    except OutsideDomainError as problem:
        raise SchemaError(
            f"column {column!r}: {rows_that(problem.rows, 'hold')} no number: write a schema with sfumato schema "
            f"{source} --save schema.json, which says what stands for no answer, and give it with --into"
        ) from None
    kept = numbers[~np.isnan(numbers)]
    return kept, len(numbers) - len(kept)


def _rounded(edges: np.ndarray[tuple[int], np.dtype[np.float64]], step: float | None) -> tuple[float, ...]:
    """The outer edges at round numbers: they would be somebody's own value. Of numbers in steps, all are steps.

    >>> _rounded(np.array([1.0, 5.5, 20.0]), None), _rounded(np.array([1.0, 5.5, 20.0]), 1.0)
    ((1.0, 5.5, 20.0), (1.0, 6.0, 21.0))
    """
    fine = nice_step(float(edges[-1] - edges[0]) / 1000)
    low, high = np.floor(edges[0] / fine) * fine, np.ceil(edges[-1] / fine) * fine
    inner = edges[1:-1]
    if step is not None:
        low, inner = np.floor(low / step) * step, np.ceil(inner / step) * step
        high = (np.floor(high / step) + 1) * step  # the last bin ends below its edge
    return tuple(float(f"{edge:.12g}") for edge in (low, *inner, high))


def _write(path: Path, text: str, overwrite: bool) -> None:
    with replacing(path, overwrite) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")
