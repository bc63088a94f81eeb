"""What a stranger meets first: the files around the code are there and agree with each other."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml

import sfumato as sf

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_version_is_the_same_everywhere() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert PROJECT["version"] == sf.__version__ == citation["version"]
    assert f"## {sf.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_extra_all_holds_every_part_that_a_user_may_need() -> None:
    extras = PROJECT["optional-dependencies"]
    (everything,) = extras["all"]
    named = set(re.search(r"\[(.*)\]", everything)[1].split(","))
    assert named == set(extras) - {"all", "dev", "docs"}


def test_everything_that_the_site_needs_is_pinned() -> None:
    pinned = {
        line.partition("==")[0].lower().replace("_", "-") for line in (ROOT / "constraints.txt").read_text().split()
    }
    needed = {re.split(r"[><=\[]", one)[0].lower() for one in PROJECT["optional-dependencies"]["docs"]}
    assert needed - pinned == set()


def test_the_hosted_configuration_runs_what_ci_runs() -> None:
    hosted = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    steps = [step.get("run", "") for job in hosted["jobs"].values() for step in job["steps"]]
    assert "bash .ci/run" in steps
    assert all((ROOT / script).exists() for line in steps for script in re.findall(r"(?:bash|sudo bash) (\S+)", line))
    for template in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"):
        assert yaml.safe_load(template.read_text()), template.name


def test_the_readme_fits_on_a_screen_and_a_half() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120
