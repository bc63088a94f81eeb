"""Solving the estimating equations of a regression on the cells of a joint model."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence import Evidence
from sfumato.evidence.kinds import asked_by_part, asked_together, model_of
from sfumato.evidence.splits import leave_out
from sfumato.learn.regression.cell_equations import CellEquations
from sfumato.learn.regression.cell_weights import ModelledCells
from sfumato.learn.regression.collinear import refuse_collinear
from sfumato.learn.regression.newton import Root
from sfumato.learn.regression.problem import SHRUNK, Fit, Problem, Progress, Unbiased, warn_of
from sfumato.learn.regression.steep_slopes import open_limits, positions

#: The penalty of a joint model that is fitted for a regression: weak, so that it hardly shrinks the coefficients.
TAU = 3.0
_GROUPS = 10  # of the jackknife


def fit_model(
    source: Evidence, problem: Problem, progress: Progress | None = None, unsolved: Unbiased | None = None
) -> Fit:
    """``unsolved``: the unbiased scores that were asked first, and have no solution."""
    # a model of forms holds pairs of attributes to independence, which would draw coefficients to 0
    model = (
        source
        if source.smoothed and len({*map(frozenset, asked_by_part(source))}) == 1
        else model_of(source, problem.names, TAU)
    )
    cells, root, held = _on_model(model, problem)
    refuse_collinear(*_positions(held))
    if not root.converged:
        warn_of("Newton's method does not converge on the joint model: the coefficients mean little")
    inverse: Array = np.linalg.pinv(root.information, hermitian=True).astype(np.float64)
    if unsolved is not None:
        total, noise = unsolved(root.beta)
        cov = inverse @ (noise + np.outer(total, total)) @ inverse
        said = "of unbiased scores, and how far they are from the joint model's"
        terms, gram = _positions(held)
        position = positions(terms, gram, float(held.weights.sum()), problem.ends)
        possible = problem.family.possible
        steep = open_limits(root.beta, cov, inverse, position, problem.columns, unsolved, possible)
        return held.unscaled(Fit(root.beta, cov, root.converged, SHRUNK, said, open=steep))
    if cells.tells_spread:
        score = held.score(root.beta)
        records = source.records(problem.names) if asked_together(source, problem.names) else ()
        wrong = cells.wrong_by(records, score)
        cov = inverse @ (cells.spread(score) + wrong) @ inverse
        said = "of the joint model's own parameters"
        if wrong.any():
            said += ", and what unbiased scores show it to be wrong by"
        return held.unscaled(Fit(root.beta, cov, root.converged, "cells of the joint model", said))
    again = np.stack([root.beta for root in _each_without(model, problem, progress)])
    apart = again - again.mean(axis=0)
    cov = apart.T @ apart * (_GROUPS - 1) / _GROUPS
    said = f"jackknife, leaving out a tenth of the records at a time ({_GROUPS} refits)"
    return held.unscaled(Fit(root.beta, cov, root.converged, "cells of the joint model", said, freedom=_GROUPS - 1.0))


def _on_model(model: Evidence, problem: Problem) -> tuple[ModelledCells, Root, CellEquations]:
    cells = ModelledCells(model, problem.names)
    held = CellEquations(cells, problem)
    return cells, held.solve(held.weights), held


def _positions(held: CellEquations) -> tuple[list[str], Array]:
    terms, _, gram = held.gram(held.weights)
    return terms, gram


def _each_without(model: Evidence, problem: Problem, progress: Progress | None) -> Iterator[Root]:
    """The solution without a tenth of the records, for each tenth."""
    for done, one in enumerate(leave_out(model, _GROUPS)):
        if progress is not None:
            progress(done, _GROUPS)
        yield _on_model(one, problem)[1]
