"""Maximum likelihood through a channel: it says where it stops short, unless nobody asked."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from sfumato import channels as c
from sfumato.channels.linear import Kronecker, Operator
from sfumato.errors import ConvergenceWarning
from sfumato.evidence import mle


def test_stopping_short_is_said_unless_quiet() -> None:
    transition = c.matrix(np.random.default_rng(1).dirichlet(np.ones(6), 6) * 0.5 + np.eye(6) * 0.5).transition
    observed = np.array([9000.0, 10.0, 10.0, 10.0, 10.0, 5000.0])
    with pytest.warns(ConvergenceWarning, match="stopped after 2 steps"):
        short = mle.fit(transition, observed, most=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(mle.fit(transition, observed, most=2, quiet=True).theta, short.theta)
        assert mle.fit(transition, observed).gap < 1e-7


def _drawn(transition: Operator, theta: np.ndarray, n: int) -> np.ndarray:
    return np.random.default_rng(3).multinomial(n, transition.T.apply(theta)).astype(float)


def test_tables_of_many_empty_cells_are_finished_by_newton(monkeypatch: pytest.MonkeyPatch) -> None:
    """16 by 12 cells, most of them empty: EM takes many more steps to the same shares."""
    monkeypatch.setattr(mle, "_BEGIN", 10)
    transition = Kronecker((c.windows(16, 3).transition, c.windows(12, 3).transition))
    theta = np.outer(0.7 ** np.arange(16), 0.5 ** np.arange(12)).reshape(-1)
    observed = _drawn(transition, theta / theta.sum(), 5000)
    found, em = mle.fit(transition, observed), mle._squarem(transition, observed, 1e-7, 10_000)
    assert found.gap < 1e-7 and em.iterations > 50 and found.iterations < 10
    assert np.count_nonzero(found.theta) < 100
    assert (
        mle.log_likelihood(transition, observed, found.theta)
        > mle.log_likelihood(transition, observed, em.theta) - 1e-3
    )
    np.testing.assert_allclose(5000 * found.theta, 5000 * em.theta, atol=2.0)


def test_where_several_shares_are_as_likely_em_stays_between_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two values that are released alike share what they have together; Newton's method would pick one of them."""
    P = c.windows(12, 3).transition.dense()
    P[4] = P[5]
    transition = Kronecker((c.symmetric(6, 0.4).transition, c.matrix(P).transition))
    theta = np.outer(0.7 ** np.arange(6), 0.5 ** np.arange(12)).reshape(-1)
    observed = _drawn(transition, theta / theta.sum(), 5000)
    monkeypatch.setattr(mle, "_BEGIN", 20)
    table = mle.fit(transition, observed, most=200, quiet=True).theta.reshape(6, 12)
    np.testing.assert_allclose(table[:, 4], table[:, 5], atol=1e-9)


def test_entries_of_a_product_are_those_of_its_matrix() -> None:
    both = Kronecker((c.subset(5, 3).transition, c.windows(4, 3).transition, c.symmetric(2, 0.2).transition))
    rows, cols = np.array([3, 17, 39]), np.array([0, 5, both.cols - 1])
    np.testing.assert_allclose(both.entries(rows, cols), both.dense()[np.ix_(rows, cols)])
