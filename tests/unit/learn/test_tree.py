"""Decision trees: plain ID3 on clean data, the paper's index, stop rules, pictures and refusals."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import sfumato as sf
from sfumato import datasets
from sfumato.datasets import discretized as dd
from sfumato.errors import EstimationError, SchemaError
from sfumato.evidence.independence import independence
from sfumato.evidence.model.cliques import JunctionEvidence
from sfumato.evidence.questions import ask
from sfumato.learn import TAN, LinearClassifier, NaiveBayes
from sfumato.learn.tree import DecisionTree
from sfumato.learn.tree.grow import gain, impurity
from sfumato.learn.tree.intervals import branch_limits, own_limits, set_intervals
from sfumato.learn.tree.plot import Branch
from sfumato.printable import percentage

c = sf.channels


def lenses():
    table = datasets.load("lenses")
    values = {name: tuple(sorted(set(table[name].to_pylist()))) for name in table.column_names}
    return table, sf.Schema({name: sf.Categorical(held) for name, held in values.items()})


def id3(codes, target, features, criterion=None):
    """Plain ID3, written from the paper's listing: a tuple (attribute, children) or a class."""
    y = codes[target]
    counts = np.bincount(y, minlength=int(y.max()) + 1)
    if (counts > 0).sum() == 1 or not features:
        return int(counts.argmax())

    def entropy(values):
        share = np.bincount(values) / len(values)
        share = share[share > 0]
        return -(share * np.log2(share)).sum()

    best, best_gain = None, 1e-12
    for name in features:
        saved = entropy(y) - sum(
            (codes[name] == v).mean() * entropy(y[codes[name] == v]) for v in np.unique(codes[name])
        )
        if saved > best_gain + 1e-12:
            best, best_gain = name, saved
    if best is None:
        return int(counts.argmax())
    children = {}
    for v in range(int(codes[best].max()) + 1 if best is not None else 0):
        rows = codes[best] == v
        rest = [f for f in features if f != best]
        children[v] = (
            id3({n: col[rows] for n, col in codes.items()}, target, rest) if rows.any() else int(counts.argmax())
        )
    return best, children


def say(tree, row):
    while isinstance(tree, tuple):
        tree = tree[1].get(row[tree[0]], 0)
    return tree


@pytest.mark.parametrize("which", ["lenses", "mushroom", "wisconsin"])
def test_exact_evidence_gives_plain_id3(which):
    table, schema = {
        "lenses": lenses,
        "mushroom": lambda: (dd.mushroom(), dd.MUSHROOM),
        "wisconsin": lambda: (dd.wisconsin(), dd.WISCONSIN),
    }[which]()
    target = schema.names[-1]
    codes = {name: np.asarray(column, dtype=int) for name, column in schema.encode(table).items()}
    plain = id3(codes, target, list(schema.names[:-1]))
    ours = DecisionTree().fit(sf.evidence(table, schema), target=target)
    said = ours.predict(table)
    labels = schema[target].labels
    rows = [dict(zip(codes, row, strict=True)) for row in zip(*codes.values(), strict=True)]
    agree = np.mean([labels[say(plain, row)] == answer for row, answer in zip(rows, said, strict=True)])
    assert agree == 1.0
    assert ours.root_.attribute == schema.names.index(plain[0])


def test_impurity_and_gain_follow_their_formulas():
    table = np.array([[8.0, 2.0], [1.0, 9.0]])
    assert impurity(table, "gini")[0] == pytest.approx(1 - 0.64 - 0.04)
    entropy = float(impurity(np.array([9.0, 11.0]), "entropy")) - 0.5 * float(impurity(table, "entropy").sum())
    assert gain(table, "entropy") == pytest.approx(entropy)
    assert gain(table, "gain_ratio") == pytest.approx(entropy / 1.0)
    assert gain(np.array([[3.0, 3.0], [2.0, 2.0]]), "entropy") == pytest.approx(0, abs=1e-12)
    assert gain(np.array([[-5.0, 3.0], [2.0, 2.0]]), "gini") >= 0  # negative counts are clipped


def test_paper_index_reads_the_right_cell():
    """Ma06's example: a1 = 3, a2 = 1, sizes 3 and 2, two classes: cells 9 and 10 (counted from 1)."""
    cells = np.arange(1, 13).reshape(3, 2, 2)
    assert cells[2, 0].tolist() == [9, 10]


def test_wald_independence_knows_dependence_from_noise():
    rng = np.random.default_rng(0)
    domains = [sf.Categorical((0, 1))] * 2
    for share, low, high in ((0.5, 1e-7, 1), (0.8, 0, 1e-20)):
        x = rng.integers(0, 2, 4000)
        y = np.where(rng.random(4000) < share, x, 1 - x)
        counts = np.zeros((2, 2))
        np.add.at(counts, (x, y), 1 / 4000)
        flat = counts.reshape(-1)
        assert low <= independence(counts, (np.diag(flat) - np.outer(flat, flat)) / 4000, domains) < high


def randomized(p=0.1, seed=0):
    schema = dd.WISCONSIN
    scheme = sf.Scheme(schema, {name: c.symmetric(schema[name].size, p) for name in schema})
    return sf.randomize(dd.wisconsin(), scheme, rng=seed)


def test_all_ways_of_counting_learn_and_the_model_does_best():
    given, rows = randomized(0.2), dd.wisconsin()
    scores = {
        counts: DecisionTree(counts=counts).fit(sf.evidence(given), target="class").score(rows)
        for counts in ("paper", "direct")
    }
    scores["model"] = DecisionTree().fit(sf.evidence(given, method="model", tau=0.3), target="class").score(rows)
    assert min(scores.values()) > 0.75 and scores["model"] > 0.95
    assert scores["model"] >= max(scores.values())


def test_stop_rules_hold():
    model = sf.evidence(randomized(), method="model", tau=0.3)
    small = DecisionTree(max_leaves=6, prune=False).fit(model, target="class")
    assert 1 < len(small.root_.leaves) <= 6
    assert DecisionTree(max_depth=1).fit(model, target="class").root_.depth <= 1
    stump = DecisionTree(max_depth=0).fit(model, target="class")
    assert stump.used_features == () and stump.score(dd.wisconsin()) == pytest.approx(444 / 683)
    noisy = DecisionTree(counts="direct").fit(sf.evidence(randomized(0.4)), target="class")
    grown = DecisionTree(counts="direct", alpha=2.0, min_effective=0).fit(sf.evidence(randomized(0.4)), target="class")
    assert len(noisy.root_.leaves) < len(grown.root_.leaves)


def test_leaves_carry_limits_and_trees_can_be_read(tmp_path):
    model = sf.evidence(randomized(), method="model", tau=0.3)
    tree = DecisionTree(max_leaves=12).fit(model, target="class")
    for leaf in tree.leaves_:
        assert (leaf.low < leaf.probabilities).all() and (leaf.probabilities < leaf.high).all()
    assert "benign" in tree.text() and "?" in tree.text(1)
    tree.plot(tmp_path / "tree.png", depth=2)
    assert (tmp_path / "tree.png").stat().st_size > 5000
    exact = DecisionTree(max_depth=2).fit(sf.evidence(dd.wisconsin(), dd.WISCONSIN), target="class")
    assert all((leaf.low <= leaf.probabilities + 1e-9).all() for leaf in exact.leaves_)
    direct = DecisionTree(counts="direct").fit(sf.evidence(randomized()), target="class")
    assert all(leaf.low is not None for leaf in direct.leaves_)


def test_bad_input_is_one_clear_line():
    table, schema = lenses()
    exact = sf.evidence(table, schema)
    for learner, target, words in [
        (DecisionTree(), "nothing", "not in the release"),
        (DecisionTree(), None, "needs a target"),
        (DecisionTree(criterion="luck"), "lenses", "criterion must be one of"),
        (DecisionTree(counts="some"), "lenses", "counts must be one of"),
        (DecisionTree(max_leaves=0), "lenses", "max_leaves"),
    ]:
        with pytest.raises(EstimationError, match=words):
            learner.fit(exact, target=target)
    with pytest.raises(EstimationError, match="takes evidence or a release"):
        DecisionTree().fit(table, target="lenses")
    with pytest.raises(EstimationError, match="not fitted"):
        DecisionTree().predict(table)
    tree = DecisionTree().fit(exact, target="lenses")
    with pytest.raises(SchemaError, match="does not fit the schema"):
        tree.predict({"age": ["young"]})
    with pytest.raises(SchemaError, match="column 'age': 1 row holds a value that is not in its domain"):
        tree.predict({"age": ["ancient"], "prescription": ["myope"], "astigmatic": ["no"], "tear_rate": ["normal"]})
    same = sf.Schema({"a": sf.Categorical(("x", "y")), "b": sf.Categorical(("only",)), "k": sf.Categorical(("u", "v"))})
    rows = {"a": ["x", "y"], "b": ["only"] * 2, "k": ["u", "u"]}
    with pytest.raises(EstimationError, match="only the class 'u'"):
        DecisionTree().fit(sf.evidence(rows, same), target="k")
    with pytest.raises(EstimationError, match="one class"):
        DecisionTree().fit(sf.evidence(rows, same), target="b")


@pytest.mark.parametrize(
    ("model", "field"),
    [
        (DecisionTree(max_leaves="many"), "max_leaves"),
        (DecisionTree(counts="direct", alpha=-1), "alpha"),
        (LinearClassifier("logistic", C="x"), "C must be positive"),
        (LinearClassifier("lda", ridge="x"), "ridge"),
        (LinearClassifier(counts="x"), "counts must be"),
        (LinearClassifier(values={"nobody": [1]}), "nobody"),
        (NaiveBayes(smoothing="x"), "smoothing"),
        (TAN(smoothing=-1), "smoothing"),
    ],
)
def test_wrong_parameters_are_named(model, field):
    schema = sf.Schema({"a": sf.Categorical((0, 1)), "b": sf.Categorical((0, 1)), "y": sf.Categorical(("n", "p"))})
    table = {"a": [0, 1, 0, 1], "b": [0, 0, 1, 1], "y": ["n", "p", "n", "p"]}
    with pytest.raises(EstimationError, match=field):
        model.fit(sf.evidence(table, schema), target="y")


def test_id3_as_the_paper_lists_it_learns_an_exclusive_or():
    """No attribute alone gains anything; the listing goes on until a node is pure, and our own trees stop."""
    schema = sf.Schema({name: sf.Categorical(("0", "1")) for name in ("a", "b", "y")})
    table = {"a": ["0", "0", "1", "1"] * 25, "b": ["0", "1", "0", "1"] * 25, "y": ["0", "1", "1", "0"] * 25}
    raw = sf.evidence(table, schema)
    paper = sf.learn.DecisionTree(counts="paper").fit(raw, target="y")
    assert paper.score(table) == 1 and len(paper.root_.leaves) == 4
    stopped = sf.learn.DecisionTree(counts="paper", min_gain=0.01).fit(raw, target="y")
    assert len(stopped.root_.leaves) == 1


@pytest.mark.parametrize("kind", ["direct", "model", "junction"])
def test_siblings_that_are_asked_for_together_get_the_tables_they_get_alone(kind) -> None:
    rng = np.random.default_rng(5)
    schema = sf.Schema(
        {name: sf.Categorical(tuple(range(k))) for name, k in zip("abcdy", (2, 3, 4, 3, 3), strict=True)}
    )
    a = rng.integers(0, 2, 900)
    table = {"a": a, "b": (a + rng.integers(0, 2, 900)) % 3, "c": rng.integers(0, 4, 900), "d": rng.integers(0, 3, 900)}
    table["y"] = (table["b"] + (rng.random(900) < 0.3)) % 3
    release = sf.randomize(table, sf.Scheme.for_gamma(schema, 20), rng=sf.experiment(2))
    source = {
        "direct": lambda: sf.evidence(release),
        "model": lambda: sf.evidence(release, method="model", tau=0.3),
        "junction": lambda: JunctionEvidence(release, most=40),
    }[kind]()
    together = source.within({"a": np.array([0, 1, 1]), "b": np.array([2, 0, 1])}, ["d", "c"], "y")
    assert [one.shape for one in together] == [(3, 3, 3), (3, 4, 3)]
    for case, fixed in enumerate(({"a": 0, "b": 2}, {"a": 1, "b": 0}, {"a": 1, "b": 1})):
        for alone, several in zip(source.within(fixed, ["d", "c"], "y"), together, strict=True):
            np.testing.assert_allclose(several[case], alone, rtol=1e-10, atol=1e-10)


def test_printed_shares_carry_the_interval_of_their_branch_or_are_not_told():
    """Leaves of big trees were printed as shares without errors, where nearly every share was possible."""
    rng = np.random.default_rng(4)
    place, few = rng.choice(list("abcd"), 6000, p=[0.4, 0.3, 0.2, 0.1]), rng.integers(0, 2, 6000)
    ill = rng.random(6000) < np.select([place == "a", place == "b"], [0.15, 0.2], 0.8)
    schema = sf.Schema(
        {"place": sf.Categorical(tuple("abcd")), "few": sf.Categorical((0, 1)), "ill": sf.Categorical((False, True))}
    )
    own = sf.Scheme.for_gamma(schema, 6)
    ev = sf.evidence(sf.randomize({"place": place, "few": few, "ill": ill}, own, rng=sf.experiment(1)))
    tree = DecisionTree(max_depth=1).fit(ev, target="ill")
    lines = tree.text(level=0.95).splitlines()
    low, high = ev.share("ill", where={"place": ["a", "b"]}).population().interval()
    assert lines[0] == "place?" and "a, b: False" in lines[1] and "c, d: True" in lines[2]
    assert f"({percentage(low[0], 1)} to {percentage(high[0], 1)})" in lines[1]
    low, high = ask.share_where(ev, {"place": ["a", "b"]}).population().interval()
    assert f"({percentage(low[0], 1)} to {percentage(high[0], 1)}) of records" in lines[1]
    assert "to" not in tree.text().splitlines()[1]
    weak = sf.Scheme.for_gamma(schema, 1.2)
    hardly = sf.evidence(sf.randomize({"place": place, "few": few, "ill": ill}, weak, rng=sf.experiment(1)))
    grown = DecisionTree(max_depth=1, counts="paper").fit(hardly, target="ill")
    assert "(not told)" in grown.text(level=0.95)
    with pytest.raises(EstimationError, match="level"):
        tree.text(level=2)


def test_the_share_of_the_records_in_a_branch_has_an_interval_that_holds_it():
    """It was the model's guess, without an interval. The negative control: half of it."""
    rng = np.random.default_rng(8)
    place = rng.choice(list("abcd"), 3000, p=[0.4, 0.3, 0.25, 0.05])
    grade = np.where(rng.random(3000) < 0.9, np.searchsorted(list("abcd"), place), rng.integers(0, 4, 3000))
    ill = rng.random(3000) < np.where(grade > 1, 0.85, 0.1) * np.where(place == "d", 0.3, 1)
    table = {"place": place, "grade": grade, "ill": ill}
    schema = sf.Schema(
        {
            "place": sf.Categorical(tuple("abcd")),
            "grade": sf.Ordinal((0, 1, 2, 3)),
            "ill": sf.Categorical((False, True)),
        }
    )
    held, half = [], []
    for seed in range(60):
        release = sf.randomize(table, sf.Scheme.for_gamma(schema, 8), rng=sf.experiment(seed))
        tree = DecisionTree(max_depth=2).fit(release, target="ill")
        limits = branch_limits(tree, 0.95)
        for leaf in tree.leaves_:
            if leaf.path:
                inside = np.all(
                    [schema.encode(table)[tree.features_[axis]] == code for axis, code in leaf.path], axis=0
                )
                low, high = limits.held(Branch("", leaf))
                held.append(low <= inside.mean() <= high)
                middle, width = (low + high) / 2, (high - low) / 4
                half.append(abs(inside.mean() - middle) <= width)
    assert len(held) > 150 and np.mean(held) > 0.93
    assert np.mean(half) < 0.85


def test_a_tree_without_a_question_is_printed_where_the_table_of_all_is_too_large():
    rng = np.random.default_rng(2)
    schema = sf.Schema({name: sf.Ordinal(tuple(range(12))) for name in "abcdefg"} | {"y": sf.Categorical((0, 1))})
    table = {name: rng.integers(0, 12, 400) for name in "abcdefg"} | {"y": rng.integers(0, 2, 400)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = sf.randomize(table, sf.Scheme.for_gamma(schema, 5), rng=sf.experiment(1))
        tree = DecisionTree(max_depth=0).fit(release, target="y")
    assert len(tree.root_.leaves) == 1
    assert tree.text(level=0.95).endswith("100 % of records")


def test_limits_of_classes_are_told_where_no_answer_is_a_class():
    """Every printed share of a target with gaps was "not told", and the limits of leaves were those of the model alone."""
    rng = np.random.default_rng(8)
    place = rng.choice(list("ab"), 4000)
    ill = np.where(rng.random(4000) < np.where(place == "a", 0.2, 0.7), "yes", "no").astype(object)
    ill[rng.random(4000) < 0.1] = None
    schema = sf.Schema({"place": sf.Categorical(tuple("ab")), "ill": sf.Categorical(("no", "yes"), nullable=True)})
    release = sf.randomize({"place": place, "ill": ill}, sf.Scheme.for_gamma(schema, 9), rng=sf.experiment(1))
    tree = DecisionTree(max_depth=1).fit(sf.evidence(release), target="ill")
    lines = tree.text(level=0.95).splitlines()
    boxes = [text.get_text() for text in tree.plot().axes[0].texts]
    assert sum("%) of " in text and "–" in text for text in boxes) == 2  # the picture tells them, too
    assert "no  7" in lines[1] and "yes  6" in lines[2] and all("% to " in line for line in lines[1:])
    set_intervals(tree)
    for leaf, where in zip(tree.root_.leaves, "ab", strict=True):
        own_low, own_high = own_limits(tree, leaf, 1.96)
        low, high = (
            ask.share(sf.evidence(release), "ill", where={"place": where}, answered=False).population().interval()
        )
        truth = [(ill[place == where] == value).mean() for value in ("no", "yes", None)]
        assert len(low) == 3 and np.all(low <= truth) and np.all(truth <= high)
        np.testing.assert_allclose(leaf.low, np.minimum(low, own_low), atol=1e-4)
        np.testing.assert_allclose(leaf.high, np.maximum(high, own_high), atol=1e-4)


def test_raw_records_of_many_values_grow_the_tree_of_those_they_hold():
    """Paths of six questions with a hundred values each have no table that could be listed."""
    codes = np.random.default_rng(1).integers(0, 2, (400, 6))
    table = {f"q{i}": codes[:, i] for i in range(6)} | {"y": codes.sum(axis=1) % 2}
    few, many = (
        sf.Schema({f"q{i}": sf.Ordinal(tuple(range(size))) for i in range(6)} | {"y": sf.Ordinal((0, 1))})
        for size in (2, 100)
    )
    asked, plain = (DecisionTree().fit(sf.evidence(table, schema), target="y") for schema in (many, few))
    assert plain.score(table, table["y"]) > 0.9
    assert list(asked.predict(table)) == list(plain.predict(table))
    looked_up = sf.evidence(table, many).within({f"q{i}": 1 for i in range(4)}, ["q4", "q5"], "y")
    here = codes[:, :4].all(axis=1)
    for name, found in zip(("q4", "q5"), looked_up, strict=True):
        exact = np.zeros((100, 2))
        np.add.at(exact, (table[name][here], table["y"][here]), 1)
        assert (found == exact).all()
