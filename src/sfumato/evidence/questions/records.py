r"""Sums over records one by one: where numbers carry additive noise, or records carry weights of their own.

Of z = x + noise with moments m_j = E[noise^j] the score of a power of x is

    x^p:  Σ_j C(p, j) c_j z^{p-j},        c_0 = 1,        c_n = - Σ_{j<n} C(n, j) c_j m_{n-j}

With mean 0, no skew and variance m₂: z for x, z² - m₂ for x², z³ - 3 m₂ z for x³.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, isfinite
from typing import cast

import numpy as np

from sfumato.arrays import Array
from sfumato.channels.base import Channel
from sfumato.channels.codes import join_codes
from sfumato.channels.noise import Noise
from sfumato.errors import EstimationError
from sfumato.evidence.asked_parts import asking
from sfumato.evidence.blocks import blocks
from sfumato.evidence.protocol import Evidence
from sfumato.evidence.questions.cell_scores import block_scores
from sfumato.evidence.questions.part_sums import PartSums
from sfumato.evidence.questions.statistics import MOST, Statistic, product
from sfumato.evidence.seen import columns
from sfumato.released.part import Part
from sfumato.schema import Numeric

_BLOCK = 1 << 16
_ALL = slice(None)


class RecordScores:
    """The released records of one part, and what they say without bias of any statistic of some attributes."""

    def __init__(self, part: Part, names: Sequence[str]) -> None:
        self.scheme = part.scheme
        self._noises = {name: part.scheme.noises[name] for name in names if name in part.scheme.noises}
        coded = tuple(name for name in names if name not in self._noises)
        self._blocks = blocks(part.scheme, coded, inverted=False) if coded else ()
        table = part.arrow()
        self.rows = table.num_rows
        held = {column: table.column(column).to_numpy() for column in (*columns(self._blocks), *self._noises)}
        self._codes = [join_codes([held[c] for c in block.columns], block.outputs) for block in self._blocks]
        self._numbers = {name: held[name] for name in self._noises}
        self._known: dict[tuple[int, bytes], Array] = {}
        self._below: dict[tuple[int, bytes], Array] = {}

    @property
    def total(self) -> float:
        """The number of records."""
        return float(self.rows)

    def score(self, one: Statistic, rows: slice = _ALL, lower: bool = False) -> Array:
        """The score of each record; ``lower`` as in ``block_scores``.

        A power of a number that has no noise in this part is one of the middle of its bin.
        """
        powers = {name: p for name, p in one.items() if isinstance(p, int) and name not in self._noises}
        one = one | {name: cast(Numeric, self.scheme.schema[name]).midpoints ** p for name, p in powers.items()}
        out = np.ones(len(range(*rows.indices(self.rows))))
        found = block_scores(self._blocks, one, self._below if lower else self._known, lower)
        for own, released in zip(found, self._codes, strict=True):
            out *= own[released[rows]]
        for name, values in self._numbers.items():
            out *= power_scores(self._noises[name], values[rows], int(one.get(name, 0)))
        return out


def record_scores(ev: Evidence, names: Sequence[str]) -> list[RecordScores]:
    """The records of every part that was asked about these attributes."""
    return [RecordScores(part, names) for part in asking(ev.release, names) if len(part)]


def record_part(rows: Part, statistics: Sequence[Statistic], weights: Array | None) -> PartSums:
    """The statistics from the released records of one part; each record counts as its weight says."""
    held = RecordScores(rows, list(dict.fromkeys(name for one in statistics for name in one)))
    k = len(statistics)
    products = [(i, j, product(statistics[i], statistics[j])) for i in range(k) for j in range(i, k)]
    total, second, own = np.zeros(k), np.zeros((k, k)), np.zeros((k, k))
    step = max(1, min(_BLOCK, MOST // max(k, 1)))
    for start in range(0, held.rows, step):
        cut = slice(start, start + step)
        G = np.stack([held.score(one, cut) for one in statistics])
        weight = np.ones(G.shape[1]) if weights is None else weights[cut]
        G = G * weight
        total += G.sum(axis=1)
        second += G @ G.T
        for i, j, both in products:
            if both is None:
                continue
            try:
                own[i, j] += float(held.score(both, cut) @ weight**2)
            except EstimationError:  # squares under a channel for means: the nearest sum below
                own[i, j] += float(held.score(both, cut, lower=True) @ weight**2)
    own = np.triu(own) + np.triu(own, 1).T
    return PartSums(held.total, total, second, own)


def power_scores(noise: Channel, z: Array, power: int) -> Array:
    """The score of a power of the true number, whatever the mean and the skew of the noise.

    >>> from sfumato.channels import gaussian
    >>> power_scores(gaussian(2), np.array([1.0, 3.0]), 2)
    array([-3.,  5.])
    """
    if power == 0:
        return np.ones_like(z)
    if not noise.continuous:
        raise EstimationError("only additive noise has powers")
    moments = [1.0, *(cast(Noise, noise).moment(j) for j in range(1, power + 1))]
    if not all(map(isfinite, moments)):
        raise EstimationError(f"the noise {noise} has no finite moment of order {power}, which this question needs")
    weights = [1.0]
    for n in range(1, power + 1):
        weights.append(-sum(comb(n, j) * weights[j] * moments[n - j] for j in range(n)))
    return np.asarray(np.polyval([comb(power, j) * weight for j, weight in enumerate(weights)], z))
