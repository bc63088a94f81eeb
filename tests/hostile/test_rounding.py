"""What an attacker may hope for from numbers that are rounded at random: nothing beyond the channel over the points."""

from __future__ import annotations

import warnings
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import DisclosureWarning

POINTS = sf.Numeric(0, 10, points=6)
CHANNEL = c.average(6, 3)
SCHEME = sf.Scheme(sf.Schema({"x": POINTS}), {"x": CHANNEL})


def answers(values: np.ndarray, key: bytes, ids: list[str]) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisclosureWarning)
        release = sf.randomize({"x": values, "id": ids}, SCHEME, key=key, id="id", order="keep")
    return np.asarray(release.parts[0].rows.column("x"))


def test_no_number_between_the_points_is_told_apart_better_than_the_points_are() -> None:
    """In exact fractions: a rounded number's answers are a mixture of two rows, so that gamma holds for all numbers."""
    rows = [[int(weight) for weight in row] for row in CHANNEL.weights]
    mixed = [
        [(10 - share) * a + share * b for a, b in zip(low, high, strict=True)]
        for low, high in pairwise(rows)
        for share in range(11)
    ]
    worst = max(Fraction(max(column), min(column)) for column in zip(*mixed, strict=True))
    assert worst <= CHANNEL.exact_gamma <= 3


def test_a_changed_number_gives_neither_away() -> None:
    """A number moves a little, within its two points: were the rounding a function of the person alone, comparing both
    answers would tell on which side of the person's threshold each number lies."""
    n, key = 6000, sf.new_key()
    ids = [f"p{i}" for i in range(n)]
    before, after = answers(np.full(n, 2.4), key, ids), answers(np.full(n, 3.6), key, ids)
    joint = np.zeros((CHANNEL.m, CHANNEL.m))
    np.add.at(joint, (before, after), 1)
    expected = np.outer(joint.sum(axis=1), joint.sum(axis=0)) / n
    kept = expected > 5
    statistic = float(((joint - expected)[kept] ** 2 / expected[kept]).sum())
    freedom = int(kept.sum())
    assert statistic < freedom + 6 * np.sqrt(2 * freedom)
    again = answers(np.full(n, 2.4), key, ids)  # the negative control: the same number does repeat
    assert (before == again).all()


def test_asking_again_does_not_average_the_rounding_away() -> None:
    key, ids = sf.new_key(), [str(i) for i in range(50)]
    values = np.linspace(0, 10, 50)
    first = answers(values, key, ids)
    for _ in range(3):
        assert answers(values, key, ids).tolist() == first.tolist()


def test_the_ledger_tells_numbers_apart_that_round_to_the_same_point(tmp_path: Path) -> None:
    """Another number gets a fresh answer, and must be booked as one."""
    key, book = sf.new_key(), sf.Ledger(tmp_path / "ledger", new=True)

    def release(value: float) -> float:
        sf.randomize({"x": [value], "id": ["a"]}, SCHEME, key=key, id="id", ledger=book)
        return book.spent()["x"]

    first = release(2.0)
    assert release(2.0) == first
    with pytest.warns(DisclosureWarning, match="another value than when they were last asked"):
        assert release(2.2) > first  # its nearest point is the same
