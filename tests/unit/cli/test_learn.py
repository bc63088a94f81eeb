"""The learn commands: what they print, what they write, and how they refuse."""

from __future__ import annotations

import json
import re
from itertools import count

import numpy as np
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli import console, learn_model, learning
from sfumato.cli.learn import app
from sfumato.datasets import discretized as dd
from sfumato.errors import SfumatoError, UnrecoverableWarning
from sfumato.evidence.model import joint
from sfumato.evidence.plot import plot_shares
from sfumato.learn.crossfit import cross_score, steps
from sfumato.learn.linear import LinearClassifier

NAMES = ["clump_thickness", "bare_nuclei", "mitoses", "class"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("learn")
    schema = dd.WISCONSIN.select(NAMES)
    scheme = sf.Scheme(schema, {n: sf.channels.symmetric(schema[n].size, 0.1) for n in NAMES})
    sf.randomize(dd.wisconsin(), scheme, rng=1).save(folder / "r.parquet")
    from pyarrow import csv

    csv.write_csv(dd.wisconsin().select(NAMES), folder / "clean.csv")
    return folder


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.mark.parametrize(
    ("command", "options"),
    [("tree", ()), ("linear", ("--loss", "lda")), ("naive-bayes", ()), ("naive-bayes", ("--tan",)), ("model", ())],
)
def test_classifiers_say_their_estimated_accuracy(files, command, options):
    picture = files / f"{command}{len(options)}.png"
    words = ["--target", "class", "--seed", 1, "--test", files / "clean.csv", *options, "--plot", picture]
    said = run(command, files / "r.parquet", *words, "--json")
    assert said.exit_code == 0, said.output
    found = json.loads(said.stdout)
    assert found["test_accuracy"] > 0.9 and abs(found["estimated"]["accuracy"] - found["test_accuracy"]) < 0.2
    assert picture.exists()


@pytest.mark.parametrize(("command", "options"), [("linear", ("--loss", "lda")), ("naive-bayes", ())])
def test_answers_can_be_read(files, command, options):
    said = run(command, files / "r.parquet", "--target", "class", "--seed", 1, "--test", files / "clean.csv", *options)
    assert said.exit_code == 0, said.output
    assert "estimated accuracy on clean records" in said.output and "accuracy on" in said.output
    confusion = said.output.partition("shares of all records in percent, ± one standard error:")[2].splitlines()[2:4]
    assert all(re.fullmatch(r"\S+( +\d+\.\d\d\s±\s\d\.\d\d){2} *", row) for row in confusion), said.output


@pytest.mark.parametrize("command", ["linear", "naive-bayes"])
def test_tables_of_weights_and_shares_carry_their_errors(files, command):
    words = [files / "r.parquet", "--target", "class", "--seed", 1]
    said = run(command, *words)
    assert said.exit_code == 0 and "± one standard error" in said.output
    found = json.loads(run(command, *words, "--json").stdout)
    errors = [one["sd"] for one in found["scaled"]] if command == "linear" else found["standard_errors"]["mitoses"][0]
    assert all(0 < error < 3 for error in errors)


def test_weights_under_hinge_have_open_errors(files):
    """Of four tables 95 % limits held 0 to .97 of them, by what parts of the records show."""
    words = [files / "r.parquet", "--target", "class", "--no-accuracy", "--loss", "hinge"]
    said = run("linear", *words).output
    assert "open under loss hinge" in " ".join(said.split()) and "∞" in said and "no weight differs" not in said
    found = json.loads(run("linear", *words, "--json").stdout)
    assert "open under loss hinge" in found["sd_of_scaled"] and {one["sd"] for one in found["scaled"]} == {"inf"}


@pytest.mark.parametrize("loss", ["lda", "least_squares"])
def test_errors_of_weights_that_unbiased_counts_have_no_say_in_say_so(files, loss):
    words = [files / "r.parquet", "--target", "class", "--seed", 1, "--loss", loss, "--columns", "class,mitoses"]
    told = "they tell too little where features are alike or values rare"
    assert told in json.loads(run("linear", *words, "--json").stdout)["sd_of_scaled"]
    assert told in " ".join(run("linear", *words).output.split())


def test_errors_of_weights_of_forms_say_that_no_records_answered_everything(tmp_path):
    rng = np.random.default_rng(3)
    schema = sf.Schema({name: sf.Categorical(("no", "yes")) for name in ("a", "b", "y")})
    a = rng.integers(0, 2, 6000)
    codes = {"a": a, "b": rng.integers(0, 2, 6000), "y": (rng.random(6000) < 0.3 + 0.4 * a).astype(int)}
    forms = sf.Forms([sf.Scheme.for_gamma(schema.select([one, "y"]), 9) for one in "ab"])
    table = {name: np.array(["no", "yes"])[own] for name, own in codes.items()}
    sf.randomize(table, forms, rng=sf.experiment(1)).save(tmp_path / "r.parquet")
    words = [tmp_path / "r.parquet", "--target", "y", "--seed", 1]
    said = "they tell too little where features are alike or values rare, since no records answered all of them"
    assert said in " ".join(run("linear", *words).output.split())
    assert said in LinearClassifier().fit(sf.Release.load(tmp_path / "r.parquet"), target="y").errors_told


@pytest.mark.parametrize(("loss", "drawn"), [("logistic", True), ("pocket", False)])
def test_errors_of_weights_that_a_penalty_draws_to_0_say_so(files, loss, drawn):
    picture = files / f"{loss}.svg"
    words = [files / "r.parquet", "--target", "class", "--seed", 1, "--loss", loss, "--columns", "class,mitoses"]
    found = json.loads(run("linear", *words, "--plot", picture, "--json").stdout)
    assert ("weights may be larger still" if drawn else "noise alone") in found["sd_of_scaled"]
    assert ("may be larger still" in " ".join(re.findall(r"<!-- (.*?) -->", picture.read_text()))) == drawn


@pytest.mark.parametrize(("gamma", "tells"), [(3, False), (400, True)])
def test_linear_says_where_the_records_do_not_tell_its_weights(tmp_path, gamma, tells):
    rng = np.random.default_rng(0)
    table = {f"x{i}": rng.integers(0, 4, 3000) for i in range(3)}
    table["y"] = (8 * (table["x0"] - table["x1"] + 0.5) + rng.logistic(0, 1, 3000) > 0).astype(np.int64)
    schema = sf.Schema({f"x{i}": sf.Ordinal(range(4)) for i in range(3)} | {"y": sf.Categorical((0, 1))})
    sf.randomize(table, sf.Scheme.for_gamma(schema, gamma), rng=sf.experiment(1)).save(tmp_path / "r.parquet")
    said = " ".join(run("linear", tmp_path / "r.parquet", "--target", "y", "--no-accuracy").output.split())
    for words in ("± ∞: the records do not tell how large", "no weight differs from 0 beyond its error"):
        assert (words not in said) == tells


def test_values_too_rare_for_a_weight_are_named(tmp_path):
    rng = np.random.default_rng(2)
    site = rng.choice(5, 6000, p=[0.0005, 0.2, 0.3995, 0.2, 0.2])
    schema = sf.Schema({"site": sf.Categorical(tuple("abcde")), "y": sf.Categorical((0, 1))})
    table = {"site": np.array(list("abcde"))[site], "y": (rng.random(6000) < 0.1 + 0.2 * site).astype(int)}
    sf.randomize(table, sf.Scheme.for_gamma(schema, 9), rng=sf.experiment(1)).save(tmp_path / "r.parquet")
    words = [tmp_path / "r.parquet", "--target", "y", "--seed", 1]
    said = run("linear", *words).output
    assert "site with c, since the first value is so rare" in said
    assert [line.split()[:3] for line in said.splitlines() if "site=a" in line] == [["site=a", "not", "told"]]
    found = json.loads(run("linear", *words, "--no-errors", "--json").stdout)
    assert found["not_told"] == ["site=a"] and found["compared_with"] == {"site": "c"}
    assert [one["feature"] for one in found["scaled"]] == ["site=b", "site=d", "site=e"]
    assert found["columns"] == ["site=a", "site=b", "site=d", "site=e", "constant"]
    assert all(row[0] == 0 for row in found["weights"].values())


def test_model_draws_synthetic_records(files):
    said = run("model", files / "r.parquet", "--tau", 0.3, "--sample", files / "s.csv", "--rows", 50, "--seed", 1)
    assert said.exit_code == 0 and len((files / "s.csv").read_text().splitlines()) == 51


def test_rules_are_listed_and_held_against_clean_rows(files):
    words = [files / "r.parquet", "--support", 0.2, "--target", "class", "--test", files / "clean.csv"]
    said = run("rules", *words, "--plot", files / "rules.png")
    assert said.exit_code == 0 and "=>" in said.output and "against the clean rows" in said.output
    assert "on average at most 0.05 of the reported sets" in " ".join(said.output.split())
    found = json.loads(run("rules", *words, "--json").stdout)
    assert found["rules"][0]["consequent"][0].startswith("class=") and found["against_clean_rows"]["frequent"] > 5
    assert found["by"] == "lower" and all(one["low"] >= 0.2 for one in found["itemsets"]) and not found["shortfall"]
    points = json.loads(run("rules", *words, "--point-estimates", "--json").stdout)
    assert points["by"] == "estimate" and len(points["itemsets"]) > len(found["itemsets"])


def test_rules_say_when_nothing_can_be_told(files):
    weak = sf.Scheme.for_gamma(dd.WISCONSIN, gamma=1.5)
    sf.randomize(dd.wisconsin(), weak, rng=1).save(files / "weak.parquet")
    with pytest.warns(UnrecoverableWarning):
        said = run("rules", files / "weak.parquet", "--plot", files / "none.png", "--json")
    assert said.exit_code == 0 and "gamma" in json.loads(said.stdout)["shortfall"]
    assert not (files / "none.png").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("tree", "--target", "colour"), "not in the release"),
        (("rules", "--support", 2), "must lie in"),
        (("linear", "--target", "class", "--loss", "zero"), "loss must be one of"),
    ],
)
def test_refusals_are_our_errors(files, words, says):
    command, *options = words
    said = run(command, files / "r.parquet", *options)
    assert said.exit_code != 0 and isinstance(said.exception, sf.SfumatoError) and says in str(said.exception)


@pytest.mark.parametrize("command", ["model", "tree", "rules", "linear", "naive-bayes"])
def test_help_has_worked_examples(command):
    assert f"sfumato learn {command}" in run(command, "--help").output


def test_a_bushy_tree_is_printed_in_part(tmp_path):
    rng = np.random.default_rng(2)
    place, job = rng.integers(0, 120, 6000), rng.integers(0, 8, 6000)
    table = {"place": place, "job": job, "vote": (place % 4 + (job > 3) * (place % 2)) % 4}
    schema = sf.Schema({name: sf.Categorical(tuple(range(k))) for name, k in (("place", 120), ("job", 8), ("vote", 4))})
    scheme = sf.Scheme(schema, {name: sf.channels.symmetric(schema[name].size, 0.05) for name in schema})
    sf.randomize(table, scheme, rng=1).save(tmp_path / "r.parquet")
    said = run("tree", tmp_path / "r.parquet", "--target", "vote", "--seed", 1)
    assert said.exit_code == 0 and len(said.output.splitlines()) < 80
    assert "small branches" in said.output and "--all prints each of them" in said.output
    assert "; then job? ... 8 leaves" in run("tree", tmp_path / "r.parquet", "--target", "vote", "--depth", 1).output
    whole = run("tree", tmp_path / "r.parquet", "--target", "vote", "--seed", 1, "--all")
    assert "small branches" not in whole.output and len(whole.output.splitlines()) > 80


def test_long_tables_keep_the_rows_that_tell_most(capsys):
    from sfumato.cli import learning

    heads = ["value", "if x", "±", "if y", "±"]
    rows = [[f"a = {i}", i / 100, 0.0, 0.0, 0.0] for i in range(100)]
    learning.show_rows(heads, rows, np.arange(100) / 100, everything=False)
    shown = capsys.readouterr()
    assert "the 60 of 100 rows that tell the classes apart most" in shown.err
    assert [line.split()[2] for line in shown.out.splitlines()[1:]] == [str(i) for i in range(40, 100)]
    learning.show_rows(heads, rows, np.arange(100) - 97.0, everything=False)
    shown = capsys.readouterr()
    assert "the 2 of 100 rows that tell the classes apart by more than chance does" in shown.err
    assert len(shown.out.splitlines()) == 3
    learning.show_rows(heads, rows, -np.arange(100.0), everything=False)
    shown = capsys.readouterr()
    assert shown.out.startswith("none of the 100 rows tells the classes apart by more than chance does")
    assert [line.split()[2] for line in shown.out.splitlines()[-10:]] == [str(i) for i in range(10)]
    learning.show_rows(heads, rows, np.zeros(100), everything=True)
    assert len(capsys.readouterr().out.splitlines()) == 101


def test_rows_of_noise_are_not_said_to_tell_the_classes_apart(tmp_path):
    """Of 100 values of 25 attributes, of which only one may lean on the class."""
    rng = np.random.default_rng(2)
    n, names = 4000, [f"a{i}" for i in range(25)]
    data = {name: rng.integers(0, 4, n) for name in names} | {"y": rng.choice(["no", "yes"], n)}
    schema = sf.Schema({name: sf.Categorical(range(5)) for name in names} | {"y": sf.Categorical(("no", "yes"))})
    for told in (False, True):
        data["a7"] = np.where((data["y"] == "yes") & (rng.random(n) < 0.9), 1, data["a7"]) if told else data["a7"]
        release = sf.randomize(data, sf.Scheme.for_gamma(schema, 9), rng=sf.experiment(3))
        release.save(tmp_path / "r.parquet", overwrite=True)
        found = run("naive-bayes", tmp_path / "r.parquet", "--target", "y", "--no-accuracy")
        listed = [line.split() for line in found.output.splitlines() if line.startswith("a")]
        assert ("none of the 125 rows tells the classes apart" in found.output) is not told
        assert all(cells[3] != "0" or cells[5] != "0" for cells in listed), "nothing beside nothing"
        assert {cells[0] for cells in listed} == {"a7"} if told else len(listed) == 10


def test_some_attributes_are_enough(files):
    words = (
        "tree",
        files / "r.parquet",
        "--target",
        "class",
        "--columns",
        "bare_nuclei,mitoses",
        "--seed",
        1,
        "--json",
    )
    assert json.loads(run(*words).stdout)["features"] == ["bare_nuclei", "mitoses"]


def test_too_many_values_to_learn_from_are_named(tmp_path):
    schema = sf.Schema({"code": sf.Categorical(tuple(range(30_000))), "y": sf.Categorical((0, 1))})
    table = {"code": np.arange(600) * 7, "y": np.arange(600) % 2}
    release = sf.randomize(table, sf.Scheme.for_gamma(schema, 9), rng=sf.experiment(1))
    with pytest.raises(
        sf.SfumatoError, match="'code' has 30,000 values, and a joint model takes at most 4,096: leave it"
    ):
        sf.learn.DecisionTree().fit(release, target="y")


def test_regression_prints_coefficients_and_draws_them(files):
    words = ["regression", files / "r.parquet", "--target", "class"]
    said = run(*words, "--names", "clump_thickness,mitoses", "--plot", files / "coefficients.svg")
    assert said.exit_code == 0, said.output
    for part in ("Logistic regression results", "corrected scores", "sandwich", "clump_thickness", "std err"):
        assert part in said.output
    assert (files / "coefficients.svg").exists()
    found = json.loads(run(*words, "--names", "clump_thickness", "--event", "benign", "--level", 0.9, "--json").stdout)
    assert found["family"] == "logistic" and found["event"] == "benign" and found["level"] == 0.9
    assert [row["term"] for row in found["coefficients"]] == ["Intercept", "clump_thickness"]
    assert found["coefficients"][1]["high"] < 0 and len(found["cov"]) == 2
    chosen = json.loads(run(*words, "--columns", "clump_thickness,mitoses", "--json").stdout)
    assert [row["term"] for row in chosen["coefficients"]] == ["Intercept", "clump_thickness", "mitoses"]
    by_formula = run("regression", files / "r.parquet", "--formula", "class ~ clump_thickness", "--family", "gaussian")
    assert by_formula.exit_code == 0 and "Gaussian regression results" in by_formula.output


def test_the_picture_of_a_model_shows_every_attribute(files, monkeypatch):
    """It showed the last one only."""
    drawn = []
    monkeypatch.setattr("sfumato.cli.learn_model.plot_shares", lambda tables, *_: drawn.extend(t.names for t in tables))
    found = run("model", files / "r.parquet", "--columns", "mitoses,class", "--plot", files / "m.png")
    assert found.exit_code == 0 and "clean ones for learning how two attributes go together" in found.output
    assert "another is chosen where it surely gains, by more than 3 times its noise (independent" in found.output
    assert drawn == [("mitoses",), ("class",)]
    one = sf.evidence(sf.Release.load(files / "r.parquet")).counts("mitoses")
    figure = plot_shares([one] * 80, None, "Shares")
    assert "of 80 attributes" in figure.axes[0].get_title("left")
    assert figure.axes[0].get_yticklabels()[0].get_text().startswith("mitoses = ")


@pytest.mark.filterwarnings("ignore::sfumato.evidence.kinds.JunctionTreeWarning")
def test_a_model_of_cliques_says_that_its_likelihood_would_take_too_long(files, monkeypatch):
    monkeypatch.setattr(joint, "JOINT_CELLS", 1)
    words = ("model", files / "r.parquet", "--columns", "mitoses,class,clump_thickness", "--json")
    found = json.loads(run(*words).stdout)
    assert found["log_likelihood"] < 0 and found["skipped"] == []
    monkeypatch.setattr(learn_model, "_LIKELIHOOD_CELLS", 0)
    found = json.loads(run(*words).stdout)
    assert found["log_likelihood"] is None and found["skipped"][0].startswith("log_likelihood")


def test_a_regression_without_anything_to_explain_is_refused(files):
    said = run("regression", files / "r.parquet", "--names", "mitoses")
    assert said.exit_code != 0 and "say what to explain" in str(said.exception) + said.output
    said = run("regression", files / "r.parquet", "--target", "class", "--names", "height")
    assert said.exit_code != 0 and "'height' is unknown" in str(said.exception) + said.output


def test_clean_rows_without_a_target_are_not_ignored(files):
    found = run("model", files / "r.parquet", "--test", files / "clean.csv")
    assert found.exit_code == 1
    assert "--test needs --target" in str(found.exception)


def test_what_takes_long_is_said_beforehand(files, monkeypatch):
    """A clock that runs three seconds at every look: a fit takes three, and judging a fold too."""
    looks = count()
    monkeypatch.setattr(learning, "monotonic", lambda: 3.0 * next(looks))
    asked = ("linear", files / "r.parquet", "--target", "class", "--seed", 1, "--columns", "mitoses,clump_thickness")
    said = " ".join(run(*asked).stderr.split())
    assert "one fit took 3.0 s; more follow, 5 for the accuracy (--no-accuracy leaves these out) and 10 for the" in said
    assert "about 45 seconds" in said and "one of 5 folds was judged in 3.0 s: about 12 seconds more" in said
    assert "for the fits alone. Judging them and the 4 cells of the confusion matrix comes on top" in said
    assert "cells of the confusion matrix was judged" not in said  # nine seconds
    monkeypatch.setattr(learning, "monotonic", lambda: 0.0)
    assert "more follow" not in run(*asked).stderr


@pytest.mark.parametrize("confusion", [True, False])
def test_cross_scores_report_every_step(files, confusion):
    release = sf.Release.load(files / "r.parquet").select(["mitoses", "clump_thickness", "class"])
    done: list[int] = []
    cross_score(sf.learn.NaiveBayes(), release, "class", 3, rng=1, progress=done.append, confusion=confusion)
    assert sum(done) == steps(2, 3, confusion) == (10 if confusion else 6) and done[:6] == [1] * 6


@pytest.mark.parametrize("command", ["tree", "linear", "naive-bayes", "model"])
def test_the_accuracy_can_be_left_out(files, monkeypatch, command):
    def fail(*_, **__):
        raise AssertionError("nothing is to be judged")

    monkeypatch.setattr(learning, "cross_score", fail)
    asked = (command, files / "r.parquet", "--target", "class", "--no-accuracy", "--columns", "mitoses")
    said = run(*asked)
    assert said.exit_code == 0, said.output
    assert "accuracy" not in said.output and "clean rows" not in said.output
    assert json.loads(run(*asked, "--json").stdout)["estimated"] is None


def test_a_tree_is_shown_before_it_is_judged(files, monkeypatch):
    shown: list[str] = []
    monkeypatch.setattr(console, "say", lambda text="": shown.append(text))

    def judged(*_, **__):
        assert any("question" in text for text in shown), shown
        raise SfumatoError("judged")

    monkeypatch.setattr(learning, "cross_score", judged)
    assert str(run("tree", files / "r.parquet", "--target", "class").exception) == "judged"


def test_fits_for_the_errors_alone_are_foretold(capsys):
    learning.foretell(3.0, refits=10)
    said = " ".join(capsys.readouterr().err.split())
    assert "one fit took 3.0 s; more follow, 10 for the errors of the weights" in said and said.endswith("30 seconds")


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    draws = np.random.default_rng(1)
    true = draws.integers(0, 2, 6000)
    names = ("first", "second", "third", "other")
    table = {name: np.where(draws.random(6000) < 0.8, true, 1 - true) for name in names} | {"y": true}
    schema = sf.Schema({name: sf.Ordinal((0, 1)) for name in table})
    release = sf.randomize(table, sf.Forms.for_gamma(schema, 20, ask=2), rng=sf.experiment(2))
    return release.save(tmp_path_factory.mktemp("pairs") / "pairs.parquet")


@pytest.mark.parametrize(
    "words",
    [
        "naive-bayes --target y --no-accuracy",
        "tree --target y --no-accuracy",
        "linear --target y --no-accuracy --no-errors",
        "rules --target y",
        "bayesnet --max-parents 1",
        "model --target y --no-accuracy",
        "regression --target y --family logistic",
    ],
)
def test_columns_keep_out_what_is_randomized_together_with_them(pairs, words) -> None:
    """Under forms of pairs every attribute is, with every other: all of them were learned from."""
    command, *options = words.split()
    result = run(command, pairs, *options, "--columns", "first,second,y", "--json")
    assert result.exit_code == 0, result.output
    assert "first" in result.output and "third" not in result.output and "other" not in result.output
