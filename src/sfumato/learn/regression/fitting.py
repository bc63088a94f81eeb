"""Solving the estimating equations of a regression, by what the evidence is.

Exact records are themselves. Of randomized ones the equations hold on unbiased cells (on unbiased moments, for the
gaussian family), Σ_cells N̂ ψ(cell; β) = 0, and the sandwich H⁻¹ (Σ_z Ñ_z s_z s_zᵀ) H⁻ᵀ is the covariance. Logistic
scores over too many cells are formed record by record. Ordinal ones, and equations that have no solution, give way to
the cells of the joint model.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from math import prod

import numpy as np

from sfumato.arrays import Array
from sfumato.errors import ConvergenceWarning, EstimationError
from sfumato.evidence import Evidence
from sfumato.evidence.kinds import asked_by_part, asked_together, model_of
from sfumato.evidence.simplex import project
from sfumato.evidence.splits import leave_out
from sfumato.learn.regression.cell_weights import (
    MOST_CELLS,
    CellWeights,
    ExactCells,
    ModelledCells,
    UnbiasedCells,
    precisions,
)
from sfumato.learn.regression.collinear import refuse_collinear
from sfumato.learn.regression.design_columns import INTERCEPT, Column, matrix
from sfumato.learn.regression.families import Gaussian, Logistic, Ordinal
from sfumato.learn.regression.form_moments import FormMoments, told_by_forms
from sfumato.learn.regression.moments import RecordMoments
from sfumato.learn.regression.newton import Root, solve
from sfumato.learn.regression.noisy_moments import NoisyMoments, noises_of, noisy_moments
from sfumato.learn.regression.problem import Fit, Problem
from sfumato.learn.regression.waves import WaveScores

#: The penalty of a joint model that is fitted for a regression: weak, so that it hardly shrinks the coefficients.
TAU = 3.0
#: The most cells that logistic scores are listed over; beyond them they are formed record by record.
LISTED_CELLS = 1 << 17
_GROUPS = 10  # of the jackknife


def fit(source: Evidence, problem: Problem, through: str) -> Fit:
    """The coefficients from this evidence; ``through`` is "auto", "scores" or "model"."""
    if noises_of(source, problem.names):
        return _fit_noisy(source, problem, through)
    if source.exact and through != "model":
        return _fit_exact(ExactCells(source, problem.names), problem)
    if source.smoothed and through == "scores":
        raise EstimationError('through="scores" needs unbiased counts: give evidence that is no model')
    if through != "model" and not asked_together(source, problem.names):
        return _fit_forms(source, problem, through)
    if source.smoothed or through == "model":
        return _fit_model(source, problem)
    if isinstance(problem.family, Gaussian):
        return _fit_moments(source, problem)
    logistic = isinstance(problem.family, Logistic)
    large = prod(source.schema.sizes(problem.names)) > (LISTED_CELLS if logistic else MOST_CELLS)
    if large and through == "auto" and not logistic:
        return _fit_model(source, problem)
    if large and logistic:
        found = _fit_waves(source, problem)
    else:
        found = _fit_scores(UnbiasedCells(source, problem.names), problem)
    if found.converged:
        return found
    if through == "scores":
        _warn("the corrected scores have no solution near the most likely table: the coefficients mean little")
        return found
    _warn("the corrected scores have no solution near the most likely table: the joint model is asked instead")
    return _fit_model(source, problem)


class _Cells:
    """Matrix and response of the cells that have a response, scaled to columns of size 1."""

    def __init__(self, cells: CellWeights, problem: Problem) -> None:
        y = np.asarray(cells.codes[problem.names[-1]])
        self.cells, self.problem = cells, problem
        self.kept = np.flatnonzero(problem.response.kept[y])
        self.y = problem.response.values[y[self.kept]]
        codes = {name: own[self.kept] for name, own in cells.codes.items()}
        self.size = np.array([float(np.abs(column.table).max()) or 1.0 for column in problem.columns])
        self.X = matrix(problem.columns, codes, len(self.kept)) / self.size
        if isinstance(problem.family, Ordinal):
            self.size = np.append(self.size, np.ones(problem.family.classes - 1))

    @property
    def weights(self) -> Array:
        return self.cells.weights[self.kept]

    def gram(self, weights: Array) -> tuple[list[str], Array, Array]:
        """Names, columns and Σ x xᵀ, the constant included."""
        terms, X = self.problem.terms, self.X
        if isinstance(self.problem.family, Ordinal):
            terms, X = [INTERCEPT.term, *terms], np.hstack([np.ones((len(X), 1)), X])
        return terms, X, (X * weights[:, None]).T @ X

    def solve(self, weights: Array, start: Array | None = None) -> Root:
        family, X, y = self.problem.family, self.X, self.y

        def equations(beta: Array) -> tuple[Array, Array] | None:
            score = family.score(beta, X, y)
            return None if score is None else (weights @ score, family.information(beta, X, y, weights))

        return solve(equations, family.start(X, y, weights) if start is None else start)

    def everywhere(self, values: Array) -> Array:
        """A row per cell, zero where there is no response."""
        out = np.zeros((len(self.cells.weights), values.shape[1]))
        out[self.kept] = values
        return out

    def score(self, beta: Array) -> Array:
        found = self.problem.family.score(beta, self.X, self.y)
        return self.everywhere(np.zeros((len(self.y), len(beta))) if found is None else found)

    def unscaled(self, found: Fit) -> Fit:
        return replace(found, beta=found.beta / self.size, cov=found.cov / np.outer(self.size, self.size))


def _fit_exact(cells: ExactCells, problem: Problem) -> Fit:
    held = _Cells(cells, problem)
    terms, _, gram = held.gram(held.weights)
    refuse_collinear(terms, gram)
    root = held.solve(held.weights)
    if not root.converged:
        _warn(
            "the likelihood has no maximum that Newton's method finds, as where a covariate foretells the response "
            "perfectly: the coefficients mean little"
        )
    inverse = np.asarray(np.linalg.pinv(root.information, hermitian=True), dtype=np.float64)
    scale, freedom, cov = None, np.inf, inverse
    n = float(held.weights.sum())
    if isinstance(problem.family, Gaussian):
        left = float(held.weights @ (held.y - held.X @ root.beta) ** 2)
        scale = left / max(n - len(root.beta), 1e-300)
        cov, freedom = inverse * scale, n - len(root.beta)
        if freedom <= 0:
            raise EstimationError(f"{n:.0f} records are too few for {len(root.beta)} coefficients")
    if problem.robust:
        cov, freedom = inverse @ cells.spread(held.score(root.beta)) @ inverse, np.inf
    said = "robust (HC0)" if problem.robust else "of the model, nonrobust"
    return held.unscaled(Fit(root.beta, cov, root.converged, "exact records", said, freedom, scale))


def _fit_scores(cells: UnbiasedCells, problem: Problem) -> Fit:
    held = _Cells(cells, problem)
    possible = project(held.weights, float(held.weights.sum()))
    pilot = held.solve(possible)
    if len({part.scheme for part in cells.parts}) > 1 and pilot.converged:
        cells.weigh(precisions(cells.parts, cells.spreads(held.score(pilot.beta)), pilot.information))
    terms, X, gram = held.gram(held.weights)

    def quadratic_spread(directions: Array) -> Array:
        squares = held.everywhere((X @ directions) ** 2)
        return np.asarray(np.diag(cells.spread(squares)) - (cells.weights @ squares) ** 2 / cells.weights.sum())

    refuse_collinear(terms, gram, quadratic_spread)
    root = held.solve(held.weights, pilot.beta)
    inverse = np.linalg.pinv(root.information)
    cov = np.asarray(inverse @ cells.spread(held.score(root.beta)) @ inverse.T, dtype=np.float64)
    return held.unscaled(Fit(root.beta, cov, root.converged, "corrected scores on unbiased cells", "sandwich"))


def _fit_forms(source: Evidence, problem: Problem, through: str) -> Fit:
    """Where no form asks all: gaussian coefficients need two attributes at a time, others the joint model."""
    columns, y, answered, size = problem.scaled()
    if not (isinstance(problem.family, Gaussian) and told_by_forms(source, columns, y, answered)):
        if through == "scores":
            source.counts(problem.names, quiet=True)  # says what no form asks
        return _fit_model(source, problem)
    moments = FormMoments(source, problem.names, columns, y, answered)
    refuse_collinear(problem.terms, moments.information, moments.quadratic_spread)
    beta = np.asarray(np.linalg.solve(moments.information, moments.answers), dtype=np.float64)
    inverse = np.linalg.inv(moments.information)
    cov = inverse @ moments.spread(beta) @ inverse / np.outer(size, size)
    scale = max(moments.squares - float(beta @ moments.answers), 0.0) / moments.total
    said = "corrected scores on unbiased moments of all forms"
    return Fit(beta / size, cov, True, said, "sandwich", scale=scale)


def _record_moments(source: Evidence, problem: Problem) -> tuple[RecordMoments, list[Column], Column | None, Array]:
    """Unbiased moments of columns that are brought to size 1; whether there is a response; and the sizes."""
    scaled, y, answered, size = problem.scaled()
    moments = RecordMoments(source, problem.names, scaled, y, answered)
    refuse_collinear(problem.terms, moments.information, moments.quadratic_spread)
    return moments, scaled, answered, size


def _fit_noisy(source: Evidence, problem: Problem, through: str) -> Fit:
    """Where numbers carry additive noise: moments tell straight lines, and nothing else."""
    noisy = noises_of(source, problem.names)
    if not isinstance(problem.family, Gaussian) or through == "model" or source.smoothed:
        raise EstimationError(
            f"{noisy[0]!r} carries additive noise, under which the gaussian family is told, by unbiased moments: cut "
            "the numbers into intervals for anything else (release.in_intervals())"
        )
    moments, sizes = noisy_moments(source, problem.columns, problem.response, problem.names)
    refuse_collinear(problem.terms, moments.information, moments.quadratic_spread)
    return _solved(moments, sizes, "corrected scores on moments, the noise's own taken out")


def _fit_moments(source: Evidence, problem: Problem) -> Fit:
    moments, _, _, size = _record_moments(source, problem)
    return _solved(moments, size, "corrected scores on unbiased moments")


def _solved(moments: RecordMoments | NoisyMoments, size: Array, said: str) -> Fit:
    if len({part.scheme for part in moments.parts}) > 1:
        pilot = np.asarray(np.linalg.solve(moments.information, moments.answers), dtype=np.float64)
        moments.weigh(precisions(moments.parts, moments.spreads(pilot), moments.information))
    beta = np.asarray(np.linalg.solve(moments.information, moments.answers), dtype=np.float64)
    inverse = np.linalg.inv(moments.information)
    cov = inverse @ moments.spread(beta) @ inverse
    scale = max(moments.squares - float(beta @ moments.answers), 0.0) / moments.total
    found = Fit(beta / size, cov / np.outer(size, size), True, said, "sandwich")
    return replace(found, scale=scale)


def _fit_waves(source: Evidence, problem: Problem) -> Fit:
    moments, columns, answered, size = _record_moments(source, problem)
    scores = WaveScores(moments.parts, columns, answered)
    places = range(len(moments.parts))

    def equations(beta: Array) -> tuple[Array, Array]:
        score, slope = moments.answers, np.zeros((len(beta), len(beta)))
        for place, (factor, part) in enumerate(zip(moments.factors, moments.parts, strict=True)):
            own, curve = scores.explained(place, beta)
            score, slope = score - factor * (part.counts @ own), slope + factor * curve
        return score, slope

    def spreads(beta: Array) -> list[Array]:
        left = [moments.told_answers(moments.parts[i]) - scores.explained(i, beta, False)[0] for i in places]
        return [(s * part.counts[:, None]).T @ s for s, part in zip(left, moments.parts, strict=True)]

    root = solve(equations, np.zeros(len(columns)))
    if root.converged and len({part.scheme for part in moments.parts}) > 1:
        moments.weigh(precisions(moments.parts, spreads(root.beta), root.information))
        root = solve(equations, root.beta)
    meat = np.sum([f * f * one for f, one in zip(moments.factors, spreads(root.beta), strict=True)], axis=0)
    inverse = np.linalg.pinv(root.information)
    cov = np.asarray(inverse @ meat @ inverse.T, dtype=np.float64)
    said = "corrected scores, record by record"
    return Fit(root.beta / size, cov / np.outer(size, size), root.converged, said, "sandwich")


def _fit_model(source: Evidence, problem: Problem) -> Fit:
    # a model of forms holds pairs of attributes to independence, which would draw coefficients to 0
    model = (
        source
        if source.smoothed and len({*map(frozenset, asked_by_part(source))}) == 1
        else model_of(source, problem.names, TAU)
    )
    cells, root, held = _on_model(model, problem)
    refuse_collinear(*_positions(held))
    if not root.converged:
        _warn("Newton's method does not converge on the joint model: the coefficients mean little")
    if cells.tells_spread:
        inverse = np.linalg.pinv(root.information, hermitian=True)
        cov = inverse @ cells.spread(held.score(root.beta)) @ inverse
        return held.unscaled(
            Fit(root.beta, cov, root.converged, "cells of the joint model", "of the joint model's own parameters")
        )
    again = np.stack([_on_model(one, problem)[1].beta for one in leave_out(model, _GROUPS)])
    apart = again - again.mean(axis=0)
    cov = apart.T @ apart * (_GROUPS - 1) / _GROUPS
    said = f"jackknife, leaving out a tenth of the records at a time ({_GROUPS} refits)"
    return held.unscaled(Fit(root.beta, cov, root.converged, "cells of the joint model", said, freedom=_GROUPS - 1.0))


def _on_model(model: Evidence, problem: Problem) -> tuple[ModelledCells, Root, _Cells]:
    cells = ModelledCells(model, problem.names)
    held = _Cells(cells, problem)
    return cells, held.solve(held.weights), held


def _positions(held: _Cells) -> tuple[list[str], Array]:
    terms, _, gram = held.gram(held.weights)
    return terms, gram


def _warn(text: str) -> None:
    warnings.warn(text, ConvergenceWarning, stacklevel=6)
