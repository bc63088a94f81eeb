"""Elimination: what is built link by link is a triangulation of all links taken, and never exceeds the bound."""

from __future__ import annotations

from math import inf

import numpy as np

from sfumato.evidence.model.elimination import (
    graph_of,
    least_fill,
    linked,
    maximal_cliques,
    members,
    triangulation,
)


def links_of(graph):
    return {(a, b) for a in graph for b in members(graph[a])}


def is_elimination_of(known, whole):
    """Whether the neighbours of every node are linked when it goes, and no link is missed."""
    gone = 0
    for node, around in known:
        assert around == whole[node] & ~gone
        assert all(around & ~(whole[other] | 1 << other) == 0 for other in members(around))
        gone |= 1 << node
    return True


def test_a_link_more_gives_an_elimination_of_the_larger_graph():
    rng = np.random.default_rng(0)
    for _ in range(30):
        n = int(rng.integers(4, 16))
        pairs = [tuple(map(int, pair)) for pair in rng.permutation([(i, j) for i in range(n) for j in range(i)])]
        graph = graph_of(n, [])
        known = least_fill(graph, [2] * n, inf)
        for a, b in pairs[: 3 * n]:
            trial = graph | {a: graph[a] | 1 << b, b: graph[b] | 1 << a}
            found = linked(known, triangulation(known), trial, (a, b), [2] * n, 32)
            if found is None:
                continue
            graph, known = trial, found
            whole = triangulation(known)
            assert sorted(node for node, _ in known) == list(range(n)) and is_elimination_of(known, whole)
            assert links_of(graph) <= links_of(whole)
            assert all(2 ** clique.bit_count() <= 32 for clique in maximal_cliques(known))


def test_a_clique_that_is_too_large_ends_the_trial():
    complete = graph_of(5, [(i, j) for i in range(5) for j in range(i)])
    assert least_fill(complete, [2] * 5, 16) is None
    assert maximal_cliques(least_fill(complete, [2] * 5, 32)) == [0b11111]
