"""The linear classifier: one hyperplane per class under any of six costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array, Codes
from sfumato.errors import EstimationError
from sfumato.evidence import Evidence
from sfumato.evidence.kinds import as_evidence
from sfumato.input_checks import check_kind, check_progress, check_word
from sfumato.learn.arguments import check_number
from sfumato.learn.base import Classifier, normalise, refuse_one_class, surely_held
from sfumato.learn.linear import weight_errors
from sfumato.learn.linear.moments import lda, least_squares, moments, told_features, undone
from sfumato.learn.linear.pocket import nearest, pocket
from sfumato.learn.linear.smooth import from_centred, hinge, logistic
from sfumato.learn.plot import bars
from sfumato.learn.regression.rare_values import compared_with_commonest
from sfumato.learn.weighted_cells import Encoding, WeightedCells, weighted_cells
from sfumato.printable import label_text
from sfumato.randomness import numpy_generator

LOSSES = ("auto", "pocket", "perceptron", "logistic", "hinge", "least_squares", "lda")
#: Of the jackknife that the errors of weights come from.
GROUPS = 10
#: Why a feature has no weight.
NOT_TOLD = "how much they vary among the records is not clear of the noise, as where a value is rare"
#: A weight that nobody would see: where the target was made independent of all else, rounding leaves it.
_NO_WEIGHT = 1e-6


class LinearClassifier(Classifier):
    r"""Minimise the expected cost of a hyperplane, E[J(x, w) | released records] (Ma 2006, section 4.2).

    "pocket", "perceptron", "logistic" and "hinge" work on cells with their estimated counts, which is the paper's sum
    over posteriors collapsed; "least_squares" and "lda" on moments that pair tables give, so that they take many
    attributes. "auto" is logistic: the pocket's weights are those of a search, which finds others as good on the same
    records, and hyperplanes of one class against the rest have no common scale to compare classes by.
    ``values`` says what a code is worth as a number (the group means of MGAS); ``C`` is scikit-learn's.

    >>> import sfumato as sf
    >>> from sfumato.datasets import discretized
    >>> table, schema = discretized.wisconsin(), discretized.WISCONSIN
    >>> model = LinearClassifier(loss="logistic").fit(sf.evidence(table, schema), target="class")
    >>> round(model.score(table), 2)
    0.97
    """

    def __init__(
        self,
        loss: str = "auto",
        counts: str = "model",
        values: Mapping[str, Any] | None = None,
        C: float = 1.0,
        ridge: float | str = "auto",
        steps: int = 20_000,
        rng: Any = None,
        target: str | None = None,
    ) -> None:
        self.loss = loss
        self.counts = counts
        self.values = values
        self.C = C
        self.ridge = ridge
        self.steps = steps
        self.rng = rng
        self.target = target

    loss_: str  # the loss that was used
    encoding_: Encoding
    coef_: Array  # a row per class, the constant last
    scale_: Array  # the standard deviation of each feature
    told_: NDArray[np.bool_]  # whether a feature varies clearly beyond the noise; otherwise it has no weight
    compared_with_: dict[str, str]  # the value of a category that others are compared with, where the first is too rare
    held_: NDArray[np.bool_]  # whether anybody is of a class; otherwise it is never said
    told_classes_: NDArray[np.bool_]  # which classes some records surely hold: the weights of the others tell nothing
    told_by_: str  # what standard errors hold, and what they leave open
    _undone: Array | None = None  # what undoes the ridge of weights by moments
    _like: LinearClassifier | None = None  # a classifier whose features one of fewer records takes

    def _learn(self, source: Evidence) -> None:
        check_word(EstimationError, "loss", self.loss, LOSSES)
        self.loss_ = self.loss if self.loss != "auto" else "logistic"
        check_number("C", self.C, above=0)
        check_number("steps", self.steps, least=1)
        if not isinstance(self.ridge, str) or self.ridge != "auto":
            check_number("ridge", self.ridge, least=0)
        if self.values is not None:
            check_kind(EstimationError, "values", self.values, Mapping, "a mapping of features to numbers by code")
        for name in self.values or {}:
            if name not in self.features_:
                raise EstimationError(f"values names {name!r}, which is not a feature: {', '.join(self.features_)}")
        self._choose_features(source)
        self.told_classes_ = surely_held(source, self.target_)
        self.told_by_ = weight_errors.told_by(source, self.loss_, [*self.features_, self.target_])
        if self.loss_ in ("least_squares", "lda"):
            found = moments(source, self.encoding_, self.target_, self.schema_, self.told_)
            refuse_one_class(found.shares, self.target_, self.schema_[self.target_].labels)
            ridge = found.ridge if self.ridge == "auto" else float(self.ridge)
            self.coef_ = (lda if self.loss_ == "lda" else least_squares)(found, ridge)
            self._undone = undone(found.within if self.loss_ == "lda" else found.covariance, ridge, found)
            self.scale_, self.held_ = found.scale, found.shares > 0
            return
        cells = weighted_cells(source, self.features_, self.target_, self.counts)
        held = np.bincount(cells.classes, weights=cells.weights, minlength=len(self.classes_))
        refuse_one_class(np.asarray(held, dtype=np.float64), self.target_, self.schema_[self.target_].labels)
        self.held_ = held > 0
        X = self._matrix(list(cells.codes.T))
        mean = np.average(X[:, :-1], axis=0, weights=cells.weights)
        self.scale_ = np.sqrt(np.average((X[:, :-1] - mean) ** 2, axis=0, weights=cells.weights))
        kept = np.append(self.told_, True)
        self.coef_ = np.zeros((len(self.classes_), len(kept)))
        self.coef_[:, kept] = self._by_cost(X[:, kept], cells)

    def _choose_features(self, source: Evidence) -> None:
        """What values of categories are compared with, and of which features enough is known for a weight."""
        if self._like is not None:
            self.encoding_, self.told_ = self._like.encoding_, self._like.told_
            self.compared_with_ = self._like.compared_with_
            return
        given = dict(self.values or {})
        instead = compared_with_commonest(source, [name for name in self.features_ if name not in given])
        self.compared_with_ = {name: label_text(self.schema_[name].labels[code]) for name, code in instead.items()}
        self.encoding_ = Encoding(self.schema_, self.features_, given, instead)
        self.told_ = told_features(source, self.encoding_)

    def _by_cost(self, X: Array, cells: WeightedCells) -> Array:
        mean = np.average(X[:, :-1], axis=0, weights=cells.weights)
        # Costs and penalties do not depend on the origin, but searches do: of years, 1978 on average, no step would
        # lead anywhere.
        centred = X.copy()
        centred[:, :-1] -= mean
        count = len(self.classes_)
        if self.loss_ == "logistic":
            return from_centred(logistic(centred, cells.classes, cells.weights, count, self.C), mean)
        rng = numpy_generator(self.rng)
        out = np.zeros((count, X.shape[1]))
        two, present = count == 2, np.flatnonzero(self.held_)
        for number in [1] if two else present:
            sign = np.where(cells.classes == number, 1.0, -1.0)
            if self.loss_ == "hinge":
                w = from_centred(hinge(centred, sign, cells.weights, self.C), mean)
            elif self.loss_ == "perceptron":
                w = from_centred(pocket(centred, sign, cells.weights, rng, self.steps), mean)
            else:  # steps about 0 turn the start less than centred ones, which follow the noise of estimated counts
                start = from_centred(nearest(centred, sign, cells.weights), mean)
                w = pocket(X, sign, cells.weights, rng, self.steps, start)
            # One against the rest compares classes, so that hyperplanes are brought to one scale.
            out[number] = w if two else w / max(float(np.linalg.norm(w[:-1])), 1e-12)
        said = np.unique((X[cells.weights > 0] @ out[present].T).argmax(axis=1))
        alike = not two and np.allclose(out[present], out[present[0]], rtol=1e-6)  # told apart by rounding alone
        if self.scale_free and (len(said) == 1 or alike):
            # Only the directions are of use, and any would do: a weight would look like a finding. If one class is said
            # of everybody, the commonest errs least.
            commonest = np.bincount(cells.classes, weights=cells.weights, minlength=count).argmax()
            out[:] = 0
            out[commonest, -1] = 1
        return out

    def _matrix(self, codes: Any) -> Array:
        X = self.encoding_(codes)
        return np.concatenate([X, np.ones((len(X), 1))], axis=1)

    def decision_function(self, table: Any) -> Array:
        """The score of every class, minus infinity for one that nobody holds; for two classes, that of the second."""
        self._check_fitted()
        scores = self._scores(self._encode(table))
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    @property
    def weights_(self) -> Array:
        """A row per feature, a column per class (of two classes, the second against the first).

        How far one standard deviation of the feature moves the score, so that features of all units compare; where
        classes compete (lda, logistic), against the mean of the classes that some records surely hold. The pocket
        and the perceptron find a direction and no scale: their weights are brought to length 1. They are all 0 where
        the same class would be said of every record: then it is the commonest.
        """
        self._check_fitted()
        weights = np.asarray((self._contrasts @ self.coef_)[:, :-1].T * self.scale_[:, None])
        if self.scale_free:
            weights = weights / np.maximum(np.linalg.norm(weights, axis=0), 1e-300)
        return weights

    @property
    def _contrasts(self) -> Array:
        """A row for each column of ``weights_``: how classes count there."""
        if len(self.classes_) == 2:
            return np.array([[-1.0, 1.0]])
        own = np.eye(len(self.classes_))
        if not self.compares_classes:
            return own
        among = self.told_classes_ if self.told_classes_.any() else self.held_
        return np.asarray(own - among / among.sum())  # what all classes have in common decides nothing

    @property
    def scale_free(self) -> bool:
        """Whether only the direction of the weights means anything."""
        return self.loss_ in ("pocket", "perceptron")

    @property
    def errors_told(self) -> str:
        """What ``standard_errors`` hold, and what they leave open: of the evidence last asked, or fitted to."""
        self._check_fitted()
        return self.told_by_

    @property
    def compares_classes(self) -> bool:
        """Whether weights are told against the mean of several classes."""
        return len(self.classes_) > 2 and self.loss_ in ("lda", "logistic")

    @property
    def weighed_classes(self) -> list[str]:
        """The classes of the columns of ``weights_``."""
        return [label_text(label) for label in (self.classes_[1:] if len(self.classes_) == 2 else self.classes_)]

    @property
    def told_columns(self) -> NDArray[np.bool_]:
        """Which columns of ``weights_`` speak of classes that some records surely hold."""
        return np.ones(1, dtype=bool) if len(self.classes_) == 2 else self.told_classes_

    @property
    def _which(self) -> str:
        two = len(self.classes_) == 2
        return f"{self.target_} = {self.weighed_classes[0]}" if two else f"each {self.target_}"

    def standard_errors(
        self, source: Any, groups: int = GROUPS, progress: Callable[[int], None] | None = None
    ) -> Array:
        """Of ``weights_``, by leaving out a tenth of the released records at a time (the grouped jackknife).

        A penalty draws weights to 0, the more the fewer records there are: the jackknife's estimate of that counts too,
        in squares, except for the pocket and the perceptron, which have none. The penalty draws also what the jackknife
        sees of noise and draw, which ``_kept`` makes up for. ``progress`` is called with 1 after each of the fits.

        Under least squares and lda the same is made up for along each axis of the features, where the ridge leaves a
        part of the weights that is known.

        Under the logistic loss unbiased counts have their say, too: the noise is at least theirs, and how far they
        show a weight to be off counts in squares. So it does where a joint model hides what few records hold. Where the
        cells are too many to list, these are counts of pairs of attributes. Where no feature has a weight,
        since nothing foretells the target, no records are left out: these counts alone say how large weights may be.
        An error is infinite where a weight without end fits the records as well, and under the loss hinge wherever
        answers were randomized: nothing tells how far the joint model behind such weights is off.
        """
        check_progress(EstimationError, progress)
        return weight_errors.standard_errors(self, as_evidence(source), groups, progress)

    @property
    def only_class(self) -> str | None:
        """The class that is said of every record, where no feature has a weight."""
        if (np.abs(self.weights_) > _NO_WEIGHT).any():
            return None
        return label_text(self.classes_[int(np.where(self.held_, self.coef_[:, -1], -np.inf).argmax())])

    @property
    def comparison(self) -> str | None:
        """What the values of categories are compared with whose first value is too rare for that."""
        if not self.compared_with_:
            return None
        told = ", ".join(f"{name} with {value}" for name, value in self.compared_with_.items())
        return f"compared: {told}, since the first value is so rare"

    def plot(self, path: str | Path | None = None, errors: Array | None = None) -> Any:
        """The weights, a bar per feature and standard deviation; ``errors`` (see ``standard_errors``) as whiskers."""
        title = f"What speaks for {self._which}" + ("" if errors is None else ", with two standard errors")
        if errors is not None and not self.scale_free:
            title += " (weights may be larger still)"
        if self.comparison is not None:
            title += f"; {self.comparison}"
        if self.only_class is not None:
            title = f"No feature has a weight: {self.target_} = {self.only_class} is said of every record"
        axis = "weight of a standard deviation of the feature" + (", all of length 1" if self.scale_free else "")
        shown = np.flatnonzero(self.told_columns)
        spread = None if errors is None else 1.96 * errors[:, shown]
        labels = [f"{self.target_} = {self.weighed_classes[i]}" for i in shown]
        limits = (-1.0, 1.0) if self.scale_free else (-np.inf, np.inf)
        matter = np.abs(self.weights_[:, shown]).max(axis=0)
        named = zip(self.encoding_.columns, self.told_, strict=True)
        rows = [column if told else f"{column} (not told)" for column, told in named]
        return bars(path, rows, self.weights_[:, shown], labels, title, axis, matter, spread, limits)

    def _scores(self, codes: Mapping[str, Codes]) -> Array:
        scores = self._matrix([np.asarray(codes[name]) for name in self.features_]) @ self.coef_.T
        return np.where(self.held_, scores, -np.inf)

    def _proba(self, codes: Mapping[str, Codes]) -> Array:
        return normalise(self._scores(codes))
