"""A file that is not there is named before the work begins, whatever command and option it was given to."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.command_line import run

import sfumato as sf
from sfumato.cli import FOLDERS, MADE, app
from sfumato.cli.outputs import OUTPUTS

#: Files that are made, or whose absence is said in other words, by command.
_MADE = {command.__name__: names for command, names in MADE.items()}
_WRITTEN = {*OUTPUTS, "out", "folder", "sample", *(name for names in FOLDERS.values() for name in names)}


def commands(group: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*words, name))
        else:
            yield (*words, name), command


ALL = dict(commands(typer.main.get_command(app)))


def is_path(command: Any, param: Any) -> bool:
    given = inspect.signature(command.callback, eval_str=True).parameters.get(param.name)
    return given is not None and "Path" in str(given.annotation)


READ = [
    (words, param.name)
    for words, command in ALL.items()
    for param in command.params
    if is_path(command, param)
    and param.name not in _MADE.get(words[-1], ())
    and (param.name not in _WRITTEN or (words[0] == "attack" and param.name == "sample"))
    and not (words == ("study", "tokens") and param.name == "save")
    and not (words == ("export",) and param.name == "out")
]


def line(words: tuple[str, ...], missing: str) -> str:
    """The command with what it must be given; the files all there but for one."""
    said = list(words)
    for param in ALL[words].params:
        if param.name == missing:
            value = "nothere.parquet"
        elif not param.required:
            continue
        else:
            value = "there.parquet" if is_path(ALL[words], param) and param.name not in _WRITTEN | {"target"} else "1"
        several = param.nargs == -1 or getattr(param, "multiple", False)
        new = ["new.json"] if "out" in {other.name for other in ALL[words].params} else []
        values = [value, "there.parquet", *new] if several else [value]
        option = [param.opts[0]] if param.param_type_name == "option" else []
        said += [*option, *values]
    return shlex.join(said)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "there.parquet").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SFUMATO_TOKEN", "sfs_x")


@pytest.mark.parametrize(
    ("words", "name"), READ, ids=lambda value: "-".join(value) if isinstance(value, tuple) else value
)
def test_a_missing_file_is_named_in_one_line(words: tuple[str, ...], name: str) -> None:
    ran = run(line(words, name))
    assert (ran.code, ran.error, ran.out) == (1, "error: nothere.parquet: there is no such file\n", ""), line(
        words, name
    )


def test_the_walk_meets_every_kind_of_file() -> None:
    names = {name for _, name in READ}
    assert {"token_file", "key_file", "test", "prior", "structure", "scheme", "register", "files", "into"} <= names
    assert len(READ) > 45


def test_a_missing_ledger_is_called_one(tmp_path: Path) -> None:
    schema = sf.Schema({"sex": sf.Categorical(("F", "M"))})
    (tmp_path / "scheme.json").write_text(sf.Scheme.for_gamma(schema, gamma=3).to_json())
    said = run("assess scheme.json --ledger nothere").error
    assert "there is no such ledger" in said


@pytest.mark.parametrize("name", ["x.csv", "x.parquet"])
def test_clean_rows_that_cannot_be_read_are_not_said_to_misfit(name: str, tmp_path: Path) -> None:
    schema = sf.Schema({"sex": sf.Categorical(("F", "M")), "y": sf.Categorical(("no", "yes"))})
    model = sf.learn.NaiveBayes().fit(
        sf.evidence({"sex": ["F", "M"] * 20, "y": ["no", "yes"] * 20}, schema), target="y"
    )
    (tmp_path / name).write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\6\0\0\0")
    with pytest.raises(sf.SfumatoError, match=rf"^{tmp_path / name}: (is not text|cannot be read)"):
        model.score(tmp_path / name)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("design empty.csv --n 100 --gamma 3", "empty.csv: the file is empty"),
        ("schema picture.csv", "picture.csv: is not text, which a table is"),
        ("schema picture.csv --encoding utf-16", "is not written in utf-16: try another --encoding"),
        ("audit empty.json", "empty.json: the scheme is empty, where JSON is expected"),
        ("study create s --scheme picture.csv", "picture.csv: is not text"),
        ("study create s --scheme folder", "folder: cannot be read: Is a directory"),
        ("push folder --study s", "folder: is a folder; name a file"),
        ("push there.parquet --study s --token-file picture.csv", "picture.csv: holds no token, which is one word"),
        ("push there.parquet --study s --token-file folder", "folder: cannot be read: Is a directory"),
    ],
)
def test_a_file_of_another_kind_is_refused_in_one_true_line(typed: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "empty.json").write_text("")
    (tmp_path / "picture.csv").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\6\0\0\0\xdb")
    ran = run(typed)
    assert ran.code == 1 and said in ran.error and ran.error.count("\n") == 1, ran.error


@pytest.mark.parametrize("words", ["schema", "randomize", "resample", "mgas", "design"])
def test_a_release_is_not_taken_for_a_raw_table(words: str) -> None:
    """Its codes are whole numbers: they were taken for grades and amounts, and randomized again without a word."""
    schema = sf.Schema({"sex": sf.Categorical(("F", "M")), "age": sf.Numeric(0, 100, bins=10)})
    table = {"sex": ["F", "M"] * 50, "age": list(range(100))}
    release = sf.randomize(table, sf.Scheme.for_gamma(schema, 3), rng=sf.experiment(1))
    options = {
        "schema": "",
        "randomize": "again.parquet --gamma 3",
        "resample": "--target sex",
        "mgas": "--column age --min-records 9",
        "design": "--n 100 --gamma 3",
    }
    for name in ("release.parquet", "release.csv"):
        release.save(name)
        ran = run(f"{words} {name} {options[words]}")
        assert ran.code == 1 and f"error: {name} is a release: it holds answers" in ran.error
