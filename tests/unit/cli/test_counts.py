"""sfumato counts, split and add, from the outside."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato import channels as c
from sfumato.cli import app
from sfumato.errors import ReleaseError, SfumatoError

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.errors.NegativeCountsWarning")

SCHEMA = sf.Schema(
    {"sex": sf.Categorical(("F", "M")), "age": sf.Numeric(0, 80, bins=4), "ill": sf.Categorical(("n", "y"))}
)
SCHEME = sf.Scheme(SCHEMA, {"sex": c.symmetric(2, 0.2), "age": c.symmetric(4, 0.2), "ill": c.symmetric(2, 0.2)})


def run(*arguments) -> str:
    result = CliRunner().invoke(app, list(map(str, arguments)))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


@pytest.fixture(scope="module")
def sites(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sites")
    for number in (1, 2, 3):
        rng = np.random.default_rng(number)
        age = rng.uniform(0, 80, 1500)
        table = {
            "sex": rng.choice(["F", "M"], 1500),
            "age": age,
            "ill": np.where(rng.random(1500) < age / 80, "y", "n"),
        }
        sf.randomize(table, SCHEME, rng=sf.experiment(number)).save(folder / f"{number}.parquet")
        run("counts", folder / f"{number}.parquet", "-o", folder / f"{number}.json")
    return folder


def test_counts_are_estimated_like_their_release(sites) -> None:
    asked = ("--mean", "age", "--by", "sex", "--json")
    assert run("estimate", sites / "1.json", *asked) == run("estimate", sites / "1.parquet", *asked)
    said = run("inspect", sites / "1.json")
    assert "1,500 records" in said and "tables of counts, no rows: 3, sex x age" in said
    assert json.loads(run("inspect", sites / "1.json", "--json"))["tables"][0] == ["sex", "age"]
    document = json.loads(run("counts", sites / "1.parquet", "--table", "ill,sex", "-o", sites / "one.json", "--json"))
    assert document["tables"] == [["sex", "ill"]] and document["records"] == 1500
    with pytest.raises(SfumatoError, match="holds sex and age together"):
        run("estimate", sites / "one.json", *asked)


def test_sites_add_their_counts_in_the_open_or_in_secret(sites) -> None:
    said = run("add", sites / "1.json", sites / "2.json", sites / "3.json", "-o", sites / "open.json")
    assert "4,500 records added up" in said and "3 tables" in said
    for number in (1, 2, 3):
        said = run("split", sites / f"{number}.json", "--sites", 3, "--site", number, "-o", sites / "shares")
        assert f"keep from-{number}-to-{number}.json" in said
    for to in (1, 2, 3):
        came = [sites / "shares" / f"from-{number}-to-{to}.json" for number in (1, 2, 3)]
        assert f"sent to site {to}" in run("add", *came, "-o", sites / f"sum-{to}.json")
    run("add", *(sites / f"sum-{to}.json" for to in (1, 2, 3)), "-o", sites / "secret.json")
    asked = ("--columns", "age,ill", "--json")
    assert run("estimate", sites / "secret.json", *asked) == run("estimate", sites / "open.json", *asked)


def test_learners_say_what_they_can(sites) -> None:
    said = run("learn", "naive-bayes", sites / "1.json", "--target", "ill")
    assert "no records to judge a model by" in said and "age" in said
    assert json.loads(run("learn", "naive-bayes", sites / "1.json", "--target", "ill", "--json"))["estimated"] is None
    assert "1 link," in run("learn", "bayesnet", sites / "1.json", "--max-parents", 1)


def test_what_cannot_be_added_is_refused(sites, tmp_path) -> None:
    run("split", sites / "1.json", "--sites", 3, "--site", 1, "-o", tmp_path)
    share = tmp_path / "from-1-to-1.json"
    for arguments, said in (
        (("add", sites / "1.json", "-o", tmp_path / "x.json"), "at least two files"),
        (("add", sites / "1.json", sites / "1.json", "-o", tmp_path / "x.json"), "named twice"),
        (("add", sites / "1.json", share, "-o", tmp_path / "x.json"), "counts and shares"),
        (("add", sites / "1.json", sites / "1.parquet", "-o", tmp_path / "x.json"), "is no file that"),
        (("split", sites / "1.parquet", "--sites", 3, "--site", 1, "-o", tmp_path / "s"), "only counts can be split"),
        (("split", sites / "1.json", "--sites", 3, "--site", 1, "-o", share), "names a folder"),
        (("split", sites / "1.json", "--sites", 3, "--site", 1, "-o", tmp_path), "already exists"),
        (("estimate", share, "--columns", "age"), "add it up with sfumato add"),
        (("export", sites / "1.json", tmp_path / "x.csv"), "without rows"),
        (("counts", sites / "1.parquet", "-o", tmp_path / "x.csv"), "ends in .json"),
    ):
        with pytest.raises((ReleaseError, SfumatoError), match=said):
            run(*arguments)


def test_tables_of_several_files_are_named_once(sites) -> None:
    out = sites / "twice.json"
    said = run("counts", sites / "1.parquet", sites / "2.parquet", "-o", out)
    assert "3,000 records" in said and "3 tables, sex x age, sex x ill, age x ill" in said
    assert (
        len(
            json.loads(run("counts", sites / "1.parquet", sites / "2.parquet", "-o", out, "--overwrite", "--json"))[
                "tables"
            ]
        )
        == 3
    )
