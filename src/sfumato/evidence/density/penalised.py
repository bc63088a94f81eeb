r"""Penalised log-densities: the one model family behind method "auto".

    p_i = w_i exp(eta_i),   maximise  sum_j c_j log (A p)_j - N sum_i p_i - 1/2 eta' S eta,
    S = D_m' diag(lambda) D_m + a proper prior on the polynomials that D_m does not see.

The term N sum p makes the masses sum to 1 at the optimum without a constraint. Fisher scoring: the information is
N B'B with B_ji = A_ji p_i / sqrt(f_j). eta is never clipped: that would corrupt the evidence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence.density.tuning import LINEAR, QUADRATIC

MAX_STEP = 4.0


@dataclass(frozen=True)
class Problem:
    """The kernel, counts of z, cells of x and z; x-cells inner[0]:inner[1] are the support, the rest lie outside."""

    matrix: Array
    counts: Array
    edges: Array
    z_edges: Array
    inner: tuple[int, int]

    @cached_property
    def widths(self) -> Array:
        return np.diff(self.edges)

    @cached_property
    def n(self) -> float:
        return float(self.counts.sum())


@dataclass(frozen=True)
class Penalty:
    """Divided differences of order m, their Gram determinant, and the prior on what they leave free."""

    order: int
    rows: Array
    free: Array
    log_gram: float
    log_free: float


@dataclass(frozen=True)
class PenalisedFit:
    """One fitted model: eta, the Cholesky factor of its precision, log-likelihood and log-evidence."""

    eta: Array
    factor: Array
    log_likelihood: float
    evidence: float
    steps: int


def penalty(problem: Problem, order: int) -> Penalty:
    """D_m on the cell centres in units of one inner cell, so that the same scales serve any support."""
    first, last = problem.inner
    place = positions(problem)
    centre = place * (last - first) / 2
    rows = np.eye(centre.size)
    for m in range(1, order + 1):
        rows = np.diff(rows, axis=0) / ((centre[m:] - centre[:-m]) / m)[:, None]
    free, log_free = np.zeros((centre.size, centre.size)), 0.0
    basis = np.vander(place, order, increasing=True)
    # the precision of a coefficient b_k in eta = sum b_k t^k, as a quadratic form on eta
    inverse = np.linalg.pinv(basis)
    for power, sd in zip(range(order), (1e3, LINEAR, QUADRATIC), strict=False):
        free += np.outer(inverse[power], inverse[power]) / sd**2
        log_free -= 2 * math.log(sd)
    log_free -= float(np.linalg.slogdet(basis.T @ basis)[1])
    return Penalty(order, rows, free, float(np.linalg.slogdet(rows @ rows.T)[1]), log_free)


def positions(problem: Problem) -> Array:
    """Cell centres with the support scaled to [-1, 1]; beyond twice its width a logarithmic scale.

    Far cells are there for heavy tails, which are smooth in log-distance; their true distance would ruin the numbers.
    """
    first, last = problem.inner
    edges = problem.edges
    low, high = edges[first], edges[last]
    place = (edges[1:] + edges[:-1] - low - high) / (high - low)
    beyond = np.maximum(np.abs(place) - 1, 0.0) / 2
    far = beyond > 1
    place[far] = np.sign(place[far]) * (3 + 2 * np.log(beyond[far]))
    return np.asarray(place)


def objective(problem: Problem, eta: Array) -> tuple[float, Array, Array]:
    """The Poisson form of the log-likelihood, the masses and the probabilities of the z-cells."""
    mass = problem.widths * np.exp(np.minimum(eta, 600.0))
    prob = np.maximum(problem.matrix @ mass, 1e-300)
    value = float(problem.counts @ np.log(prob)) - problem.n * (float(mass.sum()) - 1.0)
    return value, mass, prob


def newton(
    problem: Problem, eta: Array, precision: Array, tolerance: float = 0.03, limit: int = 30
) -> tuple[Array, Array, float, int]:
    """Fisher scoring with capped, backtracked, damped steps: (eta, Cholesky factor, log-likelihood, steps)."""
    from scipy.linalg import lapack

    n, counts = problem.n, problem.counts
    value, mass, prob = objective(problem, eta)
    if not math.isfinite(value):
        value = -1e300
    current = value - 0.5 * float(eta @ precision @ eta)
    damping = 0.0
    for step in range(1, limit + 1):
        gradient = mass * ((counts / prob) @ problem.matrix - n) - precision @ eta
        factor = information(problem, mass, prob, precision, damping)
        move, _ = lapack.dpotrs(factor, gradient, lower=1)
        gain = float(gradient @ move) / 2
        if gain < tolerance and damping == 0.0:  # so near that the last step needs no new factor
            trial = eta + move
            t_value = objective(problem, trial)[0]
            if t_value - 0.5 * float(trial @ precision @ trial) > current:
                eta, value = trial, t_value
            return eta, factor, value, step
        move = move * min(1.0, MAX_STEP / float(np.abs(move).max()))
        size = 1.0
        while size > 1e-3:
            trial = eta + size * move
            t_value, t_mass, t_prob = objective(problem, trial)
            t_current = t_value - 0.5 * float(trial @ precision @ trial)
            if t_current > current:
                break
            size /= 3
        if size <= 1e-3:
            if damping > 1e6:
                break
            damping = max(10 * damping, 1e-2)
            continue
        damping = damping / 10 if damping > 1e-3 else 0.0
        eta, value, mass, prob, current = trial, t_value, t_mass, t_prob, t_current
    return eta, information(problem, mass, prob, precision, 0.0), value, limit


def information(problem: Problem, mass: Array, prob: Array, precision: Array, damping: float) -> Array:
    """The lower Cholesky factor of N B'B + S (+ damping on the diagonal)."""
    from scipy.linalg import lapack

    B = problem.matrix * mass
    B *= np.sqrt(problem.n / prob)[:, None]
    H = B.T @ B
    H += precision
    ridge = damping * np.diag(H).mean()
    while True:
        if ridge:
            H[np.diag_indices_from(H)] += ridge
        factor, fail = lapack.dpotrf(H, lower=1, clean=1)
        if fail == 0:
            return np.asarray(factor)
        ridge = max(10 * ridge, 1e-12 * float(np.diag(H).max()))


def log_det(factor: Array) -> float:
    return 2 * float(np.log(np.diag(factor)).sum())


def gaussian_fit(problem: Problem, pen: Penalty, scale: float, eta: Array) -> PenalisedFit:
    """Rows d_r ~ N(0, scale^2); evidence by Laplace: l - eta'S eta / 2 + log|S| / 2 - log|H| / 2."""
    precision = pen.rows.T @ pen.rows / scale**2 + pen.free
    eta, factor, value, steps = newton(problem, eta, precision)
    log_prior = -2 * math.log(scale) * pen.rows.shape[0] + pen.log_gram + pen.log_free
    evidence = value + 0.5 * (log_prior - float(eta @ precision @ eta) - log_det(factor))
    return PenalisedFit(eta, factor, value, evidence, steps)


def student_fit(problem: Problem, pen: Penalty, scale: float, eta: Array, nu: float = 0.5) -> PenalisedFit:
    r"""Rows d_r ~ Student t(nu) of the given scale, for edges and gaps: variational, one scoring step per update.

        lambda_r = (nu + 1) / (nu s^2 + d_r^2 + Var d_r)

    The bound is looser than Laplace by `slack` on rows that the data do not touch (lambda Var d = 1 there): given back.
    """
    from scipy.linalg import lapack

    rows, count = pen.rows, pen.rows.shape[0]
    spread = np.full(count, scale**2)
    before = -math.inf
    steps = 0
    slack = -(_log_t(1.0, nu) + 0.5 + 0.5 * math.log(2 * math.pi))
    while True:
        d = rows @ eta
        lam = (nu + 1) / (nu * scale**2 + d**2 + spread)
        precision = (rows.T * lam) @ rows + pen.free
        eta, factor, value, used = newton(problem, eta, precision, tolerance=0.1, limit=3)
        steps += used
        half, _ = lapack.dtrtrs(factor, rows.T, lower=1)
        spread = np.einsum("ij,ij->j", half, half)
        d = rows @ eta
        second = (d**2 + spread) / scale**2
        log_rows = float(np.sum(_log_t(np.sqrt(second), nu))) - count * math.log(scale)
        given = float(lam @ spread)
        bound = value + log_rows + 0.5 * count * math.log(2 * math.pi) + 0.5 * given - 0.5 * log_det(factor)
        bound += 0.5 * (pen.log_gram + pen.log_free - float(eta @ pen.free @ eta))
        if abs(bound - before) < 0.05 or steps > 80:
            return PenalisedFit(eta, factor, value, bound + slack * given, steps)
        before = bound


def _log_t(x: float | Array, nu: float) -> float | Array:
    constant = math.lgamma((nu + 1) / 2) - math.lgamma(nu / 2) - 0.5 * math.log(nu * math.pi)
    return constant - (nu + 1) / 2 * np.log1p(np.square(x) / nu)
