"""The baselines do what their papers say, and fall to the attacks that are named with them."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.assess.attacks import procrustes
from sfumato.errors import SfumatoError
from sfumato.owner import baselines as project

X = np.random.default_rng(0).normal(size=(300, 4)) @ np.random.default_rng(1).normal(size=(4, 4)) + 3
Y = np.repeat([0, 1], 150)


def test_noise_has_its_level():
    noise = (project.additive_noise(np.tile(X, (50, 1)), 0.5, rng=1) - np.tile(X, (50, 1))) / X.std(axis=0)
    assert noise.std(axis=0) == pytest.approx(0.5, rel=0.05)
    assert np.abs(np.corrcoef(noise.T) - np.eye(4)).max() < 0.05


def test_rotation_keeps_distances_and_falls_to_d_known_rows():
    rows, Q = project.rotation(X, rng=1)
    assert np.allclose(Q @ Q.T, np.eye(4))
    gap = np.linalg.norm(X[:5, None] - X[None, 5:10], axis=2)
    assert np.linalg.norm(rows[:5, None] - rows[None, 5:10], axis=2) == pytest.approx(gap)
    known = np.arange(4)
    found = procrustes(rows, X[known], known, X)
    assert found.recovered == pytest.approx(X, abs=1e-8)
    few = procrustes(rows, X[:2], known[:2], X)
    assert np.abs(few.recovered - X).max() > 0.1


def test_rotations_are_uniform():
    corner = [project.rotation(np.eye(3), rng=seed)[1][0, 0] for seed in range(4000)]
    # A coordinate of a uniform direction on the sphere is uniform on [-1, 1] (Archimedes).
    from scipy import stats

    assert stats.kstest(corner, stats.uniform(-1, 2).cdf).pvalue > 1e-6


def test_projection_keeps_squared_distances_on_average():
    ratio = [
        np.sum((rows[0] - rows[1]) ** 2) / np.sum((X[0] - X[1]) ** 2)
        for rows, _ in (project.projection(X[:2], 2, rng=seed) for seed in range(4000))
    ]
    assert np.mean(ratio) == pytest.approx(1, abs=5 * np.std(ratio) / np.sqrt(4000))


def test_the_normal_model_keeps_moments_of_each_class():
    shifted = X + 5 * Y[:, None]
    draws = [project.gaussian_model(shifted, Y, rng=seed) for seed in range(30)]
    rows = np.vstack([rows[labels == 1] for rows, labels in draws])
    want = shifted[Y == 1]
    assert rows.mean(axis=0) == pytest.approx(want.mean(axis=0), abs=0.2)
    assert np.cov(rows.T) == pytest.approx(np.cov(want.T), abs=0.6)


def test_the_normal_model_bears_fewer_rows_than_columns():
    rows, _ = project.gaussian_model(np.random.default_rng(0).normal(size=(5, 9)), rng=1)
    assert rows.shape == (5, 9) and np.isfinite(rows).all()


def test_a_projection_of_the_rows_keeps_products_of_columns_on_average():
    """Tan and Ng (2007), section 4: the sites share R, and E[(R x)'(R z)] = x'z."""
    rows = np.random.default_rng(3).normal(size=(12, 2)) + 1
    products = []
    for seed in range(3000):
        released, R = project.row_projection(rows[:, :1], 5, rng=seed)
        assert released.shape == (5, 1)
        products.append(float((released.T @ (R @ rows[:, 1:]))[0, 0]))
    true = float(rows[:, 0] @ rows[:, 1])
    assert abs(np.mean(products) - true) < 5 * np.std(products) / np.sqrt(3000)
    assert np.std(products) > 0.1 * abs(true)


def test_the_bootstrap_releases_records_as_they_are():
    rows, labels = project.bootstrap(X, Y, rng=1)
    kept = {tuple(row) for row in X}
    assert all(tuple(row) in kept for row in rows)
    assert 0.55 < len({tuple(row) for row in rows}) / len(X) < 0.72
    assert set(labels) == {0, 1}


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: project.additive_noise(X, -1), "level must be positive, got -1"),
        (lambda: project.projection(X, 5), "k must be a whole number between 1 and the 4 columns, got 5"),
        (lambda: project.projection(X, 0), "k must be"),
        (lambda: project.row_projection(X, len(X)), "fewer than the 300 rows, got 300"),
        (lambda: project.row_projection(X, 0), "k must be a whole number of at least 1"),
        (lambda: project.gaussian_model(X, [0] * 299 + [1]), "a class has one row"),
        (lambda: project.rotation([[np.nan, 1.0]]), "NaN"),
        (lambda: project.rotation([["a"]]), "numbers"),
    ],
)
def test_bad_requests_are_one_line(call, match):
    with pytest.raises(SfumatoError, match=match):
        call()
