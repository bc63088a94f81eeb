"""Intervals hold the truth in every cell from fifty records on, where score and Wald intervals do not."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.interval_coverage import Setting, draw, settings, study, truths
from scipy.special import ndtri

HARD = {setting.name: setting for setting in settings()}
RUNS = 3000
#: Six standard deviations below the nominal level, with 3000 runs and the .943 that an exact test may come down to.
LEAST = 0.943 - 6 * (0.943 * 0.057 / RUNS) ** 0.5


def old(setting: Setting, n: int, kind: str) -> float:
    """The worst coverage of the Wald or the score interval, cut at 0 and N, on the same tables."""
    z2 = float(ndtri(0.975)) ** 2
    worst = 1.0
    for tables in truths(setting, n, np.random.default_rng([0, n, False])):
        (shown,), (true,) = setting.views, tables
        observed = draw(shown, true, RUNS, False, np.random.default_rng(1))
        piece = shown.holding(observed)
        truth = piece.placed(shown.summed(true.astype(float)))[:, None]
        centre = piece.centre
        variance = np.maximum(piece.spread - centre, 0.0)
        if kind == "wald":
            low, high = (centre + sign * np.sqrt(z2 * variance) for sign in (-1, 1))
        else:
            own = piece.placed(shown.own(2))[:, None]
            others = np.maximum(piece.spread - own * centre, 0.0) / np.maximum(n - centre, 1.0)
            slope = own - others - 1
            middle = centre + z2 * slope / 2
            root = np.sqrt(np.maximum(middle**2 - centre**2 + z2 * (variance - slope * centre), 0.0))
            low, high = middle - root, middle + root
        hit = (np.clip(low, 0, n) <= truth + 1e-9) & (truth <= np.clip(high, 0, n) + 1e-9)
        worst = min(worst, float(hit.mean(axis=1).min()))
    return worst


@pytest.mark.parametrize(
    "name",
    [
        "symmetric(2, .45) *",
        "symmetric(20, .02)",
        "matrix, weak *",
        "invariant(symmetric(5, .5)) *",
        "blocks, three",
        "windows(6, 15)",
        "summed out x windows",
        "two parts, symmetric(4, .12 and .45)",
    ],
)
@pytest.mark.parametrize("population", [False, True])
def test_every_cell_is_covered_at_fifty_records(name: str, population: bool) -> None:
    (found,) = study(HARD[name], 50, RUNS, "moment", population, (0.95,), 0)
    assert found.worst > LEAST
    assert found.mean > 0.945


@pytest.mark.parametrize("population", [False, True])
def test_an_empty_cell_beside_noisier_ones_is_covered(population: bool) -> None:
    """It covered .916: whoever is not in it may be where records tell much less of it."""
    (found,) = study(HARD["binary x binary *"], 50, 20_000, "moment", population, (0.95,), 0)
    assert found.worst > 0.93 - 5 * (0.93 * 0.07 / 20_000) ** 0.5


def test_maximum_likelihood_beside_structural_zeros_is_covered() -> None:
    """It covered .59."""
    (found,) = study(HARD["structural zeros x windows"], 60, 600, "mle", False, (0.95,), 0)
    assert found.worst > 0.943 - 6 * (0.943 * 0.057 / 600) ** 0.5 and found.mean > 0.94


@pytest.mark.parametrize(("kind", "name"), [("wald", "symmetric(20, .02)"), ("score", "matrix, weak *")])
def test_the_old_intervals_fail_where_these_hold(kind: str, name: str) -> None:
    """Negative control."""
    assert old(HARD[name], 50, kind) < 0.9 < LEAST


@pytest.mark.parametrize("name", ["symmetric(2, .45) *", "matrix, 4 x 6", "two parts, subset and windows"])
def test_shares_by_maximum_likelihood_are_covered_too(name: str) -> None:
    """Fewer runs, because every replicate has weights of its own; six standard deviations again."""
    (found,) = study(HARD[name], 50, 400, "mle", True, (0.95,), 0)
    assert found.worst > 0.943 - 6 * (0.943 * 0.057 / 400) ** 0.5
    assert found.mean > 0.93
