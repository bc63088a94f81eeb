"""Dates, "other", clipping, and how files write values: what a domain makes of untidy columns."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import OutsideDomainWarning, SchemaError

DAYS = [dt.date(2023, 1, 31), dt.date(2023, 3, 1), None, dt.date(2024, 12, 31)]
SEEN = sf.Date("2023-01", "2024-12", by="month", nullable=True)


def tables_of_days(tmp_path: Path) -> dict[str, object]:
    arrow = pa.table({"day": pa.array(DAYS, pa.date32())})
    stamps = pa.array([None if d is None else dt.datetime(d.year, d.month, d.day, 23, 59) for d in DAYS])
    pq.write_table(arrow, tmp_path / "days.parquet")
    (tmp_path / "days.csv").write_text("day,x\n2023-01-31,1\n2023-03-01T10:00:00Z,1\n,1\n2024-12-31 23:59,1\n")
    return {
        "mapping": {"day": [None if d is None else d.isoformat() for d in DAYS]},
        "date32": arrow,
        "date64": pa.table({"day": arrow.column("day").cast(pa.date64())}),
        "timestamp": pa.table({"day": stamps.cast(pa.timestamp("ns"))}),
        "zoned": pa.table({"day": stamps.cast(pa.timestamp("us", tz="UTC"))}),
        "pandas": pd.DataFrame({"day": pd.to_datetime(pd.Series(DAYS))}),
        "pandas-objects": pd.DataFrame({"day": DAYS}),
        "polars": pl.DataFrame({"day": DAYS}),
        "polars-lazy-datetime": pl.LazyFrame({"day": DAYS}).with_columns(pl.col("day").cast(pl.Datetime)),
        "duckdb": duckdb.connect().from_arrow(arrow),
        "parquet": tmp_path / "days.parquet",
        "csv": tmp_path / "days.csv",
    }


ENGINES = (
    "mapping", "date32", "date64", "timestamp", "zoned", "pandas", "pandas-objects", "polars", "polars-lazy-datetime",
    "duckdb", "parquet", "csv",
)  # fmt: skip


@pytest.mark.parametrize("kind", ENGINES)
def test_dates_of_every_engine_become_the_same_codes(kind: str, tmp_path: Path) -> None:
    codes = sf.Schema({"day": SEEN}).encode(tables_of_days(tmp_path)[kind])
    assert codes["day"].tolist() == [0, 2, 24, 23]


@pytest.mark.parametrize(
    ("by", "first", "last", "size", "labels"),
    [
        ("year", 2019, "2021", 3, ("2019", "2020", "2021")),
        ("quarter", "2019-Q4", dt.date(2020, 6, 30), 3, ("2019-Q4", "2020-Q1", "2020-Q2")),
        ("month", "2019-12-31", "2020-01", 2, ("2019-12", "2020-01")),
        ("week", "2020-12-28", "2021-W01", 2, ("2020-W53", "2021-W01")),
        ("day", "2020-02-28", "2020-03-01", 3, ("2020-02-28", "2020-02-29", "2020-03-01")),
        (
            "hour",
            "2020-01-01T22",
            dt.datetime(2020, 1, 2, 0, 30),
            3,
            ("2020-01-01T22", "2020-01-01T23", "2020-01-02T00"),
        ),
        ("year", "1960", "1961", 2, ("1960", "1961")),  # before the computers' zero
        ("week", "1969-12-29", "1970-01-05", 2, ("1970-W01", "1970-W02")),
    ],
)
def test_periods_are_labelled_and_read_back(by: str, first: object, last: object, size: int, labels: tuple) -> None:
    domain = sf.Date(first, last, by=by)
    assert (domain.size, domain.labels) == (size, labels)
    assert domain.ordered
    assert domain.encode(labels).tolist() == list(range(size))
    assert domain.decode(range(size)).to_pylist() == list(labels)
    assert sf.Schema.from_json(sf.Schema({"x": domain}).to_json())["x"] == domain


def test_weekdays_and_hours_go_round() -> None:
    weekday, hour = sf.Date(by="weekday"), sf.Date(by="hour of day")
    assert not weekday.ordered
    assert weekday.decode(weekday.encode(["2026-11-15", "1969-12-31"])).to_pylist() == ["Sunday", "Wednesday"]
    assert hour.encode(["2020-01-01 14:35:10", "09:05", "23:59:59"]).tolist() == [14, 9, 23]
    assert hour.encode(pa.array([dt.time(7, 30)])).tolist() == [7]
    for domain in (weekday, hour):
        assert sf.Schema.from_json(sf.Schema({"x": domain}).to_json())["x"] == domain


def test_dates_are_read_in_the_formats_that_are_named() -> None:
    domain = sf.Date(
        "2020-01-01", "2020-12-31", by="day", formats=("%d.%m.%Y", "%d.%m.%y"), nullable=True, missing=("unknown",)
    )
    codes = domain.encode(["31.12.2020", "1.2.2020", "05.06.20", "unknown", "", "2020-01-01"])
    assert codes.tolist() == [365, 31, 156, 366, 366, 0]
    assert sf.Date("2020", "2020", by="year").encode(pa.array([2020])).tolist() == [0]
    with pytest.raises(SchemaError, match=r"1 row holds something that is no date"):
        sf.Date("2020-01-01", "2020-12-31", by="day").encode(["2020-02-30", "2020-02-28"])  # February has no 30th
    with pytest.raises(SchemaError, match=r"2 rows hold something that is no date"):
        sf.Date("2020-01-01", "2020-12-31", by="day").encode(["yesterday", "12/31/2020"])


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda: sf.Date("2020", "2021", by="decade"), "by must be one of hour, day"),
        (lambda: sf.Date("soon", "2021"), "first must be a date such as 2023-01-31, got 'soon'"),
        (lambda: sf.Date("2021", "2020"), "first must not be later than last"),
        (lambda: sf.Date("1900", "2020", by="hour"), "choose a longer period"),
        (lambda: sf.Date("2020", "2021", by="weekday"), "goes round: leave first and last out"),
        (lambda: sf.Date("2020", "2021", formats=("ddmm",)), "written as for strptime"),
        (lambda: sf.Numeric(0, 1, missing=("?",)), "declare nullable=True too"),
        (lambda: sf.Numeric(0, 1, unit=" "), "unit must be the text beside the numbers"),
        (lambda: sf.Ordinal(("a", "b"), clip=True), "the values must be numbers in increasing order"),
        (lambda: sf.Categorical((1, 2), other="other"), "values must all be text, all numbers"),
        (lambda: sf.Categorical(("a",), spellings={"A": "b"}), "spellings must lead from what the data write"),
        (lambda: sf.Categorical(("a",), spellings={"A": ["a"]}), "spellings must lead from what the data write"),
        (lambda: sf.Categorical(5), "values must be a list"),
        (lambda: sf.Categorical("FM"), "values must be a list"),
        (lambda: sf.Numeric(0, 1, bins=float("inf")), "bins must be a whole number of at least 1"),
        (lambda: sf.Numeric(0, 1, bins="3"), "bins must be a whole number of at least 1"),
        (lambda: sf.Numeric(edges=("a", "b")), "edges must be a list of numbers"),
        (lambda: sf.Numeric(edges=5), "edges must be a list of numbers"),
        (lambda: sf.Date("２０２３", "2024", by="year"), "first must be a date such as"),
        (lambda: sf.CsvFile("x.csv", encoding=5), "encoding must be text"),
        (lambda: sf.CsvFile("x.csv", delimiter=5), "delimiter must be text"),
        (lambda: sf.Schema([1]), "a schema is given as"),
        (lambda: sf.Schema("abc"), "a schema is given as"),
    ],
)
def test_bad_definitions_get_one_line(make: object, line: str) -> None:
    with pytest.raises(SchemaError, match=line):
        make()


def test_values_outside_are_moved_and_counted_but_never_quoted() -> None:
    schema = sf.Schema(
        {
            "city": sf.Categorical(("Bonn", "Ulm"), other="other"),
            "age": sf.Numeric(0, 100, bins=10, clip=True),
            "rooms": sf.Ordinal((1, 2, 5), clip=True),
            "day": sf.Date("2020-01-01", "2020-01-31", by="day", clip=True),
        }
    )
    table = {
        "city": ["Ulm", "Atlantis", "Eldorado"],
        "age": [-5, 50, 10_007],
        "rooms": [3, 9, -1],
        "day": ["1900-01-01", "2020-01-02", "2999-01-01"],
    }
    with pytest.warns(OutsideDomainWarning) as caught:
        codes = schema.encode(table)
    assert {name: column.tolist() for name, column in codes.items()} == {
        "city": [1, 2, 2],
        "age": [0, 5, 9],
        "rooms": [1, 2, 0],
        "day": [0, 1, 30],
    }
    said = [str(warning.message) for warning in caught]
    assert said == [
        "column 'city': 2 values that are not listed became 'other'",
        "column 'age': 2 values outside [0, 100] went to the nearest end",
        "column 'rooms': 3 values that are not listed went to the nearest",
        "column 'day': 2 values outside 2020-01-01 to 2020-01-31 went to the nearest end",
    ]
    scheme = sf.Scheme(schema, {name: c.identity(domain.size) for name, domain in schema.items()})
    with pytest.warns(OutsideDomainWarning) as caught:
        sf.randomize(table, scheme)
    assert [str(warning.message) for warning in caught if issubclass(warning.category, OutsideDomainWarning)] == said


def test_what_files_write_is_not_part_of_the_meaning() -> None:
    plain = sf.Schema({"dose": sf.Numeric(0, 10, bins=5, nullable=True), "drug": sf.Categorical(("no", "yes"), True)})
    written = sf.Schema(
        {
            "dose": sf.Numeric(0, 10, bins=5, nullable=True, unit="mg", missing=("-", "unknown"), clip=True),
            "drug": sf.Categorical(("no", "yes"), True, missing=("9",), spellings={"Y": "yes", "N": "no"}),
        }
    )
    assert plain == written
    assert hash(plain) == hash(written)
    schemes = [sf.Scheme.for_gamma(schema, 3) for schema in (plain, written)]
    assert schemes[0].fingerprint == schemes[1].fingerprint
    again = sf.Scheme.from_json(schemes[1].to_json()).schema
    codes = again.encode({"dose": ["3 mg", "-", "unknown", "9.5mg", ""], "drug": ["Y", "9", "no", "N", None]})
    assert codes["dose"].tolist() == [1, 5, 5, 4, 5]
    assert codes["drug"].tolist() == [1, 2, 0, 0, 2]
    assert sf.Ordinal((1, 2), True, missing=("9",)).encode(pa.array([1.0, 9.0, 2.0])).tolist() == [0, 2, 1]
    assert sf.Ordinal((1, 2), True, missing=("9",)).encode(["1.0", "9.0", "2", "9"]).tolist() == [0, 2, 1, 2]
    assert sf.Categorical(("1", "2")).encode(pa.array([1.0, 2.0])).tolist() == [0, 1]


def test_other_is_one_more_value_of_the_release() -> None:
    city = sf.Categorical(("Bonn", "Ulm"), nullable=True, other="other")
    assert city.labels == ("Bonn", "Ulm", "other", None)
    assert sf.Categorical(("Bonn", "rest"), other="rest").values == ("Bonn", "rest")
    tally: Counter[str] = Counter()
    assert city.encode(["x", None, "Ulm"], "city", tally).tolist() == [2, 3, 1]
    assert tally == {"city": 1}
    assert sf.Categorical(("Bonn", "Ulm")) != sf.Categorical(("Bonn", "Ulm"), other="other")


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        ("F, M", "its description must be an object"),
        ({"kind": "colour"}, "kind must be one of categorical, ordinal, numeric, date, hierarchy, text, got 'colour'"),
        ({"kind": "numeric", "low": 0, "high": 5, "colour": 1}, "numeric has no key 'colour'; it takes bins"),
        ({"kind": "categorical", "values": "FM"}, "values must be a list, got str"),
        ({"kind": "categorical", "values": ["F"], "nullable": "no"}, "nullable must be true or false"),
        ({"kind": "numeric", "low": 5, "high": 1}, "attribute 'x': low must be less than high"),
        ({"kind": "date", "first": "2020"}, "attribute 'x': last must be a date"),
        ({"kind": "categorical"}, "the description of attribute 'x' is damaged"),
    ],
)
def test_errors_in_a_document_name_the_attribute(entry: object, line: str) -> None:
    with pytest.raises(SchemaError, match=line):
        sf.Schema.from_dict({"x": entry})


def test_hand_written_documents_may_be_short() -> None:
    text = '{"age": {"kind": "numeric", "low": 0, "high": 100, "bins": 10, "why": "as everybody knows"}}'
    assert sf.Schema.from_json(text)["age"] == sf.Numeric(0, 100, bins=10)
    for wrong in (
        "[]",
        "{",
        '{"format": "sfumato schema", "version": 7}',
        '{"format": "sfumato schema", "version": 1}',
    ):
        with pytest.raises(SchemaError):
            sf.Schema.from_json(wrong)


def test_dates_can_be_released_and_estimated() -> None:
    rng = np.random.default_rng(0)
    days = np.datetime64("2023-01-01") + rng.integers(0, 365, 4000)
    schema = sf.Schema({"day": sf.Date("2023-01", "2023-12", by="month")})
    release = sf.randomize({"day": days}, sf.Scheme.for_gamma(schema, 9))
    found = sf.evidence(release).counts(["day"])
    truth = sf.evidence({"day": days}, schema).counts(["day"]).value
    assert (abs(found.value - truth) < 6 * found.sd).all()
    assert found.frame().column("day").to_pylist()[0] == "2023-01"


@pytest.mark.parametrize(
    ("domain", "labels"),
    [
        (sf.Numeric(0, 1_200_000, bins=2), ("[0, 600000)", "[600000, 1200000]")),
        (sf.Numeric(1_000_001, 1_000_003, bins=2), ("[1000001, 1000002)", "[1000002, 1000003]")),
        (sf.Numeric(edges=(1e9, 1e9 + 0.25, 2e9)), ("[1000000000, 1000000000.25)", "[1000000000.25, 2000000000]")),
        (sf.Numeric(-1, 1, bins=3), ("[-1, -0.333333)", "[-0.333333, 0.333333)", "[0.333333, 1]")),
        (sf.Numeric(0, 1e-6, bins=1), ("[0, 1e-06]",)),
    ],
)
def test_bins_have_names_that_tell_them_apart(domain: sf.Numeric, labels: tuple[str, ...]) -> None:
    assert domain.labels == labels


@pytest.mark.parametrize("text", ["1_0", "１２", "nan"])
def test_what_only_looks_like_a_number_is_counted_as_outside(text: str) -> None:
    with pytest.raises(SchemaError, match="1 row holds a value that is not in its domain"):
        sf.Ordinal((1, 2, 5), clip=True).encode([text, "2"])


def test_numbers_of_other_programs_are_counted_as_text() -> None:
    with pytest.raises(SchemaError, match="2 rows hold text where a number is expected"):
        sf.Numeric(0, 100, bins=4).encode(["1_0", "3", "１２"])


def test_blanks_around_a_number_do_not_keep_it_from_the_nearest_one() -> None:
    assert sf.Ordinal((1, 2, 5), clip=True).encode([" 7", "2 "]).tolist() == [2, 1]


def test_moments_are_found_among_words_that_list_them() -> None:
    when = pa.array([dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2)])
    assert sf.Categorical(("2020-01-02 00:00:00", "2020-01-01 00:00:00")).encode(when).tolist() == [1, 0]


def test_whole_numbers_beyond_a_double_fall_into_their_bins() -> None:
    """They were called text, in 0 rows."""
    domain = sf.Numeric(0, 2e19, bins=4)
    assert domain.encode(pa.array([2**63 + 5, 3], type=pa.uint64())).tolist() == [1, 0]
    assert domain.encode(pa.array([2**53 + 1, 3])).tolist() == [0, 0]
    with pytest.raises(sf.SfumatoError, match="column 'x' holds whole numbers beyond 64 bits"):
        sf.Schema({"x": domain}).encode({"x": [2**63 + 5, 3]})
