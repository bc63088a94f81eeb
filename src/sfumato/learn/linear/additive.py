"""Linear discriminants under additive noise: subtract the noise's variance from the covariance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.arrays import Array
from sfumato.errors import EstimationError
from sfumato.learn.linear.moments import FeatureMoments, lda
from sfumato.learn.noisy_numbers import NumberClassifier


class AdditiveLDA(NumberClassifier):
    r"""LDA from z = x + noise: Cov(x) = Cov(z) - diag(variances of the noise), E x = E z - mean of the noise.

    ``noises`` holds a variance per column, or a noise as ``sfumato.channels.gaussian`` and its kin make them.

    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(4000) % 2
    >>> x = rng.normal(size=(4000, 2)) + 3 * y[:, None]
    >>> z = x + rng.normal(scale=2, size=x.shape)
    >>> AdditiveLDA([4, 4]).fit(z, y).score(x, y) > .97
    True
    """

    def __init__(self, noises: Sequence[Any] | ArrayLike) -> None:
        self.noises = noises

    coef_: Array

    @property
    def _columns(self) -> int:
        return len(self._variances)

    @property
    def _variances(self) -> Array:
        given: Any = self.noises
        try:
            taken = np.array([one.sd**2 if hasattr(one, "sd") else one for one in given], dtype=np.float64)
        except (TypeError, ValueError):
            taken = np.array([-1.0])
        if not (taken >= 0).all() or not np.isfinite(taken).all():
            raise EstimationError(f"noises must hold a noise or a variance per column, got {given!r} instead")
        return taken

    @property
    def _means(self) -> Array:
        given: Any = self.noises
        return np.array([one.moment(1) if hasattr(one, "moment") else 0.0 for one in given])

    def _learn(self, values: Array, codes: NDArray[np.int64]) -> None:
        taken = self._variances
        values = values - self._means
        member = np.eye(len(self.classes_))[codes]
        n = len(values)
        second = values.T @ values / n - np.diag(taken)
        found = FeatureMoments(
            second,
            values.T @ member / n,
            member.mean(axis=0),
            np.zeros(len(second)),
            0.0,
            np.ones(len(second), dtype=np.bool_),
        )
        if taken.any():
            found = replace(found, noise=float((np.var(values, axis=0) / found.scale**2).mean() / np.sqrt(n)))
        self.coef_ = lda(found, found.ridge)

    def _logs(self, values: Array) -> Array:
        return np.asarray(np.concatenate([values, np.ones((len(values), 1))], axis=1) @ self.coef_.T)
