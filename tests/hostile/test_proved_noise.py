"""What is proved of a release must also hold of noise that a computer draws, and of any declared range."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr
from tests.hostile.guard import refused

import sfumato as sf
from sfumato.owner.resample.proved import Guarantee, check_ranges
from sfumato.randomness import REACH, normals


class Zeros:
    """A source whose every bit is 0: the least number that can be drawn."""

    def fill(self, buffer) -> None:
        buffer[:] = 0


def test_normals_reach_as_far_as_the_proof_needs_them() -> None:
    """They ended at 8.6 deviations. Noise that ends tells two tables apart that lie more than that from each other."""
    farthest = float(np.abs(normals(Zeros(), 2)).max())
    assert farthest > REACH
    assert ndtr(-farthest) < 1e-32


@pytest.mark.parametrize(("epsilon", "delta"), [(100, 1e-4), (60, 1e-4), (1, 1e-300), (40, 1e-12)])
def test_nothing_is_proved_that_lies_beyond_the_reach_of_the_noise(epsilon: float, delta: float) -> None:
    """At epsilon 100 all but one in a hundred releases named the table they came from, where 1e-4 was promised."""
    assert "does not prove" in refused(lambda: Guarantee.of(epsilon, delta))


@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 1e-9), (1, 1e-4), (10, 1e-9), (30, 1e-6)])
def test_usual_budgets_are_proved(epsilon: float, delta: float) -> None:
    found = Guarantee.of(epsilon, delta)
    assert ndtr(found.mu - REACH) <= delta / 1000


@pytest.mark.parametrize("ranges", [(-1e308, 1e308), (0, 5e-324)])
def test_ranges_whose_width_is_no_number_are_refused(ranges: tuple[float, float]) -> None:
    assert "wide: rescale" in refused(lambda: check_ranges(ranges, ["a"]))
    table = np.arange(80.0).reshape(40, 2)
    assert "wide: rescale" in refused(lambda: sf.resample(table, [0, 1] * 20, epsilon=1, ranges=ranges))
