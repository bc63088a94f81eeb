"""The commands design, assess, attack and audit: worked examples, machine output, one-line errors."""

from __future__ import annotations

import json
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli import app
from sfumato.errors import SfumatoError
from sfumato.owner.ledger import Ledger
from sfumato.owner.resample import resample
from sfumato.randomness import experiment

SCHEMA = sf.Schema({"sex": sf.Categorical(("F", "M")), "age": sf.Numeric(0, 100, bins=10)})
SCHEME = sf.Scheme.for_gamma(SCHEMA, 3)


def run(*words: object) -> str:
    """What a command prints; its own errors are raised."""
    result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    run.code = result.exit_code
    return result.stdout


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA.to_dict()))
    (tmp_path / "scheme.json").write_text(SCHEME.to_json())
    return tmp_path


def write(path, columns) -> None:
    pyarrow.csv.write_csv(pa.table(columns), path)


class TestDesign:
    def test_saves_a_scheme_that_keeps_the_bound(self, folder):
        text = run("design", folder / "schema.json", "--n", 1000, "--gamma", 3, "--save", folder / "new.json")
        assert "-> windows" in text
        assert sf.Scheme.from_json((folder / "new.json").read_text()).gamma <= 9
        with pytest.raises(SfumatoError, match="already exists"):
            run("design", folder / "schema.json", "--n", 1000, "--gamma", 3, "--save", folder / "new.json")

    def test_a_gamma_for_each_attribute(self, folder):
        run("design", folder / "schema.json", "--n", 1000, "--gamma", "sex=3,age=5", "--save", folder / "each.json")
        found = sf.Scheme.from_json((folder / "each.json").read_text())
        assert [found[name].gamma for name in SCHEMA] == [3, 5]
        for wrong in ("three", "sex=three", "sex=3,5"):
            with pytest.raises(SfumatoError, match="--gamma must look like 3 or like sex=3,age=5"):
                run("design", folder / "schema.json", "--n", 1000, "--gamma", wrong)

    def test_an_unknown_kind_of_picture(self, folder):
        with pytest.raises(SfumatoError, match=r"x\.xyz: a picture must end in \.svg, \.png or \.pdf"):
            run("design", folder / "schema.json", "--n", 1000, "--gamma", 3, "--plot", folder / "x.xyz")

    def test_machine_output_and_picture(self, folder):
        text = run(
            "design", folder / "scheme.json", "--n", 1000, "--rho1", 0.1, "--rho2", 0.5, "--half-width", 0.001,
            "--plot", folder / "age.svg", "--attribute", "age", "--json",
        )  # fmt: skip
        document = json.loads(text)
        assert {row["family"] for row in document["candidates"]} == {"symmetric", "subset", "windows"}
        assert len(document["unmet"]) == 2
        assert "<svg" in (folder / "age.svg").read_text()

    def test_errors(self, folder):
        with pytest.raises(SfumatoError, match="say what is wanted"):
            run("design", folder / "schema.json", "--n", 1000)
        (folder / "bad.json").write_text("[1, 2")
        with pytest.raises(SfumatoError, match="is not JSON"):
            run("design", folder / "bad.json", "--n", 1000, "--gamma", 3)


class TestAssess:
    def test_a_scheme_as_text_json_and_page(self, folder):
        assert "sex: protection strong" in run("assess", folder / "scheme.json", "--n", 1000)
        assert json.loads(run("assess", folder / "scheme.json", "--json"))["attributes"][0]["attributes"] == ["sex"]
        run("assess", folder / "scheme.json", "--html", folder / "report.html", "--title", "Our survey")
        assert "<title>Our survey</title>" in (folder / "report.html").read_text()

    def test_a_release_brings_its_own_shares(self, folder):
        rng = np.random.default_rng(3)
        table = {"sex": np.where(rng.random(3000) < 0.9, "F", "M"), "age": rng.uniform(0, 100, 3000)}
        sf.randomize_file(table, folder / "r.parquet", SCHEME, rng=3)
        document = json.loads(run("assess", folder / "r.parquet", "--json"))
        assert document["n"] == 3000
        assert document["attributes"][0]["prior_from"] == "estimated"
        assert document["attributes"][0]["guess_blind"] == pytest.approx(0.9, abs=0.07)

    def test_priors_and_ledger(self, folder):
        (folder / "prior.json").write_text('{"sex": [0.9, 0.1]}')
        ledger = Ledger(folder / "ledger.sqlite", new=True)
        with ledger.entry(SCHEME):
            pass
        text = run(
            "assess", folder / "scheme.json", "--n", 1000, "--prior", folder / "prior.json",
            "--ledger", folder / "ledger.sqlite", "--json",
        )  # fmt: skip
        document = json.loads(text)
        assert document["attributes"][0]["guess_blind"] == pytest.approx(0.9)
        assert any("was released before" in warning["title"] for warning in document["warnings"])

    def test_errors(self, folder):
        with pytest.raises(SfumatoError, match="there is no such ledger"):
            run("assess", folder / "scheme.json", "--ledger", folder / "none.sqlite")
        with pytest.raises(SfumatoError, match="must look like income=gaussian:5"):
            run("assess", folder / "scheme.json", "--noise", "income")
        with pytest.raises(SfumatoError, match="there is no such file"):
            run("assess", folder / "nothing.json")


class TestAttack:
    def test_bayes_against_the_truth(self, folder):
        rng = np.random.default_rng(4)
        table = {"sex": rng.choice(["F", "M"], 20_000), "age": rng.uniform(0, 100, 20_000)}
        write(folder / "raw.csv", table)
        with pytest.warns(sf.errors.DisclosureWarning, match="keep their order"):
            sf.randomize_file(table, folder / "r.parquet", SCHEME, rng=4, order="keep")
        text = run(
            "attack", "bayes", folder / "r.parquet", "--attribute", "sex", "--truth", folder / "raw.csv", "--json"
        )
        assert json.loads(text)["error"] == pytest.approx(0.25, abs=0.02)

    def test_shares_are_estimated_from_the_release_as_assess_does(self, folder):
        rng = np.random.default_rng(8)
        table = {"sex": rng.choice(["F", "M"], 3000, p=[0.85, 0.15]), "age": rng.exponential(12, 3000) % 100}
        sf.randomize_file(table, folder / "r.parquet", SCHEME, rng=8)
        assessed = json.loads(run("assess", folder / "r.parquet", "--json"))["attributes"]
        for i, name in enumerate(SCHEMA):
            found = json.loads(run("attack", "bayes", folder / "r.parquet", "--attribute", name, "--json"))
            assert found["details"]["shares"] == assessed[i]["prior_from"] == "estimated"
            assert found["error"] == pytest.approx(1 - assessed[i]["guess"], abs=1e-6)
            assert found["nothing"] == pytest.approx(1 - assessed[i]["guess_blind"], abs=1e-6)
            assert found["error"] <= found["nothing"] + 1e-9
        ten = json.loads(run("attack", "repeated", folder / "r.parquet", "--attribute", "sex", "--json"))
        assert 1 - ten["error"] == pytest.approx(assessed[0]["repeats"]["10"], abs=1e-6)
        said = run("attack", "bayes", folder / "r.parquet", "--attribute", "sex")
        assert "always saying the commonest value 0.1" in said and "estimated from the release" in said

    def test_shares_may_be_given_and_are_equal_for_a_scheme_alone(self, folder):
        (folder / "shares.json").write_text('{"sex": {"F": 0.9, "M": 0.1}, "age": [0.5]}')
        for shares in ("F=.9,M=.1", ".9, .1", folder / "shares.json"):
            for name in ("bayes", "repeated"):
                found = json.loads(
                    run("attack", name, folder / "scheme.json", "--attribute", "sex", "--shares", shares, "--json")
                )
                assert found["details"]["shares"] == "given"
                assert found["nothing"] == pytest.approx(0.1)
        for name in ("bayes", "repeated"):
            said = run("attack", name, folder / "scheme.json", "--attribute", "sex")
            assert "every value is assumed equally likely" in said and "commonest value 0.5" in said

    def test_repeated(self, folder):
        assert "repeated: error" in run("attack", "repeated", folder / "scheme.json", "--attribute", "sex")

    def test_numbers(self, folder):
        rng = np.random.default_rng(5)
        X = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 6)) * 10
        Q = np.linalg.qr(rng.normal(size=(6, 6)))[0]
        names = [f"c{i}" for i in range(6)]
        own = rng.integers(0, 300, 300)
        write(folder / "raw.csv", dict(zip(names, X.T, strict=True)))
        write(folder / "noisy.csv", dict(zip(names, (X + rng.normal(size=X.shape)).T, strict=True)))
        write(folder / "turned.csv", dict(zip(names, (X @ Q).T, strict=True)))
        write(folder / "again.csv", {**dict(zip(names, X[own].T, strict=True)), "own": own})
        write(folder / "fresh.csv", dict(zip(names, rng.normal(size=(6, 50)) * 10, strict=True)))
        truth = ("--truth", folder / "raw.csv", "--json")
        for name in ("spectral", "pca", "bayes_estimate"):
            found = json.loads(run("attack", name, folder / "noisy.csv", "--noise", "1", *truth))
            assert found["error"] < 0.7
            assert found["naive"] == pytest.approx(1, abs=0.1)
        assert json.loads(run("attack", "procrustes", folder / "turned.csv", "--known", 6, *truth))["error"] < 1e-6
        assert json.loads(run("attack", "rotation_pca", folder / "turned.csv", "--sample", folder / "raw.csv", *truth))
        assert json.loads(run("attack", "linkage", folder / "again.csv", "--own", "own", *truth))["error"] == 0

    def test_membership_against_a_resampled_file(self, folder):
        rng = np.random.default_rng(5)
        parts = {}
        for name in ("members", "fresh"):
            parts[name] = {"a": rng.normal(size=120), "b": rng.normal(size=120), "y": np.repeat([0, 1], 60)}
            write(folder / f"{name}.csv", parts[name])
        options = ("--truth", folder / "members.csv", "--sample", folder / "fresh.csv")
        for ending in ("parquet", "csv"):
            target = resample(pa.table(parts["members"]), "y", bandwidth=0.3, rng=1).save(folder / f"out.{ending}")
            found = json.loads(run("attack", "membership", target, *options, "--json"))
            assert found["details"]["auc"] > 0.65 and found["details"]["shadows"] == 160
        proved = resample(pa.table(parts["members"]), "y", epsilon=1, ranges=(-5, 5), rng=experiment(1))
        found = json.loads(run("attack", "membership", proved.save(folder / "proved.parquet"), *options, "--json"))
        assert found["details"]["auc"] < 0.65
        with pytest.raises(SfumatoError, match="does not say how it was made"):
            run("attack", "membership", folder / "members.csv", *options)
        write(folder / "other.csv", {"a": [1.0, 2.0]})
        with pytest.raises(SfumatoError, match="has no column 'b'"):
            run("attack", "membership", target, "--truth", folder / "other.csv", "--sample", folder / "fresh.csv")

    def test_errors(self, folder):
        with pytest.raises(SfumatoError, match="there is no attack 'magic'"):
            run("attack", "magic", folder / "scheme.json")
        with pytest.raises(SfumatoError, match="the repeated attack needs --attribute"):
            run("attack", "repeated", folder / "scheme.json")
        write(folder / "words.csv", {"a": ["x", "y"]})
        with pytest.raises(SfumatoError, match="no numeric column"):
            run("attack", "spectral", folder / "words.csv", "--noise", "1")
        with pytest.raises(SfumatoError, match="without released records .* give a release"):
            run("attack", "bayes", folder / "scheme.json", "--attribute", "sex", "--truth", folder / "words.csv")
        for shares, line in (
            ("F=.5,X=.5", "must name values of the attribute, got 'X'"),
            ("F=1", "'M' missing"),
            ("F=a", "must look like"),
        ):
            with pytest.raises(SfumatoError, match=line):
                run("attack", "bayes", folder / "scheme.json", "--attribute", "sex", "--shares", shares)
        with pytest.raises(SfumatoError, match="takes no --shares"):
            run("attack", "pca", folder / "words.csv", "--noise", "1", "--shares", "F=1")

    def test_an_attack_that_learns_nothing_says_so(self, folder):
        rng = np.random.default_rng(3)
        truth = rng.normal(size=(50, 2))
        write(folder / "raw.csv", {"a": truth[:, 0], "b": truth[:, 1]})
        noisy = truth + rng.normal(scale=20, size=truth.shape)
        write(folder / "noisy.csv", {"a": noisy[:, 0], "b": noisy[:, 1]})
        text = run("attack", "pca", folder / "noisy.csv", "--noise", "20", "--truth", folder / "raw.csv")
        assert "learned nothing" in text
        assert "%" not in text


def test_a_prior_without_numbers(folder):
    (folder / "prior.json").write_text('{"sex": "abc"}')
    with pytest.raises(SfumatoError, match="sex: prior must hold numbers"):
        run("assess", folder / "scheme.json", "--n", 100, "--prior", folder / "prior.json")


class TestAudit:
    def test_our_own_randomizer(self, folder):
        text = run("audit", folder / "scheme.json", "--trials", 5000, "--alpha", 1e-6)
        assert run.code == 0
        assert text.count("pass  ") == 2
        assert max(map(len, text.splitlines())) <= 80

    def test_a_program_that_lies(self, folder):
        program = folder / "copy.py"
        program.write_text("import sys\nsys.stdout.write(sys.stdin.read())\n")
        words = ("audit", folder / "scheme.json", "--attribute", "sex", "--command", f"{sys.executable} {program}")
        text = run(*words, "--trials", 5000, "--json")
        assert run.code == 1
        assert json.loads(text)[0]["passed"] is False
        said = run(*words, "--trials", 5000)
        assert said.split()[:1] != ["pass"] and "FAIL  sex" in said
        assert "VIOLATED" in said and "DO NOT FOLLOW" in said

    def test_errors(self, folder):
        with pytest.raises(SfumatoError, match="--command needs --attribute"):
            run("audit", folder / "scheme.json", "--command", "cat")
        sex = ("audit", folder / "scheme.json", "--attribute", "sex", "--command")
        with pytest.raises(SfumatoError, match="at least one word"):
            run(*sex, "")
        with pytest.raises(SfumatoError, match="cannot be cut into words"):
            run(*sex, "cat 'x")
        with pytest.raises(SfumatoError, match="there is no attribute 'nope'"):
            run("audit", folder / "scheme.json", "--attribute", "nope")


@pytest.mark.parametrize("name", ["design", "assess", "attack", "audit"])
def test_help_shows_worked_examples(name):
    assert f"sfumato {name} " in run(name, "--help")
