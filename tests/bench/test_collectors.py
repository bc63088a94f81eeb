"""Any number of collectors and one reducer: whatever fails, every report is counted once."""

from __future__ import annotations

import pytest
from benchmarks.collectors import Faults, shard, simulate


@pytest.mark.parametrize("seed", range(4))
def test_merged_counts_are_exact_under_every_fault(seed: int) -> None:
    faults = Faults(request=0.2, answer=0.3, message=0.5, doubled=0.5, crash=0.02)
    truth, found, seen = simulate(3_000, 12, faults, seed)
    assert found == truth
    assert all(seen[what] > 20 for what in ("requests lost", "answers lost", "messages lost", "crashes"))


def test_retries_that_go_to_any_collector_are_counted_twice() -> None:
    truth, found, _ = simulate(3_000, 12, Faults(answer=0.3), 1, sharded=False)
    assert sum((found - truth).values()) > 100


def test_reports_are_spread_evenly_and_always_to_the_same_collector() -> None:
    places = [shard(report, 10) for report in range(10_000)]
    assert places == [shard(report, 10) for report in range(10_000)]
    assert min(places.count(number) for number in range(10)) > 900
