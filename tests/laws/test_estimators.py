"""What every estimator must obey: unbiasedness, the claimed covariance, coverage, and agreement with brute force."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from gallery import CHANNELS, rest_clear
from sfumato import channels as c
from sfumato.channels import Channel
from sfumato.channels.linear import Dense
from sfumato.evidence import mle
from sfumato.evidence.blocks import blocks
from sfumato.evidence.limits import limits
from sfumato.evidence.record_moments import records
from sfumato.evidence.seen import Seen
from sfumato.evidence.simplex import project

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.errors.NegativeCountsWarning")
SMALL = {name: channel for name, channel in CHANNELS.items() if channel.k <= 16}
each = pytest.mark.parametrize("channel", SMALL.values(), ids=SMALL.keys())


def group_of(channel: Channel) -> tuple[sf.Schema, sf.Scheme]:
    """A scheme that treats one group of attributes with this channel."""
    names = [f"a{i}" for i in range(len(channel.sizes))]
    schema = sf.Schema(
        {name: sf.Categorical(tuple(range(size))) for name, size in zip(names, channel.sizes, strict=True)}
    )
    if channel.kind == "valid":
        return schema, sf.Scheme(schema, {"a0": c.matrix(channel.matrix)})
    return schema, sf.Scheme(schema, {tuple(names): channel})


def released_table(channel: Channel, counts: np.ndarray) -> sf.Release:
    """A release whose released counts are given."""
    _, scheme = group_of(channel)
    codes = np.repeat(np.arange(channel.m), counts)
    columns = c.base.split_codes(codes, channel.outputs)
    names = scheme.columns
    if len(names) != len(columns):
        columns = [codes]
    return sf.Release(pa.table(dict(zip(names, columns, strict=True))), scheme)


def estimate(channel: Channel, counts: np.ndarray, method: str = "moment") -> sf.Estimate:
    release = released_table(channel, counts)
    return sf.evidence(release, method=method).counts(release.schema.names)


def draw_release(channel: Channel, true: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Released counts of a table with these true counts: a multinomial for each true value."""
    return sum(rng.multinomial(int(n), row / row.sum()) for n, row in zip(true, channel.matrix, strict=True))


@each
def test_moment_estimate_is_exact_in_expectation(channel: Channel) -> None:
    true = np.random.default_rng(1).integers(50, 400, channel.k)
    expected = channel.matrix.T @ true
    np.testing.assert_allclose(channel.inverse.apply(expected), true, rtol=1e-9)


@each
def test_claimed_covariance_matches_replication(channel: Channel) -> None:
    rng = np.random.default_rng(2)
    true = rng.integers(100, 400, channel.k)
    A = channel.inverse.dense()
    runs = np.array([A @ draw_release(channel, true, rng) for _ in range(3000)])
    expected = channel.matrix.T @ true
    claimed = (A * expected) @ A.T - np.diag(true)
    scale = np.sqrt(np.outer(np.diag(claimed), np.diag(claimed))) + 1e-9
    # a covariance of 3000 runs is known to about 1/sqrt(3000) of the product of the deviations
    if claimed.max() < 1e-9:
        np.testing.assert_allclose(runs, np.broadcast_to(true, runs.shape))  # nothing was randomized
        return
    assert (np.abs(np.cov(runs.T) - claimed) / scale).max() < 6 / np.sqrt(3000)
    if channel.gamma < np.inf:
        wrong = claimed * 1.3
        assert (np.abs(np.cov(runs.T) - wrong) / scale).max() > 6 / np.sqrt(3000)


@each
def test_estimate_reports_the_formulas_covariance(channel: Channel) -> None:
    released = draw_release(channel, np.full(channel.k, 300), np.random.default_rng(3))
    found = estimate(channel, released)
    A = channel.inverse.dense()
    np.testing.assert_allclose(found.value, A @ released, atol=1e-8)
    np.testing.assert_allclose(found.cov, (A * released) @ A.T - np.diag(A @ released), atol=1e-7)
    np.testing.assert_allclose(found.variance, np.maximum(np.diag(found.cov), 0), atol=1e-7)
    n, share = released.sum(), A @ released / released.sum()
    behind = found.population()
    np.testing.assert_allclose(behind.cov, ((A * released / n) @ A.T - np.outer(share, share)) / n, atol=1e-10)
    np.testing.assert_allclose(behind.value.sum(), 1)
    assert (found.population_kind, behind.population_kind) == ("finite population", "superpopulation")


@pytest.mark.parametrize("method", ["project", "mle"])
@each
def test_possible_counts_stay_possible(channel: Channel, method: str) -> None:
    true = np.zeros(channel.k, dtype=int)
    true[0] = 500
    found = estimate(channel, draw_release(channel, true, np.random.default_rng(4)), method)
    assert (found.value >= 0).all()
    assert found.value.sum() == pytest.approx(500)


@each
def test_mle_beats_every_nearby_distribution(channel: Channel) -> None:
    rng = np.random.default_rng(5)
    released = draw_release(channel, rng.integers(0, 60, channel.k), rng).astype(float)
    fit = mle.fit(channel.transition, released)
    best = mle.log_likelihood(channel.transition, released, fit.theta)
    assert fit.gap < 1e-6
    for _ in range(200):
        other = 0.95 * fit.theta + 0.05 * rng.dirichlet(np.ones(channel.k) * 0.3)
        assert mle.log_likelihood(channel.transition, released, other) <= best + 1e-4


@each
def test_mle_equals_moment_in_the_interior(channel: Channel) -> None:
    true = np.full(channel.k, 1000.0)
    expected = channel.matrix.T @ true
    fit = mle.fit(channel.transition, expected, tolerance=1e-10)
    np.testing.assert_allclose(fit.theta * true.sum(), true, rtol=2e-3)


def test_mle_closed_form_equals_the_iteration() -> None:
    rng = np.random.default_rng(6)
    for k, p in [(2, 0.3), (5, 0.5), (12, 0.7)]:
        channel = c.symmetric(k, p)
        for _ in range(20):
            released = rng.multinomial(200, rng.dirichlet(np.ones(k) * 0.2)).astype(float)
            closed = mle.fit(channel.transition, released)
            walked = mle.fit(Dense(channel.matrix), released, tolerance=1e-9, most=100_000)
            np.testing.assert_allclose(closed.theta, walked.theta, atol=1e-4)


def test_em_reaches_the_corner_from_a_uniform_start() -> None:
    """ERRATA: Ñ = (0, 50, 50), k = 3, p = .9 must reach (1, 0, 0) with log-likelihood -79.851."""
    far = c.matrix(np.full((3, 3), 0.45) - 0.35 * np.eye(3))
    fit = mle.fit(far.transition, np.array([0.0, 50.0, 50.0]))
    np.testing.assert_allclose(fit.theta, [1, 0, 0], atol=1e-6)
    assert mle.log_likelihood(far.transition, np.array([0.0, 50.0, 50.0]), fit.theta) == pytest.approx(
        -79.851, abs=5e-4
    )


def test_projection_is_the_nearest_possible_point() -> None:
    rng = np.random.default_rng(8)
    for _ in range(50):
        values = rng.normal(0, 5, 6)
        nearest = project(values, 10.0)
        assert nearest.sum() == pytest.approx(10)
        assert (nearest >= 0).all()
        others = rng.dirichlet(np.ones(6), 300) * 10
        assert (np.linalg.norm(others - values, axis=1) >= np.linalg.norm(nearest - values) - 1e-9).all()


def coverage(
    channel: Channel, true: np.ndarray, level: float, runs: int, population: bool = False, of_sample: bool = False
) -> np.ndarray:
    """The share of runs in which each cell's interval holds its count, or (of a population) its share.

    ``of_sample`` draws the table itself anew in each run, from the shares of the true one.
    """
    rng = np.random.default_rng(9)
    _, scheme = group_of(channel)
    names = scheme.schema.names
    shown = Seen(names, blocks(scheme, names), np.zeros(0))
    P, n = shown.full.dense(), int(true.sum())
    if of_sample:
        released = rng.multinomial(n, (true / n) @ P, runs)
    else:
        released = sum(rng.multinomial(int(count), row / row.sum(), runs) for count, row in zip(true, P, strict=True))
    piece = shown.holding(released.T.astype(float))
    low, high = limits(*records([piece], population), level, population)
    return ((low <= true[:, None] + 1e-9) & (true[:, None] <= high + 1e-9)).mean(axis=1)


@pytest.mark.parametrize(
    "name", ["binary", "symmetric", "joint", "rectangular", "subset", "windows", "product", "mask"]
)
def test_intervals_cover_the_tables_own_counts(name: str) -> None:
    channel = CHANNELS[name]
    true = np.random.default_rng(1).integers(200, 800, channel.k)
    share = coverage(channel, true, 0.95, 2000)
    assert abs(share.mean() - 0.95) < 0.012
    narrow = coverage(channel, true, 0.92, 2000)
    assert abs(narrow.mean() - 0.95) > 0.012


def test_intervals_cover_rare_cells_too() -> None:
    channel = c.symmetric(10, 0.1)
    true = np.array([0, 1, 2, 5, 10, 20, 100, 500, 1000, 3000])
    assert coverage(channel, true, 0.95, 2000).min() > 0.93


@pytest.mark.parametrize("channel", [c.identity(4), c.symmetric(4, 0.3)], ids=str)
def test_population_intervals_cover_the_distribution_behind_the_table(channel: Channel) -> None:
    true = np.array([8, 32, 120, 240])
    share = coverage(channel, true, 0.95, 2000, population=True, of_sample=True)
    assert np.abs(share - 0.955).max() < 0.025
    finite = coverage(channel, true, 0.95, 2000, of_sample=True)
    assert finite.mean() < 0.93  # the table's own intervals do not speak of the population


def test_identity_channel_gives_the_raw_answer() -> None:
    rng = np.random.default_rng(0)
    table = {"a": rng.integers(0, 3, 500), "b": rng.integers(0, 2, 500)}
    schema = sf.Schema({"a": sf.Categorical((0, 1, 2)), "b": sf.Categorical((0, 1))})
    crossed = np.zeros((3, 2))
    np.add.at(crossed, (table["a"], table["b"]), 1)
    for method in ("moment", "project", "mle"):
        exact = sf.evidence(table, schema, method=method)
        passed = sf.evidence(sf.randomize(table, rest_clear(schema)), method=method)
        for evidence in (exact, passed):
            found = evidence.counts(["a", "b"])
            np.testing.assert_allclose(found.table, crossed, atol=1e-9)
            assert found.sd.max() == 0
            low, high = found.interval()
            np.testing.assert_allclose(low, high, atol=1e-6)
        assert evidence.exact


def test_warning_when_counts_are_negative() -> None:
    with pytest.warns(sf.errors.NegativeCountsWarning, match="1 of 2 estimated counts are negative"):
        estimate(c.symmetric(2, 0.4), np.array([100, 0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimate(c.symmetric(2, 0.4), np.array([50, 50]))
