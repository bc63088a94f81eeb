"""Zhang04 Example 1: which of two operators discloses less depends on what the miner stands to lose."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.assess.game import crossing, game, game_curve, game_value
from sfumato.assess.guess import map_success
from sfumato.assess.privacy import gamma, mutual_information
from sfumato.pages.chart import ACCENT, SOFT, WARM
from sfumato.papers.curves import panels
from sfumato.papers.figure import Figure, Found, Setting, beside, claimed, misprint, printed
from sfumato.papers.zhang04.operators import R1, R2


def measure(fast: bool) -> Found:
    """Every statement of the example as a number."""
    free = [game_value(R) for R in (R1, R2)]
    dear = [game_value(R, loss=5) for R in (R1, R2)]
    told = [mutual_information(R) for R in (R1, R2)]
    equal = crossing(R1, R2)
    return Found(
        (
            printed("R1: Pr(the best guess is right)", 0.7, map_success(R1), runs=None),
            misprint(
                "R2: Pr(the best guess is right)",
                0.501,
                map_success(R2),
                "1/2 times .01 for the ones that are shown, and 1/2 for those who guess 0 otherwise: .505.",
            ),
            misprint(
                "R2: Pr(x = 1 | 1 is reported)",
                0.99,
                float(R2.matrix[1, 1] / R2.matrix[:, 1].sum()),
                "Only ones are ever reported as 1. The paper says so first, and 99 % further down.",
            ),
            claimed("I(x; R1) / I(x; R2), bits over bits", told[0] / told[1], told[0] > 10 * told[1]),
            claimed("gamma of R2, against 7/3 for R1", gamma(R2), gamma(R2) > gamma(R1)),
            claimed("advertising: l_p(R2) - l_p(R1), a wrong guess is free", free[1] - free[0], free[1] > free[0]),
            claimed("investment: l_p(R1) - l_p(R2), a wrong guess costs 5", dear[0] - dear[1], dear[0] > dear[1]),
            claimed("investment: l_p(R1), nobody intrudes", dear[0], dear[0] == 0 and not game(R1, loss=5).intrudes),
            claimed("investment: l_p(R2), who sees a 1 intrudes", dear[1], game(R2, loss=5).guesses == (None, 1)),
            beside("loss / benefit at which both protect equally", float("nan") if equal is None else equal),
            beside("I(x; R1), bits", told[0]),
            beside("I(x; R2), bits", told[1]),
        )
    )


def draw(figure: Any, found: Found) -> None:
    (axes,) = panels(figure, 1)
    losses = np.linspace(0, 6, 241)
    axes.plot(losses, game_curve(R1, losses), color=ACCENT, label="R1: flips with .3")
    axes.plot(losses, game_curve(R2, losses), "--", color=WARM, label="R2: shows one in a hundred ones")
    for at, name in ((0, "advertising"), (5, "investment")):
        axes.axvline(at, color=SOFT, linestyle=":", linewidth=1)
        axes.annotate(f" {name}", (at, -0.68), fontsize=8, color=SOFT)
    axes.set(xlabel="loss from a wrong guess / benefit from a right one", ylabel="privacy l_p")
    axes.set_title("the paper: R2 is better at the left line, R1 at the right one", fontsize=8.5, fontweight="normal")
    axes.legend(frameon=False, loc="center right")


EXAMPLE1 = Figure(
    "zhang04_example1",
    "Example 1",
    "two operators, two settings",
    "R2 protects better where a wrong guess is free, R1 where it costs five times the benefit.",
    measure,
    draw,
    (
        Setting("x", "0 or 1, each with probability 1/2"),
        Setting("loss", "little, or five times the benefit", "0, or 5"),
    ),
)
