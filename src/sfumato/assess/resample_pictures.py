"""The pictures of the owner's report on a resampled table."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.membership import Risk
from sfumato.owner.resample import Resampled
from sfumato.pages.chart import ACCENT, PAPER, SOFT, WARM, svg
from sfumato.pages.picture import mark_thousands
from sfumato.printable import figure_text


def attacks(risk: Risk) -> str:
    """How well each feature of an attack tells members from others."""
    names = sorted(risk.attacks, key=lambda name: risk.attacks[name][0])
    both = {**{name: risk.attacks[name] for name in names}, "all together": (risk.auc, risk.outliers)}
    values = [value for pair in both.values() for value in pair]

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        for side, (colour, label, marker) in enumerate(((ACCENT, "all records", "o"), (WARM, "outliers", "D"))):
            axes.plot([pair[side] for pair in both.values()], range(len(both)), marker, color=colour, label=label, ms=5)
        for row, name in enumerate(both):  # above its points: beside them it would leave a phone no room for the scale
            ground = {"facecolor": PAPER, "edgecolor": "none", "pad": 0.8}
            axes.text(0, row + 0.42, name, transform=axes.get_yaxis_transform(), va="center", bbox=ground)
        axes.set_yticks([])
        axes.set_ylim(-0.5, len(both) - 0.2)
        axes.spines["left"].set_visible(False)
        for bound, colour in ((risk.asked, ACCENT), (risk.outliers_asked, WARM)):
            if bound is not None:
                axes.axvline(bound, color=colour, lw=1, ls="--")
        axes.axvline(0.5, color=SOFT, lw=1)
        axes.set_xlim(min(0.44, min(values) - 0.02), max(0.68, max(values) + 0.02))
        axes.set_xlabel("AUC (0.5: blind)")
        figure.legend(frameon=False, loc="outside lower center", ncols=2)

    label = f"AUC of {len(names)} features and of all together, {risk.auc:.3f}; on outliers {risk.outliers:.3f}"
    caption = "How well members are told from others" + ("; dashed: the bounds" if risk.asked is not None else "")
    drawn = svg(draw, 3.3, 0.37 * len(both) + 0.8, "attacks", label)
    return f'<div class="panels"><figure><figcaption>{caption}</figcaption>{drawn}</figure></div>'


def columns(X: Array, released: Resampled) -> str:
    """The first columns, raw and released."""
    shown = [i for i in range(X.shape[1]) if np.ptp(X[:, i]) > 0][:4]
    if not shown:
        return "<p>All columns are constant.</p>"

    drawn = "".join(f"<figure>{_column(X[:, i], released.X[:, i], released.names[i], i)}</figure>" for i in shown)
    return f'<div class="panels">{drawn}</div>'


def _column(raw: Array, drawn: Array, name: str, place: int) -> str:
    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        span = np.quantile(np.concatenate([raw, drawn]), (0.002, 0.998))
        edges = np.linspace(float(span[0]), max(float(span[1]), float(span[0]) + 1e-9), 25)
        axes.hist(raw, edges, density=True, color=SOFT, alpha=0.5, label="raw")
        axes.hist(drawn, edges, density=True, histtype="step", color=ACCENT, lw=1.6, label="released")
        axes.set_title(figure_text(name))
        axes.set_yticks([])
        axes.locator_params(axis="x", nbins=4)  # more run together on so small a picture
        axes.ticklabel_format(axis="x", scilimits=(-3, 6), useOffset=False)
        if 1e4 <= np.abs(edges).max() < 1e6:
            mark_thousands(axes)
        axes.set_ylim(top=1.25 * axes.get_ylim()[1])  # the legend stands above the bars
        axes.legend(frameon=False, fontsize=8, loc="upper right", ncols=2)

    return svg(draw, 3.3, 2.2, f"column-{place}", f"Distribution of {name}, raw and released")
