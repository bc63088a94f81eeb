"""sfumato estimate --columns: cells of a table of counts, printed, drawn or as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.assess.poisoning import poisoning
from sfumato.cli import console
from sfumato.errors import SfumatoError
from sfumato.evidence import Estimate, Evidence
from sfumato.evidence.counting import DENSE_CELLS
from sfumato.evidence.plot import MOST_DRAWN
from sfumato.pages.display import settled
from sfumato.printable import label_text, level_text, many
from sfumato.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa

#: The columns that say how far false answers could move an estimate.
_FALSE = ("false_down", "false_up")
#: Cells whose limits are compared to say which are surely the largest: a second of work.
_MOST_RANKED = 1 << 16
#: The most numbers that are kept to read cells off the records: one of each record for each cell.
RECORD_CELLS = 1 << 26


@dataclass(frozen=True, eq=False)
class CountTable:
    """The cells that are told, with their intervals: those of records that hold some values, the largest of many."""

    found: Estimate
    names: list[str]
    held: dict[str, Any]  # the values that --where fixes
    cells: NDArray[np.int64]
    asked: int  # how many cells there are to choose from
    level: float
    method: str
    false: float | None  # the share of false answers to allow for
    moved: list[dict[str, float]]  # how far they could move each cell

    @classmethod
    def of(
        cls,
        found: Estimate,
        names: list[str],
        held: dict[str, Any],
        most: int | None,
        top: int | None,
        level: float,
        method: str,
        false: float | None,
    ) -> CountTable:
        """The ``top`` largest cells, whose intervals hold together; without it all, or the ``most`` largest."""
        cells = _chosen(found, held)
        shown = _largest(found, cells, top or most or len(cells))
        told = found if top is None else replace(found, together=len(cells))
        moved = [{}] * len(shown) if false is None else _moved(told, false, shown)
        return cls(told, names, held, shown, len(cells), level, method, false, moved)

    @cached_property
    def frame(self) -> pa.Table:
        """A row for each cell, without the attributes that are fixed."""
        return self.found.frame(self.level, cells=self.cells).drop_columns(list(self.held))

    def draw(self, path: Path) -> None:
        """As many of the largest as can be read in a picture."""
        drawn = _largest(self.found, self.cells, MOST_DRAWN)
        cut = f", the {len(drawn)} largest of {self.asked:,}" if len(drawn) < self.asked else ""
        self.found.plot(path, level=self.level, cells=drawn, title=" x ".join(self.found.names) + cut)

    def document(self) -> dict[str, Any]:
        """What --json prints."""
        rows = [{**row, **more} for row, more in zip(self.frame.to_pylist(), self.moved, strict=True)]
        return {
            "columns": self.names,
            **({"where": self.held} if self.held else {}),
            "n": self.found.n,
            "method": self.method,
            "level": self.level,
            "together": self.found.together,
            "population": self.found.population_kind,
            **({} if self.false is None else {"false": self.false}),
            **({"notes": list(self.found.notes)} if self.found.notes else {}),
            "cells": rows,
        }

    def say(self, ranked: bool) -> None:
        """The table, and in words what it is of; ``ranked`` where the largest cells were asked for."""
        found, heads = self.found, [*self.frame.schema.names, *self.moved[0]]
        about = "shares of the population" if found.of_population else "counts of this table"
        each = f" for {many(self.asked, 'cell')} together" if ranked else ""
        intervals = f"intervals {level_text(self.level)}{each}"
        console.say(f"{about}, {many(found.n, 'randomized record')}, method {self.method}, {intervals}")
        if self.held:
            fixed = ", ".join(f"{name} = {label_text(value)}" for name, value in self.held.items())
            console.say(f"of records with {fixed}" + ("; shares are still of everybody" if found.of_population else ""))
        rows = [_in_words(list(row.values()), len(self.names)) for row in self.frame.to_pylist()]
        console.table(heads, [[*row, *more.values()] for row, more in zip(rows, self.moved, strict=True)])
        told = found.asked * found.n if found.pooled is None else found.pooled.rows
        if round(told) < round(found.n):
            what = "shares are of everybody" if found.of_population else "counts are scaled to all of them"
            console.note(f"{told:,.0f} of {found.n:,.0f} records were asked; {what}")
        for note in found.notes:
            console.note(note)
        if (found.value[self.cells] < 0).any() and found.codes is not None:
            console.note("read off the records one by one: estimates are unbiased, and of few records may be negative")
        if self.false is not None:
            console.note(
                f"{_FALSE[0]}, {_FALSE[1]}: how far {100 * self.false:g} % of false answers could move an estimate. No "
                f"interval allows for them."
            )
        unclear = int((self.frame.column(self.frame.schema.names[-2]).to_numpy() <= 0).sum())
        if 2 * unclear > len(self.cells) and len(self.names) + len(self.held) > 1:
            console.note(
                f"{unclear:,} of {len(self.cells):,} cells may be empty: their intervals reach 0. "
                "Fewer columns tell more."
            )
        if ranked and len(self.cells) < self.asked <= _MOST_RANKED:
            self._say_who_else()
        if not ranked and len(self.cells) < self.asked:
            console.note(
                f"the {len(self.cells):,} largest of {self.asked:,} cells: --rows shows more, --json all of them"
            )

    def _say_who_else(self) -> None:
        """How many of the cells that are printed are surely among the largest: the ranking is of estimates."""
        most, all_cells = len(self.cells), _chosen(self.found, self.held)
        low, high = self.found.interval(self.level, all_cells)
        printed = np.isin(all_cells, self.cells)
        at_least = len(high) - np.searchsorted(np.sort(high), low[printed], "right")  # the cell itself among them
        surely = int((at_least <= most).sum())
        perhaps = int((len(low) - np.searchsorted(np.sort(low), high, "right") < most).sum())
        if surely < most:
            place = "the largest" if most == 1 else f"among the {most:,} largest"
            some = f"only {surely:,}" if surely else "none"
            console.note(
                f"the largest by their estimates: {some} of them {'is' if surely < 2 else 'are'} sure to be {place}, "
                f"{many(perhaps, 'cell')} may be"
            )


def _moved(found: Estimate, share: float, cells: NDArray[np.int64]) -> list[dict[str, float]]:
    """How far a share of false answers could move each of these cells, in its own unit."""
    if found.codes is not None:
        raise SfumatoError("--false: the table of all these columns is too large for it: ask for fewer of them")
    try:
        bound = poisoning(found, share)
    except SfumatoError as problem:
        raise SfumatoError(f"--false: {problem}") from None
    unit = 1.0 if found.of_population else found.n
    sides = (bound.down[cells] * unit, bound.up[cells] * unit)
    return [dict(zip(_FALSE, map(float, pair), strict=True)) for pair in zip(*sides, strict=True)]


def counts_of(ev: Evidence, names: Sequence[str], held: Mapping[str, Any]) -> Estimate:
    """The table of all these attributes; where it is too large, the cells of records that hold some values alone."""
    asked = [*names, *held]
    if not held or ev.released_cells(asked) <= DENSE_CELLS:
        return ev.counts(asked)
    kept = np.broadcast_arrays(*_kept(ev.schema.select(asked), held))
    codes = np.stack([axis.reshape(-1) for axis in kept], axis=1)
    if len(codes) * ev.n > RECORD_CELLS:
        raise SfumatoError(
            f"{many(len(codes), 'cell')} of {many(ev.n, 'record')} are too many to be read off the records one by one: "
            f"fix the values of more columns with --where, or leave some out"
        )
    return ev.cells(asked, codes)


def _kept(schema: Schema, held: Mapping[str, Any]) -> tuple[NDArray[np.int64], ...]:
    """The codes of each attribute that were asked for, as an open mesh."""
    kept = [
        np.array([domain.labels.index(held[name])]) if name in held else np.arange(domain.size)
        for name, domain in schema.items()
    ]
    return np.ix_(*kept)


def _chosen(found: Estimate, held: Mapping[str, Any]) -> NDArray[np.int64]:
    """The places of the cells that were asked for."""
    if found.codes is not None:
        return np.arange(len(found.value))
    return np.ravel_multi_index(_kept(found.schema, held), found.shape).reshape(-1)


def _largest(found: Estimate, cells: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """All of them as they stand, or as many of the largest, largest first."""
    return cells if len(cells) <= most else cells[np.argsort(-found.value[cells], kind="stable")[:most]]


def _in_words(row: list[Any], attributes: int) -> list[Any]:
    """A row to print: "no answer" in words, and no digits of an estimate or a limit far below its error."""
    labels, (value, sd, low, high) = row[:attributes], row[attributes:]
    value, low, high = (settled(number, sd) for number in (value, low, high))
    return [*map(_label, labels), value, sd, low, high]


def _label(label: Any) -> Any:
    """A value as it is printed: a number with all its digits, since it is no estimate."""
    return label_text(label) if label is None else f"{label:.15g}" if isinstance(label, float) else label
