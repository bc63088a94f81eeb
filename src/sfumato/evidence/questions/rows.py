"""What every answer can do: a row for each thing asked, with its interval, as a table, a picture or text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.errors import EstimationError
from sfumato.evidence.critical import critical_value
from sfumato.evidence.questions.plot import plot
from sfumato.evidence.questions.values import are_years, at_places
from sfumato.input_checks import check_flags
from sfumato.pages.display import MOST, Precise, html_table, settled, shown, text_table, told_apart
from sfumato.printable import label_text, many, printable
from sfumato.writing.data_frames import as_frame, free_name

if TYPE_CHECKING:
    import pyarrow as pa

_SHORT = 9  # digits of a number that somebody wrote
_TOLD = ("estimate", "low", "high")


class Rows(ABC):
    """Answers with labels: ``value``, ``cov``, ``sd``, ``interval``, ``frame``, ``plot``."""

    of_population: bool
    running: str | None = None  # the column along which the rows rise from 0 to 1, where they are running shares
    spans: tuple[Array, Array] | None = None  # the least and the greatest value behind each running share of a group
    attribute: str = ""  # what was asked about, where that is one attribute
    named: tuple[str, ...] = ()  # the values whose places from 0 the answers are, such as months
    between_places: bool = False  # answers lie between such values, too: means

    @property
    def of_years(self) -> bool:
        """Whether no answer can be anything but a year, whose thousands are not marked."""
        return False

    @property
    @abstractmethod
    def n(self) -> float:
        """The number of records."""

    @property
    @abstractmethod
    def keys(self) -> dict[str, list[Any]]:
        """What each row is about, a column a name."""

    @property
    @abstractmethod
    def value(self) -> Array: ...

    @property
    @abstractmethod
    def cov(self) -> Array: ...

    @property
    @abstractmethod
    def title(self) -> str:
        """What was asked, in words."""

    @abstractmethod
    def limits(self, z: float) -> tuple[Array, Array]:
        """Limits that a normal estimate would have at so many standard deviations."""

    @abstractmethod
    def population(self) -> Rows:
        """The same of the distribution behind the table."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know besides the numbers."""
        return ()

    def open(self, level: float = 0.95, *, anytime: bool = False) -> NDArray[np.bool_]:
        """Which answers are left open: nearly everything that is possible lies in their ``interval``."""
        return np.zeros(len(self.value), dtype=bool)

    @property
    def beside(self) -> dict[str, Array]:
        """More columns of numbers for the table; ``NAME_sd`` is the error of ``NAME``."""
        return {}

    @property
    def population_kind(self) -> str:
        """Which covariance this is: "finite population" or "superpopulation"."""
        return "superpopulation" if self.of_population else "finite population"

    @property
    def sd(self) -> Array:
        return np.sqrt(np.maximum(np.diag(self.cov), 0.0))

    def interval(self, level: float = 0.95, *, anytime: bool = False) -> tuple[Array, Array]:
        """Limits that hold each answer with the given probability, one at a time.

        ``anytime``: at all times together, for numbers that are looked at again and again while records come in.
        """
        check_flags(EstimationError, anytime=anytime)
        return self.limits(critical_value(level, self.n if anytime else None))

    def frame(self, level: float | str = 0.95, backend: str = "pyarrow") -> Any:
        """A table with a row per answer: labels, estimate, sd, low, high; "pyarrow", "pandas" or "polars"."""
        level, backend = (0.95, level) if isinstance(level, str) else (level, backend)
        return as_frame(self._arrow(level), backend)

    def plot(self, path: str | Path | None = None, **options: Any) -> Any:
        """A picture of the answers with their intervals; see ``sfumato.evidence.questions.plot``."""
        return plot(self, path, **options)

    def labels(self) -> list[tuple[Any, ...]]:
        """What each row is about."""
        return list(zip(*self.keys.values(), strict=True)) if self.keys else [()] * len(self.value)

    def _arrow(self, level: float) -> pa.Table:
        import pyarrow as pa

        columns: dict[str, Any] = {name: pa.array(labels) for name, labels in self.keys.items()}
        low, high = self.interval(level)
        own = {"estimate": self.value, "sd": self.sd, "low": low, "high": high}
        values = {f"{name}_value": at_places(own[name], self.named) for name in _TOLD} if self.named else {}
        numbers: dict[str, Any] = {**own, **values, **self.beside}
        headings = self._headings(numbers)
        return pa.table(columns | {headings[name]: column for name, column in numbers.items()})

    def _headings(self, numbers: Iterable[str]) -> dict[str, str]:
        """What the columns of numbers are called, beside attributes of the same names."""
        out: dict[str, str] = {}
        for name in numbers:
            out[name] = free_name(name, {*self.keys, *out.values()})
        return out

    def __repr__(self) -> str:
        return "\n".join([printable(self._heading), text_table(*self._shown()), *map(printable, self.notes)])

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{escape(printable(note))}</p>" for note in self.notes)
        return html_table(self._heading, *self._shown()) + notes

    @property
    def _heading(self) -> str:
        return f"{self.title}, {many(self.n, 'record')}, {self.population_kind}, 95 % intervals"

    def in_words(self, level: float, most: int) -> tuple[list[str], list[list[Any]]]:
        """Headings and rows to print.

        What has no name is "no answer". An answer that its limits leave open is "not known". Numbers beside the answer
        carry their errors.
        """
        frame = self._arrow(level).slice(0, most)
        beside = self.beside
        values = [f"{name}_value" for name in _TOLD] if self.named else []
        headings = self._headings(["estimate", "sd", "low", "high", *values, *beside])
        columns = frame.to_pydict()
        named = {name: columns.pop(headings[f"{name}_value"]) for name in _TOLD} if self.named else {}
        for name, error in ((headings[n], headings[f"{n}_sd"]) for n in beside if f"{n}_sd" in beside):
            sds = columns.pop(error)
            if any(sds):
                columns[name] = [f"{shown(v)} ± {shown(sd)}" for v, sd in zip(columns[name], sds, strict=True)]
        value, sd, low, high = (headings[name] for name in ("estimate", "sd", "low", "high"))
        for i, (error, is_open) in enumerate(zip(columns[sd], self.open(level)[:most], strict=True)):
            if is_open:
                columns[value][i], columns[sd][i] = "not known", ""
                continue
            for name in (value, low, high):
                columns[name][i] = told_apart(settled(columns[name][i], error), error, self.of_years)
            columns[sd][i] = settled(error, 1e-6 * abs(columns[value][i]))  # what rounding leaves of nothing
        if named and self.between_places:
            columns[free_name("nearest", columns)] = [
                "" if one == "not known" else label
                for one, label in zip(columns[value], named["estimate"], strict=True)
            ]
        elif named:
            for name, labels in named.items():
                own = headings[name]
                columns[own] = [o if o == "not known" else at for o, at in zip(columns[own], labels, strict=True)]
        for name in self.keys:
            columns[name] = _ends(columns[name]) if name == self.running else [_key(label) for label in columns[name]]
        return list(columns), [list(row) for row in zip(*columns.values(), strict=True)]

    def _shown(self) -> tuple[list[str], list[list[Any]], int]:
        headings, rows = self.in_words(0.95, MOST)
        kept = [i for i, name in enumerate(headings) if name != free_name("sd", self.keys)]
        cut = [[row[i] for i in kept] for row in rows]
        return [headings[i] for i in kept], cut, len(self.value) - len(cut)


def _ends(labels: list[Any]) -> list[Any]:
    """Ends of bins, all with as many decimals as one of them needs, and thousands marked unless they are years."""
    if not all(isinstance(label, int | float) and not isinstance(label, bool) for label in labels):
        return [_key(label) for label in labels]
    decimals = max((len(f"{label:.12g}".partition(".")[2]) for label in labels), default=0)
    if any("e" in f"{label:.12g}" for label in labels):
        return [_key(label) for label in labels]
    years = are_years(min(labels, default=0), max(labels, default=0))
    return [Precise(label, decimals, year=years) for label in labels]


def _key(label: Any) -> Any:
    """What a row is about: "no answer" in words, a short number as it is written."""
    if isinstance(label, float) and len(short := f"{label:.12g}") <= _SHORT:
        return short
    return label_text(label) if label is None else label
