"""Zhang04 Theorem 2: a channel whose gamma is small enough leaves a rational miner nothing to gain."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.assess.game import game_value, no_intrusion
from sfumato.channels import binary, matrix
from sfumato.pages.chart import ACCENT, WARM
from sfumato.papers.curves import panels
from sfumato.papers.figure import Figure, Found, Setting, beside, claimed

SIGMAS = (0.05, 0.1, 0.2, 0.5)


def trial(seed: int) -> tuple[bool, float]:
    """Whether a random channel meets condition (4) under a random prior, and its l_p."""
    rng = np.random.default_rng([2004, seed])
    k = int(rng.integers(2, 6))
    prior = rng.dirichlet(np.full(k, 3.0))
    rows = rng.dirichlet(np.full(k, 4.0), k)
    mixed = matrix(_near(rows, float(rng.random())))
    sigma = float(rng.choice(SIGMAS))
    met = no_intrusion(mixed, float(prior.max()), sigma)
    return met, game_value(mixed, prior, benefit=1.0, loss=1 / sigma)


def _near(rows: Array, share: float) -> Array:
    """Channels of every strength: the rows mixed with their mean."""
    return np.asarray(share * rows + (1 - share) * rows.mean(axis=0))


def edge(sigma: float) -> tuple[float, float]:
    """Warner's channel at the bound, x even: l_p just below it and just above it."""
    limit = 1 / sigma  # (1 - 1/2) / (sigma 1/2)
    return tuple(  # type: ignore[return-value]
        game_value(binary(1 / (1 + g), 1 / (1 + g)), benefit=1.0, loss=1 / sigma) for g in (0.99 * limit, 1.01 * limit)
    )


def measure(fast: bool) -> Found:
    trials = 400 if fast else 4000
    found = [trial(seed) for seed in range(trials)]
    met = np.array([value for one, value in found if one])
    rest = np.array([value for one, value in found if not one])
    below, above = edge(0.2)
    return Found(
        (
            claimed(
                f"the lowest l_p of {len(met)} channels that meet (4)",
                float(met.min()),
                bool(len(met) and (met == 0).all()),
            ),
            claimed("Warner's channel just inside the bound: l_p", below, below == 0),
            beside(
                "Warner's channel just outside the bound: l_p", above, "For it the bound is exact." if above < 0 else ""
            ),
            beside(
                "share of channels with l_p = 0 that do not meet (4)",
                float((rest == 0).mean()),
                "(4) is sufficient, not necessary.",
            ),
        ),
        found,
        trials,
    )


def draw(figure: Any, found: Found) -> None:
    (axes,) = panels(figure, 1)
    ratio = np.geomspace(1.05, 30, 160)
    for sigma, colour, dash in ((0.2, ACCENT, "-"), (0.1, WARM, "--")):
        values = [game_value(binary(1 / (1 + g), 1 / (1 + g)), benefit=1.0, loss=1 / sigma) for g in ratio]
        axes.plot(ratio, values, dash, color=colour, label=f"σ = {sigma:g}: l_p of Warner's channel")
        axes.axvline(1 / sigma, color=colour, linestyle=":", linewidth=1)
    axes.annotate("dotted: the bound of the theorem", (0.02, 0.08), xycoords="axes fraction", fontsize=8)
    axes.set(xlabel="gamma of the channel", ylabel="privacy l_p", xscale="log")
    axes.legend(frameon=False, loc="center left")


THEOREM2 = Figure(
    "zhang04_theorem2",
    "Theorem 2",
    "when intrusion does not pay",
    "l_p(R) = 0 if gamma is at most (1 - p_m) / (σ p_m), with σ = benefit / loss.",
    measure,
    draw,
    (
        Setting("channels and priors", "any", "drawn at random, 2 to 5 values, every strength"),
        Setting("σ", "any", "0.05, 0.1, 0.2, 0.5"),
    ),
)
