"""AA01 Fig. 8: information loss against privacy loss, the trade-off of all four pairs (Figs 6 and 7 combined)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sfumato.pages.picture import empty_picture, saved
from sfumato.papers import aa01_fig6, aa01_fig7


def curves(seeds: int, method: str = "em") -> dict[str, tuple[list[float], list[float]]]:
    """(privacy loss, information loss in points) for each pair."""
    loss, cost = aa01_fig7.curves(), aa01_fig6.curves(seeds, method)
    return {name: (loss[name], cost[name]) for name in loss}


def report(seeds: int = 20) -> str:
    """At equal privacy loss, which noise costs least."""
    rows = ["AA01 Fig. 8: (privacy loss, information loss in %) along the noise, EM"]
    for name, (loss, cost) in curves(seeds).items():
        rows.append(f"{name:29s}" + "".join(f"  ({a:.3f}, {b:5.2f})" for a, b in zip(loss, cost, strict=True)))
    rows.append(
        "    Paper: for uniform x uniform noise is better, for gaussian x both are alike. It rests on EM's stop rule."
    )
    return "\n".join(rows)


def draw(path: Path, seeds: int = 20, method: str = "em") -> Any:
    """The four curves in one picture."""
    figure, ax = empty_picture(6.4, 4.4)
    styles = (("#1f4e79", "-"), ("#1f4e79", "--"), ("#c0504d", "-"), ("#c0504d", "--"))
    for (name, (loss, cost)), (colour, dash) in zip(curves(seeds, method).items(), styles, strict=True):
        ax.plot(loss, cost, dash, color=colour, marker="o", markersize=4, label=name)
    ax.set_xlabel("privacy loss")
    ax.set_ylabel("information loss, %")
    ax.set_title(f"N = 500, method {method}", loc="left", fontsize=10)
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False, fontsize=9)
    return saved(figure, path)
