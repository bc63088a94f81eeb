"""Edges as one would write them."""

from __future__ import annotations

import numpy as np

import sfumato as sf
from sfumato.domains.edges import evenly


def test_edges_are_the_decimals_that_were_meant():
    domain = sf.Numeric(0, 4, bins=20)
    assert domain.edges[3] == 0.6 and domain.edges[6] == 1.2
    assert "0000001" not in repr(domain)
    assert domain.encode([0.6, 1.2, 2.4]).tolist() == [3, 6, 12]  # as the labels "[0.6, 0.8)" say


def test_what_one_reads_back_is_written_the_same():
    assert sf.Numeric(0, 2, points=11).decode([3]).to_pylist() == [0.6]
    assert sf.Numeric(0, 1.2, bins=3).decode([0, 1, 2]).to_pylist() == [0.2, 0.6, 1.0]


def test_edges_that_are_no_short_decimals_stay():
    for low, high, count in ((0.0, 1.0, 4), (1e9, 1e9 + 1e-4, 5), (-3e-300, 7e-300, 8), (0.0, 3e20, 7)):
        np.testing.assert_array_equal(evenly(low, high, count), np.linspace(low, high, count))
