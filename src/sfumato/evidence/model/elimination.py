"""Triangulations of a graph by elimination, and what changes in them when a link comes in.

Nodes go one by one; the neighbours of one that goes are linked with each other. The node that needs the fewest new
links goes first (least fill). Sets of nodes are whole numbers here, a bit for each: with hundreds of attributes there
are thousands of links to try.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from math import prod

#: The nodes in the order in which they go, each with its neighbours at that time.
Elimination = list[tuple[int, int]]
Graph = dict[int, int]


def graph_of(count: int, edges: Iterable[tuple[int, int]]) -> Graph:
    """The neighbours of every node."""
    near = dict.fromkeys(range(count), 0)
    for a, b in edges:
        near[a] |= 1 << b
        near[b] |= 1 << a
    return near


def members(nodes: int) -> list[int]:
    """The nodes of a set, in ascending order.

    >>> members(0b1101)
    [0, 2, 3]
    """
    out = []
    while nodes:
        last = nodes & -nodes
        out.append(last.bit_length() - 1)
        nodes ^= last
    return out


def least_fill(graph: Mapping[int, int], sizes: Sequence[int], most: float) -> Elimination | None:
    """The elimination; None as soon as a clique has more than ``most`` cells."""
    near = dict(graph)
    rank = {node: _rank(near, sizes, node) for node in near}
    queue = list(rank.values())
    heapify(queue)
    out: Elimination = []
    while queue:
        entry = heappop(queue)
        fill, cells, chosen = entry
        if entry != rank.get(chosen):  # gone, or its neighbours have changed since
            continue
        if cells > most:
            return None
        around = near[chosen]
        out.append((chosen, around))
        del rank[chosen]
        inside = members(around)
        added = [(a, b) for a in inside for b in members((around & ~near[a]) >> (a + 1) << (a + 1))] if fill else []
        for a in inside:
            near[a] = (near[a] | around) & ~(1 << a | 1 << chosen)
        changed = around
        for a, b in added:  # a new link also spares those who know both of its ends
            changed |= near[a] & near[b]
        for node in members(changed):
            now = _rank(near, sizes, node)
            if now != rank[node]:
                rank[node] = now
                heappush(queue, now)
    return out


def linked(
    known: Elimination, whole: Graph, graph: Graph, ends: tuple[int, int], sizes: Sequence[int], most: float
) -> Elimination | None:
    """An elimination of a graph that has got one more link, from the known one of the graph before.

    Nodes that lie on no way between the two ends may still go first, as before: no link among their neighbours is
    missing in the triangulation ``whole``. Only the rest is eliminated anew, with the links that those neighbours need.
    """
    remaining = sum(1 << node for node in whole)
    kept = 0
    first: Elimination = []
    for node, _ in known:
        around = whole[node] & remaining
        if node in ends or any(around & ~(1 << other | whole[other]) for other in members(around & kept)):
            kept |= 1 << node
        else:
            remaining ^= 1 << node
            first.append((node, around))
    left = {node: graph[node] & remaining for node in members(remaining)}
    for shared in {around & remaining for _, around in first}:
        for node in members(shared):
            left[node] |= shared ^ 1 << node
    rest = least_fill(left, sizes, most)
    return None if rest is None else first + rest


def triangulation(known: Elimination) -> Graph:
    """The graph with all links that the elimination added."""
    out = dict(known)
    for node, around in known:
        for other in members(around):
            out[other] |= 1 << node
    return out


def maximal_cliques(known: Elimination) -> list[int]:
    """Each node with its neighbours at the time it went, without those that lie in another."""
    out: list[int] = []
    for node, around in known:
        clique = around | 1 << node
        if not any(clique & other == clique for other in out):
            out.append(clique)
    return out


def _rank(near: Mapping[int, int], sizes: Sequence[int], node: int) -> tuple[int, int, int]:
    """How many links are missing among the neighbours (twice), the cells of the clique, and the node itself."""
    around = near[node]
    inside = members(around)
    missing = sum([(around & ~near[a]).bit_count() for a in inside]) - len(inside)
    return missing, prod([sizes[a] for a in inside], start=sizes[node]), node
