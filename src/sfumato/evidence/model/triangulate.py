"""From dependent pairs to a tree of cliques whose tables stay small."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

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
    """A junction tree: each clique hangs on the one it shares most with (a heaviest spanning tree, by Prim)."""
    left = list(range(1, len(found)))
    out = [Link(found[0], (), None)]
    placed = {0: 0}
    while left:
        shared, child, parent = max(
            ((len(set(found[i]) & set(found[j])), i, j) for i in left for j in placed),
            key=lambda t: (t[0], -t[1], -t[2]),
        )
        both = tuple(sorted(set(found[child]) & set(found[parent])))
        out.append(Link(found[child], both, placed[parent] if shared else None))
        placed[child] = len(out) - 1
        left.remove(child)
    return out


def _fill(near: dict[int, set[int]], node: int) -> int:
    around = sorted(near[node])
    return sum(b not in near[a] for i, a in enumerate(around) for b in around[i + 1 :])
