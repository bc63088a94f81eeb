"""The pictures of the guide are what the package draws today."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest

from sfumato.arrays import Array
from sfumato.errors import without_warnings
from sfumato.pages.picture import save_picture

DOCS = Path(__file__).parents[2] / "docs"
NAMES = sorted(file.stem for file in (DOCS / "pictures").glob("*.png") if file.stem != "serve")  # pages of a browser


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict]:
    monkeypatch.syspath_prepend(DOCS)
    import draw_pictures

    with without_warnings():
        yield draw_pictures.DRAWN
    for name in ("draw_pictures", "diagrams"):
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


def test_a_few_words_more_make_another_picture(tmp_path: Path) -> None:
    from sfumato.pages.picture import empty_picture

    for words in ("", "59% (54–61%)"):
        figure, axes = empty_picture(6, 3)
        axes.text(0.5, 0.5, words, fontsize=8)
        save_picture(figure, tmp_path / f"{len(words)}.png")
    assert _differ(tmp_path / "0.png", tmp_path / "12.png") > 0.002
