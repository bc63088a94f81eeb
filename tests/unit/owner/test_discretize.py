"""MGAS keeps both its promises on every group, and its fast paths are the literal algorithm."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.arrays import Array
from sfumato.errors import SchemaError
from sfumato.owner.agglomerate import LineClusters
from sfumato.owner.discretize import Groups, mgas

Distance = Callable[[list[float], list[float]], float]


def between_means(left: list[float], right: list[float]) -> float:
    return float(np.mean(right) - np.mean(left))


def literal_line(
    values: Array, min_records: int, min_width: float, distance: Distance = between_means
) -> list[list[float]]:
    """MGAS word by word on a line: look at every adjacent pair, merge the nearest, check, again. O(N^3)."""
    distinct = sorted(set(values.tolist()))
    clusters = [([value] * int((values == value).sum()), place) for place, value in enumerate(distinct)]

    def finished(members: list[float]) -> bool:
        return len(members) >= min_records and max(members) - min(members) >= min_width

    while True:
        pairs = []
        for left, right in pairwise(range(len(clusters))):
            (a, _), (b, place) = clusters[left], clusters[right]
            if not finished(a) and not finished(b):
                odd_first = place & -place
                pairs.append((distance(a, b), odd_first, place, left))
        if not pairs:
            break
        left = min(pairs)[-1]
        merged = (clusters[left][0] + clusters[left + 1][0], clusters[left][1])
        clusters[left : left + 2] = [merged]
    groups = [members for members, _ in clusters]
    means = [float(np.mean(members)) for members in groups]
    goes = {}
    for i, members in enumerate(groups):
        if not finished(members):
            to_left = means[i] - means[i - 1] if i > 0 else np.inf
            to_right = means[i + 1] - means[i] if i + 1 < len(groups) else np.inf
            goes[i] = i - 1 if to_left <= to_right else i + 1
    result = {i: list(members) for i, members in enumerate(groups) if i not in goes}
    for i, target in goes.items():
        result[target] += groups[i]
    return sorted(sorted(members) for members in result.values())


def literal_space(points: Array, min_records: int, min_width: float) -> set[frozenset[int]]:
    """MGAS word by word in space: look at every pair, merge the nearest, check, again. O(N^3)."""
    pool = [[i] for i in range(len(points))]
    finished: list[list[int]] = []

    def mean(members: list[int]) -> Array:
        return np.asarray(points[members].mean(axis=0))

    while len(pool) > 1:
        pairs = [(i, j) for i in range(len(pool)) for j in range(i)]
        i, j = min(pairs, key=lambda pair: float(np.linalg.norm(mean(pool[pair[0]]) - mean(pool[pair[1]]))))
        merged = pool[i] + pool[j]
        pool = [members for place, members in enumerate(pool) if place not in (i, j)]
        enough = len(merged) >= min_records and np.ptp(points[merged], axis=0).min() >= min_width
        (finished if enough else pool).append(merged)
    centres = [mean(members) for members in finished]
    for stranded in pool:
        nearest = int(np.argmin([np.linalg.norm(centre - mean(stranded)) for centre in centres]))
        finished[nearest] += stranded
    return {frozenset(members) for members in finished}


def members(values: Array, groups: Groups) -> list[list[float]]:
    return [sorted(values[groups.codes == code].tolist()) for code in range(len(groups))]


def check_promises(values: Array, groups: Groups, min_records: int, min_width: float) -> None:
    for code in range(len(groups)):
        held = values[groups.codes == code]
        width = np.ptp(held, axis=0).min()
        assert len(held) >= min_records and width >= min_width
        assert groups.sizes[code] == len(held) and groups.widths[code] == width
        np.testing.assert_allclose(groups.means[code], held.mean(axis=0), rtol=1e-9, atol=1e-9)
    assert groups.sizes.sum() == len(values)


SHAPES = {
    "uniform": lambda rng, n: rng.random(n),
    "normal": lambda rng, n: rng.normal(size=n),
    "heavy tail": lambda rng, n: rng.pareto(1, n),
    "growing gaps": lambda rng, n: np.cumsum(np.arange(n) + 0.1 * rng.random(n)),
    "shrinking gaps": lambda rng, n: -np.cumsum(np.arange(n) + 0.1 * rng.random(n)),
    "two clumps": lambda rng, n: rng.normal(size=n) * 0.1 + 5.0 * (rng.random(n) < 0.3),
    "repeated": lambda rng, n: np.round(rng.normal(size=n), 1) + rng.normal(size=1) * 1e-3,
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(6))
def test_line_is_the_literal_algorithm(shape: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = SHAPES[shape](rng, 60)
    if shape == "repeated":  # equal distances tie only up to rounding there: shift each level a little
        levels = np.unique(values)
        values = (levels + rng.random(len(levels)) * 0.04)[np.searchsorted(levels, values)]
    for min_records, share in ((2, 0.02), (5, 0.1), (11, 0.05), (1, 0.3)):
        width = share * float(np.ptp(values))
        groups = mgas(values, min_records, width)
        assert members(values, groups) == literal_line(values, min_records, width)
        check_promises(values, groups, min_records, width)


def test_literal_twin_notices_another_distance() -> None:
    """The negative control: with the distance between nearest members the groups are not ours."""
    values = np.random.default_rng(3).normal(size=60)
    ours = members(values, mgas(values, 5, 0.1))
    assert ours == literal_line(values, 5, 0.1)
    assert ours != literal_line(values, 5, 0.1, distance=lambda left, right: min(right) - max(left))


@given(st.lists(st.integers(0, 63), min_size=16, max_size=16, unique=True), st.integers(1, 5), st.integers(1, 9))
@settings(max_examples=60, deadline=None)
def test_rounds_and_walk_agree_also_on_ties(values: list[int], min_records: int, min_width: int) -> None:
    distinct = np.sort(np.asarray(values, dtype=np.float64))
    if np.ptp(distinct) < min_width:
        return
    counts = np.ones(len(distinct), dtype=np.int64)
    mixed = LineClusters(distinct, counts, min_records, min_width)
    walk = LineClusters(distinct, counts, min_records, min_width)
    walk._merge_one_by_one()
    assert mixed.group_starts().tolist() == walk._absorb_stranded().tolist()


def test_equally_spaced_values_pair_up_evenly() -> None:
    values = np.arange(64.0)
    groups = mgas(values, min_records=3, min_width=1)
    assert groups.sizes.tolist() == [4] * 16
    assert members(values, groups) == literal_line(values, 3, 1)


@pytest.mark.parametrize("shape", SHAPES)
def test_rounds_and_walk_agree_on_many_values(shape: str) -> None:
    values = SHAPES[shape](np.random.default_rng(7), 20_000)
    distinct, counts = np.unique(values, return_counts=True)
    width = float(np.ptp(values)) / 500
    walk = LineClusters(distinct, counts, 100, width)
    walk._merge_one_by_one()
    assert LineClusters(distinct, counts, 100, width).group_starts().tolist() == walk._absorb_stranded().tolist()
    groups = mgas(values, 100, width)
    check_promises(values, groups, 100, width)
    assert (groups.encode(values) == groups.codes).all()


def two_triangles(rng: np.random.Generator, size: int, base: float) -> Array:
    """Two equal triangles side by side, each ``base`` wide."""
    one = base * rng.triangular(0, 0.5, 1, size)
    return np.where(rng.random(size) < 0.5, one, one + base)


def test_the_papers_setting_gives_about_39_groups() -> None:
    """Ma (2006) section 2.5: 100 000 samples, 1500 records, width .25: 39 groups.

    The triangles' base is not given; over 40 seeds a base of 12 gives 39.5 +- 1.5 groups, one of 4 gives 18.
    """
    for seed in (1, 2):
        values = two_triangles(np.random.default_rng(seed), 100_000, base=12)
        groups = mgas(values, min_records=1500, min_width=0.25)
        check_promises(values, groups, 1500, 0.25)
        assert 33 <= len(groups) <= 46
        assert len(mgas(two_triangles(np.random.default_rng(seed), 100_000, base=4))) < 25


def test_groups_are_intervals_and_edges_lie_midway() -> None:
    values = np.random.default_rng(5).normal(size=2000)
    groups = mgas(values, 50, 0.1)
    assert groups.edges is not None and len(groups.edges) == len(groups) + 1
    assert (np.diff(groups.edges) > 0).all() and (np.diff(groups.means) > 0).all()
    middles = [(left[-1] + right[0]) / 2 for left, right in pairwise(members(values, groups))]
    np.testing.assert_allclose(groups.edges, [values.min(), *middles, values.max()], rtol=1e-12)


def test_neighbouring_floats_on_both_sides_of_an_edge_stay_apart() -> None:
    low, high = 1.0, float(np.nextafter(1.0, 2.0))
    values = np.array([0.0, low, low, high, high, 2.0])
    groups = mgas(values, 3, 0.5)
    assert (groups.encode(values) == groups.codes).all()


def test_far_from_zero_the_groups_are_the_same() -> None:
    values = np.random.default_rng(11).integers(0, 4096, 3000).astype(float)
    assert (mgas(values, 40, 8).codes == mgas(values + 2.0**40, 40, 8).codes).all()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("dimension", [2, 3])
def test_space_is_the_literal_algorithm(seed: int, dimension: int) -> None:
    points = np.random.default_rng(seed).normal(size=(30, dimension))
    for min_records, min_width in ((3, 0.1), (6, 0.4)):
        groups = mgas(points, min_records, min_width)
        ours = {frozenset(np.flatnonzero(groups.codes == code).tolist()) for code in range(len(groups))}
        assert ours == literal_space(points, min_records, min_width)
        assert ours != literal_space(points, min_records + 4, min_width)  # the control
        check_promises(points, groups, min_records, min_width)


def test_a_merger_can_bring_others_nearer_in_space() -> None:
    """The middle of a triangle's side lies nearer to the third corner than the side's ends do."""
    tip, above = [0.5, 0.9], [0.5, 1.91]
    points = np.array([[0.0, 0.0], [1.0, 0.0], tip, above, [0.5, 9.0], [0.6, 9.5]])
    groups = mgas(points, 3, 0.05)
    ours = {frozenset(np.flatnonzero(groups.codes == code).tolist()) for code in range(len(groups))}
    assert ours == literal_space(points, 3, 0.05) == {frozenset({0, 1, 2}), frozenset({3, 4, 5})}


def test_space_keeps_its_promises_on_many_points_with_repeats() -> None:
    points = np.round(np.random.default_rng(2).normal(size=(3000, 2)), 1)
    groups = mgas(points, 60, 0.3)
    check_promises(points, groups, 60, 0.3)
    assert groups.edges is None and len(groups) > 10
    assert (groups.encode(groups.means) == np.arange(len(groups))).all()


def test_points_nearer_than_rounding_can_tell() -> None:
    points = np.array([[0.0, 0.0], [1e-200, 0.0], [2e-200, 0.0], [0.0, 1e-200], [1.0, 1.0], [1.0, 2.0]])
    check_promises(points, mgas(points, 2, 0.5), 2, 0.5)


def test_one_column_is_one_dimension() -> None:
    values = np.random.default_rng(1).normal(size=400)
    assert (mgas(values, 20, 0.1).codes == mgas(values[:, None], 20, 0.1).codes).all()


def test_everything_in_one_group_when_nothing_less_will_do() -> None:
    assert len(mgas([1, 2, 3], min_records=3, min_width=2)) == 1
    assert mgas([[0, 0], [1, 1], [2, 5]], min_records=3, min_width=2).sizes.tolist() == [3]


GOOD = [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize(
    ("values", "min_records", "min_width", "says"),
    [
        ([], 1, 1, "values must not be empty"),
        (np.zeros((5, 0)), 1, 1, "values must not be empty"),
        ([1, np.nan, np.inf], 1, 1, "values must be finite, got 2 NaN or infinite of 3"),
        (["a"], 1, 1, "values must be numbers"),
        (np.zeros((2, 2, 2)), 1, 1, "shape (N,) or (N, d), got (2, 2, 2)"),
        (7.0, 1, 1, "shape (N,) or (N, d), got ()"),
        (GOOD, 0, 1, "min_records must be a whole number of 1 or more, got 0"),
        (GOOD, -3, 1, "min_records must be a whole number of 1 or more, got -3"),
        (GOOD, 2.5, 1, "min_records must be a whole number of 1 or more, got 2.5"),
        (GOOD, True, 1, "min_records must be a whole number of 1 or more, got True"),
        (GOOD, 1, 0, "min_width must be positive and finite, got 0"),
        (GOOD, 1, -0.5, "min_width must be positive and finite, got -0.5"),
        (GOOD, 1, float("nan"), "min_width must be positive and finite, got nan"),
        (GOOD, 1, float("inf"), "min_width must be positive and finite, got inf"),
        (GOOD, 1, "wide", "min_width must be positive and finite, got 'wide'"),
        (GOOD, 5, 1, "min_records must be at most the number of values 4, got 5"),
        (GOOD, 1, 3.5, "min_width must be at most the range of the values; 3.5 is wider"),
        ([[0, 5], [9, 5]], 1, 1, "min_width must be at most the range of the values of column 1; 1 is wider"),
        ([-1e308, 1e308], 1, 1, "values must span at most 1e+150: scale them down"),
    ],
)
def test_bad_input_is_one_clear_line(values: object, min_records: int, min_width: float, says: str) -> None:
    with pytest.raises(SchemaError, match=re.escape(says)) as error:
        mgas(values, min_records, min_width)  # type: ignore[arg-type]
    assert "\n" not in str(error.value)


def test_encode_wants_the_same_columns() -> None:
    with pytest.raises(SchemaError, match="as many columns as the groups, 1, got 2"):
        mgas(GOOD, 2, 1).encode([[1, 2]])
    with pytest.raises(SchemaError, match="as many columns as the groups, 2, got 1"):
        mgas([[0, 0], [1, 1]], 1, 1).encode([1])
    with pytest.raises(SchemaError, match="finite"):
        mgas(GOOD, 2, 1).encode([np.nan])
