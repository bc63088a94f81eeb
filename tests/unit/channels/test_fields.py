"""The fields of the geometries: what every field obeys, and that the field of four is one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sfumato.channels.fields import field, is_order

ORDERS = [2, 3, 4, 5, 7]
each = pytest.mark.parametrize("q", ORDERS)


def _sum(q: int, a: int, b: int) -> int:
    """a + b, as the element whose opposite is that of a + 1 b."""
    one = np.ones(1, dtype=np.uint64)
    opposite = field(q).opposite(field(q).add_product(one * np.uint64(a), one, one * np.uint64(b)))
    return int(field(q).opposite(opposite)[0])


@each
def test_sums_and_products_are_those_of_a_field(q: int) -> None:
    times = np.array([field(q).times(a) for a in range(q)])
    np.testing.assert_array_equal(times, times.T)
    for a in range(1, q):
        assert sorted(times[a]) == list(range(q))  # every element but 0 has an inverse
        assert sorted(_sum(q, a, b) for b in range(q)) == list(range(q))
    for a, b, c in itertools.product(range(q), repeat=3):
        assert times[a, times[b, c]] == times[times[a, b], c]
        assert times[a, _sum(q, b, c)] == _sum(q, times[a, b], times[a, c])
        assert _sum(q, a, _sum(q, b, c)) == _sum(q, _sum(q, a, b), c)


@each
def test_inner_products_vanish_where_their_sums_do(q: int) -> None:
    vectors = np.array(list(itertools.product(range(q), repeat=2)), dtype=np.int64)
    times = np.array([field(q).times(a) for a in range(q)])
    slow = [[_sum(q, times[a[0], b[0]], times[a[1], b[1]]) == 0 for b in vectors] for a in vectors]
    np.testing.assert_array_equal(field(q).vanishing(vectors, vectors), slow)


def test_the_field_of_four_is_not_arithmetic_modulo_four() -> None:
    assert field(4).times(2)[2] == 3
    assert _sum(4, 1, 1) == 0


def test_orders() -> None:
    assert [q for q in range(30) if is_order(q)] == [2, 3, 4, 5, 7, 11, 13, 17, 19, 23, 29]
