"""Tan07 Lemmas 4.1 and 4.2: what a random projection of the rows gives away, if anything."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.assess.attacks.norms import element_bound, norm_bound
from sfumato.assess.attacks.rotation import procrustes
from sfumato.owner.baselines import rotation, row_projection
from sfumato.pages.chart import ACCENT, SOFT
from sfumato.papers.curves import panels
from sfumato.papers.figure import Figure, Found, Setting, beside, claimed

ROWS, COLUMNS, KEPT = 60, 5, 20


def bounds(draws: int, seed: int = 41) -> tuple[float, float, float, list[float]]:
    """Share of single draws for which the bound is true, whether it is in the mean, its tightness, and the gaps.

    Two sites, the same columns, correlated; the known column is the first of the second site.
    """
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(ROWS, 1))
    first, second = (shared + 0.5 * rng.normal(size=(ROWS, COLUMNS)) + 1 for _ in range(2))
    norms = np.linalg.norm(first, axis=0)
    known = float(np.linalg.norm(second[:, 0]))
    found = []
    for draw in range(draws):
        released, R = row_projection(first, KEPT, rng=draw)
        found.append(norm_bound(released, R @ second, known).bounds)
    values = np.array(found)
    holds = float((values <= norms + 1e-9).mean())
    return (
        holds,
        float((values.mean(0) <= norms).mean()),
        float((values.mean(0) / norms).mean()),
        (values / norms)[:, 0].tolist(),
    )


def vacuous(draws: int, seed: int = 42) -> float:
    """The share of draws in which Lemma 4.2 says more than that an absolute value is not negative."""
    rng = np.random.default_rng(seed)
    told = 0
    for draw in range(draws):
        first, second = rng.normal(size=(ROWS, COLUMNS)), rng.normal(size=(ROWS, COLUMNS))
        released, R = row_projection(first, KEPT, rng=draw)
        bound = norm_bound(released, R @ second, float(np.linalg.norm(second[:, 0]))).bounds[0]
        told += element_bound(float(bound), first[1:, 0]) > 0
    return told / draws


def measure(fast: bool) -> Found:
    draws = 300 if fast else 3000
    single, mean, tight, gaps = bounds(draws)
    why = "The proof uses the expected product. One released table is one draw, for which the bound is often false."
    rows = (
        claimed("share of columns whose bound holds in the mean over projections", mean, mean == 1),
        claimed("share of single projections for which the bound is true", single, single > 0.99, why),
        beside("the bound over the norm, in the mean", tight),
    )
    return Found(rows, gaps, draws)


def measure_entry(fast: bool) -> Found:
    draws = 200 if fast else 2000
    told = vacuous(draws)
    X = np.random.default_rng(5).normal(size=(200, COLUMNS))
    Y, _ = rotation(X, rng=5)
    error = procrustes(Y, X[:COLUMNS], np.arange(COLUMNS), X).error or 0.0
    rows = (
        claimed(
            "share of draws in which the bound on an entry is above zero",
            told,
            told > 0.5,
            "The bound would have to be tight to within one entry of the column. Almost always it says nothing.",
        ),
        beside(
            "what does work: error of a rotation undone with five known rows",
            error,
            "Known rows recover a rotation exactly.",
        ),
    )
    return Found(rows, told, draws)


def draw(figure: Any, found: Found) -> None:
    (axes,) = panels(figure, 1)
    axes.hist(found.data, bins=50, color=ACCENT)
    axes.axvline(1, color=SOFT, linestyle=":")
    axes.annotate(" beyond: the bound is false", (1, 0.92), xycoords=("data", "axes fraction"), fontsize=8, color=SOFT)
    axes.set(xlabel="bound / true norm, single projections", ylabel="draws")


def draw_entry(figure: Any, found: Found) -> None:
    (axes,) = panels(figure, 1)
    axes.barh(["says nothing", "above zero"], [1 - found.data, found.data], color=ACCENT)
    axes.set(xlabel="share of draws", xlim=(0, 1))


_SETTINGS = (
    Setting("projection", "R of K by N rows, K < N (the rows are mixed)", f"K = {KEPT}, N = {ROWS}"),
    Setting("data", "any", f"{COLUMNS} columns at two sites"),
)
LEMMAS = (
    Figure(
        "tan07_lemma4_1",
        "Lemma 4.1",
        "a bound on the norm of a column",
        "From one known norm at another site the norms of all columns are bounded from below.",
        measure,
        draw,
        _SETTINGS,
        size=(5.6, 3.0),
    ),
    Figure(
        "tan07_lemma4_2",
        "Lemma 4.2",
        "a bound on a single value",
        "Who knows all values of a column but one gets a lower bound on that one.",
        measure_entry,
        draw_entry,
        _SETTINGS,
        size=(5.6, 2.2),
    ),
)
