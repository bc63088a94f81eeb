"""Pairs of density and noise on which estimators of the density of X are judged.

The weights of the models were chosen on `DEVELOPMENT` alone; the last eight of `HELD_OUT` came after all choices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.stats as st

from sfumato.arrays import Array
from sfumato.channels.additive import Noise, from_scipy, gaussian, laplace, uniform


@dataclass(frozen=True)
class Mixture:
    """A finite mixture of frozen scipy distributions."""

    parts: tuple[tuple[float, Any], ...]

    def cdf(self, x: Any) -> Array:
        return np.asarray(sum(w * d.cdf(x) for w, d in self.parts))

    def pdf(self, x: Any) -> Array:
        return np.asarray(sum(w * d.pdf(x) for w, d in self.parts))

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        which = rng.choice(len(self.parts), size=n, p=[w for w, _ in self.parts])
        out = np.empty(n)
        for k, (_, dist) in enumerate(self.parts):
            chosen = which == k
            out[chosen] = dist.rvs(int(chosen.sum()), random_state=rng)
        return out


@dataclass(frozen=True)
class Pair:
    name: str
    x: Mixture
    noise: Noise


def one(dist: Any) -> Mixture:
    return Mixture(((1.0, dist),))


def mix(*parts: tuple[float, Any]) -> Mixture:
    return Mixture(parts)


def flat(a: float, b: float) -> Any:
    return st.uniform(a, b - a)


SD = float(np.sqrt(2 / (np.pi * np.e)))
N = st.norm

DEVELOPMENT = (
    Pair("flat / uniform", one(flat(2, 4)), uniform(1)),
    Pair("normal / gaussian", one(N(0, SD)), gaussian(1)),
    Pair("normal / uniform", one(N(0, SD)), uniform(1)),
    Pair("flat / gaussian", one(flat(-1, 1)), gaussian(0.5)),
    Pair("gap / uniform", mix((0.5, flat(0, 1)), (0.5, flat(4, 5))), uniform(1)),
    Pair("gap / gaussian", mix((0.5, flat(0, 1)), (0.5, flat(4, 5))), gaussian(1)),
    Pair("bimodal / gaussian", mix((0.6, N(-1.5, 0.5)), (0.4, N(1.5, 0.4))), gaussian(0.7)),
    Pair("bimodal / laplace", mix((0.6, N(-1.5, 0.5)), (0.4, N(1.5, 0.4))), laplace(0.7)),
    Pair("exponential / gaussian", one(st.expon()), gaussian(0.5)),
    Pair("triangle / uniform", one(st.triang(0.5, -1, 2)), uniform(0.5)),
    Pair("beta / laplace", one(st.beta(2, 5)), laplace(0.1)),
    Pair("gamma / uniform", one(st.gamma(3)), uniform(2)),
    Pair("t3 / gaussian", one(st.t(3)), gaussian(1)),
    Pair("spike / gaussian", mix((0.7, N(0, 2)), (0.3, N(1, 0.15))), gaussian(0.5)),
    Pair("lognormal / gaussian", one(st.lognorm(0.5)), gaussian(0.4)),
    Pair("triangle / gaussian", one(st.triang(0.9, 0, 10)), gaussian(1.0)),
)

HELD_OUT = (
    Pair("lognormal / laplace", one(st.lognorm(0.8)), laplace(0.5)),
    Pair("step / uniform", mix((0.25, flat(0, 2)), (0.75, flat(2, 3))), uniform(0.5)),
    Pair("step / gaussian", mix((0.3, flat(-3, 0)), (0.7, flat(0, 1))), gaussian(0.3)),
    Pair("three modes / gaussian", mix((0.3, N(-3, 0.6)), (0.4, N(0, 0.4)), (0.3, N(2.5, 0.8))), gaussian(0.8)),
    Pair("three modes / uniform", mix((0.3, N(-3, 0.6)), (0.4, N(0, 0.4)), (0.3, N(2.5, 0.8))), uniform(1.5)),
    Pair("arch / uniform", one(st.beta(0.6, 0.6, 0, 4)), uniform(0.6)),
    Pair("laplace / gaussian", one(st.laplace(0, 1)), gaussian(0.7)),
    Pair("normal / laplace", one(N(10, 3)), laplace(2)),
    Pair("normal / wide gaussian", one(N(0, 1)), gaussian(2)),
    Pair("flat / laplace", one(flat(0, 100)), laplace(15)),
    Pair("exponential / skewed", one(st.expon(0, 2)), from_scipy(st.gamma(2.0, -2.0, 1.0))),
    Pair("normal / skewed", mix((0.5, N(0, 1)), (0.5, N(4, 0.7))), from_scipy(st.expon(-1.0, 1.0))),
    Pair("gap / laplace", mix((0.5, flat(0, 1)), (0.5, flat(2.5, 4))), laplace(0.4)),
    Pair("t2 / laplace", one(st.t(2)), laplace(0.7)),
    Pair("spike on flat / uniform", mix((0.8, flat(0, 10)), (0.2, N(6, 0.2))), uniform(0.8)),
    Pair("weibull / t noise", one(st.weibull_min(1.7, 0, 2)), from_scipy(st.t(4, 0, 0.4))),
    Pair("weibull / uniform", one(st.weibull_min(3, 0, 2)), uniform(1)),
    Pair("logistic / gaussian", one(st.logistic()), gaussian(1)),
    Pair("block and bell / laplace", mix((0.5, flat(0, 4)), (0.5, N(8, 0.7))), laplace(0.8)),
    Pair("skew normal / gaussian", one(st.skewnorm(5)), gaussian(0.5)),
    Pair("sawtooth / uniform", mix((0.5, st.triang(0, 0, 2)), (0.5, st.triang(0, 2, 2))), uniform(0.7)),
    Pair("ramp / gaussian", one(st.beta(1, 3)), gaussian(0.15)),
    Pair("far modes / skewed", mix((0.3, N(0, 0.5)), (0.7, N(10, 1))), from_scipy(st.gamma(3.0, -3.0, 1.0))),
    Pair("cauchy / uniform", one(st.cauchy()), uniform(2)),
)


def information_loss(x: Mixture, edges: Array, mass: Array, points: int = 20) -> float:
    """Half the L1 distance on the whole line: fine trapezoid inside each cell, exact mass outside."""
    t = (np.arange(points) + 0.5) / points
    grid = edges[:-1, None] + np.diff(edges)[:, None] * t
    inside = np.abs(x.pdf(grid) - (mass / np.diff(edges))[:, None]).mean(axis=1) @ np.diff(edges)
    outside = float(x.cdf(edges[0])) + 1 - float(x.cdf(edges[-1]))
    return 0.5 * (float(inside) + outside)
