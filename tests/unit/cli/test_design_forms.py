"""A bound on the whole person on the command line: design, randomize, inspect, estimate, assess."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.command_line import run

import sfumato as sf
from sfumato.design.whole_record import design_record

SCHEMA = sf.Schema(
    {
        "a": sf.Categorical(("x", "y", "z")),
        "b": sf.Categorical(("no", "yes")),
        "c": sf.Ordinal(("low", "middle", "high")),
        "d": sf.Categorical(("no", "yes")),
        "e": sf.Categorical(("no", "yes")),
    }
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(5)
    rows = {name: np.array(domain.labels)[rng.integers(0, domain.size, 2000)] for name, domain in SCHEMA.items()}
    pd.DataFrame(rows).to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "schema.json").write_text(SCHEMA.to_json())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_design_shows_the_alternatives_and_saves_forms(here: Path) -> None:
    ran = run("design schema.json --n 50000 --record-gamma 9 --save forms.json")
    assert ran.code == 0
    for words in ("bound split", "one question", "pairs", "triples", "chosen", "one person together: gamma 9"):
        assert words in " ".join(ran.out.split())
    forms = sf.Forms.from_json((here / "forms.json").read_text())
    assert forms.gamma == pytest.approx(9)
    said = json.loads(run("design schema.json --n 50000 --record-gamma 9 --target d --json").out)
    assert [one["chosen"] for one in said["alternatives"]].count(True) == 1
    assert said["whole_record"]["gamma"] <= 9
    assert run("randomize table.csv release.parquet --scheme forms.json").code == 0
    found = json.loads(run("estimate release.parquet --columns a,b --json").out)
    assert sum(cell["estimate"] for cell in found["cells"]) == pytest.approx(2000, rel=1e-6)
    assert "all answers of one person together: gamma 9" in run("inspect forms.json").out.replace("\n", " ")
    assert run("inspect release.parquet --rows 3").code == 0
    for file in ("forms.json --n 2000", "release.parquet"):
        assert "All answers of one person together: " in run(f"assess {file}").out
    assert run("export release.parquet words.csv").code == 0


def test_every_command_takes_forms(here: Path) -> None:
    """A release of ten forms of two questions each: what no form asks together comes from the model, or is said."""
    forms = sf.Forms.for_gamma(SCHEMA, 40)
    (here / "forms.json").write_text(forms.to_json())
    assert run("randomize table.csv release.parquet --scheme forms.json").code == 0
    shown = run("inspect release.parquet").out
    assert "2,000 records, each of which answered one of 10 forms" in shown
    assert "all answers of one person together: gamma 40" in shown
    assert len(shown.splitlines()) < 16
    assert run("concat release.parquet release.parquet -o both.parquet").code != 0
    for line in (
        "learn tree release.parquet --target d",
        "learn regression release.parquet --target d --family logistic --columns a,b",
        "learn rules release.parquet --support 0.1",
        "learn bayesnet release.parquet",
        "learn model release.parquet",
        "estimate release.parquet --columns a,b,d --method model",
        "estimate release.parquet --mean c --by a",
        "attack bayes release.parquet --attribute a+b",
        "attack repeated forms.json --attribute a+b --times 3",
        "attack link forms.json --register table.csv",
        "audit forms.json --trials 2000",
        "audit forms.json --attribute a+b --trials 2000",
        "inspect release.parquet --fit",
    ):
        ran = run(line)
        assert ran.code == 0, (line, ran.error)
    for line, words in (
        ("estimate release.parquet --columns a,b,d", "no form asks a, b and d together"),
        ("estimate release.parquet --columns z", "there is no attribute 'z'"),
        ("attack bayes release.parquet --attribute a", "name what one of them asks, as a+b"),
        ("attack bayes release.parquet --attribute a+b --shares x=.5", "give a list of 6"),
        ("attack bayes release.parquet --attribute a+b --shares .5,.6", "6"),
        ("audit forms.json --attribute a", "name what one of them asks"),
        ("attack link release.parquet --register release.parquet", "shares no attribute"),
    ):
        ran = run(line)
        assert (ran.code != 0, words in ran.error, len(ran.error.strip().splitlines())) == (True, True, 1), (line, ran)


def test_estimates_say_how_many_were_asked(here: Path) -> None:
    """A table that 21 of 4,361 records were asked about was headed "4,361 randomized records", and nothing said it."""
    (here / "forms.json").write_text(sf.Forms.for_gamma(SCHEMA, 40).to_json())
    assert run("randomize table.csv release.parquet --scheme forms.json").code == 0
    release = sf.Release.load(here / "release.parquet")
    for names, by in (("a", ""), ("a,b", ""), ("c", " --by a")):
        wanted = set(names.split(",")) | set(by.split()[1:])
        asked = sum(len(part) for part in release.parts if wanted <= set(part.scheme.schema))
        lines = [f"--mean {names}{by}"] if by else [f"--columns {names}", f"--columns {names} --population"]
        for line in lines:
            assert f"{asked:,} of 2,000 records were asked; " in run(f"estimate release.parquet {line}").error
    assert run("randomize table.csv whole.parquet --schema schema.json --gamma 9").code == 0
    assert "were asked" not in run("estimate whole.parquet --columns a").error


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("design schema.json --n 50000 --record-gamma 1", "gamma must lie in (1, inf)"),
        ("design schema.json --n 50000 --record-gamma 9 --target z", "there is no attribute 'z'"),
        ("design schema.json --n 50000 --record-gamma 9 --gamma 3", "--record-gamma goes with"),
    ],
)
def test_errors_are_one_line(here: Path, line: str, words: str) -> None:
    ran = run(line)
    assert ran.code != 0
    assert words in ran.error
    assert len(ran.error.strip().splitlines()) == 1


def test_expected_errors_are_those_of_draws() -> None:
    found = {one.name: one for one in design_record(SCHEMA, 4000, 9).alternatives}
    rng = np.random.default_rng(7)
    table = {name: np.array(domain.labels)[rng.integers(0, domain.size, 4000)] for name, domain in SCHEMA.items()}
    pairs = list(combinations(SCHEMA.names, 2))
    exact = sf.evidence(table, SCHEMA)
    for name in ("every question, bound split", "pairs"):
        errors = []
        for draw in range(6):
            ev = sf.evidence(sf.randomize(table, found[name].scheme, rng=sf.experiment(500 + draw)))
            found_now = ((ev.counts(pair, quiet=True), exact.counts(pair)) for pair in pairs)
            errors += [np.abs(one.value - true.value).sum() / 4000 for one, true in found_now]
        assert 0.75 < np.mean(errors) / found[name].pair < 1.3
        assert np.mean(errors) / found[name].single > 1.5  # the negative control: not any number will do
    assert found["pairs"].pair < found["every question, bound split"].pair
    assert found["one question"].pair == np.inf


def test_the_report_says_what_one_person_gives_away() -> None:
    forms = sf.Forms.for_gamma(SCHEMA, 9)
    text = sf.report(forms, n=5000).text()
    assert "All answers of one person together: " in text
    assert "(gamma 9)" in text
    assert "Five attributes are randomized" in text
    assert json.loads(sf.report(forms).json())["whole_record"]["gamma"] == pytest.approx(9)
    assert "one person together" in sf.report(forms, n=5000).html()


def test_no_error_of_shares_is_larger_than_shares_can_differ(tmp_path):
    """An error of 351 was printed of shares that differ by 2 at most."""
    schema = sf.Schema({f"x{i}": sf.Categorical(tuple(map(str, range(30)))) for i in range(4)})
    (tmp_path / "schema.json").write_text(schema.to_json())
    found = run(f"design {tmp_path}/schema.json --n 500 --record-gamma 3")
    assert "nothing told" in found.out and "would be larger, nothing is told of it" in " ".join(found.out.split())
    rows = json.loads(run(f"design {tmp_path}/schema.json --n 500 --record-gamma 3 --json").out)["alternatives"]
    assert max(row["error_of_pair"] or 0 for row in rows) == 2


def test_one_pair_of_large_attributes_decides_no_design(tmp_path):
    """The average error of pairs was "nothing told" for one large pair, beside pairs that are told well."""
    sizes = {"town": 90, "cause": 60, "sex": 2, "hurt": 2}
    schema = sf.Schema({name: sf.Categorical(tuple(map(str, range(size)))) for name, size in sizes.items()})
    (tmp_path / "schema.json").write_text(schema.to_json())
    rows = json.loads(run(f"design {tmp_path}/schema.json --n 8000 --record-gamma 50 --json").out)["alternatives"]
    found = {row["design"]: row for row in rows}
    assert found["pairs"]["chosen"] and 0.5 < found["pairs"]["error_of_pair"] < 1.9
    small = design_record(schema.select(["sex", "hurt"]), 8000, 50)
    assert min(one.pair for one in small.alternatives) < 0.2


def test_where_no_pair_is_told_attributes_decide(tmp_path):
    """Pairs were chosen that tell nothing, at three times the error of an attribute."""
    schema = sf.Schema({f"x{i}": sf.Categorical(tuple(map(str, range(30)))) for i in range(4)})
    (tmp_path / "schema.json").write_text(schema.to_json())
    line = f"design {tmp_path}/schema.json --n 2000 --record-gamma 9"
    rows = json.loads(run(f"{line} --json").out)["alternatives"]
    assert {row["error_of_pair"] for row in rows} == {2, None}
    assert [row["design"] for row in rows if row["chosen"]] == ["one question"]
    assert min(row["error_of_attribute"] for row in rows) == rows[1]["error_of_attribute"] < 1
    assert "No way tells anything of pairs: the attributes decide." in " ".join(run(line).out.split())
    aimed = " ".join(run(f"{line} --target x0").out.split())
    assert "No way tells anything of pairs with x0: the attributes decide. So x0 cannot be foretold" in aimed
