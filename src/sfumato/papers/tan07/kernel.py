"""Tan07 Figures 1 and 2: sites that send resampled rows to one server, and the kernel estimate of seven points."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.owner.resample import resample
from sfumato.pages.chart import ACCENT, FAINT, INK, PAPER, SOFT, WARM
from sfumato.papers.curves import panels
from sfumato.papers.figure import Figure, Found, Setting, beside, claimed, lost, printed

SITES, ROWS = 4, 400
#: Seven places that look like the printed boxes: three near each other, four near each other.
POINTS = np.array([-6.0, -5.2, -4.1, 1.8, 2.6, 3.1, 4.9])
WIDTH = 1.75
C = 0.75


def epanechnikov(x: Array, h: float) -> Array:
    """c / h (1 - (x / h)²) on |x| <= h, eq. 11."""
    return np.maximum(C / h * (1 - (x / h) ** 2), 0.0)


def estimate(x: Array) -> Array:
    """Eq. 10: the mean of the seven kernels."""
    return np.asarray(np.mean([epanechnikov(x - point, WIDTH) for point in POINTS], axis=0))


def measure_sites(fast: bool) -> Found:
    """Rows that go in and come out, and whether anything goes back."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(ROWS, 3)), rng.integers(0, 2, ROWS)
    out = resample(X, y, sites=SITES, rng=1)
    kept = float(len(out.X))
    same = float((np.bincount(np.asarray(out.y, dtype=np.int64)) == np.bincount(y)).mean())
    rows = (
        printed(f"rows that the server gets from {ROWS} at {SITES} sites (M_l = N_l)", float(ROWS), kept, runs=None),
        claimed("share of classes whose number of rows is kept", same, same == 1),
        claimed(
            "rows of the server that are a row of a site", float((out.X[:, None] == X[None]).all(2).any(1).sum()), True
        ),
    )
    return Found(rows, runs=1)


def draw_sites(figure: Any, found: Found) -> None:
    axes = figure.subplots()
    box = {"boxstyle": "round,pad=0.4", "facecolor": PAPER, "edgecolor": ACCENT}
    for i in range(SITES):
        name = f"site {i + 1}" if i < SITES - 1 else "site L"
        axes.text(
            0,
            -i,
            f"{name}: N_{i + 1 if i < SITES - 1 else 'L'} records",
            ha="center",
            va="center",
            fontsize=8.5,
            color=INK,
            bbox=box,
        )
        axes.annotate("", (2.35, -(SITES - 1) / 2), (0.75, -i), arrowprops={"arrowstyle": "-|>", "color": SOFT})
    axes.text(1.45, 0.05, "resampled rows only,\none way", fontsize=8, color=SOFT, ha="center")
    axes.text(
        3,
        -(SITES - 1) / 2,
        "server:\nM = ΣN rows,\na classifier",
        ha="center",
        va="center",
        fontsize=8.5,
        color=INK,
        bbox=box,
    )
    axes.set(xlim=(-0.9, 3.8), ylim=(-SITES + 0.4, 0.6))
    axes.axis("off")


def measure_kernel(fast: bool) -> Found:
    x = np.linspace(-12, 12, 240_001)
    area = float(estimate(x).sum() * (x[1] - x[0]))
    one = float(epanechnikov(x, WIDTH).sum() * (x[1] - x[0]))
    near = float(estimate(np.array([2.5]))[0] / estimate(np.array([-5.0]))[0])
    rng = np.random.default_rng(2)
    drawn = np.sort(rng.uniform(-1, 1, (200_000, 3)), axis=1)[:, 1]  # the middle of three is Epanechnikov
    rows = (
        claimed("area under one kernel, with c = 3/4", one, abs(one - 1) < 1e-6),
        claimed("area under the estimate of seven points", area, abs(area - 1) < 1e-6),
        claimed("estimate where four points lie over that where three lie", near, near > 1),
        beside("variance of a draw from the kernel, h = 1 (1/5)", float(drawn.var())),
        lost("the seven places", "The boxes are drawn, not printed. Ours look like them."),
    )
    return Found(rows)


def draw_kernel(figure: Any, found: Found) -> None:
    (axes,) = panels(figure, 1)
    x = np.linspace(-9, 8, 800)
    for i, point in enumerate(POINTS):
        axes.plot(
            x,
            epanechnikov(x - point, WIDTH) / len(POINTS),
            color=FAINT,
            linewidth=1,
            label="kernels" if not i else None,
        )
    axes.plot(x, estimate(x), color=ACCENT, label="their sum")
    axes.plot(POINTS, np.zeros(len(POINTS)), "s", color=WARM, markersize=5, label="the points")
    axes.set(xlabel="x", ylabel="density")
    axes.legend(frameon=False)


FIGURE1 = Figure(
    "tan07_fig1",
    "Figure 1",
    "the distributed setting",
    "L sites send randomized rows to one untrusted server, and nothing comes back. Labels are not randomized.",
    measure_sites,
    draw_sites,
    (
        Setting("rows sent", "as many as there are records, at every site"),
        Setting("data", "none", "400 random records, 4 sites"),
    ),
    size=(5.6, 3.0),
)
FIGURE2 = Figure(
    "tan07_fig2",
    "Figure 2",
    "a kernel density estimate of seven points",
    "The estimate is the sum of Epanechnikov kernels at the points; it is high where there are many.",
    measure_kernel,
    draw_kernel,
    (Setting("bandwidth", "1.75"), Setting("places of the points", "drawn, not printed", "ours")),
    size=(5.6, 3.2),
)
