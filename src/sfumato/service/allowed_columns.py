"""Which columns a site pushes: where its token names some, exactly those, and nobody else's token pushes them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sfumato.printable import label_text
from sfumato.scheme import Scheme
from sfumato.service.refusals import RefusalError
from sfumato.service.study import Study

_NAMED = 5  # columns that a message names


@dataclass(frozen=True)
class AllowedColumns:
    """``own`` are those that a token names; without any, it pushes what is not ``reserved`` by another token."""

    own: frozenset[str] = frozenset()
    reserved: frozenset[str] = frozenset()

    def check(self, about: Mapping[str, Any], study: Study) -> None:
        """Refuse a file that holds other columns. Counts may be of some only: nothing is joined with them."""
        held = frozenset(about["attributes"] or about["told"] or study.schema.names)
        if self.own and held != self.own and not (about["counted"] and held < self.own):
            raise RefusalError("refused", f"this token pushes {_named(self.own)}; the file holds {_named(held)}")
        if not self.own and held & self.reserved:
            raise RefusalError(
                "refused",
                f"{_named(held & self.reserved)}: only tokens that name them push these columns. "
                f"Ask the study's admin for a token that names {_named(held)}",
            )


def check_named(columns: Collection[str], study: Study) -> None:
    """Refuse columns for a token that no file of this study could hold."""
    unknown = [name for name in columns if name not in study.schema]
    if not columns or unknown:
        said = f"the study has no {_named(unknown)}" if unknown else "name at least one"
        raise RefusalError("malformed", f"columns must be some of the study's: {said}", where="columns")
    if set(columns) == set(study.schema.names):
        return
    if not isinstance(study.scheme, Scheme):
        raise RefusalError(
            "malformed", "this study takes whole records only: name all of its columns, or none", where="columns"
        )
    together = set(study.scheme.select(list(columns)).schema.names)
    if together != set(columns):
        raise RefusalError(
            "malformed",
            f"columns must also name {_named(together - set(columns))}: they are randomized together",
            where="columns",
        )


def _named(columns: Collection[str]) -> str:
    shown = ", ".join(label_text(name) for name in sorted(columns)[:_NAMED])
    return shown if len(columns) <= _NAMED else f"{shown} and {len(columns) - _NAMED:,} more"
