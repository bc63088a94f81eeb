"""Resampling with a proof: normal noise on clipped means and one second moment, calibrated to every possible table.

Column ranges are declared by the owner, not taken from the records, and the class sizes are public. Two tables are
neighbours when one record has other values. A release is mu-Gaussian private (Dong, Roth and Su 2022): whatever an
attacker knows, telling two neighbours apart is as hard as telling N(0, 1) from N(mu, 1). So no attack on membership, by
anyone, has an AUC above Phi(mu / sqrt 2) for any record.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.arrays import Array, Index, Labels
from sfumato.errors import SfumatoError
from sfumato.owner.resample.model import floored, power
from sfumato.randomness import REACH, Source, normals

#: What mu^2 is spent on: the centre of the table, roughly and then better; the class means; the second moment.
#: Shares and radii were set on breast cancer, diabetes, wine and digits of scikit-learn and on Pima, at epsilon 1.
SHARES = (0.10, 0.15, 0.60, 0.15)
#: Records are shortened to this many half-ranges per column around the middle of the box, then around the centre.
_FAR, _NEAR = 0.6, 0.25
#: Beyond this the width of a range, or a number over it, overflows.
_WIDEST = 1e150
#: The least eigenvalue of the covariance, as a share of the mean one.
_FLOOR = 0.05


@dataclass(frozen=True)
class Guarantee:
    """What is proved of a release: (epsilon, delta), the same as mu, and the AUC that no attack on a record exceeds."""

    epsilon: float
    delta: float
    mu: float

    @classmethod
    def of(cls, epsilon: float, delta: float) -> Guarantee:
        """Check the budget, and translate it.

        >>> round(Guarantee.of(1, 1e-4).auc, 3)
        0.588
        """
        for name, value, most in (("epsilon", epsilon, 100.0), ("delta", delta, 0.1)):
            number = isinstance(value, float | int | np.integer | np.floating) and not isinstance(value, bool)
            if not (number and math.isfinite(value) and 0 < value <= most):
                raise SfumatoError(f"{name} must lie in (0, {most:g}], got {value!r}")
        found = cls(float(epsilon), float(delta), mu_of(float(epsilon), float(delta)))
        found._check_tails()
        return found

    def _check_tails(self) -> None:
        """Refuse what drawn noise cannot prove: an outcome beyond its reach names one of two neighbours for certain."""
        from scipy.special import ndtr

        if ndtr(self.mu - REACH) > self.delta / 1000:
            raise SfumatoError(
                f"noise that is drawn ends somewhere, and does not prove epsilon {self.epsilon:g} with delta "
                f"{self.delta:g}: choose a smaller epsilon, or a larger delta"
            )

    @property
    def auc(self) -> float:
        """Phi(mu / sqrt 2)."""
        from scipy.special import ndtr

        return float(ndtr(self.mu / math.sqrt(2)))


def mu_of(epsilon: float, delta: float) -> float:
    """The mu whose mechanism is (epsilon, delta)-differentially private and no better (Balle and Wang 2018).

        delta = Phi(mu / 2 - epsilon / mu) - e^epsilon Phi(-mu / 2 - epsilon / mu)

    >>> round(mu_of(1, 1e-4), 3), round(mu_of(2, 1e-4), 3)
    (0.314, 0.577)
    """
    from scipy.special import log_ndtr

    def excess(mu: float) -> float:
        one, two = log_ndtr(mu / 2 - epsilon / mu), log_ndtr(-mu / 2 - epsilon / mu)
        return math.exp(one) - math.exp(min(epsilon + two, 700.0)) - delta

    low, high = 0.0, 1.0
    while excess(high) < 0:
        low, high = high, 2 * high
    for _ in range(90):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) < 0 else (low, middle)
    return low


def check_ranges(ranges: Any, names: Sequence[str]) -> Array:
    """One (low, high) for each column: from a mapping by name, a sequence in order, or one pair for all."""
    if ranges is None:
        raise SfumatoError(
            "epsilon needs ranges, the least and the greatest value that each column can have: declare them from what "
            "the columns mean, as {name: (low, high)}; taken from the records they would give their extremes away"
        )
    if isinstance(ranges, Mapping):
        missing = [name for name in names if name not in ranges]
        strange = [name for name in ranges if name not in names]
        if missing or strange:
            which = f"has none for {missing[0]!r}" if missing else f"names {strange[0]!r}, which is no numeric column"
            raise SfumatoError(f"ranges {which}: give one (low, high) for each of {', '.join(names[:20])}")
        ranges = [ranges[name] for name in names]
    try:
        pairs = np.asarray(ranges, dtype=np.float64)
    except (TypeError, ValueError):
        raise SfumatoError("ranges must be pairs of numbers (low, high), one for each column") from None
    if pairs.shape == (2,):
        pairs = np.tile(pairs, (len(names), 1))
    if pairs.shape != (len(names), 2):
        raise SfumatoError(f"ranges must be {len(names)} pairs (low, high), got an array of shape {pairs.shape}")
    wrong = np.flatnonzero(~(np.isfinite(pairs).all(axis=1) & (pairs[:, 0] < pairs[:, 1])))
    if len(wrong):
        raise SfumatoError(f"the range of {names[wrong[0]]!r} must be two numbers, the lower one first")
    with np.errstate(over="ignore"):
        width = pairs[:, 1] - pairs[:, 0]
    wrong = np.flatnonzero((width > _WIDEST) | (width < 1 / _WIDEST))
    if len(wrong):
        raise SfumatoError(
            f"the range of {names[wrong[0]]!r} must be between {1 / _WIDEST:g} and {_WIDEST:g} wide: rescale the column"
        )
    return pairs


@dataclass(frozen=True)
class Proved:
    """Class means and one covariance in the box [-1, 1]^d of the declared ranges, as they were released with noise."""

    ranges: Array
    labels: Labels
    sizes: Index
    means: Array
    covariance: Array

    @classmethod
    def fit(cls, X: Array, y: Labels, ranges: Array, mu: float, src: Source) -> Proved:
        r"""The Gaussian mechanism, four times; each step may use what the steps before it released.

        A record z in the box [-1, 1]^d, shortened to length R around a point that was released before, moves

            a mean over n records     by at most  2 R / n            (both ends of a diameter)
            sum e e' / N              by at most  sqrt(2) R^2 / N    in the Frobenius norm,

        since |e e' - f f'|^2 = |e|^4 + |f|^4 - 2 (e'f)^2 <= 2 R^4. Noise of deviation (that bound) / mu_k makes step k
        mu_k-private; on the second moment its variance is 1 on the diagonal and 1/2 beside it, so that every direction
        of the Frobenius norm has variance 1. Steps compose to mu^2 = sum mu_k^2. A record is in one class, so the means
        of all classes are one step. Everything after the noise is computed from what was released.
        """
        labels, own = np.unique(y, return_inverse=True)
        sizes = np.bincount(own)
        n, d = X.shape
        spend = mu * np.sqrt(SHARES)
        Z = np.clip(2 * (X - ranges[:, 0]) / (ranges[:, 1] - ranges[:, 0]) - 1, -1, 1)
        centre, error = np.zeros(d), 0.0
        for radius, share in ((_FAR * math.sqrt(d), spend[0]), (None, spend[1])):
            reach = radius or _reach(d, error)
            error = mean_noise(reach, n, share)
            centre = centre + shorten(Z - centre, reach).mean(axis=0) + error * normals(src, d)
        reach = _reach(d, error)
        errors = np.array([mean_noise(reach, int(k), spend[2]) for k in sizes])
        around = shorten(Z - centre, reach)
        means = np.array([around[own == c].mean(axis=0) for c in range(len(labels))])
        means = np.clip(centre + means + errors[:, None] * normals(src, len(labels), d), -1, 1)
        usual = float(np.sqrt(sizes @ errors**2 / n))
        reach = _reach(d, usual)
        rest = shorten(Z - means[own], reach)
        width = moment_noise(reach, n, spend[3])
        e = normals(src, d, d)
        moment = rest.T @ rest / n + width * (e + e.T) / 2
        return cls(ranges, labels, sizes, means, _without_noise(moment, width, usual))

    def draw(self, label: object, rows: int, src: Source) -> Array:
        """Rows of one class, within the declared ranges."""
        c = int(np.flatnonzero(self.labels == label)[0])
        Z = self.means[c] + normals(src, rows, len(self.ranges)) @ power(self.covariance, 0.5)
        low, high = self.ranges.T
        return np.asarray(low + (np.clip(Z, -1, 1) + 1) / 2 * (high - low))


def mean_noise(radius: float, n: int, mu: float) -> float:
    """The deviation of the noise on each coordinate of a mean over n records of length at most ``radius``."""
    return 2 * radius / (n * mu)


def moment_noise(radius: float, n: int, mu: float) -> float:
    """The deviation of the noise on the diagonal of a second moment of n records of length at most ``radius``."""
    return math.sqrt(2) * radius**2 / (n * mu)


def shorten(E: Array, radius: float) -> Array:
    """Every row brought to a length of at most ``radius``."""
    length = np.linalg.norm(E, axis=1, keepdims=True)
    return np.asarray(E * np.minimum(1, radius / np.maximum(length, 1e-300)))


def _reach(d: int, error: float) -> float:
    """The radius around a point that is known to ``error`` in each coordinate."""
    return math.sqrt(d * (_NEAR**2 + error**2))


def _without_noise(moment: Array, width: float, error: float) -> Array:
    """The covariance behind a noisy moment: what noise of that width would show by itself is taken out.

    The mean variance, less what the error of the means adds, is known well. Around it the eigenvalues of symmetric
    noise fill (-2 s, 2 s), s = width sqrt(d / 2), and an eigenvalue v beyond is kept as sqrt(v^2 - 4 s^2), which is
    best in the Frobenius norm (Donoho, Gavish and Johnstone 2018).
    """
    d = len(moment)
    mean = max(float(np.trace(moment)) / d - error**2, 1e-4)
    size, axes = np.linalg.eigh(moment - np.trace(moment) / d * np.eye(d))
    edge = 2 * width * math.sqrt(d / 2)
    kept = np.sign(size) * np.sqrt(np.maximum(size**2 - edge**2, 0))
    return floored((axes * kept) @ axes.T + mean * np.eye(d), _FLOOR * mean)
