"""Tan07 Fig. 4: svmguide1 resampled at L sites: the cost to three classifiers, linkage, and bounds on DAPL."""

from __future__ import annotations

from typing import Any

from sfumato.papers.tan07_curves import Curves

SITES = (1, 2, 4, 8, 16)
WHY = "As printed: phi is small for all L, DAPL rises with L. Linkage falls with L: DAPL is no measure of it."


def curves(sites: tuple[int, ...] = SITES) -> Curves:
    """What the figure is about."""
    return Curves("Tan07 Fig. 4: svmguide1", "svmguide1", sites, WHY)


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
