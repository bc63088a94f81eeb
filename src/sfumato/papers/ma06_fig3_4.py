"""Ma06 Fig. 3.4: accuracy against privacy for several sample sizes; (a) two five-valued variables, (b) triangles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.assess.distances import kl
from sfumato.channels import product, symmetric
from sfumato.evidence import mle
from sfumato.pages.picture import empty_panels, saved
from sfumato.papers.ma06_fig2_2 import TABLE
from sfumato.papers.ma06_fig2_3 import BASE

KEEPS_A, SIZES_A = (0.25, 0.35, 0.5, 0.65, 0.8, 0.95), (1000, 4000, 16_000, 32_000)
KEEPS_B, SIZES_B = (0.1, 0.2, 0.3, 0.5, 0.75, 1.0), (25_000, 100_000, 400_000)
CELLS = 39  # the thesis' own discretization of 100,000 values ends with 39 groups


def distances_a(
    keeps: Sequence[float] = KEEPS_A, sizes: Sequence[int] = SIZES_A, runs: int = 5, rng: int = 34
) -> Array:
    """The mean KL distance in bits from the true to the estimated joint distribution, sizes by keeps.

    The likelihood often puts cells at zero, where the distance would be infinite: they are held at 1e-6.
    """
    generator = np.random.default_rng(rng)
    truth = TABLE.reshape(-1)
    out = np.zeros((len(sizes), len(keeps)))
    for j, keep in enumerate(keeps):
        operator = product([symmetric(5, 1 - keep)] * 2).transition
        released = operator.T.apply(truth)
        for i, n in enumerate(sizes):
            found = []
            for _ in range(runs):
                seen = generator.multinomial(n, released).astype(np.float64)
                fitted = np.maximum(mle.fit(operator, seen, tolerance=1e-5, most=2000).theta, 1e-6)
                found.append(kl(truth, fitted / fitted.sum()))
            out[i, j] = np.mean(found)
    return out


def two_triangles(x: Array) -> Array:
    """Two triangles of equal weight side by side, as in figure 2.3."""
    height = 1 / BASE
    left, right = (1 - np.abs(x - centre) / (BASE / 2) for centre in (BASE / 2, 3 * BASE / 2))
    return height * (np.maximum(left, 0) + np.maximum(right, 0))


def distances_b(
    keeps: Sequence[float] = KEEPS_B, sizes: Sequence[int] = SIZES_B, runs: int = 3, rng: int = 35
) -> Array:
    """The mean of int |f - f^| for the two triangles in equal cells, heights divided by the cell width."""
    generator = np.random.default_rng(rng)
    edges = np.linspace(0, 2 * BASE, CELLS + 1)
    fine = np.linspace(0, 2 * BASE, CELLS * 50 + 1)
    middle = (fine[1:] + fine[:-1]) / 2
    density = two_triangles(middle)
    mass = density.reshape(CELLS, 50).sum(axis=1)
    mass = mass / mass.sum()
    width, step = edges[1] - edges[0], fine[1] - fine[0]
    out = np.zeros((len(sizes), len(keeps)))
    for j, keep in enumerate(keeps):
        operator = symmetric(CELLS, 1 - keep).transition
        released = operator.T.apply(mass)
        for i, n in enumerate(sizes):
            found = []
            for _ in range(runs):
                fitted = mle.fit(operator, generator.multinomial(n, released).astype(np.float64)).theta
                found.append(float(np.abs(density - np.repeat(fitted / width, 50)).sum() * step))
            out[i, j] = np.mean(found)
    return out


def draw(path: Any) -> None:
    """Both panels."""
    drawing, (left, right) = empty_panels(9, 3.4, 2)
    shades = ("#9dbccd", "#5d93b3", "#2d6a8e", "#12303f")
    for n, row, shade in zip(SIZES_A, distances_a(), shades, strict=True):
        left.plot(KEEPS_A, row, marker="o", ms=3, color=shade, label=f"N = {n:,}")
    for n, row, shade in zip(SIZES_B, distances_b(), shades[1:], strict=True):
        right.plot(KEEPS_B, row, marker="o", ms=3, color=shade, label=f"N = {n:,}")
    left.set(title="(a) two variables of five values", xlabel="1 - p, kept", ylabel="KL distance, bits", yscale="log")
    right.set(title="(b) two triangles", xlabel="1 - p, kept", ylabel="∫ |f - f^|", yscale="log")
    for axes in (left, right):
        axes.legend(frameon=False, fontsize=8)
    saved(drawing, path)


def report(runs: int = 3) -> str:
    """Numbers for both panels: the sample size is the key to the trade-off, as the thesis says."""
    rows = ["Ma06 Fig. 3.4 (a): mean KL distance in bits", "N \\ kept " + "".join(f"{k:>9g}" for k in KEEPS_A)]
    rows += [
        f"{n:<9d}" + "".join(f"{v:9.4f}" for v in row) for n, row in zip(SIZES_A, distances_a(runs=runs), strict=True)
    ]
    rows += ["(b): mean of int |f - f^|", "N \\ kept " + "".join(f"{k:>9g}" for k in KEEPS_B)]
    rows += [
        f"{n:<9d}" + "".join(f"{v:9.4f}" for v in row) for n, row in zip(SIZES_B, distances_b(runs=runs), strict=True)
    ]
    return "\n".join(rows)
