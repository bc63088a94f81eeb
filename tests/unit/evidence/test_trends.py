"""Trends: what the order of values adds to the tests of independence."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import sfumato as sf
from gallery import rest_clear
from sfumato import channels as c
from sfumato.evidence.independence import Association, Test, association, dependent_pairs, independence
from sfumato.evidence.trends import trend_and_bend
from sfumato.learn.bayesnet import BayesianNetwork

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.errors.NegativeCountsWarning")

GRADE = sf.Ordinal(tuple("abcdefgh"))
SEX = sf.Categorical(("F", "M"))


def rows(n: int, seed: int, slope: float) -> dict[str, np.ndarray]:
    """Sex, and a grade that is higher by slope of its eight steps among men."""
    rng = np.random.default_rng(seed)
    male = rng.integers(0, 2, n)
    grade = np.clip(np.rint(rng.normal(3.5 + slope * (male - 0.5), 2.2, n)), 0, 7).astype(int)
    return {"sex": np.array(["F", "M"])[male], "grade": np.array(list("abcdefgh"))[grade]}


SCHEMA = sf.Schema({"sex": SEX, "grade": GRADE})
SCHEME = sf.Scheme(SCHEMA, {"sex": c.symmetric(2, 0.2), "grade": c.symmetric(8, 0.4)})


def releases(runs: int, slope: float, seed: int) -> list[sf.Evidence]:
    return [sf.evidence(sf.randomize(rows(2500, seed + i, slope), SCHEME, rng=seed + i)) for i in range(runs)]


def test_a_trend_is_found_as_often_as_by_the_z_test_of_the_mean_difference() -> None:
    """The general test, which knows no order, finds it in half as many releases."""
    found = {"z": 0, "general": 0, "ours": 0}
    for seen in releases(50, 0.7, 100):
        difference = seen.mean("grade", by="sex").population().contrast("M", "F")
        found["z"] += abs(float(difference.value[0])) > 1.96 * float(difference.sd[0])
        test = association(seen, "sex", "grade")
        found["general"] += test.overall.p_value < 0.05
        found["ours"] += test.p_value < 0.05
    assert found["z"] > 20
    assert found["ours"] >= found["z"] - 2
    assert found["general"] < 0.75 * found["z"]


def test_p_values_keep_their_level_without_a_trend_and_pearsons_does_not() -> None:
    below, naive = [], []
    for seen in releases(250, 0.0, 1000):
        test = association(seen, "sex", "grade")
        below.append(test.p_value < 0.05)
        estimated = np.maximum(seen.counts(["sex", "grade"]).table, 1.0)
        naive.append(stats.chi2_contingency(estimated)[1] < 0.05)
    assert abs(np.mean(below) - 0.05) < 5 * np.sqrt(0.05 * 0.95 / 250)
    assert np.mean(naive) > 0.3


def test_structure_search_finds_an_edge_that_it_missed_without_order() -> None:
    """The same answers under a schema that forgets their order: fewer edges."""
    forgetful = sf.Schema({"sex": SEX, "grade": sf.Categorical(tuple("abcdefgh"))})
    unordered = sf.Scheme(forgetful, {name: SCHEME[name] for name in forgetful})
    with_order = without = false = 0
    for seen, none in zip(releases(30, 0.9, 300), releases(30, 0.0, 700), strict=True):
        with_order += bool(BayesianNetwork().fit(seen).edges_)
        without += bool(BayesianNetwork().fit(sf.evidence(sf.Release(seen.release.arrow(), unordered))).edges_)
        false += bool(BayesianNetwork().fit(none).edges_)
    assert with_order >= without + 8
    assert false <= 3


def test_the_contrast_equals_its_dense_twin() -> None:
    """T and V from full matrices, the weights by the formula of the module."""
    seen = releases(1, 0.5, 5)[0]
    counted = seen.counts(["sex", "grade"], quiet=True)
    found, _ = trend_and_bend(counted)
    P = [SCHEME[name].matrix for name in SCHEMA]
    A = [np.linalg.inv(each.T) for each in P]
    table = counted.table
    n = table.sum()
    px, py = table.sum(1) / n, table.sum(0) / n
    u = np.arange(8) - py @ np.arange(8)
    told = (py * u) @ P[1] / (py @ P[1])
    w = P[1] @ told
    w = w - py @ w
    rows = np.eye(2) - px[:, None]
    released = seen.released_counts(["sex", "grade"])
    expected = (np.kron(*P).T @ np.outer(px, py).reshape(-1)) * n
    most = int(px.argmax())
    C = np.kron(rows[[1 - most]], w[None, :]) @ np.kron(*A)
    np.testing.assert_allclose(found.T, C @ released, rtol=1e-9)
    assert found.V[0, 0] == pytest.approx((C**2) @ (0.5 * released + 0.5 * expected), rel=1e-9)


def test_without_randomization_the_trend_is_the_correlation() -> None:
    rng = np.random.default_rng(4)
    a = rng.integers(0, 8, 3000)
    b = np.clip(a + rng.integers(-6, 7, 3000), 0, 7)
    schema = sf.Schema({"a": GRADE, "b": GRADE})
    letters = np.array(list("abcdefgh"))
    test = association(sf.evidence({"a": letters[a], "b": letters[b]}, schema), "a", "b")
    r = float(np.corrcoef(a, b)[0, 1])
    assert test.rises == pytest.approx(r * np.sqrt(3000), rel=0.1)
    falling = association(sf.evidence({"a": letters[a], "b": letters[7 - b]}, schema), "a", "b")
    assert falling.rises == pytest.approx(-test.rises, rel=1e-6)


def test_a_trend_in_every_configuration_is_added_up() -> None:
    """Given the town, the trend is the same in each; over all towns together it is turned around."""
    rng = np.random.default_rng(8)
    n = 6000
    town = rng.integers(0, 3, n)
    a = np.clip(rng.integers(0, 4, n) + 2 * town, 0, 7)
    b = np.clip(7 - 2 * town - rng.integers(0, 4, n) + (a - 2 * town) // 2, 0, 7)
    letters = np.array(list("abcdefgh"))
    schema = sf.Schema({"town": sf.Categorical((0, 1, 2)), "a": GRADE, "b": GRADE})
    scheme = sf.Scheme(schema, {"town": c.symmetric(3, 0.1), "a": c.symmetric(8, 0.2), "b": c.symmetric(8, 0.2)})
    seen = sf.evidence(sf.randomize({"town": town, "a": letters[a], "b": letters[b]}, scheme, rng=1))
    assert association(seen, "a", "b").rises < -5
    assert association(seen, "a", "b", ["town"]).rises > 3


def test_no_answer_has_no_place_in_the_order() -> None:
    """Silence that depends on the other attribute is no trend; the general test sees it."""
    rng = np.random.default_rng(3)
    n = 4000
    a = rng.integers(0, 8, n)
    b = np.array(list("abcdefgh"), dtype=object)[rng.integers(0, 8, n)]
    b[rng.random(n) < a / 9] = None
    schema = sf.Schema({"a": GRADE, "b": sf.Ordinal(tuple("abcdefgh"), nullable=True)})
    scheme = sf.Scheme(schema, {"a": c.symmetric(8, 0.2), "b": c.symmetric(9, 0.2)})
    table = {"a": np.array(list("abcdefgh"))[a], "b": b}
    test = association(sf.evidence(sf.randomize(table, scheme, rng=2)), "a", "b")
    assert abs(test.rises) < 4.5 and test.p_value < 1e-20


@pytest.mark.parametrize(
    "domain",
    [
        sf.Numeric(0, 8, bins=8),
        sf.Numeric(0, 8, points=9),
        sf.Date("2020", "2027", by="year"),
        sf.Ordinal((1, 2, 4, 8)),
        sf.Ordinal(tuple("abcd"), nullable=True),
    ],
)
def test_every_ordered_domain_has_trends_and_names_have_none(domain) -> None:
    codes = np.tile(np.arange(domain.size), 20)
    values = domain.decode(codes)
    schema = sf.Schema({"a": domain, "b": GRADE, "c": sf.Categorical(tuple("xyz")), "d": sf.Categorical(tuple("xyz"))})
    letters = np.array(list("abcdefgh"))[codes % 8]
    named = np.array(list("xyz"))[codes % 3]
    seen = sf.evidence({"a": values, "b": letters, "c": named, "d": named[::-1]}, schema)
    assert np.isfinite(association(seen, "a", "b").rises)
    groups = association(seen, "c", "a")
    assert groups.trend is not None and groups.trend.df == 2 and np.isnan(groups.rises)
    assert association(seen, "c", "d").trend is None


def test_two_values_have_no_trend_beside_their_one_contrast() -> None:
    schema = sf.Schema({"a": sf.Ordinal(("no", "yes")), "b": SEX})
    test = association(sf.evidence({"a": ["no", "yes"] * 20, "b": ["F", "M"] * 20}, schema), "a", "b")
    assert test.trend is None and test.df == 1


def test_the_tree_of_pairs_links_what_has_a_trend() -> None:
    seen = sf.evidence(sf.randomize(rows(9000, 12, 0.5), SCHEME, rng=13))
    assert dependent_pairs(seen, ["sex", "grade"]) == [("sex", "grade")]
    none = sf.evidence(sf.randomize(rows(9000, 12, 0.0), SCHEME, rng=13))
    assert dependent_pairs(none, ["sex", "grade"]) == []


def test_a_trend_within_a_node_of_a_tree_is_judged_by_its_order() -> None:
    seen = releases(1, 0.6, 41)[0].counts(["sex", "grade"], quiet=True).population()
    table = seen.value.reshape(2, 8)
    ordered = independence(table, seen.cov, [SEX, GRADE])
    unordered = independence(table, seen.cov, [SEX, sf.Categorical(tuple("abcdefgh"))])
    assert ordered < unordered
    assert independence(0 * table, seen.cov, [SEX, GRADE]) == 1.0


def test_edges_say_which_way_they_rise() -> None:
    rng = np.random.default_rng(6)
    a = rng.integers(0, 8, 5000)
    letters = np.array(list("abcdefgh"))
    b = np.clip(7 - a + rng.integers(-2, 3, 5000), 0, 7)
    table = {"a": letters[a], "b": letters[b], "c": np.tile([0, 1], 2500)}
    schema = sf.Schema({"a": GRADE, "b": GRADE, "c": sf.Categorical((0, 1))})
    net = BayesianNetwork(parents={"a": [], "b": ["a", "c"], "c": []}).fit(
        sf.randomize(table, rest_clear(schema, {"a": c.symmetric(8, 0.2), "b": c.symmetric(8, 0.2)}), rng=7)
    )
    trends = {edge.parent: edge.trend for edge in net.edges_}
    assert trends["a"] < -10 and np.isnan(trends["c"])
    assert "<th>trend</th>" in net._repr_html_().replace(' scope="col"', "")


def test_combined_p_values_are_at_most_one() -> None:
    nothing, some = Test(0.0, 1), Test(0.7083, 1)
    assert Association(nothing, nothing, nothing, nothing).p_value == 1.0
    assert Association(some, some).p_value == some.p_value == pytest.approx(0.4, abs=1e-4)


def test_a_p_value_comes_with_the_statistic_of_its_own_test() -> None:
    """Also where no configuration is clear enough for a test of all contrasts: then those have none."""
    empty, weak, strong = Test(0.0, 0), Test(2.0, 3), Test(60.0, 2)
    for parts, kind in (
        ((weak, weak), "any"),
        ((weak, strong), "alike"),
        ((empty, empty, strong), "means"),
        ((empty, empty, strong, weak, 7.7), "trend"),
        ((weak, weak, weak, strong, 1.4), "bend"),
    ):
        said, test = Association(*parts).deciding
        assert said == kind and test is (weak if kind == "any" else strong)
        assert test.p_value <= Association(*parts).p_value <= 1


def test_a_bend_is_found_nearly_as_often_as_by_the_general_test() -> None:
    """Those in the middle have other grades: no trend, and the general test finds it by most of its contrasts."""
    found = {"general": 0, "trend": 0, "ours": 0}
    for seed in range(40):
        rng = np.random.default_rng(seed)
        grade = rng.integers(0, 8, 2500)
        male = rng.random(2500) < 0.5 + 0.11 * (np.abs(grade - 3.5) - 2)
        table = {"sex": np.array(["F", "M"])[male.astype(int)], "grade": np.array(list("abcdefgh"))[grade]}
        test = association(sf.evidence(sf.randomize(table, SCHEME, rng=seed)), "sex", "grade")
        assert test.trend is not None and test.bend is not None and test.bend.df == 1
        found["general"] += test.overall.p_value < 0.05
        found["trend"] += test.trend.p_value < 0.05
        found["ours"] += test.p_value < 0.05
    assert found["general"] > 15 and found["trend"] < 8
    assert found["ours"] >= found["general"] - 5


def test_the_bend_of_two_ordered_attributes_has_two_contrasts_and_of_two_values_none() -> None:
    rng = np.random.default_rng(3)
    letters = np.array(list("abcdefgh"))
    a, b = rng.integers(0, 8, 3000), rng.integers(0, 8, 3000)
    schema = sf.Schema({"a": GRADE, "b": GRADE, "c": sf.Ordinal((0, 1))})
    seen = sf.evidence({"a": letters[a], "b": letters[b], "c": a % 2}, schema)
    both, one = association(seen, "a", "b"), association(seen, "c", "a")
    assert both.bend is not None and both.bend.df == 2 and one.bend is not None and one.bend.df == 1
    groups = sf.Schema({"c": sf.Ordinal((0, 1)), "d": sf.Categorical(tuple("abcd"))})
    named = np.array(list("abcd"))[b % 4]
    assert association(sf.evidence({"c": a % 2, "d": named}, groups), "c", "d").bend is None
