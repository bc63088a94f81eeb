"""How far apart hills of a density must lie to be told apart through the noise."""

from __future__ import annotations

import math

import numpy as np

from sfumato.arrays import Array
from sfumato.channels.additive import Noise
from sfumato.evidence.density.tuning import TOLD

_POINTS = 8000
_SCALES = np.geomspace(100, 0.01, 120)  # of the noise's interquartile range


def resolution(noise: Noise, n: int) -> float:
    r"""The shortest distance of hills that n values show through the noise; infinite where they are too few.

        n |phi(2 pi / d)|^2 >= 25 for this distance d and every larger one

    where: phi is the characteristic function of the noise. It is the part of a wave of length d that is left in z, and
    1 / n is the variance of what is estimated of it.

    >>> from sfumato.channels import gaussian
    >>> round(resolution(gaussian(1), 300), 2), round(resolution(gaussian(1), 30_000), 2)
    (3.99, 2.36)
    """
    points = np.asarray(noise.quantile((np.arange(_POINTS) + 0.5) / _POINTS)) - float(noise.quantile(0.5))
    distances = _SCALES * float(noise.quantile(0.75) - noise.quantile(0.25))
    high, before = math.inf, 1.0 + 0.0j
    for distance in distances:
        left = _left(points, distance)
        if not _told(n, left, before):
            break
        high, before = float(distance), left
    else:
        return high
    low = float(distance)
    for _ in range(30 if math.isfinite(high) else 0):
        middle = math.sqrt(low * high)
        left = _left(points, middle)
        if _told(n, left, before):
            high, before = middle, left
        else:
            low = middle
    return high


def _left(points: Array, distance: float) -> complex:
    """The part of a wave of this length that the noise leaves."""
    return complex(np.exp(2j * np.pi / distance * points).mean())


def _told(n: int, left: complex, before: complex) -> bool:
    """Whether enough is left, and nothing was 0 on the way from a longer wave, as of uniform noise."""
    return n * abs(left) ** 2 >= TOLD and (left * before.conjugate()).real > 0
