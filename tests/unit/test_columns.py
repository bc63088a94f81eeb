"""Verdicts on columns: what each is, what is read off the data, and that the schema fits the table it was made from."""

from __future__ import annotations

import datetime as dt
import random
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.columns import Requests, Verdict, examine
from sfumato.errors import OutsideDomainError, OutsideDomainWarning, SchemaError

N = 200


def verdict(values: list[Any], name: str = "x", **requests: Any) -> Verdict:
    found = examine({name: values}, requests=Requests(**requests)).verdicts[0]
    if found.domain is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OutsideDomainWarning)
            sf.Schema.from_json(sf.Schema({name: found.domain}).to_json()).encode({name: values})
    return found


def draw(make: Any, n: int = N) -> list[Any]:
    rng = random.Random(3)
    return [make(rng, i) for i in range(n)]


DAY = dt.date(2021, 1, 1)

COLUMNS = {
    "row numbers": (draw(lambda r, i: i + 1), "identifier"),
    "row numbers from 0 as text": (draw(lambda r, i: str(i)), "identifier"),
    "shuffled row numbers": (random.Random(1).sample(range(N), N), "identifier"),
    "leading zeros": (draw(lambda r, i: f"{r.randrange(10**6):07d}"), "identifier"),
    "case numbers": (draw(lambda r, i: 10**7 + 7919 * i % 10**6 + i), "identifier"),
    "numbers of 18 digits": (draw(lambda r, i: 10**17 + r.randrange(10**17)), "identifier"),
    "the same as text": (draw(lambda r, i: str(10**17 + r.randrange(10**17))), "identifier"),
    "postcodes": (draw(lambda r, i: f"{r.randrange(1000, 99999):05d}"), "identifier"),
    "names": (draw(lambda r, i: f"{r.choice('ABC')}nna Miller {i}"), "identifier"),
    "phones": (draw(lambda r, i: f"+49 (0){r.randrange(10**8)}"), "identifier"),
    "mail": (draw(lambda r, i: f"p{i % 60}@example.org"), "identifier"),
    "remarks": (draw(lambda r, i: " ".join(r.choice(["came", "late", "went", "home", "again", "soon"]) for _ in range(9))), "free text"),
    "ward": (["B"] * N, "constant"),
    "empty": ([""] * N, "empty"),
    "sex": (draw(lambda r, i: r.choice("FM")), "categorical"),
    "departments": (draw(lambda r, i: r.choice(["01", "02", "17"])), "categorical"),
    "smoker": (draw(lambda r, i: r.choice(["yes", "No", "Y", "n", ""])), "categorical"),
    "rooms": (draw(lambda r, i: r.choice([1, 2, 5, 10])), "ordinal"),
    "rooms with gaps": (draw(lambda r, i: r.choice([1.0, 2.0, 5.0, None])), "ordinal"),
    "rooms as text": (draw(lambda r, i: r.choice(["1", "2", "10", ""])), "ordinal"),
    "dose": (draw(lambda r, i: f"{r.choice([5, 10, 20])} mg"), "ordinal"),
    "pain": (draw(lambda r, i: r.choice(["none", "mild", "severe"])), "ordinal"),
    "age groups": (draw(lambda r, i: r.choice(["<20", "20-39", "40-59", "60+"])), "ordinal"),
    "half points": (draw(lambda r, i: r.choice([1, 1.5, 2.5])), "ordinal"),
    "half points as text": (draw(lambda r, i: r.choice(["1", "1.50", "2.5", ""])), "ordinal"),
    "income": (draw(lambda r, i: r.lognormvariate(10, 0.3)), "numeric"),
    "long fractions": (draw(lambda r, i: f"{r.gauss(7000, 900):.6f}"), "numeric"),
    "blanks around": (draw(lambda r, i: r.choice(["Yes ", " No", "Maybe"])), "categorical"),
    "weight": (draw(lambda r, i: f"{r.gauss(70, 9):.1f} kg"), "numeric"),
    "saturation": (draw(lambda r, i: f"{r.uniform(80, 100):.1f}%"), "numeric"),
    "price": (draw(lambda r, i: f"${r.uniform(1, 99):.2f}"), "numeric"),
    "age": (draw(lambda r, i: r.choice([str(r.randrange(18, 95)), "unknown", "-"])) + ["40"] * 2 * N, "numeric"),
    "iso": (draw(lambda r, i: (DAY + dt.timedelta(r.randrange(800))).isoformat()), "date"),
    "german": (draw(lambda r, i: (DAY + dt.timedelta(r.randrange(800))).strftime("%d.%m.%Y")), "date"),
    "american": (draw(lambda r, i: (DAY + dt.timedelta(r.randrange(800))).strftime("%m/%d/%Y")), "date"),
    "stamps": (draw(lambda r, i: f"{DAY + dt.timedelta(r.randrange(800))} {r.randrange(24):02d}:30:00"), "date"),
    "digits": (draw(lambda r, i: (DAY + dt.timedelta(r.randrange(800))).strftime("%Y%m%d")), "date"),
    "clock": (draw(lambda r, i: f"{r.randrange(24)}:{r.randrange(60):02d}"), "date"),
    "days": (draw(lambda r, i: DAY + dt.timedelta(r.randrange(800))), "date"),
    "truth": (draw(lambda r, i: r.choice([True, False, None])), "categorical"),
    "many towns": (draw(lambda r, i: r.choice(["Bonn", "Ulm", f"town {r.randrange(4000)}"]), 900), "categorical"),
    "mixed": (draw(lambda r, i: r.choice([str(r.randrange(99)), f"word {i}"])) + ["7"] * 5 * N, "unreadable"),
    "two units": (draw(lambda r, i: f"{r.randrange(9)} {r.choice(['mg', 'g'])}"), "unreadable"),
}  # fmt: skip


@pytest.mark.parametrize("name", list(COLUMNS))
def test_every_kind_of_column_is_told(name: str) -> None:
    values, kind = COLUMNS[name]
    found = verdict(values, "x")
    assert found.kind == kind, found
    assert found.why
    assert found.kept == (kind in ("categorical", "ordinal", "numeric", "date"))


def test_codes_for_no_answer_are_told_from_values() -> None:
    assert verdict([1, 2, 1, 2, 9] * 20).domain == sf.Ordinal((1, 2), True)
    assert verdict([0, 1, 2, 3, 4, 99] * 20).domain.missing == ("99",)
    assert verdict([-1, 0, 1, 2] * 20).domain.missing == ("-1",)
    for values in ([1, 2, 5, 10], [5, 6, 7, 8, 9], [1, 2, 3, 4, 5, 6, 7, 8, 9], [0, 9]):
        assert verdict(values * 20).domain == sf.Ordinal(tuple(values)), values
    weights = draw(lambda r, i: round(r.gauss(70, 9), 1)) + [999, 999]
    assert verdict(weights).domain.missing == ("999",)


def test_one_outlier_does_not_ruin_the_bins() -> None:
    values = draw(lambda r, i: r.gauss(100, 15), 1000)
    clean = verdict(values).domain
    found = verdict([*values, 1e9])
    assert found.domain.edges == clean.edges
    assert found.domain.clip
    assert "1 row far outside the others" in found.problems[0]
    assert not clean.clip
    assert verdict([*values, 1e9], ranges={"x": (0, 200)}, bins=10).domain.edges == tuple(np.linspace(0, 200, 11))
    assert verdict([1.5, 2.5, 9.5] * 9, edges={"x": (0.0, 2.0, 10.0)}).domain == sf.Numeric(edges=(0, 2, 10), step=0.5)


def test_numbers_in_steps_count_as_what_they_are() -> None:
    """Ratings to a tenth in bins of a half counted .05 too high, and whole numbers .5: intervals missed the truth."""
    ratings = [round(1 + i % 91 / 10, 1) for i in range(910)]
    assert verdict(ratings).domain.step == 0.1
    assert verdict([10 * (i % 300) for i in range(900)]).domain.step == 10
    whole = verdict([i % 83 for i in range(830)]).domain
    assert whole.step == 1 and whole.midpoints[0] == 2
    assert verdict(draw(lambda r, i: r.gauss(100, 15), 1000)).domain.step is None
    assert verdict([i % 83 for i in range(830)], points={"x": 5}).domain.step is None


def test_edges_look_like_public_knowledge() -> None:
    assert verdict(draw(lambda r, i: r.randrange(17, 91), 2000)).domain.edges == tuple(range(15, 96, 5))
    assert verdict([0.1, 0.35, 0.93] * 9, bins=10).domain.edges == tuple(np.round(np.arange(1, 11) / 10, 1))


def test_dates_keep_a_wrong_century_out_and_say_what_cannot_be_told() -> None:
    days = draw(lambda r, i: (DAY + dt.timedelta(r.randrange(800))).strftime("%d.%m.%Y"))
    found = verdict([*days, "01.01.1800"])
    assert (found.domain.first, found.domain.by, found.domain.clip) == ("2021-01", "month", True)
    assert found.domain.formats == ("%d.%m.%Y",)
    unclear = verdict(draw(lambda r, i: f"{r.randrange(1, 13):02d}/{r.randrange(1, 13):02d}/2021"))
    assert "day or month first cannot be told" in unclear.problems[0]
    both = verdict(draw(lambda r, i: r.choice(["25/12/2021", "12/25/2021", f"{r.randrange(13, 28)}/03/2021"])))
    assert "some dates have the day first and some the month" in both.problems[0]
    mixed = verdict(
        draw(lambda r, i: r.choice([(DAY + dt.timedelta(i)).strftime(f) for f in ("%d.%m.%Y", "%Y-%m-%d")]))
    )
    assert mixed.kind == "date"
    assert verdict(days, by={"x": "weekday"}).domain == sf.Date(by="weekday")


def test_long_columns_are_judged_by_all_their_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.columns.value_counts.MOST_KEPT", 200)
    start = dt.datetime(2021, 1, 1)
    times = [start + dt.timedelta(minutes=35 * i) for i in range(6_000)]  # sorted, each once, to the end of May
    written = [moment.isoformat() + "Z" for moment in times]
    for values in (times, written, [moment.strftime("%d.%m.%Y %H:%M") for moment in times]):
        found = verdict(values, by={"x": "month"})
        assert isinstance(found.domain, sf.Date)
        assert (found.domain.first, found.domain.last) == ("2021-01", "2021-05"), "not only of the first values"
    assert verdict([moment.strftime("%H:%M:%S") for moment in times]).kind == "date"
    for amounts in ([i + 0.5 for i in range(6_000)], [f"{i}.5" for i in range(6_000)]):
        assert verdict(amounts).domain.high >= 5_900
        assert verdict(amounts).why.startswith("more than ")
        assert verdict(amounts[:350]).why.startswith("350 different numbers"), "all of them are counted"
    codes = examine({"x": [f"case {i}" for i in range(6_000)]}).verdicts[0]
    assert codes.kind == "identifier"
    assert codes.why.startswith("more than 200 different texts"), "no number of rows that the file does not have"


@pytest.mark.parametrize("name", ["id", "patient_id", "PatientId", "Fall-Nr"])
def test_ids_that_come_back_are_left_out(name: str) -> None:
    visits = [1000 + 7 * (i % 150) for i in range(600)]
    assert verdict(visits, name).kind == "identifier"
    assert verdict(visits, "weight").kind == verdict(visits, "humid").kind == "numeric"
    assert verdict(visits, name, ranges={name: (0, 3000)}).kind == "numeric", "if it is asked for"


def test_spellings_are_gathered() -> None:
    assert verdict(["yes", "Y", "N", "no", ""] * 20).domain == sf.Categorical(("no", "yes"), True)
    sex = verdict(["Male", "male", "MALE", "Male", "Female"] * 20)
    assert sex.domain == sf.Categorical(("Female", "Male"))
    assert "2 values differ from others only in case" in sex.problems[0]
    assert verdict(["a", "b", "n/a", "-"] * 20).domain.missing == ("-", "n/a")
    assert verdict(["a", "b", "unknown"] * 20).domain.values == ("a", "b", "unknown")


def test_rare_values_go_to_other() -> None:
    found = verdict(COLUMNS["many towns"][0])
    assert found.domain.values == ("Bonn", "Ulm", "other")
    assert found.discloses == "the 2 commonest values"
    assert "rows go to 'other'" in found.problems[0]
    one = verdict(["A"] * 98 + ["B"] * 2)
    assert "1 of its values is held by fewer than 5 rows" in one.problems[0]


def test_remarks_agree_with_the_number_of_rows() -> None:
    ranges = {"x": (0, 90)}
    assert "1 row lies outside the range" in " ".join(verdict([*range(90), 200], ranges=ranges).problems)
    assert "2 rows lie outside the range" in " ".join(verdict([*range(90), 200, 300], ranges=ranges).problems)


def test_a_crowded_bin_is_remarked_on_unless_its_edges_were_given() -> None:
    weeks = [0] * 950 + list(range(50))
    assert "most rows fall into one bin" in " ".join(verdict(weeks, ranges={"x": (0, 52)}).problems)
    days = [-1] * 900 + [0] * 130 + list(range(-400, 1000, 5))
    assert "most rows fall into one bin" in " ".join(verdict(days).problems)
    assert "one bin" not in " ".join(verdict(weeks, edges={"x": (0, 1, 5, 52)}).problems)


def test_numbers_on_one_side_of_their_bins_are_remarked_on() -> None:
    """Percentages of which most are whole: bins that begin at whole numbers put their means off by a quarter of a bin."""
    shares = [4, 5, 6, 6, 7, 7, 8, 9, 5.5, 7.3, 8.25, 21.7] * 30
    said = "on one side of their bins"
    assert said in " ".join(verdict(shares, ranges={"x": (0, 30)}, bins=15).problems)
    halves = tuple(-0.5 + 2 * i for i in range(17))
    assert said not in " ".join(verdict(shares, edges={"x": halves}).problems)
    assert said not in " ".join(verdict(shares, ranges={"x": (0, 30)}, points={"x": 11}).problems)
    whole = [4, 5, 6, 6, 7, 7, 8, 9, 21] * 30  # their step tells where in a bin they lie
    assert said not in " ".join(verdict(whole, ranges={"x": (0, 30)}, bins=15).problems)


def test_a_last_edge_that_many_hold_is_given_a_bin() -> None:
    """Marks from 1 to 5 between the edges 1, 2, 3, 4 and 5: all of 5 counted as 4, and --points was the advice."""
    marks = [1, 2, 3, 4, 4, 4, 5, 5, 5, 5] * 30
    assert "add an edge (--edges x=LOW:...:5:6)" in " ".join(verdict(marks, edges={"x": (1, 2, 3, 4, 5)}).problems)
    mended = verdict(marks, edges={"x": (1, 2, 3, 4, 5, 6)})
    assert "edge" not in " ".join(mended.problems) and mended.domain.midpoints.tolist() == [1, 2, 3, 4, 5]


def test_a_verdict_never_quotes_the_data() -> None:
    """The reasons go to terminals and logs; the values only into the schema that the owner edits."""
    for values, _ in COLUMNS.values():
        found = verdict(values)
        said = " ".join([found.why, found.discloses, *found.problems])
        for word in ("Miller", "example.org", "town 1", "came", "unknown", "Bonn"):
            assert word not in said


def test_engines_agree(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "rooms": [1, 2, None, 5] * 25,
            "day": pd.to_datetime(["2021-01-03", "2022-05-06", None, "2021-09-09"] * 25),
            "word": pd.Categorical(["a", "b", None, "a"] * 25),
        }
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    found = [
        examine(t).domains for t in (frame, pa.Table.from_pandas(frame), tmp_path / "t.csv", tmp_path / "t.parquet")
    ]
    assert found[0] == found[1] == found[2] == found[3]
    assert found[0]["rooms"] == sf.Ordinal((1, 2, 5), True)


def test_requests_for_columns_that_are_not_there_are_refused() -> None:
    for options in ({"drop": ["y"]}, {"columns": ["y"]}, {"requests": Requests(ranges={"y": (0, 1)})}):
        with pytest.raises(SchemaError, match="the table has no column 'y'"):
            examine({"x": [1, 2]}, **options)


@pytest.mark.filterwarnings("ignore::sfumato.errors.DisclosureWarning")
def test_infer_names_every_column_that_has_no_domain() -> None:
    with pytest.raises(
        SchemaError, match=r"column 'id' \(identifier\) .*; column 'note' \(free text\) .*leave them out"
    ):
        sf.Schema.infer({"id": COLUMNS["leading zeros"][0], "sex": ["F", "M"] * 100, "note": COLUMNS["remarks"][0]})


def test_postal_codes_are_no_numbers() -> None:
    long = [f"98{100 + i % 40}-{1000 + i}" for i in range(30)]
    codes = [str(98100 + i % 40) for i in range(900)] + long
    found = examine({"zip_code": codes, "place": codes, "range": [str(i) for i in range(900)] + ["20-29"] * 30})
    zipped, place, ranged = found.verdicts
    assert (zipped.kind, place.kind) == ("categorical", "categorical")
    assert "98120" in place.domain.values and "fewer than 5 rows" in place.problems[0]
    assert "limits such as <5" in ranged.problems[0]
    many = [str(10000 + i % 300) for i in range(900)] + long
    assert examine({"zip_code": many}).verdicts[0].kind == "identifier"


def test_dates_that_begin_their_months_are_months() -> None:
    months = [f"01.{1 + i % 3:02d}.2018" for i in range(60)]
    years = [f"{1990 + i % 5}-01-01" for i in range(60)]
    days = [f"{1 + i % 28:02d}.02.2018" for i in range(60)]
    found = examine({"m": months, "y": years, "d": days})
    assert [verdict.domain.by for verdict in found.verdicts] == ["month", "year", "day"]
    assert found.verdicts[0].domain.size == 3


def test_whole_numbers_stay_whole_with_few_bins() -> None:
    found = verdict([1 + i % 12 for i in range(600)], bins=8)
    assert found.domain.values == tuple(range(1, 13)) and all(isinstance(value, int) for value in found.domain.values)


def test_a_column_is_what_its_owner_says() -> None:
    codes = [str(10000 + i % 300) for i in range(3000)]
    assert verdict(codes, "zip").kind == "identifier"
    kept = verdict(codes, "zip", kinds={"zip": "categorical"}, most_values=300)
    assert (kept.kind, kept.domain.size) == ("categorical", 300)
    assert kept.domain.encode(codes[:3]).tolist() == [0, 1, 2]
    fewer = verdict(codes, "zip", kinds={"zip": "categorical"})
    assert (fewer.domain.size, fewer.domain.other) == (101, "other")
    numbers = verdict([int(code) for code in codes], "zip", kinds={"zip": "categorical"}, most_values=300)
    assert numbers.domain.encode([10002, 10000]).tolist() == [2, 0]
    assert verdict(["a", "b"] * 50, kinds={"x": "identifier"}).kind == "identifier"
    with pytest.raises(SchemaError, match="no value is held by 5 rows"):
        verdict([f"p{i}" for i in range(200)], kinds={"x": "categorical"})
    with pytest.raises(SchemaError, match="asked for as categorical, identifier or text, got 'zip'"):
        verdict(codes, kinds={"x": "zip"})
    with pytest.raises(SchemaError, match="holds no dates: it has no periods; --bins cuts a column of numbers"):
        verdict(list(range(1900, 2000)) * 5, by={"x": "year"})
    with pytest.raises(SchemaError, match="has no bins"):
        verdict(codes, kinds={"x": "categorical"}, bins_of={"x": 3})


def test_whole_numbers_that_never_meet_are_identifiers() -> None:
    rng = np.random.default_rng(5)
    drawn = rng.permutation(20_000)[:6000] + 3
    assert verdict(drawn.tolist(), "rownames").kind == "identifier"
    assert verdict(rng.integers(3, 20_003, 6000).tolist(), "steps").kind == "numeric"
    assert verdict(np.unique(rng.integers(0, 10**8, 900)).tolist(), "income").kind == "numeric"


def test_quarters_are_dates() -> None:
    written = [f"{1977 + i % 4} Q{1 + i % 3}" for i in range(60)]
    found = verdict(written, "birth")
    assert (found.kind, found.domain.by, found.domain.labels[0]) == ("date", "quarter", "1977-Q1")
    assert found.domain.encode(["1977 Q3", "1978-Q1", "1977q2"]).tolist() == [2, 4, 1]


@pytest.mark.parametrize(("low", "high"), [(5, 35), (18, 90), (1, 31), (-30, 45), (0, 7), (0, 150_000)])
def test_bins_of_an_asked_range_are_even(low: int, high: int) -> None:
    """From 5 to 35 they were 5, 6, 8, 10 to 34, 35, whose means are off at both ends."""
    numbers = [low + (high - low) * ((7 * i) % 100) / 99.5 for i in range(400)]
    found = verdict(numbers, ranges={"x": (float(low), float(high))})
    steps = np.diff(found.domain.edges)
    assert (found.domain.edges[0], found.domain.edges[-1]) == (low, high)
    assert np.allclose(steps, steps[0]) and 14 <= len(steps) <= 30


def test_the_length_of_free_text_is_a_mean() -> None:
    words = ["came", "late", "went home", "again and again", "soon"]
    notes = [" ".join(words[(i * k) % 5] for k in range(1, 12)) + f" {i}" for i in range(300)]
    assert verdict(notes).why.startswith("texts of about ")


def test_weeks_are_dates() -> None:
    """They were words, and --by refused them, though a domain that is written by hand reads them."""
    weeks = [f"20{20 + i % 2}-W{1 + i % 52:02d}" for i in range(1040)]
    for requests in ({}, {"by": {"x": "week"}}):
        found = verdict(weeks, **requests)
        assert (found.kind, found.domain.by, found.domain.first, found.domain.last) == (
            "date", "week", "2020-W01", "2021-W52",
        )  # fmt: skip
    assert found.domain.encode(["2020-W01", "2020 W53", "2021w1", "2021-W52"]).tolist() == [0, 52, 53, 104]
    with pytest.raises(OutsideDomainError, match="date"):
        found.domain.encode(["2021-W53"])  # a year of 52 weeks
    assert verdict(weeks, by={"x": "month"}).domain.labels[0] == "2019-12"  # which begins in the year before
    assert verdict(["2020-W77", "2021-X02"] * 60).kind == "categorical"


def test_years_of_two_digits_are_read_where_they_are_no_days() -> None:
    names = ("Jan", "Feb", "Mar", "Apr", "May")
    sure = verdict([f"{name}-{year}" for name in names for year in (98, 99, "00")] * 20)
    assert (sure.kind, sure.domain.first, sure.domain.last) == ("date", "1998-01", "2000-05")
    unsure = [f"{name}-{end}" for name in names for end in (18, 19, 20)] * 20
    found = verdict(unsure)
    assert found.kind == "categorical" and "--by x=month reads months" in str(found.problems)
    assert verdict(unsure, by={"x": "month"}).domain.labels[0] == "2018-01"
    assert not verdict(["red", "blue"] * 60).problems


@pytest.mark.parametrize("format", ["%b-%Y", "%b %Y", "%B %Y", "%m/%Y", "%m-%Y", "%Y/%m"])
def test_months_are_dates(format: str) -> None:
    """Mar-2018 was a word, before which Feb-2018 and after which Nov-2017 stood, and --by refused it."""
    written = [dt.date(2017 + i % 2, 1 + i % 12, 1).strftime(format) for i in range(240)]
    for requests in ({}, {"by": {"x": "month"}}):
        found = verdict(written, **requests)
        assert (found.kind, found.domain.by) == ("date", "month")
        assert found.domain.labels[:2] == ("2017-01", "2017-02")
    assert np.bincount(found.domain.encode(written), minlength=24).tolist() == [20, 0] * 6 + [0, 20] * 6
    assert verdict(written, spans={"x": ("2016-01", "2018-12")}).domain.labels[0] == "2016-01"
    assert verdict(["May 2018", "Room 2018"] * 60).kind == "categorical"


def test_few_numbers_of_things_are_a_category() -> None:
    found = verdict([1 + i % 24 for i in range(600)], "plot_id")
    assert (found.kind, found.domain.size, found.domain.ordered) == ("categorical", 24, False)
    assert verdict([1 + i % 24 for i in range(600)], "plot").kind == "numeric"


def test_numbers_that_are_no_two_alike_are_ids_in_a_long_table_too() -> None:
    """Row numbers out of order of 51 920 rows were taken for amounts, because not all of them were kept."""
    numbers = list(range(7_000, 62_000, 1))
    random.Random(1).shuffle(numbers)
    assert verdict(numbers).kind == "identifier"
    assert verdict(draw(lambda r, i: r.randrange(10**6), 50_000)).kind == "numeric"


def test_a_column_is_kept_as_text_where_asked() -> None:
    table = {"note": ["flu", "head ache", None, "cough"] * 10}
    (verdict,) = examine(table, requests=Requests(kinds={"note": "text"})).verdicts
    assert verdict.kept
    assert verdict.kind == "text"
    domain = verdict.domain
    assert isinstance(domain, sf.Text)
    assert (domain.max_length, domain.nullable, set(domain.alphabet)) == (9, True, set("flu head ache cough"))
    assert domain.decode(domain.encode(table["note"][:2])).to_pylist() == ["flu", "head ache"]
    (many,) = examine({"note": [chr(300 + i) for i in range(300)]}, requests=Requests(kinds={"note": "text"})).verdicts
    assert not many.kept
    assert "write its alphabet by hand" in many.why


def test_as_many_common_words_keep_their_names_as_were_asked_for():
    words = [f"ward {chr(97 + i % 26)}{i}" for i in range(80) for _ in range(2000 // (i + 1))]
    found = verdict(words, "ward", most_values=40)
    assert found.kind == "categorical" and found.domain.size == 40 and "other" in found.domain.labels
    assert "the 39 commonest" in found.why


@pytest.mark.parametrize("texts", [["a\tb", "c d"], ["x\u00a0y", "ab"], ["a\0b", "cd"]])
def test_letters_that_no_alphabet_ends_with_do_not_stop_the_schema(texts: list[str]) -> None:
    (verdict,) = examine({"note": texts * 10}, requests=Requests(kinds={"note": "text"})).verdicts
    assert verdict.kept and set(verdict.domain.alphabet) == set("".join(texts)) - {"\0"}


def test_one_letter_and_a_blank_are_no_alphabet() -> None:
    (verdict,) = examine({"note": ["aa a", "a"] * 10}, requests=Requests(kinds={"note": "text"})).verdicts
    assert verdict.kind == "unreadable" and "1 different letters" in verdict.why


def test_thousands_of_digits_are_judged_like_others() -> None:
    (verdict,) = examine({"x": ["7" * 5000 + "-2", "3", "4", "5", "6"] * 10}).verdicts
    assert verdict.kind in ("numeric", "ordinal")


def test_a_category_by_request_holds_what_its_column_holds() -> None:
    table = pa.table(
        {
            "smokes": pa.array([True, False] * 30),
            "seen": pa.array([dt.datetime(2020, 1, 1 + i % 3) for i in range(60)]),
            "clock": pa.array([dt.time(8 + i % 3) for i in range(60)]),
            "day": pa.array([dt.date(2020, 1, 1 + i % 3) for i in range(60)]),
        }
    )
    found = examine(table, requests=Requests(kinds=dict.fromkeys(table.column_names, "categorical")))
    codes = sf.Schema(found.domains).encode(table)
    assert codes["smokes"].tolist() == [1, 0] * 30
    assert all(codes[name].tolist() == [0, 1, 2] * 20 for name in ("seen", "clock", "day"))


def test_numbers_of_things_in_several_rows_are_no_amounts() -> None:
    """Schools by number, six rows each, were numbers in 20 bins, without a remark."""
    rng = np.random.default_rng(2)
    many = np.repeat(rng.choice(90_000, 400, replace=False) + 1000, 6)
    found = {v.name: v for v in examine({"schid": many, "firm": many, "bcode": many[rng.permutation(2400)]}).verdicts}
    assert found["schid"].kind == "identifier" and "by its name" in found["schid"].why
    assert "6 rows each" in found["firm"].problems[0] and "--as firm=identifier" in found["firm"].problems[0]
    assert "--as bcode=identifier" in found["bcode"].problems[0]


def test_amounts_are_not_taken_for_numbers_of_things() -> None:
    rng = np.random.default_rng(5)
    n = 3000
    table = {
        "amtpaid": rng.integers(0, 5000, n),
        "humid": rng.integers(0, 300, n),
        "thyroid": rng.poisson(300, n),
        "price": 5 * rng.integers(10, 900, n),
        "year": rng.integers(1800, 2020, n),
        "weight": rng.normal(3300, 400, n).round().astype(int),
        "count": rng.geometric(0.005, n),
        "hybrid": rng.integers(0, 400, n),
    }
    for verdict in examine(table).verdicts:
        assert verdict.kind in ("numeric", "date") and not verdict.problems, verdict


def test_numbers_nearly_all_in_one_bin_are_remarked_on() -> None:
    rng = np.random.default_rng(6)
    skewed = np.round(rng.lognormal(15, 2, 4000))
    (found,) = examine({"population": skewed}, requests=Requests(ranges={}, bins=14)).verdicts
    assert "most rows fall into one bin" in " ".join(found.problems) and "--edges population=" in " ".join(
        found.problems
    )
    (found,) = examine({"height": rng.normal(170, 9, 4000)}).verdicts
    assert not found.problems


def test_what_would_name_more_values_is_said() -> None:
    words = [word for i in range(60) for word in [f"w{i:02d}"] * (60 - i + 400 * (i < 4))]
    assert "--most-values keeps more of them" in verdict(words, "ward", most_values=10).problems[0]
    rare = verdict(words, "ward", most_values=58).problems[0]
    assert "held by fewer than 5 rows (--as ward=categorical names more of them)" in rare
    assert verdict(words, "ward", most_values=60, kinds={"ward": "categorical"}).domain.size == 60
    least = verdict(words, "ward", most_values=57, kinds={"ward": "categorical"}).problems[0]
    assert "values of fewer than 5 rows get no name" in least


def test_rows_that_are_moved_are_counted_as_they_will_be_moved():
    """Limits are rounded outwards: rows between the two were counted as moved, and randomizing moved fewer."""
    table = pa.table({"x": [i % 79 for i in range(30000)] + [97] + [100] * 7 + [10**6] * 3})
    (verdict,) = examine(table).verdicts
    with pytest.warns(OutsideDomainWarning) as said:
        sf.Schema({"x": verdict.domain}).encode(table)
    assert "3 values outside [0, 100]" in str(said[0].message)
    assert any(line.startswith("3 rows far outside") for line in verdict.problems)


def test_a_range_of_whole_numbers_holds_its_ends_and_no_more():
    """Of --range x=0:10 a row with 11 counted as 10, and was not counted as moved; of wide bins, one with 100 was."""
    table = pa.table({"x": [i % 10 for i in range(1000)] + [10, 11, 11, 12]})
    for bins, edge in ((20, 11), (4, 11)):
        (verdict,) = examine(table, requests=Requests(bins=bins, ranges={"x": (0.0, 10.0)})).verdicts
        assert isinstance(verdict.domain, sf.Numeric)
        assert verdict.domain.high == edge and verdict.domain.limits_text() == "[0, 10]"
        assert any(line.startswith("3 rows lie outside the range") for line in verdict.problems)
        with pytest.warns(OutsideDomainWarning, match=r"3 values outside \[0, 10\]"):
            sf.Schema({"x": verdict.domain}).encode(table)
    halves = pa.table({"x": [i % 21 / 2 for i in range(2100)]})
    (verdict,) = examine(halves, requests=Requests(bins=10)).verdicts
    assert not verdict.problems and sf.Schema({"x": verdict.domain}).encode(halves)["x"].max() == 9


def test_months_written_as_numbers_are_told_of_and_how_they_become_dates():
    """A column of 199009 was cut into bins without a word, and its periods were refused without a way out."""
    table = pa.table({"month": [f"{year}{month:02d}" for year in (1990, 1991, 1992) for month in range(1, 13)] * 9})
    way = '{"kind": "date", "first": "1990-01", "last": "1992-12", "by": "month", "formats": ["%Y%m"]}'
    (verdict,) = examine(table).verdicts
    assert verdict.kind == "numeric" and any(way in line for line in verdict.problems)
    with pytest.raises(SchemaError, match=re.escape(way)):
        examine(table, requests=Requests(by={"month": "month"}))
    sizes = sf.Schema.from_json(f'{{"month": {way}}}').encode(table)
    assert np.bincount(sizes["month"]).tolist() == [9] * 36


def test_the_months_of_a_single_year_are_told_of_too() -> None:
    """So few numbers are a list, and nothing was said: their mean is no month."""
    found = verdict([f"2020{month:02d}" for month in range(1, 13)] * 9)
    assert found.kind == "ordinal" and any('"first": "2020-01", "last": "2020-12"' in line for line in found.problems)


def test_words_that_may_be_dates_are_refused_with_a_way_on():
    """Of periods of words it was said that --bins cuts a column of numbers."""
    written = pa.table({"month": ["Mai 2018", "Juni 2018", "Juli 2018"] * 30})
    with pytest.raises(SchemaError, match=re.escape('"formats": ["%d.%m.%Y"]')) as refused:
        examine(written, requests=Requests(by={"month": "month"}))
    assert "--bins" not in str(refused.value)


def test_numbers_that_cannot_be_months_are_not_called_so():
    (verdict,) = examine(pa.table({"price": [str(199000 + 7 * i % 900) for i in range(300)] * 3})).verdicts
    assert not any("months" in line for line in verdict.problems)


def test_times_with_am_and_pm_are_times_of_a_day() -> None:
    """They were left out as names, numbers or codes."""
    times = draw(lambda r, i: f"{r.randrange(1, 13)}:{r.randrange(60):02d} {r.choice(['AM', 'pm'])}")
    found = verdict(times)
    assert (found.kind, found.why) == ("date", "times of a day, by the hour, written as 02:05 PM")
    assert found.domain is not None
    assert found.domain.encode(["12:10 AM", "1:59 am", "12:00 PM", "11:30 pm"]).tolist() == [0, 1, 12, 23]
    mixed = verdict(["02:05:01PM", "14:05", "9:30 AM"] * 20).domain
    assert mixed is not None and mixed.encode(["02:05:01PM", "14:05", "9:30 AM"]).tolist() == [14, 14, 9]


@pytest.mark.parametrize(("form", "unit"), [("{} °C", "°C"), ("{}°", "°"), ("₹{}", "₹"), ("{} ₽", "₽")])
def test_degrees_and_currencies_are_units(form: str, unit: str, tmp_path: Path) -> None:
    """22.5 °C was a word: most of a column of temperatures became "other", or it was left out."""
    written = [form.format(f"{1000 + 7 * i:,}.{i % 10}".replace(",", "'")) for i in range(N)]
    (tmp_path / "t.csv").write_text("x;y\n" + "".join(f"{text};a\n" for text in written), encoding="utf-8")
    found, _ = examine(tmp_path / "t.csv").verdicts
    assert found.kind == "numeric" and isinstance(found.domain, sf.Numeric) and found.domain.unit == unit
    codes = sf.Schema({"x": found.domain}).encode(tmp_path / "t.csv")["x"]
    assert np.array_equal(codes, found.domain.encode([1000 + 7 * i + i % 10 / 10 for i in range(N)]))


def test_rows_within_quotes_are_remarked_on(tmp_path: Path) -> None:
    """Two stray quotes made one value of 150 rows, without a word."""
    rows = [f"{'abc'[i % 3]},{i % 50}" for i in range(400)]
    rows[150], rows[300] = '"a,17', '"b,17'
    (tmp_path / "t.csv").write_text("k,v\n" + "\n".join(rows) + "\n")
    found = examine(tmp_path / "t.csv")
    assert (found.rows, any("a value of 151 lines" in line for line in found.verdicts[0].problems)) == (250, True)
    notes = verdict([f"first line {i}\n" * 8 for i in range(60)] + ["short"] * 60)
    assert not any("lines" in line for line in notes.problems)


@pytest.mark.parametrize(("written", "value"), [("0.0", 0), ("2.5", 2.5), ("007", "007"), ("5 mg", "5 mg")])
def test_the_one_number_of_a_column_is_that_of_data_frames(tmp_path, written, value):
    """A schema made from a file with 0.0 and blanks refused the same table as a data frame: it held the word "0.0"."""
    path = tmp_path / "late.csv"
    path.write_text("accounts,late\n" + "".join(f"{i % 3},{written if i % 4 else ''}\n" for i in range(60)))
    found = examine(path).verdicts[1]
    assert (found.domain.values, type(found.domain.values[0])) == ((value,), type(value))
    assert found.why == f"one {'word' if isinstance(value, str) else 'number'}, or nothing"
    frame = pd.read_csv(path, dtype={"late": str} if isinstance(value, str) else None)
    assert found.domain.encode(frame["late"]).tolist() == [int(i % 4 == 0) for i in range(60)]


@pytest.mark.parametrize("unit", ["", " mg"])
def test_numbers_that_hardly_anybody_has_are_told_of(unit):
    """Of words it was said; of numbers, 52 in a list of 0 to 3 was published without a word."""
    held = [i % 4 for i in range(400)]
    alone = verdict([f"{number}{unit}" for number in (*held, 52)])
    assert alone.kind == "ordinal" and alone.domain.size == 5
    line = "1 of its values is held by fewer than 5 rows: publishing it tells of those rows"
    assert line in alone.problems
    assert not verdict([f"{number}{unit}" for number in held]).problems
    assert not verdict([1, 2, 3, 4, 5]).problems  # of so few rows, any value may be anybody's


def test_a_list_of_fractions_does_not_say_that_each_is_in_many_rows_where_one_is_not():
    held = [0.5, 1.5, 2.5] * 100
    assert verdict(held).why == "3 different numbers, each in many rows"
    assert verdict([*held, 7.5]).why == "4 different numbers, most in many rows"


def test_a_code_outside_the_asked_range_is_no_value() -> None:
    """All -99 stood at the lower end then, and drew the mean down."""
    cells = [i % 59 for i in range(590)] + [-99] * 40
    found = verdict(cells, ranges={"x": (0, 58)})
    assert found.domain.missing == ("-99",) and found.domain.nullable
    assert not any("outside the range" in line for line in found.problems)
    assert verdict(cells, ranges={"x": (-99, 58)}).domain.missing == (), "asked for as a value"
