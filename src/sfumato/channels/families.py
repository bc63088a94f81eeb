"""The families of channels that any listed attribute can have under a bound on gamma."""

from __future__ import annotations

from collections.abc import Callable

from sfumato.channels.base import Channel
from sfumato.channels.subset import best_sets, subset
from sfumato.channels.valid import symmetric
from sfumato.channels.windows import windows

FEW_VALUES = 128  # up to this many, more designs of subset selection are weighed
TIGHTER = tuple(0.85**i for i in range(22))  # of gamma - 1: bounds whose best sets are tried too


def families(k: int, ordered: bool, nullable: bool) -> dict[str, Callable[[float], list[Channel]]]:
    """How to make each family's channels for k values from a bound on gamma; the best of them counts."""
    out: dict[str, Callable[[float], list[Channel]]] = {"symmetric": lambda g: [symmetric(k, gamma=g)]}
    if k > 2:
        out["subset"] = lambda g: _subsets(k, g)
    if ordered and k - nullable > 2:
        out["windows"] = lambda g: _windows(k - nullable, g, nullable)
    return out


def _windows(k: int, gamma: float, nullable: bool) -> list[Channel]:
    """The widths that are chosen for k values, and 1, 2, 4, ..., which tell single running shares best."""
    doubling = [1 << i for i in range((k - 1).bit_length())]
    return list(dict.fromkeys((windows(k, gamma, doubling, nullable), windows(k, gamma, nullable=nullable))))


def _subsets(k: int, gamma: float) -> list[Channel]:
    """Subset selection by the sets that are best under this bound and under tighter ones.

    Which sets are best for equally likely values need not be best for the hardest share. A looser bound never hurts the
    same sets, so that with these the precision never falls as gamma grows.
    """
    tighter = TIGHTER if k <= FEW_VALUES else TIGHTER[::6]
    designs = dict.fromkeys(best_sets(k, 1 + part * (gamma - 1)) for part in tighter)
    return [subset(k, gamma, design, size) for design, size in designs]
