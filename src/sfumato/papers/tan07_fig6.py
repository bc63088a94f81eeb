"""Tan07 Fig. 6: breast cancer resampled at L sites: the cost to three classifiers, linkage, and bounds on DAPL."""

from __future__ import annotations

from sfumato.papers.tan07_curves import Curves

SITES = (1, 2, 4, 8)
WHY = (
    "As printed: constant in L. Not as printed: naive Bayes gains nothing (the paper: 1 point, with the patient's "
    "number as a column). Copies of records make linkage look high: many records are the same nine grades."
)

FIGURE = Curves("Tan07 Fig. 6: breast cancer", "breast cancer", SITES, WHY)
report, draw = FIGURE.report, FIGURE.draw
