"""sfumato reproduce: which entries there are, and that an experiment stands for its figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.command_line import run

from sfumato.papers import ma06_fig5_4, ma06_fig5_5


def test_an_experiment_reports_its_figures_under_its_own_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ma06_fig5_4, "report", lambda: "four")
    monkeypatch.setattr(ma06_fig5_5, "report", lambda: "five")
    assert json.loads(run("reproduce ma06_exp2 --json").out) == {"ma06_exp2": "four\n\nfive"}


def test_an_experiment_draws_its_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ma06_fig5_4, "draw", lambda path: path.write_text("four"))
    monkeypatch.setattr(ma06_fig5_5, "draw", lambda path: path.write_text("five"))
    assert run(f"reproduce ma06_exp2 --plot {tmp_path}").code == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == ["ma06_fig5_4.png", "ma06_fig5_5.png"]


def test_all_four_experiments_are_listed() -> None:
    assert {f"ma06_exp{number}" for number in (1, 2, 3, 4)} <= json.loads(run("reproduce --json").out).keys()
