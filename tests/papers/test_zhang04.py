"""Zhang04: the example, the bound with three distances, and Theorem 2."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from sfumato.assess.effective import effective_sample_bound, effective_sample_size
from sfumato.papers.zhang04 import bound, example1, intrusion
from sfumato.papers.zhang04.operators import OPERATORS


def test_example_1() -> None:
    rows = {row.label: row for row in example1.measure(True).rows}
    assert rows["R2: Pr(the best guess is right)"].ours == pytest.approx(0.505)
    assert rows["I(x; R1), bits"].ours == pytest.approx(0.118709, abs=1e-6)
    assert rows["I(x; R2), bits"].ours == pytest.approx(0.005018, abs=1e-6)
    assert rows["loss / benefit at which both protect equally"].ours == pytest.approx(2.31667, abs=1e-5)
    assert rows["investment: l_p(R2), who sees a 1 intrudes"].ours == pytest.approx(-0.005)
    assert {row.verdict for row in rows.values()} == {"reproduced", "misprint", ""}


def test_the_example_runs_and_checks_itself(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(Path(__file__).parents[2] / "examples" / "zhang04_game.py"))
    assert "equal at loss / benefit = 2.31667" in capsys.readouterr().out


@pytest.mark.parametrize("distance", bound.DISTANCES)
def test_no_operator_exceeds_the_bound_by_any_distance(distance: str) -> None:
    for name in bound.FOOTNOTE_OPERATORS:
        channel = OPERATORS[name]
        found = bound.simulated(channel, 60, distance)
        assert found.value <= effective_sample_bound(channel) + 4.5 * found.se, name
        assert found.value == pytest.approx(effective_sample_size(channel, target="cdf"), abs=6 * found.se + 0.03)


def test_only_erasure_meets_the_bound() -> None:
    tight = {
        name: effective_sample_size(ch, target="cdf") / effective_sample_bound(ch) for name, ch in OPERATORS.items()
    }
    assert {name for name, ratio in tight.items() if ratio > 0.99} == {"erasure, keep .4", "erasure of 6, keep .4"}


def test_theorem_2_holds_and_is_exact_for_warner() -> None:
    found = [intrusion.trial(seed) for seed in range(300)]
    met = np.array([value for holds, value in found if holds])
    assert len(met) > 100 and (met == 0).all()
    assert min(value for holds, value in found if not holds) < 0  # the control: without (4) intrusion may pay
    for sigma in intrusion.SIGMAS:
        below, above = intrusion.edge(sigma)
        assert below == 0 > above
