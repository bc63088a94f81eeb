"""Released codes in words, and rows that fit the terminal."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato import channels as c
from sfumato.cli import app, console
from sfumato.released.in_words import in_words

SCHEMA = sf.Schema(
    {
        "sex": sf.Categorical(("F", "M")),
        "grade": sf.Ordinal(tuple("abcdefgh"), nullable=True),
        "town": sf.Categorical(tuple("uvwxyz")),
        "ill": sf.Categorical(("no", "yes")),
        "job": sf.Categorical(("none", "some")),
    }
)
SCHEME = sf.Scheme(
    SCHEMA,
    {
        "sex": c.binary(0.25, 0.25),
        "grade": sf.Scheme.for_gamma(SCHEMA.select(["grade"]), 3)["grade"],
        "town": c.subset(6, 2),
        ("ill", "job"): c.symmetric((2, 2), 0.3),
    },
)


def test_values_stretches_and_sets():
    assert in_words(SCHEME, "sex", [0, 1]) == ["F", "M"]
    assert in_words(SCHEME, "job", [0, 1]) == ["none", "some"]
    members = SCHEME["town"].membership
    for code in range(SCHEME["town"].m):
        named = in_words(SCHEME, "town", [code])[0].split(" | ")
        assert named == [label for label, inside in zip("uvwxyz", members[:, code], strict=True) if inside]
    grades = in_words(SCHEME, "grade", range(SCHEME["grade"].m))
    assert "a to b" in grades and "no answer" in " ".join(grades)


def test_what_has_no_words_stays():
    assert in_words(SCHEME, "id", ["p1", None, 2.5]) == ["p1", "", "2.5"]


@pytest.fixture
def wide(tmp_path):
    rng = np.random.default_rng(1)
    schema = sf.Schema({f"question{i}": sf.Categorical(("disagree", "agree")) for i in range(12)})
    table = {name: rng.choice(["disagree", "agree"], 30) for name in schema}
    sf.randomize(table, sf.Scheme.for_gamma(schema, 3), rng=rng).save(tmp_path / "wide.parquet")
    return tmp_path / "wide.parquet"


@pytest.mark.parametrize("width", [60, 90, 250])
def test_rows_fit_the_terminal_and_show_labels(wide, monkeypatch, width):
    monkeypatch.setattr(console._out, "_width", width)
    said = CliRunner().invoke(app, ["inspect", str(wide), "--rows", "5"]).stdout
    shown = said[said.index("whole record") :].splitlines()[2:]
    assert all(len(line) <= width for line in shown)
    if width == 250:
        assert len(shown) == 6 and shown[1].split()[0] in ("agree", "disagree")
    else:
        assert [line.split()[0] for line in shown[1:13]] == [f"question{i}" for i in range(12)]
        assert {word for line in shown[1:13] for word in line.split()[1:]} <= {"agree", "disagree"}
