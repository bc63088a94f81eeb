"""Every program in examples/ runs by itself, in an empty folder, and prints something."""

from __future__ import annotations

import contextlib
import io
import runpy
import warnings
from pathlib import Path

import pytest

from sfumato.errors import SfumatoWarning

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
ELSEWHERE = {"spark_job", "three_sites", "zhang04_game"}  # below, and with the papers'


def printed(path: Path) -> str:
    """What a program prints."""
    out = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(out):
        warnings.simplefilter("ignore", SfumatoWarning)
        runpy.run_path(str(path), run_name="__main__")
    return out.getvalue()


@pytest.mark.parametrize("path", [p for p in EXAMPLES if p.stem not in ELSEWHERE], ids=lambda path: path.stem)
def test_the_example_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert len(printed(path)) > 100


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_the_spark_job_runs(spark_session: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "the truth:" in printed(EXAMPLES[0].parent / "spark_job.py")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_says_what_it_shows(path: Path) -> None:
    head = path.read_text(encoding="utf-8").split('"""')[1].strip().splitlines()
    assert set(head[1]) == {"="} and len(head[1]) >= len(head[0]), "a title, underlined, begins the docstring"
    assert len(" ".join(head[2:])) > 60
