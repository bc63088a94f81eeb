"""Tan07 Fig. 3: Iris resampled at L sites: the cost to three classifiers, linkage, and bounds on DAPL."""

from __future__ import annotations

from sfumato.papers.tan07_curves import Curves

SITES = (1, 2, 3, 4)
WHY = (
    "As printed: below 3 points, naive Bayes least. Not as printed: phi does not grow with L. DAPL grows with L as the "
    "paper says, while linkage falls: about half of the rows point at their own record, whatever L."
)

FIGURE = Curves("Tan07 Fig. 3: Iris", "iris", SITES, WHY)
report, draw = FIGURE.report, FIGURE.draw
