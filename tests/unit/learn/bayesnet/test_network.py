"""The model after learning: exact answers against the full joint table, exchange formats, pictures, bad input."""

from __future__ import annotations

import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from conftest import need
from gallery import rest_clear
from sfumato import channels as c
from sfumato.errors import EstimationError, MissingPartError, SfumatoError, SfumatoWarning
from sfumato.learn import BayesianNetwork
from sfumato.learn.bayesnet.published_networks import NETWORKS, gallery, random_network
from sfumato.learn.bayesnet.scores import make_score
from sfumato.learn.bayesnet.structure import read_structure, skeleton


def joint(net: BayesianNetwork) -> np.ndarray:
    """The full joint table, one product after the other."""
    names = net.schema_.names
    out = np.ones(net.schema_.sizes())
    for node, cpt in net.cpts_.items():
        axes = [*cpt.parents, node]
        order = sorted(range(len(axes)), key=lambda i: names.index(axes[i]))
        shape = [net.schema_[n].size if n in axes else 1 for n in names]
        out = out * cpt.values.transpose(order).reshape(shape)
    return out


@pytest.mark.parametrize("name", ["asia", "survey", "sachs"])
def test_marginals_and_queries_are_those_of_the_joint_table(name) -> None:
    net = gallery(name)
    table, names = joint(net), list(net.schema_.names)
    last, first = names[-1], names[0]
    axes = tuple(i for i, n in enumerate(names) if n not in (first, last))
    np.testing.assert_allclose(net.marginal([last, first]), table.sum(axes).T, atol=1e-12)
    value = net.schema_[last].labels[0]
    slice_ = np.take(table, 0, axis=len(names) - 1)
    expected = slice_.sum(tuple(range(1, len(names) - 1)))
    found = net.query(first, {last: value})
    np.testing.assert_allclose(list(found.values()), expected / expected.sum(), atol=1e-12)


def test_pgmpy_answers_the_same_and_the_network_comes_back_from_it() -> None:
    need(find_spec("pgmpy") is not None, "pgmpy", "pip install 'sfumato[bayes]'")
    net = gallery("asia")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = net.query(["lung", "bronc"], {"dysp": "yes", "xray": "no"}, engine="pgmpy")
        back = BayesianNetwork.from_pgmpy(net.to_pgmpy())
    ours = net.query(["lung", "bronc"], {"dysp": "yes", "xray": "no"})
    assert ours.keys() == theirs.keys()
    np.testing.assert_allclose(list(ours.values()), list(theirs.values()), atol=1e-12)
    assert {n: set(h) for n, h in back.parents_.items()} == {n: set(h) for n, h in net.parents_.items()}
    assert back.score(net) < 1e-12


def test_pgmpy_reads_our_bif_and_we_read_theirs(tmp_path) -> None:
    need(find_spec("pgmpy") is not None, "pgmpy", "pip install 'sfumato[bayes]'")
    net = gallery("sachs")
    net.to_bif(tmp_path / "ours.bif")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy.readwrite import BIFReader, BIFWriter

        model = BIFReader(str(tmp_path / "ours.bif")).get_model()
        BIFWriter(model).write(str(tmp_path / "theirs.bif"))
        assert BayesianNetwork.from_pgmpy(model).score(net) < 1e-9
    assert BayesianNetwork.from_bif(tmp_path / "theirs.bif").score(net) < 1e-6


def test_without_pgmpy_the_request_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "pgmpy"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pgmpy", None)  # as if it were not installed
    with pytest.raises(MissingPartError, match=r'pip install "sfumato\[bayes\]"'):
        gallery("asia").to_pgmpy()


@pytest.mark.parametrize("name", NETWORKS)
def test_bif_round_trip(name, tmp_path) -> None:
    net = gallery(name)
    net.to_bif(tmp_path / "net.bif")
    back = BayesianNetwork.from_bif(tmp_path / "net.bif")
    assert back.parents_ == net.parents_ and back.schema_ == net.schema_
    for node in net.parents_:
        np.testing.assert_array_equal(back.cpt(node).values, net.cpt(node).values)


def test_bif_keeps_numeric_ordinal_and_nullable_domains() -> None:
    schema = sf.Schema(
        {
            "age": sf.Numeric(0, 100, bins=3),
            "grade": sf.Ordinal(("a b", 'quo"te'), nullable=True),
            "n": sf.Categorical((1, 2)),
        }
    )
    tables = {"age": [0.2, 0.3, 0.5], "grade": np.full((3, 3), 1 / 3), "n": [0.5, 0.5]}
    net = BayesianNetwork.of(schema, {"age": [], "grade": ["age"], "n": []}, tables)
    back = BayesianNetwork.from_bif(net.to_bif())
    assert back.schema_ == schema
    assert back.score(net) < 1e-12


def test_a_printed_network_lists_its_links() -> None:
    net = BayesianNetwork().fit(sf.evidence(gallery("asia").sample(3000, rng=1), gallery("asia").schema_))
    lines = str(net).splitlines()
    assert lines[0] == repr(net) and lines[1].split()[:2] == ["parent", "child"]
    assert [tuple(line.split()[:2]) for line in lines[2:]] == [(edge.parent, edge.child) for edge in net.edges_]
    assert str(BayesianNetwork()) == repr(BayesianNetwork())


AWKWARD = {
    "a b": ("x y", 'z,"q"', "it's"),
    "ünï": ("é", "{}", "|;"),
    'c,"d"': ("1", "1.0", "01"),
    "back\\slash": ("a\nb", "//not a comment", "/* nor this */"),
    "variable": ("table", "default", "property"),
}


def test_bif_keeps_awkward_names_and_values(tmp_path) -> None:
    schema = sf.Schema({name: sf.Categorical(values) for name, values in AWKWARD.items()})
    names = list(schema)
    parents = {name: names[max(i - 2, 0) : i] for i, name in enumerate(names)}
    rng = np.random.default_rng(1)
    net = BayesianNetwork.of(
        schema, parents, {name: rng.dirichlet(np.ones(3), schema.sizes(parents[name])) for name in names}
    )
    net.to_bif(tmp_path / "n.bif")
    assert (tmp_path / "n.bif").read_text(encoding="utf-8") == net.to_bif()
    back = BayesianNetwork.from_bif(tmp_path / "n.bif")
    assert back.schema_ == schema and back.parents_ == net.parents_
    for name in names:
        np.testing.assert_array_equal(back.cpt(name).values, net.cpt(name).values)


def test_bif_of_other_writers() -> None:
    """Plain words with signs, comments, defaults, a position property."""
    text = """network unknown { property "made elsewhere" ; } // a comment
    variable age { type discrete [ 2 ] { <7.5, >=7.5 }; property position = (73, 165) ; }
    variable sick { type discrete [ 2 ] { Yes/Severe, No }; }
    /* variable ghost { } */
    probability ( age ) { table 0.25, 0.75; }
    probability ( sick | age ) { default 0.1, 0.9; (<7.5) 0.6, 0.4; }
    """
    net = BayesianNetwork.from_bif(text)
    assert net.schema_["age"].labels == ("<7.5", ">=7.5")
    np.testing.assert_array_equal(net.cpt("sick").values, [[0.6, 0.4], [0.1, 0.9]])


@pytest.mark.parametrize(
    "text, said",
    [
        ("variable a {\n type discrete [3] {0, 1};\n}\n", "'a' names 2 values and says it has another number"),
        ("network x {\n}\n", "declares no variables"),
        ("variable a {\n type discrete [ 2 ] { 0, 1 };\n}\n", "gives no probabilities for 'a'"),
        ("variable a {\n type discrete [2] {0, 1};\n}\nprobability (b) { table .5, .5; }\n", "names 'b'"),
        ("variable a {\n type discrete [2] {0, 1};\n}\nprobability (a) { table .5; }\n", "must have 2 numbers, got 1"),
        (
            "variable a {\n type discrete [2] {0, 1};\n}\nprobability (a) { table .5, x; }\n",
            "line 4: expected a number among the probabilities of 'a'",
        ),
        ("variable a {\n type discrete [2] {0, 1};\n}\nprobability (a) { table .5, .6; }\n", "sum to 1"),
        ("variable a {\n type discrete [2] {0, 1};\n}\nprobability (a | a", "ends in the middle"),
        ("variable a {\n type continuous;\n}\n", "is not discrete"),
    ],
)
def test_damaged_bif_is_one_clear_line(text, said) -> None:
    with pytest.raises(EstimationError, match=said) as problem:
        BayesianNetwork.from_bif(text)
    assert "\n" not in str(problem.value)


def test_sampling_follows_the_network() -> None:
    net = gallery("asia")
    n = 200_000
    rows = net.schema_.encode(net.sample(n, rng=1))
    for node in ("either", "dysp"):
        share = (rows[node] == 0).mean()
        p = net.marginal([node])[0]
        assert abs(share - p) < 5 * np.sqrt(p * (1 - p) / n)
    assert net.sample(5, rng=2).equals(net.sample(5, rng=2))


def test_prediction_is_bayes_rule_and_needs_only_the_blanket() -> None:
    net = gallery("asia")
    rows = {"smoke": ["yes", "no"], "either": ["yes", "no"], "tub": ["no", "no"]}
    share = net.predict_proba(rows, "lung")
    for i in range(2):
        given = {name: column[i] for name, column in rows.items()}
        expected = list(net.query("lung", given).values())
        np.testing.assert_allclose(share[i], expected, atol=1e-12)
    assert net.predict(rows, "lung").tolist() == ["yes", "no"]
    assert net.predict({"tub": ["yes", "no"]}, "asia").tolist() == ["no", "no"]
    with pytest.raises(EstimationError, match="needs column 'tub'"):
        net.predict({"smoke": ["yes"], "either": ["yes"]}, "lung")


def test_log_likelihood_and_distance_are_those_of_the_joint_table() -> None:
    net, other = gallery("survey"), gallery("survey")
    other.cpts_["O"] = BayesianNetwork.of(
        net.schema_, net.parents_, {n: cpt.values if n != "O" else np.full((2, 2), 0.5) for n, cpt in net.cpts_.items()}
    ).cpts_["O"]
    p, q = joint(net), joint(other)
    assert other.score(net) == pytest.approx(float((p * np.log(p / q)).sum()), rel=1e-9)
    assert net.score(net) == 0
    table = net.sample(200, rng=3)
    codes = net.schema_.encode(table)
    expected = float(np.log(p[tuple(codes[name] for name in net.schema_.names)]).sum())
    assert net.log_likelihood(table) == pytest.approx(expected)
    assert net.log_likelihood(sf.evidence(table, net.schema_)) == pytest.approx(expected)
    assert net.score(table) == pytest.approx(expected / 200)


def test_pictures_are_drawn(tmp_path) -> None:
    net = gallery("asia")
    for target in ("net.svg", "net.png"):
        net.plot(tmp_path / target, cpts="dysp", truth=net.parents_)
        assert (tmp_path / target).stat().st_size > 5000
    with pytest.raises(EstimationError, match="there is no node 'nobody'"):
        net.plot(cpts=["nobody"])
    wide = random_network(4, 3, (4, 4), links=3.0)
    figure = wide.plot(cpts=True)
    assert any("and 48 rarer rows" in text.get_text() for axes in figure.axes for text in axes.texts)
    assert max(figure.get_size_inches()) < 20
    with pytest.raises(SfumatoError, match="no does not exist"):
        net.plot(tmp_path / "no" / "net.png")


def test_tables_in_pictures_show_the_commonest_values():
    labels = tuple(f"v{i}" for i in range(14))
    schema = sf.Schema({"a": sf.Categorical(("no", "yes")), "b": sf.Categorical(labels)})
    rows = {"a": ["no", "yes"] * 100, "b": [labels[13]] * 100 + [labels[i % 13] for i in range(100)]}
    net = BayesianNetwork(parents={"a": [], "b": ["a"]}).fit(sf.evidence(rows, schema))
    texts = [text.get_text() for axes in net.plot(cpts="b").axes for text in axes.texts]
    assert "v13" in texts and "and 4 rarer values" in texts


SCHEMA = sf.Schema({name: sf.Categorical((0, 1)) for name in "abc"})
ROWS = {name: [0, 1, 0, 1, 1, 0] for name in "abc"}


@pytest.mark.parametrize(
    "options, said",
    [
        ({"parents": {"a": ["c"], "b": ["a"], "c": ["b"]}}, "cyclic: .* -> "),
        ({"parents": {"a": [], "b": ["a"]}}, "does not say what the parents of c are"),
        ({"parents": {"a": [], "b": ["x"], "c": []}}, "names 'x', which is no attribute"),
        ({"parents": {"a": ["a"], "b": [], "c": []}}, "must be distinct other nodes"),
        ({"parents": {"a": [], "b": "a", "c": []}}, "must be a list of names"),
        ({"order": ["a", "b", "c", "a"]}, "the order names 'a' twice"),
        ({"order": ["a", "b", "x"]}, "the order names 'x'"),
        ({"score": "aic"}, "score must be one of wald, bic, bayes, bdeu"),
        ({"max_parents": -1}, "max_parents must be at least 0, got -1"),
        ({"max_parents": 2.5}, "max_parents must be a whole number, got 2.5"),
        ({"parents": [("a", "b")]}, "parents must look like"),
        ({"parents": {"a": [], "b": None, "c": []}}, "must be a list of names, got None"),
        ({"order": 3}, "order must be a list of names, got 3"),
        ({"prior": None}, "prior must be a number"),
        ({"prior": float("inf")}, "prior must be a finite number"),
        ({"score": "bayes", "eta": "x"}, "eta must be a number"),
        ({"score": "bic", "penalty": "x"}, "penalty must be a number"),
        ({"parents": {}, "order": []}, "and not both"),
        ({"score": "bayes", "eta": 0.0, "order": ["a", "b", "c"]}, "eta must lie in"),
        ({"score": "bic", "penalty": 0.0, "order": ["a", "b", "c"]}, "penalty must be positive"),
    ],
)
def test_bad_structures_are_one_clear_line(options, said) -> None:
    with pytest.raises(EstimationError, match=said) as problem:
        BayesianNetwork(**options).fit(sf.evidence(ROWS, SCHEMA))
    assert "\n" not in str(problem.value)


def test_a_bound_whose_table_would_not_fit_says_its_size() -> None:
    schema = sf.Schema({f"v{i}": sf.Numeric(0, 1, bins=100) for i in range(5)})
    seen = sf.evidence({name: [0.5, 0.2] for name in schema}, schema)
    with pytest.raises(EstimationError, match=r"max_parents = 3 allows tables of 100000000 cells"):
        BayesianNetwork(max_parents=3, score="bic").fit(seen)
    with pytest.raises(EstimationError, match=r"would need a table of 10000000000 cells"):
        BayesianNetwork({"v0": [f"v{i}" for i in range(1, 5)]} | {f"v{i}": [] for i in range(1, 5)}).fit(seen)


def test_a_singular_channel_is_refused_by_name() -> None:
    scheme = rest_clear(SCHEMA, {"b": c.matrix([[0.5, 0.5], [0.5, 0.5]])})
    release = sf.Release(pa.table({name: np.array([0, 1], dtype=np.uint8) for name in "abc"}), scheme)
    for options in ({"order": ["a", "b", "c"]}, {"parents": {"a": [], "b": ["a"], "c": []}}, {}):
        with pytest.raises(EstimationError, match=r"b: the channel .* is not invertible"):
            BayesianNetwork(**options).fit(sf.evidence(release))


def test_no_rows_and_no_fit_are_said() -> None:
    empty = sf.evidence({name: [] for name in "abc"}, SCHEMA)
    with pytest.raises(EstimationError, match="holds no rows"):
        BayesianNetwork().fit(empty)
    with pytest.raises(EstimationError, match="call fit first"):
        BayesianNetwork().cpt("a")
    with pytest.raises(EstimationError, match="fit takes evidence"):
        BayesianNetwork().fit(ROWS)
    with pytest.raises(EstimationError, match="there is no node 'x'"):
        gallery("asia").cpt("x")
    with pytest.raises(EstimationError, match="xray has no value 'maybe'; it has yes, no"):
        gallery("asia").query("lung", {"xray": "maybe"})
    with pytest.raises(EstimationError, match="for each once"):
        gallery("asia").query(["lung", "lung"])
    with pytest.raises(EstimationError, match="nothing to score"):
        gallery("asia").score(gallery("asia").sample(2, rng=1).slice(0, 0))
    with pytest.raises(EstimationError, match="call fit first"):
        gallery("asia").score(BayesianNetwork())
    with pytest.raises(EstimationError, match="call fit first"):
        BayesianNetwork.merge([BayesianNetwork()])
    with pytest.raises(EstimationError, match="takes a pgmpy DiscreteBayesianNetwork"):
        BayesianNetwork.from_pgmpy(3)
    with pytest.raises(EstimationError, match="n must be at least 1, got 0"):
        gallery("asia").sample(0)
    with pytest.raises(EstimationError, match="rng must be"):
        gallery("asia").sample(3, rng="x")
    with pytest.raises(EstimationError, match="cannot happen"):
        gallery("asia").query("xray", {"either": "no", "lung": "yes"})


def test_an_attribute_with_one_value_depends_on_nothing() -> None:
    schema = sf.Schema({"a": sf.Categorical((0, 1)), "b": sf.Categorical((7,)), "c": sf.Categorical((0, 1))})
    seen = sf.evidence({"a": [0, 1] * 50, "b": [7] * 100, "c": [0, 1] * 50}, schema)
    for options in ({}, {"order": ["b", "a", "c"]}, {"score": "bdeu"}):
        net = BayesianNetwork(**options).fit(seen)
        assert skeleton(net.parents_) == {frozenset("ac")}
    edges = {(e.parent, e.child): e for e in BayesianNetwork({"a": (), "b": ("a",), "c": ("b",)}).fit(seen).edges_}
    assert edges["a", "b"].df == 0 and edges["a", "b"].p_value == 1


def test_one_record_shows_no_link() -> None:
    for score in ("wald", "bic", "bayes", "bdeu"):
        seen = sf.evidence({name: [1] for name in "abc"}, SCHEMA)
        for options in ({"order": ["a", "b", "c"]}, {}):
            assert not BayesianNetwork(score=score, **options).fit(seen).edges_


def test_structure_files(tmp_path: Path) -> None:
    good = tmp_path / "s.json"
    good.write_text('{"a": [], "b": ["a"]}')
    assert read_structure(good) == {"a": (), "b": ("a",)}
    gallery("asia").to_bif(tmp_path / "s.bif")
    (tmp_path / "s.BIF").write_text((tmp_path / "s.bif").read_text())
    for name in ("s.bif", "s.BIF"):
        assert read_structure(tmp_path / name)["either"] == ("lung", "tub")
    for text, said in (
        ("[1]", "must look like"), ("{", "neither BIF nor JSON"), ('{"a": "b"}', "must look like"), (" ", "is empty"),
        ('{"a": [], "a": ["b"], "b": []}', "gives the parents of 'a' twice"), ("network x {", "ends in the middle"),
    ):  # fmt: skip
        good.write_text(text)
        with pytest.raises(EstimationError, match=said):
            read_structure(good)
    with pytest.raises(EstimationError, match="cannot be read"):
        read_structure(tmp_path / "none.json")
    good.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(EstimationError, match="is not text"):
        read_structure(good)
    with pytest.raises(EstimationError, match="is not text"):
        BayesianNetwork.from_bif(good)


@pytest.mark.parametrize("order", [None, ["a", "b", "c", "d"]])
def test_without_a_bound_families_that_do_not_fit_are_left_out_with_a_word(order):
    rng = np.random.default_rng(0)
    a = rng.integers(0, 40, 4000)
    rows = {"a": a, "b": (a + rng.integers(0, 3, 4000)) % 40, "c": (a + rng.integers(0, 5, 4000)) % 40, "d": a % 2}
    schema = sf.Schema({name: sf.Categorical(tuple(range(2 if name == "d" else 40))) for name in rows})
    with pytest.warns(SfumatoWarning, match=r"would have more than 16384 cells, .*the largest: .*, 64000 cells, "):
        net = BayesianNetwork(order=order).fit(sf.evidence(rows, schema))
    assert {"a", "b"} in [{edge.parent, edge.child} for edge in net.edges_]
    assert all(np.prod(net.schema_.sizes([*held, node])) <= 16384 for node, held in net.parents_.items())
    with pytest.raises(EstimationError, match="max_parents = 3 allows tables of 128000 cells"):
        BayesianNetwork(order=order, max_parents=3).fit(sf.evidence(rows, schema))


def test_numbers_with_additive_noise_are_refused_in_one_line():
    schema = sf.Schema({"x": sf.Numeric(0, 1, bins=4), "y": sf.Categorical((0, 1))})
    with pytest.warns(sf.errors.DisclosureWarning):
        scheme = rest_clear(schema, {"x": c.gaussian(0.1)})
    release = sf.randomize({"x": [0.1, 0.7], "y": [0, 1]}, scheme, rng=1)
    for net in (BayesianNetwork(), BayesianNetwork(parents={"x": ["y"], "y": []})):
        with pytest.raises(SfumatoError, match="additive noise"):
            net.fit(sf.evidence(release))


def test_values_in_another_order_or_other_values_are_not_compared_place_by_place():
    rows = {"a": [0, 0, 1, 1, 1], "b": [1, 0, 1, 1, 1]}
    parents = {"a": (), "b": ("a",)}

    def seen(*labels):
        return sf.evidence(rows, sf.Schema({"a": sf.Categorical((0, 1)), "b": sf.Categorical(labels)}))

    net = BayesianNetwork(parents).fit(seen(0, 1))
    assert net.score(BayesianNetwork(parents).fit(seen(0, 1))) == 0
    turned, more = seen(1, 0), seen(0, 1, 2)
    for other in (turned, BayesianNetwork(parents).fit(turned)):
        with pytest.raises(EstimationError, match="the same values in another order of 'b': 0, 1 and 1, 0"):
            net.score(other)
    with pytest.raises(EstimationError, match="different values of 'b'"):
        net.log_likelihood(more)


@pytest.mark.parametrize("method", ["moment", "project", "mle"])
def test_the_likelihood_of_few_randomized_records_is_that_of_no_impossible_table(method):
    rng = np.random.default_rng(0)
    rows = {name: (rng.random(150) < 0.2).astype(int) for name in "abc"}
    schema = sf.Schema({name: sf.Categorical((0, 1)) for name in "abc"})
    release = sf.randomize(rows, sf.Scheme(schema, {name: c.binary(0.3, 0.3) for name in "abc"}), rng=1)
    seen = sf.evidence(release, method=method)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        net = BayesianNetwork({"a": (), "b": ("a",), "c": ("a", "b")}).fit(seen)
        assert any((cpt.values < 1e-3).any() for cpt in net.cpts_.values())  # some estimates were negative
        assert -150 * 3 * np.log(2) <= net.log_likelihood(seen) < 0


def test_arguments_of_the_wrong_kind_are_one_line_and_given_tables_are_copied():
    schema = sf.Schema({"a": sf.Categorical((0, 1)), "b": sf.Categorical((0, 1))})
    root, parents = np.array([0.5, 0.5]), {"a": (), "b": ("a",)}
    net = BayesianNetwork.of(schema, parents, {"a": root, "b": [[0.1, 0.9], [0.2, 0.8]]})
    root[0] = 9
    assert net.cpt("a").values.tolist() == [0.5, 0.5]
    fitted = BayesianNetwork(parents).fit(sf.evidence({"a": [0, 1, 1], "b": [0, 1, 0]}, schema))
    for match, call in (
        ("must hold numbers in rows of equal length", lambda: BayesianNetwork.of(schema, parents, {"a": "x", "b": 1})),
        ("given must look like", lambda: net.query("a", ["b"])),
        (r"names \['a'\], which is no attribute", lambda: BayesianNetwork.of(schema, {"a": (), "b": (["a"],)}, {})),
        ("a tree follows no order", lambda: BayesianNetwork(order=["a", "b"], search="tree")),
        ("cell must be the codes of a, b", lambda: fitted.cpt("b").density(1)),
    ):
        with pytest.raises(EstimationError, match=match):
            call()


def test_sets_of_parents_beyond_the_memory_are_left_out_counted_and_cost_no_link():
    """Attributes of many values under strong privacy have released tables of millions of cells."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 20, 6000)
    rows = {"a": a, "b": (a + rng.integers(0, 3, 6000)) % 20, "c": rng.integers(0, 18, 6000), "d": a % 4}
    schema = sf.Schema({name: sf.Categorical(tuple(range(int(values.max()) + 1))) for name, values in rows.items()})
    release = sf.randomize(rows, sf.Scheme.for_gamma(schema, gamma=9), rng=1)
    calls = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = BayesianNetwork(max_parents=1).fit(sf.evidence(release))
    with pytest.warns(SfumatoWarning, match=r"\d+ sets? of parents (were|was) not considered.*more than 0.05 GB.*GB\)"):
        net = BayesianNetwork(memory=0.1).fit(sf.evidence(release), progress=calls.append)
    assert skeleton(net.parents_) >= skeleton(one.parents_) and skeleton(one.parents_)
    assert len(calls) > 6 and set(calls) <= set(rows)  # as the work goes on, not only when a link is made
    score = make_score("wald", sf.evidence(release), memory=1e8)
    assert not score.fits("b", ("a", "c")) and score.fits("b", ("a",))
    assert make_score("wald", sf.evidence(release), memory=1e12).fits("b", ("a", "c"))
    with pytest.raises(EstimationError, match="memory must be a positive number of gigabytes"):
        BayesianNetwork(memory=0)


def test_a_pair_may_take_all_of_the_memory_and_one_that_cannot_be_tested_is_named():
    """Of 30 by 30 values the strongest link was left out, and the warning named a larger set of others."""
    rng = np.random.default_rng(1)
    a = rng.integers(0, 20, 6000)
    rows = {"a": a, "b": (7 * a + 3) % 20, "c": a % 2}
    schema = sf.Schema({name: sf.Categorical(tuple(range(int(values.max()) + 1))) for name, values in rows.items()})
    source = sf.evidence(sf.randomize(rows, sf.Scheme.for_gamma(schema, gamma=9), rng=1))
    needed = make_score("wald", source).needed("b", ("a",)) / 1e9
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert {"a", "b"} in skeleton(BayesianNetwork(memory=1.05 * needed).fit(source).parents_)
    with pytest.warns(SfumatoWarning, match="whether these hang together was not looked at: a and b$"):
        BayesianNetwork(memory=0.95 * needed).fit(source)


def test_links_of_a_given_structure_that_cannot_be_tested_carry_no_statistic():
    schema = sf.Schema({name: sf.Categorical(tuple(range(12))) for name in "abc"})
    rows = {name: np.arange(600) % 12 for name in "abc"}
    release = sf.randomize(rows, sf.Scheme.for_gamma(schema, gamma=3), rng=1)
    parents = {"a": [], "b": ["a"], "c": ["a", "b"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        net = BayesianNetwork(parents, memory=0.05).fit(sf.evidence(release))
    assert [np.isnan(edge.statistic) for edge in net.edges_] == [False, True, True]


def test_a_table_without_columns_has_no_rows_to_predict():
    schema = sf.Schema({name: sf.Categorical(("x", "y")) for name in "ab"})
    net = BayesianNetwork({"a": [], "b": []}).fit(sf.evidence({"a": list("xy"), "b": list("xy")}, schema))
    assert net.predict({}, "b").tolist() == [] and len(net.predict({"other": [1, 2]}, "b")) == 2
