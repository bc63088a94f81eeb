"""An honest accuracy without raw data: how often a model is right on clean records, from held-out randomized ones.

With g(x) = 1 where the model's answer is right, the accuracy is the mean of g over clean records: see
``evidence.model.blended_mean``. The noise of the weights, and what the model that fills in may be wrong by, are the
squared standard error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.errors import EstimationError
from sfumato.evidence import Evidence
from sfumato.evidence.kinds import asked_by_part, by_method, likelihood_of
from sfumato.evidence.model.blended_mean import Blended, blended_mean, cross_fitted
from sfumato.learn.arguments import check_number
from sfumato.learn.score_by_draws import FittedClassifier, drawn_confusion
from sfumato.printable import label_text, level_text
from sfumato.threads import one_thread

#: A: how many records the model is trusted like where the channel cannot say; at most one in 50 of its own.
TRUST = 10.0
_OWN = 50
#: Its error was worth twice as many on data where it could be seen (random networks, Pima, Mushroom, svmguide1).
WORTH = 2.0
#: The largest table that weights are sought over; beyond it they are sought over drawn records.
_CELLS = 1 << 18
#: An interval of an accuracy that is wider says nothing of use.
TOO_WIDE = 0.3
#: One that is narrower needs no advice.
NARROW = 0.1
ALL_CELLS = 6  # classes; with more no confusion matrix is estimated


@dataclass(frozen=True, eq=False)
class Score:
    """Estimated accuracy on clean records, its standard error, and the confusion matrix as shares of all records."""

    accuracy: float
    sd: float
    confusion: Array  # true class by predicted class; NaN where there are too many classes to tell
    confusion_sd: Array
    majority: float  # the accuracy of always saying the most frequent class
    classes: NDArray[Any]
    n: float
    level: float
    unbiased: float  # the accuracy before it is kept within [0, 1]
    drawn: bool = False  # whether the table was too large to list, and records drawn from a model stood for it
    apart: bool = False  # whether no record answered all that the model looks at, and a model joined their answers

    @property
    def interval(self) -> tuple[float, float]:
        """Limits that hold the true accuracy with the given probability."""
        return within(self.unbiased, self.sd, self.level)

    @property
    def caution(self) -> str | None:
        """What keeps a reader from taking the accuracy for a finding, if anything does."""
        low, high = self.interval
        if high - low > TOO_WIDE:
            return f"too little is known to judge this model: its accuracy may be anything from {low:.2f} to {high:.2f}"
        if low <= self.majority:
            return "it is not shown to be better than always saying the most frequent class"
        return None

    @property
    def narrower(self) -> str | None:
        """What would narrow the interval, where it is wider than a tenth."""
        low, high = self.interval
        if high - low <= NARROW:
            return None
        if self.apart:
            return (
                "no record was asked all that the model looks at: a joint model puts the answers together, and what it "
                "may be wrong by makes the interval wide, hardly noise or chance. A narrower one takes fewer "
                "attributes, or forms that ask them together"
            )
        if self.drawn:
            return (
                f"a narrower interval takes fewer attributes: these have more than {_CELLS:,} combinations of values, "
                "and a model has to stand for most of them"
            )
        return (
            f"an interval as wide as {NARROW:g} takes about {(2 * 1.96 * self.sd / NARROW) ** 2:,.1f} times as many "
            "records, or less noise"
        )

    def __float__(self) -> float:
        return self.accuracy

    def __repr__(self) -> str:
        low, high = self.interval
        found = (
            f"Score({self.accuracy:.3f}, {level_text(self.level)} interval {low:.3f} to {high:.3f}, n={self.n:,.0f})"
        )
        if self.caution is None:
            return found
        return f"{found}: no finding, {self.caution}; the most frequent class has a share of {self.majority:.3f}"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        return {
            "accuracy": self.accuracy,
            "unbiased": self.unbiased,
            "sd": self.sd,
            "interval": list(self.interval),
            "majority": self.majority,
            "caution": self.caution,
            "narrower": self.narrower,
            "confusion": None if np.isnan(self.confusion).any() else self.confusion.tolist(),
            "confusion_sd": None if np.isnan(self.confusion_sd).any() else self.confusion_sd.tolist(),
            "classes": [label_text(label) for label in self.classes],
            "n": self.n,
        }


def within(estimate: float, sd: float, level: float) -> tuple[float, float]:
    """Limits of a share between 0 and 1 whose estimate is normal, and may lie outside.

    All shares are accepted that the estimate does not contradict, ordered by their likelihood ratio against the best
    share in [0, 1] (Feldman and Cousins 1998): so no interval is empty, and none is one-sided by a leap.

    >>> low, high = within(1.05, 0.1, 0.95)
    >>> round(low, 2), high
    (0.85, 1.0)
    """
    from scipy.special import ndtr

    kept = min(max(estimate, 0.0), 1.0)
    if not sd > 0:
        return kept, kept
    share = np.unique(np.append(np.linspace(0.0, 1.0, 4001), kept))
    above = estimate > share
    u = np.abs(estimate - share) / sd
    near, far = np.where(above, 1 - share, share) / sd, np.where(above, share, 1 - share) / sd
    ratio = np.where(u <= near, u * u, near * (2 * u - near))
    root = np.sqrt(ratio)
    opposite = np.where(root <= far, root, (ratio + far * far) / np.maximum(2 * far, 1e-12))
    accepted = share[(ndtr(-u) + ndtr(-opposite) > 1 - level) | (ratio <= 0)]
    return float(accepted.min()), float(accepted.max())


@one_thread()
def estimate_score(model: FittedClassifier, source: Evidence, level: float = 0.95) -> Score:
    """The accuracy and confusion matrix of a classifier on the clean records behind randomized ones."""
    check_number("level", level, above=0, below=1)
    names = score_names([model], source)
    if names is None:
        return _from_draws(model, source, level)
    cuts = cross_fitted(likelihood_of(source, names))
    classes = len(model.classes_)
    answer = np.repeat(model.decisions(names[:-1]), classes)
    truth = np.arange(len(answer)) % classes
    right = (truth == answer).astype(np.float64)
    n = sum(own.total for own, _ in cuts)
    trust = min(TRUST, n / _OWN)
    found = blended_mean(cuts, right, trust)
    confusion, spread = np.full((2, classes, classes), np.nan)
    for i, j in np.ndindex(classes, classes) if classes <= ALL_CELLS else ():
        cell = blended_mean(cuts, ((truth == i) & (answer == j)).astype(np.float64), trust)
        confusion[i, j], spread[i, j] = cell.value, _sd(cell, trust)
    accuracy = min(max(found.value, 0.0), 1.0)
    majority = majority_share(source, model.target_)
    sd = _sd(found, trust)
    apart = not asked_by_some(source, names)
    return Score(accuracy, sd, confusion, spread, majority, model.classes_, n, level, found.value, apart=apart)


def _sd(found: Blended, trust: float) -> float:
    return float(np.sqrt(found.noise + found.gap**2 / (WORTH * trust)))


def _from_draws(model: FittedClassifier, source: Evidence, level: float) -> Score:
    shares, noise, gap, n = drawn_confusion(model, source, TRUST)
    cov = noise + gap / TRUST
    classes = len(model.classes_)
    if len(shares) == classes**2:
        confusion, spread = (
            shares.reshape(classes, classes),
            np.sqrt(np.maximum(np.diag(cov), 0.0)).reshape(classes, classes),
        )
        right = np.eye(classes).reshape(-1)
    else:
        confusion = spread = np.full((classes, classes), np.nan)
        right = np.array([0.0, 1.0])
    majority = majority_share(source, model.target_)
    found, sd = float(right @ shares), float(np.sqrt(max(float(right @ cov @ right), 0.0)))
    return Score(min(max(found, 0.0), 1.0), sd, confusion, spread, majority, model.classes_, n, level, found, True)


def asked_by_some(source: Evidence, names: Sequence[str]) -> bool:
    """Whether some record was asked all of these attributes."""
    return any(set(names) <= set(asked) for asked in asked_by_part(source))


def majority_share(source: Evidence, target: str) -> float:
    """How many hold the most frequent class: without bias, as accuracies are, so that the two can be compared."""
    found = by_method(source, "moment").counts(target)
    return min(max(float(np.max(found.value)) / found.n, 0.0), 1.0)


def score_names(models: Sequence[FittedClassifier], source: Evidence) -> list[str] | None:
    """The attributes to weigh, the target last; None where even those that the models look at are too many."""
    first = models[0]
    for name in (*first.features_, first.target_):
        if name not in source.schema or source.schema[name] != first.schema_[name]:
            raise EstimationError(f"the release does not hold attribute {name!r} as the model knows it")
    used = {name for model in models for name in model.used_features}
    for features in (first.features_, [name for name in first.features_ if name in used]):
        names = [*features, first.target_]
        if prod(source.schema.sizes(names)) <= _CELLS:
            return names
    return None
