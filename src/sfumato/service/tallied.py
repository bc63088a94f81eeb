"""Evidence from tables that were kept while answers arrived: estimates do not read the rows again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from sfumato.arrays import Array
from sfumato.errors import EstimationError
from sfumato.evidence.counting import Codes, Counter, count_by
from sfumato.released.part import Part
from sfumato.scheme import Scheme

#: Gives the table of some columns, flat, or None where it is not kept.
Table = Callable[[Sequence[str]], Array | None]


@dataclass(frozen=True, eq=False)
class TalliedPart(Part):
    """So many answers under one scheme, of which tables are kept; the rows themselves are elsewhere."""

    answers: int = 0

    def __len__(self) -> int:
        return self.answers

    def batches(self, *_: Any, **__: Any) -> Iterator[Any]:
        _not_kept()


class KeptTables(Counter):
    """The counter of such a part: it looks tables up."""

    def __init__(self, part: Part, table: Table) -> None:
        super().__init__(part)
        self._table = table

    def counts(self, columns: Sequence[str]) -> Array:
        found = self._table(columns)
        return _not_kept() if found is None else found

    def plan(self, requests: Sequence[Sequence[str]]) -> None:
        return

    def count_pairs(self) -> None:
        return

    def records(self, columns: Sequence[str], distinct: bool) -> tuple[Codes, Array]:
        _not_kept()


def tallied(scheme: Scheme, answers: int, table: Table) -> Part:
    """A part of a release that is known by its tables alone."""
    part = TalliedPart(None, scheme, order="shuffled", answers=answers)
    count_by(part, KeptTables(part, table))
    return part


def _not_kept() -> NoReturn:
    raise EstimationError(
        "the table of these attributes together is not kept while answers arrive: download the release and ask it"
    )
