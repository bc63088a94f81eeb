"""How far each record moves a cross-fitted share: the formula against refitting with more records."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import sfumato as sf
from sfumato.evidence.model.blended_mean import blend_weights, blended_mean
from sfumato.evidence.model.likelihood import likelihood
from sfumato.evidence.splits import folds
from sfumato.learn.influence import Judge, Judged, mean_over_folds, mutual_noise

c = sf.channels
SCHEMA = sf.Schema({"a": sf.Categorical((0, 1, 2)), "b": sf.Categorical((0, 1)), "y": sf.Categorical((0, 1))})
NAMES = list(SCHEMA)
RIDGE = 6 / 1000
RIGHT = np.array([1, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1], dtype=np.float64)  # of a, b, y: whether the class is foretold


def release(n, seed, p=0.25):
    rng = np.random.default_rng([4, seed])
    y = rng.integers(0, 2, n)
    rows = {"a": np.where(rng.random(n) < 0.8, 2 * y, rng.integers(0, 3, n)), "b": rng.integers(0, 2, n), "y": y}
    scheme = sf.Scheme(SCHEMA, {name: c.symmetric(SCHEMA[name].size, p) for name in NAMES})
    return sf.randomize(rows, scheme, rng=sf.experiment(seed))


def test_a_record_moves_the_joint_table_as_far_as_is_said(monkeypatch):
    monkeypatch.setattr("sfumato.learn.influence._TOLERANCE", 1e-7)
    kept, held = release(20_000, 1), release(400, 2)
    judge = Judge(sf.evidence(kept), sf.evidence(held), NAMES, RIDGE)
    (said,) = judge.share(RIGHT).kept.values()
    left = blend_weights(likelihood(held, NAMES).parts[0], judge.theta, RIGHT, RIDGE)[1]
    part, rows = kept.parts[0], kept.parts[0].arrow()
    codes = np.ravel_multi_index([rows.column(name).to_numpy() for name in NAMES], SCHEMA.sizes(NAMES))
    moved = []
    for cell in range(len(said)):
        more = part.with_rows(rows.take(np.repeat(np.flatnonzero(codes == cell)[:1], 30)))
        after = Judge(sf.evidence(sf.Release.of([part, more])), sf.evidence(held), NAMES, RIDGE)
        moved.append(float((after.theta - judge.theta) @ left) / 30)
    assert np.corrcoef(moved, said)[0, 1] > 0.98
    assert np.linalg.norm(moved) == pytest.approx(np.linalg.norm(said), rel=0.15)


def test_what_the_penalty_takes_is_given_back():
    """The joint table is drawn to independence, and the share of right answers to chance."""
    kept, held = release(120, 3), release(30, 4)
    judge = Judge(sf.evidence(kept), sf.evidence(held), NAMES, 40 / 150)
    plain = blended_mean([(likelihood(held, NAMES), judge.theta)], RIGHT, 30 * 40 / 150).value
    assert judge.share(RIGHT).value > plain + 0.01


def test_the_variance_is_that_of_replication_and_knows_what_folds_share():
    errors, said, apart = [], [], []
    for seed in range(40):
        cut = folds(release(400, seed, 0.3), 4, seed)
        others = [sf.evidence(sf.Release.concat([o for o in cut if o is not one])) for one in cut]
        judges = [Judge(kept, sf.evidence(one), NAMES, 20 / 400) for kept, one in zip(others, cut, strict=True)]
        found = [judge.share(RIGHT) for judge in judges]
        told = [replace(one, hidden=0 * one.hidden, left_out=0 * one.left_out) for one in found]  # by the records
        value, variance = mean_over_folds(judges, told)
        errors.append(value)
        said.append(variance)
        part = [next(iter(judge.counts.values())).counts for judge in judges]
        weights = [next(iter(one.held.values())) for one in found]
        apart.append(sum(n @ (h - n @ h / n.sum()) ** 2 for n, h in zip(part, weights, strict=True)) / 400**2)
    assert np.sqrt(np.mean(said)) / np.std(errors) == pytest.approx(1, abs=0.3)
    assert np.mean(apart) < 0.8 * np.mean(said)  # negative control: folds as if they shared nothing


def mutual(seed, follows, folds=5, records=400):
    """Folds with weights follows @ the noise of the others: the error, what squares tell, the rest and its bound."""
    cells = len(follows)
    expected = np.full(cells, records / cells)
    counts = np.random.default_rng([5, seed]).poisson(expected, (folds, cells)).astype(float)
    noise = counts - expected
    judges = [SimpleNamespace(counts={None: SimpleNamespace(counts=own)}, records=records) for own in counts]
    weights = [folds * records * follows @ (noise.sum(axis=0) - own) for own in noise]
    found = [Judged(0.0, {None: h}, {None: np.zeros(cells)}, np.zeros(1), np.zeros(1)) for h in weights]
    error = sum(own @ h for own, h in zip(noise, weights, strict=True)) / (folds * records)
    added = mutual_noise(judges, found)
    apart = (np.stack(weights) - np.mean(weights, axis=0)) / (folds * records)
    centred = apart - (apart @ counts.sum(axis=0) / counts.sum())[:, None]
    return error, mean_over_folds(judges, found)[1] - added, added, np.sum(centred**2 @ counts.sum(axis=0))


def test_the_variance_knows_that_folds_follow_the_noise_of_each_other():
    side = np.random.default_rng(3).normal(size=(40, 40))
    errors, apart, added, _ = np.array([mutual(seed, side + side.T) for seed in range(200)]).T
    assert np.mean(apart + added) == pytest.approx(np.var(errors), rel=0.25)
    assert np.mean(apart) < 0.65 * np.var(errors)  # negative control: half of it is not in the squares
    errors, apart, added, _ = np.array([mutual(seed, side - side.T) for seed in range(200)]).T
    assert np.mean(apart) > 5 * np.var(errors)  # what one fold adds the other takes back
    assert np.mean(added) < 0.3 * np.mean(apart)


@pytest.mark.parametrize("folds", [2, 3, 10])
def test_mutual_noise_lies_below_its_bound_and_is_the_bound_of_two_folds(folds):
    told = np.array([mutual(seed, np.eye(12), folds)[2:] for seed in range(20)])
    added, bound = told.T
    assert (added > 0.2 * bound).all() and (added <= bound * 1.000001).all()
    assert (folds > 2) ^ np.allclose(added, bound)
