"""AA01 Example 1: two unit intervals under uniform noise; its entropies mix nats and bits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.pages.chart import ACCENT, WARM
from sfumato.papers.curves import note, panels
from sfumato.papers.figure import Figure, Found, Setting, misprint, printed

_CELLS = 400_000
WHY = "The ramps of f add 1/4 nat to the entropy. The paper adds 1/4 as if it were bits."


def density_x(x: Array) -> Array:
    """One half on [0, 1] and on [4, 5]."""
    return np.where(((x >= 0) & (x <= 1)) | ((x >= 4) & (x <= 5)), 0.5, 0.0)


def density_z(z: Array) -> Array:
    """X plus noise that is uniform on [-1, 1]: two trapezoids."""
    ramps = [np.minimum.reduce([z - at + 1, at + 2 - z, np.ones_like(z)]) for at in (0, 4)]
    return np.asarray(np.maximum(ramps, 0).sum(axis=0) / 4)


def entropy_of_z() -> float:
    """h(Z) in bits, by the midpoint rule."""
    z = -1 + 7 * (np.arange(_CELLS) + 0.5) / _CELLS
    f = density_z(z)
    return float(-(f[f > 0] * np.log2(f[f > 0])).sum() * 7 / _CELLS)


def measure(fast: bool) -> Found:
    """Entropies in bits, by quadrature."""
    h = entropy_of_z()
    told = h - 1
    loss = 1 - 2**-told
    return Found(
        (
            printed("h(X), bits", 1.0, 1.0, runs=None),
            misprint("h(Z), bits", 9 / 4, h, f"{WHY} In bits it is 1/(4 ln 2), and h(Z) = 2 + 1/(4 ln 2)."),
            misprint("I(X; Z), bits", 5 / 4, told, "It follows from h(Z)."),
            misprint("privacy loss P(X | Z)", 0.5796, loss, "It follows from h(Z): 1 - exp(-1/4) / 2."),
            misprint("privacy left, Π(X | Z)", 0.8408, 2 * (1 - loss), "It follows from h(Z): exp(-1/4)."),
        )
    )


def draw(figure: Any, found: Found) -> None:
    (axes,) = panels(figure, 1)
    x = np.linspace(-1.5, 6.5, 1601)
    axes.plot(x, density_x(x), color=ACCENT, label="X")
    axes.plot(x, density_z(x), "--", color=WARM, label="Z = X + Y")
    axes.set(xlabel="value", ylabel="density", ylim=(0, 0.62))
    note(axes, f"privacy loss: printed 0.5796, right {1 - math.exp(-0.25) / 2:.4f}")
    axes.legend(frameon=False, loc="upper center")


EXAMPLE1 = Figure(
    "aa01_example1",
    "Example 1",
    "two unit intervals under uniform noise",
    "h(Z) = 9/4 bits, so that revealing Z loses 0.5796 of the privacy of X.",
    measure,
    draw,
    (Setting("X", "1/2 on [0, 1] and on [4, 5]"), Setting("noise", "uniform on [-1, 1]")),
)
