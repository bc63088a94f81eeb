"""Shares that people type or write into files: whatever they hold, one line."""

from __future__ import annotations

import pytest
from tests.command_line import run

import sfumato as sf
from sfumato.cli.shares import read_shares


@pytest.fixture
def scheme(tmp_path):
    schema = sf.Schema({"sex": sf.Categorical(("F", "M"))})
    path = tmp_path / "scheme.json"
    path.write_text(sf.Scheme.for_gamma(schema, 3).to_json())
    return path


@pytest.mark.parametrize(
    "text, line",
    [
        (f'{{"sex": [1{"0" * 400}, 0]}}', "must hold numbers"),
        ('{"sex": [1e400, 0]}', "got an entry of inf"),
        ('{"sex": [-1, 2]}', "got an entry of -1.0"),
        ("null", "shares are given as"),
        ("7", "shares are given as"),
        ('{"sex": {"F": {"x": 1}, "M": 2}}', "must hold numbers"),
    ],
)
def test_a_file_of_shares_is_read_or_refused_in_one_line(tmp_path, scheme, text: str, line: str) -> None:
    shares = tmp_path / "shares.json"
    shares.write_text(text)
    ran = run(f"attack bayes {scheme} --attribute sex --shares {shares}")
    assert ran.code == 1 and line in ran.error and ran.error.count("\n") == 1
    assert run(f"assess {scheme} --n 100 --prior {shares}").code == 1


@pytest.mark.parametrize("command", ["attack bayes {} --attribute sex --shares {}", "assess {} --n 100 --prior {}"])
def test_a_raw_table_taken_for_shares_is_not_quoted(tmp_path, scheme, command: str) -> None:
    raw = tmp_path / "patients.json"
    for text in ('[{"sex": "Smith", "age": 471}]', '{"sex": [{"name": "Smith 471"}]}', '{"sex": "Smith 471"}'):
        raw.write_text(text)
        ran = run(command.format(scheme, raw))
        assert ran.code == 1 and "Smith" not in ran.error and "471" not in ran.error


def test_a_long_list_of_shares_is_no_file_name() -> None:
    shares = read_shares(",".join(f"value {i}=0.025" for i in range(40)), "a")
    assert len(shares) == 40
