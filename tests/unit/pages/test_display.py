"""What programmers meet: printed estimates, notebook tables, data frames, missing extras, and types that catch typos."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato import channels as c
from sfumato.cli.console import number
from sfumato.errors import MissingPartError, ReleaseError, SfumatoError
from sfumato.pages.display import shown, told_apart
from sfumato.printable import many, readable_bins

SCHEMA = sf.Schema(
    {"sex": sf.Categorical(("F", "M")), "grade": sf.Ordinal(("<a>", "b", "c")), "y": sf.Categorical((0, 1))}
)
SCHEME = sf.Scheme(SCHEMA, {"sex": c.binary(0.25, 0.25), ("grade", "y"): c.symmetric((3, 2), 0.3)})


@pytest.fixture(scope="module")
def release():
    rng = np.random.default_rng(4)
    table = {
        "sex": rng.choice(["F", "M"], 900),
        "grade": rng.choice(["<a>", "b", "c"], 900),
        "y": rng.integers(0, 2, 900),
    }
    return sf.randomize(table, SCHEME, rng=rng)


def test_evidence_says_what_it_rests_on(release):
    assert repr(sf.evidence(release, method="mle")) == "Evidence(900 records, mle; sex, grade, y)"


class TestEstimate:
    def test_printing_shows_the_numbers_with_their_intervals(self, release):
        found = sf.evidence(release).counts("sex")
        lines = str(found).splitlines()
        assert lines[0] == "Estimate: counts of sex, 900 records, moment, 95 % intervals"
        assert lines[1].split() == ["sex", "estimate", "low", "high"]
        low, high = found.interval()
        assert lines[2].split() == ["F", f"{found.value[0]:.0f}", f"{low[0]:.0f}", f"{high[0]:.0f}"]
        assert len(set(map(len, lines[1:4]))) == 1  # aligned

    def test_many_cells_are_cut_short(self):
        schema = sf.Schema({"n": sf.Categorical(tuple(range(40)))})
        lines = repr(sf.evidence({"n": list(range(40))}, schema).counts("n")).splitlines()
        assert lines[-1] == "... 28 more" and len(lines) == 15

    def test_attributes_called_like_a_column_of_numbers(self):
        schema = sf.Schema({"sd": sf.Categorical(("a", "b")), "estimate": sf.Categorical(("x", "y"))})
        found = sf.evidence({"sd": ["a", "b"], "estimate": ["x", "y"]}, schema).counts(["sd", "estimate"])
        assert str(found).splitlines()[1].split() == ["sd", "estimate", "estimate_", "low", "high"]

    def test_any_kind_of_frame(self, release):
        found = sf.evidence(release).counts(["sex", "y"])
        import pandas
        import polars
        import pyarrow

        assert isinstance(found.frame("pandas"), pandas.DataFrame)
        assert isinstance(found.frame("polars"), polars.DataFrame)
        assert isinstance(found.frame("pyarrow"), pyarrow.Table)
        assert isinstance(found.frame(0.9, "pandas"), pandas.DataFrame)
        assert list(found.frame("pandas")["estimate"]) == pytest.approx(found.value.tolist())
        with pytest.raises(SfumatoError, match="backend must be pyarrow, pandas or polars, got 'excel'"):
            found.frame("excel")


def test_notebooks_show_tables_and_no_value_becomes_markup(release):
    evidence = sf.evidence(release)
    tree = sf.learn.DecisionTree(counts="direct").fit(evidence, target="y")
    net = sf.learn.BayesianNetwork(order=["sex"]).fit(evidence)
    rules = sf.learn.AssociationRules(0.1, 0.3).fit(evidence)
    shown = [
        evidence.counts(["grade", "sex"]), evidence.counts("sex").population(), release, SCHEME, SCHEMA,
        tree, net, rules, sf.report(SCHEME), sf.learn.NaiveBayes(), sf.learn.AssociationRules(),
        evidence, sf.evidence(release.select(["sex", "grade"]), method="model"),
        sf.density(np.linspace(0, 9, 300), sf.channels.gaussian(1.0)), sf.design.design(SCHEMA.select(["sex"]), 900, gamma=3),
    ]  # fmt: skip
    for one in shown:
        html = one._repr_html_()
        assert "<table>" in html and "<a>" not in html, type(one)
    assert "&lt;a&gt;" in shown[0]._repr_html_()
    assert "all answers together" in release._repr_html_()


class TestSelect:
    def test_some_attributes_of_the_same_records(self, release):
        part = release.select(["sex"])
        assert part.schema.names == ("sex",) and len(part) == len(release)
        assert sf.evidence(part).counts("sex").value == pytest.approx(sf.evidence(release).counts("sex").value)

    def test_what_was_randomized_together_stays_together(self, release, tmp_path):
        part = release.select(["y"])
        assert part.schema.names == ("grade", "y")
        loaded = sf.Release.load(part.save(tmp_path / "part.parquet"))
        assert loaded.schema.names == ("grade", "y") and loaded.arrow().num_columns == 2

    def test_parts_under_several_schemes_and_files(self, release, tmp_path):
        other = sf.randomize({"sex": ["F"], "grade": ["b"], "y": [1]}, sf.Scheme.for_gamma(SCHEMA, 3))
        both = sf.Release.concat([sf.Release.load(release.save(tmp_path / "a.parquet")), other])
        assert len(both.select(["sex"])) == 901
        assert sf.evidence(both.select(["sex"])).counts("sex").n == 901

    @pytest.mark.parametrize("names", ["sex", [], ["age"]])
    def test_wrong_names_are_one_line(self, release, names):
        with pytest.raises(ReleaseError, match=r"names must be a list|select takes a list|there is no attribute 'age'"):
            release.select(names)


def test_an_order_may_name_some_attributes(release):
    evidence = sf.evidence(release)
    some = sf.learn.BayesianNetwork(order=["y"]).fit(evidence)
    whole = sf.learn.BayesianNetwork(order=["y", "sex", "grade"]).fit(evidence)
    assert some.parents_ == whole.parents_
    assert some.parents_["y"] == ()
    with pytest.raises(SfumatoError, match="the order names 'z', which is no attribute"):
        sf.learn.BayesianNetwork(order=["z"]).fit(evidence)


@pytest.mark.parametrize(
    ("package", "extra", "work"),
    [
        ("pandas", "pandas", lambda r: sf.evidence(r).counts("sex").frame("pandas")),
        ("polars", "polars", lambda r: sf.evidence(r).counts("sex").frame("polars")),
        ("sklearn", "sklearn", lambda r: sf.learn.FromCells(object()).fit(sf.evidence(r), target="y")),
        ("pgmpy", "bayes", lambda r: sf.learn.BayesianNetwork(order=[]).fit(sf.evidence(r)).to_pgmpy()),
    ],
)
def test_a_missing_part_is_named_by_its_extra(release, monkeypatch, package, extra, work):
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPartError, match=rf'not installed: pip install "sfumato\[{extra}\]"'):
        work(release)


def test_every_extra_that_errors_name_exists():
    import re
    import tomllib

    root = Path(sf.__file__).parents[2]
    extras = tomllib.loads((root / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    source = "".join(path.read_text() for path in (root / "src").rglob("*.py"))
    named = set(re.findall(r'MissingPartError\.named\([^)]*?"(\w+)"\)', source)) | set(
        re.findall(r"sfumato\[(\w+)\]", source)
    )
    assert named and named <= set(extras)


def test_a_type_checker_finds_typos(tmp_path):
    """The package is typed, and names that are loaded later do not hide wrong ones."""
    assert (Path(sf.__file__).parent / "py.typed").exists()
    snippet = tmp_path / "snippet.py"
    snippet.write_text(
        "import sfumato as sf\n\nsf.randomise\nsf.randomize\nsf.density\nsf.learn\nsf.report\nsf.Schma\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--follow-imports=skip", "--cache-dir", str(tmp_path / "cache"), "--strict",
         sf.__file__, str(snippet)],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    wrong = [line for line in done.stdout.splitlines() if "snippet.py" in line and "error" in line]
    assert [line.split(":")[1] for line in wrong] == ["3", "8"], done.stdout


def test_a_typo_is_answered_with_the_name_it_comes_near():
    with pytest.raises(AttributeError, match="no attribute 'randomise': did you mean 'randomize'"):
        sf.randomise  # noqa: B018


def test_one_thing_is_in_the_singular_and_bins_are_readable() -> None:
    assert [many(count, "leaf", "leaves") for count in (0, 1, 1.0, 4000)] == [
        "0 leaves",
        "1 leaf",
        "1 leaf",
        "4,000 leaves",
    ]
    assert shown("[1000000000000, 20000000000000]") == "[1,000,000,000,000 to 20,000,000,000,000]"
    assert readable_bins("a in [-25000.5, 12)") == "a in [-25,000.5 to 12)"
    assert readable_bins("[0, 25), [1990, 1995] and [a, 20000)") == "[0 to 25), [1990 to 1995] and [a, 20000)"


def test_an_answer_shows_as_many_digits_as_its_error_has():
    """Means of years differ in what comes after 2012, which has no thousands mark."""
    schema = sf.Schema({"sex": sf.Categorical(("F", "M")), "year": sf.Ordinal(tuple(range(2007, 2017)))})
    years = {"sex": ["F", "M"] * 20_000, "year": [2007, 2009, 2012, 2014, 2016, 2016] * 6_666 + [2010] * 4}
    release = sf.randomize(years, sf.Scheme.for_gamma(schema, 9), rng=sf.experiment(2))
    found = sf.evidence(release).mean("year", by="sex")
    low, high = found.interval(0.95)
    rows = found.in_words(0.95, 12)[1]
    for row, value, limits in zip(rows, found.value, zip(low, high, strict=True), strict=True):
        assert [shown(cell) for cell in (row[1], *row[3:5])] == [f"{x:.3f}" for x in (value, *limits)]
    assert shown(rows[0][1]) in repr(found) and number(rows[0][1]) == shown(rows[0][1])
    assert shown(told_apart(0.0, 0.1)) == "0" and shown(told_apart(5000.0, 0.0)) == "5,000"
