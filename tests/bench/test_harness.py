"""The benchmark frame takes turns, compares medians, and measures memory in a clean process."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks import harness  # noqa: E402
from benchmarks.harness import Case, Result  # noqa: E402


class Clock:
    """A clock that only the measured actions move."""

    def __init__(self) -> None:
        self.now, self.calls = 0.0, list[str]()

    def action(self, name: str, *seconds: float) -> Callable[[], None]:
        """An action that takes the given seconds, call after call, the last for ever."""
        left = list(seconds)

        def act() -> None:
            self.calls.append(name)
            self.now += left.pop(0) if len(left) > 1 else left[0]

        return act


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(harness.time, "perf_counter", lambda: made.now)
    return made


def test_sides_take_turns_after_one_warm_up(clock: Clock) -> None:
    case = Case("x", clock.action("ours", 1), 1, clock.action("reference", 1), repeat=4)
    harness.measure("b", case)
    turns = ["ours", "reference", "reference", "ours"]
    assert clock.calls == ["ours", "reference", *turns, *turns]


def test_ratio_is_that_of_the_medians_and_ignores_the_warm_up(clock: Clock) -> None:
    ours, reference = clock.action("ours", 500, 3, 3, 90, 3, 3), clock.action("reference", 500, 2)
    result = harness.measure("b", Case("x", ours, 1.6, reference))
    assert (result.ours, result.reference, result.ratio, result.met) == (3, 2, 1.5, True)
    assert not harness.measure("b", Case("x", clock.action("ours", 3), 1.4, clock.action("reference", 2))).met


def test_without_a_reference_the_goal_is_in_seconds(clock: Clock) -> None:
    result = harness.measure("b", Case("x", clock.action("ours", 3), goal=4))
    assert result.ratio is None and result.met
    assert not harness.measure("b", Case("x", clock.action("ours", 3), goal=2)).met


def test_a_single_repetition_has_no_warm_up(clock: Clock) -> None:
    assert harness.measure("b", Case("x", clock.action("ours", 7, 1), 9, repeat=1)).ours == 7
    assert clock.calls == ["ours"]


def test_too_much_memory_misses_the_goal() -> None:
    assert Result("b", "x", "", 1, 1, 2, peak=90, peak_goal=100).met
    assert not Result("b", "x", "", 1, 1, 2, peak=110, peak_goal=100).met


def test_benchmarks_are_found_by_module_and_by_function() -> None:
    known = harness.discover()
    assert {"discretize.line", "discretize.space"} <= set(known)
    assert {"discretize.line", "discretize.space"} <= set(harness.choose(["discretize"], known))
    assert list(harness.choose(["discretize.line"], known)) == ["discretize.line"]
    assert harness.choose([], known) == known


def test_peak_memory_is_the_childs_own() -> None:
    held = np.ones(50_000_000)  # 400 MB here must not show there
    child = harness._in_fresh_process("discretize.space", "mgas of 10^4 points")
    assert harness.peak_memory() > 400 > 300 > child > 20
    assert held[0] == 1


def test_a_case_that_is_gone_is_said() -> None:
    with pytest.raises(LookupError, match="no case called 'gone'"):
        harness._run_for_peak("discretize.space", "gone")


@pytest.fixture
def only_one(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    def cases() -> Iterator[Case]:
        yield Case("quick", clock.action("o", 0.002), 0.5, clock.action("r", 0.001), against="plain")
        yield Case("alone", clock.action("o", 2e-5), 1)

    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(harness, "discover", lambda: {"demo.cases": cases})


@pytest.mark.usefixtures("only_one")
def test_json_carries_ratio_and_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert harness.main(["--json"]) == 0
    quick, alone = json.loads(capsys.readouterr().out)
    assert quick["ratio"] == pytest.approx(2) and quick["met"] is False and quick["goal"] == 0.5
    assert alone["ratio"] is None and alone["met"] is True and alone["benchmark"] == "demo.cases"


@pytest.mark.usefixtures("only_one")
def test_every_result_fits_80_columns(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert harness.main(["demo"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "quick"
    assert shown[1] == "  2 ms · plain 1 ms · ratio 2, goal 0.5 · missed"
    assert shown[2:4] == ["alone", "  20 µs · goal 1 s · met"]


@pytest.mark.usefixtures("only_one")
def test_what_is_a_fifth_slower_than_stored_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(harness, "STORED", tmp_path / "ratios.json")
    assert harness.main(["--store"]) == 0
    assert json.loads(harness.STORED.read_text()) == {"demo.cases: quick": pytest.approx(2)}
    assert harness.main(["--compare"]) == 0
    assert "more than a fifth slower than stored: 0 of 2" in capsys.readouterr().out
    harness.STORED.write_text(json.dumps({"demo.cases: quick": 1.6}))
    assert harness.main(["--compare"]) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "more than a fifth slower than stored: 1 of 2",
        "demo.cases: quick: ratio 2, stored 1.6",
    ]


@pytest.mark.usefixtures("only_one")
def test_list_and_unknown_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert harness.main(["--list"]) == 0
    assert capsys.readouterr().out == "demo.cases\n"
    assert harness.main(["nope"]) == 2
    assert capsys.readouterr().err == "no benchmark is called 'nope': known are demo.cases\n"
