"""Zhang04 Theorem 1: the effective sample size and its bound, with the distances of the paper's footnote."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.assess.effective import Simulated, effective_sample_bound, effective_sample_size, simulate_sample_size
from sfumato.channels import Channel
from sfumato.pages.chart import ACCENT, WARM
from sfumato.papers.curves import STYLES, panels
from sfumato.papers.figure import DIFFERS, REPRODUCED, Figure, Found, Row, Setting, beside
from sfumato.papers.zhang04.operators import OPERATORS

N = 2000
LOOSE = "The theorem is a bound, and a loose one: only erasure meets it."
FOOTNOTE_OPERATORS = ("Warner, keep .7 (R1)", "erasure of 6, keep .4", "symmetric 6, p = .3", "windows 6, gamma 3")
DISTANCES = ("kolmogorov", "kuiper", "anderson_darling")


def simulated(channel: Channel, trials: int, distance: str = "kolmogorov") -> Simulated:
    """Definition 1 by simulation, uniform x."""
    return simulate_sample_size(channel, N, trials=trials, rng=np.random.default_rng(2004), distance=distance)


def under(label: str, bound: float, found: Simulated, why: str) -> Row:
    """The bound as printed beside r as found: reproduced if r does not exceed it."""
    holds = found.value <= bound + 3 * found.se
    return Row(label, found.value, bound, found.se, REPRODUCED if holds else DIFFERS, LOOSE if holds else why)


def measure(fast: bool) -> Found:
    trials = 150 if fast else 1500
    rows, shown = [], []
    for name, channel in OPERATORS.items():
        bound, found = effective_sample_bound(channel), simulated(channel, trials)
        rows.append(under(f"r of {name}, at most", bound, found, "The bound is exceeded."))
        shown.append((name, bound, found.value, effective_sample_size(channel, target="cdf")))
    rows += [beside(f"r of {name} from Fisher's information", fisher) for name, _, _, fisher in shown]
    return Found(tuple(rows), shown, trials)


def draw(figure: Any, found: Found) -> None:
    (axes,) = panels(figure, 1)
    names, bounds, values, _ = zip(*found.data, strict=True)
    at = np.arange(len(names))[::-1]
    axes.plot(bounds, at, "|", color=ACCENT, markersize=14, markeredgewidth=2.5, label="the paper's bound")
    axes.plot(values, at, "o", color=WARM, markersize=5, label="r, simulated")
    axes.set_yticks(at, names)
    axes.set(xlabel="effective sample size r, a share of n", xlim=(-0.02, 0.85))
    axes.legend(frameon=False, loc="lower right")


def measure_footnote(fast: bool) -> Found:
    trials = 100 if fast else 1000
    rows = []
    shown: dict[str, list[float]] = {}
    for name in FOOTNOTE_OPERATORS:
        channel = OPERATORS[name]
        for distance in DISTANCES:
            found = simulated(channel, trials, distance)
            label = f"{name}, {distance.replace('_', '-').title()} distance: r, at most"
            rows.append(
                under(label, effective_sample_bound(channel), found, "With this distance the bound is exceeded.")
            )
            shown.setdefault(distance, []).append(found.value)
    return Found(tuple(rows), shown, trials)


def draw_footnote(figure: Any, found: Found) -> None:
    (axes,) = panels(figure, 1)
    at = np.arange(len(FOOTNOTE_OPERATORS))[::-1]
    bounds = [effective_sample_bound(OPERATORS[name]) for name in FOOTNOTE_OPERATORS]
    axes.plot(bounds, at, "|", color=ACCENT, markersize=14, markeredgewidth=2.5, label="the paper's bound")
    for (distance, values), (colour, _, mark), shift in zip(
        found.data.items(), STYLES[1:], (0.15, 0, -0.15), strict=False
    ):
        axes.plot(values, at + shift, mark, color=colour, linestyle="none", label=distance.replace("_", "-"))
    axes.set_yticks(at, FOOTNOTE_OPERATORS)
    axes.set(xlabel="effective sample size r, a share of n", xlim=(-0.02, 0.85), ylim=(-0.6, len(at) - 0.4))
    axes.legend(frameon=False, loc="lower right")


_SETTINGS = (
    Setting("x", "any distribution", "uniform"),
    Setting("operators", "any", "those of the picture"),
    Setting("n", "any", str(N)),
    Setting("distance in Definition 1", "not said how two random distances compare", "compared in expectation"),
)

THEOREM1 = Figure(
    "zhang04_theorem1",
    "Theorem 1",
    "the effective sample size and its bound",
    "The effective sample size r is at most 1 minus the sum over y of min over x of p[x → y].",
    measure,
    draw,
    _SETTINGS,
    size=(6.4, 4.0),
)
FOOTNOTE = Figure(
    "zhang04_footnote1",
    "footnote 1",
    "other distances between distributions",
    "Kuiper's or Anderson and Darling's distance may be used as well, and do not influence the results.",
    measure_footnote,
    draw_footnote,
    _SETTINGS,
)
