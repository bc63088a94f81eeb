"""From dependent pairs to a tree of cliques whose tables stay small."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

from sfumato.evidence.spanning_tree import spanning_tree

Clique = tuple[int, ...]


@dataclass(frozen=True)
class Link:
    """A clique, the attributes it shares with its parent, and the parent's place (None for a root)."""

    clique: Clique
    shared: Clique
    parent: int | None

    @property
    def own(self) -> Clique:
        """What the clique adds."""
        return tuple(axis for axis in self.clique if axis not in self.shared)


def cliques(count: int, edges: Iterable[tuple[int, int]], sizes: Sequence[int]) -> list[Clique]:
    """The maximal cliques of a triangulation by elimination, the fewest new links first.

    >>> cliques(4, [(0, 1), (1, 2), (2, 3), (3, 0)], (2, 2, 2, 2))
    [(0, 1, 3), (1, 2, 3)]
    """
    near: dict[int, set[int]] = {i: set() for i in range(count)}
    for a, b in edges:
        near[a].add(b)
        near[b].add(a)
    found: list[Clique] = []
    left = set(range(count))
    while left:
        chosen = min(left, key=lambda i: (_fill(near, i), prod(sizes[j] for j in near[i] | {i}), i))
        around = near[chosen]
        candidate = tuple(sorted(around | {chosen}))
        if not any(set(candidate) <= set(other) for other in found):
            found.append(candidate)
        for a in around:
            near[a] |= around - {a}
            near[a].discard(chosen)
        left.remove(chosen)
        near.pop(chosen)
    return sorted(found)


def bounded(
    count: int, ranked: Sequence[tuple[int, int]], sizes: Sequence[int], most: int, together: Sequence[Clique] = ()
) -> tuple[list[Clique], list[tuple[int, int]]]:
    """Cliques of at most ``most`` cells from links taken in order, and the links that had to be left out."""
    kept = [(a, b) for group in together for i, a in enumerate(group) for b in group[i + 1 :]]
    dropped = []
    best = cliques(count, kept, sizes)
    for edge in ranked:
        trial = cliques(count, [*kept, edge], sizes)
        if max(prod(sizes[i] for i in clique) for clique in trial) <= most:
            kept.append(edge)
            best = trial
        else:
            dropped.append(edge)
    return best, dropped


def tree(found: Sequence[Clique]) -> list[Link]:
    """A junction tree: each clique hangs on the one it shares most with."""
    out, placed = [Link(found[0], (), None)], {0: 0}
    for parent, child in spanning_tree(
        range(len(found)), lambda inside, other: (len(set(found[other]) & set(found[inside])), -other, -inside)
    ):
        both = tuple(sorted(set(found[child]) & set(found[parent])))
        placed[child] = len(out)
        out.append(Link(found[child], both, placed[parent] if both else None))
    return out


def _fill(near: dict[int, set[int]], node: int) -> int:
    around = sorted(near[node])
    return sum(b not in near[a] for i, a in enumerate(around) for b in around[i + 1 :])
