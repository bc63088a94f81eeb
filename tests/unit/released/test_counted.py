"""Tables of counts in place of rows: the same answers, smaller files, one line for what they cannot tell."""

from __future__ import annotations

import json

import numpy as np
import pytest

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import (
    DisclosureWarning,
    EstimationError,
    MissingTableError,
    NotAskedError,
    ReleaseError,
    SfumatoError,
    SfumatoWarning,
)

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.errors.NegativeCountsWarning")

SCHEMA = sf.Schema(
    {
        "sex": sf.Categorical(("F", "M")),
        "grade": sf.Ordinal(("a", "b", "c")),
        "age": sf.Numeric(0, 80, bins=8),
        "ill": sf.Categorical(("no", "yes")),
    }
)
SCHEME = sf.Scheme(
    SCHEMA,
    {"sex": c.symmetric(2, 0.2), "grade": c.symmetric(3, 0.3), "age": c.windows(8, 5), "ill": c.binary(0.1, 0.2)},
)


def rows(n: int, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    age = rng.uniform(0, 80, n)
    return {
        "sex": rng.choice(["F", "M"], n),
        "grade": np.array(list("abc"))[np.clip((age // 27).astype(int), 0, 2)],
        "age": age,
        "ill": np.where(rng.random(n) < age / 100, "yes", "no"),
    }


def site(seed: int, n: int = 3000, scheme: sf.Scheme = SCHEME) -> sf.Release:
    return sf.randomize(rows(n, seed), scheme, rng=sf.experiment(seed))


def test_counts_answer_every_question_that_their_tables_tell_like_the_rows(tmp_path) -> None:
    release = site(1)
    sf.counted(release).save(tmp_path / "site.json")
    ours, theirs = sf.evidence(sf.Release.load(tmp_path / "site.json")), sf.evidence(release)
    assert ours.n == theirs.n and ours.schema == theirs.schema
    for ask in (
        lambda ev: ev.counts(["sex", "grade"]),
        lambda ev: ev.counts("age"),
        lambda ev: ev.mean("age", by="sex"),
        lambda ev: ev.share("ill", where={"grade": "c"}),
        lambda ev: ev.quantile("age", [0.25, 0.5], by="ill"),
        lambda ev: ev.correlation("age", "grade"),
        lambda ev: ev.cells(["sex", "ill"], [[0, 1]]),
    ):
        np.testing.assert_allclose(ask(ours).value, ask(theirs).value)
        np.testing.assert_allclose(ask(ours).interval(), ask(theirs).interval())


def test_learners_that_need_only_the_tables_learn_the_same() -> None:
    release = site(2, 6000)
    pairs, whole = sf.counted(release), sf.counted(release, [SCHEMA.names])
    bayes = [sf.learn.NaiveBayes().fit(one, target="ill") for one in (release, pairs)]
    np.testing.assert_allclose(bayes[0].tables_["age"], bayes[1].tables_["age"])
    nets = [sf.learn.BayesianNetwork(max_parents=1).fit(one) for one in (release, pairs)]
    assert nets[0].parents_ == nets[1].parents_ and nets[0].edges_ == nets[1].edges_
    fits = [sf.learn.Regression(family="logistic").fit(one, target="ill", names=["age"]) for one in (release, pairs)]
    np.testing.assert_allclose(fits[0].coef_, fits[1].coef_)
    models = [sf.evidence(one, method="model", tau=0.3).shares(["sex", "ill"]) for one in (release, whole)]
    np.testing.assert_allclose(*models, atol=1e-9)
    trees = [sf.learn.DecisionTree().fit(one, target="ill") for one in (release, whole)]
    assert repr(trees[0]) == repr(trees[1])


def test_a_table_that_is_not_there_is_named() -> None:
    ev = sf.evidence(sf.counted(site(3), [["sex", "ill"], ["age"]]))
    with pytest.raises(MissingTableError, match="holds sex and age together.*--table sex,age.*sex x ill; age"):
        ev.mean("age", by="sex")
    with pytest.raises(MissingTableError, match="no table of counts holds grade:"):
        ev.counts("grade")
    with pytest.raises(MissingTableError, match="sex, grade, age and ill together"):
        sf.evidence(ev.release, method="model")
    with pytest.raises(MissingTableError, match="together"):
        sf.learn.BayesianNetwork(search="tree").fit(ev)


def test_a_search_keeps_to_the_tables_that_are_there_and_says_so() -> None:
    release = site(2, 6000)
    with pytest.warns(
        SfumatoWarning, match="sets? of attributes (were|was) not considered.*sfumato counts --table sex,"
    ):
        net = sf.learn.BayesianNetwork().fit(sf.counted(release))
    assert max(len(parents) for parents in net.parents_.values()) == 1
    whole = sf.learn.BayesianNetwork().fit(sf.counted(release, [SCHEMA.names]))
    assert whole.parents_ == sf.learn.BayesianNetwork().fit(release).parents_


@pytest.mark.parametrize(
    "ask",
    [
        lambda r: r.arrow(),
        lambda r: r.decode(5),
        lambda r: r.join(r, on="id"),
        lambda r: sf.attacks.bayes(r),
        lambda r: sf.evidence(r, weights="age"),
        lambda r: sf.learn.cross_score(sf.learn.NaiveBayes(), r, "ill"),
    ],
)
def test_what_needs_rows_says_so_in_one_line(ask) -> None:
    with pytest.raises(SfumatoError) as problem:
        ask(sf.counted(site(4, 300)))
    assert "\n" not in str(problem.value)


def test_sums_of_sites_are_the_counts_of_all_their_records(tmp_path) -> None:
    sites = [site(seed, 900 + seed) for seed in (5, 6, 7)]
    everybody = sf.Release.concat([sf.counted(one) for one in sites])
    together = sf.evidence(sf.Release.concat(sites))
    np.testing.assert_allclose(sf.evidence(everybody).mean("age").value, together.mean("age").value)
    everybody.save(tmp_path / "all.json")
    loaded = sf.Release.load(tmp_path / "all.json")
    assert len(loaded.parts) == 1 and len(loaded) == len(together.release)  # nobody's own tables are in the file
    np.testing.assert_allclose(sf.evidence(loaded).counts(["age", "ill"]).value, together.counts(["age", "ill"]).value)


def test_sites_under_different_schemes_and_rows_beside_counts() -> None:
    stricter = sf.Scheme(SCHEMA, {name: c.symmetric(SCHEMA[name].size, 0.4) for name in SCHEMA})
    one, other = site(8), site(9, scheme=stricter)
    both = sf.evidence(sf.Release.concat([one, other])).mean("age", by="sex")
    mixed = sf.evidence(sf.Release.concat([sf.counted(one), other])).mean("age", by="sex")
    np.testing.assert_allclose(mixed.value, both.value)
    np.testing.assert_allclose(mixed.population().cov, both.population().cov)


def test_a_selection_and_tables_of_tables() -> None:
    release = site(10)
    whole = sf.counted(release, [SCHEMA.names])
    some = whole.select(["sex", "age"])
    pair = ["sex", "age"]
    np.testing.assert_allclose(sf.evidence(some).counts(pair).value, sf.evidence(release).counts(pair).value)
    again = sf.counted(whole, [["ill", "sex"]])
    assert list(again.parts[0].tables) == [("sex", "ill")]  # in the order of the scheme, whatever was asked


def test_groups_forms_nulls_and_noise() -> None:
    together = sf.Scheme(
        SCHEMA, {("sex", "ill"): c.symmetric((2, 2), 0.3), "grade": c.symmetric(3, 0.3), "age": c.windows(8, 5)}
    )
    release = site(11, scheme=together)
    np.testing.assert_allclose(
        sf.evidence(sf.counted(release)).counts(["sex", "age"]).value, sf.evidence(release).counts(["sex", "age"]).value
    )
    forms = sf.Forms.for_gamma(SCHEMA, gamma=9, ask=2)
    asked = sf.randomize(rows(4000, 12), forms, rng=sf.experiment(12))
    np.testing.assert_allclose(
        sf.evidence(sf.counted(asked)).mean("age", by="sex").value, sf.evidence(asked).mean("age", by="sex").value
    )
    few = sf.evidence(sf.counted(asked, [["sex", "age"]]))
    np.testing.assert_allclose(few.counts(["sex", "age"]).value, sf.evidence(asked).counts(["sex", "age"]).value)
    with pytest.raises(MissingTableError, match="holds sex and grade together.*--table sex,grade"):
        few.counts("sex")  # whom the other forms asked too
    silent = sf.Schema({"sex": sf.Categorical(("F", "M"), nullable=True), "ill": SCHEMA["ill"]})
    table = {"sex": ["F", None, "M", None] * 100, "ill": ["no", "yes"] * 200}
    release = sf.randomize(table, sf.Scheme.for_gamma(silent, gamma=9), rng=sf.experiment(13))
    for ev in (sf.evidence(sf.counted(release)), sf.evidence(release)):
        assert "no answer" in str(ev.share("ill", where={"sex": "F"}))
    noisy = sf.Schema({"age": sf.Numeric(0, 80), "sex": SCHEMA["sex"], "ill": SCHEMA["ill"]})
    with pytest.warns(DisclosureWarning, match="additive noise"):
        scheme = sf.Scheme(noisy, {"age": c.gaussian(5), "sex": SCHEME["sex"], "ill": SCHEME["ill"]})
    release = sf.randomize(rows(500, 13), scheme, rng=sf.experiment(13))
    assert list(sf.counted(release).parts[0].tables) == [("sex", "ill")]
    with pytest.raises(EstimationError, match="'age' carries additive noise"):
        sf.counted(release, [["age", "sex"]])


def test_bad_requests_get_one_line(tmp_path) -> None:
    release = site(14, 300)
    for tables, said in (
        ([], "at least one table"),
        ([["sex", "sex"]], "each attribute once"),
        ([[]], "at least one"),
        ([["nobody"]], "nobody"),
    ):
        with pytest.raises(SfumatoError, match=said):
            sf.counted(release, tables)
    with pytest.raises(EstimationError, match="takes a release"):
        sf.counted(rows(10, 1))
    forms = sf.randomize(rows(500, 1), sf.Forms.for_gamma(SCHEMA, gamma=9, ask=2), rng=sf.experiment(1))
    with pytest.raises(NotAskedError, match="no form asks"):
        sf.counted(forms, [["sex", "age", "ill"]])
    with pytest.raises(ReleaseError, match=r"ends in \.json"):
        sf.counted(release).save(tmp_path / "site.parquet")
    with pytest.raises(ReleaseError, match="others rows"):
        sf.Release.concat([sf.counted(release), release]).save(tmp_path / "both.json")
    raw = sf.counted(sf.Release.raw(rows(50, 1), SCHEMA))
    with pytest.raises(ReleaseError, match="clear=True"):
        raw.save(tmp_path / "raw.json")
    raw.save(tmp_path / "raw.json", clear=True)
    assert sf.evidence(sf.Release.load(tmp_path / "raw.json")).exact
    with pytest.raises(ReleaseError, match="already exists"):
        raw.save(tmp_path / "raw.json", clear=True)


def test_damaged_files_are_refused_in_one_line(tmp_path) -> None:
    path = tmp_path / "site.json"
    sf.counted(site(15, 300)).save(path)
    good = json.loads(path.read_text())

    def changed(change) -> dict:
        document = json.loads(path.read_text())
        change(document)
        return document

    table = good["parts"][0]["tables"][0]
    cases = {
        "version 9": lambda d: d.update(version=9),
        "names no parts": lambda d: d.update(parts=[]),
        "damaged": lambda d: d["parts"][0].pop("records"),
        "not negative": lambda d: d["parts"][0]["tables"][0]["counts"].__setitem__(0, -1),
        "whole numbers": lambda d: d["parts"][0]["tables"][0]["counts"].__setitem__(0, 0.5),
        "another number": lambda d: d["parts"][0]["tables"][0]["counts"].append(0),
        "each once": lambda d: d["parts"][0]["tables"][0].update(columns=["sex", "sex"]),
        "some released columns": lambda d: d["parts"][0]["tables"][0].update(columns=["sex", "nobody"]),
        "there twice": lambda d: d["parts"][0]["tables"].append(table),
        "it is damaged": lambda d: d["parts"][0].update(records=1 << 60),
        "does not count all": lambda d: d["parts"][0].update(records=299),
        "disagree about": lambda d: d["parts"][0]["tables"][0]["counts"].reverse(),
        "scheme": lambda d: d["parts"][0].update(scheme={}),
    }
    for said, change in cases.items():
        bad = tmp_path / "bad.json"
        bad.write_text(json.dumps(changed(change)))
        with pytest.raises(ReleaseError, match=said) as problem:
            sf.Release.load(bad)
        assert "\n" not in str(problem.value) and "bad.json" in str(problem.value)
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(SfumatoError):
        sf.Release.load(tmp_path / "bad.json")


def test_free_text_is_left_out_of_tables_unless_it_is_named() -> None:
    schema = sf.Schema({"word": sf.Text(4), "sex": sf.Categorical(("F", "M")), "grade": sf.Ordinal((1, 2, 3))})
    rows = {"word": ["flu"] * 300, "sex": ["F", "M", "M"] * 100, "grade": [1, 2, 3] * 100}
    forms = sf.Forms.for_gamma(schema, gamma=50, ask=1)
    for scheme in (sf.Scheme.for_gamma(schema, 50), forms):
        release = sf.randomize(rows, scheme, rng=sf.experiment(3))
        found = sf.counted(release)
        assert (sf.evidence(found).counts("sex").value == sf.evidence(release).counts("sex").value).all()
        with pytest.raises(EstimationError, match="'word' is free text and has no table of counts: leave it out"):
            sf.counted(release, [["word"]])
    with pytest.raises(EstimationError, match="there is nothing to count"):
        sf.counted(sf.Release.of([sf.randomize(rows, forms[0], rng=sf.experiment(3)).parts[0]]))
