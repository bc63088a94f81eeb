"""Whom a question is about: ``where`` restricts the records, ``by`` asks once for each group."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.domains import Domain
from sfumato.errors import EstimationError, OutsideDomainError
from sfumato.evidence.questions.statistics import Statistic
from sfumato.printable import label_text, printed_as
from sfumato.schema import Schema

#: The most groups that one question is asked of.
MOST_GROUPS = 1 << 10


@dataclass(frozen=True, eq=False)
class AskedGroups:
    """The groups, each with its labels and the indicator of its records."""

    names: tuple[str, ...]
    labels: tuple[tuple[Any, ...], ...]
    members: tuple[dict[str, Array], ...]
    where: dict[str, Array]

    def statistic(self, group: int, factors: Statistic) -> Statistic:
        """A statistic of the records of one group: the product of its indicator and the factors."""
        out: Statistic = dict(factors)
        for held in (self.members[group], self.where):
            for name, inside in held.items():
                before = out.get(name)
                if isinstance(before, int):
                    raise EstimationError(f"{name!r} is released with additive noise: it cannot tell groups apart")
                out[name] = inside if before is None else np.asarray(before) * inside
        return out

    def part(self, first: int, behind: int) -> AskedGroups:
        """Some of the groups."""
        return replace(self, labels=self.labels[first:behind], members=self.members[first:behind])

    @property
    def columns(self) -> dict[str, list[Any]]:
        """The labels by name."""
        return {name: [one[i] for one in self.labels] for i, name in enumerate(self.names)}


def groups(
    schema: Schema, noisy: Collection[str], by: str | Sequence[str] | None, where: Mapping[str, Any] | None
) -> AskedGroups:
    """The groups of a question, checked."""
    names = () if by is None else (by,) if isinstance(by, str) else tuple(by)
    if len(set(names)) != len(names):
        raise EstimationError(f"by must name each attribute once, got {list(names)}")
    if where is not None and not isinstance(where, Mapping):
        raise EstimationError(f'where must look like {{"sex": "F"}}, got {type(where).__name__} instead')
    for name in (*names, *(where or {})):
        if name in noisy:
            raise EstimationError(f"{name!r} is released with additive noise: it cannot tell groups apart")
    held = {name: _inside(schema[name], name, value) for name, value in (where or {}).items()}
    sizes = [schema[name].size for name in names]
    every = {name: range(size) for name, size in zip(names, sizes, strict=True)}
    allowed = [[code for code in every[name] if name not in held or held[name][code]] for name in names]
    if (several := prod(map(len, allowed))) > MOST_GROUPS:
        raise EstimationError(f"by makes {several:,} groups, more than {MOST_GROUPS:,}: name fewer attributes")
    chosen = list(product(*allowed))
    labels = tuple(
        tuple(schema[name].labels[code] for name, code in zip(names, codes, strict=True)) for codes in chosen
    )
    members = tuple(
        {name: np.eye(size)[code] for name, size, code in zip(names, sizes, codes, strict=True)} for codes in chosen
    )
    return AskedGroups(names, labels, members, held)


def _inside(domain: Domain, name: str, value: Any) -> Array:
    """1 for the codes that a condition allows: one value, or several in a list."""
    wanted = as_list(value)
    if not wanted:
        raise EstimationError(f"where: {name} must hold at least one value, got an empty list")
    out = np.zeros(domain.size)
    out[[code_of(domain, name, one) for one in wanted]] = 1.0
    return out


def as_list(value: Any) -> list[Any]:
    """The values of a condition, which names one, or several in a list."""
    return list(value) if isinstance(value, list | tuple | set | frozenset | np.ndarray) else [value]


def code_of(domain: Domain, name: str, value: Any) -> int:
    """The code of a label, of what is printed for one, or of a number or date that lies in a bin."""
    for code, label in enumerate(domain.labels):
        if label is value or (label == value and isinstance(label, bool) == isinstance(value, bool)):
            return code
    printed = [code for code, label in enumerate(domain.labels) if printed_as(label, value)]
    if printed:
        return printed[0]
    if value is not None and domain.kind in ("numeric", "date"):
        with suppress(OutsideDomainError):  # whose advice is to mend rows
            return domain.code(value)
    shown = ", ".join(map(label_text, domain.labels[:12]))
    raise EstimationError(f"{name} has no value {value!r}; it has {shown}{', ...' * (domain.size > 12)}")
