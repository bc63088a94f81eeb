"""What resampled data cost and claim: deterioration of a classifier, and the distributed aggregate privacy loss.

Tan and Ng (2007), section 6. DAPL is not a measure of privacy: it is U-shaped in the bandwidth and rises with the
number of sites while real linkage falls. It is here because the paper uses it; see ``attacks.linkage`` for disclosure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato.errors import EstimationError
from sfumato.owner.resample.kernel import scott

_LATTICE = 1 << 13


@dataclass(frozen=True)
class Deterioration:
    """phi, the additional share of errors, with its standard error over the test rows."""

    phi: float
    se: float
    original: float
    randomized: float


def deterioration(truth: ArrayLike, original: ArrayLike, randomized: ArrayLike) -> Deterioration:
    """phi = P_rand(err) - P_ori(err), from the predictions of two classifiers on the same test rows (eq. 20).

    The standard error is that of paired differences: rows on which both are right or both are wrong add nothing.

    >>> deterioration([1, 1, 0, 0], [1, 1, 0, 1], [1, 0, 0, 1]).phi
    0.25
    """
    labels, one, two = (np.asarray(v).reshape(-1) for v in (truth, original, randomized))
    if not labels.size == one.size == two.size or labels.size < 2:
        raise EstimationError(
            f"truth and both predictions must have the same length of at least 2, got {labels.size}, "
            f"{one.size} and {two.size} instead"
        )
    wrong, then = (one != labels).astype(np.float64), (two != labels).astype(np.float64)
    difference = then - wrong
    se = float(difference.std(ddof=1) / np.sqrt(labels.size))
    return Deterioration(float(difference.mean()), se, float(wrong.mean()), float(then.mean()))


def scott_bandwidth(n: int, d: int = 1, sd: float = 1.0) -> float:
    """The paper's bandwidth (eq. 16): (4 / (d + 2))^(1 / (d + 4)) n^(-1 / (d + 4)) sd.

    >>> round(scott_bandwidth(576, 8), 4), round(scott_bandwidth(263, 34), 4)
    (0.5455, 0.8151)
    """
    return scott(n, d) * sd


def dapl(density: Any, n: int, sites: int = 1, bandwidth: float | None = None, points: int = 241) -> float:
    r"""The distributed aggregate privacy loss of a known one-dimensional density (eq. 18).

        DAPL = 1/2 sum_l c_l E int |f^_l - f|

    for n records in all, split evenly over the sites, Epanechnikov kernels and the paper's bandwidth. The expectation
    is exact: at each point the law of the kernel sum is the n_l-fold convolution of one kernel's, by FFT. For 1000
    normal records on 1, 4 and 20 sites it is .0402, .0684 and .1255, where means over drawn samples gave .039, .070 and
    .127: those carry sampling error in their last digit.

    >>> import scipy.stats
    >>> round(dapl(scipy.stats.norm(), 1000), 3)
    0.04
    """
    if n < 2 or sites < 1 or n // sites < 2:
        raise EstimationError(f"every site needs at least 2 records, got n = {n} over {sites} sites")
    size = n // sites
    h = scott_bandwidth(size, sd=float(density.std())) if bandwidth is None else float(bandwidth)
    if not h > 0:
        raise EstimationError(f"bandwidth must be positive, got {bandwidth} instead")
    low, high = float(density.ppf(1e-7)) - h, float(density.ppf(1 - 1e-7)) + h
    x = np.linspace(low, high, points)
    error = np.array([_mean_error(density, float(at), size, h) for at in x])
    return float(np.trapezoid(error, x) / 2)


def _mean_error(density: Any, x: float, n: int, h: float) -> float:
    """E |f^(x) - f(x)| for n Epanechnikov kernels of half-width h."""
    nodes, weights = np.polynomial.legendre.leggauss(64)
    kernel = 0.75 * (1 - nodes**2) / h  # the height that a record at x - h u adds, before dividing by n
    mass = np.asarray(density.pdf(x - h * nodes)) * weights * h
    hit = float(mass.sum())
    truth = float(density.pdf(x))
    if hit <= 0:
        return truth
    mean, second = float(mass @ kernel), float(mass @ kernel**2)
    reach = mean + 10 * np.sqrt(max(second - mean**2, 0.0) / n) + 3 * kernel.max() / n
    step = reach / _LATTICE
    place = kernel / n / step
    cell = np.floor(place).astype(np.int64)
    share = place - cell
    law = np.bincount(cell, mass * (1 - share), _LATTICE) + np.bincount(cell + 1, mass * share, _LATTICE)
    law[0] += max(1 - hit, 0.0)
    total = np.fft.irfft(np.fft.rfft(law / law.sum()) ** n, _LATTICE)
    return float(np.abs(np.arange(_LATTICE) * step - truth) @ np.maximum(total, 0.0))


def dapl_lower(train: ArrayLike, holdout: ArrayLike, confidence: float = 0.999) -> float:
    """A sound lower bound on DAPL from data: 1 - the share of fresh records that any kernel covers, certified.

    The kernel estimate puts all its mass on the boxes around its own records, the true density only as much as fresh
    records fall there (Clopper-Pearson). In many dimensions it is close to 1, whatever is disclosed.
    """
    from scipy.special import betaincinv

    X, fresh = (np.atleast_2d(np.asarray(v, dtype=np.float64)) for v in (train, holdout))
    if X.ndim != 2 or fresh.ndim != 2 or X.shape[1] != fresh.shape[1] or len(X) < 2 or not len(fresh):
        raise EstimationError(f"train and holdout must be tables of the same columns, got {X.shape}, {fresh.shape}")
    h = X.std(axis=0, ddof=1) * scott_bandwidth(len(X), X.shape[1])
    covered = sum(bool((np.abs(X - row) <= h).all(axis=1).any()) for row in fresh)
    if covered == len(fresh):
        return 0.0
    return float(1 - betaincinv(covered + 1, len(fresh) - covered, confidence))
