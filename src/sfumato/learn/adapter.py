"""Any scikit-learn classifier that takes sample weights, fitted to weighted cells instead of records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sfumato.arrays import Array, Codes
from sfumato.errors import EstimationError, MissingPartError
from sfumato.evidence import Evidence
from sfumato.input_checks import check_flags
from sfumato.learn.base import Classifier, refuse_one_class
from sfumato.learn.weighted_cells import Encoding, weighted_cells


class FromCells(Classifier):
    """A scikit-learn classifier on the weighted cells of any evidence.

    The cells of the joint model (or the exact counts) become rows with sample weights, so that whatever learns from
    weighted rows learns from randomized data. ``counts`` is "model" or "direct"; ``one_hot`` encodes unordered
    attributes as indicator columns (otherwise codes are passed as they are).

    >>> import sfumato as sf
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sfumato.datasets import discretized
    >>> table, schema = discretized.wisconsin(), discretized.WISCONSIN
    >>> forest = FromCells(RandomForestClassifier(20, random_state=1)).fit(sf.evidence(table, schema), target="class")
    >>> forest.score(table) > .96
    True
    """

    def __init__(
        self, estimator: Any = None, counts: str = "model", one_hot: bool = True, target: str | None = None
    ) -> None:
        self.estimator = estimator
        self.counts = counts
        self.one_hot = one_hot
        self.target = target

    estimator_: Any

    def _learn(self, source: Evidence) -> None:
        try:
            from sklearn.base import clone
        except ImportError:
            raise MissingPartError.named("FromCells", "scikit-learn", "sklearn") from None
        if self.estimator is None or not hasattr(self.estimator, "fit"):
            raise EstimationError("FromCells needs a scikit-learn classifier: FromCells(RandomForestClassifier())")
        check_flags(EstimationError, one_hot=self.one_hot)
        cells = weighted_cells(source, self.features_, self.target_, self.counts)
        held = np.bincount(cells.classes, weights=cells.weights, minlength=len(self.classes_))
        refuse_one_class(np.asarray(held, dtype=np.float64), self.target_, self.schema_[self.target_].labels)
        self.encoding_ = Encoding(self.schema_, self.features_)
        self.estimator_ = clone(self.estimator)
        try:
            self.estimator_.fit(self._matrix(cells.codes.T), cells.classes, sample_weight=cells.weights)
        except TypeError as problem:
            raise EstimationError(
                f"{type(self.estimator).__name__} does not take sample weights, so that it cannot learn from cells: "
                f"{problem}"
            ) from None

    def _matrix(self, codes: Any) -> Array:
        if self.one_hot:
            return self.encoding_(list(codes))
        return np.stack([np.asarray(c, dtype=np.float64) for c in codes], axis=1)

    def _proba(self, codes: Mapping[str, Codes]) -> Array:
        X = self._matrix([np.asarray(codes[name]) for name in self.features_])
        out = np.zeros((len(X), len(self.classes_)))
        if not len(X):
            return out
        if hasattr(self.estimator_, "predict_proba"):
            out[:, self.estimator_.classes_] = self.estimator_.predict_proba(X)
        else:
            out[np.arange(len(X)), self.estimator_.predict(X)] = 1.0
        return out
