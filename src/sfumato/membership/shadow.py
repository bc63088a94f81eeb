"""The attack on membership: draw shadow releases with and without each candidate, and learn to tell them apart.

The attacker knows the method, its setting and a pool of candidates, half of whom are members. He repeats the release on
random halves of the pool and keeps, for every candidate, how the features of a release differ when the candidate is in
it (Carlini et al. 2022 attack learners so). Against a release he then asks for the likelihood ratio of each candidate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np

from sfumato.arrays import Array, Flags, Labels
from sfumato.membership.features import Filter, Pool, loneliest
from sfumato.membership.risk import Risk
from sfumato.randomness import Source, permutation, uniforms
from sfumato.threads import one_thread

#: A way to release: (records, labels, source) to (rows, labels).
Method = Callable[[Array, Labels, Source], tuple[Array, Labels]]
Progress = Callable[[int], None]


@runtime_checkable
class Filtered(Protocol):
    """A way to release that knows which filter works best against it. The attacker uses that filter, too."""

    def __call__(self, X: Array, y: Labels, src: Source) -> tuple[Array, Labels]:
        """Rows and labels instead of the records."""

    def matched_filter(self, X: Array, y: Labels, src: Source) -> Filter:
        """The filter for these candidates, half of whom are members."""


#: Shadow releases: with 160 the AUC of all records is known to .002 or .003, that of the loneliest tenth to .01.
SHADOWS = 160
#: Every shadow release is attacked once, with what the others taught.
_FOLDS = 4
#: Ridge on the correlations of the features, when they are combined.
_RIDGE = 0.1
#: Log-likelihood ratios end here: a few candidates who are given away for certain must not decide the weights.
_SURE = 4.0


@dataclass(frozen=True)
class Learned:
    """A likelihood ratio for each candidate: features as independent normals first, then weighted against each other.

        llr_ik = g_ik (f_ik - (mu1_ik + mu0_ik) / 2) / s_ik,        score_i = sum_k w_k llr_ik

    where g_ik is the gap between the means mu1 (candidate i in) and mu0 (out) of feature k in deviations s, drawn to
    the gap that candidates of this deviation usually have as far as it is noise, and w the linear discriminant of the
    llr over all candidates.
    """

    gap: Array
    middle: Array
    deviation: Array
    weights: Array

    @classmethod
    def fit(cls, features: Array, member: Flags) -> Learned:
        """From shadow releases: features (release, feature, candidate) and who was in (release, candidate).

        Weights come from ratios of releases by which no gap was learned: half of them teach, the other half is rated.
        Rated by their own gaps, features with much to learn would look better than they are.
        """
        odd = np.arange(len(member)) % 2 == 1
        ratios = np.empty((features.shape[1], *member.shape))
        for part in (odd, ~odd):
            half = cls._alone(features[~part], member[~part])
            ratios[:, part] = half.ratios(features[part]).transpose(1, 0, 2)
        return replace(cls._alone(features, member), weights=_discriminant(ratios, member))

    @classmethod
    def _alone(cls, features: Array, member: Flags) -> Learned:
        """Each feature by itself."""
        inside = member.sum(axis=0)
        outside = len(member) - inside
        within = member[:, None, :]
        mean1 = (features * within).sum(axis=0) / np.maximum(inside, 1)
        mean0 = (features * ~within).sum(axis=0) / np.maximum(outside, 1)
        rest = features - np.where(within, mean1, mean0)
        deviation = np.sqrt((rest**2).sum(axis=0) / max(len(member) - 2, 1))
        deviation = np.where(deviation > 0, deviation, np.inf)
        gap = (mean1 - mean0) / deviation
        noise = 1 / np.maximum(inside, 1) + 1 / np.maximum(outside, 1)
        usual = _usual(gap, deviation)
        real = np.maximum(((gap - usual) ** 2 - noise).mean(axis=1, keepdims=True), 0)
        gap = usual + real / (real + noise) * (gap - usual)
        return cls(gap, (mean1 + mean0) / 2, deviation, np.ones(features.shape[1]))

    def ratios(self, features: Array) -> Array:
        """The log-likelihood ratio of every candidate by each feature alone."""
        return np.clip(self.gap * (features - self.middle) / self.deviation, -_SURE, _SURE)

    def score(self, features: Array) -> Array:
        """The log-likelihood ratio of every candidate by all features together."""
        return np.asarray(np.tensordot(self.ratios(features), self.weights, axes=(features.ndim - 2, 0)))


@dataclass(frozen=True)
class Shadows:
    """Shadow releases as the attacker keeps them: the features of each, and who was in it."""

    pool: Pool
    features: Array
    member: Flags

    @classmethod
    @one_thread()
    def draw(
        cls, X: Array, y: Labels, method: Method, src: Source, count: int = SHADOWS, progress: Progress | None = None
    ) -> Shadows:
        """Release random halves of the pool, class by class, ``count`` times; ``progress`` gets 1 for each."""
        pool = Pool(X, y, method.matched_filter(X, y, src) if isinstance(method, Filtered) else None)
        member = np.zeros((count, len(X)), dtype=bool)
        features = np.empty((count, len(pool.names), len(X)))
        for one in range(count):
            member[one] = halve(y, src)
            features[one] = pool.features(*method(X[member[one]], y[member[one]], src))
            if progress is not None:
                progress(1)
        return cls(pool, features, member)

    def learn(self) -> Learned:
        """What all of them teach."""
        return Learned.fit(self.features, self.member)

    @one_thread()
    def judge(self, lonely: Flags) -> Risk:
        """Attack every shadow release with what the others taught: the mean AUC, and its error over the releases."""
        fold = np.arange(len(self.member)) % _FOLDS
        whole, outer, single = [], [], []
        for part in range(_FOLDS):
            learned = Learned.fit(self.features[fold != part], self.member[fold != part])
            there = self.features[fold == part]
            for score, ratios, inside in zip(
                learned.score(there), learned.ratios(there), self.member[fold == part], strict=True
            ):
                whole.append(auc(score[inside], score[~inside]))
                outer.append(auc(score[inside & lonely], score[~inside & lonely]))
                single.append(
                    [(auc(r[inside], r[~inside]), auc(r[inside & lonely], r[~inside & lonely])) for r in ratios]
                )
        means = np.mean(single, axis=0)
        attacks = {name: (float(a), float(b)) for name, (a, b) in zip(self.pool.names, means, strict=True)}
        return Risk(*_mean(whole), *_mean(outer), attacks=attacks, shadows=len(self.member))


def shadow_risk(
    X: Array, y: Labels, method: Method, src: Source, count: int = SHADOWS, progress: Progress | None = None
) -> Risk:
    """What the attack reaches against releases of half of these records, on all of them and on the loneliest tenth."""
    return Shadows.draw(X, y, method, src, count, progress).judge(loneliest(X, y))


def halve(y: Labels, src: Source) -> Flags:
    """A random half of each class; of an odd class the half is rounded up or down by chance."""
    out = np.zeros(len(y), dtype=bool)
    labels = np.unique(y)
    for label, up in zip(labels, uniforms(src, len(labels)) < 0.5, strict=True):
        rows = np.flatnonzero(y == label)
        out[rows[permutation(src, len(rows))[: max((len(rows) + up) // 2, 1)]]] = True
    return out


def auc(inside: Array, outside: Array) -> float:
    """The chance that a member scores above a stranger, ties counting one half; 1/2 where one side is empty.

    >>> auc(np.array([2.0, 1.0]), np.array([0.0, 1.0]))
    0.875
    """
    if not len(inside) or not len(outside):
        return 0.5
    ordered = np.sort(outside)
    below = np.searchsorted(ordered, inside, side="left")
    upto = np.searchsorted(ordered, inside, side="right")
    return float((below + upto).mean() / 2 / len(outside))


def _discriminant(ratios: Array, member: Flags) -> Array:
    """The linear discriminant of members and strangers by their ratios (feature, release, candidate)."""
    apart = ratios[:, member].mean(axis=1) - ratios[:, ~member].mean(axis=1)
    rest = np.where(member, *(ratios[:, some].mean(axis=1)[:, None, None] for some in (member, ~member)))
    rest = (ratios - rest).reshape(len(ratios), -1)
    spread = rest @ rest.T / rest.shape[1]
    unit = np.sqrt(np.diag(spread))
    unit = np.where(unit > 0, unit, np.inf)
    related = spread / np.outer(unit, unit) + _RIDGE * np.eye(len(unit))
    return np.asarray(np.linalg.solve(related, apart / unit) / unit)


def _usual(gap: Array, deviation: Array) -> Array:
    """The straight line of gap on deviation over the candidates: who pulls more on a moment varies more along it, too.

    A slope below 0 says that a feature has no such relation: then the usual gap is the mean.
    """
    wide = np.where(np.isfinite(deviation), deviation, 0.0)
    wide = wide - wide.mean(axis=1, keepdims=True)
    unit = (wide**2).sum(axis=1, keepdims=True)
    slope = (gap * wide).sum(axis=1, keepdims=True) / np.where(unit > 0, unit, np.inf)
    return np.asarray(gap.mean(axis=1, keepdims=True) + np.maximum(slope, 0) * wide)


def _mean(values: list[float]) -> tuple[float, float]:
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))
