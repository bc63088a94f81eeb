"""sfumato estimate: the miner's first verb."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli import console
from sfumato.evidence import evidence
from sfumato.release import Release


def estimate(
    files: Annotated[list[Path], typer.Argument(help="One or more releases; several are taken as different records.")],
    columns: Annotated[str, typer.Option(help="The attributes to cross, comma-separated.")],
    method: Annotated[str, typer.Option(help="mle (never negative) or moment (unbiased).")] = "mle",
    level: Annotated[float, typer.Option(help="The confidence of the intervals.")] = 0.95,
    population: Annotated[bool, typer.Option(help="Shares of the population behind the table.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Also draw the estimate (.svg, .png or .pdf).")] = None,
    json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Estimate how many records hold each value, or each combination of values, with intervals.

    Examples:

        sfumato estimate release.parquet --columns sex

        sfumato estimate north.parquet south.parquet --columns sex,grade --population

        sfumato estimate release.parquet --columns age --method moment --plot age.svg
    """
    release = Release.concat([Release.load(file) for file in files])
    found = evidence(release, method=method).counts(console.listed(columns))
    if population:
        found = found.population()
    frame = found.frame(level)
    if plot is not None:
        found.plot(plot, level=level)
    if json:
        console.emit(
            {
                "columns": list(found.names),
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
    console.table(frame.schema.names, [list(row.values()) for row in frame.to_pylist()])
