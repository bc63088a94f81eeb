"""The owner's ledger: no value is answered afresh twice unnoticed."""

from __future__ import annotations

import math
import multiprocessing
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import sfumato as sf
from command_line import run
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
    return Ledger(tmp_path / "ledger.sqlite", new=True)


def test_a_release_is_booked(ledger):
    sf.randomize(TABLE, SCHEME, ledger=ledger)
    entries = ledger.entries()
    assert [(e.attribute, float(e.gamma), e.key) for e in entries] == [("sex", 3.0, None), ("town", math.inf, None)]
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
    assert ledger.composed(SCHEME, KEY)["sex"] == 3.0
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


def test_what_was_settled_is_never_struck_out(ledger, tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(sf.Release, "load", stop)  # the file is in its place, and then somebody interrupts
    with pytest.raises(KeyboardInterrupt):
        sf.randomize_file(TABLE, tmp_path / "r.parquet", SCHEME, ledger=ledger)
    assert (tmp_path / "r.parquet").exists() and len(ledger.entries()) == 2
    with pytest.raises(KeyboardInterrupt), ledger.entry(SCHEME, again=True) as booking:
        booking.settle()
        raise KeyboardInterrupt
    assert len(ledger.entries()) == 4
    with pytest.raises(ReleaseError, match="already released twice"):
        sf.randomize(TABLE, SCHEME, ledger=ledger)


def test_a_release_is_booked_before_it_is_there(ledger, tmp_path, monkeypatch):
    seen = []
    take_place = Path.hardlink_to

    def watched(self, temporary):
        seen.append(len(ledger.entries()))
        return take_place(self, temporary)

    monkeypatch.setattr(Path, "hardlink_to", watched)
    sf.randomize_file(TABLE, tmp_path / "r.parquet", SCHEME, ledger=ledger)
    assert seen == [2]


def test_populations_do_not_mix(tmp_path):
    first = Ledger(tmp_path / "ledger.sqlite", population="2024", new=True)
    second = Ledger(tmp_path / "ledger.sqlite", population="2025")
    sf.randomize(TABLE, SCHEME, ledger=first)
    with pytest.warns(
        DisclosureWarning, match="population '2025' is new to the ledger, but its people may stand under"
    ):
        sf.randomize(TABLE, SCHEME, ledger=second)
    sf.randomize(TABLE, SCHEME, ledger=second, again=True)  # said once
    assert (first.spent()["sex"], second.spent()["sex"]) == (3.0, 9.0)


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
    Ledger(path, new=True)
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
    with pytest.raises(ReleaseError, match="there is no such ledger; .* new=True"):
        Ledger(tmp_path / "ledger.sqlite")
    with pytest.raises(ReleaseError, match="there is no such ledger"):
        sf.randomize(TABLE, SCHEME, ledger=tmp_path / "ledger.sqlite")
    assert not (tmp_path / "ledger.sqlite").exists()
    with pytest.raises(ReleaseError, match="does not exist"):
        Ledger(tmp_path / "no" / "ledger.sqlite", new=True)
    with pytest.raises(ReleaseError, match="already exists"):
        Ledger(wrong, new=True)
    with pytest.raises(ReleaseError, match="limit must be a gamma of at least 1"):
        Ledger(tmp_path / "ledger.sqlite", new=True, limit=0.5)


def test_the_file_is_plain_sqlite(ledger):
    sf.randomize(TABLE, SCHEME, ledger=ledger)
    connection = sqlite3.connect(ledger.path)
    assert connection.execute("select count(*) from answers").fetchone() == (2,)
    connection.close()


def test_people_under_new_ids_are_told_of(ledger):
    table = {**TABLE, "number": ["7", "8", "9"]}
    sf.randomize(table, SCHEME, KEY, "id", ledger=ledger)
    with pytest.warns(DisclosureWarning, match="none of these people is in an earlier release .* new ids in 'number'"):
        sf.randomize(table, SCHEME, KEY, "number", ledger=ledger)
    assert [entry.id for entry in ledger.entries()] == ["id", "id", "number", "number"]


def test_no_free_repeat_is_promised_after_fresh_answers(ledger):
    sf.randomize(TABLE, SCHEME, ledger=ledger)
    with pytest.raises(ReleaseError) as caught:
        sf.randomize(TABLE, SCHEME, KEY, "id", ledger=ledger)
    assert "free" not in str(caught.value)
    assert "can raise its gamma to 9" in str(caught.value)


def test_a_path_is_a_ledger(tmp_path):
    path = tmp_path / "ledger.sqlite"
    Ledger(path, new=True)
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


_OLD = """
create table releases (id integer primary key, made text not null, population text not null, scheme text not null,
    state text not null check (state in ('begun', 'made')));
create table answers (release integer not null references releases (id) on delete cascade, attribute text not null,
    question text not null, key text, gamma text not null, plain integer not null);
insert into releases values (1, '2026-01-01', 'all records', 'abc', 'begun');
insert into answers values (1, 'sex', 'q', 'k', '3', 0);
"""


def test_a_ledger_of_an_earlier_version_is_read(tmp_path):
    path = tmp_path / "ledger.sqlite"
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(_OLD)
    ledger = Ledger(path)
    assert ledger.spent() == {"sex": 3.0}
    assert ledger.composed(SCHEME, KEY)["sex"] == 9.0  # who was asked, and under which key, is not known
    with pytest.raises(ReleaseError, match="already released once of 3 of these people"):
        sf.randomize(TABLE, SCHEME, KEY, "id", ledger=ledger)


def people(ids, sex):
    return {"id": ids, "sex": sex, "town": ["A"] * len(ids)}


def test_large_numbers_are_written_in_full(ledger):
    ids = [str(i) for i in range(1200)]
    sf.randomize(people(ids, ["F", "M"] * 600), SCHEME, id="id", ledger=ledger)
    with pytest.raises(ReleaseError, match="already released once of 1,200 of these people"):
        sf.randomize(people(ids, ["F", "M"] * 600), SCHEME, id="id", ledger=ledger)


def test_new_people_are_welcome_and_the_same_ones_are_refused(ledger):
    sf.randomize(people(["1", "2"], ["F", "M"]), SCHEME, id="id", ledger=ledger)
    sf.randomize(people(["3", "4"], ["F", "M"]), SCHEME, id="id", ledger=ledger)
    assert ledger.spent()["sex"] == 3.0
    with pytest.raises(ReleaseError, match="'sex' was already released twice of 1 of these people: .* to 9"):
        sf.randomize(people(["4", "5"], ["F", "M"]), SCHEME, id="id", ledger=ledger)
    with pytest.raises(ReleaseError, match="already released twice: .* to 27"):  # nobody is known: it may be anyone
        sf.randomize(people(["6"], ["F"]), SCHEME, ledger=ledger)


def test_a_changed_value_is_one_more_answer(ledger):
    sf.randomize(people(["1", "2", "3"], ["F", "M", "F"]), SCHEME, KEY, "id", ledger=ledger)
    with pytest.warns(DisclosureWarning, match="'sex': 1 of these people have another value .* raise gamma to 9"):
        sf.randomize(people(["1", "2", "3"], ["M", "M", "F"]), SCHEME, KEY, "id", ledger=ledger)
    assert ledger.spent()["sex"] == 9.0
    sf.randomize(people(["1", "2", "3"], ["F", "M", "F"]), SCHEME, KEY, "id", ledger=ledger)  # both were given before
    assert ledger.spent()["sex"] == 9.0


def test_nothing_goes_past_the_limit(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite", new=True, limit=9)
    scheme = SCHEME.select(["sex"])
    for _ in range(2):
        sf.randomize(people(["1"], ["F"]), scheme, id="id", ledger=ledger, again=True)
    with pytest.raises(ReleaseError, match="add up to a gamma of 27, past the limit of 9"):
        sf.randomize(people(["1"], ["F"]), scheme, id="id", ledger=ledger, again=True)
    sf.randomize(people(["2"], ["F"]), scheme, id="id", ledger=ledger)


def test_names_that_changed_are_seen_through(ledger):
    first = SCHEME.select(["sex"])
    sf.randomize(TABLE, first, ledger=ledger)
    for name in ("Sex", "SEX ", "s.e.x"):
        schema = sf.Schema({name: sf.Categorical(("F", "M"))})
        with pytest.raises(ReleaseError, match="already released once"):
            sf.randomize({name: ["F"]}, sf.Scheme(schema, {name: c.binary(0.25, 0.25)}), ledger=ledger)
    gender = sf.Scheme(sf.Schema({"gender": sf.Categorical(("F", "M"))}), {"gender": c.binary(0.25, 0.25)})
    with pytest.warns(DisclosureWarning, match="'gender' is new to the ledger, but has the values of 'sex'"):
        sf.randomize({"gender": ["F"]}, gender, ledger=ledger)
    ledger.same("gender", "sex")
    with pytest.raises(ReleaseError, match="'gender' was already released twice: .* to 27"):
        sf.randomize({"gender": ["F"]}, gender, ledger=ledger)


def test_the_file_holds_neither_ids_nor_values(ledger):
    table = {"id": ["patient-4711", "patient-4712"], "sex": ["F", "M"], "town": ["A", "B"]}
    sf.randomize(table, SCHEME, KEY, "id", ledger=ledger)
    assert b"4711" not in ledger.path.read_bytes()
    with closing(sqlite3.connect(ledger.path)) as database:
        rows = database.execute("select person, truth from people").fetchall()
    assert [(len(person), len(truth)) for person, truth in rows] == [(16, 16), (16, 16)]
    assert len({truth for _, truth in rows}) == 2


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("gamma", "1/2", "a gamma below 1"),
        ("gamma", "3/0", "not a number"),
        ("gamma", "nan", "not a number"),
        ("plain", 7, "neither 0 nor 1"),
        ("attribute", b"x", "not text"),
        ("place", -1, "not a whole number"),
    ],
)
def test_numbers_are_checked_when_they_are_read(ledger, column, value, says):
    sf.randomize(TABLE, SCHEME, ledger=ledger)
    with closing(sqlite3.connect(ledger.path)) as database, database:
        database.execute(f"update answers set {column} = ?", (value,))
    with pytest.raises(ReleaseError, match=f"damaged ledger: release 1 holds .*{says}"):
        ledger.spent()


def test_the_command_line_speaks_of_its_own_options(tmp_path):
    table, scheme, ledger = tmp_path / "t.csv", tmp_path / "scheme.json", tmp_path / "ledger.sqlite"
    table.write_text("id,sex,town\n1,F,A\n2,M,B\n")
    scheme.write_text(SCHEME.to_json())
    call = f"randomize {table} {tmp_path}/OUT --scheme {scheme} --id id --ledger {ledger}"
    missing = run(call.replace("OUT", "a.parquet"))
    assert missing.code == 1 and "begin one with --new-ledger" in missing.error and not ledger.exists()
    assert run(call.replace("OUT", "a.parquet") + " --new-ledger --population ward").code == 0
    refused = run(call.replace("OUT", "b.parquet") + " --population ward")
    assert refused.code == 1 and "ask for it with --again" in refused.error and not (tmp_path / "b.parquet").exists()
    assert run(call.replace("OUT", "b.parquet") + " --population 'another ward'").code == 0
    assert run(call.replace("OUT", "c.parquet") + " --population ward --again").code == 0
    past = run(call.replace("OUT", "d.parquet") + " --population ward --again --limit 20")
    assert past.code == 1 and "a limit of 20 was not set" in past.error
    assert run(call.replace("OUT", "d.parquet") + " --same sex").code == 1


def test_a_gamma_has_one_form_in_what_a_command_says(tmp_path):
    """It stood as 3.1 · 10¹⁰ in one line and as 31,381,059,609 in the next."""
    names = [f"x{i}" for i in range(22)]
    schema = sf.Schema({name: sf.Categorical(("n", "y")) for name in names})
    (tmp_path / "s.json").write_text(schema.to_json())
    (tmp_path / "t.csv").write_text("\n".join([",".join(names), *[",".join("ny" * 11)] * 4]))
    said = run(
        f"randomize {tmp_path}/t.csv {tmp_path}/r.parquet --schema {tmp_path}/s.json --gamma 3 "
        f"--ledger {tmp_path}/l.sqlite --new-ledger"
    ).out
    record, spent = (line.split("gamma of ")[1] for line in said.splitlines() if "gamma of " in line)
    assert record.removeprefix("a whole record ").split(";")[0] == spent
