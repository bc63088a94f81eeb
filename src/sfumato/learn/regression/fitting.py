"""Solving the estimating equations of a regression, by what the evidence is.

Exact records are themselves. Of randomized ones the equations hold on unbiased cells (on unbiased moments, for the
gaussian family), Σ_cells N̂ ψ(cell; β) = 0, and the sandwich H⁻¹ (Σ_z Ñ_z s_z s_zᵀ) H⁻ᵀ is the covariance. Logistic
and ordinal scores over too many cells are formed record by record. Equations without a solution give way to the cells
of the joint model.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np

from sfumato.arrays import Array
from sfumato.errors import EstimationError
from sfumato.evidence import Evidence
from sfumato.evidence.fine_cells import FineCells
from sfumato.evidence.kinds import asked_together
from sfumato.evidence.simplex import project
from sfumato.learn.regression.cell_equations import CellEquations
from sfumato.learn.regression.cell_weights import (
    ExactCells,
    ListedRecords,
    UnbiasedCells,
    precisions,
)
from sfumato.learn.regression.collinear import refuse_collinear
from sfumato.learn.regression.design_columns import INTERCEPT
from sfumato.learn.regression.families import Gaussian, Ordinal
from sfumato.learn.regression.form_moments import FormMoments, told_by_forms
from sfumato.learn.regression.modelled import fit_model
from sfumato.learn.regression.moments import RecordMoments
from sfumato.learn.regression.newton import solve
from sfumato.learn.regression.noisy_moments import NoisyMoments, noises_of, noisy_moments, terms_of
from sfumato.learn.regression.problem import Fit, Problem, Progress, warn_of
from sfumato.learn.regression.record_scores import LogisticScores, OrdinalScores, RecordScoresByWaves
from sfumato.learn.regression.steep_slopes import finite, open_limits, positions

#: The most cells that scores are listed over; beyond them they are formed record by record.
LISTED_CELLS = 1 << 17


def fit(source: Evidence, problem: Problem, through: str, progress: Progress | None = None) -> Fit:
    """The coefficients from this evidence; ``through`` is "auto", "scores" or "model"."""
    if noises_of(source, problem.names):
        return _fit_noisy(source, problem, through)
    if source.exact and through != "model":
        return _fit_exact(ExactCells(source, problem.names), problem)
    if source.smoothed and through == "scores":
        raise EstimationError('through="scores" needs unbiased counts: give evidence that is no model')
    if through != "model" and not asked_together(source, problem.names):
        return _fit_forms(source, problem, through, progress)
    if source.smoothed or through == "model":
        return fit_model(source, problem, progress)
    if isinstance(problem.family, Gaussian):
        return _fit_moments(source, problem)
    if prod(source.schema.sizes(problem.names)) > LISTED_CELLS:
        found = _fit_waves(source, problem)
    else:
        found = _fit_scores(UnbiasedCells(source, problem.names), problem)
    if found.converged:
        return found
    if through == "scores":
        warn_of("the corrected scores have no solution that Newton's method finds: the coefficients mean little")
        return found
    warn_of("the corrected scores have no solution that Newton's method finds: the joint model is asked instead")
    return fit_model(source, problem, progress, found.unbiased)


def _fit_exact(cells: ExactCells, problem: Problem) -> Fit:
    held = CellEquations(cells, problem)
    terms, _, gram = held.gram(held.weights)
    refuse_collinear(terms, gram)
    root = held.solve(held.weights)
    if not root.converged:
        warn_of(
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


def _fit_scores(cells: UnbiasedCells, problem: Problem, possible: bool = True) -> Fit:
    """``possible``: search from the coefficients of the nearest possible table, rather than from none."""
    held = CellEquations(cells, problem)
    pilot = held.solve(project(held.weights, float(held.weights.sum()))) if possible else None
    if (
        pilot is None or not pilot.converged
    ):  # few records in many cells: a constant that seems to foretell the response
        pilot = held.solve(held.weights)
    if len({part.scheme for part in cells.parts}) > 1 and pilot.converged:
        cells.weigh(precisions(cells.parts, cells.spreads(held.score(pilot.beta)), pilot.information))
    terms, X, gram = held.gram(held.weights)

    def quadratic_spread(directions: Array) -> Array:
        squares = held.everywhere((X @ directions) ** 2)
        return np.asarray(np.diag(cells.spread(squares)) - (cells.weights @ squares) ** 2 / cells.weights.sum())

    def unbiased(beta: Array) -> tuple[Array, Array]:
        score = held.score(beta)
        return cells.weights @ score, cells.spread(score)

    refuse_collinear(terms, gram, quadratic_spread)
    position = positions(terms, gram, float(held.weights.sum()), problem.ends)
    root = finite(held.solve(held.weights, pilot.beta), position)
    if not root.converged:
        root = finite(held.solve(held.weights), position)
    inverse = np.asarray(np.linalg.pinv(root.information), dtype=np.float64)
    _, noise = unbiased(root.beta)
    cov = np.asarray(inverse @ noise @ inverse.T, dtype=np.float64)
    said = "corrected scores on unbiased cells"
    steep = open_limits(root.beta, cov, inverse, position, problem.columns, unbiased, problem.family.possible)
    return held.unscaled(Fit(root.beta, cov, root.converged, said, "sandwich", unbiased=unbiased, open=steep))


def _fit_forms(source: Evidence, problem: Problem, through: str, progress: Progress | None) -> Fit:
    """Where no form asks all: gaussian coefficients need two attributes at a time, others the joint model."""
    columns, y, answered, size = problem.scaled()
    if not (isinstance(problem.family, Gaussian) and told_by_forms(source, columns, y, answered)):
        if through == "scores":
            source.counts(problem.names, quiet=True)  # says what no form asks
        return fit_model(source, problem, progress)
    moments = FormMoments(source, problem.names, columns, y, answered)
    refuse_collinear(problem.terms, moments.information, moments.quadratic_spread)
    return _sandwich(moments, size, "corrected scores on unbiased moments of all forms")


def _fit_noisy(source: Evidence, problem: Problem, through: str) -> Fit:
    """Where numbers carry additive noise: straight lines by moments, curves by scores of smooth functions."""
    noisy = noises_of(source, problem.names)
    if through == "model" or source.smoothed:
        raise EstimationError(
            f"{noisy[0]!r} carries additive noise, of which no joint model is made: give evidence that is no model, or "
            "cut the numbers into intervals (release.in_intervals())"
        )
    if not isinstance(problem.family, Gaussian):
        if problem.names[-1] in noisy:
            raise EstimationError(
                f"the target {problem.names[-1]!r} carries additive noise, and has means but no classes: use "
                'family="gaussian", or cut the numbers into intervals (release.in_intervals())'
            )
        return _fit_fine(source, problem)
    moments, sizes = noisy_moments(source, problem.columns, problem.response, problem.names)
    refuse_collinear(problem.terms, moments.information, moments.quadratic_spread)
    return _solved(moments, sizes, "corrected scores on moments, the noise's own taken out")


def _fit_fine(source: Evidence, problem: Problem) -> Fit:
    fine = FineCells(source, problem.names)
    terms = terms_of(problem.columns, source.schema, noises_of(source, problem.names))
    columns = [term.column(fine.schema) for term in terms]
    problem = replace(problem, columns=columns)
    if prod(fine.schema.sizes(problem.names)) > LISTED_CELLS:
        found = _fit_waves(fine, problem)
    else:
        found = _fit_scores(UnbiasedCells(fine, problem.names), problem, possible=False)
    if not found.converged:
        warn_of("the corrected scores have no solution: the noise leaves too little, and the coefficients mean little")
    return replace(found, method="corrected scores of smooth functions, the noise taken out")


def _fit_moments(source: Evidence, problem: Problem) -> Fit:
    columns, y, answered, size = problem.scaled()
    moments = RecordMoments(source, problem.names, columns, y, answered)
    refuse_collinear(problem.terms, moments.information, moments.quadratic_spread)
    return _solved(moments, size, "corrected scores on unbiased moments")


def _solved(moments: RecordMoments | NoisyMoments, size: Array, said: str) -> Fit:
    """With several schemes, each counts by the precision that a first solution shows."""
    if len({part.scheme for part in moments.parts}) > 1:
        pilot = np.asarray(np.linalg.solve(moments.information, moments.answers), dtype=np.float64)
        moments.weigh(precisions(moments.parts, moments.spreads(pilot), moments.information))
    return _sandwich(moments, size, said)


def _sandwich(moments: RecordMoments | NoisyMoments | FormMoments, size: Array, said: str) -> Fit:
    """The coefficients that the moments of scaled columns give, in the units of the columns themselves."""
    beta = np.asarray(np.linalg.solve(moments.information, moments.answers), dtype=np.float64)
    inverse = np.linalg.inv(moments.information)
    cov = inverse @ moments.spread(beta) @ inverse / np.outer(size, size)
    scale = max(moments.squares - float(beta @ moments.answers), 0.0) / moments.total
    return Fit(beta / size, cov, True, said, "sandwich", scale=scale)


def _fit_waves(source: ListedRecords, problem: Problem) -> Fit:
    columns, y, answered, size = problem.scaled()
    every = [INTERCEPT, *columns] if isinstance(problem.family, Ordinal) else columns
    moments = RecordMoments(source, problem.names, every, y, answered)
    refuse_collinear([column.term for column in every], moments.information, moments.quadratic_spread)
    scores: RecordScoresByWaves
    if isinstance(problem.family, Ordinal):
        scores = OrdinalScores(moments.parts, columns, problem.response, problem.family.classes)
        size = np.append(size, np.ones(problem.family.classes - 1))
    else:
        scores = LogisticScores(moments.parts, columns, y, answered)

    def sums(theta: Array) -> tuple[Array, Array]:
        score, slope = np.zeros(len(theta)), np.zeros((len(theta), len(theta)))
        for place, factor in enumerate(moments.factors):
            for some, own, slopes in scores.each(place, theta):
                score += factor * (some.counts @ own)
                slope += factor * np.tensordot(some.counts, slopes, 1)
        return score, slope

    def spreads(theta: Array, inverse: Array) -> list[Array]:
        """Σ s sᵀ of every part, each record's score corrected for its own pull on θ: s + H_z H⁻¹ s to first order."""
        out = [np.zeros_like(inverse) for _ in moments.parts]
        for place, factor in enumerate(moments.factors):
            for some, own, slopes in scores.each(place, theta):
                left = own + factor * np.einsum("rij,rj->ri", slopes, own @ inverse.T)
                out[place] += (left * some.counts[:, None]).T @ left
        return out

    def noise(theta: Array, inverse: Array) -> Array:
        own = zip(moments.factors, spreads(theta, inverse), strict=True)
        return np.asarray(np.sum([factor * factor * spread for factor, spread in own], axis=0))

    def unbiased(theta: Array) -> tuple[Array, Array]:
        return sums(theta)[0], noise(theta, np.zeros((len(theta), len(theta))))

    def equations(theta: Array) -> tuple[Array, Array] | None:
        return sums(theta) if scores.possible(theta) else None

    position = positions([column.term for column in every], moments.information, moments.total, problem.ends)
    root = finite(solve(equations, scores.start), position)
    if root.converged and len({part.scheme for part in moments.parts}) > 1:
        unmoved = np.zeros_like(root.information)
        moments.weigh(precisions(moments.parts, spreads(root.beta, unmoved), root.information))
        root = solve(equations, root.beta)
    inverse = np.asarray(np.linalg.pinv(root.information), dtype=np.float64)
    cov = np.asarray(inverse @ noise(root.beta, inverse) @ inverse.T, dtype=np.float64)
    said, covariance = "corrected scores, record by record", "sandwich, corrected for each record's own pull"
    steep = open_limits(root.beta, cov, inverse, position, columns, unbiased, scores.possible)
    cov = cov / np.outer(size, size)
    return Fit(root.beta / size, cov, root.converged, said, covariance, unbiased=unbiased, open=steep)
