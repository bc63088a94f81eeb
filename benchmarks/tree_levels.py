"""Counts of towns, counties and regions, by what is released: ``python -m benchmarks.tree_levels [--runs 100]``.

Every run draws the true shares of the towns anew, and the release from them.
"""

from __future__ import annotations

import argparse

import numpy as np

import sfumato as sf
from sfumato import channels as c

LEVELS = ("region", "county", "town")
RECORDS, GAMMA = 20_000, 4.0
PLACE = sf.Hierarchy(
    levels=LEVELS,
    tree={f"R{r}": {f"C{r}{k}": [f"t{r}{k}{i}" for i in range(5)] for k in range(6)} for r in range(4)},
)
COUNTY = sf.Hierarchy(levels=LEVELS, tree=PLACE.tree, level="county")
WAYS = {
    "the towns, subset": (PLACE, c.subset(PLACE.size, GAMMA)),
    "the counties, subset": (COUNTY, c.subset(COUNTY.size, GAMMA)),
    "all levels alike": (PLACE, c.tree_levels(PLACE, GAMMA)),
    "all levels, 1 : 2 : 3": (PLACE, c.tree_levels(PLACE, GAMMA, {"region": 1, "county": 2, "town": 3})),
}


def study(domain: sf.Hierarchy, channel: c.Channel, runs: int) -> dict[str, tuple[float, float]]:
    """For each level that can be told: the root mean squared error of a count, and how often intervals held."""
    rng = np.random.default_rng(5)
    scheme = sf.Scheme(sf.Schema({"place": domain}), {"place": channel})
    errors: dict[str, list[float]] = {level: [] for level in domain.above}
    held: dict[str, list[float]] = {level: [] for level in domain.above}
    for run in range(runs):
        towns = rng.choice(PLACE.size, RECORDS, p=rng.dirichlet(np.full(PLACE.size, 0.5)))
        table = {"place": np.array(PLACE.values)[towns]}
        ev = sf.evidence(sf.randomize(table, scheme, rng=sf.experiment(run)))
        for level in domain.above:
            found = ev.counts("place", level=level, quiet=True)
            truth = np.bincount(PLACE.into(level)[towns], minlength=len(found.value))
            low, high = found.interval()
            errors[level].append(float(((found.value - truth) ** 2).mean()))
            held[level].append(float(((low <= truth) & (truth <= high)).mean()))
    return {level: (float(np.sqrt(np.mean(errors[level]))), float(np.mean(held[level]))) for level in domain.above}


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.tree_levels", description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100)
    runs = parser.parse_args().runs
    print("| released | " + " | ".join(f"{level}: error, held" for level in LEVELS) + " |\n" + "|---" * 4 + "|")
    for name, (domain, channel) in WAYS.items():
        found = study(domain, channel, runs)
        cells = [f"{found[x][0]:.0f}, {found[x][1]:.3f}" if x in found else "" for x in LEVELS]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    print(f"\n{runs} runs, {RECORDS:,} records, gamma {GAMMA:g}.")


if __name__ == "__main__":
    main()
