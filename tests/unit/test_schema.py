"""Domains and schemas: what goes in comes out, and what does not fit is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import DisclosureWarning, OutsideDomainWarning, SchemaError

SCHEMA = sf.Schema(
    {
        "sex": sf.Categorical(("F", "M")),
        "age": sf.Numeric(0, 100, bins=20),
        "grade": sf.Ordinal(("a", "b", "c"), nullable=True),
        "rooms": sf.Categorical((1, 2, 3)),
        "member": sf.Categorical((False, True)),
    }
)
ROWS = {
    "sex": ["M", "F", "F"],
    "age": [0.0, 100.0, 37.5],
    "grade": ["c", None, "a"],
    "rooms": [3, 1, 2],
    "member": [True, False, True],
    "note": ["x", "y", "z"],
}
CODES = {"sex": [1, 0, 0], "age": [0, 19, 7], "grade": [2, 3, 0], "rooms": [2, 0, 1], "member": [1, 0, 1]}


def tables_of(tmp_path: Path) -> dict[str, object]:
    arrow = pa.table(ROWS)
    frame = pd.DataFrame(ROWS)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.to_csv(tmp_path / "rows.tsv", index=False, sep="\t")
    pq.write_table(arrow, tmp_path / "rows.parquet")
    return {
        "mapping": ROWS,
        "arrow": arrow,
        "batch": arrow.to_batches()[0],
        "dictionary": arrow.set_column(0, "sex", arrow.column("sex").dictionary_encode()),
        "reader": pa.RecordBatchReader.from_batches(arrow.schema, arrow.to_batches()),
        "pandas": frame,
        "pandas-category": frame.astype({"sex": "category"}),
        "polars": pl.DataFrame(ROWS),
        "polars-lazy": pl.LazyFrame(ROWS),
        "duckdb": duckdb.connect().from_arrow(arrow),
        "parquet": tmp_path / "rows.parquet",
        "csv": str(tmp_path / "rows.csv"),
        "tsv": tmp_path / "rows.tsv",
    }


@pytest.mark.parametrize(
    "kind",
    [
        "mapping",
        "arrow",
        "batch",
        "dictionary",
        "reader",
        "pandas",
        "pandas-category",
        "polars",
        "polars-lazy",
        "duckdb",
    ]
    + ["parquet", "csv", "tsv"],
)
def test_any_table_becomes_the_same_codes(kind: str, tmp_path: Path) -> None:
    codes = SCHEMA.encode(tables_of(tmp_path)[kind])
    assert {name: column.tolist() for name, column in codes.items()} == CODES
    assert all(column.dtype == np.uint8 for column in codes.values())


def test_dask_frames_are_read_partition_by_partition() -> None:
    import dask.dataframe as dd

    codes = SCHEMA.encode(dd.from_pandas(pd.DataFrame(ROWS), npartitions=2))
    assert {name: column.tolist() for name, column in codes.items()} == CODES


def test_decoding_undoes_encoding() -> None:
    decoded = SCHEMA.decode(SCHEMA.encode(ROWS)).to_pydict()
    assert {name: decoded[name] for name in ("sex", "grade", "rooms", "member")} == {
        name: ROWS[name] for name in ("sex", "grade", "rooms", "member")
    }
    assert decoded["age"] == [2.5, 97.5, 37.5]


def test_json_round_trip() -> None:
    assert sf.Schema.from_dict(SCHEMA.to_dict()) == SCHEMA
    assert sf.Schema.from_dict(SCHEMA.to_dict()).names == SCHEMA.names


def test_numeric_edges() -> None:
    domain = sf.Numeric(edges=(0, 1, 10, 100))
    assert domain.encode([0, 0.99, 1, 99, 100]).tolist() == [0, 0, 1, 2, 2]
    assert domain.labels == ("[0, 1)", "[1, 10)", "[10, 100]")
    nullable = sf.Numeric(0, 1, bins=2, nullable=True)
    assert nullable.encode([0.1, None, float("nan"), 0.9]).tolist() == [0, 2, 2, 1]
    assert nullable.decode([0, 2]).to_pylist() == [0.25, None]


@pytest.mark.parametrize(
    ("table", "line"),
    [
        ({"sex": ["F", "X", "X"]}, r"column 'sex': 2 rows hold a value that is not in its domain \(F, M\); mend"),
        ({"sex": ["F", None]}, r"column 'sex': 1 row is null; declare the attribute nullable=True or fill them"),
        (
            {"age": [5, 120.5]},
            r"column 'age': 1 row holds a number above the range \(\[0, 100\]\); mend",
        ),
        ({"age": [5, float("nan")]}, "column 'age': 1 row is null"),
        ({"age": [5, float("inf")]}, r"column 'age': 1 row holds a number above the range"),
        (
            {"age": ["old", "7", "very"]},
            r"column 'age': 2 rows hold text where a number is expected \(numbers in \[0, 100\]\)",
        ),
        ({"rooms": [1, 7]}, r"column 'rooms': 1 row holds a value that is not in its domain \(1, 2, 3\)"),
        ({"rooms": ["1", "?", "?"]}, r"column 'rooms': 2 rows hold a value that is not in its domain \(1, 2, 3\)"),
        ({"rooms": [True, False]}, r"column 'rooms': 1 row holds a value that is not in its domain"),
        ({"other": [1]}, "the table has no column"),
    ],
)
def test_what_does_not_fit_is_named(table: dict[str, list], line: str) -> None:
    schema = SCHEMA.select([name for name in table if name in SCHEMA] or ["sex"])
    with pytest.raises(SchemaError, match=line):
        schema.encode(table)


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda: sf.Categorical(()), "at least one value"),
        (lambda: sf.Categorical(("a", "a")), "must be distinct, got 'a' twice"),
        (lambda: sf.Categorical(("a", None)), "declare nullable=True instead"),
        (lambda: sf.Categorical(("a", 1)), "all be text, all numbers or all booleans"),
        (lambda: sf.Numeric(5, 5), "low must be less than high, got 5 and 5"),
        (lambda: sf.Numeric(0, 1, bins=0), "bins must be a whole number of at least 1, got 0"),
        (lambda: sf.Numeric(edges=(0, 2, 1)), "edges must increase"),
        (lambda: sf.Numeric(0, float("inf")), "must be finite"),
        (lambda: sf.Schema({}), "at least one attribute"),
        (lambda: sf.Schema({"a": "F"}), "must be Categorical, Ordinal, Hierarchy, Numeric, Date or Text, got str"),
        (lambda: SCHEMA["nope"], "there is no attribute 'nope'; the schema has sex"),
        (lambda: SCHEMA.encode(42), "a table must be a path, or a pandas, polars"),
        (lambda: SCHEMA.encode("nowhere.csv"), "nowhere.csv: there is no such file"),
        (lambda: SCHEMA.encode("table.xlsx"), "the name must end in one of .parquet"),
    ],
)
def test_bad_definitions_get_one_line(make: object, line: str) -> None:
    with pytest.raises(SchemaError, match=line) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_infer_warns_and_fits() -> None:
    rng = np.random.default_rng(0)
    table = {
        "sex": ["F", "M"] * 50,
        "income": rng.normal(40_000, 9_000, 100),
        "rooms": rng.integers(1, 5, 100),
        "maybe": [None, "x"] * 50,
        "year": rng.integers(1900, 2020, 100),
    }
    with pytest.warns(DisclosureWarning, match="looking|looks at the data"):
        schema = sf.Schema.infer(table)
    assert schema["sex"] == sf.Categorical(("F", "M"))
    assert isinstance(schema["rooms"], sf.Ordinal)
    assert schema["maybe"].nullable
    assert isinstance(schema["year"], sf.Numeric)
    assert schema["income"].low <= min(table["income"])
    assert schema["income"].high >= max(table["income"])
    schema.encode(table)


@pytest.mark.filterwarnings("ignore::sfumato.errors.DisclosureWarning")
def test_infer_refuses_names_and_nothing() -> None:
    with pytest.raises(SchemaError, match=r"column 'name' \(identifier\) 200 different texts"):
        sf.Schema.infer({"name": [f"person {i}" for i in range(200)]})
    with pytest.raises(SchemaError, match="empty table"):
        sf.Schema.infer(pa.table({"a": pa.array([], pa.string())}))


def test_rows_outside_the_domain_are_counted_in_the_whole_table(tmp_path: Path) -> None:
    pieces = pa.concat_tables([pa.table({"sex": ["F", "X"]}), pa.table({"sex": ["X", "Y", "M"]})])
    (tmp_path / "raw.csv").write_text("sex\nF\nX\nX\nY\n")
    for table in (pieces, tmp_path / "raw.csv"):
        with pytest.raises(SchemaError, match=r"3 rows hold a value that is not in its domain \(F, M\); mend"):
            SCHEMA.select(["sex"]).encode(table)


def test_text_files_say_no_answer_in_many_ways(tmp_path: Path) -> None:
    (tmp_path / "raw.csv").write_text('rooms,answer,age\n1.0,NA,\n2,null,5\n,yes,NA\n"3","no, never",7.5\n')
    schema = sf.Schema(
        {
            "rooms": sf.Ordinal((1, 2, 3), nullable=True),
            "answer": sf.Categorical(("NA", "yes", "no, never"), nullable=True),
            "age": sf.Numeric(0, 10, bins=2, nullable=True),
        }
    )
    codes = schema.encode(tmp_path / "raw.csv")
    assert codes["rooms"].tolist() == [0, 1, 3, 2]
    assert codes["answer"].tolist() == [0, 3, 1, 2]  # NA is a value here, null is not
    assert codes["age"].tolist() == [2, 1, 2, 1]


def test_awkward_columns_are_read() -> None:
    rooms = sf.Ordinal((1, 2, 3), nullable=True)
    assert rooms.encode(pa.nulls(2)).tolist() == [3, 3]
    assert rooms.encode(pa.array([1.0, float("nan")])).tolist() == [0, 3]
    assert rooms.encode(pl.Series(["1", None]).to_arrow()).tolist() == [0, 3]
    assert sf.Categorical((2**60, 2**60 + 1)).encode([2**60 + 1]).tolist() == [1]
    assert sf.Categorical((False, True)).encode(["True", "false"]).tolist() == [1, 0]


def test_blanks_around_spellings_and_no_answer_are_ignored() -> None:
    grade = sf.Ordinal(("lo", "hi"), spellings={"low": "lo", "HIGH ": "hi"}, nullable=True)
    written = ["low  ", " lo", "HIGH", "HIGH ", " NA ", "  ", "hi"]
    for column in (pd.Series(written), pl.Series(written), pa.array(written)):
        assert grade.encode(column, "x").tolist() == [0, 0, 1, 1, 2, 2, 1]
    assert sf.Categorical(("a", "a ")).encode(["a ", "a", " a"]).tolist() == [1, 0, 0]


def test_numbers_between_two_steps_are_refused() -> None:
    age = sf.Numeric(0, 90, bins=18, step=1, nullable=True)
    assert age.encode([27.0, 89, None], "age").tolist() == [5, 17, 18]
    assert sf.Numeric(0, 1, bins=2, step=0.1).encode(np.arange(0, 1, 0.1, np.float32)).tolist() == [0] * 5 + [1] * 5
    with pytest.raises(SchemaError, match=r"'age': 2 rows hold a number between two steps \(multiples of the step 1\)"):
        age.encode([27.5, 3, 4.4, None], "age")


def test_the_last_bin_of_numbers_in_steps_ends_below_its_edge_as_all_do() -> None:
    """Of bins for 0 to 10, from 0 to 11, rows with 11 counted as 10, and were not said to be moved."""
    held = sf.Numeric(0, 11, bins=11, step=1)
    assert held.labels[-1] == "[10, 11)" and held.limits_text() == "[0, 10]" and held.greatest == 10
    assert held.encode([0, 10]).tolist() == [0, 10]
    with pytest.raises(SchemaError, match=r"1 row holds a number above the range \(\[0, 10\]\)"):
        held.encode([3, 12], "x")
    with pytest.warns(OutsideDomainWarning, match=r"1 value outside \[0, 10\] went"):  # published bins held their edge
        assert sf.Schema({"x": held}).encode({"x": [3, 11]})["x"].tolist() == [3, 10]
    with pytest.raises(SchemaError):
        held.codes_of([11])
    with pytest.warns(OutsideDomainWarning, match=r"2 values outside \[0, 10\] went"):
        assert sf.Schema({"x": replace(held, clip=True)}).encode({"x": [11, 12, 10]})["x"].tolist() == [10] * 3
    tenths = sf.Numeric(edges=(0, 0.2, 0.3), step=0.1)
    assert tenths.encode(np.array([0.2, 0.1], np.float32)).tolist() == [1, 0] and tenths.greatest == 0.2
    with pytest.warns(OutsideDomainWarning):
        sf.Schema({"x": tenths}).encode({"x": np.array([0.3], np.float32)})
    assert sf.Numeric(0, 11, bins=11).encode([11]).tolist() == [10]  # of any numbers the last bin is closed
    assert sf.Numeric(edges=(0, 1), step=1).limits_text() == "[0, 0]"


def test_what_codes_decode_to_is_taken_again() -> None:
    """An audit draws its records by their codes; of ages in bins from 20 to 22 it refused the 20.5 that it made."""
    for domain in (sf.Numeric(0, 90, bins=45, step=1, nullable=True), sf.Numeric(edges=(0, 0.3, 1), step=0.1)):
        codes = np.arange(domain.size)
        assert domain.encode(domain.decode(codes)).tolist() == codes.tolist()


@pytest.mark.parametrize(
    "words", [("False", "True"), ("FALSE", "TRUE"), ("false", "true"), ("No", "Yes"), ("n", "y"), ("F", "T")]
)
def test_words_of_a_csv_that_most_readers_take_for_booleans(words: tuple[str, str]) -> None:
    answer = sf.Categorical(words, nullable=True)
    for column in (pl.Series([True, False, None]), pd.Series([True, False, None], dtype=object)):
        assert answer.encode(column, "x").tolist() == [1, 0, 2]
    with pytest.raises(SchemaError, match="not in its domain"):
        sf.Categorical(("absent", "present")).encode([True, False], "x")
    with pytest.raises(SchemaError, match="not in its domain"):
        sf.Categorical(("no", "y", "yes")).encode([True, False], "x")


def test_yes_and_no_of_a_csv_that_duckdb_takes_for_booleans(tmp_path: Path) -> None:
    """All rows were refused as outside "(No, Yes)", the schema of the same file."""
    duckdb = pytest.importorskip("duckdb")
    file = tmp_path / "calls.csv"
    file.write_text("emergency,hurt\nYes,no\nNo,\nYes,yes\n")
    schema = sf.Schema(
        {"emergency": sf.Categorical(("No", "Yes")), "hurt": sf.Categorical(("no", "yes"), nullable=True)}
    )
    from_file, from_duckdb = schema.encode(str(file)), schema.encode(duckdb.read_csv(str(file)))
    for name, codes in (("emergency", [1, 0, 1]), ("hurt", [0, 2, 1])):
        assert from_file[name].tolist() == from_duckdb[name].tolist() == codes


@pytest.mark.filterwarnings("ignore::sfumato.errors.DisclosureWarning")
def test_infer_always_fits_its_own_table() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        scale, shift = 10.0 ** rng.integers(-6, 13, 2)
        table = {"x": shift + scale * rng.random(30)}
        sf.Schema.infer(table).encode(table)
    stamps = {"x": [1700000000127 + 31 * i * i for i in range(40)] * 2}
    sf.Schema.infer(stamps).encode(stamps)
    gaps = pl.DataFrame({"x": [1.0, float("nan"), 3.5]})
    sf.Schema.infer(gaps).encode(gaps)
    with pytest.raises(SchemaError, match="holds infinite values"):
        sf.Schema.infer({"x": [1.0, float("inf")]})
    with pytest.raises(SchemaError, match=r"column 'x' \(unreadable\) of type list"):
        sf.Schema.infer({"x": [[1], [2]]})


def test_a_column_twice_is_said(tmp_path: Path) -> None:
    (tmp_path / "raw.csv").write_text("sex,sex\nF,M\n")
    with pytest.raises(SchemaError, match="two columns called 'sex'"):
        SCHEMA.select(["sex"]).encode(tmp_path / "raw.csv")


@pytest.mark.parametrize("clip", [False, True])
def test_listed_fractions_written_otherwise_are_not_called_moved(tmp_path: Path, clip: bool) -> None:
    """2.0 in a file is the listed 2.0: "2 values that are not listed became None" was said of a third of a column."""
    (tmp_path / "t.csv").write_text("x\n1.5\n2.0\n2.50\n2.0\n")
    schema = sf.Schema({"x": sf.Ordinal((1.5, 2.0, 2.5), clip=clip)})
    assert schema.encode(tmp_path / "t.csv")["x"].tolist() == [0, 1, 2, 1]
    (tmp_path / "u.csv").write_text("x\n1.5\n9.0\n")
    if not clip:
        with pytest.raises(sf.errors.OutsideDomainError, match="1 row"):
            schema.encode(tmp_path / "u.csv")
        return
    with pytest.warns(sf.errors.OutsideDomainWarning, match="1 value that is not listed went to the nearest"):
        assert schema.encode(tmp_path / "u.csv")["x"].tolist() == [0, 2]
