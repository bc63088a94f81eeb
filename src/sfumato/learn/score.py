r"""An honest accuracy without raw data: how often a model is right on clean records, from held-out randomized ones.

With g(x) = 1 where the model's answer is right, P the channel and θ̂ a model of the held-out records, choose weights h
on the released values that minimise

    Σ_y q_y h_y² / N  +  (1/A) Σ_x θ̂_x (P h - g)_x²,        q = Pᵀθ̂

and estimate by  mean of h over the records + Σ_x θ̂_x (g - P h)_x. Where the channel lets it, P h = g and the estimate
is unbiased; where that would be too noisy, the model fills in. A is how many records the model's own error is worth.
The two terms at the minimum, the noise of h and what the model may be wrong by, are the squared standard error.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.channels.linear import Array
from sfumato.errors import EstimationError
from sfumato.evidence import Evidence
from sfumato.evidence.model import ModelEvidence
from sfumato.evidence.model.candidates import fit_either
from sfumato.evidence.model.observed import Channelled, Observed, observe
from sfumato.learn.drawn import drawn_confusion
from sfumato.release import Release

if TYPE_CHECKING:
    from sfumato.learn.base import Classifier

#: A: how many records the model's own error is worth where the channel cannot say.
TRUST = 30.0
#: The largest table that weights are sought over; beyond it they are sought over drawn records.
_CELLS = 1 << 18


@dataclass(frozen=True, eq=False)
class Score:
    """Estimated accuracy on clean records, its standard error, and the confusion matrix as shares of all records."""

    accuracy: float
    sd: float
    confusion: Array  # true class by predicted class
    confusion_sd: Array
    majority: float  # the accuracy of always saying the most frequent class
    classes: NDArray[Any]
    n: float
    level: float

    @property
    def interval(self) -> tuple[float, float]:
        """Limits that hold the true accuracy with the given probability."""
        from scipy.special import ndtri

        z = float(ndtri((1 + self.level) / 2))
        return max(self.accuracy - z * self.sd, 0.0), min(self.accuracy + z * self.sd, 1.0)

    def __float__(self) -> float:
        return self.accuracy

    def __repr__(self) -> str:
        low, high = self.interval
        return f"Score({self.accuracy:.3f}, {self.level:.0%} interval {low:.3f} to {high:.3f}, n={self.n:.0f})"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        return {
            "accuracy": self.accuracy,
            "sd": self.sd,
            "interval": list(self.interval),
            "majority": self.majority,
            "confusion": self.confusion.tolist(),
            "classes": [str(label) for label in self.classes],
            "n": self.n,
        }


def hold_out(
    release: Release, share: float = 0.25, rng: np.random.Generator | int | None = None
) -> tuple[Release, Release]:
    """The release cut at random into records to learn from and records to score on."""
    if not 0 < share < 1:
        raise EstimationError(f"share must lie in (0, 1), got {share} instead")
    generator = np.random.default_rng(rng)
    learn, held = [], []
    for part in release.parts:
        rows = part.arrow()
        drawn = generator.permutation(rows.num_rows)
        cut = round(share * rows.num_rows)
        held.append(Release(rows.take(np.sort(drawn[:cut])), part.scheme, part.id))
        learn.append(Release(rows.take(np.sort(drawn[cut:])), part.scheme, part.id))
    return Release.concat(learn), Release.concat(held)


def estimate_score(model: Classifier, source: Evidence, level: float = 0.95) -> Score:
    """The accuracy and confusion matrix of a classifier on the clean records behind randomized ones."""
    names = _names(model, source)
    if names is None:
        return _from_draws(model, source, level)
    features = [name for name in names if name != model.target_]
    decided = model.decisions(features)
    observed = observe(source.release, names)
    theta = source.theta if _same(source, names) else fit_either(observed)  # type: ignore[attr-defined]
    classes = len(model.classes_)
    truth = np.arange(theta.size) % classes
    answer = np.repeat(decided, classes)
    confusion, spread = np.zeros((classes, classes)), np.zeros((classes, classes))
    right = np.zeros(theta.size)
    for i in range(classes):
        for j in range(classes):
            wanted = ((truth == i) & (answer == j)).astype(np.float64)
            if classes <= 6 or i == j:
                confusion[i, j], spread[i, j] = blended_mean(observed, theta, wanted)
            right += wanted * (i == j)
    accuracy, sd = blended_mean(observed, theta, right)
    shares = theta.reshape(-1, classes).sum(axis=0)
    return Score(accuracy, sd, confusion, spread, float(shares.max()), model.classes_, observed.total, level)


def blended_mean(observed: Observed, theta: Array, wanted: Array, trust: float = TRUST) -> tuple[float, float]:
    """The mean of a function of the true record over clean records, and its standard error."""
    total = observed.total
    estimates, variances, weights = [], [], []
    for part in observed.parts:
        value, noise, gap = _one(part, theta, wanted, trust)
        share = float(part.counts.sum()) / total
        estimates.append(share * value)
        variances.append(share**2 * noise)
        weights.append(share * gap)
    bias = float(np.sum(weights)) ** 2 / trust
    return float(np.sum(estimates)), float(np.sqrt(np.sum(variances) + bias))


def _one(part: Channelled, theta: Array, wanted: Array, trust: float) -> tuple[float, float, float]:
    n = float(part.counts.sum())
    q = np.maximum(part.forward(theta), 1e-300)
    root = np.sqrt(q)

    def forward(k: Array) -> Array:
        """(A/N) k + D^-1/2 Pᵀ Θ P D^-1/2 k, with D = diag(q)."""
        return trust / n * k + part.forward(theta * part.backward(k / root)) / root

    solution = _conjugate_gradients(forward, part.forward(theta * wanted) / root)
    h = solution / root
    left = wanted - part.backward(h)
    mean = float(part.counts @ h) / n
    noise = max(float(part.counts @ h**2) / n - mean**2, 0.0) / n
    gap = max(float(theta @ left**2) - float(theta @ left) ** 2, 0.0)
    return mean + float(theta @ left), noise, float(np.sqrt(gap))


def _conjugate_gradients(forward: Any, right: Array, tolerance: float = 1e-7, most: int = 400) -> Array:
    x = np.zeros_like(right)
    r = right.copy()
    d = r.copy()
    size = first = float(r @ r)
    for _ in range(most):
        if size <= tolerance**2 * first:
            break
        moved = forward(d)
        step = size / float(d @ moved)
        x += step * d
        r -= step * moved
        following = float(r @ r)
        d = r + following / size * d
        size = following
    return x


def _from_draws(model: Classifier, source: Evidence, level: float) -> Score:
    shares, cov, n = drawn_confusion(model, source, TRUST)
    classes = len(model.classes_)
    confusion, spread = (flat.reshape(classes, classes) for flat in (shares, np.sqrt(np.maximum(np.diag(cov), 0.0))))
    right = np.eye(classes).reshape(-1)
    majority = float(confusion.sum(axis=1).max())
    return Score(
        float(right @ shares), float(right @ cov @ right) ** 0.5, confusion, spread, majority, model.classes_, n, level
    )


def _names(model: Classifier, source: Evidence) -> list[str] | None:
    """The attributes of the table to work on, or None where it is too large to list."""
    for name in (*model.features_, model.target_):
        if name not in source.schema or source.schema[name] != model.schema_[name]:
            raise EstimationError(f"the release does not hold attribute {name!r} as the model knows it")
    if isinstance(source, ModelEvidence) and source.names[-1] == model.target_:
        return list(source.names)
    everything = [*model.features_, model.target_]
    if prod(source.schema.sizes(everything)) <= _CELLS:
        return everything
    used = [*model.used_features, model.target_]
    return used if prod(source.schema.sizes(used)) <= _CELLS else None


def _same(source: Evidence, names: list[str]) -> bool:
    return isinstance(source, ModelEvidence) and list(source.names) == names
