"""Limits by inverting a test: mirror images, never empty, never a point, nested, and nearly exact."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import poisson

import sfumato as sf
from sfumato import channels as c
from sfumato.channels.linear import BlockDiagonal, Dense, Embedded, Kronecker, UniformPlus
from sfumato.evidence.blocks import blocks
from sfumato.evidence.components import components
from sfumato.evidence.limits import Records, limits, p_value
from sfumato.evidence.record_moments import records, sums
from sfumato.evidence.seen import Seen
from sfumato.evidence.simplex import project

sys.path.insert(0, str(Path(__file__).parents[2] / "laws"))
from benchmarks.interval_coverage import exact
from test_estimators import draw_release, estimate

from gallery import CHANNELS

pytestmark = [
    pytest.mark.filterwarnings("ignore::sfumato.errors.NegativeCountsWarning"),
    pytest.mark.filterwarnings("ignore::sfumato.errors.BiasWarning"),
]
METHODS = ("moment", "project", "mle")
SMALL = {name: channel for name, channel in CHANNELS.items() if channel.k <= 16}
few = settings(max_examples=40, deadline=None)


def shown_by(scheme: sf.Scheme, *names: str) -> Seen:
    """The maps of a scheme, before anything is counted."""
    return Seen(names, blocks(scheme, names), np.zeros(0))


def both(found: sf.Estimate, level: float) -> list[tuple[np.ndarray, np.ndarray, float]]:
    """Limits of the counts and of the shares, with their greatest possible value."""
    return [(*found.interval(level), found.n), (*found.population().interval(level), 1.0)]


@pytest.mark.parametrize("p", [0.05, 0.3, 0.45])
@pytest.mark.parametrize(("a", "b"), [(67, 33), (97, 3), (20, 40), (100, 0)])
def test_limits_are_mirror_images_where_one_value_never_changes(p: float, a: int, b: int) -> None:
    """Rounding in the moments told of jumps as large as the table: of 33 such answers [0, 57.6] stood for [39, 57.6]."""
    for channel, counts in ((c.binary(0, p), (a, b)), (c.binary(p, 0), (b, a))):
        for low, high, n in both(estimate(channel, np.array(counts)), 0.95):
            np.testing.assert_allclose(low, n - high[::-1], atol=1e-6 * n)
    one, other = (estimate(ch, np.array(counts)) for ch, counts in ((c.binary(0, p), (a, b)), (c.binary(p, 0), (b, a))))
    np.testing.assert_allclose(one.interval(0.95)[0], other.interval(0.95)[0][::-1], atol=1e-6 * (a + b))


def test_no_limits_of_two_parts_are_a_point() -> None:
    """Moments of a part with few records of a cell were taken from both parts, and could be negative."""
    draw = np.random.default_rng(711)
    first = c.matrix(0.25 * np.eye(5) + 0.75 * draw.dirichlet(np.full(5, 0.4), 5))
    schema, points = sf.Schema({"x": sf.Categorical(tuple("abcde"))}), 0
    for seed in range(60):
        codes = np.repeat(np.arange(5), [1, 1, 38, 0, 0])
        rows = {"x": [schema["x"].labels[code] for code in codes]}
        parts = [
            sf.randomize(rows, sf.Scheme(schema, {"x": one}), rng=1000 * seed + i)
            for i, one in enumerate((first, c.windows(5, 4)))
        ]
        found = sf.evidence(sf.Release.concat(parts)).counts("x")
        low, high = limits(*records(found.seen, False), 0.95)  # before they are stretched to the estimate
        points += int((high - low < 0.1).sum())
    assert points == 0


@few
@given(st.floats(0.001, 0.49), st.integers(0, 300), st.integers(0, 300), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_limits_of_two_mirrored_values_are_mirror_images(p: float, a: int, b: int, level: float) -> None:
    if a + b == 0:
        return
    found = estimate(c.symmetric(2, p), np.array([a, b]))
    for low, high, n in both(found, level):
        np.testing.assert_allclose(low, n - high[::-1], atol=1e-6 * n)
    swapped = estimate(c.symmetric(2, p), np.array([b, a]))
    np.testing.assert_allclose(swapped.interval(level)[0], found.interval(level)[0][::-1], atol=1e-6 * (a + b))


@few
@given(st.data())
def test_limits_hold_the_estimate_and_widen_with_the_level(data: st.DataObject) -> None:
    channel = SMALL[data.draw(st.sampled_from(sorted(SMALL)))]
    released = np.array(data.draw(st.lists(st.integers(0, 40), min_size=channel.m, max_size=channel.m)))
    if not released.sum():
        return
    method = data.draw(st.sampled_from(METHODS))
    found = estimate(channel, released, method)
    before = None
    for level in (0.5, 0.9, 0.95, 0.99):
        (low, high, n), shares = both(found, level)
        assert (low <= found.value).all() and (found.value <= high).all()
        assert (shares[0] <= found.population().value).all() and (found.population().value <= shares[1]).all()
        # the limits leave [0, N] only for an estimate that does
        assert (low >= np.minimum(found.value, 0) - 1e-9).all() and (high <= np.maximum(found.value, n) + 1e-9).all()
        if before is not None:
            slack = 1e-6 * n
            assert (low <= before[0] + slack).all() and (high >= before[1] - slack).all()
        before = (low, high)


def test_an_estimate_beyond_the_number_of_records_has_a_sensible_interval() -> None:
    """The score interval was the point [100, 100]."""
    channel, released = c.symmetric(2, 0.4), np.array([70, 30])
    for method in ("project", "mle"):
        found = estimate(channel, released, method)
        low, high = found.interval()
        np.testing.assert_allclose(found.value, [100, 0], atol=1e-9)
        assert 70 < low[0] < 95 and high[0] == 100
        assert low[1] == 0 and 5 < high[1] < 30
    moment = estimate(channel, released)
    np.testing.assert_allclose(moment.value, [150, -50])
    np.testing.assert_allclose(moment.interval()[0], [low[0], -50])
    np.testing.assert_allclose(moment.interval()[1], [150, high[1]])


@pytest.mark.parametrize("name", SMALL)
def test_only_known_counts_are_points(name: str) -> None:
    channel = SMALL[name]
    rng = np.random.default_rng(1)
    true = np.zeros(channel.k, dtype=int)
    true[0] = 60
    for _ in range(20):
        found = estimate(channel, draw_release(channel, true, rng), "project")
        low, high = found.interval()
        known = np.abs(sums(found.seen[0]).known) < 1e-9  # a block without records
        if channel.gamma == 1 or name == "identity":
            np.testing.assert_allclose(high - low, 0, atol=1e-6)
        else:
            assert (high - low > 0.1)[~known].all() and (high - low < 1e-6)[known].all()
        low, high = found.population().interval()
        assert (high - low > 1e-3).all()


def test_what_a_channel_cannot_mix_up_bounds_the_count() -> None:
    scheme = sf.Scheme(
        sf.Schema({"a": sf.Categorical(("u", "v")), "b": sf.Categorical((0, 1, 2))}),
        {"a": c.identity(2), "b": c.symmetric(3, 0.4)},
    )
    rows = pa.table({"a": ["u"] * 7 + ["v"] * 93, "b": [0, 1, 2, 0, 1, 1, 1] + [0] * 93})
    found = sf.evidence(sf.randomize(rows, scheme, rng=3), method="mle").counts(["a", "b"])
    high = found.interval(0.999999)[1].reshape(2, 3)
    assert high[0].max() <= 7 + 1e-9 and high[1].max() <= 93 + 1e-9 and high[1].max() > 50


def test_a_table_of_which_most_was_asked_is_known_better_than_a_population() -> None:
    """Beside a block of few records the limits of a table asked nearly whole were the wider ones."""
    channel = c.blocks([c.symmetric(2, 0.4), c.symmetric(2, 0.4), c.symmetric(3, 0.5)])
    scheme = sf.Scheme(sf.Schema({"a": sf.Categorical(tuple("abcdefg"))}), {"a": channel})
    piece = shown_by(scheme, "a").holding(np.array([3, 1, 20, 20, 2, 2, 2]))
    wide = [np.subtract(*limits(*records([piece], True), 0.95, left)[::-1]) for left in (1e-9, 0.5, 1.0)]
    assert np.all(wide[0] < wide[1] + 1e-9) and np.all(wide[1] < wide[2] + 1e-9)


def test_noise_that_hides_its_bins_gives_limits_without_a_warning() -> None:
    """An overflow was warned of: the count at which all who may be in a cell are in it."""
    x = np.random.default_rng(1).uniform(0, 72, 7043)
    with pytest.warns(sf.errors.DisclosureWarning):
        scheme = sf.Scheme(sf.Schema({"t": sf.Numeric(0, 72, bins=12)}), {"t": c.gaussian(12)})
        noisy = sf.randomize({"t": x}, scheme, rng=sf.experiment(1))
    with pytest.warns(sf.errors.UnrecoverableWarning):
        cut = noisy.in_intervals()
    low, high = sf.evidence(cut).counts(["t"]).interval(0.95)
    assert np.all(low < high)


def test_components_of_every_structure() -> None:
    mixed, clear = UniformPlus(0.4, 0.3, 2), UniformPlus(1.0, 0.0, 2)
    assert components(mixed) is None and components(Dense(np.full((2, 3), 1 / 3))) is None
    assert components(BlockDiagonal((mixed,))) is None
    np.testing.assert_array_equal(components(Kronecker((clear, mixed))), [0, 0, 1, 1])
    np.testing.assert_array_equal(components(Dense(np.array([[1, 0, 0], [0, 0.5, 0.5], [0, 0, 1]]))), [0, 1, 1])
    inner = components(Embedded(clear, np.array([0, 2]), 3))
    assert inner[0] != inner[2] and components(Embedded(mixed, np.array([0, 2]), 3)) is None
    assert components(Dense(np.array([[0.5, 0.5, 0], [0, 0.5, 0.5]]))) is None


@pytest.mark.parametrize("method", METHODS)
def test_structural_zeros_are_known_and_the_rest_is_covered(method: str) -> None:
    """Beside a channel with more outputs than values maximum likelihood met a singular matrix, or covered .59."""
    schema = sf.Schema(
        {"g": sf.Categorical(("F", "M")), "h": sf.Categorical(("y", "n")), "w": sf.Ordinal((0, 1, 2, 3))}
    )
    valid = c.symmetric(valid=[("F", "y"), ("F", "n"), ("M", "n")], p=0.3)
    scheme = sf.Scheme(schema, {("g", "h"): valid, "w": c.windows(4, 4)})
    rng = np.random.default_rng(5)
    cells = rng.choice([0, 1, 3], 400, p=[0.3, 0.5, 0.2])
    table = {"g": np.array(["F", "M"])[cells // 2], "h": np.array(["y", "n"])[cells % 2], "w": rng.integers(0, 4, 400)}
    truth = np.zeros((2, 2, 4))
    np.add.at(truth, (cells // 2, cells % 2, table["w"]), 1)
    found = sf.evidence(sf.randomize(table, scheme, rng=6), method=method).counts(["g", "h", "w"])
    low, high = (x.reshape(2, 2, 4) for x in found.interval(0.9999))
    assert (low <= truth).all() and (truth <= high).all()
    assert (high[1, 0] == 0).all() and (low[1, 0] == 0).all()
    assert (high - low)[truth > 0].min() > 1
    margin = sf.evidence(sf.randomize(table, scheme, rng=6), method=method).counts(["w", "g"])
    low, high = margin.interval(0.9999)
    assert ((low <= truth.sum(1).T.reshape(-1)) & (truth.sum(1).T.reshape(-1) <= high)).all()


def test_summed_out_margins_use_the_cells_that_are_there() -> None:
    """Var(N̂) of a margin depends on what it is made of; the moments are those of the group's own cells."""
    P = np.array([[0.9, 0.05, 0.03, 0.02], [0.1, 0.4, 0.3, 0.2], [0.1, 0.2, 0.6, 0.1], [0.05, 0.05, 0.2, 0.7]])
    schema = sf.Schema({"x": sf.Categorical((0, 1)), "y": sf.Categorical((0, 1))})
    shown = shown_by(sf.Scheme(schema, {("x", "y"): c.matrix(P, sizes=(2, 2))}), "x")
    assert shown.partial
    A = np.linalg.inv(shown.full.dense().T).reshape(2, 2, 4).sum(axis=1)
    for k in (2, 3, 4):
        want = [(A[cell // 2] ** k) @ shown.full.dense()[cell] for cell in range(4)]
        np.testing.assert_allclose(shown.own(k), want, rtol=1e-9)


def test_parts_keep_their_number_of_records() -> None:
    """Counts move within the parts: the variance at a smaller count is that of the parts' own records."""
    schemes = [sf.Scheme(sf.Schema({"a": sf.Categorical((0, 1, 2))}), {"a": c.symmetric(3, p)}) for p in (0.05, 0.5)]
    shown = [shown_by(scheme, "a") for scheme in schemes]
    tables = [np.array([40.0, 0, 0]), np.array([0.0, 40, 0])]
    pieces = [one.holding(one.full.T.apply(table)) for one, table in zip(shown, tables, strict=True)]
    below, above = records(pieces, False)
    inverse = [piece.inverse.dense() for piece in pieces]
    spread = [(A**2) @ (one.full.T.apply(table)) - table for A, one, table in zip(inverse, shown, tables, strict=True)]
    want = sum(spread)[0]
    for side in (below, above):
        got = 40 * side.own[0, 0] + 40 * side.other[0, 0]
        assert got == pytest.approx(want, rel=0.06)  # one record is spread evenly over the cells of each part


def test_the_test_follows_exact_tails() -> None:
    """Few large jumps: p against the exact Poisson and binomial tails, one-sided at n = 0."""
    one = np.ones(1)
    for lam in (0.02, 0.1, 0.5, 1.0, 3.0, 10.0):
        moments = np.full((3, 1), lam / 1000)  # a record of another cell adds 1 with probability lam / 1000
        for seen in range(1, 20):
            exact = poisson.sf(seen - 1, lam)
            if not 0.003 < exact < 0.3:
                continue
            told = Records(one * (seen - lam), one * 1000, one * 1000, moments, moments, 0 * one, 0 * one)
            assert p_value(0 * one, told, False)[0] == pytest.approx(exact, rel=0.15, abs=0.004)
    wrong = Records(one * 2.9, one * 1000, one * 1000, *[np.array([[1e-4], [0], [0]])] * 2, 0 * one, 0 * one)
    assert p_value(0 * one, wrong, False)[0] < 1e-6  # negative control: the normal tail, where Poisson says .0002


@pytest.mark.parametrize("population", [False, True])
@pytest.mark.parametrize(("k", "p"), [(2, 0.45), (2, 0.1), (2, 0.01), (5, 0.3), (10, 0.05), (30, 0.3)])
def test_exact_coverage_at_every_count(k: int, p: float, population: bool) -> None:
    """For symmetric channels coverage is a finite sum, here at every count that fifty records can have."""
    for level, least in ((0.9, 0.88), (0.95, 0.94), (0.99, 0.985)):
        found = exact(k, p, 50, level, population)
        assert found.min() > least
        assert found.mean() < level + 0.7 * (1 - level)  # and not by being wide


def test_replicates_are_columns() -> None:
    channel = c.windows(6, 3)
    scheme = sf.Scheme(sf.Schema({"a": sf.Ordinal(tuple(range(6)))}), {"a": channel})
    shown = shown_by(scheme, "a")
    drawn = np.random.default_rng(2).multinomial(80, np.full(channel.m, 1 / channel.m), 5).T.astype(float)
    together = limits(*records([shown.holding(drawn)], False), 0.95)
    for column in range(5):
        alone = limits(*records([shown.holding(drawn[:, column])], False), 0.95)
        for mine, theirs in zip(together, alone, strict=True):
            np.testing.assert_allclose(mine[:, column], theirs, rtol=1e-6, atol=1e-6)
    values = np.random.default_rng(3).normal(0, 5, (6, 4))
    for column in range(4):
        np.testing.assert_allclose(project(values, 10.0)[:, column], project(values[:, column], 10.0))


def test_every_way_of_showing_an_estimate_uses_the_same_limits(tmp_path: Path) -> None:
    found = estimate(c.symmetric(3, 0.5), np.array([20, 30, 0]))
    low, high = found.interval(0.9)
    frame = found.frame(0.9)
    np.testing.assert_allclose(frame["low"], low)
    np.testing.assert_allclose(frame["high"], high)
    figure = found.plot(tmp_path / "a.svg", level=0.9)
    segments = np.array(figure.axes[0].collections[0].get_segments())[:, :, 0]
    np.testing.assert_allclose(segments, np.stack([low, high], axis=1))
    assert figure.axes[0].get_xlim()[0] < low.min() < 0  # an estimate below 0 is drawn, too


def test_limits_of_listed_cells_of_a_huge_table_hold_the_truth() -> None:
    names = [f"x{i}" for i in range(18)]
    schema = sf.Schema({name: sf.Categorical((0, 1, 2)) for name in names})
    scheme = sf.Scheme(schema, {name: c.symmetric(3, 0.02) for name in names})
    table = {name: np.zeros(500, dtype=int) for name in names}
    found = sf.evidence(sf.randomize(table, scheme, rng=1)).cells(names, [[0] * 18, [1] * 18, [0] * 17 + [1]])
    low, high = found.interval(0.9999)
    assert low[0] <= 500 <= high[0] and low[0] > 350
    assert (low[1:] <= 0).all() and (high[1:] > 0).all() and (high[1:] < 60).all()
