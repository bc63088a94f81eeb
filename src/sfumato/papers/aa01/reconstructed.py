"""AA01 Figures 2 to 5: uniform and gaussian data reconstructed from 500 noisy values, by AS and by EM."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sfumato.channels.additive import Noise, gaussian, uniform
from sfumato.errors import UnrecoverableWarning, without_warnings
from sfumato.pages.chart import ACCENT, WARM
from sfumato.papers.aa01.densities import GAUSSIAN_X, Shifted, estimate, losses
from sfumato.papers.curves import note, panels
from sfumato.papers.figure import Figure, Found, Row, Setting, beside, claimed, printed

N = 500
X, NARROW = Shifted(uniform(1), 3.0), uniform(1)
WIDE, SUPPORT = gaussian(1), (-2.5, 2.5)
How = dict[str, Any]

AS_UNIFORM: How = {"support": (0, 6), "bins": 60, "method": "as", "stop": "chi2:0.01"}
EM_UNIFORM: How = {"support": (2, 4), "bins": 10, "method": "em", "stop": "chi2:0.01"}
AS_GAUSSIAN: How = {"support": SUPPORT, "bins": 10, "method": "as", "stop": 1000}
EM_GAUSSIAN: How = {"support": SUPPORT, "bins": 10, "method": "em", "stop": "theta:1e-3"}

NOT_PRINTED = "cells and stop rule are not printed; chosen so that the number comes out"
NO_EDGE = "With equal cells and the same stop rule the two algorithms give the same loss: the settings make the gap."


def _seeds(fast: bool, fewer: int = 1) -> range:
    return range(max((30 if fast else 100) // fewer, 4))


def _other(how: How) -> How:
    return how | {"method": "as" if how["method"] == "em" else "em"}


def _measure(
    x: Any, noise: Noise, how: How, paper: float, more: Callable[[bool], list[Row]]
) -> Callable[[bool], Found]:
    def measure(fast: bool) -> Found:
        seeds = _seeds(fast)
        mine, other = (losses(x, noise, N, seeds, **one) for one in (how, _other(how)))
        name, rival = how["method"].upper(), _other(how)["method"].upper()
        gap = float(abs(mine.mean() - other.mean()))
        rows = [
            printed(f"information loss of {name}, %", paper, mine, differs=NOT_PRINTED),
            beside(f"{rival} with the same cells and rule, %", other, NO_EDGE if gap < 1 else ""),
            *more(fast),
        ]
        with without_warnings(UnrecoverableWarning):
            drawn = estimate(x, noise, N, 0, **how)
        return Found(tuple(rows), (x, drawn, paper), len(seeds))

    return measure


def _draw(figure: Any, found: Found) -> None:
    x, drawn, paper = found.data
    (axes,) = panels(figure, 1)
    grid = np.linspace(drawn.edges[0] - 0.4, drawn.edges[-1] + 0.4, 800)
    axes.plot(grid, x.pdf(grid), color=ACCENT, label="original")
    axes.stairs(drawn.mass / np.diff(drawn.edges), drawn.edges, color=WARM, linestyle="--", label="reconstructed")
    axes.set(xlabel="x", ylabel="density")
    mean = found.rows[0].ours
    note(axes, f"information loss: paper {paper:g} %, ours {mean:.1f} % (mean of {found.runs} runs)")
    axes.set_ylim(0, 1.25 * max(axes.get_ylim()[1], float(x.pdf(grid).max())))
    axes.legend(frameon=False, loc="upper left")


def _auto(x: Any, noise: Noise) -> Callable[[bool], list[Row]]:
    def rows(fast: bool) -> list[Row]:
        return [beside('our default (method "auto"), nothing chosen, %', losses(x, noise, N, _seeds(fast, 5)))]

    return rows


def _told(fast: bool) -> list[Row]:
    wide = losses(X, NARROW, N, _seeds(fast), support=(0, 6), bins=30, method="em", stop="chi2:0.01")
    why = "EM needs to be told that the data lie in [2, 4]. A flat start on the true support is already the answer."
    return [beside("EM on [0, 6], 30 cells, the same rule, %", wide, why)]


def _own_rule(fast: bool) -> list[Row]:
    rule = losses(GAUSSIAN_X, WIDE, N, _seeds(fast), support=SUPPORT, bins=10, method="as", stop="chi2:0.01")
    why = "The printed loss needs about a thousand iterations. Stopped by its own chi-square rule AS does far better."
    return [beside("AS stopped by its own rule, %", rule, why)]


def _em_is_better(fast: bool) -> list[Row]:
    how: How = {"support": SUPPORT, "bins": 20, "stop": "chi2:0.01"}
    mine, other = (losses(GAUSSIAN_X, WIDE, N, _seeds(fast), method=method, **how) for method in ("em", "as"))
    why = "With 20 cells and one stop rule for both, the difference stays within a point. Early stopping decides."
    return [
        claimed("AS minus EM with equal settings, points", other - mine, bool((other - mine).mean() > 1), why),
        *_auto(GAUSSIAN_X, WIDE)(fast),
    ]


_UNIFORM = (
    Setting("data", "500 values, uniform on [2, 4]"),
    Setting("noise", "uniform on [-1, 1]"),
)
_GAUSSIAN = (
    Setting("data", "500 values, gaussian with variance 2/(πe)"),
    Setting("noise", "gaussian with variance 1"),
)


def _how(how: How) -> tuple[Setting, ...]:
    low, high = how["support"]
    return (
        Setting("support and cells", "not printed", f"[{low:g}, {high:g}], {how['bins']} cells"),
        Setting("stop rule", "not printed", {"chi2:0.01": "chi-square below 1 % of its threshold",
                "theta:1e-3": "sum of changes below .001"}.get(str(how["stop"]), f"{how['stop']} iterations")),
        Setting("runs", "1", "see below"),
    )  # fmt: skip


FIGURES = (
    Figure(
        "aa01_fig2", "Figure 2", "uniform data, AS algorithm",
        "The AS algorithm loses 13.29 % of the information.",
        _measure(X, NARROW, AS_UNIFORM, 13.29, _auto(X, NARROW)), _draw, (*_UNIFORM, *_how(AS_UNIFORM)),
    ),
    Figure(
        "aa01_fig3", "Figure 3", "uniform data, EM algorithm",
        "With the EM algorithm the loss is only 4.9 %: it clearly outperforms AS.",
        _measure(X, NARROW, EM_UNIFORM, 4.9, _told), _draw, (*_UNIFORM, *_how(EM_UNIFORM)),
    ),
    Figure(
        "aa01_fig4", "Figure 4", "gaussian data, AS algorithm",
        "The AS algorithm loses as much as 26.5 % of the information.",
        _measure(GAUSSIAN_X, WIDE, AS_GAUSSIAN, 26.5, _own_rule), _draw, (*_GAUSSIAN, *_how(AS_GAUSSIAN)),
    ),
    Figure(
        "aa01_fig5", "Figure 5", "gaussian data, EM algorithm",
        "The EM algorithm loses 17.9 %, less than AS.",
        _measure(GAUSSIAN_X, WIDE, EM_GAUSSIAN, 17.9, _em_is_better), _draw, (*_GAUSSIAN, *_how(EM_GAUSSIAN)),
    ),
)  # fmt: skip
