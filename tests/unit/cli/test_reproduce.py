"""sfumato reproduce: it lists, runs, keeps, and writes the gallery."""

from __future__ import annotations

import json
from pathlib import Path

from tests.command_line import run


def test_one_entry_is_shown_and_written(tmp_path: Path) -> None:
    ran = run(f"reproduce ma06_table5_1 --fast --jobs 1 --out {tmp_path}/g")
    assert ran.code == 0
    assert "C: gamma" in ran.out and "7.5" in ran.out and "misprint" in ran.out
    page = (tmp_path / "g" / "index.html").read_text()
    assert "<svg" in page and "Ma06 table 5.1" in page and "<script" not in page
    assert (tmp_path / "g" / "summary.md").read_text().splitlines()[-1] == "| all | 0 | 0 | 1 | 0 | 0 |"
    assert (tmp_path / "g" / "kept" / "ma06_table5_1-fast.json").exists()


def test_machine_output_holds_every_row(tmp_path: Path) -> None:
    found = json.loads(run(f"reproduce aa01_example1 zhang04_example1 --fast --jobs 1 --json --out {tmp_path}").out)
    rows = {row["label"]: row for row in found["aa01_example1"]["rows"]}
    assert abs(rows["privacy loss P(X | Z)"]["ours"] - 0.6106) < 1e-4
    assert rows["privacy loss P(X | Z)"]["paper"] == 0.5796 and found["aa01_example1"]["verdict"] == "misprint"
    assert "picture" not in found["zhang04_example1"]


def test_many_entries_are_counted(tmp_path: Path) -> None:
    ran = run(f"reproduce aa01_fig1 aa01_fig7 ma06_table5_1 ma06_table2_1 --fast --jobs 1 --out {tmp_path}")
    assert "2 reproduced, 2 misprint" in ran.out
    assert "ma06_table5_1: misprint, " in ran.error  # what is done, while others still run
    again = run(f"reproduce aa01_fig1 aa01_fig7 ma06_table5_1 ma06_table2_1 --fast --jobs 1 --out {tmp_path}")
    assert "ma06_table5_1: misprint, kept" in again.error


def test_entries_are_listed() -> None:
    known = json.loads(run("reproduce --list --json").out)
    assert known["ma06_fig7_4"] == "Ma06 figure 7.4: frequent item sets of Mushroom" and len(known) > 55
    assert "zhang04_theorem2" in run("reproduce zhang04 --list").out
