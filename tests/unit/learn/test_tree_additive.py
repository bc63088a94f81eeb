"""Trees under additive noise: what each reconstruction tells, the pieces of it, the command, and refusals."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.learn import app
from sfumato.errors import EstimationError, ReleaseError, UnrecoverableWarning
from sfumato.learn import AdditiveTree, DecisionTree
from sfumato.learn.tree.reconstruction import by_rank, number_of_intervals
from sfumato.learn.tree.thresholds import leaf_bits

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.errors.DisclosureWarning")
c = sf.channels
NOISE = c.uniform(30)
RANGES = [(20.0, 80.0), (0.0, 100.0)]


def people(n: int = 12_000, seed: int = 0):
    rng = np.random.default_rng(seed)
    x = np.stack([rng.uniform(20, 80, n), rng.uniform(0, 100, n)], axis=1)
    return x, np.where((x[:, 0] < 40) | (x[:, 0] >= 60), "A", "B")


def noisy(x, seed: int = 1):
    return np.stack([NOISE.randomize(x[:, j], rng=seed + j) for j in range(x.shape[1])], axis=1)


def test_classes_are_told_apart_only_where_they_are_reconstructed_apart():
    x, y = people()
    z, (clean, truth) = noisy(x), people(4000, 7)
    found = {
        how: AdditiveTree([NOISE, NOISE], how, RANGES).fit(z, y).score(clean, truth)
        for how in ("none", "global", "by_class", "local")
    }
    assert found["by_class"] > 0.93 and found["local"] > 0.93
    assert found["none"] < 0.75 and found["global"] < 0.85


def test_without_noise_it_is_a_plain_tree():
    x, y = people()
    tree = AdditiveTree([None, None], "by_class", names=["age", "income"], target="group").fit(x, y)
    assert tree.score(*people(4000, 7)) > 0.98
    assert tree.root_.depth <= 4
    assert "age?" in tree.text() and "below 40." in tree.text() and "income" not in tree.text()
    shares = tree.predict_proba(x[:5])
    assert shares.shape == (5, 2) and np.allclose(shares.sum(axis=1), 1)


def test_nothing_is_grown_on_noise():
    x, _ = people()
    coin = np.random.default_rng(3).integers(0, 2, len(x))
    assert AdditiveTree([NOISE, NOISE], "by_class", RANGES).fit(noisy(x), coin).root_.depth <= 1


def test_local_keeps_to_what_was_asked_above():
    """Where the second question matters only after the first, reconstruction in the node finds it."""
    rng = np.random.default_rng(5)
    x = rng.uniform(0, 100, (20_000, 2))
    y = (x[:, 0] < 50) & (x[:, 1] < 50)
    small = c.uniform(20)
    z = np.stack([small.randomize(x[:, j], rng=j) for j in range(2)], axis=1)
    found = [AdditiveTree([small] * 2, how, [(0, 100)] * 2).fit(z, y).score(x, y) for how in ("by_class", "local")]
    assert min(found) > 0.9


def test_ranks_fill_the_intervals_as_they_should_be_filled():
    z = np.random.default_rng(0).normal(size=1000)
    placed = by_rank(z, np.array([0.1, 0.1, 0.7]))
    assert np.bincount(placed, minlength=4).tolist() == [100, 0, 600, 300]
    assert z[placed == 0].max() < z[placed == 2].min() < z[placed == 3].min()
    assert [number_of_intervals(n) for n in (50, 5000, 10**6)] == [10, 50, 100]


def test_a_pure_leaf_is_cheaper_than_a_mixed_one():
    assert leaf_bits(np.array([100.0, 0.0])) < leaf_bits(np.array([90.0, 10.0])) < leaf_bits(np.array([50.0, 50.0]))


def release(target=None):
    x, y = people(6000)
    schema = {
        "age": sf.Numeric(20, 80, bins=7),
        "income": sf.Numeric(0, 100, bins=5),
        "group": sf.Categorical(("A", "B")),
    }
    table = {"age": x[:, 0], "income": x[:, 1], "group": y}
    chosen = {"age": NOISE, "income": c.identity(5), "group": target or c.identity(2)}
    return sf.randomize(table, sf.Scheme(sf.Schema(schema), chosen), rng=sf.experiment(1)), table


def test_a_release_gives_its_numbers():
    found, _ = release()
    numbers = found.noisy_numbers("group")
    assert numbers.names == ("age", "income") and numbers.noises == (NOISE, None) and numbers.support == tuple(RANGES)
    assert numbers.z[:, 0].min() < 20 and set(np.unique(numbers.z[:, 1])) == {10.0, 30.0, 50.0, 70.0, 90.0}
    tree = AdditiveTree(numbers.noises, support=numbers.support).fit(numbers.z, numbers.classes)
    x, y = people(2000, 7)
    assert tree.score(*numbers.clean({"age": x[:, 0], "income": x[:, 1], "group": y})) > 0.9


def test_intervals_let_every_learner_ask():
    """The channel between intervals is exact for what is even within a bin, so that counts come out unbiased."""
    found, table = release(c.symmetric(2, 0.1))
    cut = found.in_intervals()
    assert not cut.scheme.noises and cut.schema == found.schema
    ages = sf.evidence(cut).counts(["age"])
    truth = np.histogram(table["age"], np.linspace(20, 80, 8))[0]
    low, high = ages.interval(0.9999)
    assert (low <= truth).all() and (truth <= high).all()
    tree = DecisionTree().fit(cut, target="group")
    x, y = people(2000, 7)
    assert tree.score({"age": x[:, 0], "income": x[:, 1], "group": y}) > 0.75
    assert sf.randomize(table, sf.Scheme.identity(found.schema)).in_intervals().scheme == sf.Scheme.identity(
        found.schema
    )


@pytest.mark.parametrize("bins", [4, 12])
def test_noise_that_hides_the_bins_is_said(bins):
    """Under noise twice as wide as a bin a tree said of a quarter of the records that they were three fifths."""
    months = np.random.default_rng(1).uniform(0, 72, 7000)
    schema = sf.Schema({"months": sf.Numeric(0, 72, bins=bins)})
    scheme = sf.Scheme(schema, {"months": c.gaussian(12)})
    found = sf.randomize({"months": months}, scheme, rng=sf.experiment(1))
    if bins == 12:
        with pytest.warns(UnrecoverableWarning, match=r"hides the 12 bins of 'months'.*of 7 bins it would be known"):
            found.in_intervals()
        with pytest.warns(UnrecoverableWarning, match="hides the 12 bins"):
            sf.Release.concat([found, found]).in_intervals()
        return
    counts = sf.evidence(found.in_intervals()).counts(["months"])  # without a warning, and then shares are told
    low, high = counts.interval(0.95)
    assert (np.median(high - low) / 2 < 7000 / bins).all()


def test_noise_that_leaves_nothing_is_said():
    x, y = people(2000)
    wide = c.gaussian(200)
    with pytest.warns(UnrecoverableWarning, match="what it hides in x0"):
        AdditiveTree([wide, NOISE], support=RANGES).fit(np.stack([wide.randomize(x[:, 0], rng=5), x[:, 1]], axis=1), y)


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (
            lambda: AdditiveTree([NOISE], "twice").fit([[1.0], [2.0]], [0, 1]),
            "reconstruct must be one of by_class, local",
        ),
        (lambda: AdditiveTree([NOISE], method="x").fit([[1.0], [2.0]], [0, 1]), "method must be one of as, em, auto"),
        (lambda: AdditiveTree([NOISE], support=[]).fit([[1.0], [2.0]], [0, 1]), "a pair \\(low, high\\) per column"),
        (lambda: AdditiveTree([NOISE], support=[(3, 1)]).fit([[1.0], [2.0]], [0, 1]), "two increasing finite numbers"),
        (lambda: AdditiveTree([NOISE], support=[3]).fit([[1.0], [2.0]], [0, 1]), "a pair of numbers"),
        (lambda: AdditiveTree([NOISE]).fit([[1.0], [1.0]], [0, 1]), "column 'x0' holds one number only"),
        (
            lambda: AdditiveTree([NOISE], names=["a", "b"]).fit([[1.0], [2.0]], [0, 1]),
            "name each of the 1 columns once",
        ),
        (lambda: AdditiveTree([NOISE], min_records=0).fit([[1.0], [2.0]], [0, 1]), "min_records must be"),
        (lambda: AdditiveTree([NOISE]).predict([[1.0]]), "not fitted yet"),
        (lambda: AdditiveTree([NOISE]).text(), "not fitted yet"),
        (lambda: release(c.symmetric(2, 0.1))[0].noisy_numbers("group"), "'group' is randomized"),
        (lambda: release()[0].noisy_numbers("age"), "'age' is randomized"),
        (lambda: release()[0].noisy_numbers("nobody"), "no attribute 'nobody'"),
        (lambda: release()[0].select(["income", "group"]).noisy_numbers("group"), "there is none to reconstruct"),
        (lambda: release()[0].noisy_numbers("income"), "'group' is no number"),
    ],
)
def test_refusals(call, line):
    with pytest.raises((EstimationError, ReleaseError), match=line):
        call()


def test_the_command_grows_both(tmp_path):
    found, table = release()
    found.save(tmp_path / "r.parquet")
    import pyarrow as pa
    from pyarrow import csv

    csv.write_csv(pa.table(table), tmp_path / "clean.csv")
    words = ["tree", str(tmp_path / "r.parquet"), "--target", "group", "--test", str(tmp_path / "clean.csv")]
    said = CliRunner().invoke(app, [*words, "--reconstruct", "by_class", "--plot", str(tmp_path / "t.svg")])
    assert said.exit_code == 0, said.output
    assert "age?" in said.output and "accuracy on" in said.output and (tmp_path / "t.svg").exists()
    told = CliRunner().invoke(app, [*words, "--reconstruct", "local", "--json"])
    assert json.loads(told.stdout)["test_accuracy"] > 0.9
    cut = CliRunner().invoke(app, [*words, "--seed", "1"])
    assert cut.exit_code == 0 and "cut into the bins of the schema: age" in cut.output
