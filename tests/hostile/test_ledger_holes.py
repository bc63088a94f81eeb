"""Ways around the owner's ledger that a hurried owner takes: another spelling, another name, a forgotten limit."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest
from tests.command_line import run

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import DisclosureWarning, ReleaseError, SchemeError
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
    with pytest.raises(ReleaseError, match="a limit of 4 was not set: .* add up to a gamma of 9 already"):
        Ledger(path, limit=4)
    assert Ledger(path).limit == 9


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


def test_a_name_that_is_given_to_another_attribute_takes_its_answers_along(path: Path) -> None:
    """The last word on a name counted: answers given under it were no longer those of the first, and its limit fell."""
    ledger = Ledger(path)
    ledger.same("gender", "sex")
    sf.randomize(table("gender"), scheme("gender"), id="id", ledger=ledger, again=True)
    with pytest.warns(DisclosureWarning, match="has the values of"):
        sf.randomize(table("height"), scheme("height"), id="id", ledger=ledger)
    ledger.same("Gender", "height")
    assert ledger.spent() == {"sex": 27.0}
    with pytest.raises(ReleaseError, match="past the limit of 9"):
        sf.randomize(table(), scheme(), id="id", ledger=ledger, again=True)


def test_what_was_spent_is_added_up_over_the_names_of_an_attribute(path: Path) -> None:
    sf.randomize(table("Sex"), scheme("Sex"), id="id", ledger=path, again=True)
    assert Ledger(path).spent() == {"sex": 9.0}


def test_options_of_a_ledger_need_one(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("sex\nF\nM\n")
    (tmp_path / "s.json").write_text(scheme().to_json())
    for option in ("--population ward", "--again", "--limit 9", "--new-ledger", "--same a=b"):
        found = run(f"randomize {tmp_path}/t.csv {tmp_path}/r.parquet --scheme {tmp_path}/s.json {option}")
        assert found.code == 1 and "name its file with --ledger" in found.error


def test_leaving_the_ids_out_does_not_forget_changed_values(path: Path) -> None:
    key, ledger = sf.new_key(), Ledger(path.with_name("keyed.sqlite"), new=True, limit=9)
    sf.randomize(table(), scheme(), key=key, id="id", ledger=ledger)
    assert ledger.composed(scheme()) == {"sex": 9.0}
    changed = table() | {"sex": ["M", "M"] + ["F", "M"] * 59}
    with pytest.warns(DisclosureWarning, match="1 of these people have another value"):
        sf.randomize(changed, scheme(), key=key, id="id", ledger=ledger)
    assert ledger.spent() == {"sex": 9.0} == ledger.composed(scheme(), key)
    assert ledger.composed(scheme()) == {"sex": 27.0}
    with pytest.raises(ReleaseError, match="a gamma of 27, past the limit of 9"):
        sf.randomize({"sex": ["F"]}, scheme(), ledger=ledger, again=True)
    assert len(ledger.entries()) == 2
    # whoever is not known is nobody's repeat, and is not booked as somebody
    free = Ledger(path.with_name("free.sqlite"), new=True)
    sf.randomize(table(), scheme(), key=key, id="id", ledger=free)
    sf.randomize({"sex": ["F"]}, scheme(), ledger=free, again=True)
    assert [entry.people for entry in free.entries()] == [True, False]


def test_two_names_of_one_attribute_in_one_release_are_two_answers(tmp_path: Path) -> None:
    both = sf.Schema({"Age": sf.Categorical(("F", "M")), "age": sf.Categorical(("F", "M"))})
    twice = sf.Scheme(both, {name: c.binary(0.25, 0.25) for name in both})
    rows = {"Age": ["F", "M"], "age": ["F", "M"]}
    ledger = Ledger(tmp_path / "free.sqlite", new=True)
    sf.randomize(rows, twice, ledger=ledger)
    assert ledger.spent() == {"Age": 9.0}
    with pytest.raises(ReleaseError, match="a gamma of 9, past the limit of 4"):
        sf.randomize(rows, twice, ledger=Ledger(tmp_path / "strict.sqlite", new=True, limit=4))


@pytest.mark.parametrize("count", [300, 1000])
def test_a_group_of_many_items_is_booked(tmp_path: Path, count: int) -> None:
    items = sf.Schema({f"item{i}": sf.Categorical(("no", "yes")) for i in range(count)})
    wide = sf.Scheme(items, {tuple(items): c.mask(0.3)})
    ledger = Ledger(tmp_path / "wide.sqlite", new=True)
    sf.randomize({name: ["no", "yes"] for name in items}, wide, ledger=ledger)
    assert ledger.spent()["item0"] == pytest.approx(wide.gamma, rel=1e-9)
    assert ledger.composed(wide)["item0"] == pytest.approx(wide.gamma**2 if count < 400 else math.inf, rel=1e-9)


def test_the_total_is_that_of_a_person_and_not_of_people_who_were_never_asked_both(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite", new=True)
    sf.randomize(table("one", PEOPLE[:60]), scheme("one"), id="id", ledger=ledger)
    with pytest.warns(DisclosureWarning, match="has the values of 'one'"):
        sf.randomize(table("other", PEOPLE[60:]), scheme("other"), id="id", ledger=ledger)
    assert ledger.total() == 3
    sf.randomize(table("other", PEOPLE[:2]), scheme("other"), id="id", ledger=ledger)
    assert ledger.total() == 9


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_a_live_table_on_spark_is_booked_as_it_is_answered(tmp_path: Path, spark_session) -> None:
    """It was read once for the ledger and again for the answers: others left than were booked."""
    rows = spark_session.sparkContext.parallelize(range(20), 1).map(lambda _: (os.urandom(8).hex(), "F"))
    frame = spark_session.createDataFrame(rows, "id string, sex string")
    ledger = Ledger(tmp_path / "live.sqlite", new=True)
    with pytest.warns(DisclosureWarning, match="released as they are"):
        release = sf.randomize(frame, scheme(), id="id", clear_ids=True, ledger=ledger)
    ids = [row["id"] for row in release.parts[0].rows.collect()]
    with pytest.raises(ReleaseError, match="of 20 of these people"):
        sf.randomize(table(ids=ids), scheme(), id="id", ledger=ledger)


def test_forms_that_workers_draw_are_not_booked_as_others(tmp_path: Path) -> None:
    """On Spark the driver would draw forms of its own for the ledger, and the workers other ones for the release."""

    class Frame:
        __module__ = "pyspark.sql.dataframe"

    schema = sf.Schema({"a": sf.Categorical(("x", "y")), "b": sf.Categorical(("x", "y"))})
    forms = sf.Forms.for_gamma(schema, 9, ask=1)
    with pytest.raises(SchemeError, match="give a key"):
        sf.randomize(Frame(), forms, id="id", ledger=sf.Ledger(tmp_path / "spark.sqlite", new=True))
