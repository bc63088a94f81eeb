"""Forms: a bound on the whole person, from choosing a form to estimates of everybody."""

from __future__ import annotations

import hashlib
import json
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import ChannelError, EstimationError, NotAskedError, ReleaseError, SchemaError, SchemeError
from sfumato.evidence.independence import all_pairs
from sfumato.evidence.model.likelihood import likelihood
from sfumato.owner import shuffle
from sfumato.secrets.keys import HEADER

SCHEMA = sf.Schema(
    {
        "a": sf.Categorical(("x", "y", "z")),
        "b": sf.Categorical(("no", "yes")),
        "c": sf.Ordinal(("low", "middle", "high")),
        "d": sf.Categorical(("no", "yes")),
    }
)


def records(n: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    a = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    b = (rng.random(n) < 0.2 + 0.25 * a).astype(int)
    last = np.minimum(a, 1) + b
    d = (rng.random(n) < 0.3 + 0.4 * b).astype(int)
    codes = {"a": a, "b": b, "c": last, "d": d}
    table = {name: np.array(SCHEMA[name].labels)[own].tolist() for name, own in codes.items()}
    return {**table, "id": [f"p{i}" for i in range(n)]}


def pair(one: str, other: str, gamma: float = 9) -> sf.Scheme:
    part = SCHEMA.select([one, other])
    return sf.Scheme(part, {(one, other): c.subset(part.sizes(), gamma)})


# What forms are.


def test_gamma_is_the_worst_ratio_of_the_whole_record() -> None:
    forms = sf.Forms([pair("a", "b", 3), pair("b", "d", 5), sf.Scheme.for_gamma(SCHEMA.select(["c"]), 4)])
    worst = 1.0
    for form in forms:
        P = np.ones((1, 1))
        for group in form.groups:
            P = np.kron(P, group.channel.matrix)
        worst = max(worst, float((P.max(axis=0) / P.min(axis=0)).max()))
    assert worst == pytest.approx(forms.gamma) == pytest.approx(5)
    assert forms.epsilon == pytest.approx(np.log(5))
    assert "all answers of one person together: 5" in repr(forms).replace("\n", " ")
    split = sf.Scheme.for_gamma(SCHEMA, 5)  # the negative control: a bound on each attribute is none on the person
    assert split.gamma == pytest.approx(5**4)


@pytest.mark.parametrize("ask", [1, 2, 3, 4])
def test_for_gamma_asks_every_combination_under_the_whole_bound(ask: int) -> None:
    forms = sf.Forms.for_gamma(SCHEMA, 9, ask)
    assert [form.schema.names for form in forms] == list(combinations("abcd", ask))
    assert all(1 < form.gamma <= 9 for form in forms)
    assert forms.gamma == pytest.approx(9)
    assert sum(forms.weights) == pytest.approx(1)
    assert forms.schema == SCHEMA


def test_forms_with_the_target_are_given_more_often() -> None:
    plain, about = (sf.Forms.for_gamma(SCHEMA, 9, 2, target=target) for target in (None, "d"))
    for form, before, now in zip(about, plain.weights, about.weights, strict=True):
        assert (now > before) == ("d" in form.schema)


def test_json_round_trip_and_fingerprint() -> None:
    forms = sf.Forms([pair("a", "b"), pair("c", "d")], [0.3, 0.7])
    again = sf.Forms.from_json(forms.to_json())
    assert (again == forms, hash(again) == hash(forms), again.weights) == (True, True, (0.3, 0.7))
    assert again.schema == forms.schema
    others = [sf.Forms([pair("a", "b"), pair("c", "d")], w) for w in ([0.7, 0.3], None)]
    assert len({forms.fingerprint, *(other.fingerprint for other in others)}) == 3
    assert "all answers of one person together" in forms._repr_html_()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: sf.Forms([pair("a", "b"), pair("c", "d")], [0.5, 0.6]), "sum to 1, got a sum of 1.1"),
        (lambda: sf.Forms([pair("a", "b"), pair("c", "d")], [1.5, -0.5]), "must be positive"),
        (lambda: sf.Forms([pair("a", "b")], [0.5, 0.5]), "must be 1, one for each form"),
        (lambda: sf.Forms([pair("a", "b")], ["half"]), "weights must be numbers"),
        (lambda: sf.Forms([]), "1 to 4,096 schemes"),
        (lambda: sf.Forms(["a"]), "list of 1 to"),  # type: ignore[list-item]
        (
            lambda: sf.Forms(
                [pair("a", "b"), sf.Scheme(sf.Schema({"a": sf.Ordinal((1, 2))}), {"a": c.binary(0.2, 0.2)})]
            ),
            "give 'a' different values: bring them to one schema",
        ),
        (lambda: sf.Forms.for_gamma(SCHEMA, 9, 5), "ask must be at most 4"),
        (lambda: sf.Forms.for_gamma(SCHEMA, 9, target="z"), "no attribute 'z'"),
        (lambda: sf.Forms.from_json("{}"), "these are no forms"),
        (lambda: sf.Forms.from_json('{"format": "sfumato forms", "version": 9}'), "version 9"),
        (lambda: sf.Forms.from_json('{"format": "sfumato forms", "version": 1}'), "damaged"),
    ],
)
def test_bad_forms_get_one_line(make: Any, words: str) -> None:
    with pytest.raises(sf.SfumatoError, match=words) as found:
        make()
    assert "\n" not in str(found.value)


def test_gamma_must_be_a_bound() -> None:
    with pytest.raises(ChannelError, match="gamma must lie in"):
        sf.Forms.for_gamma(SCHEMA, 1)


# Who gets which.


def test_every_record_answers_one_form_in_proportion_to_its_weight() -> None:
    forms = sf.Forms([pair("a", "b"), pair("b", "c"), pair("c", "d")], [0.6, 0.3, 0.1])
    release = sf.randomize(records(20_000), forms, rng=sf.experiment(1))
    assert [part.scheme for part in release.parts] == list(forms)
    counts = np.array([len(part) for part in release.parts])
    assert counts.sum() == 20_000
    expected = 20_000 * np.array(forms.weights)
    assert ((counts - expected) ** 2 / expected).sum() < 30  # chi-square with 2 degrees of freedom
    assert [part.arrow().schema.names for part in release.parts] == [["a+b"], ["b+c"], ["c+d"]]
    assert release.schema == SCHEMA
    assert not release.whole


def test_the_same_person_always_gets_the_same_form() -> None:
    forms, key, table = sf.Forms.for_gamma(SCHEMA, 9), sf.new_key(), records(400)
    first = sf.randomize(table, forms, key=key, id="id")
    again = {name: column[::-1] for name, column in table.items()}
    again["a"] = ["x"] * 400  # another value does not change the form
    second = sf.randomize(again, forms, key=key, id="id")
    held = [[set(part.arrow().column("id").to_pylist()) for part in release.parts] for release in (first, second)]
    assert held[0] == held[1]
    unchanged = [i for i, form in enumerate(forms) if "a" not in form.schema]
    for i in unchanged:
        assert first.parts[i].arrow().equals(second.parts[i].arrow())
    other = sf.randomize(table, forms, key=sf.new_key(), id="id")
    sizes = [[len(part) for part in release.parts] for release in (first, other)]
    assert sizes[0] != sizes[1]


def test_the_form_is_derived_as_written_down() -> None:
    forms, secret = sf.Forms([pair("a", "b"), pair("c", "d")], [0.3, 0.7]), bytes(range(32))
    k = hashlib.sha256(b"sfumato keyed answers 2\n" + secret).digest()

    def cbc(message: bytes) -> bytes:
        made = Cipher(algorithms.AES256(k), modes.CBC(bytes(16))).encryptor()
        return made.update(message)[-16:]

    chosen = []
    for i in range(50):
        text = f"p{i}".encode() + b"\1"
        person = cbc(hashlib.sha256(b"person|1").digest()[:16] + text.ljust(16, b"\0"))
        word = cbc(hashlib.sha256(b"form|" + bytes.fromhex(forms.fingerprint)).digest()[:16] + person)
        chosen.append(int(int.from_bytes(word[:8], "little") >> 1 >= round(0.3 * 2**63)))
    release = sf.randomize(records(50), forms, key=HEADER + secret, id="id", clear_ids=False)
    assert [len(part) for part in release.parts] == [chosen.count(0), chosen.count(1)]


def test_an_id_that_occurs_twice_is_found_whatever_the_forms() -> None:
    table = records(64)
    table["id"] = [f"p{i // 2}" for i in range(64)]
    with pytest.raises(SchemaError, match="32 ids occur more than once"):
        sf.randomize(table, sf.Forms.for_gamma(SCHEMA, 9), id="id")


def test_a_form_nobody_was_given_is_still_there(tmp_path: Path) -> None:
    forms = sf.Forms.for_gamma(SCHEMA, 9)
    release = sf.randomize(records(2), forms, id="id", rng=sf.experiment(0))
    assert sorted(len(part) for part in release.parts)[:4] == [0] * 4
    assert release.schema == SCHEMA
    assert len(sf.Release.load(release.save(tmp_path / "few.parquet"))) == 2


# Files.


@pytest.mark.parametrize("name", ["forms.parquet", "forms.csv"])
def test_files_hold_all_forms(tmp_path: Path, name: str) -> None:
    forms, key = sf.Forms.for_gamma(SCHEMA, 9), sf.new_key()
    release = sf.randomize(records(500), forms, key=key, id="id")
    again = sf.Release.load(release.save(tmp_path / name))
    written = sf.randomize_file(records(500), tmp_path / f"streamed.{name}", forms, key, "id")
    for other in (again, written):
        assert [part.scheme for part in other.parts] == list(forms)
        for mine, theirs in zip(release.parts, other.parts, strict=True):
            assert mine.arrow().to_pylist() == theirs.arrow().to_pylist()
        for names in (["a"], ["a", "b"]):
            np.testing.assert_allclose(
                sf.evidence(other).counts(names, quiet=True).value, sf.evidence(release).counts(names, quiet=True).value
            )


def test_the_file_of_many_forms_is_small_and_can_be_read(tmp_path: Path) -> None:
    """Of 378 forms each stood in a place of its own for all 378 columns, which was taken for a file made to mislead."""
    schema = sf.Schema({f"q{i}": sf.Categorical(("no", "yes")) for i in range(8)})
    several = sf.Forms([sf.Scheme.for_gamma(schema.select(two), 9) for two in combinations(schema, 2)])
    table = {name: ["no", "yes"] * 400 for name in schema}
    written = sf.randomize_file(table, tmp_path / "many.parquet", several)
    assert pq.read_metadata(tmp_path / "many.parquet").num_row_groups == 1 < len(written.parts)
    assert sf.evidence(written).counts("q3").value.sum() == pytest.approx(800)
    written.save(tmp_path / "again.parquet")
    assert [len(one) for one in sf.Release.load(tmp_path / "again.parquet").parts] == list(map(len, written.parts))


def test_tables_beyond_memory_are_shuffled_form_by_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forms, key = sf.Forms.for_gamma(SCHEMA, 9), sf.new_key()
    plain = sf.randomize_file(records(3000), tmp_path / "plain.parquet", forms, key, "id").arrow()
    monkeypatch.setattr(shuffle, "HELD_ROWS", 600)
    spilt = sf.randomize_file(records(3000), tmp_path / "spilt.parquet", forms, key, "id").arrow()
    assert spilt.equals(plain)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plain.parquet", "spilt.parquet"]


def test_kept_order_is_kept_within_each_form() -> None:
    forms = sf.Forms([sf.Scheme.identity(SCHEMA.select([name])) for name in "ab"])
    table = {"a": ["x"] * 30 + ["z"] * 30, "b": ["no"] * 30 + ["yes"] * 30}
    with pytest.warns(sf.errors.DisclosureWarning, match="keep their order"):
        release = sf.randomize(table, forms, order="keep")
    for part in release.parts:
        codes = part.arrow().column(0).to_numpy()
        assert (np.diff(codes.astype(int)) >= 0).all()
    decoded = release.decode()
    assert set(decoded.column("a").to_pylist()) == {"x", "z", None}


def test_concat_takes_parts_where_an_attribute_was_not_asked() -> None:
    table = records(300)
    one = sf.randomize(table, sf.Scheme.for_gamma(SCHEMA.select(["a", "b"]), 9))
    other = sf.randomize(table, sf.Scheme.for_gamma(SCHEMA.select(["b", "c"]), 9))
    both = sf.Release.concat([one, other])
    assert both.schema.names == ("a", "b", "c")
    assert sf.evidence(both).counts("a", quiet=True).value.sum() == pytest.approx(600)
    assert [len(part) for part in both.select(["a"]).parts] == [300]
    strange = sf.randomize({"b": [1, 2]}, sf.Scheme.for_gamma(sf.Schema({"b": sf.Ordinal((1, 2))}), 9))
    with pytest.raises(ReleaseError, match="different attributes or domains"):
        sf.Release.concat([one, strange])
    with pytest.raises(ReleaseError, match="different attributes"):
        sf.Release.concat([one, sf.randomize(table, sf.Scheme.for_gamma(SCHEMA.select(["c"]), 9))])


# The ledger.


def test_the_ledger_books_every_attribute_of_the_forms(tmp_path: Path) -> None:
    forms, key, table = sf.Forms.for_gamma(SCHEMA, 9), sf.new_key(), records(100)
    ledger = sf.Ledger(tmp_path / "ledger.sqlite", new=True)
    first = sf.randomize(table, forms, key=key, id="id", ledger=ledger)
    assert ledger.spent() == pytest.approx(dict.fromkeys("abcd", 9.0))
    again = sf.randomize(table, forms, key=key, id="id", ledger=ledger)  # the same answers again are free
    assert [p.arrow().equals(q.arrow()) for p, q in zip(first.parts, again.parts, strict=True)] == [True] * 6
    assert ledger.spent() == pytest.approx(dict.fromkeys("abcd", 9.0))
    with pytest.raises(ReleaseError, match="already released"):
        sf.randomize(table, forms, id="id", ledger=ledger)


def test_a_ledger_without_ids_does_not_take_one_form_for_a_repeat_of_another(tmp_path: Path) -> None:
    ledger = sf.Ledger(tmp_path / "ledger.sqlite", new=True)
    sf.randomize(records(10), sf.Forms.for_gamma(SCHEMA, 9), ledger=ledger)
    with pytest.raises(ReleaseError, match="already released once"):
        sf.randomize(records(10), sf.Forms.for_gamma(SCHEMA, 9), ledger=ledger)


# Estimates.


def test_counts_speak_of_everybody_and_cover() -> None:
    """Totals are of all records; error bars hold what comes from asking only some."""
    table = records(900, seed=3)
    forms = sf.Forms([pair("a", "b", 200), pair("b", "c", 200), pair("a", "d", 200)], [0.5, 0.3, 0.2])
    exact = sf.evidence(table, SCHEMA)
    wanted = [("a",), ("b",), ("a", "b")]
    values: dict[tuple[str, ...], list[Any]] = {names: [] for names in wanted}
    sds, held, narrow = [], [], []
    for draw in range(120):
        ev = sf.evidence(sf.randomize(table, forms, rng=sf.experiment(1000 + draw)))
        for names in wanted:
            estimate = ev.counts(names, quiet=True)
            truth = exact.counts(names).value
            values[names].append(estimate.value)
            assert (estimate.n, round(estimate.value.sum(), 6)) == (900, 900)
            if names != ("a", "b"):
                continue
            sds.append(estimate.sd)
            low, high = estimate.interval()
            held.append((low <= truth) & (truth <= high))
            alone = estimate.of_asked  # the negative control: error bars of those who were asked only
            narrow.append(abs(estimate.value - truth) < 1.96 * alone.sd / estimate.asked)
    for names in wanted:
        spread = np.std(values[names], axis=0)
        assert (abs(np.mean(values[names], axis=0) - exact.counts(names).value) < 5 * spread / np.sqrt(120)).all()
    spread = np.std(values["a", "b"], axis=0)
    np.testing.assert_allclose(np.mean(sds, axis=0), spread, rtol=0.3)
    assert 0.93 < np.concatenate(held).mean() < 0.975
    assert np.concatenate(narrow).mean() < 0.9


def test_covariances_agree_with_each_other() -> None:
    release = sf.randomize(records(500), sf.Forms.for_gamma(SCHEMA, 9), rng=sf.experiment(5))
    for estimate in (
        sf.evidence(release).counts(list("ab"), quiet=True),
        sf.evidence(release).counts("b").population(),
    ):
        cov = estimate.cov
        np.testing.assert_allclose(np.diag(cov), estimate.variance)
        one, other = np.random.default_rng(0).normal(size=(2, len(cov)))
        assert estimate.covariance(one, other) == pytest.approx(one @ cov @ other)


@pytest.mark.filterwarnings("ignore::sfumato.errors.NegativeCountsWarning")
def test_what_no_form_asks_gets_one_line() -> None:
    forms = sf.Forms([pair("a", "b"), pair("b", "c"), pair("c", "d")])
    ev = sf.evidence(sf.randomize(records(200), forms, rng=sf.experiment(0)))
    for ask in (lambda: ev.counts(["a", "d"]), lambda: ev.cells(["a", "d"], [[0, 0]])):
        with pytest.raises(NotAskedError, match="no form asks a and d together") as found:
            ask()
        assert isinstance(found.value, EstimationError)
        assert "\n" not in str(found.value)
    with pytest.raises(sf.SfumatoError, match="there is no attribute 'z'"):
        ev.counts("z")


# The joint model.


def test_a_question_not_asked_is_a_channel_of_gamma_one() -> None:
    """The likelihood of all forms at once, against its brute-force twin cell by cell."""
    forms = sf.Forms([pair("d", "a"), sf.Scheme.for_gamma(SCHEMA.select(["b", "c"]), 4)])
    release = sf.randomize(records(300), forms, rng=sf.experiment(2))
    names = SCHEMA.names
    theta = np.random.default_rng(0).dirichlet(np.ones(36))
    expected = 0.0
    cells = list(product(*(range(size) for size in SCHEMA.sizes())))
    for part in release.parts:
        rows = part.arrow()
        for row in zip(*(rows.column(i).to_pylist() for i in range(rows.num_columns)), strict=True):
            chance = 0.0
            for share, cell in zip(theta, cells, strict=True):
                told = 1.0
                for group, code in zip(part.scheme.groups, row, strict=True):
                    own = [cell[names.index(name)] for name in group.names]
                    told *= group.channel.matrix[np.ravel_multi_index(own, group.channel.sizes), code]
                chance += share * told
            expected += np.log(chance)
    found, ratio = likelihood(release, names).evaluate(theta)
    assert found == pytest.approx(expected)
    assert float(theta @ ratio) == pytest.approx(1.0)


def test_the_model_answers_for_everything_from_all_forms() -> None:
    table = records(6000, seed=1)
    forms = sf.Forms([pair("a", "b", 50), pair("b", "c", 50), pair("c", "d", 50), pair("b", "d", 50)])
    release = sf.randomize(table, forms, rng=sf.experiment(4))
    model = sf.evidence(release, method="model", tau=1.0)
    exact = sf.evidence(table, SCHEMA)
    assert model.n == 6000
    for names in (["a", "b"], ["a", "d"], ["a", "b", "d"]):
        estimate, truth = model.counts(names), exact.counts(names).value
        assert estimate.value.sum() == pytest.approx(6000)
        assert np.abs(estimate.value - truth).sum() / 6000 < 0.12
        assert ((estimate.sd > 0) & (estimate.sd < 900)).all()
    asked, unasked = model.counts(["b", "d"]), model.counts(["a", "d"])
    assert unasked.sd.min() > 1.5 * asked.sd.max()  # what no form asks is known through the others only
    assert not model.disagreement()
    assert model.sample(10, rng=0).num_rows == 10


@pytest.mark.filterwarnings("ignore::sfumato.evidence.kinds.JunctionTreeWarning")
def test_cliques_and_learners_work_on_forms() -> None:
    from sfumato.evidence.model.cliques import JunctionEvidence

    table = records(6000, seed=2)
    release = sf.randomize(table, sf.Forms.for_gamma(SCHEMA, 30, target="d"), rng=sf.experiment(6))
    cliques = JunctionEvidence(release)
    exact = sf.evidence(table, SCHEMA)
    assert np.abs(cliques.counts(["a", "b"]).value - exact.counts(["a", "b"]).value).sum() / 6000 < 0.15
    assert np.isfinite(cliques.log_likelihood())
    labels = pa.table({name: column for name, column in table.items() if name != "id"})
    best = sf.learn.NaiveBayes().fit(exact, target="d").score(labels, table["d"])
    for source in (sf.evidence(release), sf.evidence(release, method="model", target="d")):
        for learner in (sf.learn.NaiveBayes(), sf.learn.DecisionTree()):
            assert learner.fit(source, target="d").score(labels, table["d"]) > best - 0.03
    net = sf.learn.BayesianNetwork(parents={"a": [], "b": ["a"], "c": ["b"], "d": ["b"]}).fit(sf.evidence(release))
    assert np.isfinite(np.asarray(net.cpt("b").values)).all()


def test_randomizing_without_a_scheme_says_what_it_takes() -> None:
    with pytest.raises(SchemeError, match="must be a Scheme or Forms"):
        sf.randomize(records(3), json.loads("{}"))


# Learners: what no form asks together, one model of all forms answers for.


@pytest.fixture(scope="module")
def asked_in_pairs() -> tuple[dict[str, Any], sf.Release]:
    table = records(12_000, seed=8)
    return table, sf.randomize(table, sf.Forms.for_gamma(SCHEMA, 60), rng=sf.experiment(78))


@pytest.mark.parametrize(
    ("family", "target", "names", "method"),
    [
        ("gaussian", "c", ["a", "b"], "corrected scores on unbiased moments of all forms"),
        ("gaussian", "c", ["a", "b", "a:b"], "cells of the joint model"),  # three attributes in one moment
        ("logistic", "d", ["b", "c"], "cells of the joint model"),
    ],
)
def test_regressions_work_on_forms(
    asked_in_pairs: Any, family: str, target: str, names: list[str], method: str
) -> None:
    table, release = asked_in_pairs
    exact = sf.learn.Regression(family).fit(sf.evidence(table, SCHEMA), target=target, names=names)
    found = sf.learn.Regression(family).fit(release, target=target, names=names)
    assert found.method_ == method
    if len(names) == 2:
        assert (np.abs(found.coef_ - exact.coef_) < 4 * found.sd_ + 0.05).all()
        alone = sf.learn.Regression(family).fit(release, target=target, names=names[:1])  # one form asks both
        assert alone.method_.startswith("corrected scores")
    if method == "cells of the joint model":
        with pytest.raises(NotAskedError, match="no form asks"):
            sf.learn.Regression(family, through="scores").fit(release, target=target, names=names)


def test_coefficients_from_forms_have_the_limits_they_claim() -> None:
    """Two covariates and a response of which no form asks all three."""
    held, narrow = [], []
    for draw in range(40):
        table = records(3000, seed=500 + draw)
        release = sf.randomize(table, sf.Forms.for_gamma(SCHEMA, 40), rng=sf.experiment(7500 + draw))
        exact = sf.evidence(table, SCHEMA)
        for family, target, names in (("gaussian", "c", ["b", "d"]), ("logistic", "d", ["a", "b"])):
            truth = sf.learn.Regression(family).fit(exact, target=target, names=names).coef_
            low, high = sf.learn.Regression(family).fit(release, target=target, names=names).interval()
            held.append((low <= truth) & (truth <= high))
            short = (high - low) / 4
            narrow.append((low + short <= truth) & (truth <= high - short))
    assert 0.92 < np.concatenate(held).mean() < 0.995
    assert np.concatenate(narrow).mean() < 0.85  # the negative control: limits half as wide


def test_rules_work_on_forms(asked_in_pairs: Any) -> None:
    table, release = asked_in_pairs
    exact = sf.evidence(table, SCHEMA)
    rules = sf.learn.AssociationRules(min_support=0.1, min_confidence=0.5).fit(release)
    deep = [one for one in rules.itemsets_ if len(one.items) == 3]
    assert deep
    for one in deep:
        held = dict(item.split("=") for item in one.items)
        names = list(held)
        truth = exact.counts(names).table[tuple(SCHEMA[n].labels.index(held[n]) for n in names)] / exact.n
        assert one.low - 0.02 < truth < one.high + 0.02


def test_networks_have_as_many_parents_as_a_form_asks(asked_in_pairs: Any) -> None:
    _, release = asked_in_pairs
    with pytest.warns(sf.errors.SfumatoWarning, match="no form asks more than 2 attributes together"):
        net = sf.learn.BayesianNetwork().fit(release)
    assert max(len(parents) for parents in net.parents_.values()) == 1
    links = {frozenset((edge.parent, edge.child)) for edge in net.edges_}
    assert {frozenset("ac"), frozenset("bd")} <= links
    tree = sf.learn.BayesianNetwork(search="tree").fit(release)
    assert len(tree.edges_) == 3
    given = sf.learn.BayesianNetwork(parents={"a": [], "b": [], "c": ["a", "b"], "d": ["b"]}).fit(release)
    untested = [edge for edge in given.edges_ if edge.child == "c"]
    assert all(np.isnan(edge.p_value) for edge in untested)
    assert np.abs(given.cpt("c").values[0, 0] - [1, 0, 0]).max() < 0.1
    few = sf.Forms([pair("a", "b", 60), pair("b", "c", 60), pair("b", "d", 60)])
    star = sf.learn.BayesianNetwork(search="tree").fit(sf.randomize(records(4000), few, rng=sf.experiment(1)))
    assert {frozenset((edge.parent, edge.child)) for edge in star.edges_} == {
        frozenset("ab"),
        frozenset("bc"),
        frozenset("bd"),
    }


def test_probabilities_from_forms_know_how_few_were_asked() -> None:
    """Limits of Pr(b | a) that only a sixth of the records tell of; the estimate speaks of all records."""
    parents = {"a": [], "b": ["a"], "c": [], "d": []}
    held, values, sds, narrow = [], [], [], []
    for draw in range(60):
        table = records(1200, seed=300 + draw)
        release = sf.randomize(table, sf.Forms.for_gamma(SCHEMA, 60), rng=sf.experiment(7300 + draw))
        cpt = sf.learn.BayesianNetwork(parents=parents).fit(release).cpt("b")
        truth = np.stack([1 - (0.2 + 0.25 * np.arange(3)), 0.2 + 0.25 * np.arange(3)], axis=1)
        low, high = cpt.interval()
        held.append((low <= truth) & (truth <= high))
        values.append(cpt.raw)
        sds.append(cpt.sd())
        narrow.append(np.abs(cpt.raw - truth) < 1.96 * cpt.sd() * np.sqrt(1 / 6))  # the control: as if all were asked
    np.testing.assert_allclose(np.mean(sds, axis=0), np.std(values, axis=0), rtol=0.35)
    assert 0.9 < np.mean(held) < 0.99
    assert np.mean(narrow) < 0.8


def test_accuracies_are_estimated_from_forms(asked_in_pairs: Any) -> None:
    table, release = asked_in_pairs
    found = sf.learn.cross_score(sf.learn.NaiveBayes(), release, target="d", rng=1, confusion=False)
    labels = pa.table({name: column for name, column in table.items() if name != "id"})
    right = sf.learn.NaiveBayes().fit(release, target="d").score(labels, table["d"])
    assert found.interval[0] < right < found.interval[1]
    assert 0.1 < found.interval[1] - found.interval[0] < 0.7  # pairs tell nothing of three attributes together


def test_forms_about_many_attributes_are_modelled_in_cliques() -> None:
    """Pairs of every two attributes are asked; only those that depend on each other stand in one table."""
    from sfumato.evidence.model.cliques import JunctionEvidence

    rng = np.random.default_rng(4)
    hidden = rng.integers(0, 3, 20_000)
    made = {f"q{i}": np.where(rng.random(20_000) < 0.7, hidden, rng.integers(0, 3, 20_000)) for i in range(3)}
    made |= {f"r{i}": rng.integers(0, 3, 20_000) for i in range(4)}
    wide = sf.Schema({name: sf.Categorical((0, 1, 2)) for name in made})
    release = sf.randomize(made, sf.Forms.for_gamma(wide, 40), rng=sf.experiment(77))
    model, exact = JunctionEvidence(release), sf.evidence(made, wide)
    assert max(len(clique) for clique in model.cliques) < 5
    for names in (["q0", "q1"], ["q0", "r1"], ["r0"]):
        assert np.abs(model.counts(names).value - exact.counts(names).value).sum() / 20_000 < 0.12
    with pytest.raises(NotAskedError, match="model fewer"):
        model.counts(["q0", "q1", "q2"])
    tan = sf.learn.TAN().fit(model, target="q0")
    labels = pa.table({name: column for name, column in made.items() if name != "q0"})
    assert tan.score(labels, made["q0"]) > 0.6


def of_twelve_questions(n: int) -> tuple[dict[str, Any], sf.Schema]:
    rng = np.random.default_rng(8)
    schema = sf.Schema({f"q{i}": sf.Ordinal((1, 2, 3, 4, 5)) for i in range(12)})
    return {name: 1 + rng.binomial(4, 0.3, n) for name in schema}, schema


@pytest.mark.filterwarnings("ignore::sfumato.errors.SfumatoWarning")
def test_cliques_of_forms_know_all_who_were_asked_of_each_attribute() -> None:
    """Of 66 forms each clique of two saw one: a fiftieth of the people was said to give what a third of them gave."""
    from sfumato.evidence.model.cliques import JunctionEvidence

    table, schema = of_twelve_questions(6000)
    pairs = sf.Forms([sf.Scheme(own, {tuple(own): c.subset(own.sizes(), 30)}) for own in every_pair(schema)])
    release = sf.randomize(table, pairs, rng=sf.experiment(4))
    exact, unbiased, model = sf.evidence(table, schema), sf.evidence(release), JunctionEvidence(release)
    for name in schema:
        truth = exact.counts(name).value
        off = [np.abs(one.counts(name).value - truth).sum() / 6000 for one in (model, unbiased)]
        assert off[0] < off[1] + 0.05


def test_of_pairs_that_nobody_was_asked_nothing_is_tested() -> None:
    """A fold of the records may lack some of many forms: a tree was grown, and its accuracy refused for want of rows."""
    table, schema = of_twelve_questions(40)
    forms = sf.Forms([sf.Scheme(own, {tuple(own): c.subset(own.sizes(), 30)}) for own in every_pair(schema)])
    release = sf.randomize(table, forms, rng=sf.experiment(4))
    asked = {tuple(part.scheme.schema) for part in release.parts if len(part)}
    assert set(all_pairs(sf.evidence(release), schema.names)) == asked and len(asked) < 40


@pytest.mark.filterwarnings("ignore::sfumato.errors.SfumatoWarning")
def test_an_accuracy_is_of_those_who_were_asked_the_target() -> None:
    """It was divided by all records: 2.6 % right, with a narrow interval, where always the same answer has 61 %."""
    table, schema = of_twelve_questions(1500)
    table["y"] = np.where(np.random.default_rng(3).random(1500) < 0.7, "yes", "no")
    schema = sf.Schema({**schema, "y": sf.Categorical(("no", "yes"))})
    forms = sf.Forms([sf.Scheme(own, {tuple(own): c.subset(own.sizes(), 30)}) for own in every_pair(schema)])
    release = sf.randomize(table, forms, rng=sf.experiment(4))
    found = sf.learn.cross_score(sf.learn.DecisionTree(max_leaves=1), release, target="y", rng=1)
    yes = sf.evidence(release).share("y").population()
    assert found.confusion.sum() == pytest.approx(1, abs=0.03)
    assert found.interval[0] < 0.7 < found.interval[1]
    assert found.sd == pytest.approx(yes.sd[1], rel=0.2)  # each form has four people, in five folds


@pytest.mark.filterwarnings("ignore::sfumato.errors.SfumatoWarning")
def test_what_no_record_can_judge_is_refused_before_all_folds_are_learned() -> None:
    table, schema = of_twelve_questions(600)
    forms = sf.Forms([sf.Scheme(own, {tuple(own): c.subset(own.sizes(), 30)}) for own in every_pair(schema)])
    release, learned = sf.randomize(table, forms, rng=sf.experiment(4)), []
    with pytest.raises(NotAskedError, match="no form asks all 12 attributes .* learn from fewer .*--no-accuracy"):
        sf.learn.cross_score(sf.learn.NaiveBayes(), release, target="q0", rng=1, progress=learned.append)
    assert not learned


def test_a_pair_that_no_record_was_asked_is_named() -> None:
    table, schema = of_twelve_questions(10)
    release = sf.randomize(table, sf.Forms([*map(sf.Scheme.for_gamma, every_pair(schema), [9] * 66)]))
    unasked = next(tuple(part.scheme.schema) for part in release.parts if not len(part))
    with pytest.raises(EstimationError, match=f"none of 10 records was asked {' and '.join(unasked)} together"):
        sf.evidence(release).counts(unasked)


def every_pair(schema: sf.Schema) -> list[sf.Schema]:
    return [schema.select(two) for two in combinations(schema, 2)]


# Attacks.


def test_attacks_take_one_form_of_several(asked_in_pairs: Any) -> None:
    _, release = asked_in_pairs
    forms = sf.Forms([part.scheme for part in release.parts])
    for of in (release, forms):
        found = sf.attacks.bayes(of, attribute=("a", "b"))
        assert 0 < found.error < found.nothing
        assert sf.attacks.repeated(of, 3, attribute=("a", "b")).error < found.error
        assert sf.attacks.bayes(of, attribute="a+b").error == found.error  # as the message below names them
        with pytest.raises(SchemeError, match=r"name what one of them asks, as a\+b, a\+c, a\+d") as said:
            sf.attacks.bayes(of, attribute="a")
        assert "\n" not in str(said.value)


def test_a_register_is_held_against_what_each_form_asks() -> None:
    """Each record is linked by the attributes it was asked; one that was asked none is linked blindly."""
    table = records(600, seed=4)
    register = pa.table({name: table[name] for name in ("a", "d")})
    forms = sf.Forms([pair("a", "d", 1e6), pair("b", "c", 1e6)])
    kinds = len({(a, d) for a, d in zip(table["a"], table["d"], strict=True)})
    for of in (forms, sf.randomize(table, forms, rng=sf.experiment(1))):
        found = sf.attacks.link(of, register, rng=1)
        assert found.details["linked"] == pytest.approx(0.5 * (kinds + 1) / 600, rel=0.2)
    with pytest.raises(sf.SfumatoError, match="shares no attribute with the release"):
        sf.attacks.link(forms, pa.table({"z": [1, 2]}))


def test_forms_keep_their_fingerprint_and_their_people_in_a_file() -> None:
    """A form whose attributes stand in another order than those of all forms came back as another form: under the same
    key people were given other questions than before."""
    schema = sf.Schema({name: sf.Categorical((0, 1)) for name in "abc"})
    scheme = sf.Scheme(schema, {name: sf.channels.binary(0.2, 0.2) for name in "abc"})
    forms = sf.Forms([scheme.select(["a", "c"]), scheme.select(["b", "c"])])
    again = sf.Forms.from_json(forms.to_json())
    assert forms == again and forms.schema.names == again.schema.names == ("a", "c", "b")
    table, key = {"id": range(400), **{name: [0, 1] * 200 for name in "abc"}}, sf.new_key(study="forms")
    one, other = (sf.randomize(table, each, key, "id", study="forms") for each in (forms, again))
    assert [part.arrow().to_pylist() for part in one.parts] == [part.arrow().to_pylist() for part in other.parts]


def test_free_text_leaves_room_for_the_other_questions() -> None:
    schema = sf.Schema(
        {"word": sf.Text(8), "sex": sf.Categorical(("F", "M")), "town": sf.Categorical(tuple(range(20)))}
    )
    weights = sf.Forms.for_gamma(schema, gamma=9, ask=1).weights
    assert 0.3 < weights[0] < 0.6 and weights[1] > 0.05  # the text had all but one record in a hundred thousand
