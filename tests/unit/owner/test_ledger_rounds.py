"""Studies that ask the same people again and again: what a year adds up to, and what is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import ReleaseError
from sfumato.owner.ledger import Ledger

VALUES = tuple("abcdefghij")


def weekly(lifetime: float = 81.0, classes: int | None = 2) -> sf.Scheme:
    schema = sf.Schema({"mood": sf.Categorical(VALUES)})
    return sf.Scheme(schema, {"mood": c.longitudinal(10, 3, lifetime, classes)})


def table(codes: np.ndarray) -> dict[str, list[object]]:
    return {"id": list(range(len(codes))), "mood": [VALUES[code] for code in codes]}


@pytest.mark.filterwarnings("ignore::sfumato.errors.NegativeCountsWarning")
def test_a_year_of_rounds_adds_up_to_the_bound_and_every_week_is_estimated(tmp_path) -> None:
    """52 rounds in which a third of the people change their value each week."""
    rng, n, key = np.random.default_rng(4), 300, sf.new_key()
    scheme, channel = weekly(), weekly()["mood"]
    ledger = Ledger(tmp_path / "l.sqlite", new=True, person_limit=81)
    codes = rng.choice(10, n, p=(shares := np.linspace(1, 4, 10) / np.linspace(1, 4, 10).sum()))
    held, totals = [], []
    for week in range(52):
        release = sf.randomize(table(codes), scheme, key=key, id="id", ledger=ledger)
        estimate = sf.evidence(release).counts("mood")
        low, high = estimate.interval(0.95)
        truth = np.bincount(codes, minlength=10)
        held.append(((low <= truth) & (truth <= high)).mean())
        if week in (0, 51):
            totals.append(ledger.total())
        moved = rng.random(n) < 1 / 3
        codes = np.where(moved, rng.choice(10, n, p=shares), codes)
    assert totals[0] == pytest.approx(9)  # one class of each person
    assert totals[1] == pytest.approx(81) == float(channel.lifetime)
    assert totals[1] == pytest.approx(ledger.spent()["mood"])
    assert np.mean(held) > 0.8  # 520 intervals, but of the same hash functions: tests/claims counts independent ones


def test_plain_keyed_answers_of_changing_values_do_not_stay_within_it(tmp_path) -> None:
    """The negative control: the same year under another channel of the same gamma goes past the limit."""
    rng, key = np.random.default_rng(5), sf.new_key()
    schema = sf.Schema({"mood": sf.Categorical(VALUES)})
    scheme = sf.Scheme(schema, {"mood": c.subset(10, 3)})
    ledger = Ledger(tmp_path / "l.sqlite", new=True, person_limit=81)
    with warnings.catch_warnings(), pytest.raises(ReleaseError, match="gamma of 243, past the limit of 81 for a pers"):
        warnings.simplefilter("ignore")
        for _ in range(52):
            sf.randomize(table(rng.integers(0, 10, 30)), scheme, key=key, id="id", ledger=ledger)


def answers(codes: np.ndarray, scheme: sf.Scheme, key: bytes) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.array(sf.randomize(table(codes), scheme, key=key, id="id", order="keep").arrow()["mood"])


def test_the_hash_of_a_person_stays_and_the_permanent_answer_stays_with_the_class() -> None:
    channel = weekly()["mood"]
    bare = type(channel)(10, 2, channel.permanent, c.symmetric(2, gamma=1e9))  # nothing is drawn in a round
    scheme, key = sf.Scheme(weekly().schema, {"mood": bare}), sf.new_key()
    codes = np.random.default_rng(6).integers(0, 10, 400)
    later = (codes + 1) % 10
    first, again, other = (answers(values, scheme, key) for values in (codes, codes, later))
    assert np.array_equal(first, again)
    assert np.array_equal(first // 2, other // 2)
    hashes = (first // 2).astype(np.uint64)
    same = channel.hashed(codes, hashes)[1] == channel.hashed(later, hashes)[1]
    assert 0 < same.sum() < 400
    assert np.array_equal(first[same], other[same])
    assert not np.array_equal(first[~same], other[~same])


def test_rounds_differ_although_the_key_and_the_values_are_the_same() -> None:
    codes, key = np.zeros(500, dtype=int), sf.new_key()
    one, two = (answers(codes, weekly(), key) for _ in range(2))
    assert np.array_equal(one // 2, two // 2)
    assert not np.array_equal(one, two)


def test_fresh_rounds_are_refused_and_multiply(tmp_path) -> None:
    ledger = Ledger(tmp_path / "l.sqlite", new=True)
    sf.randomize(table(np.zeros(50, dtype=int)), weekly(), id="id", ledger=ledger)
    with pytest.raises(ReleaseError, match="can raise its gamma to 9"):
        sf.randomize(table(np.zeros(50, dtype=int)), weekly(), id="id", ledger=ledger)


def test_a_person_is_charged_for_the_form_that_was_answered_and_no_other(tmp_path) -> None:
    schema = sf.Schema({name: sf.Categorical(("no", "yes")) for name in "abcd"})
    forms = sf.Forms.for_gamma(schema, 9, ask=2)
    rows = {"id": list(range(200)), **{name: ["no", "yes"] * 100 for name in "abcd"}}
    known, unknown = (Ledger(tmp_path / name, new=True) for name in ("known.sqlite", "unknown.sqlite"))
    sf.randomize(rows, forms, id="id", ledger=known)
    sf.randomize(rows, forms, ledger=unknown)
    assert known.total() == pytest.approx(9)
    assert unknown.total() == pytest.approx(9)
    assert known.spent() == pytest.approx(dict.fromkeys("abcd", 9.0))
    sf.randomize(rows, forms, id="id", ledger=known, again=True)
    assert known.total() == pytest.approx(81)


def test_people_with_different_forms_have_different_totals(tmp_path) -> None:
    schema = sf.Schema({name: sf.Categorical(("no", "yes")) for name in "ab"})
    parts = [sf.Scheme(schema.select([name]), {name: c.symmetric(2, gamma=g)}) for name, g in (("a", 2.0), ("b", 5.0))]
    forms, key = sf.Forms(parts), sf.new_key()
    rows = {"id": list(range(60)), "a": ["no"] * 60, "b": ["no"] * 60}
    ledger = Ledger(tmp_path / "l.sqlite", new=True, person_limit=6)
    sf.randomize(rows, forms, key=key, id="id", ledger=ledger)
    sf.randomize(rows, forms, key=key, id="id", ledger=ledger)  # the same form and the same answer: free
    assert ledger.total() == pytest.approx(5)
    assert ledger.spent() == pytest.approx({"a": 2.0, "b": 5.0})
    with pytest.raises(ReleaseError, match="limit of 6 for a person"):
        sf.randomize(rows, parts[0], id="id", ledger=ledger, again=True)


def test_all_attributes_and_groups_of_a_person_multiply_once(tmp_path) -> None:
    schema = sf.Schema({name: sf.Categorical(("no", "yes")) for name in "abc"})
    scheme = sf.Scheme(schema, {"a": c.binary(0.25, 0.25), ("b", "c"): c.symmetric((2, 2), gamma=4)})
    rows = {"id": list(range(20)), **{name: ["no", "yes"] * 10 for name in "abc"}}
    ledger = Ledger(tmp_path / "l.sqlite", new=True)
    assert ledger.total() == 1
    sf.randomize(rows, scheme, id="id", ledger=ledger)
    assert ledger.total() == pytest.approx(12)


def test_the_limit_of_a_person_stays_with_the_ledger(tmp_path) -> None:
    Ledger(tmp_path / "l.sqlite", new=True, person_limit=20)
    assert Ledger(tmp_path / "l.sqlite").person_limit == 20
    with pytest.raises(ReleaseError, match="cannot be raised to 30"):
        Ledger(tmp_path / "l.sqlite", person_limit=30)
    with pytest.raises(ReleaseError, match="person_limit must be a gamma of at least 1"):
        Ledger(tmp_path / "l.sqlite", person_limit=0.5)


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_spark_rounds_are_drawn_once_and_booked_by_class(spark_session, tmp_path) -> None:
    """A partition that Spark computes again must not draw the round again: the rows of one release stay what they are."""
    codes = np.arange(40) % 10
    frame = spark_session.createDataFrame([(int(i), VALUES[code]) for i, code in enumerate(codes)], ["id", "mood"])
    ledger, key = Ledger(tmp_path / "l.sqlite", new=True), sf.new_key()
    release = sf.randomize(frame, weekly(), key=key, id="id", ledger=ledger)
    one, two = (np.array(release.arrow()["mood"]) for _ in range(2))
    assert np.array_equal(one, two)
    assert ledger.total() == pytest.approx(9)
    sf.randomize(table(codes), weekly(), key=key, id="id", ledger=ledger)  # the same classes in memory: free
    assert ledger.total() == pytest.approx(9)
