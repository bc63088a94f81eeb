"""AA01 Fig. 9: information loss against N, gaussian x (variance 2 / pi e) under gaussian noise (variance 0.8)."""

from __future__ import annotations

import math

import numpy as np

from sfumato.arrays import Array
from sfumato.assess.continuous import information_loss
from sfumato.channels.additive import gaussian
from sfumato.papers.aa01 import GAUSSIAN_X, Shifted, line, losses, perturbed

NOISE = gaussian(math.sqrt(0.8))
SIZES = (500, 2000, 20_000, 200_000)


def parametric(n: int, seeds: int) -> Array:
    """The loss of fitting the true family (mean and variance by moments): no honest method does better."""
    found = []
    for seed in range(seeds):
        z = perturbed(GAUSSIAN_X, NOISE, n, seed)
        sd = math.sqrt(max(float(z.var()) - NOISE.sd**2, 1e-4))
        found.append(100 * information_loss(Shifted(gaussian(sd), float(z.mean())), GAUSSIAN_X))
    return np.array(found)


def report(seeds: int = 20) -> str:
    """The claim of less than 0.5 % at 20 000 values is out of reach: even the true family loses 1 % there."""
    how = {"support": (-2.5, 2.5), "bins": 50, "method": "em", "stop": "chi2:0.01"}
    rows = ["AA01 Fig. 9: information loss in %, gaussian x, gaussian noise of variance 0.8"]
    for n in SIZES:
        claim = "<0.5" if n == 20_000 else ""
        why = "Below even the true two-parameter family: not reachable from such data." if claim else ""
        rows.append(
            line(
                f"N = {n:7d}  EM, K = 50, chi-square rule",
                claim,
                losses(GAUSSIAN_X, NOISE, n, range(seeds), **how),
            )
        )
        rows.append(line(f"N = {n:7d}  auto", "", losses(GAUSSIAN_X, NOISE, n, range(max(2, seeds // 4)))))
        rows.append(line(f"N = {n:7d}  the true family, fitted", "", parametric(n, max(seeds, 2)), why))
    return "\n".join(rows)
