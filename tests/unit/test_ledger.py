"""The owner's ledger: no value is answered afresh twice unnoticed."""

from __future__ import annotations

import math
import multiprocessing
import sqlite3
from contextlib import closing

import pytest

import sfumato as sf
from gallery import rest_clear
from sfumato import channels as c
from sfumato.errors import DisclosureWarning, ReleaseError, SchemaError, SchemeError
from sfumato.owner.ledger import Ledger, fingerprint

SCHEMA = sf.Schema({"sex": sf.Categorical(("F", "M")), "town": sf.Categorical(("A", "B", "C"))})
SCHEME = rest_clear(SCHEMA, {"sex": c.binary(0.25, 0.25)})  # town passes unchanged
TABLE = {"id": ["1", "2", "3"], "sex": ["F", "M", "F"], "town": ["A", "B", "C"]}
KEY = b"sfumato key 2\n" + bytes(range(32))
OTHER_KEY = b"sfumato key 2\n" + bytes(32)


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.sqlite")


def test_a_release_is_booked(ledger):
    sf.randomize(TABLE, SCHEME, ledger=ledger)
    entries = ledger.entries()
    assert [(e.attribute, float(e.gamma), e.key, e.state) for e in entries] == [
        ("sex", 3.0, None, "made"), ("town", math.inf, None, "made"),
    ]  # fmt: skip
    assert entries[0].scheme == SCHEME.fingerprint
    assert ledger.spent() == {"sex": 3.0, "town": math.inf}


def test_a_second_fresh_release_is_refused_with_its_composed_gamma(ledger):
    sf.randomize(TABLE, SCHEME, ledger=ledger)
    with pytest.raises(
        ReleaseError, match="'sex' was already released once: .* raise its gamma to 9;.*again=True"
    ) as caught:
        sf.randomize(TABLE, SCHEME, ledger=ledger)
    assert "\n" not in str(caught.value)
    assert len(ledger.entries()) == 2  # the refused release is not booked


def test_it_can_be_asked_for(ledger):
    for _ in range(3):
        sf.randomize(TABLE, SCHEME, ledger=ledger, again=True)
    assert ledger.spent()["sex"] == 27.0
    with pytest.raises(ReleaseError, match="already released 3 times: .* to 81"):
        sf.randomize(TABLE, SCHEME, ledger=ledger)


def test_keyed_repeats_are_free(ledger):
    for _ in range(3):
        sf.randomize(TABLE, SCHEME, KEY, "id", ledger=ledger)
    assert ledger.spent()["sex"] == 3.0
    assert ledger.composed(SCHEME, KEY, "id")["sex"] == 3.0
    assert ledger.composed(SCHEME)["sex"] == 9.0


def test_another_key_or_another_channel_is_a_fresh_answer(ledger):
    sf.randomize(TABLE, SCHEME, KEY, "id", ledger=ledger)
    with pytest.raises(ReleaseError, match="to 9;"):
        sf.randomize(TABLE, SCHEME, OTHER_KEY, "id", ledger=ledger)
    other = rest_clear(SCHEMA, {"sex": c.binary(0.2, 0.2)})
    with pytest.raises(ReleaseError, match="to 12;"):
        sf.randomize(TABLE, other, KEY, "id", ledger=ledger)


def test_a_keyed_answer_survives_a_scheme_with_more_attributes(ledger):
    small = SCHEME.select(["sex"])
    sf.randomize(TABLE, small, KEY, "id", ledger=ledger)
    sf.randomize(TABLE, SCHEME, KEY, "id", ledger=ledger)
    assert ledger.spent()["sex"] == 3.0


def test_attributes_in_the_clear_repeat_freely(ledger):
    clear = SCHEME.select(["town"])
    for _ in range(2):
        sf.randomize(TABLE, clear, ledger=ledger)
    sf.randomize(TABLE, clear, KEY, "id", ledger=ledger)


def test_groups_with_infinite_gamma_do_not(ledger):
    schema = sf.Schema({"r": sf.Categorical(tuple("abcd"))})
    scheme = sf.Scheme(schema, {"r": c.blocks([c.symmetric(2, 0.3)] * 2)})
    sf.randomize({"r": ["a"]}, scheme, ledger=ledger)
    with pytest.raises(ReleaseError, match="to infinity"):
        sf.randomize({"r": ["a"]}, scheme, ledger=ledger)


def test_additive_noise_is_booked_too(ledger):
    schema = sf.Schema({"income": sf.Numeric(0, 100)})
    with pytest.warns(DisclosureWarning):
        scheme = sf.Scheme(schema, {"income": c.gaussian(5)})
    table = {"id": ["1", "2"], "income": [10.0, 20.0]}
    sf.randomize(table, scheme, KEY, "id", ledger=ledger)
    sf.randomize(table, scheme, KEY, "id", ledger=ledger)  # keyed: free
    with pytest.raises(ReleaseError, match="'income' was already released once: .* to infinity"):
        sf.randomize(table, scheme, ledger=ledger)


def test_a_release_that_fails_is_struck_out(ledger, tmp_path):
    with pytest.raises(SchemaError):
        sf.randomize({"sex": ["X"], "town": ["A"]}, SCHEME, ledger=ledger)
    assert ledger.entries() == []
    with pytest.raises(SchemaError):
        sf.randomize_file({"sex": ["X"], "town": ["A"]}, tmp_path / "r.parquet", SCHEME, ledger=ledger)
    assert ledger.entries() == []
    sf.randomize_file(TABLE, tmp_path / "r.parquet", SCHEME, ledger=ledger)
    assert len(ledger.entries()) == 2


def test_a_release_that_broke_off_stays_booked(ledger):
    ledger._begin(SCHEME, None, False)  # what a stopped machine leaves behind
    assert ledger.entries()[0].state == "begun"
    with pytest.raises(ReleaseError, match="already released once"):
        sf.randomize(TABLE, SCHEME, ledger=ledger)


def test_populations_do_not_mix(tmp_path):
    first, second = (Ledger(tmp_path / "ledger.sqlite", population=name) for name in ("2024", "2025"))
    sf.randomize(TABLE, SCHEME, ledger=first)
    sf.randomize(TABLE, SCHEME, ledger=second)
    assert first.spent() == second.spent()


def test_the_key_is_not_in_the_file(ledger):
    sf.randomize(TABLE, SCHEME, KEY, "id", ledger=ledger)
    assert KEY[-32:] not in ledger.path.read_bytes()
    assert KEY[-32:].hex().encode() not in ledger.path.read_bytes()
    assert ledger.entries()[0].key == fingerprint(KEY)


def _race(path, results):
    try:
        sf.randomize(TABLE, SCHEME, ledger=Ledger(path))
        results.put("made")
    except ReleaseError:
        results.put("refused")


def test_two_releases_at_once_see_each_other(tmp_path):
    path = tmp_path / "ledger.sqlite"
    Ledger(path)
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    workers = [context.Process(target=_race, args=(path, results)) for _ in range(4)]
    for worker in workers:
        worker.start()
    outcomes = sorted(results.get(timeout=30) for _ in workers)
    for worker in workers:
        worker.join()
    assert outcomes == ["made", "refused", "refused", "refused"]


def test_bad_files(tmp_path):
    wrong = tmp_path / "not-a-ledger"
    wrong.write_text("hello, this is no database at all, only a text file of some length")
    with pytest.raises(ReleaseError, match="is not a ledger"):
        Ledger(wrong)
    with pytest.raises(ReleaseError, match="does not exist"):
        Ledger(tmp_path / "no" / "ledger.sqlite")


def test_the_file_is_plain_sqlite(ledger):
    sf.randomize(TABLE, SCHEME, ledger=ledger)
    connection = sqlite3.connect(ledger.path)
    assert connection.execute("select count(*) from answers").fetchone() == (2,)
    connection.close()


def test_another_id_column_is_a_fresh_answer(ledger):
    table = {**TABLE, "number": ["7", "8", "9"]}
    sf.randomize(table, SCHEME, KEY, "id", ledger=ledger)
    with pytest.raises(
        ReleaseError, match="'sex' was already released once: .* to 9; .*same key, id column and scheme"
    ):
        sf.randomize(table, SCHEME, KEY, "number", ledger=ledger)
    assert ledger.composed(SCHEME, KEY, "number")["sex"] == 9.0
    sf.randomize(table, SCHEME, KEY, "number", ledger=ledger, again=True)
    assert ledger.spent()["sex"] == 9.0
    assert [entry.id for entry in ledger.entries()] == ["id", "id", "number", "number"]


def test_no_free_repeat_is_promised_after_fresh_answers(ledger):
    sf.randomize(TABLE, SCHEME, ledger=ledger)
    with pytest.raises(ReleaseError) as caught:
        sf.randomize(TABLE, SCHEME, KEY, "id", ledger=ledger)
    assert "free" not in str(caught.value)
    assert "can raise its gamma to 9" in str(caught.value)


def test_a_path_is_a_ledger(tmp_path):
    path = tmp_path / "ledger.sqlite"
    sf.randomize(TABLE, SCHEME, ledger=path)
    with pytest.raises(ReleaseError, match="already released once"):
        sf.randomize(TABLE, SCHEME, ledger=str(path))
    with pytest.raises(SchemeError, match="ledger must be a Ledger or the path of one, got int instead"):
        sf.randomize(TABLE, SCHEME, ledger=3)


def _broken_gamma(path):
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("update answers set gamma = 'three'")


def _no_table(path):
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("drop table answers")


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda path: path.unlink(), "the ledger is gone"),
        (lambda path: path.write_bytes(b"no database " * 1000), "is not a ledger, or a damaged one"),
        (_broken_gamma, "holds a gamma that is not a number"),
        (_no_table, "no such table"),
    ],
)
def test_damage_after_opening_is_one_line(ledger, damage, says):
    sf.randomize(TABLE, SCHEME, ledger=ledger)
    damage(ledger.path)
    calls = (lambda: sf.randomize(TABLE, SCHEME, ledger=ledger), ledger.spent, ledger.entries)
    for call in calls:
        with pytest.raises(ReleaseError, match=says) as caught:
            call()
        assert "\n" not in str(caught.value)


def test_a_foreign_database_is_refused(tmp_path):
    path = tmp_path / "music.sqlite"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("create table releases (id integer, artist text)")
    with pytest.raises(ReleaseError, match="is not a ledger: its table releases has no column made"):
        Ledger(path)


def test_a_ledger_from_before_id_columns_is_read(tmp_path):
    path = tmp_path / "ledger.sqlite"
    sf.randomize(TABLE, SCHEME, KEY, "id", ledger=path)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("alter table answers drop column id")
    assert Ledger(path).composed(SCHEME, KEY, "id")["sex"] == 9.0  # which column it was is not known: count it as fresh
