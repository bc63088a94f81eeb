"""Who is asked about what: the attributes of a question, its groups and its condition."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.errors import EstimationError
from sfumato.evidence.protocol import By, Evidence, Where
from sfumato.evidence.questions.gather import asked_of, gather, left_out, noisy, told_by_model
from sfumato.evidence.questions.groups import AskedGroups, as_list, code_of, groups
from sfumato.evidence.questions.statistics import ModelSums, Statistic, Sums
from sfumato.printable import label_text


@dataclass(frozen=True, eq=False)
class Asked:
    """A question about some attributes of some groups."""

    ev: Evidence
    names: tuple[str, ...]
    groups: AskedGroups
    where: Where

    @property
    def attributes(self) -> tuple[str, ...]:
        """All that must be looked at."""
        return tuple(dict.fromkeys((*self.groups.names, *(self.where or {}), *self.names)))

    @property
    def whom(self) -> str:
        by = f" by {', '.join(self.groups.names)}" if self.groups.names else ""
        return by + (f" where {', '.join(map(self._condition, self.where.items()))}" if self.where else "")

    def _condition(self, held: tuple[str, Any]) -> str:
        """A condition, by the bins that its numbers stand for."""
        name, value = held
        domain = self.ev.schema[name]
        labels = (label_text(domain.labels[code_of(domain, name, one)]) for one in as_list(value))
        return f"{name} = {' or '.join(dict.fromkeys(labels))}"

    def nullable(self) -> bool:
        return any(self.ev.schema[name].nullable for name in self.names)

    def sums(self, statistics: Any) -> Sums | ModelSums:
        """``statistics(group, noises)`` lists those of one group."""

        def build(noises: Collection[str]) -> list[Statistic]:
            every = range(len(self.groups.labels))
            return [self.groups.statistic(g, one) for g in every for one in statistics(noises)]

        return gather(self.ev, self.attributes, build)

    def notes(self, sums: Sums | ModelSums) -> tuple[str, ...]:
        weighed = getattr(self.ev, "weights", None) is not None
        weights = ("each record counts as its weight says; answered is a sum of weights",) if weighed else ()
        told = told_by_model(sums) + asked_of(sums)
        return told + left_out(self.ev, self.groups, self.where) + weights


def ask(ev: Evidence, names: Sequence[str], by: By, where: Where, smooth: bool | None = None) -> Asked:
    """The question, if its names are known."""
    by = (by,) if isinstance(by, str) else by
    if by is not None and not isinstance(by, list | tuple):
        raise EstimationError(f'by must be an attribute or a list of attributes, such as "sex", got {by!r} instead')
    if smooth is not None and not isinstance(smooth, bool | np.bool_):
        raise EstimationError(f"smooth must be True, False or None, got {smooth!r} instead")
    if where is not None and not isinstance(where, Mapping):
        raise EstimationError(f'where must look like {{"sex": "F"}}, got {where!r} instead')
    for name in (*names, *(by or ()), *(where or {})):
        if not isinstance(name, str):
            raise EstimationError(f"attributes are named one by one, by their names, got {name!r} instead")
        if name not in ev.names:
            ev.release.schema[name]
            raise EstimationError(f"{name!r} is not in the evidence, which covers {', '.join(ev.names)}")
    for name in by or ():
        if name in names:
            raise EstimationError(f"by must not name {name!r}, which is what is asked about: group by other attributes")
    return Asked(ev, tuple(names), groups(ev.schema, noisy(ev), by, where), where)
