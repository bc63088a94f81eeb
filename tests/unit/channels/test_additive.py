"""Additive noise: exact kernels, ties, sampling, JSON."""

from __future__ import annotations

import json
import math
from itertools import pairwise

import numpy as np
import pytest
import scipy.stats as st
from scipy.integrate import quad

from sfumato.channels import additive as ad
from sfumato.channels import from_dict
from sfumato.errors import ChannelError

EVERY = [
    ad.uniform(0.7),
    ad.gaussian(0.5),
    ad.laplace(0.4),
    ad.tabulated([-1, 0, 2], [0.25, 0.75]),
    ad.from_scipy(st.gamma(2.0)),
    ad.from_scipy(st.t(4, 0, 0.3)),
    ad.from_scipy(st.uniform(-1, 3)),
]
X_EDGES = np.array([0.0, 0.3, 1.2, 2.0])
Y_EDGES = np.array([-np.inf, -1.0, 0.0, 0.5, 1.7, 3.0, np.inf])
ids = [f"{n.kind}-{i}" for i, n in enumerate(EVERY)]


def brute(noise: ad.Noise, x0: float, x1: float, y0: float, y1: float) -> float:
    def between(x: float) -> float:
        upper = 1.0 if y1 == np.inf else float(noise.cdf(y1 - x))
        lower = 0.0 if y0 == -np.inf else float(noise.cdf(y0 - x))
        return upper - lower

    return quad(between, x0, x1, limit=300, epsabs=1e-10)[0] / (x1 - x0)


@pytest.mark.parametrize("noise", EVERY, ids=ids)
def test_interval_matrix_equals_the_integral_of_the_cdf(noise: ad.Noise) -> None:
    P = noise.interval_matrix(X_EDGES, Y_EDGES)
    slow = [[brute(noise, x0, x1, y0, y1) for y0, y1 in pairwise(Y_EDGES)] for x0, x1 in pairwise(X_EDGES)]
    assert np.abs(P - slow).max() < 1e-8
    assert np.abs(P.sum(axis=1) - 1).max() < 1e-12
    assert np.abs(P - np.roll(slow, 1, axis=0)).max() > 1e-3  # the check can fail


@pytest.mark.parametrize("noise", EVERY, ids=ids)
def test_density_matrix_is_the_limit_of_narrow_intervals(noise: ad.Noise) -> None:
    z, eps = np.array([0.31, 1.17]), 1e-4
    exact = noise.density_matrix(X_EDGES, z)
    for row, point in zip(exact, z, strict=True):
        narrow = noise.interval_matrix(X_EDGES, [point - eps, point + eps])[:, 0] / (2 * eps)
        assert np.abs(row - narrow).max() < 2e-3


@pytest.mark.parametrize("noise", EVERY, ids=ids)
def test_sampler_follows_its_cdf_and_no_other(noise: ad.Noise) -> None:
    drawn = noise.randomize(np.zeros(20_000), rng=5)
    assert st.kstest(drawn, noise.cdf).pvalue > 1e-6
    assert st.kstest(drawn * 1.1, noise.cdf).pvalue < 1e-6


@pytest.mark.parametrize("noise", EVERY, ids=ids)
def test_json_round_trip(noise: ad.Noise) -> None:
    again = from_dict(json.loads(json.dumps(noise.to_dict())))
    assert again == noise
    assert np.allclose(again.cdf([-0.4, 0.2, 0.9]), noise.cdf([-0.4, 0.2, 0.9]))


@pytest.mark.parametrize("noise", EVERY, ids=ids)
def test_quantile_inverts_cdf_and_sd_matches(noise: ad.Noise) -> None:
    u = np.array([0.01, 0.3, 0.5, 0.77, 0.99])
    assert np.allclose(noise.cdf(noise.quantile(u)), u, atol=1e-10)
    assert noise.sd == pytest.approx(float(np.std(noise.quantile((np.arange(400_000) + 0.5) / 400_000))), rel=5e-3)
    assert noise.gamma == math.inf
    assert noise.epsilon == math.inf


def test_ties_at_the_edge_of_a_bounded_density_weigh_one_half() -> None:
    third = 0.1 + 0.2  # not 0.3 in doubles: the tie must not hang on the last bit
    assert ad.uniform(0.3).pdf(third) == pytest.approx(0.5 / 0.6)
    assert ad.uniform(0.3).pdf(-third) == pytest.approx(0.5 / 0.6)
    assert ad.uniform(0.3).pdf(0.3 * (1 + 1e-6)) == 0.0
    assert ad.tabulated([0, 1, 2], [0.25, 0.75]).pdf([0.0, 1.0, 2.0]) == pytest.approx([0.125, 0.5, 0.375])
    assert ad.from_scipy(st.expon()).pdf(0.0) == pytest.approx(0.5, rel=1e-6)


def test_upper_tail_keeps_its_digits() -> None:
    far = ad.gaussian(1).interval_matrix([0.0, 0.01], [9.0, 9.1, 9.2])[0]
    mirrored = ad.gaussian(1).interval_matrix([-0.01, 0.0], [-9.2, -9.1, -9.0])[0][::-1]
    assert (far > 0).all()
    assert far == pytest.approx(mirrored, rel=1e-9)


def test_randomize_keeps_shape_and_uses_the_secure_source_by_default() -> None:
    x = np.arange(6.0).reshape(2, 3)
    first, second = ad.uniform(1).randomize(x), ad.uniform(1).randomize(x)
    assert first.shape == x.shape
    assert not np.array_equal(first, second)
    assert np.abs(first - x).max() <= 1


def test_discretize_gives_the_finite_channel() -> None:
    channel = ad.uniform(1).discretize([0, 1, 2], [-np.inf, 0, 1, 2, np.inf])
    assert channel.matrix == pytest.approx(np.array([[0.25, 0.5, 0.25, 0], [0, 0.25, 0.5, 0.25]]))
    with pytest.raises(ChannelError, match="cover every output"):
        ad.gaussian(1).discretize([0, 1, 2], [0, 1, 2])


def test_empirical_noise_is_its_histogram() -> None:
    y = np.random.default_rng(0).normal(size=5000)
    noise = ad.empirical(y, bins=40)
    assert noise.sd == pytest.approx(1, abs=0.1)
    assert noise.support == (y.min(), y.max())


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ad.uniform(0), "half_width must be positive"),
        (lambda: ad.gaussian(-1), "sd must be positive"),
        (lambda: ad.laplace(math.nan), "scale must be positive"),
        (lambda: ad.tabulated([0, 1], [0.5]), "sum to 1"),
        (lambda: ad.tabulated([1, 0], [1.0]), "increasing"),
        (lambda: ad.from_scipy(st.poisson(3)), "discrete"),
        (lambda: ad.from_scipy(3), "frozen"),
        (lambda: from_dict({"kind": "sawtooth"}), "sawtooth"),
        (lambda: from_dict({"kind": "uniform"}), "the description of the uniform channel is damaged"),
        (lambda: ad.parse_noise("uniform"), "one number"),
        (lambda: ad.parse_noise("uniform:x"), "no number"),
        (lambda: ad.parse_noise("scipy.nothing:1"), "nothing"),
        (lambda: ad.uniform(1).randomize([1.0, math.nan]), "finite"),
        (lambda: ad.uniform(1).randomize(["a"]), "values must be numbers"),
        (lambda: ad.uniform("a"), "half_width must be a positive number, got 'a'"),  # type: ignore[arg-type]
        (lambda: ad.uniform(None), "got None"),  # type: ignore[arg-type]
        (lambda: ad.from_scipy(st.norm([0, 1], 1)), "arrays for parameters"),
        (lambda: ad.from_scipy(st.Normal(mu=0.0, sigma=1.0)), "tabulated"),
        (lambda: ad.tabulated([0, 1, 2], [1.5, -0.5]), "got -0.5"),
        (lambda: ad.tabulated(["a", "b"], [1]), "edges must be numbers"),
        (lambda: ad.empirical(["a"]), "samples must be numbers"),
    ],
)
def test_bad_input_is_named(call: object, words: str) -> None:
    with pytest.raises(ChannelError, match=words):
        call()  # type: ignore[operator]


def test_parse_noise_reads_the_command_line_form() -> None:
    assert ad.parse_noise("gaussian:0.5") == ad.gaussian(0.5)
    assert ad.parse_noise("scipy.gamma:2,-2,1").support == (-2.0, math.inf)


def test_a_scipy_histogram_becomes_a_table() -> None:
    noise = ad.from_scipy(st.rv_histogram((np.array([1, 3]), np.array([0.0, 1.0, 3.0])), density=False))
    assert noise == ad.tabulated([0, 1, 3], [0.25, 0.75])


@pytest.mark.parametrize("dist", [st.gamma(0.3), st.beta(0.3, 2), st.beta(2, 0.3), st.beta(0.4, 0.4), st.gamma(0.7)])
def test_interval_matrix_is_exact_where_the_density_diverges(dist: object) -> None:
    noise = ad.from_scipy(dist)
    x, y = np.array([0.0, 0.3, 0.97, 2.0]), np.array([-np.inf, 0.0, 0.31, 0.5, 1.2, 1.9, np.inf])
    P = noise.interval_matrix(x, y)
    ends = [e for e in noise.support if math.isfinite(e)]

    def mean_below(edge: float, x0: float, x1: float) -> float:
        cuts = sorted({x0, x1, *(edge - e for e in ends if x0 < edge - e < x1)})
        # towards each cut in fourth powers, an independent way to tame it
        total = 0.0
        for left, right in pairwise(cuts):
            half = (right - left) / 2
            total += quad(lambda s, left=left, h=half: noise.cdf(edge - left - h * s**4) * 4 * h * s**3, 0, 1)[0]
            total += quad(lambda s, right=right, h=half: noise.cdf(edge - right + h * s**4) * 4 * h * s**3, 0, 1)[0]
        return total / (x1 - x0)

    slow = np.array([[mean_below(e, x0, x1) for e in y[1:-1]] for x0, x1 in pairwise(x)])
    assert np.abs(np.cumsum(P, axis=1)[:, :-1] - slow).max() < 1e-8
    assert np.abs(P.sum(axis=1) - 1).max() < 1e-12


@pytest.mark.parametrize("noise", EVERY, ids=ids)
def test_the_largest_and_the_smallest_word_add_finite_noise(noise: ad.Noise) -> None:
    words = np.array([0, (1 << 63) - 1, (1 << 63) - (1 << 10)], dtype=np.uint64)
    assert np.isfinite(noise.draw(np.zeros(3), words)).all()


def test_draws_leave_the_gaps_of_a_table_empty() -> None:
    """Cells without mass are stepped over: quantile and cdf are inverse where there is mass."""
    noise = ad.tabulated([0, 1, 2, 3, 5], [0.5, 0.0, 0.5, 0.0])
    u = np.array([0.0, 0.25, 0.4999, 0.5001, 0.75, 1.0])
    np.testing.assert_allclose(noise.quantile(u), [0, 0.5, 0.9998, 2.0002, 2.5, 3])
    drawn = noise.randomize(np.zeros(2000), rng=0)
    assert not ((drawn > 1) & (drawn < 2)).any() and drawn.max() <= 3
