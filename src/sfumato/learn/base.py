"""What all classifiers share: scikit-learn's habits, without scikit-learn.

``get_params``, ``set_params`` and constructors that only store make ``sklearn.clone`` work; ``predict``,
``predict_proba`` and ``score`` take any table whose columns fit the schema; what was learned ends in an underscore.
"""

from __future__ import annotations

import inspect
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array, Codes
from sfumato.errors import EstimationError, SchemaError
from sfumato.evidence import Evidence
from sfumato.evidence.kinds import as_evidence
from sfumato.learn.score import Score, estimate_score
from sfumato.pages.display import html_table
from sfumato.printable import label_text
from sfumato.schema import Schema
from sfumato.threads import one_thread

#: The most cells of the table of features over which decisions are listed one by one.
DECISION_CELLS = 1 << 20


class Parameters:
    """The constructor's arguments as parameters, as scikit-learn's tools expect them."""

    #: Where an argument is kept whose name a method has.
    _kept_as: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's arguments; ``deep`` also those of estimators among them, as in scikit-learn."""
        found = {name: self._parameter(name) for name in self._names()}
        for name, value in list(found.items()) if deep else []:
            if hasattr(value, "get_params") and not isinstance(value, type):
                found |= {f"{name}__{key}": inner for key, inner in value.get_params().items()}
        return found

    def set_params(self, **parameters: Any) -> Self:
        """Change the constructor's arguments."""
        for name, value in parameters.items():
            own, _, inner = name.partition("__")
            if own not in self._names():
                raise EstimationError(
                    f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(self._names())}"
                )
            if inner:
                self._parameter(own).set_params(**{inner: value})
            else:
                setattr(self, self._kept_as.get(own, own), value)
        return self

    def _parameter(self, name: str) -> Any:
        return getattr(self, self._kept_as.get(name, name))

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        changed = [
            f"{name}={self._parameter(name)!r}"
            for name in self._names()
            if repr(self._parameter(name)) != repr(defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _repr_html_(self) -> str:
        """The request, and what was learned from it, as a notebook shows it."""
        return html_table(repr(self), *self._shown())

    def _shown(self) -> tuple[Sequence[str], Sequence[Sequence[Any]], int]:
        """Headings, rows, and how many rows are left out."""
        return ["parameter", "value"], [[name, str(value)] for name, value in self.get_params(deep=False).items()], 0


class Classifier(Parameters, ABC):
    """A model of one attribute, the target, given others."""

    _estimator_type = "classifier"
    target: str | None

    fitted_ = False  # whether ``fit`` came to its end
    schema_: Schema
    target_: str
    features_: tuple[str, ...]
    classes_: NDArray[Any]

    @abstractmethod
    def _learn(self, source: Evidence) -> None:
        """Fit to the evidence; ``target_``, ``features_`` and ``classes_`` are there already."""

    @abstractmethod
    def _proba(self, codes: Mapping[str, Codes]) -> Array:
        """Pr(class) of each record, a row each, from the codes of its features."""

    @one_thread()
    def fit(self, source: Any, target: Any = None) -> Self:
        """Learn from evidence or a release; ``target`` names the class (or give it to the constructor).

        In a scikit-learn pipeline the second argument is y: it is ignored, and the constructor's target counts.
        """
        found = as_evidence(source)
        name = target if isinstance(target, str) else self.target
        if name is None:
            raise EstimationError(f"{type(self).__name__} needs a target: fit(evidence, target=...)")
        prepare(self, found, name)
        self._learn(found)
        self.fitted_ = True
        return self

    def predict_proba(self, table: Any) -> Array:
        """Pr(class) of every row, columns in the order of ``classes_``."""
        self._check_fitted()
        return self._proba(self._encode(table))

    def predict(self, table: Any) -> NDArray[Any]:
        """The most probable class of every row."""
        found = self.predict_proba(table)
        return np.asarray(self.classes_[found.argmax(axis=1)])

    def score(self, table: Any, y: Any = None) -> float:
        """The share of rows whose class is predicted right; y is the table's own target column unless given."""
        return share_right(self.predict(table), self._own_target(table) if y is None else np.asarray(y))

    def estimate_score(self, source: Any, level: float = 0.95) -> Score:
        """The accuracy on clean records, from randomized ones that the model has not seen; see ``learn.score``."""
        self._check_fitted()
        return estimate_score(self, as_evidence(source), level)

    def decisions(self, names: Sequence[str]) -> NDArray[np.int64]:
        """The predicted class of every combination of values of the named features, flat; others do not matter."""
        self._check_fitted()
        sizes = self.schema_.sizes(names)
        if prod(sizes) > DECISION_CELLS:
            raise EstimationError(
                f"{type(self).__name__} looks at {prod(sizes)} combinations of features, more than {DECISION_CELLS}: "
                f"give it fewer features"
            )
        grid = np.indices(sizes).reshape(len(sizes), -1) if names else np.zeros((0, 1), dtype=np.int64)
        codes: dict[str, Codes] = dict(zip(names, grid, strict=True))
        rows = grid.shape[1]
        for name in self.features_:
            codes.setdefault(name, np.zeros(rows, dtype=np.int64))
        return self.answers(codes)

    def answers(self, codes: Mapping[str, Codes]) -> NDArray[np.int64]:
        """The predicted class of every record, as a code, from the codes of its features."""
        return np.asarray(self._proba(codes).argmax(axis=1))

    @property
    def used_features(self) -> tuple[str, ...]:
        """The features on which a prediction depends."""
        return self.features_

    def __sklearn_tags__(self) -> Any:
        return classifier_tags(required=False)

    def __sklearn_is_fitted__(self) -> bool:
        return self.fitted_

    def _shown(self) -> tuple[Sequence[str], Sequence[Sequence[Any]], int]:
        if not self.fitted_:
            return ["not fitted"], [], 0
        rows = [["target", self.target_], ["features", ", ".join(self.features_)]]
        return ["fitted", ""], [*rows, ["classes", ", ".join(map(label_text, self.classes_))]], 0

    def _check_fitted(self) -> None:
        if not self.fitted_:
            raise EstimationError(f"this {type(self).__name__} is not fitted yet: call fit(evidence, target=...) first")

    def _encode(self, table: Any) -> dict[str, Codes]:
        wanted = self.schema_.select(self.features_) if self.features_ else None
        if wanted is None:
            raise EstimationError(f"{type(self).__name__} has no features to predict from")
        try:
            return wanted.encode(table)
        except SchemaError as problem:
            if isinstance(table, str | os.PathLike) and str(problem).startswith(f"{os.fspath(table)}:"):
                raise  # it cannot be read at all
            raise SchemaError(f"the table does not fit the schema of this {type(self).__name__}: {problem}") from None

    def _own_target(self, table: Any) -> NDArray[Any]:
        codes = self.schema_.select([self.target_]).encode(table)[self.target_]
        return np.asarray(self.classes_[codes])


def classifier_tags(required: bool) -> Any:
    """What scikit-learn's tools ask of a classifier; ``required`` says whether fit needs y."""
    from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

    return Tags(
        estimator_type="classifier",
        target_tags=TargetTags(required=required),
        classifier_tags=ClassifierTags(),
        regressor_tags=None,
        transformer_tags=None,
        input_tags=InputTags(categorical=not required, string=not required),
    )


def normalise(logs: Array) -> Array:
    """Rows of log-probabilities as probabilities."""
    logs = logs - logs.max(axis=1, keepdims=True, initial=-np.inf)
    out = np.exp(logs)
    return np.asarray(out / out.sum(axis=1, keepdims=True))


def share_right(said: NDArray[Any], truth: NDArray[Any]) -> float:
    """The share of predicted classes that are the true ones, of which there is one for each."""
    check_rows(said, truth)
    return float(np.mean(said == truth))


def check_rows(said: NDArray[Any], truth: NDArray[Any]) -> None:
    """Refuse to judge what is said by anything but one truth for each of one or more rows."""
    if truth.shape != said.shape:
        raise EstimationError(
            f"y must hold one value for each of the {len(said)} rows, got shape {truth.shape} instead"
        )
    if not len(said):
        raise EstimationError("the table holds no rows: there is nothing to score")


def prepare(model: Classifier, source: Evidence, target: str) -> None:
    """Check the target and note what the model is about, which is not fitted as long as nothing is learned."""
    schema = source.schema
    if target not in schema:
        raise EstimationError(f"the target {target!r} is not in the release; it has {', '.join(schema.names)}")
    if schema[target].size < 2:
        raise EstimationError(f"the target {target!r} has one class, {schema[target].labels[0]!r}: nothing to learn")
    features = tuple(name for name in schema.names if name != target)
    if not features:
        raise EstimationError(f"the release holds nothing but the target {target!r}: there is nothing to learn from")
    model.fitted_ = False
    model.schema_ = schema
    model.target_ = target
    model.features_ = features
    model.classes_ = schema[target].label_array


def surely_held(source: Evidence, target: str) -> NDArray[np.bool_]:
    """Which classes some records surely hold; of the others a model has learned nothing."""
    own = source.counts([target], quiet=True)
    return np.asarray(own.value > 2 * own.sd)


class OneClassError(EstimationError):
    """A target of which fewer than two classes occur."""


def refuse_one_class(counts: Array, target: str, labels: Sequence[Any]) -> None:
    """Refuse a target of which fewer than two classes occur."""
    present = np.flatnonzero(counts > 1e-9 * max(float(counts.sum()), 1e-300))
    if len(present) < 2:
        found = f"only the class {labels[int(present[0])]!r}" if len(present) else "no class"
        raise OneClassError(f"{found} of {target!r} occurs in the data: there is nothing to learn")
