"""No command names an argument of Python: every message of the library is walked over."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.csv
import pytest
from tests.command_line import run

import sfumato
import sfumato as sf
from sfumato.cli.option_names import in_options

SOURCES = Path(sfumato.__file__).parent
#: Folders whose messages reach no command, or speak of options by themselves.
_ELSEWHERE = ("cli", "papers", "service")
#: Messages that only a program can meet, by how they begin.
PYTHON_ONLY = (
    "a formula calls",  # such as log(), which is typed so
    "a formula holds attributes",
    "a raw table needs its schema",
    "a release is no array of numbers",
    "an audited function needs",
    "clear takes a list of attributes",
    "concat takes a list",
    "FromCells needs",
    "key is not a whole key",
    "nodes= needs the structure",
    "noise must be a frozen",
    "properties='all'",
    "Regression needs a target",
    "rng=",
    "say what to predict",
    "shrink=True needs a joint model",
    "the covariance of",
    "the matrix",
    "the release has classes",
    "this X is not fitted",
    "X needs a target",
    "X: evidence takes no path alone",
    "X takes channels between codes",
    "X, got X instead: sfumato.evidence",
    "z must be known",
)
_PYTHON = re.compile(
    r"(?<![\w\"-])[a-z_]\w*=(?!=)(?!X)[\"'\[(\w.]|\w=(?=[\s,;:.]|$)|\bsf\.|\bsfumato\.\w|[a-z_]\(\)|\w\.\w+\("
)


def words(node: ast.AST) -> str:
    """The text of a message, X for what is filled in."""
    out = []
    for part in ast.walk(node):
        if isinstance(part, ast.JoinedStr):
            return "".join(one.value if isinstance(one, ast.Constant) else "X" for one in part.values)
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            out.append(part.value)
    return " ".join(out)


def messages() -> Iterator[tuple[str, str]]:
    """Every text that is raised, or given as a warning, and where."""
    for path in sorted(SOURCES.rglob("*.py")):
        if path.relative_to(SOURCES).parts[0] in _ELSEWHERE:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            raised = node.exc if isinstance(node, ast.Raise) else None
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "warn":
                raised = node
            if isinstance(raised, ast.Call) and raised.args:
                yield f"{path.relative_to(SOURCES)}:{node.lineno}", words(raised.args[0])


MESSAGES = dict(messages())


def test_no_message_speaks_python_on_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["sfumato"])
    bad = {
        where: in_options(text)
        for where, text in MESSAGES.items()
        if _PYTHON.search(in_options(text)) and not text.startswith(PYTHON_ONLY)
    }
    assert not bad, "\n".join(f"{where}: {text}" for where, text in bad.items())


def test_the_walk_sees_what_it_looks_for() -> None:
    assert len(MESSAGES) > 600
    spoken = [text for text in MESSAGES.values() if _PYTHON.search(text)]
    assert not [start for start in PYTHON_ONLY if not any(text.startswith(start) for text in spoken)]
    assert sum(bool(_PYTHON.search(text)) for text in MESSAGES.values()) > 30
    assert _PYTHON.search("name one by event=..., or use family='x'") and not _PYTHON.search(
        "p must lie in [0, 1 - 1/6)"
    )


@pytest.mark.parametrize(
    ("said", "instead"),
    [
        ("randomize both with id='id' (--id)", "randomize both with --id"),
        (
            "outside: widen the support, or pass outside='widen' (--widen)",
            "outside: widen the support, or pass --widen",
        ),
        ('or method="moment", or "project"', 'or --method moment, or "project"'),
        ("set max_items=3 to agree", "set --items 3 to agree"),
        ("--bins must look like age=10,dose=5 or sex='F'", "--bins must look like age=10,dose=5 or sex='F'"),
        ("levels must be names", "levels must be names"),
    ],
)
def test_options_in_place_of_arguments(said: str, instead: str) -> None:
    assert in_options(said) == instead


def test_an_option_that_was_given_is_named_as_it_was_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["sfumato", "learn", "rules", "--support", "2"])
    assert in_options("min_support must lie in (0, 1), got 2.0 instead").startswith("--support must lie")


def test_a_regression_is_refused_in_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    schema = sf.Schema({"x": sf.Categorical(("a", "b")), "y": sf.Categorical(("p", "q", "r"))})
    table = {"x": ["a", "b"] * 90, "y": ["p", "q", "r"] * 60}
    sf.randomize(table, sf.Scheme.for_gamma(schema, gamma=9)).save("r.parquet")
    said = run("learn regression r.parquet --target y --names x --family logistic").error
    assert "name one of them by --event VALUE, or use --family ordinal" in said
    assert "--event" in run("learn regression r.parquet --target y --names x --family logistic --json").out


def test_each_speaker_is_told_in_own_words_how_to_leave_columns_out(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("event,x\n" + "".join(f"E{i},{i}\n" for i in range(30)))
    with pytest.raises(sf.SfumatoError, match=re.escape("table.drop(columns=['event'])")):
        sf.resample(pyarrow.csv.read_csv(tmp_path / "t.csv"))
    found = run(f"resample {tmp_path}/t.csv --out {tmp_path}/r.csv")
    assert "leave it out (--drop event), and randomize it" in found.error
