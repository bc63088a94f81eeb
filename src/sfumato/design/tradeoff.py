"""The trade-off: expected half-width against gamma, for every family that fits an attribute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Array
from sfumato.channels import identity
from sfumato.channels.efficiency import TARGETS
from sfumato.design.candidates import expected, families, narrowest_of, target_of
from sfumato.design.plot import draw_tradeoff
from sfumato.domains import Domain
from sfumato.errors import SfumatoError
from sfumato.input_checks import check_kind, check_numbers, check_share, check_word
from sfumato.pages.picture import save_picture
from sfumato.printable import figure_text

GAMMAS = np.geomspace(1.25, 60, 18)


@dataclass(frozen=True, eq=False)
class Tradeoff:
    """For each family the expected half-width at each gamma; nan where the family cannot be built."""

    attribute: str
    target: str
    n: int
    gammas: Array
    half_widths: dict[str, Array]
    unrandomized: float

    def plot(self, axes: Any = None, chosen: tuple[float, float] | None = None) -> Any:
        """Draw the curves; the chosen channel, if given, as a dot."""
        what = {"shares": "share", "cdf": "running share", "mean": "mean (share of the range)"}[self.target]
        label = f"± points on a {what}\n(n = {self.n:,})"
        drawn = draw_tradeoff(self.gammas, self.half_widths, self.unrandomized, label, axes, chosen)
        drawn.set_title(figure_text(f"{self.attribute}: how precise under which gamma"), loc="left", fontsize=11)
        return drawn

    def save(self, path: Any, chosen: tuple[float, float] | None = None) -> None:
        """Write the picture to a file."""
        save_picture(self.plot(chosen=chosen).figure, path)


def tradeoff(
    name: str,
    domain: Domain,
    n: int,
    *,
    gammas: ArrayLike | None = None,
    level: float = 0.95,
    target: str = "auto",
    prior: ArrayLike | None = None,
) -> Tradeoff:
    """Expected half-widths over a range of gammas."""
    check_kind(SfumatoError, "domain", domain, Domain, "a domain, such as schema[name]")
    check_word(SfumatoError, "target", target, ("auto", *TARGETS))
    check_share(SfumatoError, "level", level)
    grid = GAMMAS if gammas is None else check_numbers(SfumatoError, "gammas", gammas).reshape(-1)
    aim = target_of(domain, target)
    found: dict[str, Array] = {}
    for family in families(domain, aim):
        widths = np.full(len(grid), np.nan)
        for i, gamma in enumerate(grid):
            reached = narrowest_of(domain, family, float(gamma), n, aim, level, prior)
            widths[i] = reached if reached < np.inf else np.nan
        found[family] = _never_worse(grid, widths)
    floor = expected(identity(domain.size), aim, n, level, prior, domain.nullable)
    return Tradeoff(name, aim, n, grid, found, floor)


def _never_worse(gammas: Array, widths: Array) -> Array:
    """The best up to each gamma: a channel under a tighter bound keeps a looser one too."""
    order = np.argsort(gammas)
    best = np.fmin.accumulate(widths[order])
    out = np.empty_like(widths)
    out[order] = np.where(np.isnan(widths[order]), np.nan, best)
    return out
