"""Accuracy without raw data: exact on clean records, right on randomized ones, and never blind to the channel."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import sfumato as sf
from gallery import rest_clear
from sfumato.datasets import discretized as dd
from sfumato.errors import EstimationError
from sfumato.evidence.model.blended_mean import blended_mean, conjugate_gradients
from sfumato.evidence.model.likelihood import likelihood
from sfumato.evidence.splits import folds
from sfumato.learn import DecisionTree, NaiveBayes, cross_score, crossfit, hold_out
from sfumato.learn.score import Score, within

c = sf.channels
NAMES = ["education", "marital", "occupation", "sex", "gain", "income"]
SCHEMA = dd.ADULT.select(NAMES)


@pytest.fixture(scope="module")
def rows():
    return dd.adult("train").select(NAMES)


def scheme(p):
    return sf.Scheme(SCHEMA, {name: c.symmetric(SCHEMA[name].size, p) for name in NAMES})


def test_clean_records_give_the_accuracy_itself(rows):
    model = NaiveBayes().fit(sf.evidence(rows, SCHEMA), target="income")
    found = model.estimate_score(sf.evidence(rows, SCHEMA))
    assert found.accuracy == pytest.approx(model.score(rows), abs=2e-4)
    said = model.predict(rows)
    truth = np.array(rows.column("income").to_pylist())
    shares = [[np.mean((truth == t) & (said == s)) for s in model.classes_] for t in model.classes_]
    assert np.allclose(found.confusion, shares, atol=2e-4)


def test_randomized_records_give_it_within_its_error_and_uncorrected_ones_do_not(rows):
    model = DecisionTree(max_leaves=20).fit(sf.evidence(rows, SCHEMA), target="income")
    true = model.score(rows)
    release = sf.randomize(rows, scheme(0.2), rng=1)
    found = model.estimate_score(release)
    assert abs(found.accuracy - true) < 5 * found.sd and found.sd < 0.02
    assert found.confusion.sum() == pytest.approx(1, abs=1e-6)
    assert np.trace(found.confusion) == pytest.approx(found.accuracy, abs=1e-6)
    as_if_clean = model.estimate_score(sf.Release(release.arrow(), rest_clear(SCHEMA)))
    assert as_if_clean.accuracy < true - 0.1  # negative control: the channels ignored
    low, high = found.interval
    assert low < found.accuracy < high and float(found) == found.accuracy
    assert set(found.to_dict()) >= {"accuracy", "sd", "confusion", "majority"}


def test_estimate_is_linear_and_unbiased_where_the_channel_allows(rows):
    """With the model trusted little, the answer is the moment estimate."""
    release = sf.randomize(rows, scheme(0.1), rng=2)
    names = ["sex", "income"]
    observed = likelihood(release, names)
    wanted = np.array([0.0, 0.0, 0.0, 1.0])
    wrong = np.array([0.7, 0.1, 0.1, 0.1])
    value = blended_mean([(observed, wrong)], wanted, trust=1e-6).value
    moment = sf.evidence(release).counts(names).value[-1] / len(release)
    assert value == pytest.approx(moment, abs=1e-4)
    trusting = blended_mean([(observed, wrong)], wanted, trust=1e9).value
    assert abs(trusting - moment) > 0.02  # all trust in a wrong model: the model's answer


def test_held_out_records_are_all_there_once(rows):
    release = sf.Release.concat(
        [sf.randomize(rows.slice(0, 500), scheme(0.1), rng=1), sf.randomize(rows.slice(500, 300), scheme(0.3), rng=2)]
    )
    learn, held = hold_out(release, 0.25, rng=1)
    assert len(learn) == 600 and len(held) == 200 and len(held.parts) == 2
    with pytest.raises(EstimationError, match="share must lie"):
        hold_out(release, 1.0)


def test_foreign_releases_are_refused(rows):
    model = NaiveBayes().fit(sf.evidence(rows, SCHEMA), target="income")
    other = sf.evidence(dd.wisconsin(), dd.WISCONSIN)
    with pytest.raises(EstimationError, match="does not hold attribute"):
        model.estimate_score(other)


def test_too_many_combinations_are_scored_through_cliques():
    rng = np.random.default_rng(0)
    wide = sf.Schema({f"a{i}": sf.Categorical(tuple("abcd")) for i in range(11)} | {"y": sf.Categorical(("n", "p"))})
    truth = rng.integers(0, 2, 3000)
    codes = {f"a{i}": np.where(rng.random(3000) < 0.5, 2 * truth, rng.integers(0, 4, 3000)) for i in range(11)}
    table = wide.decode({**codes, "y": truth})
    release = sf.randomize(table, sf.Scheme(wide, {n: c.symmetric(wide[n].size, 0.1) for n in wide}), rng=1)
    model = NaiveBayes().fit(release, target="y")
    found = model.estimate_score(release)
    low, high = found.interval
    assert low < model.score(table) < high
    assert found.confusion.sum() == pytest.approx(1)


def test_a_handful_of_records_is_scored_with_a_wide_interval(rows):
    model = NaiveBayes().fit(sf.evidence(rows, SCHEMA), target="income")
    found = model.estimate_score(sf.randomize(rows.slice(0, 2), scheme(0.2), rng=1))
    assert 0 <= found.interval[0] < found.interval[1] <= 1 and found.sd > 0.1


SMALL = dd.WISCONSIN.select(["clump_thickness", "bare_nuclei", "mitoses", "class"])


def small(p, seed=1):
    used = sf.Scheme(SMALL, {name: c.symmetric(SMALL[name].size, p) for name in SMALL})
    return sf.randomize(dd.wisconsin().select(list(SMALL)), used, rng=seed)


def test_cross_fitted_score_of_clean_records_is_the_cross_validated_accuracy():
    rows = dd.wisconsin().select(list(SMALL))
    release = sf.evidence(rows, SMALL).release
    calls = []
    model = NaiveBayes()
    found = cross_score(model, release, "class", folds=4, rng=3, progress=calls.append)
    right = 0.0
    cut = folds(release, 4, 3)
    for held in cut:
        kept = sf.Release.concat([one for one in cut if one is not held])
        right += NaiveBayes().fit(kept, target="class").score(held.decode()) * len(held)
    assert found.accuracy == pytest.approx(right / len(rows), abs=5e-3)
    assert calls == [1] * (8 + 4) and not hasattr(model, "classes_")
    assert found.confusion.sum() == pytest.approx(1, abs=5e-3) and found.n == len(rows)
    assert found.sd == pytest.approx(np.sqrt(found.accuracy * (1 - found.accuracy) / len(rows)), rel=0.1)


def test_cross_fitted_score_is_narrower_than_one_split_and_holds_the_truth():
    release = small(0.3)
    found = cross_score(NaiveBayes(target="class"), release, rng=1)
    true = NaiveBayes().fit(release, target="class").score(dd.wisconsin())
    low, high = found.interval
    assert low < true < high and found.unbiased == pytest.approx(found.accuracy, abs=0.2)
    kept, held = hold_out(release, 0.25, rng=1)
    split = NaiveBayes().fit(kept, target="class").estimate_score(held)
    assert high - low < 0.8 * (split.interval[1] - split.interval[0])
    as_if_clean = cross_score(NaiveBayes(), sf.Release(release.arrow(), rest_clear(SMALL)), "class", rng=1)
    assert as_if_clean.interval[1] < true  # negative control: the channels ignored


def test_folds_hold_every_record_once():
    release = sf.Release.concat([small(0.1), small(0.2, 2)])
    cut = folds(release, 5, 1)
    assert sum(map(len, cut)) == len(release) and max(map(len, cut)) - min(map(len, cut)) <= 1
    assert all(len(one.parts) == 2 for one in cut)
    for wrong, words in ((1, "at least 2"), (2.5, "whole number"), (10_000, "need at least 20000 records")):
        with pytest.raises(EstimationError, match=words):
            folds(release, wrong)
    with pytest.raises(EstimationError, match="takes a release"):
        cross_score(NaiveBayes(), dd.wisconsin(), "class")
    with pytest.raises(EstimationError, match="needs a target"):
        cross_score(NaiveBayes(), release)


def test_tables_too_large_to_list_are_cross_scored_through_cliques(monkeypatch):
    monkeypatch.setattr("sfumato.learn.score._CELLS", 10)
    release = small(0.1)
    found = cross_score(NaiveBayes(), release, "class", folds=3, rng=1)
    low, high = found.interval
    assert low < NaiveBayes().fit(release, target="class").score(dd.wisconsin()) < high
    assert found.confusion.sum() == pytest.approx(1, abs=0.02)


def test_limits_near_the_ends_cover_and_are_never_empty():
    for true, sd in ((0.95, 0.1), (0.5, 0.1), (0.02, 0.05), (1.0, 0.2)):
        drawn = true + sd * stats.norm.ppf((np.arange(300) + 0.5) / 300)
        limits = np.array([within(each, sd, 0.95) for each in drawn])
        held = np.mean((limits[:, 0] <= true) & (true <= limits[:, 1]))
        assert 0.94 <= held <= 0.97
        assert (limits[:, 0] < limits[:, 1]).all() and limits.min() >= 0 and limits.max() <= 1
        narrow = np.mean(np.abs(drawn - true) <= 0.98 * sd)
        assert narrow < 0.8  # negative control: limits half as wide
    assert within(0.7, 0.0, 0.95) == (0.7, 0.7)


@pytest.mark.parametrize(
    ("accuracy", "sd", "said"),
    [(0.0, 0.2, "too little is known"), (0.80, 0.02, "not shown to be better"), (0.90, 0.02, None)],
)
def test_an_accuracy_that_is_no_finding_says_so(accuracy, sd, said):
    cells = np.full((2, 2), 0.25)
    score = Score(accuracy, sd, cells, cells * sd, 0.79, np.array(["a", "b"]), 100.0, 0.95, accuracy)
    assert (score.caution is None) if said is None else (said in score.caution)
    assert score.to_dict()["caution"] == score.caution
    assert ("no finding" not in repr(score)) if said is None else (f"no finding, {score.caution}" in repr(score))


def test_of_a_large_table_only_the_accuracy_is_weighed_where_the_rest_would_be_too_uncertain(monkeypatch):
    """A confusion matrix of 35 000 records under windows took minutes, and was too uncertain to be shown."""
    release, weighed = small(0.4), []
    full = cross_score(NaiveBayes(), release, "class", folds=2, rng=3)
    share = crossfit.Judge.share
    monkeypatch.setattr(crossfit.Judge, "share", lambda self, cells: weighed.append(1) or share(self, cells))
    monkeypatch.setattr(crossfit, "LARGE", 0)
    found = cross_score(NaiveBayes(), release, "class", folds=2, rng=3)
    assert found.sd > crossfit.TELLING and len(weighed) == 2
    assert np.isnan(found.confusion).all() and found.to_dict()["confusion"] is None
    assert (found.accuracy, found.sd) == (full.accuracy, full.sd) and not np.isnan(full.confusion).any()


def test_a_slope_is_not_sought_beyond_what_shows_in_a_share():
    asked, W = [], np.array([1.0, 1.0, 0.01])

    def forward(x):
        asked.append(1)
        return W * x + 1e6 * np.array([1.0, 2.0, 3.0]) * x

    right = np.array([1e-5, 1e-5, 1e-6])
    conjugate_gradients(forward, right, 1e-9, enough=lambda r: float(r @ (r / W)) < 1e-8)
    assert not asked
    conjugate_gradients(forward, 100 * right, 1e-9, enough=lambda r: float(r @ (r / W)) < 1e-8)
    assert asked


def test_of_many_classes_no_confusion_matrix_is_claimed():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 8, 2000)
    table = {"x": x, "y": np.where(rng.random(2000) < 0.6, x, rng.integers(0, 8, 2000))}
    schema = sf.Schema({name: sf.Categorical(tuple(range(8))) for name in "xy"})
    release = sf.randomize(table, sf.Scheme(schema, {n: c.symmetric(8, 0.1) for n in schema}), rng=1)
    found = NaiveBayes().fit(release, target="y").estimate_score(release)
    assert np.isnan(found.confusion).all() and np.isnan(found.confusion_sd).all()
    assert found.to_dict()["confusion"] is None and 0.5 < found.accuracy < 0.8


def test_a_wide_interval_says_what_would_narrow_it():
    cells = np.full((2, 2), 0.25)

    def score(sd, drawn=False):
        return Score(0.7, sd, cells, cells * sd, 0.5, np.array(["a", "b"]), 100.0, 0.95, 0.7, drawn)

    assert score(0.02).narrower is None and score(0.02).to_dict()["narrower"] is None
    assert "takes about 2.5 times as many records" in score(0.04).narrower
    assert "fewer attributes" in score(0.04, drawn=True).narrower


def test_an_accuracy_over_drawn_records_is_as_sure_as_it_is():
    """Ten attributes, a table too large to list. The error of the model that fills in was taken for that of four
    records: the interval of an accuracy that errs by .02 was .4 wide."""
    rng = np.random.default_rng(3)
    hidden = rng.integers(0, 2, 6000)
    table = {f"x{i}": (hidden * (i % 3 > 0) + rng.integers(0, 4, 6000)) % 4 for i in range(9)}
    table["y"] = np.where(rng.random(6000) < 0.85, hidden, 1 - hidden)
    schema = sf.Schema({name: sf.Categorical(tuple(range(4 if name != "y" else 2))) for name in table})
    release = sf.randomize(table, sf.Scheme.for_gamma(schema, 9), rng=sf.experiment(4))
    found = cross_score(NaiveBayes(), release, "y", rng=5, confusion=False)
    true = NaiveBayes().fit(release, target="y").score(pa.table(table))
    low, high = found.interval
    assert found.drawn and low < true < high and high - low < 0.3


@pytest.mark.filterwarnings("ignore::sfumato.errors.SfumatoWarning")
def test_always_saying_the_largest_class_is_judged_as_a_model_that_does_so():
    """From the fitted model, which draws shares together, it was .01 less on average: a tree without a question
    seemed better than itself."""
    schema = sf.Schema({"x": sf.Categorical(("u", "v")), "y": sf.Categorical(("a", "b", "c", "d"))})
    scheme = sf.Scheme(schema, {"x": sf.channels.symmetric(2, 0.25), "y": sf.channels.symmetric(4, 0.25)})
    table = {"x": ["u", "v"] * 500, "y": ["a"] * 880 + ["b"] * 100 + ["c"] * 20}
    gaps = []
    for seed in range(6):
        release = sf.randomize(table, scheme, rng=sf.experiment(seed))
        tree = DecisionTree().fit(release, target="y")
        assert tree.root_.attribute is None
        both = (cross_score(DecisionTree(), release, "y", rng=1, confusion=False), tree.estimate_score(release))
        gaps.append([one.accuracy - one.majority for one in both])
    assert np.abs(np.mean(gaps, axis=0)).max() < 0.005


def test_what_widens_an_accuracy_under_forms_of_pairs_is_said() -> None:
    """Twenty times the records, and a gamma of 99, left the interval as wide as it was: they are no advice."""
    draws = np.random.default_rng(1)
    kept = draws.random((5, 3000)) < 0.75
    true = draws.integers(0, 2, 3000)
    table = {f"q{i}": np.where(one, true, 1 - true) for i, one in enumerate(kept)} | {"y": true}
    schema = sf.Schema({name: sf.Ordinal((0, 1)) for name in table})
    pairs = sf.randomize(table, sf.Forms.for_gamma(schema, 9, ask=2), rng=sf.experiment(2))
    found = cross_score(sf.learn.NaiveBayes(), pairs, target="y", confusion=False, rng=1)
    assert found.apart and found.narrower is not None
    assert "no record was asked all" in found.narrower and "as many records" not in found.narrower
    whole = sf.randomize(table, sf.Scheme.for_gamma(schema, 3), rng=sf.experiment(2))
    plain = cross_score(sf.learn.NaiveBayes(), whole, target="y", confusion=False, rng=1)
    assert not plain.apart and "times as many records" in str(plain.narrower)
