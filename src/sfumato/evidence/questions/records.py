r"""Sums over records one by one: where numbers carry additive noise, or records carry weights of their own.

Of z = x + noise with mean 0 and moments μ₂, μ₄, and no skew, the scores of the powers of x are

    x: z      x²: z² - μ₂      x³: z³ - 3 μ₂ z      x⁴: z⁴ - 6 μ₂ z² + 6 μ₂² - μ₄
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from sfumato.arrays import Array
from sfumato.channels.additive import Gaussian, Laplace, Uniform
from sfumato.channels.base import Channel
from sfumato.channels.codes import join_codes
from sfumato.channels.noise import Noise
from sfumato.errors import EstimationError
from sfumato.evidence.blocks import blocks
from sfumato.evidence.protocol import Evidence
from sfumato.evidence.questions.statistics import PartSums, Statistic, block_scores, product
from sfumato.evidence.seen import asking, columns
from sfumato.released.part import Part

_BLOCK = 1 << 16
_ALL = slice(None)
#: μ₄ / μ₂² of each noise.
_KURTOSIS = {Uniform: 1.8, Gaussian: 3.0, Laplace: 6.0}


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
        """The score of each record; ``lower`` as in ``block_scores``."""
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
    for start in range(0, held.rows, _BLOCK):
        cut = slice(start, start + _BLOCK)
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
    """The score of a power of the true number."""
    if power == 0:
        return np.ones_like(z)
    if power == 1:
        return z
    if not noise.continuous:
        raise EstimationError("only additive noise has powers")
    m2 = cast(Noise, noise).sd ** 2
    if power == 2:
        return np.asarray(z**2 - m2)
    kurtosis = next((value for kind, value in _KURTOSIS.items() if isinstance(noise, kind)), None)
    if kurtosis is None:
        raise EstimationError(f"the fourth moment of {noise} is not known")
    if power == 3:
        return np.asarray(z**3 - 3 * m2 * z)
    return np.asarray(z**4 - 6 * m2 * z**2 + (6 - kurtosis) * m2**2)
