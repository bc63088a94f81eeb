"""The command line as programs and shells use it: completion, errors as JSON, warnings once, outputs checked first."""

from __future__ import annotations

import io
import itertools
import json
import re
import shlex
import sys
import time
import warnings

import numpy as np
import pytest
import typer
from benchmarks.harness import discover
from rich.console import Console

import sfumato as sf
from sfumato import channels as c
from sfumato import cli
from sfumato.cli import app, busy, learning, main
from sfumato.errors import NegativeCountsWarning

SCHEME = sf.Scheme(
    sf.Schema({"sex": sf.Categorical(("F", "M")), "ill": sf.Categorical(("no", "yes"))}),
    {"sex": c.binary(0.25, 0.25), "ill": c.binary(0.25, 0.25)},
)

MARKS = busy._marks  # which the other tests replace


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    table = {"sex": rng.choice(["F", "M"], 300), "ill": rng.choice(["no", "yes"], 300)}
    sf.randomize(table, SCHEME, rng=rng).save(tmp_path / "good.parquet")
    (tmp_path / "scheme.json").write_text(SCHEME.to_json())
    monkeypatch.chdir(tmp_path)
    return tmp_path


#: Options and arguments of text that no list holds: names, numbers in words, files or numbers, addresses.
FREE = """
    --all-levels --as --attribute --bins --cdf --column --columns --command --correlation --database --delimiter --drop
    --edges --encoding --ends --engine --evasive --event --expires --formula --gamma --host --id --mean --median --name
    --names --noise --on --own --points --population --quantiles --range --ranges --revoke --roll-up --same --shares
    --site-column --stop --study --support --table --text --title --to --values --where id
"""
#: The same where another command's option of this name takes one of a list.
FREE_HERE = {"estimate --by", "learn bayesnet --order", "resample --target", "schema --by"} | {
    f"learn {learner} --target" for learner in ("linear", "model", "naive-bayes", "regression", "rules", "tree")
}


def texts(command, path=()):
    """Every option or argument of text, by its command and its name."""
    for name, one in getattr(command, "commands", {}).items():
        yield from texts(one, (*path, name))
    for one in () if hasattr(command, "commands") else command.params:
        if one.type_descriptor.annotation in (str, list[str]):
            yield " ".join((*path, one.opts[-1])), one


def run(line, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["sfumato", *shlex.split(line)])
    with pytest.raises(SystemExit) as stopped:
        main()
    return int(stopped.value.code or 0)


class TestCompletion:
    def ask(self, words, monkeypatch, capsys):
        monkeypatch.setenv("_SFUMATO_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - (not words.endswith(" "))))
        run("", monkeypatch)
        return capsys.readouterr().out.split()

    def test_a_shell_is_told_the_commands(self, monkeypatch, capsys):
        assert self.ask("sfumato es", monkeypatch, capsys) == ["estimate"]
        assert "bayesnet" in self.ask("sfumato learn ", monkeypatch, capsys)

    def test_a_shell_is_told_the_options(self, monkeypatch, capsys):
        assert "--population" in self.ask("sfumato estimate --pop", monkeypatch, capsys)

    def test_a_shell_is_told_the_values_of_every_fixed_list(self, monkeypatch, capsys):
        """Options of text name a list, which the shell then knows, or take what no list holds."""
        found = dict(texts(typer.main.get_command(app)))
        complete = {name for name, of in found.items() if of._custom_shell_complete is not None}
        short = {name.rpartition(" ")[2] for name in complete}
        free = {(name.rpartition(" ")[2], name) for name in set(found) - complete}
        assert {name if option in short else option for option, name in free} == {*FREE.split()} | FREE_HERE
        for name in complete - {"bench names", "reproduce names"}:
            *command, option = name.split()
            asked = " ".join(["sfumato", *command, *([option] if option.startswith("-") else []), ""])
            offered = self.ask(asked, monkeypatch, capsys)
            said = {".": ".", ",": "comma"} if option == "--decimal" else {}
            assert len(offered) > 1
            assert all(re.search(rf"(?<!\w){re.escape(said.get(one, one))}", found[name].help) for one in offered), name

    def test_a_shell_is_told_benchmarks_and_entries(self, monkeypatch, capsys):
        assert self.ask("sfumato bench randomizing counting", monkeypatch, capsys) == [
            name for name in self.ask("sfumato bench ", monkeypatch, capsys) if name.startswith("counting")
        ]
        assert set(discover()) <= set(self.ask("sfumato bench ", monkeypatch, capsys))
        assert "aa01" in self.ask("sfumato reproduce aa", monkeypatch, capsys)
        assert "aa01_fig1" in self.ask("sfumato reproduce aa", monkeypatch, capsys)

    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_the_script_can_be_shown_for_every_shell(self, shell, monkeypatch, capsys):
        assert run(f"--show-completion {shell}", monkeypatch) == 0
        assert "_SFUMATO_COMPLETE" in capsys.readouterr().out


class TestErrorsAsJson:
    @pytest.mark.parametrize(
        ("line", "kind", "code"),
        [
            ("estimate absent.parquet --columns sex --json", "schema", 1),
            ("estimate good.parquet --columns sex --level 2 --json", "estimation", 1),
            ("estimate --json", "usage", 2),
            ("estimate good.parquet --columns sex --json --nonsense", "usage", 2),
            ("estimate good.parquet --columns sex --columns ill --json", "usage", 2),
            ("learn tree good.parquet --target sex --target ill --json", "usage", 2),
            ("inspect scheme.txt --json", "schema", 1),
            ("design scheme.json --n 100 --gamma three --json", "request", 1),
        ],
    )
    def test_one_shape_where_the_answer_would_have_stood(self, folder, monkeypatch, capsys, line, kind, code):
        assert run(line, monkeypatch) == code
        caught = capsys.readouterr()
        found = json.loads(caught.out)
        assert set(found) == {"error"} and set(found["error"]) == {"kind", "message"}
        assert found["error"]["message"] and "\n" not in found["error"]["message"]
        assert found["error"]["kind"] == kind
        assert caught.err == ""

    def test_without_json_it_is_a_line_on_standard_error(self, folder, monkeypatch, capsys):
        assert run("estimate absent.parquet --columns sex", monkeypatch) == 1
        caught = capsys.readouterr()
        assert caught.out == "" and caught.err.startswith("error: absent.parquet")


def test_each_warning_is_given_once(folder, monkeypatch, capsys):
    def load(files, *_):
        for n in (3, 3, 4):
            warnings.warn(f"{n} counts fell below zero", NegativeCountsWarning, stacklevel=1)
        warnings.warn("something else", NegativeCountsWarning, stacklevel=1)
        raise sf.SfumatoError("enough")

    monkeypatch.setattr(learning, "load", load)
    run("learn tree good.parquet --target ill", monkeypatch)
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("warning")]
    assert said == ["warning: 3 counts fell below zero", "warning: something else"]


PLOTTING = [
    "estimate good.parquet --columns sex",
    "density good.parquet --column sex --noise gaussian:1",
    "design scheme.json --n 100 --gamma 3",
    "learn tree good.parquet --target ill",
    "learn linear good.parquet --target ill",
    "learn naive-bayes good.parquet --target ill",
    "learn rules good.parquet",
    "learn bayesnet good.parquet",
    "learn model good.parquet",
]


class TestOutputsAreCheckedBeforeTheWork:
    def work_is_an_error(self, monkeypatch):
        def worked(*_, **__):
            raise AssertionError("the work began")

        monkeypatch.setattr(sf.Release, "load", worked)
        for module in (cli.density, cli.design):
            monkeypatch.setattr(module.console, "progress", worked)
        monkeypatch.setattr(cli.design, "choose", worked)

    @pytest.mark.parametrize("line", PLOTTING)
    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("x.xyz", "x.xyz: a picture must end in .svg, .png or .pdf"),
            ("x", "x: a picture must end in"),
            ("nowhere/x.svg", "nowhere/x.svg: the folder nowhere does not exist"),
            ("folder.svg", "folder.svg: is a folder"),
        ],
    )
    def test_of_a_picture(self, folder, monkeypatch, capsys, line, name, said):
        (folder / "folder.svg").mkdir()
        self.work_is_an_error(monkeypatch)
        assert run(f"{line} --plot {name}", monkeypatch) == 1
        assert said in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ("assess scheme.json --html nowhere/x.html", "the folder nowhere does not exist"),
            ("assess scheme.json --html scheme.json", "is read by this command"),
            ("assess scheme.json --html good.parquet", "good.parquet: a page must end in .html or .htm"),
            ("resample numbers.csv --target c --out out.csv --report good.parquet", "a page must end in .html or .htm"),
            ("learn bayesnet good.parquet --bif rows.csv", "rows.csv: a network must end in .bif"),
            ("learn model good.parquet --sample old.csv", "old.csv already exists"),
            ("learn bayesnet good.parquet --bif nowhere/x.bif", "the folder nowhere does not exist"),
            ("design scheme.json --n 100 --gamma 3 --save good.parquet", "good.parquet already exists"),
            ("reproduce ma06_fig2_2 --out scheme.json", "is a file; --out names a folder here"),
        ],
    )
    def test_of_other_files(self, folder, monkeypatch, capsys, line, said):
        self.work_is_an_error(monkeypatch)
        (folder / "old.csv").write_text("a,b\n")
        assert run(line, monkeypatch) == 1
        assert said in capsys.readouterr().err

    def test_a_picture_replaces_one_of_its_name(self, folder, monkeypatch):
        (folder / "x.svg").write_text("old")
        assert run("estimate good.parquet --columns sex --plot x.svg", monkeypatch) == 0
        assert "<svg" in (folder / "x.svg").read_text()


class TestBusy:
    """Long work shows what is done and for how long."""

    def shown(self, terminal, monkeypatch, seconds=0.4):
        monkeypatch.setattr(busy, "PATIENCE", 0.05)
        monkeypatch.setenv("TERM", "xterm")
        out = io.StringIO()
        line = busy.Busy(Console(file=out, force_terminal=terminal, width=80))
        with line.working("fitting"):
            time.sleep(seconds)
            line.clear()
            out.write("RESULT")
        return out.getvalue()

    def test_a_terminal_sees_it_and_it_leaves_no_trace(self, monkeypatch):
        text = self.shown(True, monkeypatch)
        assert re.search(r"fitting, \d+ s", text)
        assert "\x1b[2KRESULT" in text and not text.split("RESULT")[1].strip("\r\x1b[2K")

    def test_a_pipe_sees_nothing_of_what_is_soon_done(self, monkeypatch):
        monkeypatch.setattr(busy, "_marks", MARKS)
        assert self.shown(False, monkeypatch, 0.2) == "RESULT"

    def test_a_pipe_gets_lines_ever_more_rarely(self, monkeypatch):
        marks = list(itertools.islice(MARKS(), 7))
        assert marks == [3, 10, 30, 100, 300, 600, 900]
        monkeypatch.setattr(busy, "_marks", lambda: iter([0.05, 0.1, 60]))
        lines = self.shown(False, monkeypatch).splitlines()
        assert lines == ["still at work after 0.05 s: fitting", "still at work after 0.1 s: fitting", "RESULT"]

    def test_a_pipe_sees_how_far_a_bar_has_come(self, monkeypatch):
        monkeypatch.setattr(busy, "_marks", lambda: iter([0.05, 60]))
        out = io.StringIO()
        line = busy.Busy(Console(file=out, force_terminal=False))
        with line.working("randomizing"), line.counted("rows", 5000) as advance:
            advance(1000)
            time.sleep(0.3)
        assert out.getvalue() == "still at work after 0.05 s: rows, 1,000 of 5,000 done\n"

    def test_every_command_that_may_take_long_says_what_it_does(self):
        quiet = {command.__name__ for command, said in cli.COMMANDS.items() if not said}
        own = {"bench", "push", "serve"}  # have a bar of their own, or run until they are stopped
        assert quiet <= {"demo", "sample", "inspect", "export", *own}  # the others are quick
