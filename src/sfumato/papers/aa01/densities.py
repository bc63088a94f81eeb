"""Densities, noises and losses of Agrawal and Aggarwal (2001), section 5, shared by its figures.

The paper gives N and the two densities but neither the cells nor the stop rules of its runs; those named here are the
ones that reproduce its numbers. With equal settings EM and AS differ by less than a point.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.assess.continuous import information_loss
from sfumato.channels.additive import Gaussian, Noise, Uniform, gaussian, uniform
from sfumato.errors import UnrecoverableWarning, without_warnings
from sfumato.evidence.density import Density, density

GAUSSIAN_SD = math.sqrt(2 / (math.pi * math.e))  # as much inherent privacy as a uniform of width 2


@dataclass(frozen=True)
class Shifted:
    """A noise density moved to another place, as the density of X."""

    base: Noise
    centre: float = 0.0

    def pdf(self, x: Any) -> Array:
        return self.base.pdf(np.asarray(x) - self.centre)

    def cdf(self, x: Any) -> Array:
        return self.base.cdf(np.asarray(x) - self.centre)

    def ppf(self, q: Any) -> Array:
        return self.base.quantile(q) + self.centre

    def support(self) -> tuple[float, float]:
        return self.base.support[0] + self.centre, self.base.support[1] + self.centre


UNIFORM_X = Uniform(1.0)
GAUSSIAN_X = Gaussian(GAUSSIAN_SD)
PAIRS = (
    ("gaussian x, gaussian noise", GAUSSIAN_X, "gaussian"),
    ("gaussian x, uniform noise", GAUSSIAN_X, "uniform"),
    ("uniform x, gaussian noise", UNIFORM_X, "gaussian"),
    ("uniform x, uniform noise", UNIFORM_X, "uniform"),
)
NOISE_SDS = (0.2, 0.4, 0.6, 0.8, 1.0, 1.4, 2.0)


def noise_of(kind: str, sd: float) -> Noise:
    return gaussian(sd) if kind == "gaussian" else uniform(sd * math.sqrt(3))


def perturbed(x: Any, noise: Noise, n: int, seed: int) -> Array:
    """n values of x plus noise, from one seed."""
    rng = np.random.default_rng([2001, seed, n])
    return noise.randomize(np.asarray(x.ppf(rng.random(n)) if hasattr(x, "ppf") else x.quantile(rng.random(n))), rng)


def losses(x: Any, noise: Noise, n: int, seeds: Sequence[int], **how: Any) -> Array:
    """Information loss in points for each seed; `how` goes to `density`."""
    with without_warnings(UnrecoverableWarning):  # the figures go there on purpose
        return np.array([100 * information_loss(x, estimate(x, noise, n, seed, **how)) for seed in seeds])


def estimate(x: Any, noise: Noise, n: int, seed: int, **how: Any) -> Density:
    return density(perturbed(x, noise, n, seed), noise, **how)
