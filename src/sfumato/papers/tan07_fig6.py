"""Tan07 Fig. 6: breast cancer resampled at L sites: the cost to three classifiers, linkage, and bounds on DAPL."""

from __future__ import annotations

from typing import Any

from sfumato.papers.tan07_curves import Curves

SITES = (1, 2, 4, 8)
WHY = (
    "As printed: constant in L. Not as printed: naive Bayes gains nothing (the paper: 1 point, with the patient's "
    "number as a column). Copies of records make linkage look high: many records are the same nine grades."
)


def curves(sites: tuple[int, ...] = SITES) -> Curves:
    """What the figure is about."""
    return Curves("Tan07 Fig. 6: breast cancer", "breast cancer", sites, WHY)


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
