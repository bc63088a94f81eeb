"""Classifiers of numbers with additive noise: learned from noisy columns, asked about clean ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.arrays import Array
from sfumato.errors import EstimationError, quoted
from sfumato.learn.base import Parameters, classifier_tags, normalise, share_right


class NumberClassifier(Parameters, ABC):
    """scikit-learn's habits over a matrix of numbers, a column per attribute."""

    _estimator_type = "classifier"
    fitted_ = False  # whether ``fit`` came to its end
    classes_: NDArray[Any]

    @abstractmethod
    def _learn(self, values: Array, codes: NDArray[np.int64]) -> None:
        """Fit to noisy numbers and the codes of their classes; ``classes_`` is there already."""

    @abstractmethod
    def _logs(self, values: Array) -> Array:
        """log Pr(class) of each clean record but for a constant, a row each."""

    @property
    @abstractmethod
    def _columns(self) -> int:
        """How many columns the noise was given for."""

    def fit(self, z: ArrayLike, y: ArrayLike) -> Self:
        """Learn from noisy numbers (a column per attribute) and their classes."""
        values, labels = self._matrix(z), np.asarray(y)
        if labels.shape != (len(values),):
            raise EstimationError(f"y must hold a class per row of z, got {labels.shape} for {len(values)} rows")
        classes, codes = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise EstimationError("only one class occurs in y: there is nothing to learn")
        self.classes_, self.fitted_ = classes, False
        self._learn(values, codes.astype(np.int64))
        self.fitted_ = True
        return self

    def predict_proba(self, x: ArrayLike) -> Array:
        """Pr(class) of clean records, columns in the order of ``classes_``."""
        self._check_fitted()
        return normalise(self._logs(self._matrix(x)))

    def predict(self, x: ArrayLike) -> NDArray[Any]:
        """The most probable class of clean records."""
        found = self.predict_proba(x)
        return np.asarray(self.classes_[found.argmax(axis=1)])

    def score(self, x: ArrayLike, y: ArrayLike) -> float:
        """The share of clean records classified right."""
        return share_right(self.predict(x), np.asarray(y))

    def __sklearn_tags__(self) -> Any:
        return classifier_tags(required=True)

    def __sklearn_is_fitted__(self) -> bool:
        return self.fitted_

    def _check_fitted(self) -> None:
        if not self.fitted_:
            raise EstimationError(f"this {type(self).__name__} is not fitted yet: call fit(z, y) first")

    def _matrix(self, x: ArrayLike) -> Array:
        try:
            values = np.asarray(x, dtype=np.float64)
        except (TypeError, ValueError) as problem:
            raise EstimationError(f"{type(self).__name__} takes a matrix of numbers{quoted(str(problem))}") from None
        if values.ndim != 2 or values.shape[1] != self._columns:
            raise EstimationError(
                f"{type(self).__name__} takes {self._columns} columns, one per noise, got shape {values.shape}"
            )
        if not np.isfinite(values).all():
            raise EstimationError(f"{type(self).__name__} takes finite numbers; some are missing or infinite")
        return values
