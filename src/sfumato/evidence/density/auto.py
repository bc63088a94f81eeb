"""Method "auto": an average over penalised log-densities on a cropped support; nothing to tune.

Difference penalties of order 1, 2, 3 with gaussian rows (smooth densities) and Student-t rows (edges, gaps), each at a
ladder of scales, weighted by their evidence. The fitted densities are averaged, not the posterior means.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Array
from sfumato.channels.additive import Noise
from sfumato.evidence.density import crop
from sfumato.evidence.density.binning import Sample
from sfumato.evidence.density.penalised import (
    PenalisedFit,
    Penalty,
    Problem,
    gaussian_fit,
    penalty,
    student_fit,
)
from sfumato.evidence.density.tuning import BONUS, CLEARLY, HOPELESS, PILOT, ROUGHEST, ROUNDS, SMOOTHEST, STUDENT


@dataclass(frozen=True)
class ModelAverage:
    """The averaged density on its cells, and what the band needs of each model."""

    edges: Array
    mass: Array
    inner: tuple[int, int]
    weights: Array
    models: tuple[tuple[int, str, float], ...]
    fits: tuple[PenalisedFit, ...]
    steps: int
    log_likelihood: float
    evidence: float


def average(
    problem: Problem, orders: tuple[int, ...] = (1, 2, 3), stride: float = 0.5, student: bool = True
) -> ModelAverage:
    """Fit the whole ladder, weigh by evidence, average the masses."""
    fits: list[PenalisedFit] = []
    models: list[tuple[int, str, float]] = []
    cells = problem.edges.size - 1
    for order in (m for m in orders if m == min(orders) or m < cells - 1):
        pen = penalty(problem, min(order, cells - 1))
        ladder = gaussian_ladder(problem, pen, stride)
        fits += [fit for _, fit in ladder]
        models += [(order, "gaussian", scale) for scale, _ in ladder]
        if student:
            best = max(ladder, key=lambda item: item[1].evidence)[1]
            for scale, fit in student_ladder(problem, pen, best):
                fits.append(fit)
                models.append((order, "student", scale))
    score = np.array([fit.evidence + BONUS[order, kind] for fit, (order, kind, _) in zip(fits, models, strict=True)])
    weights = np.exp(score - score.max())
    evidence = float(score.max() + np.log(weights.mean()))
    weights /= weights.sum()
    masses = np.array([masses_of(problem, fit) for fit in fits])
    log_likelihood = float(problem.counts @ np.log(np.maximum(problem.matrix @ (weights @ masses), 1e-300)))
    return ModelAverage(
        edges=problem.edges,
        mass=weights @ masses,
        inner=problem.inner,
        weights=weights,
        models=tuple(models),
        fits=tuple(fits),
        steps=sum(fit.steps for fit in fits),
        log_likelihood=log_likelihood,
        evidence=evidence,
    )


def masses_of(problem: Problem, fit: PenalisedFit) -> Array:
    mass = problem.widths * np.exp(fit.eta - fit.eta.max())
    return np.asarray(mass / mass.sum())


def gaussian_ladder(problem: Problem, pen: Penalty, stride: float) -> list[tuple[float, PenalisedFit]]:
    """From smooth to rough, each warm-started from the one before; stops when the evidence is hopeless."""
    reach = float(problem.edges[-1] - problem.edges[0])
    eta = np.full(problem.edges.size - 1, -np.log(reach))
    ladder: list[tuple[float, PenalisedFit]] = []
    best = -np.inf
    for power in np.arange(SMOOTHEST[pen.order], ROUGHEST + 1e-9, stride):
        fit = gaussian_fit(problem, pen, 10.0**power, eta)
        ladder.append((10.0**power, fit))
        eta = fit.eta
        best = max(best, fit.evidence)
        if fit.evidence < best - HOPELESS:
            break
    return ladder


def student_ladder(problem: Problem, pen: Penalty, start: PenalisedFit) -> list[tuple[float, PenalisedFit]]:
    eta = start.eta
    ladder: list[tuple[float, PenalisedFit]] = []
    for power in STUDENT[pen.order]:
        fit = student_fit(problem, pen, 10.0**power, eta)
        ladder.append((10.0**power, fit))
        eta = fit.eta
    return ladder


def fit_auto(
    sample: Sample,
    noise: Noise,
    edges: Array,
    cropped: bool = True,
    beyond: tuple[float, float] | None = None,
) -> tuple[ModelAverage, Problem]:
    """Pilot, crop, refit on the cropped cells with wide cells outside; the caller drops what lies outside.

    `beyond` is how far z reaches past a support that the user gave. A support that cuts off even 0.1 % of x piles that
    mass up at its ends; so a second pilot lets mass lie beyond, and is believed if its evidence is clearly better.
    """
    ends = (float(edges[0]), float(edges[-1]))
    start = crop.first_edges(sample, noise, edges) if cropped else edges
    problem = crop.problem(sample, noise, start, ends)
    if not cropped and beyond in (None, ends):
        return average(problem), problem
    pilot = average(problem, *PILOT)
    if beyond is not None and beyond != ends:
        wider = crop.problem(sample, noise, start, beyond)
        other = average(wider, *PILOT)
        if other.evidence > pilot.evidence + CLEARLY:
            problem, pilot, ends = wider, other, beyond
    for _ in range(ROUNDS if cropped else 0):
        before = problem.edges[problem.inner[1]] - problem.edges[problem.inner[0]]
        low, high = crop.best_interval(pilot.edges, pilot.mass, edges.size - 1)
        low, high = max(low, float(edges[0])), min(high, float(edges[-1]))
        problem = crop.problem(sample, noise, np.linspace(low, high, edges.size), ends)
        if high - low > before / 3:  # else the pilot's cells were too wide to see where the mass ends
            break
        pilot = average(problem, *PILOT)
    return average(problem), problem
