"""What channels refuse: numbers that no weight tells apart, in one line."""

from __future__ import annotations

import pytest

from sfumato import channels as c
from sfumato.channels.base import from_dict
from sfumato.channels.response import is_identity
from sfumato.errors import ChannelError


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: c.symmetric(3, p=10**400), "p must be a finite number"),
        (lambda: c.symmetric(3, gamma=10**400), "gamma must be a finite number"),
        (lambda: c.matrix([[0.5, 0.5], [0.1, 0.9]], sizes=(-2, -1)), "sizes must be at least 1, got -2"),
        (
            lambda: from_dict({"kind": "matrix", "sizes": [-1], "outputs": [1], "weights": []}),
            "sizes must be at least 1, got -1",
        ),
        (lambda: c.uniform(10**400), "half_width must be a positive number"),
        (lambda: c.windows(100, gamma=1e307), r"gamma must be at most 1e\+100"),
        (lambda: c.subset(10, gamma=1e308), r"gamma must be at most 1e\+100"),
        (lambda: c.average(11, gamma=1e308), r"gamma must be at most 1e\+100"),
        (lambda: c.longitudinal(10, 1e200, 1e300), r"gamma must be at most 1e\+100"),
        (lambda: c.longitudinal(10, 3, 9.000000000000002), r"lifetime must exceed gamma\^2 = 9"),
        (lambda: c.longitudinal(1000, 1e90, 1e300, classes=251), r"must exceed gamma\^classes = inf"),
        (
            lambda: from_dict({"kind": "windows", "values": 100, "gamma": "1" + "0" * 390, "widths": [1]}),
            r"gamma must be at most 1e\+100",
        ),
    ],
)
def test_numbers_beyond_all_weights_are_one_line(call, says: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ChannelError, match=says):
        call()


@pytest.mark.parametrize(("k", "gamma"), [(6_000, 7_000.0), (10_000, 20_000.0), (16_384, 1e5)])
def test_subset_chooses_a_design_that_fits_under_any_bound(k: int, gamma: float) -> None:
    found = c.subset(k, gamma)
    assert found.k == k
    assert 1 < found.gamma <= gamma


def test_an_identity_of_many_values_is_one() -> None:
    assert is_identity(c.identity(5_000))
    assert is_identity(c.identity((70, 80)))
    assert not is_identity(c.symmetric(5_000, 0.1))
    assert is_identity(c.matrix([[1.0, 0.0], [0.0, 1.0]]))
