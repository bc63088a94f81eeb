"""The command line as people use it: results, machine output, one-line errors, and help that works."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.main import get_command

import sfumato as sf
from sfumato import channels as c
from sfumato.cli import app, main

SCHEMA = sf.Schema({"sex": sf.Categorical(("F", "M")), "grade": sf.Ordinal(("a", "b", "c"))})
SCHEME = sf.Scheme(SCHEMA, {"sex": c.binary(0.25, 0.25), "grade": c.symmetric(3, 0.3)})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(0)
    n = 2000
    frame = pd.DataFrame(
        {
            "id": np.arange(n),
            "sex": rng.choice(["F", "M"], n),
            "grade": rng.choice(["a", "b", "c"], n, p=[0.2, 0.3, 0.5]),
        }
    )
    frame.to_csv(tmp_path / "raw.csv", index=False)
    (tmp_path / "scheme.json").write_text(SCHEME.to_json())
    (tmp_path / "header.csv").write_text("sex,grade\n")
    sf.randomize(frame, SCHEME).save(tmp_path / "good.parquet")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def run(line: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run one command line through the real entry point; its exit code."""
    monkeypatch.setattr(sys, "argv", ["sfumato", *shlex.split(line)])
    with pytest.raises(SystemExit) as stopped:
        main()
    return int(stopped.value.code or 0)


def test_owner_to_miner(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    assert run("randomize raw.csv release.parquet --scheme scheme.json", monkeypatch) == 0
    assert "2,000 records randomized" in capsys.readouterr().out
    assert run("inspect release.parquet --rows 2", monkeypatch) == 0
    shown = capsys.readouterr().out
    assert "symmetric(3, p=0.3)" in shown
    assert "gamma of a whole record: 14" in shown
    assert run("estimate release.parquet --columns grade --json", monkeypatch) == 0
    found = json.loads(capsys.readouterr().out)
    truth = pd.read_csv("raw.csv").grade.value_counts()
    assert [cell["grade"] for cell in found["cells"]] == ["a", "b", "c"]
    assert sum(cell["estimate"] for cell in found["cells"]) == pytest.approx(2000)
    assert all(abs(cell["estimate"] - truth[cell["grade"]]) < 6 * cell["sd"] for cell in found["cells"])
    assert run("estimate release.parquet --columns grade,sex --population --plot picture.svg", monkeypatch) == 0
    assert "shares of the population" in capsys.readouterr().out
    assert (folder / "picture.svg").stat().st_size > 1000


def test_keyed_release_repeats_itself(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    for name in ("one.parquet", "two.parquet"):
        assert run(f"randomize raw.csv {name} --scheme scheme.json --id id --key-file secret.key", monkeypatch) == 0
    assert sf.Release.load("one.parquet").arrow() == sf.Release.load("two.parquet").arrow()
    assert (folder / "secret.key").stat().st_mode & 0o077 == 0
    assert "keep it, and show it to nobody" in capsys.readouterr().err


def test_bound_instead_of_a_scheme(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    line = "randomize raw.csv release.csv --gamma 3 --columns sex,grade --save-scheme made.json --json"
    assert run(line, monkeypatch) == 0
    caught = capsys.readouterr()
    assert "looks at the data" in caught.err
    assert json.loads(caught.out)["rows"] == 2000
    made = sf.Scheme.from_json((folder / "made.json").read_text())
    assert sf.Release.load("release.csv").scheme == made
    assert run("inspect made.json --json", monkeypatch) == 0
    assert json.loads(capsys.readouterr().out)["parts"][0]["fingerprint"] == made.fingerprint


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("randomize raw.csv release.parquet", "give either --scheme FILE or --gamma BOUND"),
        ("randomize absent.csv release.parquet --scheme scheme.json", "absent.csv: there is no such file"),
        ("randomize raw.csv release.parquet --scheme absent.json", "absent.json: there is no such file"),
        ("randomize raw.csv release.parquet --scheme raw.csv", "the scheme is not JSON"),
        ("randomize raw.csv raw.csv --scheme scheme.json", "the source and the target are the same file"),
        ("randomize raw.csv nowhere/release.parquet --scheme scheme.json", "the folder nowhere does not exist"),
        ("randomize raw.csv release.xls --scheme scheme.json", "the name must end in one of"),
        ("randomize raw.csv release.parquet --gamma 1 --columns sex", "gamma must lie in"),
        ("inspect raw.csv", "raw.csv.json is missing beside it; a raw table has none, and becomes a release by"),
        ("estimate raw.csv --columns sex", "raw.csv has no scheme"),
        ("bench nothing-like-this", "no benchmark is called"),
        ("randomize raw.csv release.parquet --scheme scheme.json --key-file k", "--key-file needs --id"),
        ("randomize raw.csv release.parquet --scheme scheme.json --id id --key-file raw.csv", "raw.csv is not a key"),
        ("randomize raw.csv release.parquet --scheme scheme.json --link-key-file k", "--link-key-file needs --id"),
        ("randomize raw.csv release.parquet --scheme scheme.json --clear-ids", "--clear-ids needs --id"),
        ("randomize raw.csv release.parquet --scheme scheme.json --order sorted", "--order must be shuffle or keep"),
        ("randomize header.csv release.parquet --gamma 3", "empty table"),
        ("estimate good.parquet --columns sex --plot picture.xyz", "picture.xyz: a picture must end in"),
        (
            "estimate good.parquet --columns sex --plot nowhere/picture.svg",
            "nowhere/picture.svg: the folder nowhere does not exist",
        ),
        ("estimate good.parquet", "--columns"),
        ("estimate good.parquet --columns sex --level 2", "level must lie in"),
        ("demo --folder raw.csv", "raw.csv"),
        ("nonsense", "nonsense"),
        ("reproduce figure_99", "there is no figure or table called 'figure_99'"),
        ("reproduce aa01_fig22", "did you mean 'aa01_fig2'"),
    ],
)
def test_errors_are_one_line(
    line: str, words: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    assert run(line, monkeypatch) != 0
    caught = capsys.readouterr()
    lines = [text for text in caught.err.splitlines() if not text.startswith("warning:")]
    assert len(lines) == 1, caught.err
    assert words in lines[0]
    assert not (folder / "release.parquet").exists()


def commands() -> dict[str, object]:
    """Every command by its full name, those of groups included."""
    found = {}
    for name, command in get_command(app).commands.items():
        inner = getattr(command, "commands", None)
        found |= {name: command} if inner is None else {f"{name} {sub}": entry for sub, entry in inner.items()}
    return found


def test_every_command_is_documented_with_examples() -> None:
    page = (Path(__file__).parents[3] / "docs" / "command-line.md").read_text()
    for name, command in commands().items():
        assert command.help, name
        assert f"sfumato {name}" in command.help, f"{name} has no worked example"
        assert f"sfumato {name.split()[0]}" in page, f"docs/command-line.md does not mention sfumato {name}"


def test_examples_in_help_parse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every worked example names options that exist."""
    for name, command in commands().items():
        options = {option for parameter in command.params for option in [*parameter.opts, *parameter.secondary_opts]}
        for example in re.findall(rf"^ *sfumato {name}.*(?:\n +--.*)*", command.help or "", re.MULTILINE):
            for word in shlex.split(example):
                if word.startswith("--"):
                    assert word in options, f"{example.strip()}: {word} is not an option"


def test_demo_tells_the_whole_story(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    assert run("demo --folder shown", monkeypatch) == 0
    out = capsys.readouterr().out
    inside, total = map(int, re.search(r"(\d+) of (\d+) intervals", out).groups())
    assert total == 37
    assert inside >= 28  # 95 % are meant to; fewer happens less than once in a million runs
    assert {p.name for p in (folder / "shown").iterdir()} == {
        "adult-release.parquet",
        "education.png",
        "age.png",
        "race.png",
    }


def test_version_and_help(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    assert run("--version", monkeypatch) == 0
    assert capsys.readouterr().out.strip() == sf.__version__
    assert run("", monkeypatch) == 0
    assert "randomize" in capsys.readouterr().out


def test_a_missing_library_is_named_with_what_brings_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    for name in [*sys.modules]:
        if name.partition(".")[0] == "matplotlib":
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert run("learn rules good.parquet --support 0.1 --confidence 0.3 --any-lift --plot rules.png", monkeypatch) == 1
    said = capsys.readouterr().err
    assert "needs matplotlib" in said and "sfumato[all]" in said and "should not happen" not in said


def test_columns_choose_from_a_scheme(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    assert run("randomize raw.csv part.parquet --scheme scheme.json --columns sex", monkeypatch) == 0
    assert sf.Release.load("part.parquet").schema.names == ("sex",)
    assert "gamma of a whole record 3;" in capsys.readouterr().out
    pair = sf.Scheme(SCHEMA, {("sex", "grade"): c.symmetric((2, 3), 0.3)})
    (folder / "pair.json").write_text(pair.to_json())
    (folder / "forms.json").write_text(sf.Forms.for_gamma(SCHEMA, 9, ask=1).to_json())
    for given, said in (
        ("scheme.json --columns age", "the scheme has no attribute 'age'; it has sex, grade"),
        ("pair.json --columns sex", "'grade' is randomized together with"),
        ("forms.json --columns sex", "--columns cannot choose from forms"),
    ):
        assert run(f"randomize raw.csv other.parquet --scheme {given}", monkeypatch) == 1
        assert said in capsys.readouterr().err and not (folder / "other.parquet").exists()
