"""sfumato learn bayesnet, from the outside."""

from __future__ import annotations

import json
from math import nan

import numpy as np
import pytest
from scipy.stats import chi2
from typer.testing import CliRunner

import sfumato as sf
from sfumato import channels as c
from sfumato.cli import app
from sfumato.learn import BayesianNetwork
from sfumato.learn.bayesnet.edges import Edge, edge_rows, words_of_p_values, words_of_tests
from sfumato.learn.bayesnet.published_networks import gallery

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.errors.UnrecoverableWarning")


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    net = gallery("survey")
    scheme = sf.Scheme(net.schema_, {name: c.symmetric(domain.size, 0.1) for name, domain in net.schema_.items()})
    path = tmp_path_factory.mktemp("release") / "r.parquet"
    sf.randomize(net.sample(8000, rng=1), scheme, rng=2).save(path)
    return path


def run(*arguments) -> str:
    result = CliRunner().invoke(app, ["learn", "bayesnet", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def test_order_plot_and_bif(release, tmp_path) -> None:
    said = run(
        release, "--order", "A,S,E,O,R,T", "--plot", tmp_path / "net.svg", "--tables", "--bif", tmp_path / "n.bif"
    )
    assert "6 nodes" in said and "p-value" in said
    assert (tmp_path / "net.svg").read_text().lstrip().startswith("<?xml")
    assert set(BayesianNetwork.from_bif(tmp_path / "n.bif").parents_) == set("ASEORT")


def test_structure_and_json(release, tmp_path) -> None:
    (tmp_path / "s.json").write_text(json.dumps({n: list(h) for n, h in gallery("survey").parents_.items()}))
    document = json.loads(run(release, "--structure", tmp_path / "s.json", "--json"))
    assert document["parents"]["T"] == ["O", "R"] and len(document["edges"]) == 6
    assert all(edge["trend"] is None for edge in document["edges"])
    cell = document["probabilities"]["A"][0]
    assert cell["low"] <= cell["probability"] <= cell["high"] and abs(cell["probability"] - 0.3) < 0.05


def test_edges_show_their_trend(tmp_path) -> None:
    a = np.random.default_rng(1).integers(0, 5, 4000)
    schema = sf.Schema({"age": sf.Numeric(0, 5, bins=5), "steps": sf.Ordinal((0, 1, 2, 3, 4))})
    scheme = sf.Scheme(schema, {name: c.symmetric(5, 0.2) for name in schema})
    sf.randomize({"age": a + 0.5, "steps": 4 - a}, scheme, rng=2).save(tmp_path / "r.parquet")
    said = run(tmp_path / "r.parquet")
    assert "trend" in said and "positive where both rise together" in said
    (edge,) = json.loads(run(tmp_path / "r.parquet", "--json"))["edges"]
    assert edge["trend"] < -10


def test_bad_requests(release, tmp_path) -> None:
    (tmp_path / "s.json").write_text('{"A": ["nobody"]}')
    for arguments, said in (
        (("--structure", tmp_path / "s.json"), "names 'nobody'"),
        (("--order", "A,Z"), "the order names 'Z'"),
        (("--score", "aic"), "score must be one of"),
        (("--order", "A,S,E,O,R,T", "--structure", tmp_path / "s.json"), "and not both"),
    ):
        with pytest.raises(sf.SfumatoError, match=said):
            run(release, *arguments)


def test_without_order_and_as_a_tree(release) -> None:
    assert "links" in run(release, "--max-parents", 2)
    assert "5 links" in run(release, "--tree")


def test_long_tables_are_left_out_unless_asked_for(tmp_path) -> None:
    rng = np.random.default_rng(3)
    first = rng.integers(0, 12, 4000)
    table = {"a": first, "b": (first + rng.integers(0, 2, 4000)) % 12, "c": rng.integers(0, 2, 4000)}
    schema = sf.Schema({"a": sf.Ordinal(range(12)), "b": sf.Ordinal(range(12)), "c": sf.Ordinal(range(2))})
    scheme = sf.Scheme(schema, {name: c.symmetric(domain.size, 0.05) for name, domain in schema.items()})
    sf.randomize(table, scheme, rng=1).save(tmp_path / "r.parquet")
    said = run(tmp_path / "r.parquet")
    assert "144 rows of the tables of" in said and len(said.splitlines()) < 40
    whole = run(tmp_path / "r.parquet", "--all")
    assert "not printed" not in whole and len(whole.splitlines()) > 150


def test_probabilities_that_nothing_supports_are_not_known(tmp_path) -> None:
    schema = sf.Schema({"a": sf.Categorical(("x", "y", "z")), "b": sf.Categorical(("no", "yes"))})
    table = {"a": ["x", "y"] * 1500, "b": ["no", "no", "yes", "yes"] * 750}
    scheme = sf.Scheme(schema, {"a": c.symmetric(3, 0.4), "b": c.symmetric(2, 0.3)})
    sf.randomize(table, scheme, rng=sf.experiment(1)).save(tmp_path / "r.parquet")
    (tmp_path / "net.json").write_text('{"b": ["a"], "a": []}')
    said = [line for line in run(tmp_path / "r.parquet", "--structure", tmp_path / "net.json").splitlines() if line]
    rows = [line.split() for line in said if line.startswith("z ")]
    assert [row[2:] for row in rows if len(row) > 2 and row[1] in ("no", "yes")] == [["not", "known"]] * 2


def test_no_known_probability_has_the_error_of_a_ratio_by_nothing() -> None:
    schema = sf.Schema({"a": sf.Categorical(tuple("uvwxyz")), "b": sf.Categorical(tuple("abcdef"))})
    rng = np.random.default_rng(1)
    table = {"a": rng.choice(list("uv"), 3000).tolist(), "b": rng.choice(list("abcdef"), 3000).tolist()}
    found = 0
    for seed in range(4):
        release = sf.randomize(table, sf.Scheme.for_gamma(schema, 4), rng=sf.experiment(seed))
        frame = BayesianNetwork({"a": [], "b": ["a"]}).fit(sf.evidence(release)).cpt("b").frame("pandas")
        found += int((frame["sd"] > 0.5).sum())
        assert (frame["sd"][frame["known"]] < 0.5).all() and frame["known"][frame["a"].isin(["u", "v"])].all()
    assert found


def test_a_link_shows_the_statistic_that_its_p_value_comes_from() -> None:
    edges = [Edge("a", "b", 37.2, 2, 8.5e-10, nan, "means"), Edge("b", "c", 40.0, 6, 1e-8, 2.5)]
    header, rows = edge_rows(edges)
    assert header == ["parent", "child", "test", "statistic", "df", "p-value", "trend"]
    assert rows == [["a", "b", "means", 37.2, 2, "8.5e-10", ""], ["b", "c", "any", 40.0, 6, "1e-08", "+2.5"]]
    assert "means: groups differ in their means" in words_of_tests(edges) and "bend" not in words_of_tests(edges)
    assert words_of_tests(edges[1:]) == "" and "test" not in edge_rows(edges[1:])[0]
    assert edge_rows([Edge("a", "b", 0.0, 0, 1.0)])[1] == [["a", "b", "not tested", "", ""]]


def test_a_p_value_that_is_not_its_statistics_own_is_explained() -> None:
    """17.9 with 2 degrees of freedom stood beside .0065, where a table says .00013."""
    bend, trend = Edge("a", "b", 17.9, 2, 0.00013 / 0.02, -1.5, "bend"), Edge("b", "c", 13.18, 1, 0.00029, 3.6, "trend")
    assert "divided by its test's share (trend and means 0.97, bend 0.02" in words_of_p_values([trend, bend])
    assert words_of_p_values([trend]) == "" and words_of_p_values([Edge("a", "b", 0.0, 0, 1.0)]) == ""


def test_groups_that_differ_in_their_means_carry_the_statistic_of_that(tmp_path) -> None:
    """Given another parent of many values few configurations are clear enough for a test of all differences."""
    rng = np.random.default_rng(4)
    n, size = 8000, 12
    sex, place = rng.integers(0, 2, n), rng.integers(0, 40, n)
    age = np.clip(rng.integers(0, size, n) + 4 * sex, 0, size - 1)
    schema = sf.Schema(
        {"sex": sf.Categorical((0, 1)), "place": sf.Categorical(range(40)), "age": sf.Ordinal(range(size))}
    )
    table = {"sex": sex, "place": place, "age": age}
    sf.randomize(table, sf.Scheme.for_gamma(schema, 9), rng=sf.experiment(5)).save(tmp_path / "r.parquet")
    (tmp_path / "net.json").write_text('{"sex": [], "place": [], "age": ["sex", "place"]}')
    found = json.loads(run(tmp_path / "r.parquet", "--structure", tmp_path / "net.json", "--json"))["edges"]
    told = next(edge for edge in found if edge["parent"] == "sex")
    assert told["test"] == "means" and told["df"] == 1 and told["p_value"] < 1e-4
    assert chi2.sf(told["statistic"], 1) / 0.97 == pytest.approx(told["p_value"])
