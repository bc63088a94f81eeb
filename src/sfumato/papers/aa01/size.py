"""AA01 Figure 9: information loss against the number of values, gaussian data under gaussian noise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.assess.continuous import information_loss
from sfumato.channels.additive import gaussian
from sfumato.papers.aa01.densities import GAUSSIAN_X, Shifted, losses, perturbed
from sfumato.papers.curves import Curve, legend, level, lines, panels
from sfumato.papers.figure import DIFFERS, Figure, Found, Row, Setting, beside, claimed, spread

NOISE = gaussian(math.sqrt(0.8))
SIZES = (500, 2000, 20_000, 200_000)
EM = {"support": (-2.5, 2.5), "bins": 50, "method": "em", "stop": "chi2:0.01"}
WHY = (
    "Out of reach: who knows that the data are gaussian and estimates only mean and variance still loses about 1 % at "
    "20 000 values, on average."
)


def parametric(n: int, seeds: int) -> Array:
    """The loss in % of fitting the true family, mean and variance by moments: no honest method does better."""
    found = []
    for seed in range(seeds):
        z = perturbed(GAUSSIAN_X, NOISE, n, seed)
        sd = math.sqrt(max(float(z.var()) - NOISE.sd**2, 1e-4))
        found.append(100 * information_loss(Shifted(gaussian(sd), float(z.mean())), GAUSSIAN_X))
    return np.array(found)


def measure(fast: bool) -> Found:
    seeds = 10 if fast else 40
    em = Curve("EM, 50 cells", SIZES, np.stack([losses(GAUSSIAN_X, NOISE, n, range(seeds), **EM) for n in SIZES]))
    auto = Curve(
        "our default", SIZES, np.stack([losses(GAUSSIAN_X, NOISE, n, range(max(seeds // 3, 3))) for n in SIZES])
    )
    best = Curve("the true family, fitted", SIZES, np.stack([parametric(n, seeds) for n in SIZES]))
    at = em.at(20_000)
    mean, _, error = spread(at)
    rows = [
        claimed(
            "EM: loss at 500 minus loss at 200 000 values, points",
            em.values[0] - em.values[-1],
            em.mean[0] > em.mean[-1],
        ),
        Row("EM at 20 000 values, % (printed: less than .5)", mean, 0.5, error, DIFFERS, WHY, "cells and stop rule"),
        beside("the true family fitted to 20 000 values, %", best.at(20_000)),
        *(beside(f"{c.label} at {n} values, %", c.at(n)) for c in (em, auto) for n in SIZES),
    ]
    return Found(tuple(rows), [em, auto, best], seeds)


def draw(figure: Any, found: Found) -> None:
    (axes,) = panels(figure, 1)
    lines(axes, found.data, log="xy")
    level(axes, 0.5, "the paper at 20 000 values: less than 0.5 %")
    axes.set(xlabel="number of values", ylabel="information loss, %")
    legend(figure, axes)


FIGURE9 = Figure(
    "aa01_fig9",
    "Figure 9",
    "information loss falls with the number of values",
    "With many values the loss is negligible: at 20 000 less than 0.5 %.",
    measure,
    draw,
    (
        Setting("data", "gaussian with variance 2/(πe)"),
        Setting("noise", "gaussian with variance 0.8"),
        Setting("numbers of values", "not printed", "500, 2000, 20 000, 200 000"),
        Setting("cells and stop rule", "not printed", "[-2.5, 2.5], 50 cells, chi-square below 1 %"),
    ),
    heavy=True,
)
