"""Effective sample size: how many unrandomized records the randomized ones are worth (Zhang et al. 2004, section 4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Array
from sfumato.assess.distances import RUNNING
from sfumato.assess.subject import Attribute, channel_of, subject
from sfumato.channels import Channel
from sfumato.channels.efficiency import best_covariance, efficiency, even_prior
from sfumato.channels.hyperplanes import Hyperplanes
from sfumato.channels.linear import Dense
from sfumato.channels.longitudinal import Longitudinal
from sfumato.channels.prefixes import Prefixes
from sfumato.channels.product import Product
from sfumato.channels.response import Symmetric
from sfumato.channels.select_a_size import SelectASize
from sfumato.channels.valid import ValidSymmetric
from sfumato.channels.windows import Windows
from sfumato.errors import EstimationError
from sfumato.evidence import mle
from sfumato.input_checks import check_count, check_flags, check_word
from sfumato.randomness import ONE, numpy_generator


def effective_sample_bound(of: Any, *, attribute: Attribute = None) -> float:
    r"""What no estimator can exceed, whatever the data: r <= 1 - sum_y min_x P[x, y].

    Zhang et al. (2004), Theorem 1. Exact integers; tight only for erasure.

    >>> round(effective_sample_bound([[0.7, 0.3], [0.3, 0.7]]), 9)
    0.4
    """
    return float(1 - _common(channel_of(of, attribute)))


def _common(channel: Channel) -> Fraction | float:
    """The probability with which an answer is drawn without looking at the input: sum_y min_x P[x, y]."""
    if isinstance(channel, Product):
        out: Fraction | float = Fraction(1)
        for part in channel.channels:
            out = out * _common(part)
        return out
    if isinstance(channel, Prefixes):
        return _common(channel.channel)
    if isinstance(channel, Symmetric):
        return Fraction(channel.k * channel.other, ONE) if channel.k > 1 else Fraction(1)
    if isinstance(channel, ValidSymmetric):
        return Fraction(len(channel.combinations) * channel.other, ONE)
    if isinstance(channel, Hyperplanes | Longitudinal | Windows):
        return channel.common
    if isinstance(channel, SelectASize):
        return float(channel.matrix.min(axis=0).sum())
    return Fraction(sum(int(weight) for weight in channel.weights.min(axis=0)), ONE)


def covariance(of: Any, prior: ArrayLike | None = None, *, attribute: Attribute = None) -> Array:
    r"""n times the covariance of the best estimate of the shares theta of all true values, from randomized records.

        (P diag(1 / Pᵀ theta) Pᵀ)^-1 - theta thetaᵀ

    The inverse Fisher information on the simplex; with the identity channel diag(theta) - theta thetaᵀ.
    """
    seen = subject(of, prior, attribute)
    return best_covariance(seen.P, seen.prior)


def effective_sample_size(
    of: Any,
    prior: ArrayLike | None = None,
    target: str = "shares",
    *,
    attribute: Attribute = None,
    nullable: bool = False,
) -> float:
    r"""The share r of n for which r n unrandomized records estimate the target as well as n randomized ones do.

        r = trace(C (diag theta - theta thetaᵀ) Cᵀ) / trace(C V Cᵀ)

    V is the best covariance through the channel, and C = I for "shares", the running sums for "cdf" (ordered values).
    With ``nullable`` the last code is "no answer", and the target speaks of those who answered.
    Warner's channel keeps (2p - 1)², under a bound |2p - 1|. For Definition 1 itself see ``simulate_sample_size``.

    >>> round(effective_sample_size([[0.7, 0.3], [0.3, 0.7]]), 6)
    0.16
    """
    check_flags(EstimationError, nullable=nullable)
    seen = subject(of, prior, attribute)
    shares = even_prior(len(seen.prior), True) if nullable and prior is None and seen is not of else seen.prior
    return efficiency(seen.P, shares, target, nullable)


@dataclass(frozen=True)
class Simulated:
    """A Monte-Carlo value with its standard error."""

    value: float
    se: float


def simulate_sample_size(
    of: Any,
    n: int,
    prior: ArrayLike | None = None,
    *,
    trials: int = 400,
    rng: np.random.Generator | int | None = None,
    attribute: Attribute = None,
    distance: str = "kolmogorov",
) -> Simulated:
    """Definition 1 of Zhang et al. (2004): the smallest k / n with E D(p0(k), p) <= E D(p~, p), D Kolmogorov's distance.

    p~ is the maximum likelihood estimate from n randomized records, p0(k) that from k plain ones; distances in
    expectation (in probability or in median the theorem fails). ``distance`` may also be "kuiper" or "anderson_darling",
    which the paper's footnote names.
    """  # noqa: E501
    check_word(EstimationError, "distance", distance, list(RUNNING))
    check_count(EstimationError, "n", n, 2)
    check_count(EstimationError, "trials", trials, 2)
    generator = numpy_generator(rng)
    channel = channel_of(of, attribute)
    seen = subject(of, prior, attribute)
    worth = effective_sample_size(seen, target="cdf")  # says so where there is nothing to estimate
    through = _randomized_distance(channel, seen.prior, n, trials, generator, RUNNING[distance])
    guess = min(max(n * worth, 1.0), float(n))
    sizes = np.unique(np.clip(np.geomspace(guess / 3, guess * 3, 9).round(), 1, None).astype(np.int64))
    plain, spread = np.array(
        [_plain_distance(seen.prior, int(k), 20 * trials, generator, RUNNING[distance]) for k in sizes]
    ).T
    # E D(k) falls as a power of k, so that its logarithm is almost a straight line in that of k
    slope, level = np.polyfit(np.log(sizes), np.log(plain), 1) if len(sizes) > 1 else (-0.5, np.log(plain[0]))
    k = float(np.exp((np.log(through[0]) - level) / slope))
    of_line = float((spread / plain).mean()) / np.sqrt(len(sizes))
    relative = np.hypot(through[1] / through[0], of_line) / abs(slope)
    return Simulated(k / n, float(relative * k / n))


Distance = Callable[[Array, Array], Array]


def _randomized_distance(
    channel: Channel, prior: Array, n: int, trials: int, rng: np.random.Generator, distance: Distance
) -> tuple[float, float]:
    operator = channel.transition if not isinstance(channel, SelectASize) else Dense(channel.matrix)
    released = np.maximum(operator.T.apply(prior), 0.0)
    counts = rng.multinomial(n, released / released.sum(), size=trials).astype(np.float64)
    found = distance(np.array([mle.fit(operator, row).theta for row in counts]), prior)
    return float(np.mean(found)), float(np.std(found, ddof=1) / np.sqrt(trials))


def _plain_distance(
    prior: Array, k: int, trials: int, rng: np.random.Generator, distance: Distance
) -> tuple[float, float]:
    shares = rng.multinomial(k, prior / prior.sum(), size=trials) / k
    found = distance(shares, prior)
    return float(found.mean()), float(found.std(ddof=1) / np.sqrt(trials))
