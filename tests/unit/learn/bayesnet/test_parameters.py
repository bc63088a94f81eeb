"""Probabilities from estimated counts: brute-force twins, intervals, densities."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import product

import numpy as np
import pytest

import sfumato as sf
from conftest import need
from sfumato import channels as c
from sfumato.errors import EstimationError, UnrecoverableWarning
from sfumato.learn import BayesianNetwork
from sfumato.learn.bayesnet.parameters import fit_cpt
from sfumato.learn.bayesnet.published_networks import gallery
from sfumato.learn.bayesnet.ratio_of_counts import Hinkley, fieller

SCHEMA = sf.Schema({"a": sf.Categorical(("x", "y")), "b": sf.Categorical((0, 1, 2)), "z": sf.Categorical((0, 1, 2))})


def rows(n: int, seed: int) -> dict[str, list]:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 2, n), rng.choice(3, n, p=[0.6, 0.3, 0.1])
    z = (a + b + (rng.random(n) < 0.4)) % 3
    return {"a": [("x", "y")[i] for i in a], "b": b.tolist(), "z": z.tolist()}


def counted(table: dict[str, list]) -> np.ndarray:
    out = np.zeros((2, 3, 3))
    for a, b, z in zip(*table.values(), strict=True):
        out["xy".index(a), b, z] += 1
    return out


@pytest.mark.parametrize("prior, alpha", [("ml", 0.0), ("k2", 1.0), ("bdeu", 10 / 18), (5.0, 5 / 18)])
def test_exact_evidence_gives_the_textbook_table(prior, alpha) -> None:
    table = rows(3000, 1)
    net = BayesianNetwork({"a": [], "b": [], "z": ["a", "b"]}, prior=prior).fit(sf.evidence(table, SCHEMA))
    counts = counted(table)
    expected = (counts + alpha) / (counts + alpha).sum(-1, keepdims=True)
    np.testing.assert_allclose(net.cpt("z").values, expected, atol=1e-13)


def test_a_dirichlet_prior_may_differ_from_cell_to_cell() -> None:
    table = rows(300, 3)
    counts = counted(table)
    weights = np.random.default_rng(5).gamma(1.0, 3.0, counts.shape)
    structure = {"a": [], "b": [], "z": ["a", "b"]}
    net = BayesianNetwork(structure, prior={"z": weights, "a": 2.0}).fit(sf.evidence(table, SCHEMA))
    expected = (counts + weights) / (counts + weights).sum(-1, keepdims=True)
    np.testing.assert_allclose(net.cpt("z").values, expected, atol=1e-13)
    np.testing.assert_allclose(net.cpt("z").raw, expected, atol=1e-13)
    plain, b = BayesianNetwork(structure).fit(sf.evidence(table, SCHEMA)), net.cpt("b")
    np.testing.assert_array_equal(b.values, plain.cpt("b").values)  # no weights, no prior
    shrunk = counts.sum(-1, keepdims=True) / (counts + weights).sum(-1, keepdims=True)
    np.testing.assert_allclose(net.cpt("z").sd(), plain.cpt("z").sd() * shrunk, rtol=1e-12)
    for prior, said in (
        ({"nobody": 1.0}, "no node 'nobody'"),
        ({"z": [1.0, 2.0, 3.0, 4.0, 5.0]}, "the prior of 'z' must be weights of shape"),
        ({"z": -1.0}, "none negative"),
        ({"z": "x"}, "the prior of 'z' must be weights"),
    ):
        with pytest.raises(EstimationError, match=said):
            BayesianNetwork(structure, prior=prior).fit(sf.evidence(table, SCHEMA))


@pytest.mark.parametrize("prior", ["ml", "k2", "bdeu"])
def test_exact_evidence_gives_pgmpys_table(prior) -> None:
    need(find_spec("pgmpy") is not None, "pgmpy", "pip install 'sfumato[bayes]'")
    import warnings

    import pandas as pd

    truth = gallery("survey")
    table = truth.sample(4000, rng=2)
    net = BayesianNetwork(truth.parents_, prior=prior).fit(sf.evidence(table, truth.schema_))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy.estimators import BayesianEstimator, MaximumLikelihoodEstimator
        from pgmpy.models import DiscreteBayesianNetwork

        model = DiscreteBayesianNetwork([(p, node) for node, held in truth.parents_.items() for p in held])
        frame = pd.DataFrame(table.to_pydict())
        if prior == "ml":
            cpds = MaximumLikelihoodEstimator(model, frame).get_parameters()
        else:
            cpds = BayesianEstimator(model, frame).get_parameters(
                prior_type={"k2": "K2", "bdeu": "BDeu"}[prior], equivalent_sample_size=10
            )
    for cpd in cpds:
        node, *held = cpd.variables
        mine = net.cpt(node)
        for place in product(*(range(size) for size in mine.shape)):
            names = dict(zip((*mine.parents, node), place, strict=True))
            states = {name: truth.schema_[name].labels[code] for name, code in names.items()}
            index = tuple(cpd.state_names[name].index(states[name]) for name in (node, *held))
            assert abs(mine.values[place] - cpd.values[index]) < 1e-12


def noisy(seed: int, n: int = 4000) -> sf.Evidence:
    scheme = sf.Scheme(SCHEMA, {"a": c.binary(0.1, 0.25), ("b", "z"): c.symmetric((3, 3), 0.3)})
    return sf.evidence(sf.randomize(rows(n, seed), scheme, rng=seed))


@pytest.mark.filterwarnings("ignore::sfumato.errors.NegativeCountsWarning")
def test_counts_and_covariances_equal_the_dense_ones() -> None:
    seen = noisy(3)
    cpt = fit_cpt(seen.counts(["a", "b", "z"], quiet=True))
    estimate = seen.counts(["a", "b", "z"])
    np.testing.assert_allclose(cpt.counts, estimate.table, rtol=1e-9, atol=1e-9)
    for population in (True, False):
        cov = estimate.population().cov * seen.n**2 if population else estimate.cov
        cov = cov.reshape(6, 3, 6, 3)
        _, _, v11, v12, v22 = (part.reshape(6, 3) for part in cpt.moments(population))
        for j in range(6):
            for k in range(3):
                assert v11[j, k] == pytest.approx(cov[j, k, j, k], rel=1e-8)
                assert v12[j, k] == pytest.approx(cov[j, k, j].sum(), rel=1e-8, abs=1e-6)
                assert v22[j, k] == pytest.approx(cov[j, :, j].sum(), rel=1e-8)


@pytest.mark.filterwarnings("ignore::sfumato.errors.NegativeCountsWarning")
def test_probabilities_stay_on_the_simplex_and_the_raw_ones_are_kept() -> None:
    scheme = sf.Scheme(SCHEMA, {name: c.symmetric(domain.size, 0.45) for name, domain in SCHEMA.items()})
    seen = sf.evidence(sf.randomize(rows(300, 4), scheme, rng=5))
    with pytest.warns(UnrecoverableWarning, match="parent configurations"):
        net = BayesianNetwork({"a": [], "b": [], "z": ["a", "b"]}).fit(seen)
    cpt = net.cpt("z")
    assert (cpt.values >= 0).all()
    np.testing.assert_allclose(cpt.values.sum(-1), 1)
    assert np.nanmin(cpt.raw) < 0
    assert not cpt.supported.all()
    assert net.unsupported_ == {"z": int((~cpt.supported).sum())}
    np.testing.assert_allclose(cpt.values[~cpt.supported], 1 / 3)
    assert np.isnan(cpt.raw[~cpt.supported]).all()
    for method in ("score", "fieller", "delta"):
        low, high = cpt.interval(method=method)
        assert (low[~cpt.supported] == 0).all() and (high[~cpt.supported] == 1).all()
    low, high = cpt.interval()
    assert ((low <= high) & (low >= 0) & (high <= 1)).all()


@pytest.mark.filterwarnings("ignore::sfumato.errors.NegativeCountsWarning")
def test_no_interval_of_a_probability_is_a_point() -> None:
    """Where the unbiased estimate lies well below 0 the interval was [0, 0], beside a standard deviation."""
    schema = sf.Schema({"priors": sf.Ordinal(tuple(range(20)))})
    scheme = sf.Scheme.for_gamma(schema, gamma=9)
    share = 0.6 ** np.arange(20)
    truth = share / share.sum()
    below = hits = cells = 0
    for seed in range(30):
        people = np.random.default_rng(seed).choice(20, 2000, p=truth)
        cpt = fit_cpt(sf.evidence(sf.randomize({"priors": people}, scheme, rng=seed)).counts("priors", quiet=True))
        low, high = cpt.interval()
        assert (high - low > 0.2 * cpt.sd()).all()
        below += int((cpt.raw < -1.96 * cpt.sd()).sum())
        hits, cells = hits + int(((low <= truth) & (truth <= high)).sum()), cells + 20
    assert below > 0  # such estimates were met
    assert hits / cells > 0.92


def test_moment_and_mle_agree_in_the_interior() -> None:
    seen = noisy(9, n=200_000)
    parents = {"a": [], "b": ["a"], "z": ["b"]}
    moment = BayesianNetwork(parents).fit(seen)
    mle = BayesianNetwork(parents).fit(sf.evidence(seen.release, method="mle"))
    for node in parents:
        assert (moment.cpt(node).counts > 0).all()
        np.testing.assert_allclose(mle.cpt(node).values, moment.cpt(node).values, atol=1e-4)
        np.testing.assert_array_equal(mle.cpt(node).raw, moment.cpt(node).raw)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", ["project", "mle"])
def test_possible_counts_can_be_asked_for(method) -> None:
    scheme = sf.Scheme(SCHEMA, {name: c.symmetric(domain.size, 0.4) for name, domain in SCHEMA.items()})
    release = sf.randomize(rows(400, 4), scheme, rng=5)
    net = BayesianNetwork({"a": [], "b": [], "z": ["a", "b"]}).fit(sf.evidence(release, method=method))
    counts = sf.evidence(release, method=method).counts(["a", "b", "z"]).table
    held = counts.sum(-1) > 1e-9
    np.testing.assert_allclose(net.cpt("z").values[held], (counts / counts.sum(-1, keepdims=True))[held], atol=1e-9)


def test_without_randomization_the_score_interval_is_wilsons() -> None:
    table = rows(500, 6)
    cpt = BayesianNetwork({"a": [], "b": [], "z": ["a", "b"]}).fit(sf.evidence(table, SCHEMA)).cpt("z")
    counts = counted(table)
    n, p, z = counts.sum(-1, keepdims=True), counts / counts.sum(-1, keepdims=True), 1.959963984540054
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    low, high = cpt.interval()
    np.testing.assert_allclose(low, np.maximum(middle - half, 0), atol=1e-8)
    np.testing.assert_allclose(high, np.minimum(middle + half, 1), atol=1e-8)


def test_fieller_limits_solve_their_equation() -> None:
    top, bottom, v11, v12, v22 = 40.0, 100.0, 90.0, 30.0, 150.0
    z2 = 1.959963984540054**2
    for limit in fieller(top, bottom, v11, v12, v22):
        w = float(limit)
        assert (top - w * bottom) ** 2 == pytest.approx(z2 * (v11 - 2 * w * v12 + w * w * v22))
    low, high = fieller(4.0, 10.0, 90.0, 30.0, 150.0)
    assert low == -np.inf and high == np.inf


def test_hinkleys_density_is_that_of_the_ratio() -> None:
    law = Hinkley(40.0, 100.0, 10.0, 12.0, 0.3)
    w = np.linspace(-4, 4, 400_001)
    assert float(np.sum(law.pdf(w)) * (w[1] - w[0])) == pytest.approx(1, abs=1e-6)
    rng = np.random.default_rng(7)
    pairs = rng.multivariate_normal([40, 100], [[100, 36], [36, 144]], size=200_000)
    ratio = pairs[:, 0] / pairs[:, 1]
    for edge in (0.3, 0.4, 0.5):
        below = float(np.sum(law.pdf(w[w < edge])) * (w[1] - w[0]))
        assert abs((ratio < edge).mean() - below) < 5 * np.sqrt(0.25 / 200_000)
    wrong = Hinkley(40.0, 100.0, 12.0, 12.0, 0.3)
    below = float(np.sum(wrong.pdf(w[w < 0.3])) * (w[1] - w[0]))
    assert abs((ratio < 0.3).mean() - below) > 5 * np.sqrt(0.25 / 200_000)


def test_bad_requests_are_one_clear_line() -> None:
    seen = sf.evidence(rows(50, 8), SCHEMA)
    cpt = BayesianNetwork({"a": [], "b": [], "z": []}).fit(seen).cpt("z")
    with pytest.raises(EstimationError, match=r"level must lie in \(0, 1\), got 2"):
        cpt.interval(2)
    with pytest.raises(EstimationError, match="level must be a number"):
        cpt.interval("x")
    for cell in ((9,), (0, 0), (-1,)):
        with pytest.raises(EstimationError, match="cell must be the codes of z"):
            cpt.density(cell)
    with pytest.raises(EstimationError, match="has no spread"):
        cpt.density((0,), population=False)
    with pytest.raises(EstimationError, match="method must be delta, fieller or score"):
        cpt.interval(method="exact")
    with pytest.raises(EstimationError, match="prior must be one of"):
        BayesianNetwork({"a": [], "b": [], "z": []}, prior="jeffreys").fit(seen)
    with pytest.raises(EstimationError, match="prior must be a number of records"):
        BayesianNetwork({"a": [], "b": [], "z": []}, prior=-1.0).fit(seen)
    with pytest.raises(EstimationError, match="were given, not estimated"):
        _ = gallery("asia").cpt("xray").counts
