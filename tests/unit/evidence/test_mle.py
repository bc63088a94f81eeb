"""Maximum likelihood through a channel: it says where it stops short, unless nobody asked."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from sfumato import channels as c
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
