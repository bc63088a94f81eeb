"""sfumato estimate --mean, --median, --quantiles, --cdf, --correlation."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.command_line import run

import sfumato as sf
from sfumato import channels as c


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(2)
    sex = rng.choice(["F", "M"], 2000)
    rows = pa.table(
        {"sex": sex, "pay": np.clip(rng.gamma(3, 9, 2000) + 9 * (sex == "M"), 0, 99), "age": rng.random(2000) * 80}
    )
    schema = sf.Schema(
        {
            "sex": sf.Categorical(("F", "M")),
            "pay": sf.Numeric(0, 100, bins=10, nullable=True),
            "age": sf.Numeric(0, 80, bins=8),
        }
    )
    scheme = sf.Scheme(
        schema, {"sex": c.symmetric(2, 0.1), "pay": c.windows(10, 20, nullable=True), "age": c.windows(8, 9)}
    )
    path = tmp_path_factory.mktemp("releases") / "r.parquet"
    sf.randomize(rows, scheme, rng=sf.experiment(4)).save(path)
    return path


def test_mean_by_group(release: Path, tmp_path: Path) -> None:
    found = run(f"estimate {release} --mean pay --by sex --plot {tmp_path / 'm.svg'}")
    assert found.code == 0 and "mean of pay by sex" in found.out and "no_answer" in found.out
    assert (tmp_path / "m.svg").exists() and found.out.count("±") == 4  # answered and no_answer of two groups
    whole = json.loads(run(f"estimate {release} --mean pay --by sex --json").out)
    assert [row["sex"] for row in whole["rows"]] == ["F", "M"] and whole["population"] == "finite population"
    behind = json.loads(run(f"estimate {release} --mean pay --by sex --population --json").out)
    assert behind["rows"][0]["sd"] > whole["rows"][0]["sd"]


def test_what_has_no_mean_is_told_in_options(release: Path) -> None:
    assert "--columns sex" in run(f"estimate {release} --mean sex", width=300).error


def test_median_quantiles_and_running_shares(release: Path, tmp_path: Path) -> None:
    median = json.loads(run(f"estimate {release} --median pay --where sex=F --json").out)
    assert median["where"] == {"sex": "F"} and median["rows"][0]["q"] == 0.5
    three = json.loads(run(f"estimate {release} --columns pay --quantiles .25,.5,.75 --by sex --json").out)
    assert [row["q"] for row in three["rows"]] == [0.25, 0.5, 0.75] * 2
    running = run(f"estimate {release} --cdf pay --by sex --rows 3 --plot {tmp_path / 'c.svg'}")
    assert "the first 3 of 20 rows" in running.out + running.error and (tmp_path / "c.svg").exists()
    assert run(f"estimate {release} --correlation age,pay").code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("", "say what to estimate"),
        ("--by sex", "say what to estimate"),
        ("--columns sex --by sex", "--by goes with"),
        ("--mean pay --median pay", "two questions"),
        ("--mean pay --by pay", "--by must not name 'pay', which is what is asked about"),
        ("--mean pay --by ,", "--by names nothing"),
        ("--columns pay --quantiles ,", "--quantiles names nothing"),
        ("--columns pay --smooth", "--smooth and --no-smooth go with --mean"),
        ("--correlation age,pay --no-smooth", "--smooth and --no-smooth go with --mean"),
        ("--mean pay --columns sex", "names its own attribute"),
        ("--mean pay --top 3", "--top"),
        ("--mean pay --method mle", "--method mle is about counts: questions take moment"),
        ("--mean sex", "has no order"),
        ("--quantiles .5", "needs the attribute"),
        ("--quantiles half --columns pay", "takes numbers"),
        ("--quantiles 1.5 --columns pay", "(0, 1)"),
        ("--correlation pay", "two attributes"),
    ],
)
def test_bad_questions_get_one_line(release: Path, options: str, message: str) -> None:
    found = run(f"estimate {release} {options}")
    assert found.code != 0 and message in found.error and "Traceback" not in found.error


def test_running_shares_of_many_groups_are_drawn_for_the_largest(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    schema = sf.Schema({"g": sf.Categorical(tuple("abcdefgh")), "x": sf.Ordinal((1, 2, 3))})
    rows = {"g": rng.choice(list("abcdefgh"), 900).tolist(), "x": rng.integers(1, 4, 900).tolist()}
    sf.randomize(rows, sf.Scheme.for_gamma(schema, 9), rng=sf.experiment(1)).save(tmp_path / "r.parquet")
    found = run(f"estimate {tmp_path / 'r.parquet'} --cdf x --by g --plot {tmp_path / 'c.svg'}")
    assert found.code == 0 and "6 of 8 groups" in (tmp_path / "c.svg").read_text()


def test_machines_are_told_what_is_not_known(tmp_path: Path) -> None:
    """A mean of a group that perhaps nobody is in has an estimate in the file, and it says nothing."""
    rng = np.random.default_rng(5)
    schema = sf.Schema({"g": sf.Categorical(("a", "b", "rare")), "x": sf.Numeric(0, 100, bins=10)})
    table = {"g": rng.choice(["a", "b"], 3000).tolist(), "x": (100 * rng.random(3000)).tolist()}
    path = tmp_path / "r.parquet"
    sf.randomize(table, sf.Scheme.for_gamma(schema, 4), rng=sf.experiment(2)).save(path)
    rows = json.loads(run(f"estimate {path} --mean x --by g --json").out)["rows"]
    assert [(row["g"], row["known"]) for row in rows] == [("a", True), ("b", True), ("rare", False)]


@pytest.mark.parametrize("level, said", [(".995", "99.5 %"), (".95", "95 %")])
@pytest.mark.parametrize("asked", ["--mean pay", "--columns sex", "--columns pay --top 3", "--columns sex --robust"])
def test_a_level_is_written_as_it_was_asked_for(release: Path, asked: str, level: str, said: str) -> None:
    more = " --false .01" if "--robust" in asked else ""
    ran = run(f"estimate {release} {asked}{more} --level {level}", width=300)
    assert ran.code == 0, ran.error
    assert f" {said}" in ran.out + ran.error and "100 %" not in ran.out


def test_pictures_write_the_level_as_it_was_asked_for(release: Path) -> None:
    ev = sf.evidence(sf.Release.load(release))
    pictures = (ev.mean("pay", by="sex"), ev.cdf("pay"), ev.counts("sex"), ev.density("age"))
    for found in pictures:
        figure = found.plot(level=0.995)
        figure = getattr(figure, "figure", figure)
        assert any("99.5 %" in text.get_text() for text in figure.findobj(lambda one: hasattr(one, "get_text")))
