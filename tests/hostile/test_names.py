"""Names that engines and shells read as something else: every engine, file and command takes them."""

from __future__ import annotations

import csv
import shlex
from pathlib import Path

import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.command_line import run

import sfumato as sf
from sfumato import channels as c
from sfumato.reading import tables
from sfumato.reading.name_lists import listed

NAMES = [
    "Sepal.Length", "a", "A", "*", "^a.*$", 'qu"ote', "it's", "back`tick", "two words", " edge ", "__index__", "ünï", "x" * 300,
    "p+q", "c,d", "new\nline", "rows", "c0", "select", "$x", "[b]", "index", "%s", "{}", "#1", "\\n", ";--",
]  # fmt: skip
ROWS = 60
VALUES = np.array(["u", "v"])[np.random.default_rng(1).integers(0, 2, (len(NAMES), ROWS))]
TABLE = pa.table(dict(zip(NAMES, VALUES, strict=True)))
SCHEMA = sf.Schema({name: sf.Categorical(("u", "v")) for name in NAMES})
SCHEME = sf.Scheme(SCHEMA, {name: c.symmetric(2, gamma=99) for name in NAMES})
SOME = ["a", "A", "*"]


def files(folder: Path) -> tuple[Path, Path]:
    pq.write_table(TABLE, folder / "raw.parquet")
    TABLE.to_pandas().to_csv(folder / "raw.csv", index=False, quoting=csv.QUOTE_ALL)  # unquoted, " edge " is edge
    return folder / "raw.parquet", folder / "raw.csv"


ENGINES = {
    "arrow": lambda t: t,
    "pandas": lambda t: t.to_pandas(),
    "polars": pl.from_arrow,
    "polars lazy": lambda t: pl.from_arrow(t).lazy(),
    "dask": lambda t: dd.from_pandas(t.to_pandas(), npartitions=2),
}


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_takes_them(engine) -> None:
    table = ENGINES[engine](TABLE)
    assert sf.evidence(table, SCHEMA).counts(SOME).value == pytest.approx(sf.evidence(TABLE, SCHEMA).counts(SOME).value)
    assert len(sf.randomize(table, SCHEME)) == ROWS
    rows = sf.randomize(TABLE, SCHEME).arrow()
    held, ours = sf.Release(ENGINES[engine](rows), SCHEME), sf.Release(rows, SCHEME)
    for names in (SOME, *([name] for name in NAMES)):
        there, here = (sf.evidence(release, method="mle").counts(names).value for release in (held, ours))
        assert there == pytest.approx(here)


def test_duckdb_takes_them() -> None:
    few = [name for name in NAMES if name != "A"]  # a relation itself cannot hold both
    scheme = SCHEME.select(few)
    raw = duckdb.connect().from_arrow(TABLE.select(few))
    assert len(sf.randomize(raw, scheme)) == ROWS
    rows = sf.randomize(TABLE, scheme).arrow()
    held = sf.Release(duckdb.connect().from_arrow(rows), scheme)
    for name in few:
        ours = sf.evidence(sf.Release(rows, scheme), method="mle").counts([name, "a"] if name != "a" else ["a"]).value
        there = sf.evidence(held, method="mle").counts([name, "a"] if name != "a" else ["a"]).value
        assert there == pytest.approx(ours)


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_spark_takes_them(spark_session) -> None:
    rows = [tuple(map(str, row)) for row in VALUES.T]
    frame = spark_session.createDataFrame(rows, [f"k{i}" for i in range(len(NAMES))]).toDF(*NAMES)
    release = sf.randomize(frame, SCHEME)
    assert len(release) == ROWS
    assert list(release.arrow().column_names) == NAMES
    assert sf.evidence(release, method="mle").counts(SOME).value.sum() == pytest.approx(ROWS)


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_files_and_commands_take_them(tmp_path, ending) -> None:
    raw = files(tmp_path)[ending == "csv"]
    (tmp_path / "s.json").write_text(SCHEME.to_json())
    target = tmp_path / f"r.{ending}"
    done = run(f"randomize {raw} {target} --scheme {tmp_path}/s.json")
    assert done.code == 0, done.error
    release = sf.Release.load(target)
    assert tuple(release.scheme.columns) == tuple(NAMES)
    for names in (SOME, ["c,d", "new\nline"], [" edge ", 'qu"ote'], ["Sepal.Length", "back`tick"]):
        asked = ",".join('"' + name.replace('"', '""') + '"' for name in names)
        assert listed(asked) == names
        done = run(f"estimate {target} --columns {shlex.quote(asked)} --json")
        assert done.code == 0, done.error
    assert run(f"inspect {target} --rows 2").code == 0
    assert run(f"estimate {target} --columns Sepal.Length,two\\ words").code == 0
    done = run(f"learn bayesnet {target} --order {shlex.quote('Sepal.Length,a')}")
    assert done.code == 0, done.error


def test_ids_take_them(tmp_path) -> None:
    frame = pd.DataFrame({"my, id": [f"n{i}" for i in range(ROWS)], "*": VALUES[0]})
    frame.to_csv(tmp_path / "raw.csv", index=False)
    (tmp_path / "s.json").write_text(SCHEME.select(["*"]).to_json())
    done = run(f"randomize {tmp_path}/raw.csv {tmp_path}/r.csv --scheme {tmp_path}/s.json --id 'my, id'")
    assert done.code == 0, done.error
    assert sf.Release.load(tmp_path / "r.csv").id == "my, id"


@pytest.mark.parametrize(
    "text, names",
    [
        ("a,b", ["a", "b"]),
        (" a , b ,", ["a", "b"]),
        ('"a,b",c', ["a,b", "c"]),
        ('" a ","say ""x"""', [" a ", 'say "x"']),
        ('a "b" c', ['a "b" c']),
        ('"a', ['"a']),
        ("", []),
    ],
)
def test_lists_of_names(text, names) -> None:
    assert listed(text) == names


def test_a_frame_with_an_index_of_its_own_is_read() -> None:
    frame = pd.DataFrame({"a": [0, 1, 1], "b": ["x", "y", "z"]}, index=[7, 3, 5])
    assert tables.column_names(frame) == ["a", "b"]
    (batch,) = tables.batches(frame, ["b"])
    assert batch.to_pydict() == {"b": ["x", "y", "z"]}


def test_options_of_name_and_value_take_them(tmp_path) -> None:
    frame = pd.DataFrame({" edge ": np.arange(50.0), "c,d": np.arange(50.0), "a=b": np.arange(50.0)})
    frame.to_csv(tmp_path / "raw.csv", index=False, quoting=csv.QUOTE_ALL)
    for name in frame:
        asked = shlex.quote(f'"{name}"=0:90')
        done = run(f"schema {tmp_path}/raw.csv --range {asked} --save {tmp_path}/s.json --overwrite")
        assert done.code == 0, done.error
        assert sf.Schema.from_json((tmp_path / "s.json").read_text())[name].high == 91


def test_a_name_with_a_comma_is_told_to_be_quoted(tmp_path: Path) -> None:
    """It was taken for two names, neither of which is known."""
    table = {"a,b": ["x", "y"] * 200, "c": ["x", "x", "y", "y"] * 100}
    schema = sf.Schema({name: sf.Categorical(("x", "y")) for name in table})
    raw, released = tmp_path / "raw.csv", tmp_path / "release.parquet"
    raw.write_text('"a,b",c\n' + "x,x\ny,y\n" * 30)
    sf.randomize(table, sf.Scheme.for_gamma(schema, 9), rng=sf.experiment(1)).save(released)
    for line in (
        f"estimate {released}",
        f"export {released} {tmp_path / 'out.csv'}",
        f"learn tree {released} --target c",
        f"schema {raw}",
        f"randomize {raw} {tmp_path / 'new.parquet'} --gamma 9",
        f"resample {raw}",
    ):
        ran = run(f"{line} --columns a,b")
        assert ran.code == 1 and "a name with a comma stands in double quotes" in ran.error, line
        assert """around them, '"a,b"'""" in ran.error
    assert run(f"""estimate {released} --columns '"a,b"'""").code == 0
    assert listed("a,c", ["a,c", "a", "c"]) == ["a", "c"]
