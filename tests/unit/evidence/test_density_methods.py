"""EM, AS and the converged MLE: what each must obey."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.stats as st

from sfumato.assess.continuous import information_loss
from sfumato.channels.additive import Noise, from_scipy, gaussian, laplace, uniform
from sfumato.errors import EstimationError, SingularChannelWarning
from sfumato.evidence.density import density, em, mle
from sfumato.evidence.density.kernels import DenseKernel, Toeplitz, interval_kernel, midpoint_kernel
from sfumato.evidence.density.stopping import Stop, parse_stop
from sfumato.papers.aa01.densities import GAUSSIAN_X

RNG = np.random.default_rng(7)
FLAT = uniform(1).randomize(RNG.uniform(2, 4, 3000), RNG)
BELL = gaussian(1).randomize(RNG.normal(0, 0.4839, 20_000), RNG)


@pytest.mark.parametrize("noise", [uniform(1), gaussian(0.6), laplace(0.4)], ids=lambda n: n.kind)
def test_em_log_likelihood_never_falls(noise: Noise) -> None:
    z = noise.randomize(RNG.uniform(2, 4, 1500), RNG)
    for n in (1500, 800):  # exact samples both times; the binned kernel below
        d = density(z[:n], noise, bins=40, method="em", stop=("loglik", 1e-3))
        assert (np.diff(d.trace) >= -1e-9 * abs(d.trace[0])).all()
        assert d.trace[-1] > d.trace[0] + 1
    edges = np.linspace(0, 6, 41)
    z_edges = np.linspace(z.min(), z.max(), 201)
    counts = np.histogram(z, z_edges)[0].astype(float)
    found = em.iterate(interval_kernel(noise, edges, z_edges), counts, Stop("loglik", 1e-3))
    assert (np.diff(found.trace) >= -1e-9 * abs(found.trace[0])).all()


@pytest.mark.parametrize(("noise", "most"), [(gaussian(1), 2e-3), (uniform(1), 5e-3)], ids=["gaussian", "uniform"])
def test_binned_em_equals_exact_em(noise: Noise, most: float) -> None:
    z = noise.randomize(np.random.default_rng(4).uniform(2, 4, 2000), rng=5)
    exact = density(z, noise, support=(0, 6), bins=30, method="em", stop=50)
    z_edges = np.linspace(z.min(), z.max(), 401)
    counts = np.histogram(z, z_edges)[0].astype(float)
    kernel = interval_kernel(noise, np.linspace(0, 6, 31), z_edges)
    binned = em.iterate(kernel, counts, Stop("iterations", 50))
    assert 0.5 * np.abs(binned.mass - exact.mass).sum() < most
    later = em.iterate(kernel, counts, Stop("iterations", 100))
    assert 0.5 * np.abs(later.mass - exact.mass).sum() > 2 * most  # the check can fail


def test_as_and_em_agree_at_equal_iterations_on_the_gaussian_pair() -> None:
    for iterations in (10, 30, 100):
        how = {"support": (-2.5, 2.5), "bins": 50, "stop": iterations}
        a = information_loss(GAUSSIAN_X, density(BELL, gaussian(1), method="as", **how))
        b = information_loss(GAUSSIAN_X, density(BELL, gaussian(1), method="em", **how))
        assert abs(a - b) < 0.003
    far = information_loss(GAUSSIAN_X, density(BELL, gaussian(1), support=(-2.5, 2.5), bins=50, method="em", stop=3))
    assert abs(a - far) > 0.003


def test_as_ties_do_not_hang_on_the_last_bit() -> None:
    x_edges = np.linspace(0, 6, 31)
    z_edges = np.linspace(-1, 7, 41)
    middle = midpoint_kernel(uniform(1), x_edges, z_edges).matrix
    shifted = midpoint_kernel(uniform(1), x_edges + 1e-13, z_edges).matrix
    assert np.array_equal(middle, shifted)
    assert middle[:, 15].sum() == pytest.approx(1.0)


@pytest.mark.parametrize("noise", [gaussian(0.5), laplace(0.3)], ids=lambda n: n.kind)
def test_fft_kernel_equals_the_dense_one(noise: Noise) -> None:
    x_edges = np.linspace(0, 5, 451)
    z_edges = x_edges[0] + (x_edges[1] - x_edges[0]) * np.arange(-100, 600)
    fast = interval_kernel(noise, x_edges, z_edges)
    slow = DenseKernel(noise.interval_matrix(x_edges, z_edges).T)
    assert isinstance(fast, Toeplitz)
    p, r = RNG.random(450), RNG.random(z_edges.size - 1)
    assert np.abs(fast.forward(p) - slow.forward(p)).max() < 1e-11
    assert np.abs(fast.adjoint(r) - slow.adjoint(r)).max() < 1e-11
    assert np.abs(fast.matrix - slow.matrix).max() < 1e-11


def test_mle_has_a_certificate_and_beats_long_em() -> None:
    with pytest.warns(SingularChannelWarning, match="rank 21 below 30"):
        best = density(FLAT, uniform(1), support=(0, 6), bins=30, method="mle")
    assert best.gap is not None
    assert best.gap < 1e-7
    assert best.rank == 21
    z_edges, counts = best.z_edges, best.z_counts
    kernel = interval_kernel(uniform(1), best.edges, z_edges)
    slow = em.iterate(kernel, counts, Stop("iterations", 5000))
    cells = best.trace + float(counts @ np.log(np.diff(z_edges)))  # of cells, as the bare iteration has it
    assert cells[-1] >= slow.trace[-1] - 1e-6
    assert cells[-1] - slow.trace[-1] < 20
    start = em.iterate(kernel, counts, Stop("iterations", 20))
    assert cells[-1] > start.trace[-1] + 1


def test_mle_on_a_full_rank_kernel_is_the_exact_inverse_when_that_is_positive() -> None:
    P = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])
    truth = np.array([0.5, 0.3, 0.2])
    found = mle.maximise(DenseKernel(P.T), 1e6 * (truth @ P))
    assert found.mass == pytest.approx(truth, abs=1e-6)


def test_null_space_leaves_no_trace_in_z() -> None:
    d = density(FLAT, uniform(1), support=(0, 6), bins=30, method="em", stop=10)
    hidden = d.null_space()
    assert hidden.shape == (9, 30)
    A = uniform(1).interval_matrix(d.edges, d.z_edges)
    assert np.abs(hidden @ A).max() < 1e-9
    assert np.abs(np.eye(30)[:9] @ A).max() > 1e-3


def test_early_stopping_regularises_and_convergence_ruins() -> None:
    how = {"support": (-2.5, 2.5), "bins": 50}
    early = information_loss(GAUSSIAN_X, density(BELL[:500], gaussian(1), method="em", stop=30, **how))
    with pytest.warns(SingularChannelWarning):
        late = information_loss(GAUSSIAN_X, density(BELL[:500], gaussian(1), method="mle", **how))
    assert early < 0.2
    assert late > 0.5


@pytest.mark.parametrize("rule", ["iterations:7", "theta:1e-2", "loglik:1", "chi2", "cv:5"])
def test_every_stop_rule_stops(rule: str) -> None:
    d = density(BELL[:3000], gaussian(1), bins=30, method="em", stop=rule, rng=1)
    assert 1 <= d.iterations < 3001
    assert d.mass.sum() == pytest.approx(1)
    if rule == "iterations:7":
        assert d.iterations == 7


def test_cross_validation_stops_between_too_early_and_converged() -> None:
    chosen = density(BELL, gaussian(1), support=(-2.5, 2.5), bins=50, method="em", stop="cv:5", rng=3)
    assert information_loss(GAUSSIAN_X, chosen) < 0.12
    assert 3 <= chosen.iterations <= 1500


@pytest.mark.parametrize("bad", ["sometimes:3", "theta:-1", "theta:x", "cv:1", "iterations:2.5", 1.5, {"a": 1, "b": 2}])
def test_bad_stop_rules_are_named(bad: object) -> None:
    with pytest.raises(EstimationError, match="stop"):
        parse_stop(bad, "chi2")


@pytest.mark.parametrize(("dist", "most"), [(st.pareto(0.5), 0.2), (st.levy(), 0.1)], ids=["pareto", "levy"])
def test_auto_finds_x_under_one_sided_noise_without_a_mean(dist: object, most: float) -> None:
    noise = from_scipy(dist)
    rng = np.random.default_rng(0)
    found = density(noise.randomize(rng.normal(5, 1, 3000), rng), noise)
    assert information_loss(st.norm(5, 1), found) < most
    assert information_loss(st.norm(8, 1), found) > 0.5


@pytest.mark.parametrize(("method", "n"), [("em", 1000), ("em", 3000), ("mle", 3000)])
@pytest.mark.filterwarnings("ignore::sfumato.errors.SingularChannelWarning")
def test_trace_has_every_iteration_and_ends_at_the_log_likelihood(method: str, n: int) -> None:
    d = density(FLAT[:n], uniform(1), bins=40, method=method, stop=100 if method == "em" else None)
    assert d.trace.size == d.iterations + 1
    assert d.trace[-1] == pytest.approx(d.log_likelihood, rel=1e-9)
    assert (np.diff(d.trace) > -1e-9 * abs(d.trace[0])).all()


def test_em_starts_from_equal_density_where_cells_are_unequal() -> None:
    """AA01 section 4.2: theta_i = 1/K is a density. One step from it, by hand."""
    z = np.array([0.2, 0.7, 1.4, 2.6])
    noise = uniform(1.0)
    edges = np.array([0.0, 0.5, 3.0])
    found = density(z, noise, bins=edges, method="em", stop=1)
    reach = np.array([[noise.cdf(v - a) - noise.cdf(v - b) for a, b in pairwise(edges)] for v in z])
    per_width = reach / np.diff(edges)
    start = np.diff(edges) / 3.0
    expected = (start * per_width / (per_width @ start)[:, None]).mean(0)
    assert found.mass == pytest.approx(expected, abs=1e-9)
    wrong = (0.5 * per_width / (per_width @ [0.5, 0.5])[:, None]).mean(0)
    assert np.abs(found.mass - wrong).max() > 0.01


def test_cells_that_are_given_stay_where_they_are() -> None:
    rng = np.random.default_rng(5)
    x = np.where(rng.random(20_000) < 0.4, rng.normal(0.3, 0.06, 20_000), rng.normal(0.7, 0.08, 20_000))
    z, cells = gaussian(0.1).randomize(x, rng), np.linspace(0, 1, 61)
    truth = np.histogram(x, cells)[0] / x.size
    d = density(z, gaussian(0.1), support=(0, 1), bins=60)
    np.testing.assert_allclose(d.edges, cells)
    assert 0.5 * np.abs(d.mass - truth).sum() < 0.08
    assert d.band()[0].shape == d.mass.shape
    moved = density(z, gaussian(0.1), support=(0, 1), bins=60, crop_support=True)
    assert moved.edges[0] > 0  # where only one of the two is given, the cells go where the mass is
    assert 0.5 * np.abs(moved.mass - truth).sum() > 0.1  # masses of other cells
    assert 0.5 * np.abs(np.diff(moved.cdf(cells)) - truth).sum() < 0.08
    assert density(z, gaussian(0.1), support=(0, 1)).edges[0] > 0
