"""Tan07 Fig. 4: svmguide1 resampled at L sites: the cost to three classifiers, linkage, and bounds on DAPL."""

from __future__ import annotations

from sfumato.papers.tan07 import figure

SITES = (1, 2, 4, 8, 16)
WHY = (
    "phi stays small for all L, as printed. In four dimensions and 3089 rows the bounds on DAPL are near 0 for small L."
)


def report(seeds: int = 20, jobs: int = 1, sites: tuple[int, ...] = SITES) -> str:
    """phi, linkage and the bounds on DAPL for every number of sites."""
    return figure("Tan07 Fig. 4: svmguide1", "svmguide1", sites, seeds, jobs, WHY)


if __name__ == "__main__":
    import os
    import sys

    sys.stdout.write(report(jobs=os.cpu_count() or 1) + "\n")
