"""Linear discriminants under additive noise: subtract the noise's variance from the covariance."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.channels.linear import Array
from sfumato.errors import EstimationError
from sfumato.learn.linear.moments import Moments, lda


class AdditiveLDA:
    r"""LDA from z = x + noise with known noise variances: Cov(x) = Cov(z) - diag(variances); means stay.

    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(4000) % 2
    >>> x = rng.normal(size=(4000, 2)) + 3 * y[:, None]
    >>> z = x + rng.normal(scale=2, size=x.shape)
    >>> AdditiveLDA([4, 4]).fit(z, y).score(x, y) > .97
    True
    """

    def __init__(self, variances: ArrayLike) -> None:
        self.variances = variances

    classes_: NDArray[Any]
    coef_: Array

    def fit(self, z: ArrayLike, y: ArrayLike) -> Self:
        """Learn from noisy numbers and their classes."""
        values, labels = np.asarray(z, dtype=np.float64), np.asarray(y)
        taken = np.asarray(self.variances, dtype=np.float64)
        if values.ndim != 2 or taken.shape != (values.shape[1],):
            raise EstimationError(f"variances must hold a number per column of z, got {taken.shape} for {values.shape}")
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise EstimationError("only one class occurs in y: there is nothing to learn")
        member = np.eye(len(self.classes_))[codes]
        n = len(values)
        second = values.T @ values / n - np.diag(taken)
        noise = float(np.sqrt((np.var(values, axis=0).mean() ** 2) / n)) if taken.any() else 0.0
        found = Moments(second, values.T @ member / n, member.mean(axis=0), noise)
        self.coef_ = lda(found, found.ridge)
        return self

    def predict(self, x: ArrayLike) -> NDArray[Any]:
        """Classes of clean records."""
        values = np.asarray(x, dtype=np.float64)
        scores = np.concatenate([values, np.ones((len(values), 1))], axis=1) @ self.coef_.T
        return np.asarray(self.classes_[scores.argmax(axis=1)])

    def score(self, x: ArrayLike, y: ArrayLike) -> float:
        """The share of clean records classified right."""
        return float(np.mean(self.predict(x) == np.asarray(y)))
