"""Average privacy: conditional entropy, mutual information, privacy loss, and the width of what is still possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import sfumato.assess.continuous as continuous
from sfumato.arrays import Array
from sfumato.assess.subject import Attribute, noise_of, subject
from sfumato.errors import SfumatoError
from sfumato.input_checks import check_numbers, check_share


def entropy(p: ArrayLike) -> Any:
    """Shannon entropy in bits, along the first axis.

    >>> entropy([0.25, 0.25, 0.5])
    1.5
    """
    values = check_numbers(SfumatoError, "p", p)
    out = -np.sum(values * np.log2(values, out=np.zeros_like(values), where=values > 0), axis=0)
    return float(out) if out.ndim == 0 else out


def conditional_entropy(of: Any, prior: ArrayLike | None = None, *, attribute: Attribute = None) -> float:
    r"""How many bits of the true value are still unknown once the answer is seen, on average.

        H(X | Y) = - sum_{x, y} Pr(x) P[x, y] log2 Pr(x | y)

    Ma (2006), section 3.1.1.

    >>> round(conditional_entropy([[0.75, 0.25], [0.25, 0.75]]), 6)
    0.811278
    """
    seen = subject(of, prior, attribute)
    return float(seen.released @ entropy(seen.posterior))


def mutual_information(of: Any, prior: Any = None, *, attribute: Attribute = None) -> float:
    """I(X; Y) = H(X) - H(X | Y) in bits: how much an answer tells on average.

    Of additive noise, ``prior`` is the density of the true values (see ``sfumato.assess.continuous``).

    >>> round(mutual_information([[0.7, 0.3], [0.3, 0.7]]), 6)
    0.118709
    """
    noise = noise_of(of, attribute)
    if noise is not None:
        return float(continuous.mutual_information(prior, noise))
    seen = subject(of, prior, attribute)
    return max(float(entropy(seen.prior)) - conditional_entropy(seen), 0.0)


def privacy_loss(of: Any, prior: Any = None, *, attribute: Attribute = None) -> float:
    r"""The share of the inherent privacy 2^H(X) that an answer takes away: 1 - 2^(-I(X; Y)).

    Agrawal and Aggarwal (2001), section 2.2.

    >>> round(privacy_loss([[0.7, 0.3], [0.3, 0.7]]), 6)
    0.078989
    """
    noise = noise_of(of, attribute)
    if noise is not None:
        return float(continuous.privacy_loss(prior, noise))
    return float(1 - 2.0 ** -mutual_information(of, prior, attribute=attribute))


@dataclass(frozen=True)
class IntervalPrivacy:
    """The width of the shortest stretch of values that holds the true one with the given confidence."""

    mean: float
    worst: float
    by_output: Array
    confidence: float


def interval_privacy(
    of: Any,
    confidence: float = 0.95,
    prior: ArrayLike | None = None,
    *,
    edges: ArrayLike | None = None,
    attribute: Attribute = None,
) -> Any:
    """How narrowly an answer pins down an ordered value (Agrawal and Srikant 2000; Agrawal and Aggarwal 2001, 2.1).

    For a channel: for each answer, the shortest stretch that holds the true value with the given confidence, values
    spread evenly within their cell; ``edges`` are the cells' borders (default: every cell has width 1). For additive
    noise: the shortest interval of the noise itself, as a number.

    >>> interval_privacy([[1.0, 0.0], [0.0, 1.0]], 0.5).mean
    0.5
    """
    check_share(SfumatoError, "confidence", confidence)
    noise = noise_of(of, attribute)
    if noise is not None:
        return float(continuous.interval_privacy(noise, confidence))
    seen = subject(of, prior, attribute)
    k = len(seen.prior)
    borders = np.arange(k + 1.0) if edges is None else check_numbers(SfumatoError, "edges", edges)
    if borders.shape != (k + 1,) or not (np.diff(borders) > 0).all():
        raise SfumatoError(f"edges must be {k + 1} increasing numbers, one more than values, got {borders.shape}")
    widths = np.full(seen.P.shape[1], np.nan)
    for y in np.flatnonzero(seen.seen):
        widths[y] = _shortest(seen.posterior[:, y], borders, confidence)
    mean = float(seen.released[seen.seen] @ widths[seen.seen])
    return IntervalPrivacy(mean, float(np.nanmin(widths)), widths, confidence)


def _shortest(mass: Array, borders: Array, confidence: float) -> float:
    """The shortest interval with this mass under a piecewise-constant density has one end on a border."""
    below = np.concatenate(([0.0], np.cumsum(mass)))
    below /= below[-1]
    held = np.concatenate(([True], np.diff(below) > 0))
    held[:-1] |= held[1:]  # both ends of every cell that holds something, so that the cdf can be inverted
    knots, at = below[held], borders[held]
    best = np.inf
    for start, mass_before in zip(at, knots, strict=True):
        if mass_before + confidence <= 1 + 1e-12:
            best = min(best, _invert(min(mass_before + confidence, 1.0), knots, at) - start)
        if mass_before >= confidence - 1e-12:
            best = min(best, start - _invert(max(mass_before - confidence, 0.0), knots, at, last=True))
    return float(best)


def _invert(level: float, knots: Array, at: Array, last: bool = False) -> float:
    """The smallest (or, with ``last``, the largest) point at which the cdf reaches a level."""
    if last:
        return -_invert(1 - level, 1 - knots[::-1], -at[::-1])
    right = int(np.searchsorted(knots, level - 1e-15))
    if right == 0:
        return float(at[0])
    low, high = knots[right - 1], knots[right]
    return float(at[right - 1] + (at[right] - at[right - 1]) * (level - low) / (high - low))
