"""sfumato demo: the whole journey on real data, in a few seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from sfumato import datasets
from sfumato.cli import console
from sfumato.datasets.patients import SCHOOLING
from sfumato.evidence import Estimate, evidence
from sfumato.owner.randomize import randomize_file
from sfumato.release import Release
from sfumato.schema import Categorical, Numeric, Ordinal, Schema
from sfumato.scheme import Scheme

SCHEMA = Schema(
    {
        "sex": Categorical(("Female", "Male")),
        "income": Categorical(("<=50K", ">50K")),
        "education": Ordinal(SCHOOLING),
        "age": Numeric(15, 95, bins=16),
        "race": Categorical(("White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other")),
    }
)


def demo(
    folder: Annotated[Path, typer.Option(help="Where the release and the pictures go.")] = Path("demo"),
    gamma: Annotated[float, typer.Option(help="The bound on every attribute: odds of at most gamma to 1.")] = 3.0,
) -> None:
    """Randomize real census records, estimate from them, and hold the estimates against the truth.

    Examples:

        sfumato demo

        sfumato demo --gamma 9 --folder nine
    """
    table = datasets.load("adult")
    console.say(
        f"1. Design. {table.num_rows:,} census records; "
        f"no attribute may shift an adversary's odds by more than {gamma:g}."
    )
    scheme = Scheme.for_gamma(SCHEMA, gamma)
    console.table(
        ["attribute", "values", "channel", "gamma"],
        [[group.names[0], group.channel.k, str(group.channel), group.channel.gamma] for group in scheme.groups],
    )

    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "adult-release.parquet"
    console.heading("2. Randomize", ", at the owner, with secure randomness. Only this file crosses the wall:")
    with console.progress("randomizing", table.num_rows) as advance:
        randomize_file(table, target, scheme, overwrite=True, progress=advance)
    console.say(f"{target}  ({target.stat().st_size / 1024:,.0f} kB, carries its own scheme)")

    console.heading("3. Estimate", ", at the miner, from that file alone. The truth stands here only to compare:")
    release = Release.load(target)
    crossed, truth = _compare(release, table, ["sex", "income"])
    low, high = crossed.interval()
    rows: list[list[Any]] = []
    for cell, row in enumerate(crossed.frame().to_pylist()):
        held = "yes" if low[cell] <= truth[cell] <= high[cell] else "no"
        rows.append([row["sex"], row["income"], row["estimate"], row["low"], row["high"], int(truth[cell]), held])
    console.table(["sex", "income", "estimate", "low", "high", "truth", "inside"], rows)

    inside = total = 0
    for name in ("education", "age", "race"):
        found, truth = _compare(release, table, [name])
        low, high = found.interval()
        inside, total = inside + int(((low <= truth) & (truth <= high)).sum()), total + len(truth)
        found.plot(folder / f"{name}.png", truth=truth, title=f"{name}: {table.num_rows:,} records, gamma {gamma:g}")
    console.say(f"\n{inside} of {total} intervals for education, age and race hold the truth (95 % are meant to).")
    console.say(f"Pictures: {folder / 'education.png'}, {folder / 'age.png'}, {folder / 'race.png'}")
    console.say(
        f"\nNext: sfumato inspect {target} --rows 3   or   sfumato estimate {target} --columns education,income"
    )


def _compare(release: Release, table: Any, names: list[str]) -> tuple[Estimate, np.ndarray[Any, np.dtype[np.float64]]]:
    found = evidence(release, method="mle").counts(names)
    return found, evidence(table, SCHEMA.select(names)).counts(names).value
