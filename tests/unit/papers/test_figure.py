"""Rows and verdicts: what counts as reproduced is computed from the numbers."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.papers.figure import (
    DIFFERS,
    LOST,
    MISPRINT,
    REPRODUCED,
    Row,
    beside,
    claimed,
    lost,
    misprint,
    printed,
    spread,
    verdict_of,
)


def test_a_printed_number_is_reproduced_within_two_deviations_of_the_difference() -> None:
    runs = np.array([9.0, 10.0, 11.0, 10.0])  # mean 10, sd .816, error .408
    row = printed("x", 11.5, runs, why="too far")
    assert (row.ours, row.verdict, row.why) == (10.0, REPRODUCED, "")
    assert row.error == pytest.approx(0.8165 / 2, abs=1e-4)
    far = printed("x", 12.5, runs, why="too far")
    assert (far.verdict, far.why) == (DIFFERS, "too far")
    assert printed("x", 11.5, runs, runs=100, why="w").verdict == DIFFERS  # a mean of a hundred is known better


def test_an_exact_number_must_agree_to_its_rounding() -> None:
    assert printed("x", 4.67, 14 / 3, within=0.005, runs=None).verdict == REPRODUCED
    assert printed("x", 4.68, 14 / 3, within=0.005, runs=None, why="no").verdict == DIFFERS


def test_claims_misprints_and_what_is_lost() -> None:
    assert claimed("x", [1.0, 3.0], True, "never said").why == ""
    assert claimed("x", [1.0, 3.0], False, "why").verdict == DIFFERS
    assert misprint("x", 9.0, 7.5, "column").ours == 7.5
    assert lost("x", "gone").ours is None and lost("x", "gone").verdict == LOST
    assert beside("x", 1.0).verdict == ""


def test_a_verdict_that_needs_a_reason_has_one() -> None:
    with pytest.raises(ValueError, match="why is not said"):
        Row("x", 1.0, 2.0, 0.0, DIFFERS)
    with pytest.raises(ValueError, match="verdict must be one of"):
        Row("x", 1.0, 2.0, 0.0, "fine")


def test_the_gravest_row_decides() -> None:
    assert verdict_of((lost("c", "gone"), beside("b", 1.0))) == LOST
    rows = [claimed("a", 1.0, True), beside("b", 1.0), lost("c", "gone")]
    assert verdict_of(tuple(rows)) == REPRODUCED
    rows.append(claimed("e", 1.0, False, "why"))
    assert verdict_of(tuple(rows)) == DIFFERS
    rows.append(misprint("d", 1.0, 2.0, "why"))
    assert verdict_of(tuple(rows)) == MISPRINT
    assert verdict_of(()) == ""


def test_one_run_has_no_spread() -> None:
    assert spread(3.0) == (3.0, 0.0, 0.0)
