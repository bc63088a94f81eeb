"""Every attack reaches its published figure, and fails where it should."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato import channels as c
from sfumato.assess import attacks, privacy
from sfumato.errors import ChannelError, SfumatoError
from sfumato.owner.resample import resample
from sfumato.owner.resample.kernel import epanechnikov
from sfumato.randomness import integers


def correlated(seed: int, n: int = 1000, d: int = 50, components: int = 5, eigenvalue: float = 400.0):
    """Huang, Du and Chen's setting: a few strong directions in many columns."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(d, d)))[0][:, :components]
    return rng.normal(size=(n, components)) * np.sqrt(eigenvalue) @ basis.T, rng


def in_order(table, scheme: sf.Scheme) -> sf.Release:
    """A release whose rows stand in the order of the table's, so that the truth can be held against it."""
    codes = scheme.schema.encode(table)
    columns = {}
    for group in scheme.groups:
        out = group.channel.randomize(np.column_stack([codes[name] for name in group.names]), 1)
        columns |= dict(zip(group.columns, out.T, strict=True))
    return sf.Release(pa.table(columns), scheme)


class TestBayes:
    def test_success_is_that_of_the_channel(self):
        rng = np.random.default_rng(0)
        channel, prior = c.symmetric(4, 0.4), np.array([0.4, 0.3, 0.2, 0.1])
        truth = rng.choice(4, 200_000, p=prior)
        found = attacks.bayes(channel.randomize(truth, rng), channel, prior, truth)
        assert 1 - found.error == pytest.approx(privacy.map_success(channel, prior), abs=0.006)
        assert found.nothing == pytest.approx(0.6, abs=0.006)
        assert found.advantage > 0.3

    def test_learns_nothing_from_a_blind_channel(self):
        P = [[0.3, 0.7], [0.3, 0.7]]
        found = attacks.bayes([0, 1, 1, 0], P, [0.8, 0.2])
        assert found.recovered.tolist() == [0] * 4
        assert found.advantage == pytest.approx(0)

    def test_the_rounding_of_sums_is_no_gain(self):
        """It was said that the attack removes 2.22e-14 % of the ignorance."""
        prior = np.array([0.6, *[0.4 / 19] * 19])
        found = attacks.bayes([0, 1, 19], c.symmetric(20, gamma=1.5), prior)
        assert found.error != found.nothing
        assert found.advantage == 0

    def test_shares_come_from_the_release_unless_given(self):
        rng = np.random.default_rng(2)
        schema = sf.Schema({"job": sf.Categorical(tuple("abcde"), nullable=True), "x": sf.Categorical((0, 1))})
        table = {"job": [*rng.choice(list("abcde"), 6000, p=[0.5, 0.3, 0.1, 0.05, 0.05])], "x": [0] * 6000}
        table["job"][:500] = [None] * 500
        release = in_order(table, sf.Scheme.for_gamma(schema, 2))
        report = sf.report(release.scheme, sf.evidence(release)).facts.units[0]
        found = attacks.bayes(release, attribute="job", truth=table)
        assert found.details["shares"] == "estimated"
        assert found.details["expected"] == pytest.approx(1 - report.measures["guess"], abs=1e-6)
        assert found.error <= found.nothing + 0.02  # the channel of gamma 2 alone would err far more under equal shares
        assert attacks.bayes(release, attribute="job", prior=[1 / 6] * 6, truth=table).error > found.nothing + 0.05
        named = {"a": 0.5, "b": 0.3, "c": 0.1, "d": 0.05, "e": 0.05, None: 0.0}
        given = attacks.bayes(release, attribute="job", prior=named)
        assert given.details["shares"] == "given"
        assert given.nothing == pytest.approx(0.5)
        assert attacks.repeated(release, 1, attribute="job").error == pytest.approx(found.details["expected"], abs=1e-6)
        assert attacks.bayes(release.scheme, attribute="job").details["shares"] == "assumed even"

    def test_a_truth_in_another_order_is_refused(self):
        rng = np.random.default_rng(4)
        truth, channel = rng.choice(5, 4000, p=[0.4, 0.3, 0.1, 0.1, 0.1]), c.subset(5, 3)
        codes = channel.randomize(truth, 1)
        assert attacks.bayes(codes, channel, truth=truth).error < 0.65
        with pytest.raises(SfumatoError, match="does not stand in the order of the released rows"):
            attacks.bayes(codes, channel, truth=rng.permutation(truth))
        for seed in range(200):  # few records of the right order are never refused
            few = np.random.default_rng(seed).integers(0, 5, 20)
            attacks.bayes(channel.randomize(few, seed), channel, truth=few)

    def test_a_group_is_attacked_as_a_whole(self):
        schema = sf.Schema({name: sf.Categorical((0, 1)) for name in "ab"})
        rng = np.random.default_rng(3)
        table = {"a": rng.choice(2, 3000, p=[0.9, 0.1]), "b": rng.choice(2, 3000)}
        release = in_order(table, sf.Scheme(schema, {("a", "b"): c.symmetric((2, 2), 0.4)}))
        found = attacks.bayes(release, attribute=("a", "b"), truth=table)
        assert found.error < 0.45
        assert found.nothing == pytest.approx(0.55, abs=0.03)
        with pytest.raises(SfumatoError, match=r"attack the whole group, a\+b"):
            attacks.bayes(release, attribute="a")

    def test_several_answers_are_pooled(self):
        found = attacks.bayes([[0, 1, 1], [0, 0, 1]], [[0.7, 0.3], [0.3, 0.7]])
        assert found.recovered.tolist() == [1, 0]

    def test_refuses_answers_that_cannot_be(self):
        with pytest.raises(ChannelError, match="released code 2 cannot occur"):
            attacks.bayes([0, 2], [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]])
        with pytest.raises(ChannelError, match=r"must lie in \[0, 1\], got 0 to 5"):
            attacks.bayes([0, 5], c.binary(0.1, 0.1))
        with pytest.raises(ChannelError, match="contradict each other"):
            attacks.bayes([[0, 1]], c.identity(2))
        with pytest.raises(SfumatoError, match="whole-number codes"):
            attacks.bayes([0.5], c.binary(0.1, 0.1))
        with pytest.raises(SfumatoError, match="truth must have 2 entries"):
            attacks.bayes([0, 1], c.binary(0.1, 0.1), truth=[1])


class TestRepeated:
    def test_ten_releases(self):
        channel = c.symmetric(4, gamma=3)
        assert 1 - attacks.repeated(channel, 1).error == pytest.approx(0.5, abs=1e-9)
        assert 1 - attacks.repeated(channel, 10).error == pytest.approx(0.815, abs=5e-4)

    def test_simulation_agrees_with_the_exact_sum(self, monkeypatch):
        channel = c.symmetric(4, gamma=3)
        exact = attacks.repeated(channel, 5)
        monkeypatch.setattr("sfumato.assess.attacks.posterior._MOST_PATTERNS", 0)
        found = attacks.repeated(channel, 5, trials=40_000, rng=3)
        assert exact.details["exact"]
        assert not found.details["exact"]
        assert found.error == pytest.approx(exact.error, abs=4.9 * 0.5 / 200)

    def test_groups_are_known_at_once_and_the_rest_follows(self):
        grouped = c.blocks([c.symmetric(3, 0.3)] * 2)
        assert 1 - attacks.repeated(grouped, 1).error == pytest.approx(0.7)

    def test_noise_averages_out(self):
        found = attacks.repeated(c.gaussian(2), 16)
        assert (found.error, found.naive) == (0.5, 2.0)

    def test_the_mean_of_noisy_releases(self):
        rng = np.random.default_rng(12)
        X = 10 * rng.normal(size=(4000, 2))
        found = attacks.average([X + 2 * rng.normal(size=X.shape) for _ in range(16)], 2.0, X)
        assert found.error == pytest.approx(0.5, rel=0.05)
        assert found.naive == pytest.approx(2.0, rel=0.05)
        assert attacks.average([X[:, 0]] * 4, 2.0).error == 1.0
        with pytest.raises(SfumatoError, match="a column or table per release"):
            attacks.average([1.0, 2.0], 2.0)

    def test_times_must_be_whole(self):
        with pytest.raises(SfumatoError, match="times must be a whole number"):
            attacks.repeated(c.binary(0.1, 0.1), 0)


class TestAdditiveNoise:
    def test_the_published_setting(self):
        errors = []
        for seed in range(4):
            X, rng = correlated(seed)
            Z = X + 5 * rng.normal(size=X.shape)
            found = [attack(Z, 5.0, X) for attack in (attacks.spectral, attacks.pca, attacks.bayes_estimate)]
            errors.append([f.error for f in found] + [found[0].naive])
        spectral, pca, bayes, naive = np.mean(errors, axis=0)
        assert spectral == pytest.approx(1.64, abs=0.02)
        assert pca == pytest.approx(1.63, abs=0.02)
        assert bayes == pytest.approx(1.70, abs=0.02)
        assert naive == pytest.approx(5.0, abs=0.02)

    def test_independent_columns_are_safe_from_it(self):
        rng = np.random.default_rng(9)
        X = 5 * rng.normal(size=(1000, 20))
        Z = X + 5 * rng.normal(size=X.shape)
        for attack in (attacks.spectral, attacks.pca, attacks.bayes_estimate):
            found = attack(Z, 5.0, X)
            # knowing Z and the spreads alone gives 5 / sqrt 2; correlation adds nothing
            assert found.error > 0.97 * 5 / np.sqrt(2)

    def test_without_the_truth_only_the_recovery_is_told(self):
        X, rng = correlated(1)
        found = attacks.spectral(X + 5 * rng.normal(size=X.shape), 5.0)
        assert found.error is None
        assert found.details["components"] == 5
        assert found.recovered.shape == X.shape
        assert found.nothing == pytest.approx(np.sqrt(400 * 5 / 50), rel=0.1)

    def test_bad_input(self):
        with pytest.raises(SfumatoError, match="positive, finite standard deviation, got 0"):
            attacks.spectral(np.ones((4, 2)), 0)
        with pytest.raises(SfumatoError, match=r"components must lie in \[1, 2\], got 3"):
            attacks.pca(np.eye(2), 1.0, components=3)
        with pytest.raises(SfumatoError, match="truth must have shape"):
            attacks.pca(np.random.default_rng(0).normal(size=(9, 2)), 1.0, np.ones((3, 2)))
        with pytest.raises(SfumatoError, match="table of finite numbers"):
            attacks.bayes_estimate([[np.nan, 1.0]], 1.0)


def rotation(d: int, rng: np.random.Generator) -> np.ndarray:
    return np.linalg.qr(rng.normal(size=(d, d)))[0]


class TestRotation:
    def test_d_known_records_undo_a_rotation_exactly(self):
        rng = np.random.default_rng(3)
        X = rng.normal(size=(200, 6)) * [1, 2, 3, 4, 5, 6]
        Y = X @ rotation(6, rng)
        found = attacks.procrustes(Y, X[:6], range(6), X)
        assert found.error < 1e-9
        assert found.nothing > 1
        # the control: fewer known records leave directions open
        assert attacks.procrustes(Y, X[:3], range(3), X).error > 0.5

    def test_a_shift_needs_one_record_more(self):
        rng = np.random.default_rng(4)
        X = rng.normal(size=(100, 4))
        Y = X @ rotation(4, rng) + [5, 6, 7, 8]
        assert attacks.procrustes(Y, X[:5], range(5), X, shift=True).error < 1e-9
        assert attacks.procrustes(Y, X[:5], range(5), X).error > 1

    def test_a_projection_is_undone_in_part(self):
        rng = np.random.default_rng(5)
        X = rng.normal(size=(400, 3)) @ rng.normal(size=(3, 10)) + 0.1 * rng.normal(size=(400, 10))
        Y = X @ rng.normal(size=(10, 5)) / np.sqrt(5)
        found = attacks.procrustes(Y, X[:40], range(40), X)
        assert found.error < 0.3 * found.nothing

    def test_a_sample_undoes_a_rotation_of_skewed_data(self):
        rng = np.random.default_rng(6)
        scale = np.array([1.0, 2.0, 4.0, 8.0])
        X, sample = ((rng.exponential(size=(n, 4)) - 1) * scale for n in (3000, 3000))
        found = attacks.rotation_pca(X @ rotation(4, rng), sample, X)
        assert found.error < 0.25 * found.nothing

    def test_a_sample_does_not_undo_a_rotation_of_round_data(self):
        rng = np.random.default_rng(7)
        X, sample = rng.normal(size=(3000, 4)), rng.normal(size=(3000, 4))
        found = attacks.rotation_pca(X @ rotation(4, rng), sample, X)
        assert found.error > 0.8 * found.nothing

    def test_bad_input(self):
        with pytest.raises(SfumatoError, match="rows must name the released row of each of the 2 known records"):
            attacks.procrustes(np.eye(3), np.eye(3)[:2], [0, 7])
        with pytest.raises(SfumatoError, match="at least 3 columns"):
            attacks.rotation_pca(np.eye(3), np.ones((5, 2)))


class TestNormBound:
    @staticmethod
    def setting(seed: int, projected: int, alike: bool):
        rng = np.random.default_rng(seed)
        n, d = 60, 4
        X2 = rng.normal(size=(n, d))
        # the lemma says something only about columns that are nearly parallel to the known one
        X1 = X2 if alike else rng.normal(size=(n, d))
        R = rng.normal(size=(projected, n)) / np.sqrt(projected)
        return X1, X2, R @ X1, R @ X2

    def test_holds_on_average_and_fails_for_single_draws(self):
        holds, bounds, norms = [], [], []
        for seed in range(300):
            X1, X2, Y1, Y2 = self.setting(seed, 10, alike=True)
            found = attacks.norm_bound(Y1, Y2, np.linalg.norm(X2[:, 0]), 0, X1)
            holds.append(found.bounds[0] <= found.norms[0])
            bounds.append(found.bounds[0])
            norms.append(found.norms[0])
        assert np.mean(bounds) == pytest.approx(np.mean(norms), rel=0.05)  # equality for the same column
        assert 0.4 < np.mean(holds) < 0.65  # and a coin toss for one draw

    def test_says_little_about_unrelated_columns(self):
        X1, X2, Y1, Y2 = self.setting(1, 30, alike=False)
        found = attacks.norm_bound(Y1, Y2, np.linalg.norm(X2[:, 0]), 0, X1)
        assert found.tightness < 0.5
        assert attacks.norm_bound(Y1, Y2, 1.0).holds is None

    def test_lemma_4_2_is_vacuous(self):
        X1, X2, Y1, Y2 = self.setting(2, 30, alike=False)
        bound = attacks.norm_bound(Y1, Y2, np.linalg.norm(X2[:, 0])).bounds[1]
        assert attacks.element_bound(bound, X1[1:, 1]) == 0
        assert attacks.element_bound(5.0, [3.0]) == pytest.approx(4.0)

    def test_bad_input(self):
        with pytest.raises(SfumatoError, match="norm must be positive, got 0"):
            attacks.norm_bound(np.eye(2), np.eye(2), 0.0)
        with pytest.raises(SfumatoError, match="same number of rows"):
            attacks.norm_bound(np.eye(2), np.ones((3, 2)), 1.0)
        with pytest.raises(SfumatoError, match=r"column must lie in \[0, 1\]"):
            attacks.norm_bound(np.eye(2), np.eye(2), 1.0, 5)


class TestResampled:
    @staticmethod
    def resampled(seed: int, width: float, d: int = 8, n: int = 500):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, d))
        own = rng.integers(0, n, n)
        noise = np.median(rng.uniform(-1, 1, size=(3, n, d)), axis=0)  # Epanechnikov
        return X, X[own] + width * noise, own, rng.normal(size=(n, d))

    def test_a_narrow_kernel_links_and_a_wide_one_does_not(self):
        X, Y, own, _ = self.resampled(0, 0.5455)
        narrow = attacks.linkage(X, Y, own)
        assert 1 - narrow.error > 0.85
        assert narrow.nothing == pytest.approx(1 - 1 / 500)
        X, Y, own, _ = self.resampled(0, 4.0)
        assert 1 - attacks.linkage(X, Y, own).error < 0.15

    def test_membership(self):
        X, Y, _, fresh = self.resampled(1, 0.5455, 8, 150)

        def method(A, y, src):
            own = integers(src, len(A), len(A))
            return A[own] + 0.5455 * epanechnikov(src, A.size).reshape(A.shape)

        inside = attacks.membership(X, fresh, Y, method, shadows=60, rng=1)
        assert inside.details["auc"] > 0.75 and inside.error == 1 - inside.details["auc"]
        # the control: against rows made from others, membership is blind
        _, other, _, _ = self.resampled(2, 0.5455, 8, 150)
        blind = attacks.membership(X, fresh, other, method, shadows=60, rng=1)
        assert abs(blind.details["auc"] - 0.5) < 5 * blind.details["se"]

    def test_membership_needs_to_know_the_method_and_the_classes(self):
        X, Y, _, fresh = self.resampled(1, 0.5, 2, 40)
        for match, arguments, options in (
            ("method must say how releases are made", (X, fresh, Y), {}),
            ("same columns, got 2, 1 and 2", (X, fresh[:, :1], Y, lambda A, y, src: A), {}),
            ("shadows must be a whole number", (X, fresh, Y, lambda A, y, src: A), {"shadows": 2}),
            ("labels must be those of the 40 members", (X, fresh, Y, lambda A, y, src: A), {"labels": ([1], [2], [3])}),
            (
                r"method must return \(rows, labels\)",
                (X, fresh, Y, lambda A, y, src: A),
                {"labels": ([0, 1] * 20, [0, 1] * 20, [0, 1] * 20)},
            ),
        ):
            with pytest.raises(SfumatoError, match=match):
                attacks.membership(*arguments, **options)
        release = resample(X, [0, 1] * 20, rng=1)
        with pytest.raises(SfumatoError, match="the release has classes"):
            attacks.membership(X, fresh, release)
        found = attacks.membership(X, fresh, release, labels=([0, 1] * 20, [0, 1] * 20), shadows=8, rng=1)
        assert found.details["shadows"] == 8 and len(found.recovered) == 40

    def test_bad_input(self):
        with pytest.raises(SfumatoError, match="own must name an original row for each of the 2"):
            attacks.linkage(np.eye(3), np.eye(3)[:2], [0])
        with pytest.raises(SfumatoError, match="same columns, got 3 and 2"):
            attacks.linkage(np.eye(3), np.eye(2), [0, 1])


def test_a_recovery_reads_as_one_line():
    found = attacks.bayes([0, 1], c.binary(0.25, 0.25))
    assert str(found) == "bayes: error 0.25, always saying the commonest value 0.5"


@pytest.mark.parametrize("seed", range(20))
def test_pca_finds_the_components_by_itself(seed):
    truth, rng = correlated(seed)
    noisy = truth + rng.normal(scale=5.0, size=truth.shape)
    found = attacks.pca(noisy, 5.0, truth)
    assert found.details["components"] == 5
    assert found.error < 0.4 * found.naive
    assert attacks.pca(noisy, 5.0, truth, components=1).error > found.naive  # one direction too few costs more


@pytest.mark.parametrize("truth", [["a", "b"], [-1, 0], [0, 3], [0.0, 1.0]])
def test_a_truth_that_holds_no_codes_is_one_line(truth) -> None:
    with pytest.raises(SfumatoError, match="truth must hold codes from 0 to 2"):
        attacks.bayes([[0, 1], [1, 1]], c.symmetric(3, 0.3), truth=truth)


def test_linkage_gives_a_constant_column_no_weight() -> None:
    """In doubles the deviation of a constant column is a little above 0, and would make its last digits decide."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=777), np.full(777, 0.1)])
    released = X + np.column_stack([np.zeros(777), 1e-9 * rng.normal(size=777)])
    assert attacks.linkage(X, released, np.arange(777)).error == 0
