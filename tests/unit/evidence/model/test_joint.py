"""Evidence from the joint model: answers, choices, warnings and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

import sfumato as sf
from gallery import rest_clear
from sfumato.errors import EstimationError, UnrecoverableWarning
from sfumato.evidence.model.effective_records import retention
from sfumato.evidence.model.goodness_of_fit import held_against
from sfumato.evidence.model.joint import ModelEvidence
from sfumato.evidence.wald import wald

c = sf.channels
BRIGHT = sf.Categorical(("clear", "cloud"))
NAMES = ("a", "b", "k")
SCHEMA = sf.Schema({name: sf.Categorical(("no", "yes")) for name in NAMES})


def table(kind, n=6000, seed=0):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 2, n), rng.integers(0, 2, n)
    k = {"parity": a ^ b, "pair": np.where(rng.random(n) < 0.85, a, 1 - a), "noise": rng.integers(0, 2, n)}[kind]
    return {name: np.where(column == 1, "yes", "no") for name, column in zip(NAMES, (a, b, k), strict=True)}


def release(kind, p=0.1, n=6000, seed=0):
    return sf.randomize(table(kind, n, seed), sf.Scheme(SCHEMA, {n: c.symmetric(2, p) for n in NAMES}), rng=seed)


def test_margins_of_tables_agree_and_sum_to_n():
    model = sf.evidence(release("pair"), method="model", tau=0.3)
    pair = model.counts(["k", "a"])
    assert pair.names == ("k", "a") and pair.table.sum() == pytest.approx(6000)
    assert np.allclose(pair.table.sum(axis=1), model.counts("k").value)
    assert np.allclose(model.cells(["k", "a"], [[1, 0]]).value, pair.table[1, 0])
    assert np.allclose(np.sqrt(np.diag(pair.cov)), pair.sd)
    low, high = pair.interval()
    assert (low > 0).all() and (low < pair.value).all() and (pair.value < high).all()
    shares = pair.population()
    assert np.allclose(shares.value * 6000, pair.value) and (shares.sd * 6000 > pair.sd).all()
    assert pair.frame().num_rows == 4


def test_interactions_that_pairs_cannot_hold_are_noticed_and_chosen():
    parity = release("parity")
    stiff = sf.evidence(parity, method="model", tau=0.3)
    found = stiff.disagreement()
    assert found and set(found[0].names) == set(NAMES)
    assert "disagrees" in repr(stiff)
    chosen = ModelEvidence(parity, rng=0)
    assert chosen.chosen.startswith("full joint")
    assert chosen.counts(NAMES).table[0, 0, 1] < 150 and stiff.counts(NAMES).table[0, 0, 1] > 500
    third = sf.evidence(parity, method="model", tau=1.0, order=3)
    assert not third.disagreement()


def test_pairwise_data_raise_no_disagreement():
    model = ModelEvidence(release("pair"), rng=0, target="k")
    assert model.disagreement() == () and "agrees" in repr(model)
    assert {one.name for one in model.candidates} >= {"pairwise, a penalty for each pair", "independent", "naive Bayes"}
    assert sum(one.chosen for one in model.candidates) == 1


def test_the_true_shares_do_not_differ_by_more_than_noise_where_few_give_no_answer():
    """By the noise of the answers that came, p was below .0001 in a third of the releases: the negative control."""
    schema = sf.Schema(
        {"habit": sf.Categorical(("no", "yes"), nullable=True), "gained": sf.Numeric(0, 90, points=11, nullable=True)}
    )
    scheme = sf.Scheme(schema, {"habit": c.symmetric(3, gamma=9), "gained": c.average(11, 9, nullable=True)})
    judged, plain = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        habit = np.where(rng.random(1000) < 0.002, None, np.where(rng.random(1000) < 0.13, "yes", "no"))
        gained = np.where(rng.random(1000) < 0.03, np.nan, rng.integers(0, 11, 1000) * 9.0)
        drawn = {"habit": habit.tolist(), "gained": [None if np.isnan(x) else float(x) for x in gained]}
        told = sf.evidence(sf.randomize(drawn, scheme, rng=sf.experiment(seed)), method="moment")
        counts = told.counts(["habit", "gained"], quiet=True).population()
        shares = np.outer([0.998 * 0.87, 0.998 * 0.13, 0.002], [0.97 / 11] * 11 + [0.03]).reshape(-1)
        judged.append(held_against(counts, shares).p_value)
        statistic, freedom = wald(counts.unbiased - shares, counts.cov)
        plain.append(chi2.sf(statistic, freedom))
    assert np.mean(np.array(judged) < 0.05) < 0.12 and min(judged) > 1e-4
    assert np.mean(np.array(plain) < 1e-4) > 0.1


def test_likelihood_prefers_the_right_model_on_held_out_records():
    right = sf.evidence(release("pair"), method="model", tau=0.3)
    wrong = sf.evidence(release("noise"), method="model", tau=0.3)
    held = release("pair", seed=9)
    assert right.log_likelihood(release=held) > wrong.log_likelihood(release=held) + 100
    theta = np.full(8, 1 / 8)
    assert right.log_likelihood(NAMES, theta) < right.log_likelihood()


def test_sample_follows_the_model():
    model = sf.evidence(release("pair"), method="model", tau=0.3)
    drawn = sf.evidence(model.sample(20_000, rng=1), SCHEMA).counts(NAMES).value
    expected = model.theta * 20_000
    statistic = float(((drawn - expected) ** 2 / expected).sum())
    assert statistic < 50  # chi-square with 7 degrees of freedom: once in 10^8
    assert float(((drawn - 2500) ** 2 / 2500).sum()) > 500  # negative control: not uniform
    with pytest.raises(EstimationError, match="at least 1"):
        model.sample(0)


def test_posterior_counts_of_clean_records_are_the_counts():
    exact = sf.evidence(table("pair"), SCHEMA, method="model", tau=0.3)
    assert np.allclose(exact.posterior_counts(), sf.evidence(table("pair"), SCHEMA).counts(NAMES).value, atol=1e-6)


@pytest.mark.parametrize(("p", "k"), [(0.3, 2), (0.3, 5), (0.1, 3)])
def test_retention_of_a_symmetric_channel_is_its_own_a(p, k):
    assert retention(c.symmetric(k, p)) == pytest.approx((1 - p * k / (k - 1)) ** 2)


def test_too_little_left_is_said():
    with pytest.warns(UnrecoverableWarning, match="too little"):
        sf.evidence(release("pair", p=0.48, n=300), method="model", tau=0.3)


def test_bad_requests_are_one_clear_line():
    given = release("pair")
    for options, words in [
        ({"tau": 0}, "tau must be a positive number"),
        ({"target": "z"}, "target 'z'"),
        ({"names": ["a", "a"]}, "once"),
    ]:
        with pytest.raises(sf.SfumatoError, match=words):
            sf.evidence(given, method="model", **options)
    with pytest.raises(EstimationError, match="takes no option"):
        sf.evidence(given, method="moment", tau=1)
    model = sf.evidence(given, method="model", names=["a", "b"], tau=0.3)
    with pytest.raises(EstimationError, match="not in the model"):
        model.counts("k")
    singular = rest_clear(SCHEMA, {"a": c.matrix([[0.5, 0.5], [0.5, 0.5]])})
    with pytest.raises(EstimationError, match="not invertible"):
        sf.evidence(sf.randomize(table("pair"), singular, rng=0), method="model")


def test_what_a_model_cannot_say_is_in_its_error():
    """y = a xor b: pairs alone know nothing of it, and the interval of the triple says so; that of a pair does not."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 20_000))
    rows = {"a": a, "b": b, "y": a ^ b}
    schema = sf.Schema({name: sf.Categorical((0, 1)) for name in rows})
    release = sf.randomize(rows, sf.Scheme(schema, {n: c.symmetric(2, 0.1) for n in schema}), rng=1)
    model = ModelEvidence(release, tau=0.3)
    true = sf.evidence(rows, schema).counts(["a", "b", "y"]).value
    found = model.counts(["a", "b", "y"])
    assert np.abs(found.value - true).min() > 2000, "pairs cannot say it"
    assert np.all(np.abs(found.value - true) < 3 * found.sd)
    assert found.cov.diagonal() == pytest.approx(found.variance)
    assert model.counts(["a", "y"]).sd.max() < 200
    some = model.cells(["a", "b", "y"], [[0, 0, 1], [1, 1, 1]])
    assert some.sd == pytest.approx(found.sd[[1, 7]])


def test_intervals_of_a_strongly_dependent_pair_hold():
    """The weight of aircraft nearly tells how many engines they have: a penalty draws such a pair together."""
    schema = sf.Schema({"mass": sf.Ordinal((1, 2, 3, 4, 5)), "engines": sf.Ordinal((1, 2, 3, 4)), "sky": BRIGHT})
    draw = np.random.default_rng(0)
    mass = draw.choice(5, 6000, p=[0.05, 0.05, 0.15, 0.65, 0.1])
    engines = np.array([0, 1, 1, 1, 3])[mass] + (mass > 2) * (draw.random(6000) < 0.1)
    rows = {"mass": mass + 1, "engines": engines.clip(0, 3) + 1, "sky": draw.choice(["clear", "cloud"], 6000)}
    scheme, pair = sf.Scheme.for_gamma(schema, 9), ["mass", "engines"]
    truth = sf.evidence(rows, schema).counts(pair).value
    held, by_sd, sums = [], [], []
    for seed in range(12):
        model = sf.evidence(sf.randomize(rows, scheme, rng=sf.experiment(seed)), method="model")
        found = model.counts(pair)
        low, high = found.interval()
        assert (low >= 0).all() and (low <= found.value).all() and (found.value <= high).all()
        assert "unbiased counts" in found.notes[0]
        held.append((low <= truth) & (truth <= high))
        by_sd.append(np.abs(found.value - truth) < 2 * found.sd)
        last = found.linear(np.eye(20)[-1] - np.eye(20)[0])
        below, above = last.interval()
        sums.append(below[0] <= truth[-1] - truth[0] <= above[0])
    assert np.mean(held) > 0.92 and np.mean(by_sd) > 0.92 and np.mean(sums) > 0.8


def test_what_no_records_tell_is_said():
    forms = sf.Forms.for_gamma(SCHEMA, 30)
    model = sf.evidence(sf.randomize(table("pair"), forms, rng=sf.experiment(1)), method="model")
    asked, unasked = model.counts(["a", "b"]), model.counts(NAMES)
    assert asked.told and "unbiased" in asked.notes[0]
    assert not unasked.told and "no records were asked a, b and k together" in unasked.notes[0]
    assert unasked.cov.diagonal() == pytest.approx(unasked.variance)
    low, high = unasked.interval()
    assert (low >= 0).all() and (low <= unasked.value).all() and (unasked.value <= high).all()
    assert (high <= unasked.n).all()


@pytest.mark.parametrize("names", [("a", "b"), NAMES])  # that some form asks, and that none does
def test_the_largest_cells_have_the_errors_that_they_have_among_all(names):
    model = sf.evidence(
        sf.randomize(table("pair"), sf.Forms.for_gamma(SCHEMA, 30), rng=sf.experiment(1)), method="model"
    )
    whole, top = model.counts(names), model.top(names, 3)
    order = np.argsort(-whole.value)[:3]
    assert top.value == pytest.approx(whole.value[order]) and top.sd == pytest.approx(whole.sd[order])
    assert top.cov == pytest.approx(whole.cov[np.ix_(order, order)])
    assert (top.interval()[0] <= top.value).all() and (top.value <= top.interval()[1]).all()
