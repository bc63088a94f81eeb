"""Releases of which some have ids: estimates need none, and a file of all of them can do without."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.command_line import run

import sfumato as sf
from sfumato.errors import ReleaseError

SCHEME = sf.Scheme.for_gamma(sf.Schema({"sky": sf.Categorical(("Clear", "Overcast"))}), 9)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    table = {"event": [f"E{i}" for i in range(80)], "sky": ["Clear", "Overcast"] * 40}
    sf.randomize(table, SCHEME, id="event", rng=0).save(tmp_path / "ids.parquet")
    sf.randomize(table, SCHEME, rng=1).save(tmp_path / "none.parquet")
    return tmp_path


def test_estimates_of_several_releases_need_no_ids(folder: Path) -> None:
    found = run(f"estimate {folder}/ids.parquet {folder}/none.parquet --columns sky")
    assert found.code == 0 and "160" in found.out


def test_what_is_put_together_may_leave_the_ids_out(folder: Path) -> None:
    call = f"concat {folder}/ids.parquet {folder}/none.parquet {folder}/all.parquet"
    refused = run(call)
    assert refused.code == 1 and "leave them out with --no-ids" in refused.error
    assert run(call + " --no-ids").code == 0
    assert len(release := sf.Release.load(folder / "all.parquet")) == 160 and release.id is None
    assert "event" not in pq.read_schema(folder / "all.parquet").names


def test_ids_are_not_left_out_unasked(folder: Path) -> None:
    releases = [sf.Release.load(folder / name) for name in ("ids.parquet", "none.parquet")]
    with pytest.raises(ReleaseError, match="different id columns"):
        sf.Release.concat(releases)
    assert sf.Release.concat(releases[:1] * 2).id == "event"
