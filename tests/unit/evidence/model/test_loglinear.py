"""The log-linear model: its design, its gradient and its fit, against brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from gallery import rest_clear
from sfumato.channels.linear import Dense
from sfumato.evidence.model.design_matrix import DesignMatrix, pairwise, star
from sfumato.evidence.model.likelihood import Likelihood, likelihood
from sfumato.evidence.model.loglinear import fit
from sfumato.evidence.model.merge_outputs import condense, merge
from sfumato.evidence.seen import seen_records

c = sf.channels
SIZES = (2, 3, 2, 4)


def schema(sizes=SIZES):
    return sf.Schema({f"x{i}": sf.Categorical(tuple(range(k))) for i, k in enumerate(sizes)})


def release(scheme, n=3000, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, n)
    columns = {name: (codes + rng.integers(0, 2, n)) % d.size for name, d in scheme.schema.items()}
    return sf.randomize(columns, scheme, rng=seed), columns


@pytest.mark.parametrize("terms", [pairwise(4), pairwise(4, 3), star(4, 2)])
def test_design_agrees_with_loops_over_terms(terms):
    design = DesignMatrix(SIZES, terms)
    parameters = np.random.default_rng(1).normal(size=design.parameters)
    brute = np.zeros(SIZES)
    at = 0
    for number, term in enumerate(design.terms):
        own = parameters[design.owner == number].reshape([SIZES[a] for a in term])
        shape = [SIZES[a] if a in term else 1 for a in range(4)]
        brute = brute + own.reshape(shape)
        at += own.size
    assert np.allclose(design.log_theta(parameters), brute.reshape(-1))
    theta = design.theta(parameters)
    table = theta.reshape(SIZES)
    for number, term in enumerate(design.terms):
        own = design.margins(theta)[design.owner == number]
        assert np.allclose(own, table.sum(axis=tuple(a for a in range(4) if a not in term)).reshape(-1))


def schemes():
    s = schema()
    return {
        "symmetric": sf.Scheme(s, {f"x{i}": c.symmetric(k, 0.3) for i, k in enumerate(SIZES)}),
        "asymmetric": rest_clear(
            s, {"x0": c.binary(0.1, 0.3), "x1": c.matrix([[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0, 0.2, 0.8]])}
        ),
        "joint, out of order": rest_clear(s, {("x0", "x2"): c.symmetric((2, 2), 0.3), "x3": c.subset(4, 3)}),
    }


@pytest.mark.parametrize("name", list(schemes()))
def test_likelihood_and_gradient_follow_the_dense_channel(name):
    scheme = schemes()[name]
    given, _ = release(scheme)
    observed = likelihood(given, scheme.schema.names)
    design = DesignMatrix(SIZES, pairwise(4))
    rng = np.random.default_rng(2)
    point = rng.normal(size=design.parameters) * 0.3

    def value(parameters):
        return observed.log_likelihood(design.theta(parameters))

    theta = design.theta(point)
    gradient = design.margins(theta * (1 - observed.evaluate(theta)[1]))
    for i in rng.choice(design.parameters, 12, replace=False):
        step = np.zeros(design.parameters)
        step[i] = 1e-5
        numeric = -(value(point + step) - value(point - step)) / 2e-5 / observed.total
        assert numeric == pytest.approx(gradient[i], abs=1e-7)
    # the same likelihood from the whole dense matrix
    shown = observed.parts[0]
    moved = theta.reshape(SIZES).transpose([list(scheme.schema.names).index(n) for n in shown.axes]).reshape(-1)
    q = moved @ shown.transition.dense()
    counts = sf.evidence(given).released_counts(list(scheme.schema.names))
    assert observed.log_likelihood(theta) == pytest.approx(float(counts[counts > 0] @ np.log(q[counts > 0])), rel=1e-10)


def test_unpenalised_fit_of_clean_records_has_their_pair_margins():
    scheme = sf.Scheme.identity(schema())
    given, columns = release(scheme)
    fitted = fit(
        likelihood(given, scheme.schema.names), DesignMatrix(SIZES, pairwise(4)), tau=100.0, tolerance=1e-7, most=2000
    )
    table = fitted.theta.reshape(SIZES)
    raw = np.zeros(SIZES)
    np.add.at(raw, tuple(columns.values()), 1 / 3000)
    for pair in combinations(range(4), 2):
        rest = tuple(a for a in range(4) if a not in pair)
        assert np.allclose(table.sum(axis=rest), raw.sum(axis=rest), atol=2e-4)
    # negative control: a strong penalty draws the pairs to independence
    stiff = fit(likelihood(given, scheme.schema.names), DesignMatrix(SIZES, pairwise(4)), tau=0.001).theta.reshape(
        SIZES
    )
    assert np.abs(stiff.sum(axis=(0, 2)) - raw.sum(axis=(0, 2))).max() > 0.01


def test_parts_under_different_schemes_add_their_likelihoods():
    s = schema()
    one, _ = release(rest_clear(s, {"x0": c.binary(0.2, 0.2)}), seed=1)
    two, _ = release(rest_clear(s, {("x3", "x0"): c.symmetric((4, 2), 0.4)}), seed=2)
    both = likelihood(sf.Release.concat([one, two]), s.names)
    theta = np.random.default_rng(0).dirichlet(np.ones(both.sizes[0] * 24))
    apart = likelihood(one, s.names).log_likelihood(theta) + likelihood(two, s.names).log_likelihood(theta)
    assert both.log_likelihood(theta) == pytest.approx(apart, rel=1e-12)


def test_folds_lose_no_record_and_do_not_copy_the_noise():
    """Every record is in one fold; and a fold is as far from the others as chance says, not a scaled copy of them."""
    scheme = schemes()["symmetric"]
    observed = likelihood(release(scheme)[0], scheme.schema.names)
    parts = observed.folds(4, np.random.default_rng(0))
    assert Likelihood.together(parts).parts[0].counts.tolist() == observed.parts[0].counts.tolist()
    whole = observed.parts[0].counts
    seen = whole > 0
    chi = sum(float((((one.parts[0].counts - whole / 4) ** 2)[seen] / (whole[seen] / 4)).sum()) for one in parts)
    freedom = 3 * int(seen.sum())
    assert abs(chi - freedom) < 6 * np.sqrt(2 * freedom)
    again = [one.parts[0].counts.tolist() for one in observed.folds(4)]
    assert again == [one.parts[0].counts.tolist() for one in observed.folds(4)]  # the counts seed the draw


def test_merging_proportional_outputs_loses_no_likelihood():
    P = np.array([[0.5, 0.2, 0.1, 0.2], [0.1, 0.2, 0.5, 0.2]])
    labels = merge(Dense(P), 4)
    assert labels[1] == labels[3] and len(set(labels.tolist())) == 3
    s = sf.Schema({"a": sf.Categorical((0, 1)), "b": sf.Categorical((0, 1))})
    scheme = sf.Scheme(s, {"a": c.matrix(P), "b": c.matrix(P)})
    rng = np.random.default_rng(0)
    given = sf.randomize({"a": rng.integers(0, 2, 500), "b": rng.integers(0, 2, 500)}, scheme, rng=1)
    whole = likelihood(given, ["a", "b"])
    small = Likelihood((condense(seen_records(given.parts[0], ["a", "b"]), 9),))
    one, two = np.array([0.4, 0.1, 0.1, 0.4]), np.array([0.1, 0.2, 0.3, 0.4])
    gained = whole.log_likelihood(one) - whole.log_likelihood(two)
    assert small.log_likelihood(one) - small.log_likelihood(two) == pytest.approx(gained, abs=1e-9)
    # negative control: merging further does lose something
    tiny = Likelihood((condense(seen_records(given.parts[0], ["a", "b"]), 4),))
    assert tiny.log_likelihood(one) - tiny.log_likelihood(two) != pytest.approx(gained, abs=1e-3)


def test_empty_release_is_refused():
    s = schema()
    empty = sf.Release(pa.table({n: pa.array([], type=pa.uint8()) for n in s.names}), sf.Scheme.identity(s))
    with pytest.raises(sf.SfumatoError, match="no rows"):
        likelihood(empty, s.names)
