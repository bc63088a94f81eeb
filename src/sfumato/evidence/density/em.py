r"""The EM iteration of AA01 section 4.2, on binned z or on exact samples.

    p_i  <-  p_i / N  sum_j c_j A_ji / (A p)_j

The log-likelihood never falls. Run to convergence it gives the maximum-likelihood estimate, the worst choice of all:
stop early, by a rule.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence.density.kernels import DenseKernel, NoiseKernel
from sfumato.evidence.density.stopping import Stop

TINY = 1e-150  # small enough to be nothing, large enough that counts over it do not overflow


@dataclass(frozen=True)
class Iterated:
    """Masses after the last iteration, and the log-likelihood before each one and at the end."""

    mass: Array
    iterations: int
    trace: Array


def iterate(
    kernel: NoiseKernel,
    counts: Array,
    stop: Stop,
    start: Array | None = None,
    rng: np.random.Generator | None = None,
) -> Iterated:
    """EM from `start`, for which equal masses stand in, until the rule is met."""
    kernel, counts = _occupied(kernel, counts)
    if stop.rule == "cv":
        stop = Stop("iterations", float(cross_validated(kernel, counts, int(stop.value), start, rng)), stop.limit)
    n = float(counts.sum())
    mass = np.full(kernel.cells, 1.0 / kernel.cells) if start is None else start / start.sum()
    limit = int(stop.value) if stop.rule == "iterations" else stop.limit
    trace: list[float] = []
    for _ in range(limit):
        prob = np.maximum(kernel.forward(mass), TINY)
        trace.append(float(counts @ np.log(prob)))
        after = mass * kernel.adjoint(counts / prob) / n
        gain = trace[-1] - trace[-2] if len(trace) > 1 else np.inf
        finished = stop.met(mass, after, gain, n)
        mass = after
        if finished:
            break
    trace.append(float(counts @ np.log(np.maximum(kernel.forward(mass), TINY))))
    return Iterated(mass / mass.sum(), len(trace) - 1, np.array(trace))


def cross_validated(
    kernel: NoiseKernel,
    counts: Array,
    folds: int,
    start: Array | None = None,
    rng: np.random.Generator | None = None,
    limit: int = 3000,
) -> int:
    """The fewest iterations that fall behind the best, held out, by no more than one standard error of that gap."""
    rng = rng or np.random.default_rng()
    counts = np.rint(counts)  # shares of a fine cell would leave negative counts behind
    parts = split(counts, folds, rng)
    marks = np.unique(np.rint(np.geomspace(1, limit, 80)).astype(int))
    scores = np.empty((folds, marks.size))
    for fold in range(folds):
        train, test = counts - parts[fold], parts[fold]
        mass = np.full(kernel.cells, 1.0 / kernel.cells) if start is None else start / start.sum()
        n, column = float(train.sum()), 0
        for step in range(1, limit + 1):
            mass = mass * kernel.adjoint(train / np.maximum(kernel.forward(mass), TINY)) / n
            if step == marks[column]:
                prob = np.maximum(kernel.forward(mass), TINY)
                scores[fold, column] = float(test @ np.log(prob)) / max(float(test.sum()), 1.0)
                column += 1
                if column > 12 and scores[fold, column - 1] < scores[fold, :column].max() - 0.02:
                    scores[fold, column:] = scores[fold, column - 1]  # past its best for good
                    break
    behind = scores[:, [int(np.argmax(scores.mean(axis=0)))]] - scores
    error = behind.std(axis=0, ddof=1) / np.sqrt(folds)
    return int(marks[int(np.argmax(behind.mean(axis=0) <= error))])


def split(counts: Array, folds: int, rng: np.random.Generator) -> list[Array]:
    """Each observation to a fold at random, as counts."""
    left = counts.astype(np.int64)
    parts = []
    for fold in range(folds, 1, -1):
        drawn = rng.binomial(left, 1.0 / fold)
        parts.append(drawn.astype(np.float64))
        left = left - drawn
    return [*parts, left.astype(np.float64)]


def _occupied(kernel: NoiseKernel, counts: Array) -> tuple[NoiseKernel, Array]:
    """Empty z-cells leave the iteration unchanged: without them a dense kernel is smaller."""
    if isinstance(kernel, DenseKernel) and not counts.all():
        held = counts > 0
        return DenseKernel(np.ascontiguousarray(kernel.matrix[held])), counts[held]
    return kernel, counts
