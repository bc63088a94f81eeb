"""Densities: EM against one pass of numpy.histogram, auto in seconds, a stream's memory, and the neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np

from sfumato.arrays import Array
from sfumato.channels.additive import gaussian, uniform
from sfumato.evidence.density import density

from .harness import Case, benchmark


@benchmark
def em() -> Iterator[Case]:
    """A hundred iterations at K = 100 on a million values."""
    z = uniform(1).randomize(np.random.default_rng(1).uniform(2, 4, 1_000_000), rng=2)
    yield Case(
        "em, 100 iterations, N = 10^6, K = 100",
        ours=lambda: density(z, uniform(1), bins=100, method="em", stop=100),
        reference=lambda: np.histogram(z, 100),
        against="numpy.histogram",
        goal=3,
        repeat=9,
    )


@benchmark
def auto() -> Iterator[Case]:
    """K = 80, at three sizes."""
    for n in (500, 20_000, 1_000_000):
        z = gaussian(0.5).randomize(np.random.default_rng(1).uniform(2, 4, n), rng=2)
        yield Case(f"auto, K = 80, N = {n}", ours=lambda z=z: density(z, gaussian(0.5)), goal=0.5)


@benchmark
def stream() -> Iterator[Case]:
    """10^8 values that are never all in memory."""

    def chunks() -> Iterator[Array]:
        rng = np.random.default_rng(3)
        for _ in range(200):
            yield rng.uniform(2, 4, 500_000) + rng.uniform(-1, 1, 500_000)

    yield Case(
        "auto from a stream of 10^8", ours=lambda: density(chunks(), uniform(1)), goal=10, repeat=1, peak_goal=300
    )


@benchmark
def neighbours() -> Iterator[Case]:
    """The same answer elsewhere: g-modelling with splines, and Richardson-Lucy from scikit-image if installed."""
    z = gaussian(0.5).randomize(np.random.default_rng(1).uniform(2, 4, 20_000), rng=2)
    yield Case(
        "auto, N = 20 000",
        ours=lambda: density(z, gaussian(0.5)),
        reference=lambda: g_model(z, 0.5),
        against="g-modelling, 7 splines",
        goal=30,
    )
    if find_spec("skimage") is not None:
        from skimage.restoration import richardson_lucy  # type: ignore[import-not-found]

        edges = np.linspace(z.min(), z.max(), 101)
        width = edges[1] - edges[0]
        kernel = gaussian(0.5).interval_matrix([-width / 2, width / 2], (np.arange(82) - 40.5) * width)
        counts = np.histogram(z, edges)[0][None, :] / z.size
        yield Case(
            "em, 100 iterations, K = 100",
            ours=lambda: density(z, gaussian(0.5), bins=100, method="em", stop=100),
            reference=lambda: richardson_lucy(counts, kernel, num_iter=100, clip=False),
            against="skimage.restoration.richardson_lucy",
            goal=2,
        )


def g_model(z: Array, sd: float, splines: int = 7, ridge: float = 1.0) -> Array:
    """Efron's g-modelling: log-density in a spline basis, a small ridge on the coefficients, by BFGS."""
    from scipy.interpolate import BSpline
    from scipy.optimize import minimize

    edges = np.linspace(z.min(), z.max(), 81)
    middle = (edges[1:] + edges[:-1]) / 2
    inner = np.linspace(middle[0], middle[-1], splines - 2)
    knots = np.concatenate((np.repeat(inner[0], 3), inner, np.repeat(inner[-1], 3)))
    basis = BSpline.design_matrix(middle, knots, 3, extrapolate=True).toarray()
    z_edges = np.linspace(z.min(), z.max(), 201)
    A, counts = gaussian(sd).interval_matrix(edges, z_edges), np.histogram(z, z_edges)[0]

    def cost(a: Array) -> tuple[float, Array]:
        g = np.exp(basis @ a - np.max(basis @ a))
        g /= g.sum()
        f = np.maximum(g @ A, 1e-300)
        size = float(np.sqrt(a @ a)) + 1e-9
        slope = g * (A @ (counts / f)) - z.size * g
        return -float(counts @ np.log(f)) + ridge * size, -(basis.T @ slope) + ridge * a / size

    a = minimize(cost, np.zeros(basis.shape[1]), jac=True, method="BFGS").x
    g = np.exp(basis @ a - np.max(basis @ a))
    return np.asarray(g / g.sum())
