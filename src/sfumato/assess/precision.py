"""How precise estimates will be for n records, told before any data exist."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Array
from sfumato.assess.subject import Attribute, Subject, subject
from sfumato.channels import Channel
from sfumato.channels.efficiency import best_covariance, even_prior, target_map
from sfumato.channels.prefixes import Prefixes
from sfumato.channels.response import Symmetric
from sfumato.channels.scores import mean_variance
from sfumato.channels.subset import Subset
from sfumato.channels.text_noise import text_noise
from sfumato.errors import EstimationError
from sfumato.input_checks import check_flags, check_share

#: Beyond so many values, covariances take too long.
MANY = 1024


def half_width(
    of: Any,
    n: int,
    prior: ArrayLike | None = None,
    *,
    level: float = 0.95,
    target: str = "shares",
    attribute: Attribute = None,
    nullable: bool = False,
) -> Array:
    r"""The expected half-width of the interval for each share (or running sum, target="cdf") from n records.

        z sqrt(V[x, x] / n),    V the best covariance through the channel (see ``privacy.covariance``)

    With ``nullable`` the last code is "no answer", and the shares are those of the ones who answered.

    >>> half_width([[0.75, 0.25], [0.25, 0.75]], n=10_000).round(5)
    array([0.0196, 0.0196])
    """
    from scipy.special import ndtri

    check_n(n)
    check_share(EstimationError, "level", level)
    check_flags(EstimationError, nullable=nullable)
    seen = subject(of, prior, attribute)
    shares = even_prior(len(seen.prior), True) if nullable and prior is None and seen is not of else seen.prior
    C = target_map(shares, target, nullable)
    V = C @ best_covariance(seen.P, shares) @ C.T
    if target == "cdf":
        V = V[:-1, :-1]
    return np.asarray(float(ndtri((1 + level) / 2)) * np.sqrt(np.maximum(np.diag(V), 0.0) / n))


def worst_half_width(
    of: Any,
    n: int,
    prior: ArrayLike | None = None,
    *,
    level: float = 0.95,
    attribute: Attribute = None,
    nullable: bool = False,
) -> float:
    """The largest expected half-width of any share; without a prior that of the hardest share, one near one half.

    A share's variance depends on the unknown distribution; the most that it can be is what a planner should count on.
    """
    if prior is not None:
        return float(half_width(of, n, prior, level=level, attribute=attribute, nullable=nullable).max())
    even = subject(of, None, attribute)
    if nullable:
        even = Subject(even.P, even_prior(len(even.P), True))
    possible = np.flatnonzero(even.prior)  # a channel over valid combinations rules the others out
    k = len(possible)
    priors = [even.prior]
    if k > 2:
        alike = isinstance(of, Symmetric) or (isinstance(of, Subset) and of.design == "sets")
        for x in possible[[0]] if alike else possible[[0, k // 2, k - 1]]:
            tilted = np.where(even.prior > 0, 0.5 / (k - 1), 0.0)
            tilted[x] = 0.5
            priors.append(tilted)
    return max(float(half_width(Subject(even.P, one), n, level=level, nullable=nullable).max()) for one in priors)


def mean_half_width(
    channel: Channel, n: int, prior: ArrayLike | None = None, *, level: float = 0.95, nullable: bool = False
) -> float:
    """The expected half-width of the interval for the mean of equally spaced values, as a share of their range.

    Without a prior that of the hardest distribution.
    """
    from scipy.special import ndtri

    return float(ndtri((1 + level) / 2)) * float(np.sqrt(mean_variance(channel, prior, nullable) / check_n(n)))


def hardest_half_width(channel: Channel, n: int, prior: ArrayLike | None = None, *, level: float = 0.95) -> float:
    r"""The same from variances alone, where values are too many for covariances: of the unbiased estimate.

        z sqrt(max_x (Σ_y A[x, y]² q_y - theta_x²) / n),      q = Pᵀ theta

    For many values the best estimate gains little on it.
    """
    from scipy.special import ndtri

    check_n(n)
    if isinstance(channel, Prefixes):  # only the last question tells how frequent a text is
        asked = n * channel.shares[-1]
        return float(ndtri((1 + level) / 2) * np.sqrt(text_noise(channel, asked) ** 2 + 0.25 / asked))
    k = channel.k
    priors = [np.full(k, 1 / k) if prior is None else np.asarray(prior, dtype=np.float64)]
    for x in (0, k // 2, k - 1) if prior is None else ():
        tilted = np.full(k, 0.5 / (k - 1))
        tilted[x] = 0.5
        priors.append(tilted)
    squared, transition = channel.inverse.power(2), channel.transition.T
    worst = max(float((squared.apply(transition.apply(theta)) - theta**2).max()) for theta in priors)
    return float(ndtri((1 + level) / 2) * np.sqrt(max(worst, 0.0) / n))


def only_common(values: int, half_width: float) -> bool:
    """Whether only the commonest of so many values can be told from none: equally likely ones are far below the error.

    >>> only_common(20_000, 0.04), only_common(50, 0.04)
    (True, False)
    """
    return half_width > 5 / values


def check_n(n: int) -> int:
    """A number of records: whole and positive."""
    if not (isinstance(n, int | np.integer) and n >= 1):
        raise EstimationError(f"n must be a whole number of records, at least 1, got {n!r} instead")
    return int(n)
