"""The heaviest spanning tree of a graph in which every pair of nodes may be linked (Prim 1957)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

Node = TypeVar("Node")


def spanning_tree(nodes: Sequence[Node], weight: Callable[[Node, Node], Any]) -> list[tuple[Node, Node]]:
    """The links (parent, child) of the heaviest tree from the first node on, in the order in which it grows.

    Of links that weigh the same the first is taken, parents in the order in which they were reached.

    >>> spanning_tree("abc", lambda one, other: {"ab": 1.0, "ac": 2.0, "bc": 3.0}["".join(sorted(one + other))])
    [('a', 'c'), ('c', 'b')]
    """
    inside, left, links = list(nodes[:1]), list(nodes[1:]), []
    best = [(weight(inside[0], node), 0) for node in left]  # of each outside: its heaviest link, and to whom
    while left:
        heaviest = max(link for link, _ in best)
        chosen = min((parent, place) for place, (link, parent) in enumerate(best) if link == heaviest)[1]
        child, (_, parent) = left.pop(chosen), best.pop(chosen)
        links.append((inside[parent], child))
        inside.append(child)
        for place, node in enumerate(left):
            link = weight(child, node)
            if link > best[place][0]:
                best[place] = (link, len(inside) - 1)
    return links
