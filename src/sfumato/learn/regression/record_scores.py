r"""Scores of every released record, formed by waves: for any number of covariates, logistic or ordinal.

Of ordered classes 0, ..., K-1 with limits τ_k between k and k + 1 the score is linear in curves, like that of two:

    β:    x 1[y > 0]  -  Σ_k x v_k(y) F(xᵀβ - τ_k)                              v_k(y) = 1[y = k or y = k + 1]
    τ_k:  a(τ_k - τ_{k-1}) 1[y = k]  -  b(τ_{k+1} - τ_k) 1[y = k + 1]  -  v_k(y) (1 - F(xᵀβ - τ_k))

with a(d) = 1 / (1 - e^{-d}) and b(d) = 1 / (e^d - 1), which are 1 and 0 beyond the first and the last limit. So every
limit asks for the waves of one logistic curve, among the records of its two classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence.seen import Seen
from sfumato.learn.regression.design_columns import INTERCEPT, Column
from sfumato.learn.regression.response import Response
from sfumato.learn.regression.told_by_records import told_of_column
from sfumato.learn.regression.waves import WaveScores


class RecordScoresByWaves(Protocol):
    """Unbiased scores of released records at some coefficients, and minus their derivatives."""

    @property
    def start(self) -> Array:
        """Coefficients without effect."""
        ...

    def possible(self, theta: Array) -> bool: ...

    def each(self, place: int, theta: Array) -> Iterator[tuple[Seen, Array, Array]]:
        """Some records of one part at a time: score and minus its derivative, a row each."""
        ...


class LogisticScores:
    """x (y - F(xᵀβ)) of every record."""

    def __init__(self, parts: Sequence[Seen], columns: Sequence[Column], y: Column, answered: Column | None) -> None:
        self._curve = WaveScores(parts, columns, answered)
        given = y if answered is None else y.times(answered)
        self._answers = [_told(part, [column.times(given) for column in columns]) for part in parts]
        self.start = np.zeros(len(columns))

    def possible(self, theta: Array) -> bool:
        return self._curve.possible(theta)

    def each(self, place: int, theta: Array) -> Iterator[tuple[Seen, Array, Array]]:
        done = 0
        for some, explained, slopes in self._curve.each(place, theta):
            rows = slice(done, done + len(explained))
            yield some, self._answers[place][rows] - explained, slopes
            done = rows.stop


class OrdinalScores:
    """The scores of the module's formula; the limits follow the coefficients."""

    def __init__(self, parts: Sequence[Seen], columns: Sequence[Column], response: Response, classes: int) -> None:
        self._width = len(columns)
        own = (response.name,)
        held = [response.kept & (response.values == k) for k in range(classes)]
        member = [Column("", own, one.astype(np.float64)) for one in held]
        either = [Column("", own, (one | other).astype(np.float64)) for one, other in pairwise(held)]
        above = Column("", own, np.any(held[1:], axis=0).astype(np.float64))
        self._curves = [WaveScores(parts, [INTERCEPT, *columns], one) for one in either]
        self._members = [_told(part, member) for part in parts]
        self._risen = [_told(part, [column.times(above) for column in columns]) for part in parts]
        counts = np.sum([part.counts @ one for part, one in zip(parts, self._members, strict=True)], axis=0)
        shares = np.maximum(counts, 1e-3 * abs(counts.sum()))
        below = np.cumsum(shares)[:-1] / shares.sum()
        self.start = np.concatenate([np.zeros(self._width), np.log(below / (1 - below))])

    def possible(self, theta: Array) -> bool:
        beta, limits = theta[: self._width], theta[self._width :]
        reached = zip(limits, self._curves, strict=True)
        return bool((np.diff(limits) > 0).all()) and all(
            curve.possible(np.append(-limit, beta)) for limit, curve in reached
        )

    def each(self, place: int, theta: Array) -> Iterator[tuple[Seen, Array, Array]]:
        p = self._width
        beta, limits = theta[:p], theta[p:]
        gaps = np.diff(limits)
        a = np.append(1.0, 1 / -np.expm1(-gaps))
        b = np.append(np.exp(-gaps) / -np.expm1(-gaps), 0.0)  # 1 / (e^d - 1), where d may be large
        bend = np.concatenate([[0.0], np.exp(-gaps) / np.expm1(-gaps) ** 2, [0.0]])  # -a'(d) = -b'(d), by class
        done = 0
        waved = [curve.each(place, np.append(-limit, beta)) for limit, curve in zip(limits, self._curves, strict=True)]
        for pieces in zip(*waved, strict=True):
            some, rows = pieces[0][0], slice(done, done + len(pieces[0][1]))
            held, score = self._members[place][rows], np.zeros((len(pieces[0][1]), len(theta)))
            slopes = np.zeros((len(score), len(theta), len(theta)))
            score[:, :p] = self._risen[place][rows]
            for k, (_, curve, slope) in enumerate(pieces):
                score[:, :p] -= curve[:, 1:]
                score[:, p + k] = (a[k] - 1) * held[:, k] - (b[k] + 1) * held[:, k + 1] + curve[:, 0]
                slopes[:, :p, :p] += slope[:, 1:, 1:]
                slopes[:, :p, p + k] = -slope[:, 1:, 0]
                slopes[:, p + k, :p] = -slope[:, 0, 1:]
                slopes[:, p + k, p + k] = slope[:, 0, 0] + bend[k] * held[:, k] + bend[k + 1] * held[:, k + 1]
                if k:
                    slopes[:, p + k, p + k - 1] = slopes[:, p + k - 1, p + k] = -bend[k] * held[:, k]
            yield some, score, slopes
            done = rows.stop


def _told(part: Seen, columns: Sequence[Column]) -> Array:
    """What every record says of some columns, without bias."""
    return np.stack([told_of_column(part, column) for column in columns], axis=1)
