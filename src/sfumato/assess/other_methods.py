"""The part of the owner's report that sets other methods beside the one that made the rows, and says why not they."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from sfumato.assess.comparison import Row
from sfumato.owner.resample.calibrate import RECORDS
from sfumato.pages.parts import folded, paragraphs, table


def other_methods(rows: Sequence[Row], asked: float, outliers_asked: float, chosen: bool) -> str:
    """Every method with its risk and what it costs; ``chosen`` says that the first one made the release.

    All make rows anew, of the records that the classifiers are not tested on: the first one's risk is another.

    The costs by classifier are folded away: in one table with the rest they would be wider than the page.
    """
    about = (
        f"<p>Each is turned until its membership AUC is at most {asked:g}, where it can be; the outliers, of whom at "
        f"most {outliers_asked:g} is asked, have no say in that. φ is what its rows cost a classifier, in points of "
        "error, on a quarter of the records; ± is one standard error. All make rows of the other three quarters for "
        f"this, so that their AUC is not that of your release. It is attacked on the same records for all, at most "
        f"{RECORDS:,}: of each of more records less is learned.</p>"
    )
    lines = [
        [
            f"{escape(row.method)}<br><small>{escape(row.setting)}</small>",
            _auc(row.risk, row.risk_error),
            _auc(row.outliers, row.outliers_error),
            _VERDICT[_within(row, asked, outliers_asked)],
            f"{_points(row.mean)}\u00a0±\u00a0{row.error:.1f}",
        ]
        for row in rows
    ]
    heads = ["method", "AUC, all", "AUC, outliers", "within the bound", "mean φ"]
    shown = table(heads, lines, "methods at equal risk", (1, 2, 4), markup=True)
    known = "<p>Rotation and projection: AUC of an attacker who knows a few of the records.</p>"
    known = known if any(row.note == "by known rows" for row in rows) else ""
    single = [[row.method, *map(_points, row.phi.values())] for row in rows]
    names = ["method", *rows[0].phi]
    by_name = folded("φ of each classifier", table(names, single, "φ of each classifier", range(1, len(names))))
    why = paragraphs(_why(rows, asked, outliers_asked)) if chosen else ""
    return about + why + shown + known + by_name


def _within(row: Row, asked: float, outliers_asked: float) -> tuple[bool, bool]:
    return row.risk <= asked, row.outliers <= outliers_asked


_VERDICT = {
    (True, True): "yes",
    (True, False): "not for outliers",
    (False, True): "for outliers only",
    (False, False): "no",
}


def _why(rows: Sequence[Row], asked: float, outliers_asked: float) -> list[str]:
    """Why the rows were made by the first method, though others may cost less."""
    own, others = rows[0], rows[1:]
    first = f"Your rows were made by the {own.method}, the only method that is turned for both bounds."
    cheaper = [row for row in others if row.mean < own.mean]
    if not cheaper:
        return [f"{first} None of the others costs less."]
    over = [row for row in cheaper if not all(_within(row, asked, outliers_asked))]
    within = [row for row in cheaper if row not in over]
    out = [first]
    if over:
        out.append(f"Cheaper, but they disclose more than was asked: {_listed(over)}.")
    if within:
        sure = [row for row in within if own.mean - row.mean > 2 * math.hypot(own.error, row.error)]
        how = "by more than chance explains" if sure else "by no more than chance explains"
        out.append(f"Cheaper within the bounds, {how}: {_listed(sure or within)}.")
    return out


def _listed(rows: Sequence[Row]) -> str:
    return ", ".join(f"{row.method} ({_points(row.mean)})" for row in rows)


def _auc(auc: float, error: float) -> str:
    return f"{auc:.3f}" if math.isnan(error) else f"{auc:.3f}<br><small>±\u00a0{error:.3f}</small>"


def _points(phi: float) -> str:
    """Points of error more or less, with the minus sign of all pages."""
    return f"{round(phi, 1) + 0.0:+.1f}".replace("-", "\N{MINUS SIGN}")
