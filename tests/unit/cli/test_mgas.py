"""sfumato mgas: what it says of a table that has no rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.command_line import run


def test_a_table_without_rows_is_called_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("none.csv").write_text("hours,age\n", encoding="utf-8")
    ran = run("mgas none.csv --column hours")
    assert (ran.code, ran.out) == (1, "")
    assert "the table is empty: there is nothing to group" in ran.error
