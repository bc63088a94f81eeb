"""The intervals of the top values hold together, where intervals for one value at a time do not."""

from __future__ import annotations

from benchmarks.top_values import held

from sfumato import channels as c

RUNS = 120
#: Six standard deviations below .95.
LEAST = 0.95 - 6 * (0.95 * 0.05 / RUNS) ** 0.5


def test_the_top_ten_of_many_even_values_hold_together() -> None:
    together, single, _ = held(c.symmetric(60, 0.4), 3000, "even", RUNS, 7)
    assert together > LEAST
    assert single < LEAST / 2  # the largest of many estimates are those that chance made too large
