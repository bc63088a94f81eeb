"""What one person gives away among others."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom
from tests.hostile.guard import guarded

import sfumato as sf
from sfumato.assess import shuffling
from sfumato.errors import ChannelError


def test_the_published_setting() -> None:
    found = sf.privacy.shuffled(4, 100_000, 1e-6)
    assert 0.1675 < found.low <= found.high < 0.1728
    assert found.high - found.low < 1e-6


def brute_force(epsilon: float, alone: float, n: int) -> float:
    """The hockey-stick divergence of the two clouds, from the definition."""
    chance, right = math.exp(-alone), math.exp(alone) / (math.exp(alone) + 1)
    one: dict[tuple[int, int], float] = {}
    other: dict[tuple[int, int], float] = {}
    for c in range(n):
        for a, d in product(range(c + 1), (0, 1)):
            p = binom.pmf(c, n - 1, chance) * binom.pmf(a, c, 0.5)
            own = right if d else 1 - right
            for cloud, place in ((one, (a + d, c - a + 1 - d)), (other, (a + 1 - d, c - a + d))):
                cloud[place] = cloud.get(place, 0.0) + p * own
    return sum(max(one.get(s, 0.0) - math.exp(epsilon) * other.get(s, 0.0), 0.0) for s in {*one, *other})


@pytest.mark.parametrize(("alone", "n", "delta"), [(1.0, 30, 1e-2), (2.0, 40, 5e-3), (0.3, 12, 1e-3), (3.0, 60, 2e-2)])
def test_it_is_the_divergence_of_the_definition(alone: float, n: int, delta: float) -> None:
    found = sf.privacy.shuffled(alone, n, delta)
    assert brute_force(found.high, alone, n) <= delta * (1 + 1e-9)
    assert brute_force(found.low, alone, n) >= delta * (1 - 1e-9)
    assert brute_force(0.9 * found.low, alone, n) > delta  # the control: a smaller epsilon would be a lie


def test_more_people_and_a_larger_delta_hide_better_and_nobody_hides_alone() -> None:
    highs = [sf.privacy.shuffled(2, n, 1e-6).high for n in (1, 1_000, 10_000, 100_000, 10_000_000)]
    assert highs[0] == pytest.approx(2, abs=1e-4) and all(np.diff(highs) < 0)
    assert sf.privacy.shuffled(2, 10_000, 1e-3).high < sf.privacy.shuffled(2, 10_000, 1e-9).high


@pytest.mark.parametrize(
    ("arguments", "says"),
    [((0, 10), "epsilon must be"), ((math.inf, 10), "epsilon must be"), ((1, 0), "n must be"), ((1, 2.5), "n must be"),
     ((1, 10, 0), "delta must lie"), ((1, 10, 1), "delta must lie"), (("a", 10), "epsilon must be"),
     ((1, 10, "a"), "delta must lie"), ((1, 10**18), "n must be")],
)  # fmt: skip
def test_bad_arguments_are_one_line(arguments: tuple, says: str) -> None:
    with pytest.raises(ChannelError, match=says):
        sf.privacy.shuffled(*arguments)


def test_stretches_of_clones_bound_what_every_number_of_them_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = sf.privacy.shuffled(1, 200_000, 1e-6)
    monkeypatch.setattr(shuffling, "_MOST_STRETCHES", 100)
    found = sf.privacy.shuffled(1, 200_000, 1e-6)
    assert found.low <= exact.low <= exact.high <= found.high < 1.05 * exact.high


def test_as_many_people_as_there_are_take_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffling, "_MOST_STRETCHES", 1 << 10)
    with guarded():
        found = sf.privacy.shuffled(1, 10**10)
    assert 0 < found.low <= found.high < 1e-4


@pytest.mark.parametrize("alone", [36.0, 44.0, 700.0, 5000.0])
def test_few_hide_nobody_whose_answer_is_all_but_clear(alone: float) -> None:
    # Without a clone, D alone is seen: delta = (e^alone - e^epsilon) / (e^alone + 1), to be solved for epsilon.
    found = sf.privacy.shuffled(alone, 1000, 1e-6)
    assert alone - 2e-6 < found.low <= found.high <= alone
