"""The documentation site: every page is reached from the first one, and links between pages lead somewhere.

The build itself (``make docs``, warnings are errors) is a step of CI. These checks need no Sphinx.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    page for page in DOCS.rglob("*") if page.suffix in {".md", ".rst"} and not {"_build", "gallery"} & {*page.parts}
]
LINK = re.compile(r"(?<!\!)\[[^\]]+\]\(([^)#\s]+)(?:#[^)]*)?\)")
PICTURE = re.compile(r"\!\[([^\]]*)\]\(([^)\s]+)\)")
TREE = re.compile(r"^:::\{toctree\}\n(.*?)^:::", re.M | re.S)


def listed(page: Path) -> set[Path]:
    """The pages in the tables of contents of a page."""
    text = page.read_text(encoding="utf-8")
    found = "\n".join(TREE.findall(text))
    if page.suffix == ".rst":
        found = "".join(re.findall(r"^\.\. toctree::\n(.*)", text, re.M | re.S))
    names = [line.strip() for line in found.splitlines() if line.strip() and not line.strip().startswith(":")]
    files = [page.parent / f"{name}{suffix}" for name in names for suffix in (".md", ".rst")]
    return {file.resolve() for file in files if file.exists()}


def test_every_page_is_reached_from_the_first_one() -> None:
    reached, waiting = set(), [DOCS / "index.md"]
    while waiting:
        page = waiting.pop()
        reached.add(page)
        waiting += [other for other in listed(page) if other not in reached]
    assert sorted(str(page.relative_to(DOCS)) for page in PAGES if page not in reached) == []


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere_and_pictures_say_what_they_show(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    inside = [target for target in LINK.findall(text) if not target.startswith(("http", "mailto", "<"))]
    assert [t for t in inside if not (page.parent / t).exists() and not t.startswith("gallery/")] == []
    for words, target in PICTURE.findall(text):
        assert (page.parent / target).exists(), target
        assert len(words) > 15, f"{target} needs a text for those who do not see it"


def test_the_reference_lists_every_public_name() -> None:
    import sfumato as sf

    pages = "\n".join(page.read_text() for page in (DOCS / "api").glob("*.rst"))
    whole = set(re.findall(r"automodule:: sfumato\.([\w.]+)", pages))
    named = set(re.findall(r"auto(?:class|function):: (?:[\w.]+\.)?(\w+)", pages))
    modules = {name for name in sf.__all__ if isinstance(getattr(sf, name), ModuleType)} - {"datasets"}
    assert modules == {name.rpartition(".")[2] for name in whole}
    known = named | {name for module in whole for name in vars(importlib.import_module(f"sfumato.{module}"))}
    assert sorted(name for name in sf.__all__ if name not in known | modules | {"datasets"}) == []


def test_docstrings_become_plain_markup() -> None:
    sys.path.insert(0, str(DOCS / "extensions"))
    try:
        code = (DOCS / "extensions" / "plain_docstrings.py").read_text()
        tree = ast.parse(code)
        tree.body = [n for n in tree.body if not (isinstance(n, ast.ImportFrom) and n.module == "sphinx.application")]
        space = {"Sphinx": object}
        exec(compile(tree, "plain_docstrings", "exec"), space)
    finally:
        sys.path.pop(0)
    given = ["Keep |x| and parents_ and ``a*b``.", "", "    P[x, y] = 1", "", "After.", "", ">>> 2 * 2", "4"]
    want = [
        r"Keep \|x\| and parents\_ and ``a*b``.",
        "",
        "::",
        "",
        "    P[x, y] = 1",
        "",
        "After.",
        "",
        ">>> 2 * 2",
        "4",
    ]
    assert space["plain"](given) == want
