r"""The converged maximum-likelihood estimate, with its certificate: the worst estimate, and the reference for the rest.

Sequential quadratic programming on p >= 0 (a non-negative least-squares problem a step), started by EM. The gap

    max_i  1/N sum_j c_j A_ji / (A p)_j  -  1   >=   (best log-likelihood - log-likelihood) / N

bounds what is left to gain. AA01's Proposition 4.1 (a unique maximum) fails when the kernel has rank below K.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence.density.em import TINY, iterate
from sfumato.evidence.density.kernels import DenseKernel, NoiseKernel
from sfumato.evidence.density.stopping import Stop


@dataclass(frozen=True)
class Converged:
    mass: Array
    iterations: int
    trace: Array
    gap: float


def maximise(kernel: NoiseKernel, counts: Array, gap: float = 1e-7, limit: int = 200) -> Converged:
    """Masses whose log-likelihood per value is within `gap` of the largest possible."""
    from scipy.optimize import nnls

    held = counts > 0
    matrix, weight = kernel.matrix[held], counts[held] / counts.sum()
    n = float(counts.sum())
    mass = iterate(DenseKernel(matrix), counts[held], Stop("iterations", 20)).mass
    value, slope = _look(matrix, weight, mass)
    trace = [n * value]
    while (left := float(slope.max()) - 1) >= gap and len(trace) <= limit:
        prob = np.maximum(matrix @ mass, TINY)
        root = matrix * (np.sqrt(weight) / prob)[:, None]
        hessian = root.T @ root
        hessian[np.diag_indices_from(hessian)] += 1e-10 * float(np.diag(hessian).max())
        lower = np.linalg.cholesky(hessian)
        # minimise 1/2 q'Hq - (H p + slope - 1)'q over q >= 0; H p = slope, up to the ridge
        target = np.linalg.solve(lower, hessian @ mass + slope - 1)
        try:
            goal = nnls(lower.T, target, maxiter=30 * mass.size)[0]
        except RuntimeError:
            goal = mass * slope
        before = mass
        mass, value, slope = _search(matrix, weight, mass, goal, value, slope)
        if mass is before:  # nothing gains in doubles: the gap says what may be left
            break
        trace.append(n * value)
    return Converged(mass, len(trace) - 1, np.array(trace), max(left, 0.0))


def _look(matrix: Array, weight: Array, mass: Array) -> tuple[float, Array]:
    prob = np.maximum(matrix @ mass, TINY)
    return float(weight @ np.log(prob)), (weight / prob) @ matrix


def _search(
    matrix: Array, weight: Array, mass: Array, goal: Array, value: float, slope: Array
) -> tuple[Array, float, Array]:
    """The longest of the halved steps towards the goal that gains, else an EM step that does, else no step."""
    total = float(goal.sum())
    goal = goal / total if total > 0 else mass
    size = 1.0
    while size > 1e-6:
        trial = mass + size * (goal - mass)
        trial /= trial.sum()
        new, new_slope = _look(matrix, weight, trial)
        if new > value:
            return trial, new, new_slope
        size /= 2
    trial = mass * slope / float((mass * slope).sum())
    new, new_slope = _look(matrix, weight, trial)
    return (trial, new, new_slope) if new > value else (mass, value, slope)
