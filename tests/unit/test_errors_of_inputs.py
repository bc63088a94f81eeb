"""What is mistyped in Python is refused in one line that says what to write instead."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import SfumatoError

SCHEMA = sf.Schema({"sky": sf.Categorical(("Clear", "Overcast")), "mark": sf.Ordinal((1, 2, 3))})
SCHEME = sf.Scheme.for_gamma(SCHEMA, 9)
RELEASE = sf.randomize({"sky": ["Clear", "Overcast"] * 50, "mark": [1, 2, 3, 1] * 25}, SCHEME, rng=0)
CHANNEL = sf.channels.symmetric(3, 0.2)
TABLE = np.zeros(3)  # where a word is expected


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: sf.Scheme.for_gamma("schema.json", gamma=9),
            "schema must be a Schema, such as sf.Schema.from_json(text), got",
        ),
        (lambda: sf.Scheme.for_gamma(None, gamma=9), "from_json(text), got None instead"),
        (lambda: sf.Release.concat(RELEASE), "concat takes a list of releases"),
        (lambda: sf.Release.concat(["a.parquet"]), "concat takes a list of releases"),
        (lambda: sf.evidence(RELEASE).counts("sky").interval("95%"), "level must lie in (0, 1), got '95%'"),
        (lambda: sf.evidence(RELEASE).mean("mark", where="sky=Overcast"), 'where must look like {"sex": "F"}, got'),
        (lambda: sf.evidence(RELEASE).mean("mark", by="mark"), "by must not name 'mark', which is what is asked about"),
        (
            lambda: sf.evidence(RELEASE).share("sky", by=["mark", "sky"]),
            "by must not name 'sky', which is what is asked",
        ),
        (lambda: sf.evidence(RELEASE).mean("mark", by=5), "by must be an attribute or a list of attributes"),
        (lambda: sf.evidence(RELEASE).mean(["mark"]), "attributes are named one by one, by their names, got ['mark']"),
        (lambda: sf.evidence(RELEASE).mean("mark", smooth="yes"), "smooth must be True, False or None, got 'yes'"),
        (lambda: sf.evidence(RELEASE).quantile("mark", smooth=0), "smooth must be True, False or None, got 0 instead"),
        (lambda: sf.evidence(RELEASE).cdf("mark", smooth="no"), "smooth must be True, False or None, got 'no' instead"),
        (lambda: sf.attacks.repeated(SCHEME, "x", attribute="mark"), "times must be a number, got 'x' instead"),
        (lambda: sf.evidence(RELEASE).counts(5), "names must be a list of attributes, got 5 instead"),
        (lambda: sf.evidence(RELEASE).shares("mark" * 9), "there is no attribute"),
        (lambda: sf.evidence(RELEASE).seen("mark"), "names must be a list of attributes, got 'mark' instead"),
        (lambda: sf.evidence(RELEASE).counts("mark", level=0.9), "level must name a level of a hierarchy, or be"),
        (
            lambda: sf.evidence(RELEASE, method="model", order=True),
            "order must be a whole number of at least 1, got True",
        ),
        (lambda: sf.evidence(RELEASE, method="model", tau=float("inf")), "tau must be a positive number, got inf"),
        (lambda: sf.evidence("release.parquet"), "release.parquet: evidence takes no path alone: load the release"),
        (lambda: sf.evidence(Path("release.parquet")), "sf.evidence(sf.Release.load(path))"),
        (lambda: sf.evidence(RELEASE).counts("sky").interval(anytime="no"), "anytime must be True or False, got 'no'"),
        (lambda: sf.evidence(RELEASE).mean("mark").interval(anytime=1), "anytime must be True or False, got 1 instead"),
        (lambda: sf.evidence(RELEASE, method="model").counts("sky").interval(anytime=None), "anytime must be True or"),
        (lambda: sf.Categorical(("F", "M"), nullable="no"), "nullable must be True or False, got 'no' instead"),
        (lambda: sf.Numeric(0, 9, clip="no"), "clip must be True or False, got 'no' instead"),
        (lambda: sf.randomize({"sky": ["Clear"]}, SCHEME, again="no"), "again must be True or False, got 'no' instead"),
        (lambda: sf.Release.concat([RELEASE], ids="no"), "ids must be True or False, got 'no' instead"),
        (lambda: RELEASE.save("absent/r.parquet", overwrite="no"), "overwrite must be True or False, got 'no' instead"),
        (lambda: sf.resample([[1.0], [2.0]], shrink="no"), "shrink must be True or False, got 'no' instead"),
        (lambda: sf.channels.windows(5, 3, nullable="no"), "nullable must be True or False, got 'no' instead"),
        (lambda: sf.learn.DecisionTree(prune="no").fit(RELEASE, "sky"), "prune must be True or False, got 'no'"),
        (lambda: sf.evidence(RELEASE).sample(3, rng="a"), "rng must be a numpy Generator or a seed, got 'a' instead"),
        (lambda: sf.experiment("a"), "seed must be a numpy Generator or a seed, got 'a' instead"),
        (lambda: sf.audit(sf.channels.symmetric(3, 0.2), rng="a"), "rng must be a numpy Generator or a seed, got 'a'"),
        (
            lambda: sf.evidence(RELEASE).correlation("mark"),
            "correlation: missing a required argument: 'b'; it takes a, b",
        ),
        (
            lambda: sf.evidence(RELEASE).mean("mark", level=0.9),
            "the level of an interval goes to the answer: .interval(",
        ),
        (
            lambda: sf.evidence(RELEASE).counts("sky").interval(cells="x"),
            "cells must be a list of whole numbers from 0",
        ),
        (lambda: sf.evidence(RELEASE).counts_many(None), 'requests must look like [["sex", "age"], ["grade"]]'),
        (lambda: sf.evidence(RELEASE).log_likelihood("sky", ["a", "b"]), "theta must hold numbers, got ['a', 'b']"),
        (lambda: sf.evidence({"sky": ["Clear"]}, {"sky": 2}), "schema must be a Schema, got {'sky': 2} instead"),
        (lambda: sf.evidence(RELEASE, names=5), "names must be a list of attributes, got 5 instead"),
        (lambda: sf.randomize({"sky": ["Clear"]}, SCHEME, id=5), "id must be the name of a column, got 5 instead"),
        (lambda: sf.Release.load(None), "path must be the path of a file, got None instead"),
        (lambda: RELEASE.save(5), "path must be the path of a file, got 5 instead"),
        (lambda: RELEASE.join("b.parquet"), "other must be a release, got 'b.parquet' instead"),
        (lambda: RELEASE.select(5), "names must be a list of attributes"),
        (lambda: SCHEMA.select(5), "names must be a list of attributes"),
        (lambda: SCHEMA[["sky"]], "there is no attribute ['sky']; the schema has sky, mark"),
        (lambda: sf.Scheme(None, {}), "schema must be a Schema, got None instead"),
        (lambda: sf.Forms.for_gamma("schema.json", 9), "schema must be a Schema, got 'schema.json' instead"),
        (lambda: sf.Schema.infer({"sky": ["Clear"]}, bins="x"), "bins must be a whole number of at least 1, got 'x'"),
        (lambda: sf.Categorical(("F", "M"), True, missing=5), "missing must be a list of words for no answer, got 5"),
        (lambda: sf.report(SCHEME, evidence="ev"), "evidence must be evidence, as sf.evidence(release) makes it"),
        (lambda: sf.accuracy.kl("x", [1.0]), "the first distribution must hold numbers, got 'x' instead"),
        (lambda: sf.channels.invariant("x", [1.0]), "channel must be a channel, got 'x' instead"),
        (lambda: sf.add_shares("x"), "shares must be a list of those that the sites sent, got 'x' instead"),
        (lambda: sf.secure_sum(5), "tables must be a list with the table of each site, got 5 instead"),
        (lambda: sf.counted(RELEASE, tables=5), 'tables must look like [["sex", "age"], ["grade"]], got 5 instead'),
        (lambda: sf.Scheme.for_gamma(SCHEMA, None), "gamma must be a number, got None instead"),
        (lambda: sf.Numeric(0, 1, bins="3"), "bins must be a whole number of at least 1, got '3' instead"),
        (lambda: sf.privacy.rho2("9", 0.1), "gamma must be a number, got '9' instead"),
        (lambda: sf.report(SCHEME, n=9).html(5), "path must be the path of a file, got 5 instead"),
        (lambda: sf.attacks.track(5), "what is tracked must be a release, or one scheme with n, got 5 instead"),
        (
            lambda: sf.attacks.track(RELEASE, SCHEME),
            "what is tracked must be a release, or one scheme with n, got Scheme",
        ),
        (
            lambda: sf.attacks.bayes(RELEASE, attribute=5),
            "attribute must be a list of names, or one name, got 5 instead",
        ),
        (lambda: sf.attacks.repeated(SCHEME, "x", attribute="sky"), "times must be a number, got 'x' instead"),
        (lambda: sf.learn.cross_score(None, RELEASE, "sky"), "model must be a learner of classes, such as sf.learn."),
        (lambda: sf.learn.DecisionTree().fit(RELEASE, "sky").text("a"), "depth must be at least 0, got 'a' instead"),
        (lambda: sf.learn.Regression("logistic").fit(RELEASE, formula=5), "formula must be a text, such as"),
        (lambda: sf.Schema.from_json(SCHEME.to_json()), "'sfumato scheme': read it with sf.Scheme.from_json"),
        (lambda: sf.density([0.1, 0.9], "uniform:1", progress="x"), "progress must be a function of a number of steps"),
        (lambda: sf.learn.AssociationRules().fit(RELEASE, progress=5), "progress must be a function of a number of"),
        (lambda: sf.evidence(RELEASE, method=TABLE), "method must be a word, got ndarray instead"),
        (
            lambda: sf.randomize({"sky": ["Clear"]}, SCHEME, order=TABLE),
            "order must be one of shuffle, keep, got ndarray",
        ),
        (
            lambda: sf.randomize({"sky": ["Clear"]}, SCHEME, rng=TABLE),
            "a seed or a numpy Generator, got ndarray instead",
        ),
        (lambda: sf.resample([[1.0], [2.0]], bandwidth=TABLE), "positive multiple of it, got ndarray instead"),
        (lambda: sf.density([0.1, 0.9], "uniform:1", method=TABLE), "method must be one of auto, em, as, mle, got nd"),
        (lambda: sf.learn.LinearClassifier(loss=TABLE).fit(RELEASE, "sky"), "got ndarray instead"),
        (lambda: sf.learn.LinearClassifier(ridge=TABLE).fit(RELEASE, "sky"), "ridge must"),
        (lambda: sf.learn.LinearClassifier(values=5).fit(RELEASE, "sky"), "values must be a mapping of features to"),
        (lambda: sf.learn.DecisionTree(counts=TABLE).fit(RELEASE, "sky"), "counts must be one of model, direct, paper"),
        (lambda: sf.learn.Regression(family=TABLE).fit(RELEASE, "mark"), "family must be one of"),
        (lambda: sf.audit(CHANNEL, outputs=5), "outputs must be the 3 answers of the channel, got 5 instead"),
        (lambda: sf.Hierarchy(levels=("a", "b"), tree={"x": ["y", "z"]}, level=TABLE), "there is no level ndarray"),
        (lambda: sf.privacy.entropy("x"), "p must hold numbers, got 'x' instead"),
        (lambda: sf.privacy.breach(CHANNEL, 0.1, 0.5, properties=5), 'properties must be "values", "all" or a list of'),
        (lambda: sf.privacy.composed_gamma(5), "parts must be a list of channels, got 5 instead"),
        (lambda: sf.privacy.joint_gamma(5), "parts must be a list of channels or schemes, got 5 instead"),
        (lambda: sf.privacy.crossing(CHANNEL, CHANNEL, most="x"), "most must be a number, got 'x' instead"),
        (lambda: sf.privacy.game_curve(CHANNEL, "x"), "losses must hold numbers, got 'x' instead"),
        (lambda: sf.privacy.interval_privacy(CHANNEL, "x"), "confidence must be a number, got 'x' instead"),
        (lambda: sf.privacy.roc_bound("x", [0.1]), "gamma must be a number, got 'x' instead"),
        (lambda: sf.privacy.roc(CHANNEL, x=2.5, other=1), "x must be a code in [0, 2], got 2.5 instead"),
        (lambda: sf.privacy.simulate_sample_size(CHANNEL, "x"), "n must be a whole number, got 'x' instead"),
        (lambda: sf.privacy.simulate_sample_size(CHANNEL, 9, distance=[]), "distance must be one of kolmogorov"),
        (lambda: sf.design.design("x", 100, gamma=9), "schema must be a Schema, got 'x' instead"),
        (lambda: sf.design.design(SCHEMA, 100, gamma=9, prior="x"), "prior must be a mapping of attributes to shares"),
        (
            lambda: sf.design.design(SCHEMA, 100, gamma=9, all_levels=5),
            "all_levels must be a list of hierarchies, got 5",
        ),
        (lambda: sf.design.design(SCHEMA, 100, gamma=9, level=None), "level must be a number, got None instead"),
        (lambda: sf.design.tradeoff("sky", "x", 100), "domain must be a domain, such as schema[name], got 'x'"),
        (lambda: sf.design.tradeoff("sky", SCHEMA["sky"], 100, level="x"), "level must be a number, got 'x' instead"),
        (lambda: sf.design.candidates("sky", SCHEMA["sky"], 9, 100, TABLE), "target must be one of shares, cdf, mean"),
        (lambda: sf.design.design_record("x", 100, 9), "schema must be a Schema, got 'x' instead"),
        (lambda: sf.design.design_rounds(SCHEMA, 100, 9, "x"), "lifetime must be a number, got 'x' instead"),
    ],
)
def test_one_line_says_what_to_write_instead(call: Callable[[], object], said: str) -> None:
    with pytest.raises(SfumatoError, match=re.escape(said)):
        call()


def test_an_attribute_may_be_called_format() -> None:
    document = '{"format": {"kind": "categorical", "values": ["A4", "A5"]}}'
    assert sf.Schema.from_json(document).names == ("format",)


@pytest.mark.parametrize("name", ["release.parquet", "release.csv"])
def test_a_release_is_not_taken_for_a_raw_table(name: str, tmp_path: Path) -> None:
    """Its codes are whole numbers: they were randomized again without a word."""
    path = RELEASE.save(tmp_path / name)
    for take in (
        lambda: sf.randomize(path, SCHEME),
        lambda: sf.randomize(sf.CsvFile(path) if name.endswith("csv") else str(path), SCHEME),
        lambda: sf.randomize_file(path, tmp_path / "again.parquet", SCHEME),
        lambda: sf.Schema.infer(path),
        lambda: sf.evidence(path, SCHEMA),
        lambda: sf.resample(path, "mark"),
        lambda: sf.resample_file(path, tmp_path / "again.parquet", "mark"),
    ):
        with pytest.raises(SfumatoError, match="is a release: it holds answers that were changed by chance"):
            take()
    if name.endswith("parquet"):
        with pytest.raises(SfumatoError, match="is a release: it holds answers that were changed by chance"):
            sf.randomize_folder(path, tmp_path / "again.parquet", SCHEME)
    assert not (tmp_path / "again.parquet").exists()


@pytest.mark.parametrize("flag", ["no", "yes", 1, None, []])
def test_a_flag_is_true_or_false(flag: Any) -> None:
    """Python takes "no" for True."""
    with pytest.raises(SfumatoError, match="clear_ids must be True or False"):
        sf.randomize({"sky": ["Clear"], "mark": [1]}, SCHEME, clear_ids=flag)


def test_an_argument_is_not_quoted_where_it_holds_records() -> None:
    with pytest.raises(SfumatoError, match="anytime must be True or False, got Table instead"):
        sf.evidence(RELEASE).counts("sky").interval(anytime=sf.evidence(RELEASE).sample(3))


def test_a_column_without_values_is_advised_on_once() -> None:
    with pytest.raises(SfumatoError, match="holds no values: leave it out, or write the schema by hand") as raised:
        sf.Schema.infer({"mark": [1, 2, 3], "none": [None, None, None]})
    assert str(raised.value).count("leave it out") == 1
