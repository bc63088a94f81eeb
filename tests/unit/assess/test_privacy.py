"""Measures of privacy against the reference values, and one clear line for every bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sfumato as sf
from sfumato import channels as c
from sfumato.assess import accuracy, privacy
from sfumato.errors import ChannelError, EstimationError, SfumatoError

SCHEMA = sf.Schema({"a": sf.Categorical(("x", "y")), "b": sf.Categorical(("p", "q", "r"))})
SCHEME = sf.Scheme(SCHEMA, {"a": c.binary(0.25, 0.25), "b": c.symmetric(3, gamma=2)})


def near(value, tolerance=1e-6):
    return pytest.approx(value, abs=tolerance)


class TestGamma:
    def test_is_a_column_ratio(self):
        # Ma06 Table 5.1 prints 9 for these channels, the row ratio
        assert privacy.gamma([[0.9, 0.1], [0.25, 0.75]]) == 7.5

    def test_of_named_channels(self):
        assert privacy.gamma(c.symmetric((2, 2, 2), 0.3)) == near(16.333333)
        independent = c.product([c.symmetric((2, 2, 2), 0.3).marginal([0])] * 3)
        assert privacy.gamma(independent) == pytest.approx(112.912, abs=5e-4)
        assert privacy.gamma(c.blocks([c.symmetric(3, 0.3)] * 2)) == math.inf

    def test_of_an_attribute_and_of_the_whole_record(self):
        assert privacy.gamma(SCHEME, "b") == near(2.0)
        assert privacy.gamma(SCHEME) == near(6.0)
        assert privacy.epsilon(SCHEME, "a") == near(math.log(3))

    def test_by_output(self):
        P = [[0.5, 0.5, 0.0, 0.0], [0.25, 0.5, 0.25, 0.0]]
        assert privacy.gamma_by_output(P)[:3].tolist() == [2.0, 1.0, math.inf]
        assert math.isnan(privacy.gamma_by_output(P)[3])
        both = privacy.gamma_by_output(c.product([c.binary(0.25, 0.25)] * 2))
        assert both == pytest.approx([9.0] * 4)
        assert np.nanmax(privacy.gamma_by_output(c.subset(8, 3))) == pytest.approx(3.0)

    def test_of_joined_and_of_repeated_releases(self):
        one, two = c.symmetric(3, gamma=2), c.symmetric(3, gamma=5)
        assert privacy.joint_gamma([one, two]) == near(10.0)
        assert privacy.joint_gamma([SCHEME, one]) == near(12.0)
        assert privacy.joint_gamma([one, c.identity(2)]) == math.inf
        assert privacy.composed_gamma([one] * 3) == near(8.0)
        assert privacy.composed_gamma([one, two]) == near(10.0)

    def test_composition_is_less_than_the_product_where_the_worst_pairs_differ(self):
        first = [[0.6, 0.4], [0.6, 0.4], [0.2, 0.8]]
        second = [[0.2, 0.8], [0.6, 0.4], [0.6, 0.4]]
        composed = privacy.composed_gamma([first, second])
        brute = max(
            first[x][y] * second[x][z] / (first[w][y] * second[w][z])
            for x in range(3) for w in range(3) for y in range(2) for z in range(2)
        )  # fmt: skip
        assert composed == pytest.approx(brute)
        assert composed <= privacy.joint_gamma([first, second])

    def test_composition_wants_the_same_values(self):
        with pytest.raises(ChannelError, match="same true values, got 2, 3"):
            privacy.composed_gamma([c.binary(0.1, 0.1), c.symmetric(3, 0.1)])


class TestBreach:
    @pytest.mark.parametrize(("gamma", "rho1", "rho2"), [(3, 0.1, 0.25), (9, 0.1, 0.5), (19, 0.05, 0.5)])
    def test_rho2(self, gamma, rho1, rho2):
        assert privacy.rho2(gamma, rho1) == near(rho2)
        assert privacy.gamma_for_breach(rho1, rho2) == near(gamma)
        # downward is the same bound on the complement
        assert privacy.lowest(gamma, 1 - rho1) == near(1 - rho2)

    def test_of_a_channel_and_of_many_beliefs(self):
        assert privacy.rho2(c.binary(0.25, 0.25), [0.1, 0.5]) == pytest.approx([0.25, 0.75])
        assert privacy.rho2(c.identity(2), [0.0, 0.1]).tolist() == [0.0, 1.0]

    def test_upward_and_downward(self):
        P = [[0.9, 0.1], [0.1, 0.9]]
        found = privacy.breach(P, 0.1, 0.5, prior=[0.1, 0.9])
        assert [(f.values, f.y) for f in found.upward] == [((0,), 0)]
        assert found.upward[0].posterior == near(0.5)
        assert not found.downward
        sinking = privacy.breach(P, 0.5, 0.9, prior=[0.1, 0.9])
        assert [(f.values, f.y) for f in sinking.downward] == [((1,), 0)]

    def test_below_the_limit_no_prior_is_breached(self):
        channel = c.symmetric(4, gamma=8.9)
        rng = np.random.default_rng(0)
        for prior in rng.dirichlet(np.ones(4) * 0.5, size=200):
            assert not privacy.breach(channel, 0.1, 0.5, prior, properties="all")
        # the control: above the limit some prior is
        loose = c.symmetric(4, gamma=12)
        assert any(
            privacy.breach(loose, 0.1, 0.5, prior, properties="all")
            for prior in rng.dirichlet(np.ones(4) * 0.5, size=200)
        )
        assert privacy.breach(loose, 0.1, 0.5).possible
        assert not privacy.breach(channel, 0.1, 0.5).possible

    def test_sets_of_values(self):
        channel, prior = c.symmetric(4, 0.1), [0.05, 0.05, 0.45, 0.45]
        assert not privacy.breach(channel, 0.1, 0.6, prior)  # no single value rises that far
        either = privacy.breach(channel, 0.1, 0.6, prior, properties=[(0, 1)])
        assert either.upward[0].values == (0, 1)
        assert either.upward[0].posterior > 0.6

    @pytest.mark.parametrize("rho", [(0.5, 0.1), (0.0, 0.5), (0.1, 1.0)])
    def test_refuses_impossible_beliefs(self, rho):
        with pytest.raises(SfumatoError, match="0 < rho1 < rho2 < 1"):
            privacy.breach(c.binary(0.1, 0.1), *rho)

    def test_refuses_a_belief_outside_0_1_and_a_gamma_below_1(self):
        with pytest.raises(SfumatoError, match=r"rho1 must lie in \[0, 1\]"):
            privacy.rho2(3, 1.5)
        with pytest.raises(SfumatoError, match="gamma must be at least 1"):
            privacy.rho2(0.5, 0.1)

    @pytest.mark.parametrize("gamma", ["9", None])
    def test_refuses_a_gamma_that_is_no_number(self, gamma):
        for bound in (privacy.rho2, privacy.lowest):
            with pytest.raises(SfumatoError, match="gamma must be a number, got"):
                bound(gamma, 0.1)


class TestEntropy:
    def test_reference_values(self):
        assert privacy.conditional_entropy(c.binary(0.25, 0.25)) == near(0.811278)
        assert privacy.conditional_entropy(c.symmetric(6, 0.3)) == near(1.577869)
        assert privacy.conditional_entropy(c.blocks([c.symmetric(3, 0.3)] * 2)) == near(1.181291)

    def test_zhang_example_1(self):
        assert privacy.mutual_information([[0.7, 0.3], [0.3, 0.7]]) == near(0.118709)
        assert privacy.mutual_information([[1, 0], [0.99, 0.01]]) == near(0.005018)

    def test_privacy_loss_of_the_extremes(self):
        assert privacy.privacy_loss(c.identity(4)) == near(0.75)
        assert privacy.privacy_loss([[0.5, 0.5], [0.5, 0.5]]) == near(0.0)

    def test_information_never_exceeds_the_entropy(self):
        rng = np.random.default_rng(1)
        for _ in range(100):
            P, prior = rng.dirichlet(np.ones(5), size=4), rng.dirichlet(np.ones(4))
            told = privacy.mutual_information(P, prior)
            joint = prior[:, None] * P
            brute = float((joint * np.log2(joint / np.outer(prior, joint.sum(axis=0)))).sum())
            assert told == near(brute, 1e-9)

    def test_an_output_that_never_occurs_counts_nowhere(self):
        assert privacy.conditional_entropy([[0.75, 0.25, 0], [0.25, 0.75, 0]]) == near(0.811278)


class TestIntervalPrivacy:
    def test_of_the_identity_is_a_part_of_the_cell(self):
        found = privacy.interval_privacy(c.identity(4), 0.5, edges=[0, 1, 2, 4, 8])
        assert found.by_output == pytest.approx([0.5, 0.5, 1.0, 2.0])
        assert found.mean == near(1.0)
        assert found.worst == near(0.5)

    def test_of_a_blind_channel_is_that_of_the_prior(self):
        assert privacy.interval_privacy([[0.5, 0.5]] * 4, 0.95).mean == near(3.8)

    def test_against_brute_force(self):
        rng = np.random.default_rng(5)
        for _ in range(20):
            P, prior = rng.dirichlet(np.ones(3), size=4), rng.dirichlet(np.ones(4))
            found = privacy.interval_privacy(P, 0.6, prior)
            for y in range(3):
                mass = prior * P[:, y] / (prior @ P[:, y])
                grid = np.linspace(0, 4, 4001)
                below = np.interp(grid, np.arange(5), np.concatenate(([0], np.cumsum(mass))))
                ends = np.searchsorted(below, below + 0.6 - 1e-12)
                good = ends < len(grid)
                brute = (grid[ends[good]] - grid[good]).min()
                assert found.by_output[y] == pytest.approx(brute, abs=2e-3)

    def test_refuses_wrong_edges_and_confidence(self):
        with pytest.raises(SfumatoError, match="edges must be 5 increasing numbers"):
            privacy.interval_privacy(c.identity(4), edges=[0, 1, 2])
        with pytest.raises(SfumatoError, match=r"confidence must lie in \(0, 1\)"):
            privacy.interval_privacy(c.identity(4), 1.5)


class TestKAnonymity:
    def test_counts_what_remains_possible(self):
        P = [[0.8, 0.2, 0.0], [0.1, 0.8, 0.1], [0.0, 0.2, 0.8]]
        found = privacy.k_anonymity(P)
        assert found.k == 2
        assert found.k_by_output.tolist() == [2, 3, 2]

    def test_distance_is_the_worst_over_outputs(self):
        P = [[0.9, 0.1], [0.5, 0.5]]
        posterior = np.array([0.9, 0.5]) / 1.4, np.array([0.1, 0.5]) / 0.6
        distances = [1 + float((p * np.log2(p)).sum()) for p in posterior]
        found = privacy.k_anonymity(P)
        assert found.distance == near(max(distances))  # the thesis prints min
        assert found.distance_by_output == pytest.approx(distances)

    def test_groups_hide_among_their_own(self):
        found = privacy.k_anonymity(c.blocks([c.symmetric(3, 0.3)] * 2))
        assert found.k == 3

    def test_threshold_drops_what_is_hardly_possible(self):
        channel = c.symmetric(6, 0.05)
        assert privacy.k_anonymity(channel).k == 6
        found = privacy.k_anonymity(channel, threshold=0.02)
        assert found.k == 1
        assert found.distance == 0
        with pytest.raises(SfumatoError, match=r"threshold must lie in \[0, 1\)"):
            privacy.k_anonymity(channel, threshold=1.0)


class TestGuess:
    def test_zhang_example_1(self):
        assert privacy.map_success([[0.7, 0.3], [0.3, 0.7]]) == near(0.7)
        assert privacy.map_success([[1, 0], [0.99, 0.01]]) == near(0.505)  # printed .501

    def test_roc_lies_under_the_bound_that_gamma_gives(self):
        for channel in (c.symmetric(5, gamma=3), c.subset(8, 3), c.windows(8, 3)):
            curve = privacy.roc(channel)
            assert (curve.true <= curve.bound() + 1e-9).all()
            assert 0.5 <= curve.auc <= 1
        # Warner's channel meets the bound
        warner = privacy.roc(c.binary(0.25, 0.25))
        assert warner.true == pytest.approx(warner.bound())

    def test_roc_of_a_named_pair(self):
        curve = privacy.roc(c.symmetric(4, 0.3), 0, 2)
        assert (curve.x, curve.other) == (0, 2)
        assert curve.advantage == near(0.6)
        with pytest.raises(ChannelError, match=r"x must be a code in \[0, 3\], got 7"):
            privacy.roc(c.symmetric(4, 0.3), 7, 2)

    def test_identity_tells_everything_and_a_blind_channel_nothing(self):
        assert privacy.roc(c.identity(3)).auc == near(1.0)
        assert privacy.roc([[0.5, 0.5], [0.5, 0.5]]).auc == near(0.5)


class TestEffectiveSample:
    def test_reference_values(self):
        assert privacy.effective_sample_size(c.binary(0.3, 0.3)) == near(0.16)
        assert privacy.effective_sample_bound(c.binary(0.3, 0.3)) == near(0.4)

    def test_better_channels_keep_more(self):
        symmetric = privacy.effective_sample_size(c.symmetric(64, gamma=3))
        assert privacy.effective_sample_size(c.subset(64, 3)) / symmetric == pytest.approx(5.72, abs=0.01)
        doubling = c.windows(64, 3, widths=(1, 2, 4, 8, 16, 32))  # without smoothing, for which others are chosen
        assert privacy.effective_sample_size(doubling, target="cdf") == pytest.approx(0.0103, abs=5e-5)
        assert privacy.effective_sample_size(c.symmetric(64, gamma=3), target="cdf") == pytest.approx(0.0009, abs=5e-5)

    def test_bound_of_structured_channels_equals_the_dense_one(self):
        valid = c.symmetric(valid=[("F", "yes"), ("F", "no"), ("M", "no")], p=0.3)
        channels = [
            c.product([c.binary(0.1, 0.2), c.symmetric(3, 0.3)]), c.select_a_size([0.2, 0.8], 0.3, items=3),
            c.mask(0.3, items=3), c.subset(6, 2), valid,
        ]  # fmt: skip
        for channel in channels:
            assert privacy.effective_sample_bound(channel) == near(1 - channel.matrix.min(axis=0).sum(), 1e-9)

    def test_identity_keeps_everything(self):
        assert privacy.effective_sample_size(c.identity(4)) == near(1.0)
        assert privacy.effective_sample_bound(c.identity(4)) == 1.0

    def test_values_known_to_be_absent_have_no_variance(self):
        V = privacy.covariance(c.identity(3), [0.5, 0.5, 0.0])
        assert pytest.approx(np.array([[0.25, -0.25, 0], [-0.25, 0.25, 0], [0, 0, 0]])) == V

    def test_groups_with_impossible_combinations(self):
        schema = sf.Schema({"sex": sf.Categorical(("F", "M")), "pregnant": sf.Categorical(("yes", "no"))})
        valid = c.symmetric(valid=[("F", "yes"), ("F", "no"), ("M", "no")], p=0.3)
        scheme = sf.Scheme(schema, {("sex", "pregnant"): valid})
        names = ("sex", "pregnant")
        assert privacy.effective_sample_size(scheme, attribute=names) == near(
            privacy.effective_sample_size(c.symmetric(3, 0.3))
        )
        assert privacy.conditional_entropy(scheme, attribute=names) == near(
            privacy.conditional_entropy(c.symmetric(3, 0.3))
        )
        with pytest.raises(ChannelError, match="rules this combination out"):
            privacy.map_success(scheme, [0.25] * 4, attribute=names)

    def test_refuses_what_cannot_be_estimated(self):
        with pytest.raises(EstimationError, match="cannot be estimated"):
            privacy.effective_sample_size([[0.5, 0.5], [0.5, 0.5]])
        with pytest.raises(EstimationError, match="target must be one of shares, cdf"):
            privacy.effective_sample_size(c.binary(0.1, 0.1), target="median")
        with pytest.raises(EstimationError, match="n must be at least 2"):
            privacy.simulate_sample_size(c.binary(0.1, 0.1), 1)
        with pytest.raises(EstimationError, match="distance must be one of kolmogorov, kuiper, anderson_darling"):
            privacy.simulate_sample_size(c.binary(0.1, 0.1), 10, distance="euclid")


class TestBadInput:
    @pytest.mark.parametrize(
        ("prior", "says"),
        [
            ([0.5, 0.4], "prior must sum to 1, got 0.9"),
            ([0.5, 0.3, 0.2], r"prior must have 2 entries, got \(3,\)"),
            ([1.5, -0.5], "prior must hold probabilities, got an entry of -0.5"),
        ],
    )
    def test_priors(self, prior, says):
        for measure in (privacy.conditional_entropy, privacy.map_success, privacy.k_anonymity, privacy.game_value):
            with pytest.raises(ChannelError, match=says) as caught:
                measure(c.binary(0.1, 0.1), prior)
            assert "\n" not in str(caught.value)

    def test_matrices(self):
        with pytest.raises(ChannelError, match="row 1 of P must sum to 1, got 0.9"):
            privacy.gamma([[0.5, 0.5], [0.5, 0.4]])

    def test_attribute_without_a_scheme(self):
        with pytest.raises(SfumatoError, match="can be named only with a scheme"):
            privacy.gamma(c.binary(0.1, 0.1), "age")

    def test_attribute_that_is_not_there(self):
        with pytest.raises(SfumatoError, match="there is no attribute 'z'"):
            privacy.gamma(SCHEME, "z")


@pytest.mark.parametrize("gamma", [2.0, 3.0, 7.0, 19.0])
@pytest.mark.parametrize("rho1", [0.001, 0.1, 0.3])
def test_a_breach_that_is_found_is_possible(gamma, rho1):
    channel = c.symmetric(2, gamma=gamma)
    at = privacy.breach(channel, rho1, privacy.rho2(gamma, rho1), prior=[rho1, 1 - rho1])
    assert at.upward
    assert at.possible
    beyond = privacy.breach(channel, rho1, privacy.rho2(gamma * 1.000001, rho1), prior=[rho1, 1 - rho1])
    assert not beyond
    assert not beyond.possible


def test_combinations_that_are_ruled_out_count_nowhere():
    schema = sf.Schema({"sex": sf.Categorical(("F", "M")), "pregnant": sf.Categorical(("no", "yes"))})
    rule = c.symmetric(valid=[("F", "no"), ("F", "yes"), ("M", "no")], p=0.3)
    valid = sf.Scheme(schema, {("sex", "pregnant"): rule}).groups[0].channel
    widths = accuracy.half_width(valid, 1000, [0.5, 0.25, 0.25, 0.0])
    assert accuracy.worst_half_width(valid, 1000) == pytest.approx(widths.max())
    with pytest.raises(ChannelError, match="other must be a possible value, got 3"):
        privacy.roc(valid, 2, 3)
    assert privacy.roc(valid, 1, 2).auc > 0.5


def test_there_must_be_something_to_simulate():
    with pytest.raises(EstimationError, match="cannot be estimated"):
        privacy.simulate_sample_size([[0.5, 0.5], [0.5, 0.5]], 100)
    with pytest.raises(EstimationError, match="everything on one value|cannot be estimated"):
        privacy.simulate_sample_size(c.binary(0.1, 0.1), 100, [1.0, 0.0])


class TestWideRecords:
    def test_epsilon_is_finite_where_gamma_is_too_large_for_a_double(self):
        wide = c.mask(0.25, items=1000)
        assert privacy.gamma(wide) == math.inf
        assert privacy.epsilon(wide) == near(1000 * math.log(3))

    def test_of_forms_that_of_the_one_that_tells_most(self):
        forms = sf.Forms([SCHEME.select(["a"]), SCHEME.select(["b"])])
        assert privacy.gamma(forms) == near(3.0)
        assert privacy.epsilon(forms) == near(math.log(3))
        assert privacy.gamma(forms, "b") == near(2.0)

    def test_released_values_that_cannot_be_listed_are_one_line(self):
        with pytest.raises(ChannelError, match="too many released values to list"):
            privacy.gamma_by_output(c.mask(0.25, items=60))
