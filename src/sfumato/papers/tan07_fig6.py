"""Tan07 Fig. 6: breast cancer resampled at L sites: the cost to three classifiers, linkage, and bounds on DAPL."""

from __future__ import annotations

from sfumato.papers.tan07 import figure

SITES = (1, 2, 4, 8)
WHY = (
    "phi is constant in L, as printed. Copies of records make linkage look high: many records are the same nine grades."
)


def report(seeds: int = 100, jobs: int = 1, sites: tuple[int, ...] = SITES) -> str:
    """phi, linkage and the bounds on DAPL for every number of sites."""
    return figure("Tan07 Fig. 6: breast cancer", "breast cancer", sites, seeds, jobs, WHY)


if __name__ == "__main__":
    import os
    import sys

    sys.stdout.write(report(jobs=os.cpu_count() or 1) + "\n")
