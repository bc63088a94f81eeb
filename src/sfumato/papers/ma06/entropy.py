"""Ma06 figure 3.1: conditional entropy against p; a binary value, six values, and two groups of three."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.assess.entropy import conditional_entropy
from sfumato.channels import Channel, blocks, symmetric
from sfumato.pages.chart import ACCENT, WARM
from sfumato.papers.curves import panels
from sfumato.papers.figure import Figure, Found, Setting, beside, claimed, misprint, printed

CHANGES = np.linspace(0.01, 0.99, 99)


def channels(p: float) -> dict[str, Channel | None]:
    """The three schemes at one p; None beyond the point where the answer ignores the value."""
    return {
        "binary": symmetric(2, p) if p < 0.5 else None,
        "six values": symmetric(6, p) if p < 5 / 6 else None,
        "two groups of three": blocks([symmetric(3, p)] * 2) if p < 2 / 3 else None,
    }


def curves() -> dict[str, Array]:
    """H(X | Y) in bits for each scheme over p; nan where the scheme is not defined."""
    out = {name: np.full(len(CHANGES), np.nan) for name in channels(0.1)}
    for i, p in enumerate(CHANGES):
        for name, channel in channels(float(p)).items():
            if channel is not None:
                out[name][i] = conditional_entropy(channel)
    return out


def measure(fast: bool) -> Found:
    found = curves()
    both = np.isfinite(found["two groups of three"])
    less = (found["six values"] - found["two groups of three"])[both]
    six, grouped = symmetric(6, 0.3), blocks([symmetric(3, 0.3)] * 2)
    rows = (
        claimed("smallest of H(six) - H(grouped) over p, bits", float(less.min()), bool((less > 0).all())),
        printed("gamma without groups at p = .3, 5(1 - p)/p", 5 * 0.7 / 0.3, six.gamma, within=1e-6, runs=None),
        misprint(
            "gamma with two groups of three at p = .3",
            2 * 0.7 / 0.3,
            grouped.gamma,
            "2(1 - p)/p holds within a group. Between groups the answer tells for sure: gamma is infinite.",
        ),
        beside("binary, p = .25: H(X | Y), bits", conditional_entropy(symmetric(2, 0.25))),
        beside("six values, p = .3: H(X | Y), bits", conditional_entropy(six)),
        beside("two groups of three, p = .3: H(X | Y), bits", conditional_entropy(grouped)),
    )
    return Found(rows, found)


def draw(figure: Any, found: Found) -> None:
    left, right = panels(figure, 2)
    left.plot(CHANGES, found.data["binary"], color=ACCENT)
    left.set_title("(a) binary")
    right.plot(CHANGES, found.data["six values"], color=ACCENT, label="without groups")
    right.plot(CHANGES, found.data["two groups of three"], "--", color=WARM, label="two groups of three")
    right.set_title("(b) six values")
    right.legend(frameon=False)
    for axes in (left, right):
        axes.set(xlabel="p, the probability of changing", ylabel="H(X | Y), bits", xlim=(0, 1))


FIGURE3_1 = Figure(
    "ma06_fig3_1",
    "figure 3.1",
    "conditional entropy against p",
    "With groups less privacy is preserved on average, but gamma is smaller: 2(1 - p)/p instead of 5(1 - p)/p.",
    measure,
    draw,
    (Setting("prior", "uniform"),),
    size=(7.2, 3.2),
)
