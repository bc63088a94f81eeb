"""Tan07 Fig. 3: Iris resampled at L sites: the cost to three classifiers, linkage, and bounds on DAPL."""

from __future__ import annotations

from typing import Any

from sfumato.papers.tan07_curves import Curves

SITES = (1, 2, 3, 4)
WHY = (
    "As printed: below 3 points, naive Bayes least. Not as printed: phi does not grow with L. DAPL grows with L as the "
    "paper says, while linkage falls: about half of the rows point at their own record, whatever L."
)


def curves(sites: tuple[int, ...] = SITES) -> Curves:
    """What the figure is about."""
    return Curves("Tan07 Fig. 3: Iris", "iris", sites, WHY)


def report(seeds: int = 100, jobs: int = 1, sites: tuple[int, ...] = SITES) -> str:
    """phi, linkage and the bounds on DAPL for every number of sites."""
    one = curves(sites)
    return one.text(one.measure(seeds, jobs))


def draw(path: Any, seeds: int = 100, jobs: int = 1) -> None:
    """The same, drawn."""
    one = curves()
    one.draw(one.measure(seeds, jobs), path)


if __name__ == "__main__":
    import os
    import sys

    sys.stdout.write(report(jobs=os.cpu_count() or 1) + "\n")
