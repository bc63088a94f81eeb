"""Measures of accuracy: distances, odds ratios, half-widths, deterioration and DAPL."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

import sfumato as sf
from sfumato import channels as c
from sfumato.assess import accuracy
from sfumato.errors import EstimationError, SfumatoError


class TestDistances:
    def test_known_values(self):
        assert accuracy.kl([0.5, 0.5], [0.25, 0.75]) == pytest.approx(0.2075187, abs=1e-6)
        assert accuracy.kl([0.5, 0.5], [1.0, 0.0]) == math.inf
        assert accuracy.kl([1.0, 0.0], [0.5, 0.5]) == pytest.approx(1.0)
        assert accuracy.total_variation([0.2, 0.8], [0.5, 0.5]) == pytest.approx(0.3)
        assert accuracy.information_loss([0.2, 0.8], [0.5, 0.5]) == pytest.approx(0.3)
        assert accuracy.kolmogorov([0.5, 0.5, 0.0], [0.0, 0.5, 0.5]) == pytest.approx(0.5)
        assert accuracy.kolmogorov([0.5, 0.0, 0.5], [0.0, 1.0, 0.0]) == pytest.approx(0.5)

    def test_kuiper_adds_both_directions(self):
        assert accuracy.kuiper([0.5, 0.0, 0.5], [0.0, 1.0, 0.0]) == pytest.approx(1.0)
        assert accuracy.kuiper([0.5, 0.5, 0.0], [0.0, 0.5, 0.5]) == pytest.approx(0.5)  # all on one side
        turned = accuracy.kuiper([0.0, 0.5, 0.5], [1 / 3] * 3)
        assert turned == pytest.approx(
            accuracy.kuiper([0.5, 0.0, 0.5], [1 / 3] * 3)
        )  # where one begins does not matter
        assert accuracy.kolmogorov([0.0, 0.5, 0.5], [1 / 3] * 3) != pytest.approx(
            accuracy.kolmogorov([0.5, 0.0, 0.5], [1 / 3] * 3)
        )

    def test_anderson_darling_weighs_the_tails(self):
        assert accuracy.anderson_darling([0.6, 0.4], [0.5, 0.5]) == pytest.approx(0.5 * 0.01 / 0.25)
        flat = [0.1] * 10
        tail, middle = np.array(flat), np.array(flat)
        tail[:2] += (0.05, -0.05)
        middle[4:6] += (0.05, -0.05)
        assert accuracy.anderson_darling(tail, flat) > 2 * accuracy.anderson_darling(middle, flat)
        assert accuracy.anderson_darling([1.0, 0.0, 0.0], [1.0, 0.0, 0.0]) == 0

    def test_conditional_kl_weighs_the_parents(self):
        p, q = [[0.5, 0.5], [0.9, 0.1]], [[0.25, 0.75], [0.9, 0.1]]
        assert accuracy.conditional_kl(p, q) == pytest.approx(0.2075187 / 2, abs=1e-6)
        assert accuracy.conditional_kl(p, q, [1.0, 0.0]) == pytest.approx(0.2075187, abs=1e-6)
        assert accuracy.conditional_kl(p, q, [0.0, 1.0]) == 0

    @pytest.mark.parametrize(
        ("p", "q", "says"),
        [
            ([0.5, 0.4], [0.5, 0.5], "the first distribution must sum to 1, got 0.9"),
            ([0.5, 0.5], [0.2, 0.3, 0.5], "must have the same length, got 2 and 3"),
            ([1.5, -0.5], [0.5, 0.5], "the first distribution must hold probabilities"),
        ],
    )
    def test_bad_input(self, p, q, says):
        for measure in (
            accuracy.kl,
            accuracy.total_variation,
            accuracy.kolmogorov,
            accuracy.kuiper,
            accuracy.anderson_darling,
        ):
            with pytest.raises(SfumatoError, match=says):
                measure(p, q)

    def test_conditional_tables_must_match(self):
        with pytest.raises(SfumatoError, match="same shape"):
            accuracy.conditional_kl([[0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]])
        with pytest.raises(SfumatoError, match="weights must have 1 entries"):
            accuracy.conditional_kl([[0.5, 0.5]], [[0.5, 0.5]], [0.5, 0.5])


class TestHalfWidth:
    def test_unrandomized_is_the_textbook_interval(self):
        prior = np.array([0.2, 0.3, 0.5])
        expected = 1.959964 * np.sqrt(prior * (1 - prior) / 400)
        assert accuracy.half_width(c.identity(3), 400, prior) == pytest.approx(expected, abs=1e-6)

    def test_equals_the_evidence_of_a_release_of_that_size(self):
        rng = np.random.default_rng(2)
        schema = sf.Schema({"a": sf.Categorical(tuple("pqrs"))})
        channel = c.symmetric(4, 0.3)
        prior = np.array([0.4, 0.3, 0.2, 0.1])
        table = {"a": np.array(list("pqrs"))[rng.choice(4, 50_000, p=prior)]}
        release = sf.randomize(table, sf.Scheme(schema, {"a": channel}), rng=rng)
        sd = sf.evidence(release).counts("a").population().sd
        assert accuracy.half_width(channel, 50_000, prior) == pytest.approx(1.959964 * sd, rel=0.02)

    def test_running_shares_leave_out_the_last(self):
        assert accuracy.half_width(c.windows(10, 3), 1000, target="cdf").shape == (9,)

    def test_worst_is_at_least_that_of_even_shares(self):
        for channel in (c.symmetric(5, 0.3), c.subset(8, 3)):
            assert accuracy.worst_half_width(channel, 100) >= accuracy.half_width(channel, 100).max()

    @pytest.mark.parametrize("n", [0, -5, 2.5])
    def test_refuses_an_impossible_n(self, n):
        with pytest.raises(EstimationError, match="n must be a whole number of records, at least 1"):
            accuracy.half_width(c.identity(2), n)


class TestOddsRatio:
    def test_plain_counts(self):
        found = accuracy.odds_ratio([[30, 10], [20, 40]])
        assert found.value == 6
        assert found.log_sd == pytest.approx(math.sqrt(1 / 30 + 1 / 10 + 1 / 20 + 1 / 40))
        low, high = found.interval()
        assert low * high == pytest.approx(36)

    def test_randomizing_spreads_it(self):
        plain = accuracy.odds_ratio_spread(c.identity(2), c.identity(2), 10_000)
        randomized = accuracy.odds_ratio_spread(c.binary(0.4, 0.4), c.binary(0.4, 0.4), 10_000)
        assert plain.log_sd == pytest.approx(0.04, abs=1e-6)
        # (1 - 2p)^-2 for each of the two: 25 times
        assert randomized.log_sd == pytest.approx(1.0, abs=1e-6)

    def test_of_an_estimate(self):
        rng = np.random.default_rng(4)
        schema = sf.Schema({"a": sf.Categorical(("n", "y")), "b": sf.Categorical(("n", "y"))})
        scheme = sf.Scheme(schema, {"a": c.binary(0.2, 0.2), "b": c.binary(0.2, 0.2)})
        table = {name: np.array(["n", "y"])[rng.integers(0, 2, 40_000)] for name in "ab"}
        estimate = sf.evidence(sf.randomize(table, scheme, rng=rng)).counts(["a", "b"])
        found = accuracy.odds_ratio(estimate)
        expected = accuracy.odds_ratio_spread(c.binary(0.2, 0.2), c.binary(0.2, 0.2), 40_000)
        assert found.log_sd == pytest.approx(expected.log_sd, rel=0.05)
        assert abs(math.log(found.value)) < 5 * found.log_sd

    def test_bad_tables(self):
        with pytest.raises(EstimationError, match="four positive counts"):
            accuracy.odds_ratio([[3, 0], [1, 2]])
        with pytest.raises(EstimationError, match="2 x 2 counts, got 6 entries"):
            accuracy.odds_ratio(np.ones((2, 3)))
        with pytest.raises(EstimationError, match="two-valued attributes"):
            accuracy.odds_ratio_spread(c.symmetric(3, 0.1), c.binary(0.1, 0.1), 10)


class TestResampling:
    def test_deterioration_and_its_error(self):
        truth = np.zeros(1000, dtype=int)
        original, randomized = truth.copy(), truth.copy()
        original[:50] = 1
        randomized[25:100] = 1
        found = accuracy.deterioration(truth, original, randomized)
        assert found.phi == pytest.approx(0.025)
        assert (found.original, found.randomized) == (0.05, 0.075)
        difference = (randomized != 0).astype(float) - (original != 0)
        assert found.se == pytest.approx(difference.std(ddof=1) / math.sqrt(1000))
        with pytest.raises(EstimationError, match="same length"):
            accuracy.deterioration([0, 1], [0], [0, 1])

    def test_bandwidth_of_equation_16(self):
        assert accuracy.scott_bandwidth(576, 8) == pytest.approx(0.5455, abs=5e-5)
        assert accuracy.scott_bandwidth(263, 34) == pytest.approx(0.8151, abs=5e-5)

    @pytest.mark.parametrize(("sites", "printed"), [(1, 0.039), (4, 0.070), (20, 0.127)])
    def test_dapl_of_the_normal(self, sites, printed):
        found = accuracy.dapl(scipy.stats.norm(), 1000, sites, points=121)
        assert found == pytest.approx(printed, abs=2.5e-3)  # the reference values are simulations of a few seeds

    def test_dapl_lower_bound_is_below_the_exact_value(self):
        rng = np.random.default_rng(1)
        low = [accuracy.dapl_lower(rng.normal(size=(50, 1)), rng.normal(size=(2000, 1))) for _ in range(5)]
        assert max(low) <= accuracy.dapl(scipy.stats.norm(), 50, points=121)
        high = accuracy.dapl_lower(rng.normal(size=(50, 12)), rng.normal(size=(500, 12)))
        assert high > 0.5  # in many dimensions it is large whatever is disclosed

    def test_bad_settings(self):
        with pytest.raises(EstimationError, match="every site needs at least 2 records"):
            accuracy.dapl(scipy.stats.norm(), 10, 9)
        with pytest.raises(EstimationError, match="bandwidth must be positive"):
            accuracy.dapl(scipy.stats.norm(), 10, 1, bandwidth=-1.0)


def test_shares_that_are_almost_zero_can_be_planned_with():
    """As an estimate by mle leaves them: of a release, the report draws the precision of unrandomized records too."""
    prior = np.array([0.6, 0.4, 1e-13, 1e-15])
    prior /= prior.sum()
    exact = accuracy.half_width(c.identity(4), 100, prior)
    assert exact == pytest.approx(1.959964 * np.sqrt(prior * (1 - prior) / 100), rel=1e-5)
    zeros = accuracy.half_width(c.symmetric(4, 0.5), 100, np.array([0.6, 0.4, 0, 0]))
    assert accuracy.half_width(c.symmetric(4, 0.5), 100, prior) == pytest.approx(zeros)
    with pytest.raises(EstimationError, match="cannot be estimated"):
        accuracy.half_width([[0.5, 0.5], [0.5, 0.5]], 100, [1 - 1e-13, 1e-13])
