"""A study in rounds on the command line: design, randomize week by week, follow people, assess."""

from __future__ import annotations

import json

import pytest

import sfumato as sf
from command_line import run

MOODS = tuple("abcdefghij")


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    schema = sf.Schema({"mood": sf.Categorical(MOODS), "ill": sf.Categorical(("no", "yes"))})
    (tmp_path / "schema.json").write_text(schema.to_json())
    for week in range(2):
        rows = "".join(f"{i},{MOODS[(i + week) % 10]},{('no', 'yes')[i % 2]}\n" for i in range(60))
        (tmp_path / f"week{week}.csv").write_text(f"patient,mood,ill\n{rows}")
    return tmp_path


def test_a_study_in_rounds(study) -> None:
    made = run("design schema.json --n 20000 --gamma 3 --lifetime 81 --save weekly.json")
    assert made.code == 0
    assert "however many they are: gamma 729" in made.out
    line = "randomize week{0}.csv week{0}.parquet --scheme weekly.json --id patient --key-file k --ledger l.sqlite"
    first = run(f"{line.format(0)} --new-ledger --person-limit 60")
    assert "all answers of one person in the ledger add up to a gamma of 12.99, of at most 60" in first.out
    second = run(f"{line.format(1)} --json")
    assert json.loads(second.out)["person_total"] == pytest.approx(56.16, abs=0.01)
    (study / "week1.csv").write_text((study / "week1.csv").read_text().replace(",no\n", ",yes\n"))
    refused = run(line.format(1) + " --overwrite")
    assert refused.code == 1
    assert "past the limit of 60 for a person" in refused.error
    found = run("attack track week0.parquet --second week1.parquet --json")
    assert 0 < json.loads(found.out)["details"]["found_again"] <= 1
    assert "Over 12 rounds under a key: at most gamma 729" in run("assess weekly.json --n 500 --rounds 12", 100).out


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("design schema.json --n 100 --lifetime 81", "--lifetime goes with one --gamma"),
        ("design schema.json --n 100 --gamma mood=3 --lifetime 81", "--lifetime goes with one --gamma"),
        ("design schema.json --n 100 --gamma 3 --lifetime 5", "lifetime must exceed gamma^2 = 9, got 5"),
        ("attack link week0.csv --n 5", "takes no --second and no --n"),
        ("attack track schema.json --n 5", "this is a schema, which has no channels yet"),
        ("randomize week0.csv r.parquet --scheme schema.json --person-limit 9", "name its file with --ledger"),
    ],
)
def test_bad_requests_are_one_line(study, line: str, says: str) -> None:
    found = run(line)
    assert found.code == 1
    assert says in found.error
    assert len(found.error.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--record-gamma 9 --lifetime 81", "--record-gamma goes with --n, --target, --save and --json only, not with"),
        ("--gamma 3 --lifetime 81 --all-levels mood", "not with --all-levels"),
        ("--gamma 3 --lifetime 81 --target mean", "not with --target"),
        ("--gamma 3 --lifetime 81 --rho2 .5", "not with --rho2"),
        ("--gamma 3 --attribute mood", "--attribute goes with --plot"),
    ],
)
def test_no_wish_is_left_out_of_account(study, options: str, said: str) -> None:
    ran = run(f"design schema.json --n 100 {options}")
    assert ran.code == 1
    assert said in ran.error
