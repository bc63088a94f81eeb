"""AA01 Figure 1: information loss is half the area between two densities, and one minus what they share."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.assess.continuous import information_loss
from sfumato.channels.additive import gaussian
from sfumato.pages.chart import ACCENT, WARM
from sfumato.papers.aa01.densities import Shifted
from sfumato.papers.curves import note, panels
from sfumato.papers.figure import Figure, Found, Setting, claimed

TRUE, SHIFT = gaussian(1.0), 0.7


def measure(fast: bool) -> Found:
    """Both readings of the measure for two normal densities, one shifted by 0.7."""
    moved = Shifted(TRUE, SHIFT)
    loss = information_loss(TRUE, moved)
    x = np.linspace(-9, 10, 200_001)
    shared = float(np.minimum(TRUE.pdf(x), moved.pdf(x)).sum() * (x[1] - x[0]))
    gap = abs(loss - (1 - shared))
    return Found(
        (
            claimed("half the area between the densities", loss, gap < 1e-6),
            claimed("one minus the area they share", 1 - shared, gap < 1e-6),
        )
    )


def draw(figure: Any, found: Found) -> None:
    (axes,) = panels(figure, 1)
    x = np.linspace(-4, 5, 600)
    one, two = TRUE.pdf(x), Shifted(TRUE, SHIFT).pdf(x)
    axes.plot(x, one, color=ACCENT, label="original")
    axes.plot(x, two, "--", color=WARM, label="estimate")
    axes.fill_between(x, one, two, color=WARM, alpha=0.2, linewidth=0)
    axes.set(xlabel="x", ylabel="density")
    note(axes, f"half of the shaded area: {found.rows[0].ours:.4f}")
    axes.legend(frameon=False, loc="upper left")


FIGURE1 = Figure(
    "aa01_fig1",
    "Figure 1",
    "the information loss metric",
    "Information loss is half the area between two densities. It is also one minus the area that they share.",
    measure,
    draw,
    (Setting("densities", "not given, drawn only", "two normals, one shifted by 0.7"),),
)
