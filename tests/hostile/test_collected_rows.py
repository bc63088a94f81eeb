"""What can be downloaded from the collection server says nothing of who sent it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.service.export import _resampled
from sfumato.service.upload import Locks


def test_resampled_rows_of_all_sites_are_mixed(tmp_path: Path) -> None:
    """They stood site after site: the place of a row named the site that had drawn it."""
    files = []
    for site, values in enumerate((range(300), range(300, 600))):
        files.append(tmp_path / f"{site}.parquet")
        pq.write_table(pa.table({"x": [float(v) for v in values], "y": ["a"] * 300}), files[-1])
    _resampled(tmp_path / "all.parquet", files)
    found = pq.read_table(tmp_path / "all.parquet").column("x").to_numpy()
    assert sorted(found) == list(range(600))
    assert 90 < (found[:300] < 300).sum() < 210  # 150 and nine deviations
    assert np.abs(np.diff(found)).mean() > 100


def test_ids_that_nobody_uses_any_more_leave_nothing_behind() -> None:
    """A lock of every upload that was ever asked for stayed in memory."""
    locks = Locks()
    first = locks.of("study", "one")
    for i in range(100):
        with locks.of("study", str(i)):
            assert not locks.of("study", str(i)).acquire(blocking=False)
    assert len(locks) == 1 and locks.of("study", "one") is first
