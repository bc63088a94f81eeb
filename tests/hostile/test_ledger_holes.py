"""Ways around the owner's ledger that a hurried owner takes: another spelling, another name, a forgotten limit."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.command_line import run

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import DisclosureWarning, ReleaseError
from sfumato.owner.ledger import Ledger

PEOPLE = [str(i) for i in range(120)]


def scheme(name: str = "sex") -> sf.Scheme:
    return sf.Scheme(sf.Schema({name: sf.Categorical(("F", "M"))}), {name: c.binary(0.25, 0.25)})


def table(name: str = "sex", ids: list[str] = PEOPLE) -> dict:
    return {"id": ids, name: ["F", "M"] * (len(ids) // 2)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    sf.randomize(table(), scheme(), id="id", ledger=Ledger(tmp_path / "ledger.sqlite", new=True, limit=9))
    return tmp_path / "ledger.sqlite"


def test_the_limit_stays_with_the_ledger(path: Path) -> None:
    assert Ledger(path).limit == 9
    sf.randomize(table(), scheme(), id="id", ledger=path, again=True)
    with pytest.raises(ReleaseError, match="past the limit of 9"):
        sf.randomize(table(), scheme(), id="id", ledger=path, again=True)
    with pytest.raises(ReleaseError, match="its limit is 9, which cannot be raised to 100"):
        Ledger(path, limit=100)
    assert Ledger(path, limit=4).limit == Ledger(path).limit == 4


def test_a_population_is_known_by_another_case_or_spacing(path: Path) -> None:
    for name in ("All records", " all  RECORDS "):
        with pytest.raises(ReleaseError, match="already released once"):
            sf.randomize(table(), scheme(), id="id", ledger=Ledger(path, name))


def test_ids_of_another_population_are_told_of(path: Path) -> None:
    with pytest.warns(
        DisclosureWarning, match="'ward' is new to the ledger, but 2 of its ids stand under 'all records'"
    ):
        sf.randomize(table(ids=["118", "119", "120", "121"]), scheme(), id="id", ledger=Ledger(path, "ward"))
    sf.randomize(table(ids=["a", "b"]), scheme(), id="id", ledger=Ledger(path, "other ward"))  # nobody is there


def test_spaces_around_ids_make_nobody_new(path: Path) -> None:
    with pytest.raises(ReleaseError, match="of 120 of these people"):
        sf.randomize(table(ids=[f" {i} " for i in PEOPLE]), scheme(), id="id", ledger=path)


def test_as_many_people_none_of_whom_is_known_are_told_of(path: Path) -> None:
    with pytest.warns(DisclosureWarning, match="none of these people is in an earlier release"):
        sf.randomize(table(ids=[f"P{i}" for i in PEOPLE]), scheme(), id="id", ledger=path)
    sf.randomize(table(ids=["new", "newer"]), scheme(), id="id", ledger=path)


def test_an_attribute_that_was_renamed_twice_is_one(path: Path) -> None:
    ledger = Ledger(path)
    ledger.same("gender", "sex")
    ledger.same("geschlecht", "gender")
    with pytest.raises(ReleaseError, match="'geschlecht' was already released once"):
        sf.randomize(table("geschlecht"), scheme("geschlecht"), id="id", ledger=ledger)
    ledger.same("sex", "geschlecht")  # a circle
    with pytest.raises(ReleaseError, match="'gender' was already released once"):
        sf.randomize(table("gender"), scheme("gender"), id="id", ledger=ledger)
    with pytest.raises(ReleaseError, match="the ledger knows no attribute 'sexx'"):
        ledger.same("gender", "sexx")


def test_what_was_spent_is_added_up_over_the_names_of_an_attribute(path: Path) -> None:
    sf.randomize(table("Sex"), scheme("Sex"), id="id", ledger=path, again=True)
    assert Ledger(path).spent() == {"sex": 9.0}


def test_options_of_a_ledger_need_one(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("sex\nF\nM\n")
    (tmp_path / "s.json").write_text(scheme().to_json())
    for option in ("--population ward", "--again", "--limit 9", "--new-ledger", "--same a=b"):
        found = run(f"randomize {tmp_path}/t.csv {tmp_path}/r.parquet --scheme {tmp_path}/s.json {option}")
        assert found.code == 1 and "name its file with --ledger" in found.error
