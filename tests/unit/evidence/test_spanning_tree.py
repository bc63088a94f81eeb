"""The heaviest spanning tree against all trees."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from sfumato.evidence.spanning_tree import spanning_tree


def test_no_tree_is_heavier() -> None:
    weights = np.random.default_rng(4).random((5, 5))
    weights += weights.T
    links = spanning_tree(range(5), lambda i, j: weights[i, j])
    assert [parent in {0, *(c for _, c in links[:i])} for i, (parent, _) in enumerate(links)] == [True] * 4
    heaviest = 0.0
    for some in combinations(combinations(range(5), 2), 4):
        reached, todo = {0}, list(some)
        while any(len(reached & set(link)) == 1 for link in todo):
            for link in todo:
                if len(reached & set(link)) == 1:
                    reached |= set(link)
        if len(reached) == 5:
            heaviest = max(heaviest, sum(weights[i, j] for i, j in some))
    assert sum(weights[i, j] for i, j in links) == heaviest


def test_a_single_node_has_no_links() -> None:
    assert spanning_tree(["a"], lambda one, other: 1.0) == []
