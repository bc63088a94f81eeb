"""Claims about method "auto": close to an oracle without tuning, honest bands, sane at the extremes.

The full battery is a command (python -m benchmarks.density_regret); here is a short one with fixed seeds.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.stats as st

from sfumato.assess.continuous import information_loss
from sfumato.channels.additive import Noise, gaussian, laplace, uniform
from sfumato.errors import UnrecoverableWarning
from sfumato.evidence.density import density
from sfumato.evidence.density.kernels import interval_kernel
from sfumato.evidence.density.penalised import gaussian_fit, newton, objective, penalty
from sfumato.threads import one_thread

PAIRS = [
    (st.uniform(2, 2), uniform(1)),
    (st.norm(0, 0.484), gaussian(1)),
    (st.expon(), gaussian(0.5)),
    (st.gamma(3), laplace(1)),
]


def oracle(x: object, noise: Noise, z: np.ndarray, cells: int = 80) -> float:
    """The best loss along the EM path on the range of z: nobody has it."""
    d = density(z, noise, bins=cells, method="em", stop=1)
    kernel, mass, best = interval_kernel(noise, d.edges, d.z_edges), d.mass, 1.0
    grid = (d.edges[:-1, None] + np.diff(d.edges)[:, None] * (np.arange(20) + 0.5) / 20).ravel()
    truth = x.pdf(grid).reshape(cells, 20)  # type: ignore[attr-defined]
    outside = 1 - float(x.cdf(d.edges[-1]) - x.cdf(d.edges[0]))  # type: ignore[attr-defined]
    for _ in range(400):
        mass = mass * kernel.adjoint(d.z_counts / np.maximum(kernel.forward(mass), 1e-300)) / d.n
        height = mass / np.diff(d.edges)
        best = min(best, 0.5 * (float(np.abs(truth - height[:, None]).mean(axis=1) @ np.diff(d.edges)) + outside))
    return best


open_shapes = pytest.mark.filterwarnings("ignore:the data cannot tell this shape")  # tested below


@open_shapes
@pytest.mark.parametrize(("n", "most"), [(500, 0.01), (20_000, 0.0)])
def test_auto_is_no_worse_than_the_oracle_on_average(n: int, most: float) -> None:
    regret, ruined = [], []
    for seed, (x, noise) in enumerate(PAIRS):
        rng = np.random.default_rng([n, seed])
        z = noise.randomize(x.rvs(n, random_state=rng), rng)
        best = oracle(x, noise, z)
        regret.append(information_loss(x, density(z, noise)) - best)
        ruined.append(information_loss(x, density(z, noise, method="em", stop=2000)) - best)
    assert np.mean(regret) < most
    assert max(regret) < 0.06
    assert np.mean(ruined) > most + 0.02  # the same check on EM left to converge fails


@open_shapes
def test_more_data_gives_a_better_estimate() -> None:
    x, noise = st.norm(0, 1), gaussian(1)
    rng = np.random.default_rng(5)
    z = noise.randomize(x.rvs(300_000, random_state=rng), rng)
    loss = [information_loss(x, density(z[:n], noise)) for n in (300, 300_000)]
    assert loss[1] < 0.02 < loss[0]


@open_shapes
def test_band_covers_most_of_the_truth_and_a_wrong_density_is_not_covered() -> None:
    shares, wrong = [], []
    for seed, (x, noise) in enumerate(PAIRS):
        rng = np.random.default_rng([9, seed])
        d = density(noise.randomize(x.rvs(5000, random_state=rng), rng), noise)
        low, high = d.band(0.9)
        truth = np.diff(x.cdf(d.edges)) / np.diff(d.edges)
        weight = truth * np.diff(d.edges)
        shares.append(weight @ ((truth >= low) & (truth <= high)) / weight.sum())
        moved = np.roll(truth, 15)
        wrong.append(weight @ ((moved >= low) & (moved <= high)) / weight.sum())
    assert np.mean(shares) > 0.7
    assert np.mean(wrong) < 0.5


def test_far_values_do_not_ruin_the_estimate() -> None:
    rng = np.random.default_rng(3)
    for n in (2000, 50_000):
        z = gaussian(1).randomize(np.append(rng.normal(0, 1, n), 1e6), rng)
        d = density(z, gaussian(1))
        assert information_loss(st.norm(), d) < 0.1
        assert d.dropped < 0.01


def test_a_support_that_cuts_off_some_mass_is_noticed() -> None:
    rng = np.random.default_rng(4)
    z = gaussian(0.7).randomize(rng.laplace(0, 1, 400_000), rng)
    d = density(z, gaussian(0.7), support=(-7.6, 7.6), bins=60)
    assert d.edges[0] >= -7.6
    assert d.edges[-1] <= 7.6
    assert information_loss(st.laplace(), d) < 0.04


def test_hopeless_noise_returns_a_wide_plain_shape() -> None:
    rng = np.random.default_rng(6)
    with pytest.warns(UnrecoverableWarning):
        d = density(gaussian(10).randomize(rng.normal(3, 1, 5000), rng), gaussian(10))
    assert d.mean == pytest.approx(3, abs=1)
    assert (np.diff(np.sign(np.diff(d.height))) != 0).sum() <= 4  # no invented modes


def test_scoring_finds_the_maximum_and_its_gradient_vanishes() -> None:
    from sfumato.evidence.density import crop
    from sfumato.evidence.density.binning import gather

    rng = np.random.default_rng(8)
    sample = gather(gaussian(0.5).randomize(rng.normal(0, 1, 3000), rng))
    problem = crop.problem(sample, gaussian(0.5), np.linspace(-4, 4, 41), (-4.0, 4.0))
    pen = penalty(problem, 2)
    precision = pen.rows.T @ pen.rows / 0.1**2 + pen.free
    eta, _, _, _ = newton(problem, np.full(40, -2.0), precision, tolerance=1e-10, limit=100)

    def total(e: np.ndarray) -> float:
        return objective(problem, e)[0] - 0.5 * float(e @ precision @ e)

    top = total(eta)
    for _ in range(20):
        assert total(eta + 0.01 * rng.normal(size=40)) < top
    assert np.exp(eta) @ problem.widths == pytest.approx(1, abs=1e-3)
    rough, smooth = gaussian_fit(problem, pen, 10.0, eta), gaussian_fit(problem, pen, 0.1, eta)
    assert smooth.evidence > rough.evidence  # a normal density is smooth, and the evidence says so


def test_one_thread_restores_what_it_found() -> None:
    from threadpoolctl import threadpool_info, threadpool_limits

    def blas() -> list[int]:
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    with threadpool_limits(limits=2, user_api="blas"):
        before = blas()
        with one_thread():
            assert set(blas()) == {1}
        assert blas() == before and set(before) == {2}


def warned(x: object, noise: Noise, n: int, seed: int) -> bool:
    rng = np.random.default_rng([77, n, seed])
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        density(noise.randomize(x.rvs(n, random_state=rng), rng), noise)  # type: ignore[attr-defined]
    return any("cannot tell this shape from two separate blocks" in str(w.message) for w in seen)


class TwoBlocks:
    """Two blocks of width 1, three apart."""

    def rvs(self, n: int, random_state: np.random.Generator) -> np.ndarray:
        return random_state.random(n) + 3 * (random_state.random(n) < 0.5)


def test_a_shape_that_the_data_leave_open_is_warned_of() -> None:
    """Noise half as wide as the data hides two blocks: the smooth estimate loses 60 points and said nothing."""
    assert sum(warned(TwoBlocks(), gaussian(2), 300, seed) for seed in range(5)) >= 4
    assert sum(warned(TwoBlocks(), gaussian(2), 2000, seed) for seed in range(3)) >= 1


def test_shapes_that_the_data_settle_are_not_warned_of() -> None:
    settled = [
        (TwoBlocks(), uniform(1)),
        (TwoBlocks(), gaussian(0.4)),
        (st.expon(), gaussian(0.5)),
        (st.gamma(3), laplace(1)),
    ]
    assert not any(warned(x, noise, 2000, seed) for seed, (x, noise) in enumerate(settled))
