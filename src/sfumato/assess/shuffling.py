"""What one person gives away among others: answers that were stripped of their origin and mixed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sfumato.errors import ChannelError

_SPREAD = 12  # standard deviations of the number of clones that are summed over; the rest is bounded
_STEPS = 60  # halvings of the interval in which epsilon is looked for
_PRECISION = 1e-9
_MOST_STRETCHES = 1 << 14  # of numbers of clones that are told apart
_ROUNDING = 1e-11  # more than sums and differences of so many probabilities lose in doubles
_MOST_PEOPLE = 10**10  # more than there are
_LARGEST = 700.0  # exponents beyond are beyond doubles; nothing here tells them apart


@dataclass(frozen=True)
class Shuffled:
    """The guarantee among n others: epsilon lies between ``low`` and ``high``; promise ``high``."""

    low: float
    high: float
    alone: float
    n: int
    delta: float

    def __str__(self) -> str:
        return f"epsilon {self.high:.4g} among {self.n:,} people (delta {self.delta:g}), {self.alone:.4g} alone"


def shuffled(epsilon: float, n: int, delta: float = 1e-6) -> Shuffled:
    r"""The differential privacy of a whole collection whose answers arrive without a sender and in a random order.

    Every answer under epsilon-local privacy is, with probability e^-epsilon, a clone of the one that is attacked: of
    its true value or of the alternative, at even odds. With C ~ Bin(n - 1, e^-epsilon) clones, A ~ Bin(C, 1/2) of the
    first kind and D ~ Bernoulli(e^epsilon / (e^epsilon + 1)), an adversary sees no more than

        (A + D, C - A + 1 - D)   or   (A + 1 - D, C - A + D)

    and delta is the hockey-stick divergence of the two (Feldman, McMillan and Talwar 2020, theorem 3.1). It is summed
    here term by term, with what is left out bounded on both sides, so that no closed-form estimate is needed.

    >>> print(shuffled(4, 100_000))
    epsilon 0.1698 among 100,000 people (delta 1e-06), 4 alone
    """
    if not isinstance(epsilon, int | float | np.number) or not 0 < epsilon < math.inf:
        raise ChannelError(f"epsilon must be a positive number, got {epsilon!r} instead")
    if not isinstance(n, int | np.integer) or isinstance(n, bool) or not 1 <= n <= _MOST_PEOPLE:
        raise ChannelError(f"n must be a whole number from 1 to {_MOST_PEOPLE:,}, got {n!r} instead")
    if not isinstance(delta, int | float | np.number) or not 0 < delta < 1:
        raise ChannelError(f"delta must lie in (0, 1), got {delta!r} instead")
    fewest, most, weights, left_out = _clones(epsilon, int(n))
    low, high = 0.0, float(epsilon)  # mixing never hurts
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _hockey_stick(middle, epsilon, most, weights) > delta:
            low = middle
        elif _hockey_stick(middle, epsilon, fewest, weights) + left_out <= delta:
            high = middle
        else:
            break
        if high - low < _PRECISION:
            break
    return Shuffled(low, high, float(epsilon), int(n), float(delta))


def _clones(epsilon: float, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """The likely numbers of clones with their probabilities, and the probability of all others.

    Numbers that are too many go into stretches, each told by its fewest and its most: more clones hide more, so one
    bounds the divergence from above and the other from below.
    """
    from scipy.stats import binom

    chance = math.exp(-epsilon)
    mean, sd = (n - 1) * chance, math.sqrt((n - 1) * chance * (1 - chance))
    first = max(0, math.floor(mean - _SPREAD * sd) - 10)
    last = min(n - 1, math.ceil(mean + _SPREAD * sd) + 10)
    left_out = float(binom.cdf(first - 1, n - 1, chance) + binom.sf(last, n - 1, chance))
    width = -(-(last - first + 1) // _MOST_STRETCHES)
    fewest = np.arange(first, last + 1, width)
    most = np.minimum(fewest + (width - 1), last)
    if width == 1:
        return fewest, most, binom.pmf(fewest, n - 1, chance), left_out
    weights = binom.cdf(most, n - 1, chance) - binom.cdf(fewest - 1, n - 1, chance)
    return fewest, most, weights, left_out + _ROUNDING


def _hockey_stick(epsilon: float, alone: float, clones: np.ndarray, weights: np.ndarray) -> float:
    """Sum over c of Pr(C = c) (Pr(a > t) under the one - e^epsilon Pr(a > t) under the other), a = A + D.

    The likelihood ratio of a given c grows with a, and exceeds e^epsilon beyond
    t = (c + 1)(e^epsilon w - 1) / ((w - 1)(1 + e^epsilon)), w = e^alone, which is below c + 1 as long as epsilon is
    below alone. So c + 1 - t is what is computed: beside c + 1 it soon is nothing in doubles.
    """
    from scipy.stats import binom

    share, rest = 1 / (1 + math.exp(-alone)), 1 / (1 + math.exp(min(alone, _LARGEST)))  # w / (w + 1), 1 / (w + 1)
    short = -math.expm1(epsilon - alone) / -math.expm1(-alone) / (1 + math.exp(min(epsilon, _LARGEST)))
    beyond = clones + 1 - np.maximum(np.ceil((clones + 1) * short), 1)
    with_it, without = binom.sf(beyond - 1, clones, 0.5), binom.sf(beyond, clones, 0.5)
    one = share * with_it + rest * without
    # e^epsilon times the same with share and rest exchanged; e^epsilon rest = e^(epsilon - alone) share
    other = math.exp(epsilon - alone) * share * with_it + math.exp(min(epsilon, _LARGEST)) * share * without
    return float(weights @ np.maximum(one - other, 0.0))
