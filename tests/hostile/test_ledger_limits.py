"""Limits of the owner's ledger: none is left behind by what was refused, and none that was set falls or rises."""

from __future__ import annotations

import math
import sqlite3
from pathlib import Path

import pytest
from tests.command_line import run

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import ReleaseError
from sfumato.owner.ledger import Ledger

PEOPLE = [str(i) for i in range(40)]
SCHEMA = sf.Schema({name: sf.Categorical(("F", "M")) for name in ("sex", "vote")})
SCHEME = sf.Scheme(SCHEMA, {name: c.binary(0.25, 0.25) for name in SCHEMA})  # gamma 3 each, 9 in all
TABLE = {"id": PEOPLE, "sex": ["F", "M"] * 20, "vote": ["M", "M", "F", "F"] * 10}
KEY = sf.new_key()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger in which everybody has answered once, under a key."""
    sf.randomize(TABLE, SCHEME, key=KEY, id="id", ledger=Ledger(tmp_path / "ledger.sqlite", new=True))
    return tmp_path / "ledger.sqlite"


def repeat(ledger: Ledger | Path) -> None:
    sf.randomize(TABLE, SCHEME, key=KEY, id="id", ledger=ledger)


def rows(path: Path) -> list[tuple[float]]:
    with sqlite3.connect(path) as database:
        return database.execute("select gamma from bound union all select gamma from person_bound").fetchall()


@pytest.mark.parametrize("limit", [{"person_limit": 8}, {"limit": 2}])
def test_a_limit_below_what_was_spent_is_refused_and_not_kept(path: Path, limit: dict[str, float]) -> None:
    """It was kept by the refused call, and everything else was refused from then on."""
    with pytest.raises(ReleaseError, match="was not set: answers .* add up to a gamma of [39] already"):
        Ledger(path, **limit)
    assert rows(path) == [] and Ledger(path).person_limit == Ledger(path).limit == math.inf
    repeat(path)


def test_the_limit_of_a_refused_release_is_not_kept(path: Path) -> None:
    with pytest.raises(ReleaseError, match="81, past the limit of 10 for a person"):
        sf.randomize(TABLE, SCHEME, id="id", ledger=Ledger(path, person_limit=10), again=True)
    assert rows(path) == []
    sf.randomize(TABLE, SCHEME, id="id", ledger=Ledger(path, person_limit=81), again=True)
    assert rows(path) == [(81.0,)]


def test_the_limit_of_a_release_that_goes_through_is_kept(path: Path) -> None:
    repeat(Ledger(path, person_limit=10, limit=3))
    assert (Ledger(path).limit, Ledger(path).person_limit) == (3, 10)
    with pytest.raises(ReleaseError, match="its limit is 10, which cannot be raised to 100"):
        Ledger(path, person_limit=100)
    with pytest.raises(ReleaseError, match="past the limit of 3 that was set"):
        sf.randomize(TABLE, SCHEME, id="id", ledger=path, again=True)


def test_a_new_ledger_keeps_its_limits_at_once(tmp_path: Path) -> None:
    Ledger(tmp_path / "new.sqlite", new=True, limit=3, person_limit=9)
    assert sorted(rows(tmp_path / "new.sqlite")) == [(3.0,), (9.0,)]


@pytest.mark.parametrize("table", ["bound", "person_bound"])
def test_a_repeat_that_costs_nothing_is_never_refused(path: Path, table: str) -> None:
    """Also where a ledger was locked by a limit below what was spent; whatever costs something still is."""
    with sqlite3.connect(path) as database:
        database.execute(f"insert into {table} values (2.0)")
    repeat(path)
    sf.randomize(TABLE, SCHEME.select(["sex"]), key=KEY, id="id", ledger=path)
    for refused in ({}, {"key": sf.new_key()}):
        with pytest.raises(ReleaseError, match="past the limit of 2"):
            sf.randomize(TABLE, SCHEME, id="id", ledger=path, again=True, **refused)
    with pytest.raises(ReleaseError, match="past the limit of 2"):
        sf.randomize({"id": ["new"], "sex": ["F"], "vote": ["F"]}, SCHEME, key=KEY, id="id", ledger=path)
    changed = {**TABLE, "sex": ["M"] + TABLE["sex"][1:]}
    with pytest.raises(ReleaseError, match="past the limit of 2"):
        sf.randomize(changed, SCHEME, key=KEY, id="id", ledger=path, again=True)


def test_the_free_repeats_of_some_do_not_hide_the_fresh_answers_of_others(tmp_path: Path) -> None:
    """The person with most is not the one who is asked anew: the limit holds for each."""
    ledger = Ledger(tmp_path / "ledger.sqlite", new=True, person_limit=9)
    first = {name: values[:20] for name, values in TABLE.items()}
    sf.randomize(first, SCHEME, key=KEY, id="id", ledger=ledger)
    third = SCHEME.select(["sex"])
    sf.randomize({"id": PEOPLE[20:], "sex": TABLE["sex"][20:]}, third, id="id", ledger=ledger)
    with pytest.raises(ReleaseError, match="a gamma of 27, past the limit of 9 for a person"):
        sf.randomize(TABLE, SCHEME, key=KEY, id="id", ledger=ledger, again=True)


def test_a_limit_that_another_process_set_meanwhile_holds(path: Path) -> None:
    stale = Ledger(path)
    repeat(Ledger(path, person_limit=9))
    with pytest.raises(ReleaseError, match="past the limit of 9 for a person"):
        sf.randomize(TABLE, SCHEME, id="id", ledger=stale, again=True)


def test_a_limit_that_others_went_past_meanwhile_is_not_kept(path: Path) -> None:
    strict = Ledger(path, person_limit=9)
    sf.randomize(TABLE, SCHEME, id="id", ledger=path, again=True)
    with pytest.raises(ReleaseError, match="a limit of 9 was not set"):
        repeat(strict)
    assert rows(path) == []
    repeat(path)


def test_a_limit_holds_for_every_population(path: Path) -> None:
    with pytest.raises(ReleaseError, match="a limit of 5 was not set"):
        Ledger(path, "another ward", person_limit=5)


def test_a_refused_command_leaves_the_ledger_as_it_was(tmp_path: Path) -> None:
    table, scheme = tmp_path / "t.csv", tmp_path / "scheme.json"
    table.write_text("id,sex,vote\n1,F,M\n2,M,F\n")
    scheme.write_text(SCHEME.to_json())
    call = f"randomize {table} OUT --scheme {scheme} --id id --key-file {tmp_path}/k.key --ledger {tmp_path}/l.sqlite"
    assert run(call.replace("OUT", f"{tmp_path}/a.parquet") + " --new-ledger").code == 0
    refused = run(call.replace("OUT", f"{tmp_path}/b.parquet") + " --person-limit 4")
    assert refused.code == 1 and "a limit of 4 was not set" in refused.error
    assert run(call.replace("OUT", f"{tmp_path}/b.parquet")).code == 0
