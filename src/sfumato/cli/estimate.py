"""sfumato estimate: the miner's first verb."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from sfumato.cli import console
from sfumato.errors import SfumatoError
from sfumato.evidence import evidence
from sfumato.release import Release
from sfumato.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa


def estimate(
    files: Annotated[list[Path], typer.Argument(help="One or more releases; several are taken as different records.")],
    columns: Annotated[str, typer.Option(help="The attributes to cross, comma-separated.")],
    method: Annotated[str, typer.Option(help="mle (never negative) or moment (unbiased).")] = "mle",
    level: Annotated[float, typer.Option(help="The confidence of the intervals.")] = 0.95,
    where: Annotated[
        str | None, typer.Option(help="Only records that hold these values: sex=F, or sex=F,grade=a.")
    ] = None,
    top: Annotated[int | None, typer.Option(min=1, help="Only the cells with the largest estimates.")] = None,
    rows: Annotated[int, typer.Option(min=1, help="The most rows to print; --json has them all.")] = 60,
    population: Annotated[bool, typer.Option(help="Shares of the population behind the table.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Also draw the estimate (.svg, .png or .pdf).")] = None,
    json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Estimate how many records hold each value, or each combination of values, with intervals.

    Examples:

        sfumato estimate release.parquet --columns sex

        sfumato estimate north.parquet south.parquet --columns sex,grade --population

        sfumato estimate release.parquet --columns education,income --where sex=F --top 10

        sfumato estimate release.parquet --columns age --method moment --plot age.svg
    """
    release = Release.concat([Release.load(file) for file in files])
    names = console.listed(columns)
    held = _conditions(where, release.schema)
    both = [name for name in held if name in names]
    if both:
        raise SfumatoError(f"--where fixes {both[0]!r}: leave it out of --columns")
    found = evidence(release, method=method).counts([*names, *held])
    if population:
        found = found.population()
    frame = _chosen(found.frame(level), held, top)
    if plot is not None:
        found.plot(plot, level=level)
    if json:
        console.emit(
            {
                "columns": names,
                **({"where": held} if held else {}),
                "n": found.n,
                "method": method,
                "level": level,
                "population": found.population_kind,
                "cells": frame.to_pylist(),
            }
        )
        return
    about = "shares of the population" if population else "counts of this table"
    console.say(f"{about}, {found.n:,.0f} randomized records, method {method}, intervals {level:.0%}")
    if held:
        console.say(f"of records with {escape(', '.join(f'{name} = {value}' for name, value in held.items()))}")
    console.table(frame.schema.names, [list(row.values()) for row in frame.slice(0, rows).to_pylist()])
    if frame.num_rows > rows:
        console.note(f"{frame.num_rows - rows} more cells: --top shows the largest, --rows more, --json all of them")


def _conditions(where: str | None, schema: Schema) -> dict[str, Any]:
    """The labels that --where asks for, by attribute."""
    held: dict[str, Any] = {}
    for part in console.listed(where or ""):
        name, equals, value = part.partition("=")
        name, value = name.strip(), value.strip()
        if not equals or not name:
            raise SfumatoError(f"--where must look like sex=F or sex=F,grade=a, got {part!r} instead")
        labels = {"" if label is None else str(label): label for label in schema[name].labels}
        if value not in labels:
            shown = ", ".join(list(labels)[:12])
            raise SfumatoError(f"--where: {name} has no value {value!r}; it has {shown}{', ...' * (len(labels) > 12)}")
        held[name] = labels[value]
    return held


def _chosen(frame: pa.Table, held: dict[str, Any], top: int | None) -> pa.Table:
    """The cells that were asked for, largest first if only some."""
    import pyarrow.compute as pc

    for name, value in held.items():
        column = frame.column(name)
        frame = frame.filter(pc.is_null(column) if value is None else pc.equal(column, value)).drop_columns([name])
    if top is None:
        return frame
    estimate = frame.schema.names[-4]
    return frame.sort_by([(estimate, "descending")]).slice(0, top)
