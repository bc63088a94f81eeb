"""Tan07 Fig. 5: Pima diabetes resampled at L sites: the cost to three classifiers, linkage, and bounds on DAPL."""

from __future__ import annotations

from sfumato.papers.tan07_curves import Curves

SITES = (1, 2, 4, 8)
WHY = (
    "As printed: within 3 points, no trend in L. Not as printed: the network does not gain from randomized rows. Nor "
    "does one without a penalty on its weights (+2.2 ± .6 over 20 seeds). DAPL rises with L "
    "while linkage, what an attacker really gains, falls: nine rows in ten point at their record at L = 1."
)

FIGURE = Curves("Tan07 Fig. 5: Pima diabetes", "pima", SITES, WHY)
report, draw = FIGURE.report, FIGURE.draw
