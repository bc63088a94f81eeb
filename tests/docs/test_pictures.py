"""The pictures of the guide are what the package draws today."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest

from conftest import need
from sfumato.arrays import Array
from sfumato.errors import without_warnings
from sfumato.pages.picture import save_picture

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {"serve"}  # shown by a browser, in the letters of the machine
NAMES = sorted({file.stem for file in (DOCS / "pictures").glob("*.png")} - PAGES)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict]:
    monkeypatch.syspath_prepend(DOCS)
    import draw_pictures

    with without_warnings():
        yield draw_pictures.DRAWN
    for name in ("draw_pictures", "diagrams", "page_pictures"):
        sys.modules.pop(name)


def _grey(file: Path) -> Array:
    """A picture in squares of eight pixels: edges of letters that another machine smooths otherwise do not count."""
    found = np.asarray(matplotlib.image.imread(file)[..., :3].mean(-1), dtype=np.float64)
    down, across = (size // 8 for size in found.shape)
    return found[: 8 * down, : 8 * across].reshape(down, 8, across, 8).mean((1, 3))


def _differ(one: Path, other: Path) -> float:
    """The share of the squares that differ by more than an eighth of the way from black to white."""
    a, b = _grey(one), _grey(other)
    return 1.0 if a.shape != b.shape else float((np.abs(a - b) > 1 / 8).mean())


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_of_the_guide_is_what_is_drawn_today(drawn: dict, tmp_path: Path, name: str) -> None:
    save_picture(drawn[name](), tmp_path / "now.png")
    assert _differ(DOCS / "pictures" / f"{name}.png", tmp_path / "now.png") < 0.002, (
        f"python docs/draw_pictures.py {name} draws another picture"
    )


@pytest.mark.parametrize("name", sorted(PAGES))
def test_pages_in_a_picture_say_what_they_say_today(drawn: dict, tmp_path: Path, name: str) -> None:
    need(
        find_spec("playwright") is not None and shutil.which("chromium") is not None,
        "Chromium with Playwright",
        "apt-get install chromium",
    )
    from page_pictures import words_of

    save_picture(drawn[name](), tmp_path / "now.png")
    kept, now = DOCS / "pictures" / f"{name}.png", tmp_path / "now.png"
    assert words_of(kept) == words_of(now), f"python docs/draw_pictures.py {name} draws other words"
    assert matplotlib.image.imread(kept).shape == matplotlib.image.imread(now).shape


def test_every_picture_that_is_drawn_is_there_and_shown(drawn: dict) -> None:
    assert set(drawn) == {*NAMES, *PAGES}
    pages = "".join(page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md") if "_build" not in page.parts)
    assert [name for name in drawn if f"pictures/{name}.png)" not in pages] == []
    assert sorted(file.name for file in DOCS.glob("*.png")) == []  # a picture outside the folder is drawn by nobody


def test_the_table_of_questions_is_what_is_answered_today(drawn: dict) -> None:
    from draw_pictures import asked

    rows = []
    for ev in asked():
        hours, age = ev.mean("hours-per-week", by="sex"), ev.quantile("age", 0.5, by="sex")
        two = ev.correlation("education-num", "hours-per-week")
        both = hours.contrast("Male", "Female"), hours.ratio("Male", "Female")
        answers = ((hours, ".2f"), (both[0], ".2f"), (both[1], ".3f"), (age, ".0f"), (two, ".3f"))
        rows.append([(form, *row) for of, form in answers for row in zip(of.value, *of.interval(), strict=True)])
    said = [
        re.sub(r"(?<!\d)0\.", ".", f"{value:{form}} | {low:{form}} to {high:{form}} | {truth:{form}}")
        for (form, value, low, high), (_, truth, *_) in zip(*rows, strict=True)
    ]
    table = (DOCS / "ask.md").read_text(encoding="utf-8").split("| question | estimate |")[1].split("\n")[2:9]
    assert [row.strip("| ").split(" | ", 1)[1] for row in table] == said


def test_a_few_words_more_make_another_picture(tmp_path: Path) -> None:
    from sfumato.pages.picture import empty_picture

    for words in ("", "59% (54–61%)"):
        figure, axes = empty_picture(6, 3)
        axes.text(0.5, 0.5, words, fontsize=8)
        save_picture(figure, tmp_path / f"{len(words)}.png")
    assert _differ(tmp_path / "0.png", tmp_path / "12.png") > 0.002
