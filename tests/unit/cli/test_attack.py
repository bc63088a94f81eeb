"""sfumato attack link: from files, with what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.command_line import run

import sfumato as sf

pytestmark = pytest.mark.filterwarnings("ignore:the rows keep their order")  # as they must here


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    schema = sf.Schema({"sex": sf.Categorical(("F", "M")), "town": sf.Categorical(tuple("abcd"))})
    table = {"sex": rng.choice(["F", "M"], 200), "town": rng.choice(list("abcd"), 200)}
    scheme = sf.Scheme.for_gamma(schema, gamma=20)
    sf.randomize(table, scheme, rng=2, order="keep").save("release.parquet")
    sf.randomize(table, scheme, rng=2).save("shuffled.parquet")
    Path("scheme.json").write_text(scheme.to_json(), encoding="utf-8")
    rows = [f"{i},n{i},{sex},{town}" for i, (sex, town) in enumerate(zip(*table.values(), strict=True))]
    Path("register.csv").write_text("row,name,sex,town\n" + "\n".join(rows) + "\n", encoding="utf-8")
    Path("others.csv").write_text("name,height\nann,180\n", encoding="utf-8")


def linked(line: str) -> float:
    ran = run(f"attack link {line} --json")
    assert ran.code == 0, ran.error
    return json.loads(ran.out)["details"]["linked"]


def test_people_are_linked_more_often_than_blindly() -> None:
    assert linked("release.parquet --register register.csv") > 2 / 200
    counted = linked("release.parquet --register register.csv --own row")
    assert counted == pytest.approx(linked("release.parquet --register register.csv"), rel=0.4)
    assert linked("scheme.json --register register.csv") == pytest.approx(counted, rel=0.5)
    shown = run("attack link release.parquet --register register.csv").out
    assert "naming anybody 0.995" in shown and "attributes: sex, town" in shown


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("link release.parquet", "needs --register"),
        ("link release.parquet --register others.csv", "shares no attribute with the release"),
        ("link shuffled.parquet --register register.csv --own row", "were shuffled"),
        ("link release.parquet --register register.csv --own town", "must hold the number"),
        ("bayes release.parquet --attribute sex --register register.csv", "takes no --register"),
    ],
)
def test_what_cannot_be_linked_is_refused(line: str, words: str) -> None:
    ran = run(f"attack {line}", width=400)
    assert ran.code == 1 and words in ran.error, ran.error


def test_shuffled_rows_are_held_against_the_truth_by_their_ids() -> None:
    ran = run("randomize register.csv keyed.parquet --scheme scheme.json --id name --key-file own.key")
    assert ran.code == 0, ran.error
    line = "attack bayes keyed.parquet --attribute town --truth register.csv"
    shown = json.loads(run(f"{line} --key-file own.key --json").out)
    assert shown["error"] == pytest.approx(shown["details"]["expected"], abs=0.12)  # 4 standard errors; blindly .7
    assert "error expected if these shares were the true ones: 0." in run(f"{line} --key-file own.key").out
    ran = run("randomize register.csv clear.parquet --scheme scheme.json --id name --clear-ids")
    assert run("attack bayes clear.parquet --attribute town --truth register.csv").code == 0
    Path("nameless.csv").write_text("town\na\n", encoding="utf-8")
    Path("some.csv").write_text("".join(Path("register.csv").read_text().splitlines(True)[:50]), encoding="utf-8")
    assert run("randomize register.csv other.parquet --scheme scheme.json --id name --key-file other.key").code == 0
    for rest, words in (
        (line, "give the key that made them"),
        (f"{line} --key-file other.key", "under another key"),
        (f"{line} --key-file absent.key", "there is no such file"),
        (f"{line.replace('register', 'some')} --key-file own.key", "151 released rows have an id"),
        (f"{line.replace('register', 'nameless')} --key-file own.key", "the truth has no column 'name'"),
        ("attack bayes shuffled.parquet --attribute town --truth register.csv", "carry no ids"),
    ):
        ran = run(rest, width=400)
        assert ran.code == 1 and words in ran.error, ran.error


def test_the_shell_completes_the_names_of_attacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """It offered the files of the folder, as if there were no list."""
    monkeypatch.setenv("_SFUMATO_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "sfumato attack li")
    monkeypatch.setenv("COMP_CWORD", "2")
    assert run("attack li").out.split() == ["link", "linkage"]
