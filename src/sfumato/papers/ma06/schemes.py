"""Ma06 figure 2.1: the binary and the ternary randomization schemes, and the scheme for many categories beside them."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.channels import Channel, binary, symmetric, ternary
from sfumato.papers.figure import Figure, Found, Row, Setting, claimed, lost, printed

#: Each with the values of its parameters that are shown, and what the text says of its transitions.
SCHEMES: dict[str, Channel] = {
    "binary, p1 = .1, p2 = .25": binary(0.1, 0.25),
    "ternary, p1 = .2, p2 = .1": ternary(0.2, 0.1),
    "five categories, p = .5": symmetric(5, 0.5),
}
SAYS = {
    "binary, p1 = .1, p2 = .25": [[0.9, 0.1], [0.25, 0.75]],
    "five categories, p = .5": (0.5 * np.eye(5) + 0.125 * (1 - np.eye(5))).tolist(),
}


def measure(fast: bool) -> Found:
    """Every transition probability."""
    rows: list[Row] = []
    for name, channel in SCHEMES.items():
        P = np.asarray(channel.matrix)
        off = float(np.abs(P.sum(axis=1) - 1).max())
        rows.append(claimed(f"{name}: largest error of a row sum", off, off < 1e-9))
        if name in SAYS:
            rows += [
                printed(f"{name}: from {x + 1} to {y + 1}", SAYS[name][x][y], P[x, y], within=1e-9, runs=None)
                for x in range(min(len(P), 3))
                for y in range(min(len(P), 3))
            ]
        else:
            rows += [claimed(f"{name}: from 1 to {y + 1}", P[0, y], True) for y in range(3)]
    rows.append(
        lost(
            "ternary: which neighbour gets p1",
            "The drawing is lost, and the text does not say. We give p1 to the next value in the cycle.",
            0.2,
        )
    )
    return Found(tuple(rows))


def draw(figure: Any, found: Found) -> None:
    places = figure.subplots(1, len(SCHEMES))
    for axes, (name, channel) in zip(places, SCHEMES.items(), strict=True):
        P = np.asarray(channel.matrix)
        axes.imshow(P, cmap="Blues", vmin=0, vmax=1)
        for x, y in np.ndindex(*P.shape):
            colour = "#fefefe" if P[x, y] > 0.55 else "#12303f"
            axes.text(y, x, f"{P[x, y]:.3g}", ha="center", va="center", fontsize=8, color=colour)
        axes.set_title(name.replace(", ", "\n", 1), fontsize=8.5)
        axes.set_xticks(range(len(P)), range(1, len(P) + 1))
        axes.set_yticks(range(len(P)), range(1, len(P) + 1))
        axes.set(xlabel="released", ylabel="true" if axes is places[0] else "")


FIGURE2_1 = Figure(
    "ma06_fig2_1",
    "figure 2.1",
    "randomization schemes",
    "A binary value changes with probability p1 or p2, a ternary one to its neighbours with p1 and p2; with many "
    "categories each other one is reported with p / (K - 1).",
    measure,
    draw,
    (Setting("parameters", "p1, p2 and p, without values", "those of the picture"),),
)
