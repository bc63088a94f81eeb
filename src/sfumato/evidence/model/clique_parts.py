"""Which attributes go into cliques because of how they were asked, and which parts of a release tell of a clique."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sfumato.evidence.asked_parts import asked_together
from sfumato.release import Release
from sfumato.released.part import Part

_LEAST_INSIDE = 0.5  # of the records that were asked: with fewer, parts that treat others too are looked at as well


def with_one_asked_too(
    release: Release, names: Sequence[str], linked: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Of forms: each attribute that depends on none, with one that some form asks too, and so tells of it."""
    if release.whole:
        return []
    alone = [name for name in names if not any(name in pair for pair in linked)]
    partner = ((n, next((m for m in names if m != n and asked_together(release, [n, m])), None)) for n in alone)
    return [(name, other) for name, other in partner if other is not None]


def within_clique(release: Release, names: Sequence[str]) -> Release:
    """The parts whose channels treat attributes of a clique with no others; all, where these tell of each too little.

    Of the other parts the mean channel over the values of the others is taken, which bends a dependence a little. But
    where most were asked in other parts, as under hundreds of forms, what these parts leave out is far more.
    """
    held = set(names)
    inside = [
        part
        for part in release.parts
        if len(part)
        and all(held.isdisjoint(group.names) or held.issuperset(group.names) for group in part.scheme.groups)
    ]
    most = all(0 < _LEAST_INSIDE * _asked(release.parts, name) <= _asked(inside, name) for name in names)
    return Release.of(inside) if most else release


def _asked(parts: Sequence[Part], name: str) -> int:
    """How many records were asked for an attribute."""
    return sum(len(part) for part in parts if name in part.scheme.schema)


def randomized_together(release: Release, names: Sequence[str]) -> list[tuple[int, ...]]:
    """Attributes that are randomized together stay together; of forms only where they depend on each other."""
    out: dict[tuple[int, ...], Any] = {}
    for part in release.parts if release.whole else ():
        for group in part.scheme.groups:
            held = tuple(names.index(name) for name in group.names if name in names)
            if len(held) > 1:
                out[held] = None
    return list(out)
