"""From dependent pairs to a tree of cliques whose tables stay small."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf

from sfumato.evidence.model.elimination import (
    Elimination,
    graph_of,
    least_fill,
    linked,
    maximal_cliques,
    members,
    triangulation,
)
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
    return _listed(least_fill(graph_of(count, edges), sizes, inf) or [])


def bounded(
    count: int, ranked: Sequence[tuple[int, int]], sizes: Sequence[int], most: int, together: Sequence[Clique] = ()
) -> tuple[list[Clique], list[tuple[int, int]]]:
    """Cliques of at most ``most`` cells from links taken in order, and the links that had to be left out."""
    graph = graph_of(count, ((a, b) for group in together for i, a in enumerate(group) for b in group[i + 1 :]))
    best = least_fill(graph, sizes, inf) or []
    whole = triangulation(best)
    dropped = []
    for a, b in ranked:
        trial = graph | {a: graph[a] | 1 << b, b: graph[b] | 1 << a}
        if not whole[a] >> b & 1:  # else the two lie in one clique already
            found = linked(best, whole, trial, (a, b), sizes, most)
            if found is None:
                dropped.append((a, b))
                continue
            best, whole = found, triangulation(found)
        graph = trial
    return _listed(best), dropped


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


def _listed(found: Elimination) -> list[Clique]:
    return sorted(tuple(members(clique)) for clique in maximal_cliques(found))
