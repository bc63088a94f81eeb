"""Entries are run once, kept, and taken up again; what lacks data says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sfumato import datasets
from sfumato.errors import SfumatoError
from sfumato.papers import run as running
from sfumato.papers.figure import REPRODUCED, Figure, Found, claimed
from sfumato.papers.registry import selected
from sfumato.papers.run import result_of, run


def entry(name: str, calls: list[str], **more: Any) -> Figure:
    def measure(fast: bool) -> Found:
        calls.append(f"{name} {fast}")
        return Found((claimed("one", 1.0, True),), None, 3)

    return Figure(
        name, "Figure 1", "a title", "It is claimed.", measure, lambda figure, found: figure.subplots(), **more
    )


def go(wanted: list[Figure], folder: Path, fast: bool = True) -> tuple[list[Any], list[tuple[str, bool]]]:
    told: list[tuple[str, bool]] = []
    results = run(wanted, folder, fast, 1, lambda result, kept: told.append((result.id, kept)))
    return results, told


def test_what_is_finished_is_kept_and_not_run_again(tmp_path: Path) -> None:
    calls: list[str] = []
    wanted = [entry("aa01_a", calls), entry("aa01_b", calls, heavy=True)]
    first, told = go(wanted, tmp_path)
    assert calls == ["aa01_b True", "aa01_a True"]  # the heavy one begins
    assert [r.id for r in first] == ["aa01_a", "aa01_b"] and told == [("aa01_b", False), ("aa01_a", False)]
    (tmp_path / "aa01_b-fast.json").unlink()
    again, told = go(wanted, tmp_path)
    assert calls[2:] == ["aa01_b True"] and told == [("aa01_a", True), ("aa01_b", False)]
    assert again[0] == first[0] and again[0].verdict == REPRODUCED and "<svg" in again[0].picture
    go(wanted, tmp_path, fast=False)
    assert calls[3:] == ["aa01_b False", "aa01_a False"]


def test_what_other_sources_gave_or_was_cut_short_is_run_again(tmp_path: Path) -> None:
    calls: list[str] = []
    go([entry("aa01_a", calls)], tmp_path)
    path = tmp_path / "aa01_a-fast.json"
    whole = path.read_text()
    for broken in (whole[:100], "", "[1]", json.dumps({**json.loads(whole), "sources": "other"})):
        path.write_text(broken)
        go([entry("aa01_a", calls)], tmp_path)
    assert len(calls) == 5


def test_an_error_keeps_what_was_finished(tmp_path: Path) -> None:
    calls: list[str] = []

    def broken(fast: bool) -> Found:
        raise SfumatoError("no")

    bad = Figure("aa01_z", "Figure 2", "t", "It is claimed.", broken, lambda figure, found: None)
    with pytest.raises(SfumatoError):
        go([entry("aa01_a", calls), bad], tmp_path)
    go([entry("aa01_a", calls)], tmp_path)
    assert len(calls) == 1


def test_data_that_is_not_there_is_said_and_asked_for_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise SfumatoError(f"{name} is not bundled: set SFUMATO_DATA")

    calls: list[str] = []
    monkeypatch.setattr(datasets, "load", absent)
    (result,), _ = go([entry("tan07_a", calls, needs=("pima",))], tmp_path)
    assert result.missing == "pima is not bundled: set SFUMATO_DATA" and result.verdict == "" and not calls
    monkeypatch.setattr(datasets, "load", lambda name: None)
    (result,), _ = go([entry("tan07_a", calls, needs=("pima",))], tmp_path)
    assert not result.missing and len(calls) == 1


def test_processes_give_the_same_as_one(tmp_path: Path) -> None:
    wanted = selected(["ma06_table5_1", "aa01_fig1"])
    alone = run(wanted, tmp_path / "one", True, 1, lambda result, kept: None)
    both = run(wanted, tmp_path / "two", True, 2, lambda result, kept: None)
    assert [r.rows for r in alone] == [r.rows for r in both]


def test_a_picture_names_paper_and_figure() -> None:
    result = result_of(entry("ma06_x", []), True)
    assert "Ma06 Figure 1: a title" in result.picture and "The paper: It is claimed." in result.picture
    assert result.runs == 3
    assert running.source_digest() == running.source_digest()
