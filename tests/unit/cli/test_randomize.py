"""sfumato randomize --ledger: a run that comes to nothing leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.command_line import run

import sfumato as sf


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    schema = sf.Schema({"sex": sf.Categorical(("F", "M"))})
    (tmp_path / "scheme.json").write_text(sf.Scheme.for_gamma(schema, gamma=3).to_json())
    (tmp_path / "good.csv").write_text("id,sex\na,F\nb,M\n")
    (tmp_path / "bad.csv").write_text("id,sex\na,F\nb,X\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


LINE = (
    "randomize {}.csv r.parquet --scheme scheme.json --id id --key-file own.key --ledger releases.sqlite --new-ledger"
)


@pytest.mark.parametrize("more", ["", " --same nonsense"])
def test_a_new_ledger_is_taken_away_where_nothing_came_of_it(more: str, here: Path) -> None:
    before = sorted(path.name for path in here.iterdir())
    ran = run(LINE.format("good" if more else "bad") + more)
    assert ran.code == 1 and sorted(path.name for path in here.iterdir()) == before, ran.error
    assert run(LINE.format("good")).code == 0, "the same command goes through once the rows are mended"


def test_a_ledger_that_is_there_stays(here: Path) -> None:
    assert run(LINE.format("good")).code == 0
    held = (here / "releases.sqlite").read_bytes()
    ran = run(LINE.format("good").replace("r.parquet", "again.parquet"))
    assert ran.code == 1 and "leave --new-ledger out" in ran.error
    ran = run(LINE.format("bad").replace("r.parquet", "again.parquet").replace(" --new-ledger", ""))
    assert ran.code == 1 and (here / "releases.sqlite").read_bytes() == held
