"""Evasive answers: what two groups tell, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import sfumato as sf
from sfumato import channels as c
from sfumato.assess.evasive import evasive
from sfumato.errors import SfumatoError

DEVICES = [c.unrelated(0.7, 0.5), c.unrelated(0.5, 0.7)]


def expected(share, cheating, channels=DEVICES, n=10_000, safe=0):
    """Expected counts, a row per group."""
    told = [(1 - cheating) * (np.array([1 - share, share]) @ one.matrix) for one in channels]
    for one in told:
        one[safe] += cheating
    return n * np.array(told)


@pytest.mark.parametrize("safe", [0, 1])
@pytest.mark.parametrize("channels", [DEVICES, [c.crosswise(0.2), c.crosswise(0.35)]], ids=["unrelated", "crosswise"])
def test_expected_counts_give_back_what_they_were_made_from(channels, safe):
    found = evasive(expected(0.2, 0.1, channels, safe=safe), channels, safe=safe)
    assert found.share == pytest.approx(0.2) and found.cheating == pytest.approx(0.1)
    for (low, high), value, sd in zip(
        (found.share_interval, found.cheating_interval), (0.2, 0.1), np.sqrt(np.diag(found.cov)), strict=True
    ):
        assert low < value < high and (high - low) / (2 * 1.96 * sd) < 1.15
        assert safe == 1 or (high - low) / (2 * 1.96 * sd) > 0.85  # a weak device reaches the edge of what is possible
    assert found.everybody == pytest.approx((0.18, 0.28)) and "evasive: 0.100" in str(found)


def test_three_groups_agree_with_a_general_optimiser():
    channels = [*DEVICES, c.crosswise(0.3)]
    table = np.random.default_rng(3).binomial(3000, expected(0.3, 0.15, channels, 1)[:, 1])
    counts = np.column_stack([3000 - table, table])
    found = evasive(counts, channels)

    def loss(point):
        q = expected(*point, channels, 1)
        return -float((counts * np.log(q)).sum())

    best = minimize(loss, [0.3, 0.1], bounds=[(1e-6, 1 - 1e-6)] * 2, method="L-BFGS-B", options={"ftol": 1e-15})
    assert (found.share, found.cheating) == pytest.approx(tuple(best.x), abs=1e-3)


def test_more_yes_than_the_devices_allow_is_no_evasion():
    found = evasive([[100, 900], [100, 900]], DEVICES)
    assert 0 <= found.share <= 1 and found.cheating == pytest.approx(0) and found.cheating_interval[0] == 0


def test_a_release_of_two_groups_is_taken():
    schema = sf.Schema({"theft": sf.Categorical(("no", "yes"))})
    table = {"theft": ["no", "yes", "no", "no"] * 1000}
    parts = [sf.randomize(table, sf.Scheme(schema, {"theft": one}), rng=i) for i, one in enumerate(DEVICES)]
    found = evasive(sf.Release.concat(parts), attribute="theft")
    assert found.share_interval[0] < 0.25 < found.share_interval[1] and found.cheating_interval[0] < 0.02


@pytest.mark.parametrize(
    ("counts", "channels", "more", "words"),
    [
        ([[1, 2]], DEVICES[:1], {}, "two groups"),
        ([[1, 2], [3, 4]], [DEVICES[0]] * 2, {}, "same device"),
        ([[1, 2], [3, 4]], None, {}, "channel of each group"),
        ([[1, 2], [3, 4]], [c.symmetric(3, 0.2)] * 2, {}, "two values"),
        ([[1, 2, 3], [3, 4, 5]], DEVICES, {}, "two numbers for each"),
        ([[1, 2], [0, 0]], DEVICES, {}, "every group needs answers"),
        ([["a", "b"], ["c", "d"]], DEVICES, {}, "must be numbers"),
        ([[1, 2], [3, 4]], DEVICES, {"safe": 2}, "safe must be"),
        ([[1, 2], [3, 4]], DEVICES, {"level": 95}, "level must lie"),
    ],
)
def test_what_tells_nothing_is_refused(counts, channels, more, words):
    with pytest.raises(SfumatoError, match=words):
        evasive(counts, channels, **more)
