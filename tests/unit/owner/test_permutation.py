"""A random order of rows: every order equally likely, by either way, and the same one again for experiments."""

from __future__ import annotations

from collections import Counter
from math import factorial

import numpy as np
import pytest
from scipy import stats

from sfumato.owner import permutation
from sfumato.owner.permutation import random_order, shuffled
from sfumato.randomness import SecureSource, experiment


@pytest.fixture(params=[True, False], ids=["Fisher and Yates", "sorted"])
def compiled(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    if not request.param:
        monkeypatch.setattr(permutation, "_compiled", lambda: None)
    else:
        assert permutation._compiled() is not None
    return bool(request.param)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("n", [0, 1, 2, 3, 1000, 70_000])
def test_every_row_is_there_once(n: int) -> None:
    order = random_order(n, SecureSource(), more=True)
    assert order.dtype == np.int64
    np.testing.assert_array_equal(np.sort(order), np.arange(n))


@pytest.mark.usefixtures("compiled")
def test_every_order_is_equally_likely() -> None:
    source = SecureSource()
    seen = Counter(tuple(random_order(4, source, more=True)) for _ in range(24_000))
    assert len(seen) == factorial(4)
    assert stats.chisquare(list(seen.values())).pvalue > 1e-6


@pytest.mark.usefixtures("compiled")
def test_values_that_repeat_come_in_every_arrangement_equally_often() -> None:
    source, values = SecureSource(), np.array([7, 7, 8, 9], dtype=np.uint16)
    seen = Counter(tuple(shuffled(values, source, more=True)) for _ in range(12_000))
    assert len(seen) == 12
    assert stats.chisquare(list(seen.values())).pvalue > 1e-6
    assert values.tolist() == [7, 7, 8, 9]


def test_a_shuffle_that_swaps_with_any_row_would_be_noticed() -> None:
    """The control: the well-known mistake, each place swapped with a row from the whole list."""
    rng, seen = np.random.default_rng(0), Counter[tuple[int, ...]]()
    for _ in range(24_000):
        order = list(range(4))
        for i, j in enumerate(rng.integers(0, 4, 4)):
            order[i], order[j] = order[j], order[i]
        seen[tuple(order)] += 1
    assert stats.chisquare(list(seen.values())).pvalue < 1e-6


def test_draws_that_would_favour_some_rows_are_refused() -> None:
    """Of 2^32 words, 2^32 mod 3 = 1 is too many for three rows: the word 0."""
    shuffle = permutation._compiled()
    assert shuffle is not None
    order = np.arange(3)
    assert shuffle(order, np.zeros(50, dtype=np.uint32), 2) == 2
    np.testing.assert_array_equal(order, np.arange(3))
    assert shuffle(order, np.array([0, 1, 1 << 31], dtype=np.uint32), 2) == 0
    np.testing.assert_array_equal(order, [2, 1, 0])


@pytest.mark.usefixtures("compiled")
def test_an_experiment_repeats_with_and_without_numba() -> None:
    first = random_order(3000, experiment(5), more=True)
    np.testing.assert_array_equal(first, random_order(3000, experiment(5)))
    assert first[:4].tolist() == [204, 1898, 88, 2178]
