"""Ma06 Fig. 3.1: conditional entropy against the randomization parameter; binary, six values, two groups of three."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.assess.entropy import conditional_entropy
from sfumato.channels import Channel, blocks, symmetric
from sfumato.pages.picture import empty_panels, saved

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


def draw(path: Any) -> None:
    """Both panels of the figure."""
    drawing, (left, right) = empty_panels(8.4, 3.2, 2)
    found = curves()
    left.plot(CHANGES, found["binary"], color="#2d6a8e")
    left.set_title("(a) binary")
    right.plot(CHANGES, found["six values"], color="#2d6a8e", label="without grouping")
    right.plot(CHANGES, found["two groups of three"], color="#b4552d", label="two groups of three")
    right.set_title("(b) six values")
    right.legend(frameon=False)
    for axes in (left, right):
        axes.set(xlabel="p, the probability of changing", ylabel="H(X | Y), bits", xlim=(0, 1))
    saved(drawing, path)


def report() -> str:
    """Reference points; the thesis shows only the curves."""
    at = [("binary", 0.25), ("six values", 0.3), ("two groups of three", 0.3)]
    rows = ["Ma06 Fig. 3.1: conditional entropy, uniform prior"]
    for name, p in at:
        channel = channels(p)[name]
        rows.append(f"{name:22s} p = {p:.2f}   H(X | Y) = {conditional_entropy(channel):.6f} bits")
    rows.append("Grouping preserves less on average, and its gamma is infinite between groups, not 2(1 - p)/p.")
    return "\n".join(rows)
