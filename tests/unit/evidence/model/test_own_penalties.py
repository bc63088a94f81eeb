"""A penalty for each pair: as strong as the records say, and error bars that know it was estimated."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import sfumato as sf
from sfumato.evidence.model.cliques import JunctionEvidence
from sfumato.evidence.model.design_matrix import pairwise
from sfumato.evidence.model.information import Features
from sfumato.evidence.model.joint import ModelEvidence

SIZES = {"a": 4, "b": 3, "c": 4, "d": 2, "e": 3}
SCHEMA = sf.Schema({name: sf.Categorical(tuple(range(size))) for name, size in SIZES.items()})
PAIRS = list(combinations(SIZES, 2))


def records(n: int, seed: int) -> dict[str, np.ndarray]:
    """a and c follow each other closely, d follows a a little, b and e nothing."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 4, n)
    c = np.where(rng.random(n) < 0.8, a, rng.integers(0, 4, n))
    d = (rng.random(n) < 0.35 + 0.1 * (a > 1)).astype(int)
    return {"a": a, "b": rng.choice(3, n, p=[0.6, 0.3, 0.1]), "c": c, "d": d, "e": rng.integers(0, 3, n)}


def released(n: int, gamma: float, seed: int) -> tuple[dict[str, np.ndarray], sf.Release]:
    table = records(n, seed)
    return table, sf.randomize(table, sf.Forms.for_gamma(SCHEMA, gamma), rng=sf.experiment(90_000 + seed))


def error(model: ModelEvidence | JunctionEvidence, table: dict[str, np.ndarray]) -> float:
    exact = sf.evidence(table, SCHEMA)
    return float(np.mean([np.abs(model.shares(p) - exact.counts(p).value / exact.n).sum() for p in PAIRS]))


def test_pairs_that_depend_are_left_free_and_others_held() -> None:
    _, release = released(20_000, 20, seed=1)
    model = sf.evidence(release, method="model")
    assert isinstance(model, ModelEvidence)
    assert model.chosen == "pairwise, a penalty for each pair"
    fitted = model._choice.fitted
    terms = [tuple(model.names[i] for i in term) for term in fitted.design.terms]
    tau = dict(zip(terms, np.asarray(fitted.tau).tolist(), strict=True))
    assert tau["a", "c"] > 1.0
    assert max(tau["b", "e"], tau["a", "b"], tau["c", "e"]) < 0.3


def test_one_penalty_for_all_is_too_strong_for_one_pair_or_too_weak_for_the_others() -> None:
    errors = []
    for seed in range(5):
        table, release = released(6000, 12, seed=200 + seed)
        errors.append([error(ModelEvidence(release, tau=tau), table) for tau in (None, 0.3, 1.0)])
    own, strong, weak = np.mean(errors, axis=0)
    assert own < 0.9 * min(strong, weak)


def whole(n: int, gamma: float, seed: int) -> tuple[dict[str, np.ndarray], sf.Release]:
    table = records(n, seed)
    return table, sf.randomize(table, sf.Scheme.for_gamma(SCHEMA, gamma), rng=sf.experiment(80_000 + seed))


def test_of_whole_releases_the_table_of_each_pair_tells_its_penalty() -> None:
    errors = []
    for seed in range(5):
        table, release = whole(3000, 9, seed=300 + seed)
        own = ModelEvidence(release)
        assert own.chosen == "pairwise, a penalty for each pair"
        errors.append([error(model, table) for model in (own, *(ModelEvidence(release, tau=t) for t in (0.3, 1.0)))])
        fitted = own._choice.fitted
        tau = dict(zip(fitted.design.terms, np.asarray(fitted.tau).tolist(), strict=True))
        assert tau[0, 2] > 0.6 and max(tau[1, 4], tau[0, 1], tau[2, 4]) < 0.45  # a with c, and what is independent
    own_error, strong, weak = np.mean(errors, axis=0)
    assert own_error < 0.8 * strong and own_error < weak


def test_cliques_take_the_penalties_of_pairs_too() -> None:
    errors = []
    for seed in range(5):
        table, release = whole(3000, 9, seed=400 + seed)
        errors.append([error(JunctionEvidence(release, tau=tau, most=48), table) for tau in (None, 0.3)])
    own, strong = np.mean(errors, axis=0)
    assert own < 0.85 * strong


def test_sums_of_features_are_those_of_all_cells() -> None:
    sizes, terms = (2, 3, 4), pairwise(3, 3)
    features = Features(sizes, terms)
    theta = np.random.default_rng(0).dirichlet(np.ones(24))
    every = features.within(np.ones(24), (0, 1, 2))  # a row per cell
    np.testing.assert_allclose(every.T @ every, np.diag(_squares(sizes, terms)), atol=1e-12)  # orthogonal contrasts
    codes = np.indices(sizes).reshape(3, -1)
    for kept in ((), (1,), (2, 0), (0, 1, 2)):
        found = features.within(theta, kept)
        flat = np.zeros(24, dtype=int)
        for axis in kept:
            flat = flat * sizes[axis] + codes[axis]
        brute = np.zeros_like(found)
        np.add.at(brute, flat, theta[:, None] * every)
        np.testing.assert_allclose(found, brute, atol=1e-12)
    fixed = features.within(theta, (1,), {0: 1, 2: 3})
    brute = features.within(theta, (0, 1, 2)).reshape(2, 3, 4, -1)[1, :, 3]
    np.testing.assert_allclose(fixed, brute, atol=1e-12)


def _squares(sizes: tuple[int, ...], terms: tuple[tuple[int, ...], ...]) -> list[float]:
    """Σ f² of every feature: contrasts have length 1, and repeat over the other attributes."""
    out = []
    for term in terms:
        rest = np.prod([size for axis, size in enumerate(sizes) if axis not in term])
        out += [float(rest)] * int(np.prod([sizes[axis] - 1 for axis in term]))
    return out


def test_intervals_of_the_model_hold_what_they_say() -> None:
    """Of tables that some form asks, and of those that none does."""
    held: dict[int, list[np.ndarray]] = {2: [], 3: []}
    narrow = []
    for seed in range(20):
        table, release = released(4000, 12, seed=100 + seed)
        model, exact = sf.evidence(release, method="model"), sf.evidence(table, SCHEMA)
        for asked in (*PAIRS, *combinations(SIZES, 3)):
            estimate, truth = model.counts(asked), exact.counts(asked).value
            low, high = estimate.interval()
            held[len(asked)].append((low <= truth) & (truth <= high))
            if len(asked) == 2:
                assert estimate.root is not None
                half = np.sqrt((estimate.root**2).sum(axis=1)) * estimate.n
                narrow.append(np.abs(estimate.value - truth) <= half)
    assert 0.93 < np.concatenate(held[2]).mean() < 0.98
    assert np.concatenate(held[3]).mean() > 0.95
    assert np.concatenate(narrow).mean() < 0.87  # the negative control: half of what the parameters say


def test_too_few_records_keep_the_default() -> None:
    with pytest.warns(sf.errors.UnrecoverableWarning):
        model = sf.evidence(released(30, 3, seed=3)[1], method="model")
    assert isinstance(model, ModelEvidence)
    assert model.chosen == "pairwise, tau=0.3"
