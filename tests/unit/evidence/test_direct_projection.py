"""Projecting the moment estimate of an ordered attribute is said to be biased; nobody is led to it."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli import app
from sfumato.errors import BiasWarning, NegativeCountsWarning, SfumatoWarning

ROOT = Path(__file__).parents[3]
SCHEMA = sf.Schema({"sex": sf.Categorical(("F", "M")), "age": sf.Numeric(0, 96, bins=32), "flag": sf.Ordinal((0, 1))})


@pytest.fixture
def release() -> sf.Release:
    rng = np.random.default_rng(7)
    table = {
        "sex": rng.choice(["F", "M"], 4000),
        "age": np.minimum(rng.exponential(18, 4000), 95.9),
        "flag": rng.integers(0, 2, 4000),
    }
    return sf.randomize(table, sf.Scheme.for_gamma(SCHEMA, 2), rng=3)


def warned(release: sf.Release, *asked: list[str]) -> list[str]:
    evidence = sf.evidence(release, method="project")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for names in asked:
            evidence.counts(names)
    return [str(w.message) for w in seen if issubclass(w.category, BiasWarning)]


def test_projection_of_an_ordered_attribute_is_warned_of_once_and_says_what_to_use(release: sf.Release) -> None:
    (line,) = warned(release, ["age"], ["sex", "age"], ["age"])
    assert "age" in line and "sex" not in line
    assert '"mle"' in line and '"moment"' in line
    assert issubclass(BiasWarning, SfumatoWarning)


def test_projection_of_anything_else_is_not_warned_of(release: sf.Release) -> None:
    assert not warned(release, ["sex"], ["flag"], ["sex", "flag"])
    unchanged = sf.evidence({"age": [3.0, 4.0]}, SCHEMA.select(["age"]), method="project")
    assert unchanged.counts("age").value.sum() == 2


def test_projection_biases_the_mean_and_what_is_named_instead_does_not(release: sf.Release) -> None:
    errors = {}
    for method in ("moment", "mle", "project"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SfumatoWarning)
            shares = sf.evidence(release, method=method).counts("age").value / 4000
        errors[method] = abs(shares @ (np.arange(32) * 3 + 1.5) - 18)
    assert max(errors["moment"], errors["mle"]) < 5
    assert errors["project"] > 2 * max(errors["moment"], errors["mle"])


def test_neither_the_readme_nor_help_nor_another_warning_suggests_it(release: sf.Release) -> None:
    assert '"project"' not in (ROOT / "README.md").read_text()
    shown = CliRunner().invoke(app, ["estimate", "--help"], env={"COLUMNS": "200"}).output
    assert "--method" in shown and "project" not in shown
    with pytest.warns(NegativeCountsWarning) as seen:
        sf.evidence(release).counts("age")
    assert not any("project" in str(w.message) for w in seen)


def test_the_command_line_estimates_ordered_attributes_without_warning(release: sf.Release, tmp_path: Path) -> None:
    release.save(tmp_path / "r.parquet")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = CliRunner().invoke(app, ["estimate", str(tmp_path / "r.parquet"), "--columns", "age"])
    assert found.exit_code == 0 and "method mle" in found.output
