"""An entry of the gallery: a published figure or table, what it claims, and our numbers beside the printed ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

REPRODUCED, DIFFERS, MISPRINT, LOST = "reproduced", "differs", "misprint", "not recoverable"
#: An entry is the first of these that one of its rows is: what is lost counts only where nothing can be compared.
VERDICTS = (MISPRINT, DIFFERS, REPRODUCED, LOST)
PAPERS = {
    "aa01": "Agrawal and Aggarwal (2001)",
    "zhang04": "Zhang, Zhao and Chen (2004)",
    "ma06": "Ma (2006)",
    "tan07": "Tan and Ng (2007)",
}
_TWO_SDS = 2.0
_UNKNOWN = "Measured, and not as the paper has it. The cause is not known."


@dataclass(frozen=True)
class Row:
    """One number: the paper's (None: none is printed), ours with its standard error over runs, and what follows.

    A row without a verdict stands beside the paper: it measures what the paper does not. ``differs`` names the settings
    that are not the paper's. ``ours`` is None where it could not be measured; ``why`` then says what is missing.
    """

    label: str
    ours: float | None
    paper: float | None = None
    error: float = 0.0
    verdict: str = ""
    why: str = ""
    differs: str = ""

    def __post_init__(self) -> None:
        if self.verdict and self.verdict not in VERDICTS:
            raise ValueError(f"verdict must be one of {', '.join(VERDICTS)}, got {self.verdict!r}")
        if self.verdict not in ("", REPRODUCED) and not self.why:
            raise ValueError(f"{self.label}: {self.verdict}, but why is not said")


@dataclass(frozen=True)
class Setting:
    """One setting of the paper; ``ours`` is empty where it is the same here."""

    what: str
    paper: str
    ours: str = ""


@dataclass(frozen=True)
class Found:
    """What was measured: the rows, how many runs they rest on (0: nothing is drawn at random), and what is drawn."""

    rows: tuple[Row, ...]
    data: Any = None
    runs: int = 0


@dataclass(frozen=True)
class Figure:
    """A published figure, table, example or theorem.

    ``measure(fast)`` gives what was found; ``draw(figure, found)`` fills a matplotlib figure of ``size`` inches.
    ``needs`` names data sets that are not bundled. ``heavy`` entries are begun first.
    """

    id: str
    where: str
    title: str
    claim: str
    measure: Callable[[bool], Found]
    draw: Callable[[Any, Found], None]
    settings: tuple[Setting, ...] = ()
    size: tuple[float, float] = (6.4, 3.6)
    needs: tuple[str, ...] = ()
    heavy: bool = False

    @property
    def paper(self) -> str:
        return self.id.partition("_")[0]

    @property
    def name(self) -> str:
        """Paper and place, as a reader would cite it."""
        return f"{self.paper.capitalize() if self.paper != 'aa01' else 'AA01'} {self.where}"


def spread(values: ArrayLike) -> tuple[float, float, float]:
    """Mean, standard deviation of one run, and standard error of the mean."""
    runs = np.atleast_1d(np.asarray(values, dtype=np.float64))
    sd = float(runs.std(ddof=1)) if runs.size > 1 else 0.0
    return float(runs.mean()), sd, sd / float(np.sqrt(runs.size))


def printed(
    label: str,
    paper: float,
    values: ArrayLike,
    *,
    within: float = 0.0,
    runs: int | None = 1,
    why: str = "",
    differs: str = "",
) -> Row:
    """A printed number beside our runs: reproduced if both lie within two standard deviations of their difference.

    The paper's number is a mean of ``runs`` runs (None: exact). ``within`` is the rounding of the print. ``why`` is
    kept only where they differ.
    """
    mean, sd, error = spread(values)
    theirs = sd / np.sqrt(runs) if runs else 0.0
    near = abs(mean - paper) <= within + 1e-12 + _TWO_SDS * float(np.hypot(error, theirs))
    return Row(label, mean, paper, error, REPRODUCED if near else DIFFERS, "" if near else why or _UNKNOWN, differs)


def claimed(label: str, values: ArrayLike, holds: bool, why: str = "", differs: str = "") -> Row:
    """A number that a claim in words rests on: reproduced if the claim holds of it, else ``why`` it does not."""
    mean, _, error = spread(values)
    return Row(label, mean, None, error, REPRODUCED if holds else DIFFERS, "" if holds else why or _UNKNOWN, differs)


def misprint(label: str, paper: float | None, right: float, why: str) -> Row:
    """A printed number that is wrong, beside the right one."""
    return Row(label, right, paper, 0.0, MISPRINT, why)


def lost(label: str, why: str, ours: float | None = None) -> Row:
    """Something of the paper that cannot be recovered from its text."""
    return Row(label, ours, None, 0.0, LOST, why)


def beside(label: str, values: ArrayLike, why: str = "", differs: str = "") -> Row:
    """A number of ours that the paper has no counterpart for."""
    mean, _, error = spread(values)
    return Row(label, mean, None, error, "", why, differs)


def verdict_of(rows: tuple[Row, ...]) -> str:
    """The verdict of an entry with these rows; empty where none could be measured."""
    said = {row.verdict for row in rows}
    return next((verdict for verdict in VERDICTS if verdict in said), "")
