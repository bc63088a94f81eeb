"""Values that form a tree: report a set of towns, of counties or of regions, under one bound."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.arrays import Words
from sfumato.channels.arguments import bound, whole
from sfumato.channels.base import Channel
from sfumato.channels.odds import odds, read_fraction, worst_ratio
from sfumato.channels.ratios import as_float
from sfumato.channels.subset import MOST_VALUES, Subset, best_sets, checked_subset
from sfumato.domains import Hierarchy
from sfumato.errors import ChannelError
from sfumato.randomness import ONE

#: The most entries of the matrix that randomizing and estimating build.
MOST_ENTRIES = 1 << 24
_MOST_PARTS = 1 << 20


@dataclass(frozen=True)
class Level:
    """One level: its value above each leaf, in how many parts of the answers it is told, and its design of sets."""

    above: tuple[int, ...]
    people: int
    design: str
    size: int

    @property
    def values(self) -> int:
        return max(self.above) + 1


@dataclass(frozen=True, eq=False, repr=False)
class TreeLevels(Channel):
    r"""Answer by subset selection at one level of a tree; which level, chance decides.

        P[x, (l, y)] = w_l (gamma if the value of level l above x is in S_y, else 1) / Z_l,        gamma overall

    Counts of towns, counties and regions are all told well: a county's count is estimated from the answers about
    counties, and not from a sum over its towns alone. Within a level all values are told apart equally well.

    >>> place = Hierarchy(levels=("region", "town"), tree={"North": ["Abo", "Eck"], "South": ["Ulm"]})
    >>> tree_levels(place, gamma=3).gamma
    3.0
    """

    bound: Fraction
    levels: tuple[Level, ...]

    kind = "tree levels"

    @property
    def sizes(self) -> tuple[int, ...]:
        return (len(self.levels[0].above),)

    @property
    def outputs(self) -> tuple[int, ...]:
        return (sum(_counts(level)[0] for level in self.levels),)

    @property
    def releases_values(self) -> bool:
        return False

    @cached_property
    def parts(self) -> tuple[int, ...]:
        """How many of the 2^63 parts of a row each level has."""
        total = sum(level.people for level in self.levels)
        each = [ONE * level.people // total for level in self.levels]
        return (*each[:-1], ONE - sum(each[:-1]))

    @cached_property
    def weights(self) -> Words:
        blocks = []
        for level, share in zip(self.levels, self.parts, strict=True):
            inside = Subset(level.values, self.bound, level.design, level.size).membership
            blocks.append(odds(inside[list(level.above)], share, self.bound))
        return np.concatenate(blocks, axis=1)

    @cached_property
    def exact_gamma(self) -> Fraction:
        ratios = []
        for level, share in zip(self.levels, self.parts, strict=True):
            outputs, count = _counts(level)
            ratios.append(worst_ratio(count, outputs, share, self.bound))
        return max(ratios)

    @property
    def invertible(self) -> bool:
        return True

    def parameters(self) -> dict[str, Any]:
        return {
            "gamma": str(self.bound),
            "levels": [
                {"above": list(one.above), "people": one.people, "design": one.design, "size": one.size}
                for one in self.levels
            ],
        }

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> TreeLevels:
        found = []
        for entry in parameters["levels"]:
            above = tuple(whole("above", code, 0) for code in entry["above"])
            people, size = whole("people", entry["people"], 1), whole("size", entry["size"], 1)
            found.append(Level(above, people, str(entry["design"]), size))
        return _checked(read_fraction(parameters["gamma"]), tuple(found))

    def __str__(self) -> str:
        values = ", ".join(str(level.values) for level in self.levels)
        return f"tree_levels({values} values, gamma={as_float(self.bound):.6g})"


def tree_levels(domain: Hierarchy, gamma: float, people: dict[str, int] | None = None) -> TreeLevels:
    """The channel for values that form a tree, under a bound on gamma.

    ``people`` says in which proportions the levels are asked about, {"county": 2, "town": 1}; all alike unless told.
    The narrowest must be among them.
    """
    if not isinstance(domain, Hierarchy):
        raise ChannelError(f"tree_levels takes the domain of a hierarchy, got {type(domain).__name__} instead")
    gamma = bound(gamma)
    chosen = dict.fromkeys(domain.above, 1) if people is None else dict(people)
    strange = [level for level in chosen if level not in domain.above]
    if strange:
        raise ChannelError(f"there is no level {strange[0]!r}; the levels are {', '.join(domain.above)}")
    found = []
    for name in reversed(domain.above):
        above = tuple(domain.into(name).tolist())
        if name not in chosen or (max(above) == 0 and len(above) > 1):  # a single value tells nothing
            continue
        k = max(above) + 1
        design, size = ("sets", 1) if k <= 2 else _design(k, gamma)
        found.append(Level(above, whole(f"people of {name}", chosen[name], 1), design, size))
    return _checked(Fraction(gamma), tuple(found))


def _design(k: int, gamma: float) -> tuple[str, int]:
    chosen = best_sets(k, gamma)
    return best_sets(k, gamma, "projective") if chosen[0] == "hyperplanes" else chosen


def _counts(level: Level) -> tuple[int, int]:
    """The sets of a level, and how many hold a given value."""
    return Subset(level.values, Fraction(2), level.design, level.size).set_counts


def _checked(gamma: Fraction, levels: tuple[Level, ...]) -> TreeLevels:
    """The channel, if its numbers make sense and its matrix fits."""
    if not levels or any(len(level.above) != len(levels[0].above) for level in levels):
        raise ChannelError("the levels of a tree must all tell of the same values")
    k = len(levels[0].above)
    if not 2 <= k <= MOST_VALUES:
        raise ChannelError(f"tree_levels takes 2 to {MOST_VALUES} values, got {k}: release a wider level")
    if levels[0].above != tuple(range(k)):
        raise ChannelError("the narrowest level must be among the levels: it holds the values themselves")
    entries = 0
    for level in levels:
        found = sorted(set(level.above))
        if found != list(range(len(found))) or len(found) < 2 or level.people > _MOST_PARTS:
            raise ChannelError("every level must have two values or more, each above some value of the narrowest")
        entries += k * checked_subset(level.values, gamma, level.design, level.size).m
    if entries > MOST_ENTRIES:
        raise ChannelError(
            f"{k} values at {len(levels)} levels need a matrix of {entries} entries, more than {MOST_ENTRIES}: "
            f"release a wider level, or randomize the values alone by subset({k}, gamma)"
        )
    return TreeLevels(gamma, levels).verified(gamma)
