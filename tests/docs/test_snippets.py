"""Every block of README and docs runs as it is pasted, in the order a reader meets them, on the sample files.

A fence says what it is: ``python`` and ``sh`` are run, ``text`` and ``json`` are only shown. A block that cannot run here
carries ``<!-- not run: why -->`` on the line before its fence.

In Python blocks, a number in a comment behind an expression (``# 0.25: what it means``) is compared with its value.
"""

from __future__ import annotations

import ast
import gc
import re
import shlex
import shutil
import textwrap
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sfumato.cli import app
from sfumato.errors import SfumatoWarning

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(page for page in DOCS.rglob("*.md") if "_build" not in page.parts)]
RUN, SHOWN = {"python", "sh"}, {"text", "json"}
REASON = re.compile(r"<!-- not run: (.+) -->")


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    line: int
    language: str
    text: str
    reason: str | None  # why it is not run


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    out: list[Block] = []
    before, opened = "", None
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):  # also in the items of a list
            if opened is None:
                opened, inside = (number, line.strip()[3:].strip(), REASON.search(before)), []
            else:
                why = opened[2][1] if opened[2] else None
                out.append(Block(opened[0], opened[1], textwrap.dedent("\n".join(inside)), why))
                opened = None
        elif opened is not None:
            inside.append(line)
        before = line
    return out


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("samples")
    _shell(f"sfumato sample {folder}", 0)
    return folder


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_runs(page: Path, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = page.read_text(encoding="utf-8")
    found = [block for block in blocks(text) if block.language in RUN and block.reason is None]
    folder = tmp_path / "reader"
    if "sfumato sample ." in "\n".join(block.text for block in found if block.language == "sh"):
        folder.mkdir()
    else:
        shutil.copytree(samples, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "120")
    _run(page, found)


def test_pages_run_one_after_another_in_one_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader goes on where the last page ended: nothing is in the way of what the next one writes."""
    tutorials, guide = (DOCS / "tutorials" / "index.md", DOCS / "guide.md")
    named = [
        (page.parent / name) for page in (tutorials, guide) for name in re.findall(r"\((\S+\.md)\)", page.read_text())
    ]
    order = [ROOT / "README.md", DOCS / "start.md", *dict.fromkeys(page.resolve() for page in named)]
    assert len(order) > 20
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    for page in order:
        _run(
            page,
            [one for one in blocks(page.read_text(encoding="utf-8")) if one.language in RUN and one.reason is None],
        )


def _run(page: Path, found: list[Block]) -> None:
    space: dict[str, Any] = {"__name__": "__main__"}
    for block in found:
        where = f"{page.name}:{block.line}"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SfumatoWarning)  # a reader sees them and reads on
            if block.language == "python":
                _python(block.text, space, where)
            else:
                for line in _commands(block.text):
                    _shell(line, where)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # a reader ends the session, and files are closed with it
        space.clear()
        gc.collect()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_fence_says_what_it_is(page: Path) -> None:
    for block in blocks(page.read_text(encoding="utf-8")):
        assert block.language in RUN | SHOWN, f"{page.name}:{block.line}: a fence must say python, sh, text or json"
        if block.language == "sh" and block.reason is None:
            assert all(line.startswith("sfumato ") for line in _commands(block.text)), f"{page.name}:{block.line}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_stand_in_fences(page: Path) -> None:
    """An indented block is only shown: commands in it would be run by nobody."""
    text = re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    commands = r"^ {4,}(?:sfumato (?!response|upload)|pip |python |SFUMATO_\w+=\S+ sfumato ).*"
    assert re.findall(commands, text, re.M) == []


def test_almost_everything_is_run() -> None:
    found = [block for page in PAGES for block in blocks(page.read_text(encoding="utf-8")) if block.language in RUN]
    left = [block for block in found if block.reason is not None]
    assert len(found) >= 15 and len(left) <= 0.3 * len(found)
    assert not [block for block in left if block.language == "python"]


class TestTheRunnerItself:
    """Negative controls: a page that does not run must be noticed."""

    def test_a_failing_python_block_is_an_error(self) -> None:
        with pytest.raises(AssertionError, match=r"here: NameError"):
            _python("nothing_of_that_name", {}, "here")

    def test_a_wrong_number_is_an_error(self) -> None:
        _python("1 / 4  # 0.25: a quarter", {}, "here")
        with pytest.raises(AssertionError, match="0.26"):
            _python("1 / 4  # 0.26: not a quarter", {}, "here")

    def test_a_failing_command_is_an_error(self) -> None:
        with pytest.raises(AssertionError, match="sfumato inspect absent"):
            _shell("sfumato inspect absent.parquet", "here")

    def test_blocks_are_found_with_their_reasons(self) -> None:
        page = "a\n```sh\nsfumato demo\n```\n<!-- not run: needs make -->\n```sh\nmake\n```\n"
        assert [(b.line, b.reason) for b in blocks(page)] == [(2, None), (6, "needs make")]


def _python(text: str, space: dict[str, Any], where: str) -> None:
    lines = text.splitlines()
    for node in ast.parse(text).body:
        code = ast.unparse(node)
        try:
            if not isinstance(node, ast.Expr):
                exec(compile(ast.Module([node], []), where, "exec"), space)
                continue
            value = eval(compile(ast.Expression(node.value), where, "eval"), space)
        except Exception as problem:
            raise AssertionError(f"{where}: {type(problem).__name__}: {problem} in {code}") from problem
        said = re.search(r"#\s*(-?\d[\d,]*\.?\d*):", lines[(node.end_lineno or 1) - 1])
        if said:
            digits = len(said[1].partition(".")[2])
            claimed = float(said[1].replace(",", ""))
            assert abs(float(value) - claimed) <= 0.5001 * 10**-digits, f"{where}: {code} is {value}, not {said[1]}"


def _commands(text: str) -> list[str]:
    """The commands of a block: continued lines joined, comments dropped."""
    joined = text.replace("\\\n", " ")
    return [line for raw in joined.splitlines() if (line := raw.split("  #")[0].strip()) and not line.startswith("#")]


def _shell(line: str, where: Any) -> None:
    done = CliRunner().invoke(app, shlex.split(line)[1:])
    assert done.exit_code == 0, f"{where}: {line}\n{done.output}\n{done.exception!r}"
