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
    while left:
        parent, child = max(((i, j) for i in inside for j in left), key=lambda link: weight(*link))
        links.append((parent, child))
        inside.append(child)
        left.remove(child)
    return links
