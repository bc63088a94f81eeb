"""The Wald statistic: its distribution, and covariances that do not have full rank."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from sfumato.evidence.wald import wald


def test_the_statistic_is_chi_square_under_the_hypothesis_and_not_otherwise() -> None:
    rng = np.random.default_rng(2)
    root = rng.normal(size=(4, 3)) * [[1.0], [1e-4], [1e3], [1.0]]  # rank 3 of 4, and very different units
    drawn = [wald(root @ rng.normal(size=3), root @ root.T) for _ in range(2000)]
    assert {freedom for _, freedom in drawn} == {3}
    assert stats.kstest([statistic for statistic, _ in drawn], "chi2", args=(3,)).pvalue > 1e-6
    shifted = [wald(root @ rng.normal(0.5, 1, size=3), root @ root.T)[0] for _ in range(2000)]
    assert stats.kstest(shifted, "chi2", args=(3,)).pvalue < 1e-6


def test_full_rank_is_the_quadratic_form() -> None:
    rng = np.random.default_rng(3)
    A = rng.normal(size=(5, 5))
    V, T = A @ A.T, rng.normal(size=5)
    assert wald(T, V) == (pytest.approx(float(T @ np.linalg.solve(V, T))), 5)


def test_what_does_not_vary_tests_nothing() -> None:
    assert wald(np.ones(2), np.zeros((2, 2))) == (0.0, 0)
