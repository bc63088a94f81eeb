"""Tan07 Fig. 4: svmguide1 resampled at L sites: the cost to three classifiers, linkage, and bounds on DAPL."""

from __future__ import annotations

from sfumato.papers.tan07_curves import Curves

SITES = (1, 2, 4, 8, 16)
WHY = "As printed: phi is small for all L, DAPL rises with L. Linkage falls with L: DAPL is no measure of it."

FIGURE = Curves("Tan07 Fig. 4: svmguide1", "svmguide1", SITES, WHY)
report, draw = FIGURE.report, FIGURE.draw
