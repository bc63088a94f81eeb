"""Tests of independence: twins, null distributions with a negative control, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import sfumato as sf
from gallery import rest_clear
from sfumato import channels as c
from sfumato.errors import EstimationError
from sfumato.evidence import contrasts
from sfumato.evidence.blocks import blocks
from sfumato.evidence.estimate import Estimate
from sfumato.evidence.histograms import histogram
from sfumato.evidence.independence import all_pairs, association, g_squared
from sfumato.evidence.seen import Seen

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.errors.NegativeCountsWarning")


def schema(**sizes: int) -> sf.Schema:
    return sf.Schema({name: sf.Categorical(tuple(range(size))) for name, size in sizes.items()})


def rows(n: int, seed: int, dependent: bool = False) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    g = rng.integers(0, 2, n)
    x = (rng.random(n) < 0.3 + 0.4 * g).astype(int) + (rng.random(n) < 0.3)
    y = (rng.random(n) < 0.6 - 0.3 * g + (0.15 * (x == 1) if dependent else 0)).astype(int)
    return {"g": g, "x": x, "y": y}


SCHEMA = schema(g=2, x=3, y=2)
NOISY = sf.Scheme(SCHEMA, {"g": c.symmetric(2, 0.1), "x": c.symmetric(3, 0.2), "y": c.binary(0.1, 0.25)})


def twin(seen: sf.Evidence, given: bool) -> tuple[float, int]:
    """W from dense covariances, in plain loops."""
    names = ["g", "x", "y"] if given else ["x", "y"]
    est = seen.counts(names)
    table = est.value.reshape(-1, 3, 2)
    J = len(table)
    scheme = seen.release.scheme
    A = np.ones((1, 1))
    P = np.ones((1, 1))
    for name in names:
        A, P = np.kron(A, scheme[name].inverse.dense()), np.kron(P, scheme[name].matrix)
    C, expected = [], np.zeros_like(table)
    for j in range(J):
        n = table[j].sum()
        px, py = table[j].sum(1) / n, table[j].sum(0) / n
        expected[j] = n * np.outer(px, py)
        for a in range(3):
            if a == px.argmax():
                continue
            for b in range(2):
                if b == py.argmax():
                    continue
                row = np.zeros((J, 3, 2))
                for s in range(3):
                    for t in range(2):
                        row[j, s, t] = ((s == a) - px[a]) * ((t == b) - py[b])
                C.append(row.reshape(-1))
    C = np.array(C)
    observed = seen.released_counts(names)
    V = C @ A @ np.diag(0.5 * observed + 0.5 * P.T @ expected.reshape(-1)) @ A.T @ C.T
    T = C @ est.value
    return float(T @ np.linalg.solve(V, T)), len(T)


@pytest.mark.parametrize("given", [(), ("g",)])
def test_wald_equals_its_dense_twin(given) -> None:
    seen = sf.evidence(sf.randomize(rows(20_000, 1, dependent=True), NOISY, rng=2))
    found = association(seen, "x", "y", given)
    statistic, df = twin(seen, bool(given))
    assert found.df == df and found.statistic == pytest.approx(statistic, rel=1e-6)
    assert found.p_value == pytest.approx(stats.chi2.sf(statistic, df), rel=1e-6)
    turned = association(seen, "y", "x", given)
    assert turned.statistic == pytest.approx(found.statistic, rel=1e-6)


def test_a_channel_over_several_attributes_gives_the_same_test() -> None:
    product = c.product([c.symmetric(2, 0.1), c.symmetric(3, 0.2), c.binary(0.1, 0.25)])
    release = sf.randomize(rows(8000, 3, dependent=True), NOISY, rng=4)
    joint = sf.Release(release.arrow(), sf.Scheme(SCHEMA, {("g", "x", "y"): product}))
    apart, together = (association(sf.evidence(r), "x", "y", ["g"]) for r in (release, joint))
    assert together.overall.statistic == pytest.approx(apart.overall.statistic, rel=1e-6)
    assert together.common.statistic == pytest.approx(apart.common.statistic, rel=1e-6)
    assert together.evidence == pytest.approx(apart.evidence, rel=1e-5, abs=1e-6)


def family_of(names, chans, joint, n, rng) -> Estimate:
    P = np.ones((1, 1))
    for channel in chans:
        P = np.kron(P, channel.matrix)
    observed = rng.multinomial(n, P.T @ joint.reshape(-1)).astype(float)
    own = sf.Schema({name: sf.Categorical(tuple(range(ch.k))) for name, ch in zip(names, chans, strict=True)})
    seen = Seen(names, blocks(sf.Scheme(own, dict(zip(names, chans, strict=True))), names), observed)
    return Estimate(own, seen.centre, (seen,), "moment")


def null_tests(runs: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """p-values of both tests under conditional independence, and of Pearson's test on the estimated table."""
    rng = np.random.default_rng(seed)
    g, x, y = np.array([0.4, 0.6]), np.array([[0.5, 0.3, 0.2], [0.2, 0.4, 0.4]]), np.array([[0.3, 0.7], [0.6, 0.4]])
    joint = g[:, None, None] * x[:, :, None] * y[:, None, :]
    chans = [c.symmetric(2, 0.15), c.symmetric(3, 0.2), c.symmetric(2, 0.2)]
    overall, common, naive = [], [], []
    for _ in range(runs):
        family = family_of(("g", "x", "y"), chans, joint, 5000, rng)
        for out, found in zip((overall, common), contrasts.overall_and_common(family), strict=True):
            out.append(stats.chi2.sf(contrasts.judge(found)[0], len(found.T)))
        pearson = 0.0
        for t in np.maximum(family.table, 0.5):
            e = np.outer(t.sum(1), t.sum(0)) / t.sum()
            pearson += ((t - e) ** 2 / e).sum()
        naive.append(stats.chi2.sf(pearson, 4))
    return np.array(overall), np.array(common), np.array(naive)


def test_p_values_are_uniform_under_independence_and_the_naive_ones_are_not() -> None:
    overall, common, naive = null_tests(800, 5)
    for values in (overall, common):
        assert stats.kstest(values, "uniform").pvalue > 1e-6
        assert abs((values < 0.05).mean() - 0.05) < 5 * np.sqrt(0.05 * 0.95 / 800)
    assert (naive < 0.05).mean() > 0.5  # the extra links of Ma (2006) section 5.5.2


def test_large_tables_are_tested_by_their_sums(monkeypatch) -> None:
    seen = sf.evidence(sf.randomize(rows(20_000, 6, dependent=True), NOISY, rng=7))
    whole = association(seen, "x", "y", ["g"])
    monkeypatch.setattr(contrasts, "MOST", 3)
    cut = association(seen, "x", "y", ["g"])
    assert cut.overall.df == 0
    assert cut.common.statistic == pytest.approx(whole.common.statistic)
    assert cut.common.evidence == pytest.approx(whole.common.evidence)
    assert cut.test == cut.common and cut.evidence > 3


def test_dependence_is_found() -> None:
    seen = sf.evidence(sf.randomize(rows(20_000, 6, dependent=True), NOISY, rng=7))
    free = sf.evidence(sf.randomize(rows(20_000, 6), NOISY, rng=7))
    assert association(seen, "x", "y", ["g"]).evidence > 5
    assert association(free, "x", "y", ["g"]).evidence < 0
    assert association(seen, "x", "y", ["g"]).p_value < 1e-4 < association(free, "x", "y", ["g"]).p_value


def test_without_randomization_wald_is_close_to_the_likelihood_ratio() -> None:
    seen = sf.evidence(rows(20_000, 8), SCHEMA)
    assert association(seen, "x", "y", ["g"]).statistic == pytest.approx(
        g_squared(seen, "x", "y", ["g"]).statistic, rel=0.02
    )


def test_a_single_record_in_a_rare_cell_proves_nothing() -> None:
    """Pearson's statistic is 89 here: 1 record where 0.01 are expected."""
    table = np.zeros((2, 2))
    table[0, 0], table[0, 1], table[1, 0], table[1, 1] = 9980, 10, 9, 1
    codes = np.repeat(np.arange(4), table.reshape(-1).astype(int))
    seen = sf.evidence({"a": codes // 2, "b": codes % 2}, schema(a=2, b=2))
    assert stats.chi2_contingency(table, correction=False)[0] > 85
    assert association(seen, "a", "b").statistic < 10
    assert association(seen, "a", "b").evidence < 2


def test_all_pairs_equal_one_at_a_time() -> None:
    seen = sf.evidence(sf.randomize(rows(70_000, 9, dependent=True), NOISY, rng=10))
    found = all_pairs(seen, ["g", "x", "y"])
    for (x, y), test in found.items():
        assert test.statistic == pytest.approx(association(seen, x, y).statistic, rel=1e-9)


def test_g_squared_is_the_textbook_one_on_released_values() -> None:
    seen = sf.evidence(sf.randomize(rows(3000, 11, dependent=True), NOISY, rng=12))
    table = seen.released_counts(["x", "y"]).reshape(3, 2)
    expected = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")
    found = g_squared(seen, "x", "y")
    assert (found.statistic, found.df) == (pytest.approx(expected[0]), expected[2])
    halves = [sf.Release(seen.release.arrow().slice(a, 1500), NOISY) for a in (0, 1500)]
    assert g_squared(sf.evidence(sf.Release.concat(halves)), "x", "y").statistic == pytest.approx(found.statistic)


def test_what_cannot_be_tested_is_refused() -> None:
    seen = sf.evidence(sf.randomize(rows(500, 13), NOISY, rng=14))
    with pytest.raises(EstimationError, match="distinct attributes"):
        association(seen, "x", "x")
    with pytest.raises(EstimationError, match="distinct attributes"):
        g_squared(seen, "x", "y", ["y"])
    with pytest.raises(EstimationError, match="g is randomized"):
        g_squared(seen, "x", "y", ["g"])
    joint = rest_clear(SCHEMA, {("x", "y"): c.symmetric((3, 2), 0.2)})
    with pytest.raises(EstimationError, match="randomized together"):
        g_squared(sf.evidence(sf.randomize(rows(500, 13), joint, rng=15)), "x", "y")
    constant = sf.evidence({"g": [0, 1], "x": [0, 0], "y": [1, 1]}, SCHEMA)
    assert association(constant, "x", "y").df == 0 and association(constant, "x", "y").p_value == 1


@pytest.mark.parametrize("n", [0, 5, 1 << 16, (1 << 16) + 1])
@pytest.mark.parametrize("cells", [1, 7, 256, 300])
def test_counting_two_codes_at_a_time_is_counting(n, cells) -> None:
    flat = np.random.default_rng(n + cells).integers(0, cells, n).astype(np.min_scalar_type(cells - 1))
    np.testing.assert_array_equal(histogram(flat, cells), np.bincount(flat, minlength=cells))


def test_attributes_of_many_values_are_tested_by_their_most_frequent_ones():
    rng = np.random.default_rng(0)
    a, other = rng.integers(0, 40, (2, 6000))
    rows = {"a": a, "b": (a + rng.integers(0, 3, 6000)) % 40, "c": other}
    schema = sf.Schema({name: sf.Categorical(tuple(range(40))) for name in rows})
    seen = sf.evidence(sf.randomize(rows, sf.Scheme(schema, {n: c.symmetric(40, 0.1) for n in rows}), rng=1))
    linked, apart = association(seen, "a", "b"), association(seen, "a", "c")
    assert linked.df == apart.df == 27 * 27  # of 39 * 39
    assert linked.p_value < 1e-100 and linked.evidence > 100
    assert apart.p_value > 1e-4 and apart.evidence < 0


def test_covariance_of_a_pair_needs_no_product_of_its_channels():
    """The same numbers as from all contrasts by all released cells, in a small part of the memory."""
    import tracemalloc

    from sfumato.evidence import contrast_covariances

    wide = schema(x=20, y=18)
    drawn = np.random.default_rng(1).integers(0, 18, 4000)
    release = sf.randomize({"x": drawn, "y": drawn}, sf.Scheme.for_gamma(wide, gamma=9), rng=1)
    families = sf.evidence(release)
    family = families.counts(["x", "y"])
    part = family.seen[0]
    rng = np.random.default_rng(2)
    left, right = rng.normal(size=(1, 5, 20)), rng.normal(size=(1, 4, 18))
    expected = rng.random((20, 18))
    seen, null = contrast_covariances.contrast_covariances(part, left, right, None, expected)
    B = np.kron(left[0] @ part.blocks[0].A, right[0] @ part.blocks[1].A)
    assert np.allclose(seen, (B * part.counts) @ B.T)
    assert np.allclose(null, (B * (part.blocks[0].P.T @ expected @ part.blocks[1].P).reshape(-1)) @ B.T)
    whole = 8 * 19 * 17 * part.counts.size  # bytes of all contrasts by all released cells
    tracemalloc.start()
    association(families, "x", "y")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < whole / 2
