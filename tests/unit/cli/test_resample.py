"""sfumato resample: one file in, sanitized rows out, one line when something is wrong."""

from __future__ import annotations

import itertools
import json
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner

from sfumato.assess import comparison
from sfumato.cli import forecast, resample_report
from sfumato.cli import resample as command
from sfumato.cli.signals import Stopped
from sfumato.errors import DisclosureWarning, SfumatoError, SfumatoWarning, warn
from sfumato.owner.resample import calibrate, resample_file

app = typer.Typer()
app.command()(command.resample)


@app.command()
def other() -> None:
    """A second command, so that the first keeps its name."""


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["resample", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def file(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 150)
    monkeypatch.setattr(calibrate, "RECORDS", 150)
    monkeypatch.setattr(calibrate, "SHADOWS", 32)
    monkeypatch.setattr(resample_report, "MEASURED", 60)
    monkeypatch.setattr(resample_report, "SHADOWS", 16)
    table = pa.table(
        {"id": np.arange(300), "x": rng.normal(y, 1), "z": rng.normal(0, 1, 300), "y": y, "site": np.arange(300) % 2}
    )
    pq.write_table(table, tmp_path / "raw.parquet")
    return tmp_path / "raw.parquet"


def test_the_bound_is_asked_for_by_default(file, tmp_path):
    told = json.loads(run(file, "--target", "y", "--drop", "id,site", "--json"))
    (risk,) = told["risk"]
    assert risk["asked"] == 0.55 and risk["outliers_asked"] == 0.6 and risk["held"]
    assert risk["measured"] + risk["error"] <= 0.55 and "measured" not in told
    out = pq.read_table(tmp_path / "raw.resampled.parquet")
    assert out.num_rows == 1200 and out.column_names == ["x", "z", "y"]
    said = run(file, "--target", "y", "--drop", "id,site", "--max-risk", ".7", "--overwrite")
    assert "measured against the shadow attack" in said and "0.7" in said


def test_a_proof_needs_declared_ranges(file, tmp_path):
    options = [file, "--target", "y", "--drop", "id,site", "--epsilon", 1]
    said = run(*options, "--ranges", "x=-4:5,z=-4:4")
    assert "no attack on any record has an AUC above 0.588" in said
    out = pq.read_table(tmp_path / "raw.resampled.parquet")
    assert out.num_rows == 1200 and np.asarray(out["x"]).min() >= -4 and np.asarray(out["x"]).max() <= 5
    (tmp_path / "ranges.json").write_text('{"x": [-4, 5], "z": [-4, 4]}')
    told = json.loads(run(*options, "--ranges", tmp_path / "ranges.json", "--overwrite", "--json", "--delta", "1e-5"))
    assert told["proved"]["delta"] == 1e-5 and told["proved"]["auc"] < 0.588 and told["risk"] == []
    for match, ranges in (
        ("epsilon needs ranges", []),
        ("ranges has none for 'z'", ["--ranges", "x=-4:5"]),
        ("must read name=low:high", ["--ranges", "x=-4"]),
        ("must read name=low:high", ["--ranges", "0:1"]),
        ("there is no such file", ["--ranges", tmp_path / "missing.json"]),
    ):
        with pytest.raises(SfumatoError, match=match):
            run(*options, *ranges, "--out", tmp_path / "no.parquet")


def test_the_papers_kernel_and_real_sites(file, tmp_path):
    target = tmp_path / "out.csv"
    said = run(
        file, "--target", "y", "--drop", "id", "--site-column", "site", "--bandwidth", 2, "--shrink", "-o", target
    )
    assert "2 times Scott" in said and "no bound" in said
    said = run(file, "--target", "y", "--drop", "id,site", "--bandwidth", 1)
    assert "measured on releases of half of the records: membership AUC 0." in said
    assert {entry["site"] for entry in json.loads((tmp_path / "out.csv.json").read_text())["proportions"]} == {0, 1}


def test_the_report_is_one_page(file, tmp_path, monkeypatch):
    row = comparison.Row("additive noise", "1.2", 0.6, 0.7, {"kNN": 1.0})

    def compared(*_, **__):
        warn("said before, of all records", SfumatoWarning)
        return [row]

    monkeypatch.setattr(resample_report, "compare", compared)  # each warning is said once: an error here if again
    run(file, "--target", "y", "--drop", "id,site", "--max-risk", ".6", "--html", tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert "Other methods at the same risk" in text and "<script" not in text and 'src="http' not in text


def test_large_files_are_streamed(file, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "LARGE", 100)
    monkeypatch.setattr(resample_report, "compare", lambda *_, **__: [])
    told = json.loads(run(file, "--target", "y", "--site-column", "site", "--bandwidth", 1, "--json"))
    assert sum(entry["rows"] for entry in told["proportions"]) == 300
    run(file, "--target", "y", "--bandwidth", 1, "--drop", "id,site", "--overwrite", "--report", tmp_path / "page.html")
    assert pq.read_schema(tmp_path / "raw.resampled.parquet").names == ["x", "z", "y"]
    assert "300 records of raw.parquet" in (tmp_path / "page.html").read_text()


def test_some_columns_are_taken_and_the_target_and_the_site_beside_them(file, tmp_path):
    run(file, "--target", "y", "--columns", "x", "--bandwidth", 1)
    assert pq.read_table(tmp_path / "raw.resampled.parquet").column_names == ["x", "y"]
    options = [file, "--target", "y", "--columns", "z,x", "--site-column", "site", "--bandwidth", 1, "--overwrite"]
    run(*options)
    assert pq.read_table(tmp_path / "raw.resampled.parquet").column_names == ["z", "x", "y", "site"]
    run(*options, "--drop", "z")
    assert pq.read_table(tmp_path / "raw.resampled.parquet").column_names == ["x", "y", "site"]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (["--target", "nope"], "no column 'nope'"),
        (["--bandwidth", -2], "positive multiple"),
        (["--sites", 2, "--site-column", "site"], "either --sites"),
        (["--shrink"], "go with --bandwidth"),
        (["--bandwidth", 1, "--max-outlier-risk", 0.6], "holds no bound"),
        (["--bandwidth", 1, "--epsilon", 1], "holds no bound"),
        (["--max-risk", 0.6, "--epsilon", 1, "--ranges", "x=0:1"], "give one of them"),
        (["--drop", "what"], "--drop names 'what', which is no column of raw.parquet"),
        (["--columns", "x,what"], "--columns names 'what', which is no column of raw.parquet"),
        (["--columns", " , "], "--columns names no column"),
        (["--max-risk", 0.4], r"must lie in \(0.5, 1\]"),
        (["--report", "/nowhere/page.html"], "does not exist"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(file, options, match):
    with pytest.raises(SfumatoError, match=match) as caught:
        run(file, *options)
    assert "\n" not in str(caught.value)
    assert not file.with_name("raw.resampled.parquet").exists()


def test_a_bound_that_is_not_held_writes_nothing_unless_accepted(tmp_path):
    rng = np.random.default_rng(0)
    small = tmp_path / "small.parquet"
    pq.write_table(pa.table({"x": rng.standard_t(2, 10), "z": rng.standard_t(2, 10)}), small)
    options = [small, "--max-risk", 0.5001, "--max-outlier-risk", 0.5001]
    with pytest.warns(DisclosureWarning), pytest.raises(SfumatoError, match="the bound is not held"):
        run(*options)
    assert not (tmp_path / "small.resampled.parquet").exists()
    with pytest.warns(DisclosureWarning), pytest.raises(SfumatoError, match="the bound is not held"):
        run(*options, "--report", tmp_path / "page.html")  # the page is there all the same, and says why
    assert "The bound is not held" in (tmp_path / "page.html").read_text()
    with pytest.warns(DisclosureWarning):
        run(*options, "--accept-risk")
    assert (tmp_path / "small.resampled.parquet").exists()
    with pytest.raises(SfumatoError, match="already exists"):
        run(*options)


@pytest.mark.filterwarnings("ignore::sfumato.errors.DisclosureWarning")
@pytest.mark.parametrize(("records", "few"), [(40, 5), (12, 6)])
def test_the_report_of_a_small_class_does_not_depend_on_luck(tmp_path, monkeypatch, records, few):
    """A random split of all records may leave one of a class of five, and too few records for any nearest neighbours."""
    X = np.random.default_rng(0).normal(size=(records, 2))
    path = tmp_path / "small.parquet"
    pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1], "y": ["few"] * few + ["many"] * (records - few)}), path)
    compared = []
    monkeypatch.setattr(resample_report, "SHADOWS", 8)
    monkeypatch.setattr(resample_report, "compare", lambda X, y, *rest, **options: compared.append(y) or [])
    for _ in range(6):
        run(path, "--target", "y", "--bandwidth", 1, "--overwrite", "--report", tmp_path / "page.html")
        assert "What does this release disclose" in (tmp_path / "page.html").read_text()
    assert [list(y).count("few") for y in compared] == ([4] * 6 if records == 40 else [])


def test_the_raw_table_is_never_written_over_and_no_record_stands_in_a_message(tmp_path):
    path = tmp_path / "raw.csv"
    text = "a,y\n" + "".join(f"{i},{i % 2}\n" for i in range(40))
    path.write_text(text)
    for options in (["--out", path], ["--report", path], ["--out", tmp_path / "." / "raw.csv"]):
        with pytest.raises(SfumatoError, match="is the raw table itself"):
            run(path, "--target", "y", "--bandwidth", 1, "--overwrite", *options)
    with pytest.raises(SfumatoError, match="is the raw table itself"):
        resample_file(path, path, "y", overwrite=True)
    assert path.read_text() == text
    path.write_text(text + "secret,1,2\n")
    with pytest.raises(SfumatoError, match="line 42 has 3 fields, the header has 2") as caught:
        run(path, "--target", "y", "--bandwidth", 1)
    assert "secret" not in str(caught.value)


def test_the_comparison_can_be_left_out_of_the_report(file, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise AssertionError("nothing is to be compared")

    monkeypatch.setattr(resample_report, "compare", fail)
    page = tmp_path / "page.html"
    run(file, "--target", "y", "--drop", "id,site", "--max-risk", 0.9, "--report", page, "--no-comparison")
    assert "<html" in page.read_text()


def test_rows_and_page_are_there_before_methods_are_compared(file, tmp_path, monkeypatch, capsys):
    """A signal during the comparison leaves both."""
    page, goal = tmp_path / "page.html", tmp_path / "new.parquet"
    options = ("resample", file, "--target", "y", "--drop", "id,site", "--max-risk", 0.9, "--report", page, "-o", goal)

    def stop(*_, **__):
        assert pq.read_table(goal).num_rows == 1200 and "Who was in the table?" in page.read_text()
        raise Stopped(2)

    monkeypatch.setattr(resample_report, "compare", stop)
    with pytest.raises(Stopped):
        typer.main.get_command(app)([str(option) for option in options], standalone_mode=False)
    assert goal.exists() and "Other methods at the same risk" not in page.read_text()
    shown = capsys.readouterr()
    assert "1,200 rows written to" in shown.out
    assert "finished without the comparison of methods: new.parquet and page.html" in shown.err


def test_what_takes_long_is_foretold_once_it_was_timed(monkeypatch, capsys):
    """A clock that runs two seconds at every look."""
    looks, done = itertools.count(), []
    monkeypatch.setattr(forecast, "monotonic", lambda: 2.0 * next(looks))
    step = forecast.foretelling(done.append, 160, "shadow releases")
    for _ in range(3):
        step(1)
    assert capsys.readouterr().err == ""
    step(1)
    assert "one of 160 shadow releases takes 2 s: about 5 minutes more" in " ".join(capsys.readouterr().err.split())
    step(1)
    assert capsys.readouterr().err == "" and sum(done) == 5


def test_columns_keep_the_order_in_which_they_are_named(file, tmp_path, monkeypatch):
    goal = tmp_path / "new.parquet"
    for large in (2_000_000, 10):
        monkeypatch.setattr(command, "LARGE", large)
        run(file, "--target", "y", "--columns", "z,x", "--bandwidth", 1, "--out", goal, "--overwrite")
        assert pq.read_schema(goal).names == ["z", "x", "y"]
        run(file, "--target", "y", "--columns", "y,z,x", "--drop", "x", "--bandwidth", 1, "--out", goal, "--overwrite")
        assert pq.read_schema(goal).names == ["z", "y"]


def test_a_class_too_small_to_compare_methods_is_told_of_the_table(tmp_path, monkeypatch):
    monkeypatch.setattr(calibrate, "SHADOWS", 8)
    monkeypatch.setattr(resample_report, "compare", lambda *_, **__: [])
    for few, said in ((4, True), (5, False)):
        y = np.repeat([0, 1, 2], [60, 60, few])
        pq.write_table(pa.table({"x": np.random.default_rng(0).normal(y, 1), "y": y}), tmp_path / "raw.parquet")
        told: list[str] = []
        monkeypatch.setattr(resample_report.console, "warn", told.append)
        options = ("--target", "y", "--accept-risk", "--overwrite", "--report", tmp_path / "page.html")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run(tmp_path / "raw.parquet", *options)
        assert any("the smallest class has 4 records" in text for text in told) == said
