"""Corrected scores of logistic regression for any number of covariates, without a table of them all.

The logistic curve is a sum of waves over all values that xᵀβ can take, and a wave of a sum is a product:

    F(t) ≈ ½ + Σ_k b_k sin(ω_k t),        exp(iω xᵀβ) = Π_blocks exp(iω x_bᵀβ_b)

A product over independent channels is estimated without bias by the product of unbiased estimates, one for each block
of attributes. So every released record tells x F(xᵀβ) and its derivative without bias, and no cell is ever listed. A
covariate without effect has the factor 1, whatever its channel: it costs the others nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.errors import EstimationError
from sfumato.evidence.seen import Seen
from sfumato.learn.regression.design_columns import Column
from sfumato.learn.regression.told_by_records import told

Waves = NDArray[np.complex128]

_CLUSTER_CELLS = 1 << 16  # the most cells of attributes that interactions tie together
_CHUNK = 4096  # records at a time
_EXACT = 1e-9  # how far the waves may be from the curve
_FARTHEST = 100.0  # of xᵀβ: a search that goes beyond has no solution, and would need ever more waves


def waves(reach: float) -> tuple[Array, Array]:
    """Frequencies and weights of the sines that make F - ½ on [-reach, reach].

    >>> frequencies, weights = waves(5.0)
    >>> t = np.linspace(-5, 5, 7)
    >>> bool(np.abs(0.5 + np.sin(np.outer(t, frequencies)) @ weights - 1 / (1 + np.exp(-t))).max() < 1e-8)
    True
    """
    count = int(4 * reach) + 16
    t = reach * np.sin(np.linspace(0, np.pi / 2, 8 * count))  # more points where the range ends
    while True:
        frequencies: Array = np.asarray(np.pi / (1.5 * reach) * np.arange(1, count + 1), dtype=np.float64)
        basis = np.sin(np.outer(t, frequencies))
        weights = np.linalg.lstsq(basis, np.tanh(t / 2) / 2, rcond=1e-13)[0]
        if float(np.abs(basis @ weights - np.tanh(t / 2) / 2).max()) < _EXACT or count > 500:
            return frequencies, np.asarray(weights, dtype=np.float64)
        count = int(1.4 * count)


class _Cluster:
    """Blocks of one part whose attributes stand in common columns."""

    def __init__(self, part: Seen, places: list[int], columns: Sequence[Column], answered: Column | None) -> None:
        self.places = places
        blocks = [part.blocks[i] for i in places]
        names = [name for block in blocks for name in block.names]
        sizes = dict(zip(part.axes, part.sizes, strict=True))
        cells = int(np.prod([sizes[name] for name in names]))
        if cells > _CLUSTER_CELLS:
            raise EstimationError(
                f"{', '.join(names)} are tied together by interactions or one channel, and have {cells:,} cells, more "
                f"than {_CLUSTER_CELLS:,}: leave some interactions out"
            )
        self.own = [j for j, column in enumerate(columns) if not set(column.names).isdisjoint(names)]
        self.X = np.stack([columns[j].over(names, sizes).reshape(-1) for j in self.own], axis=1) if self.own else None
        held = answered is not None and not set(answered.names).isdisjoint(names)
        self.base = answered.over(names, sizes).reshape(-1) if held and answered is not None else np.ones(cells)

    def position(self, beta: Array) -> Array:
        return np.zeros(len(self.base)) if self.X is None else np.asarray(self.X @ beta[self.own])

    def told(self, part: Seen, values: Waves) -> Waves:
        """Unbiased complex values, records by columns."""
        both = np.concatenate([values.real, values.imag], axis=1) * self.base[:, None]
        found = told(part, self.places, both)
        return np.asarray(found[:, : values.shape[1]] + 1j * found[:, values.shape[1] :])


class WaveScores:
    """Σ x F(xᵀβ) and its derivative, part by part."""

    def __init__(self, parts: Sequence[Seen], columns: Sequence[Column], answered: Column | None) -> None:
        self._columns = columns
        self._constant = [j for j, column in enumerate(columns) if not column.names]
        self.parts = [
            (
                list(_chunks(part)),
                [_Cluster(part, places, columns, answered) for places in _tied(part, columns, answered)],
            )
            for part in parts
        ]

    def possible(self, beta: Array) -> bool:
        """Whether waves reach as far as these coefficients do."""
        return all(self._reach(clusters, beta) <= _FARTHEST for _, clusters in self.parts)

    def each(self, place: int, beta: Array) -> Iterator[tuple[Seen, Array, Array]]:
        """Some records of one part at a time, with x F(xᵀβ) of each of them and its derivative."""
        chunks, clusters = self.parts[place]
        reach = max(self._reach(clusters, beta), 2.0) * 1.02
        frequencies, weights = waves(float(1.25 ** np.ceil(np.log(reach) / np.log(1.25))))  # so that it seldom changes
        start = sum(beta[j] * float(self._columns[j].table) for j in self._constant)
        shift = np.exp(1j * frequencies * start)
        for part in chunks:
            made = [self._factors(part, cluster, beta, frequencies) for cluster in clusters]
            plain = [factor for factor, _ in made]
            others = _products_without(plain, shift, len(part.counts))
            whole = others[0] * plain[0] if plain else np.tile(shift, (len(part.counts), 1))
            ratio = np.ones((len(beta), *whole.shape), dtype=np.complex128)
            own = np.empty((len(part.counts), len(beta)))
            for j in self._constant:
                ratio[j] = float(self._columns[j].table)
                own[:, j] = self._curve(whole, weights, told_answered(part, clusters)) * float(self._columns[j].table)
            for cluster, (factor, moments), rest in zip(clusters, made, others, strict=True):
                for at, j in enumerate(cluster.own):
                    half = self._halved(part, clusters, cluster, at)
                    own[:, j] = self._curve(rest * moments[at], weights, half)
                    ratio[j] = moments[at] / np.where(np.abs(factor) < 1e-9, 1e-9, factor)
            yield part, own, self._slopes(part, clusters, others, whole, ratio, frequencies, weights, beta)

    def _factors(self, part: Seen, cluster: _Cluster, beta: Array, frequencies: Array) -> tuple[Waves, list[Waves]]:
        wave = np.exp(1j * np.outer(cluster.position(beta), frequencies))
        moments = [] if cluster.X is None else [cluster.told(part, x[:, None] * wave) for x in cluster.X.T]
        return cluster.told(part, wave), moments

    def _halved(self, part: Seen, clusters: list[_Cluster], cluster: _Cluster, at: int) -> Array:
        """Unbiased x of a column, times whether there is a response."""
        if cluster.X is None:
            return np.ones(len(part.counts))
        own = cluster.told(part, cluster.X[:, at : at + 1].astype(np.complex128))[:, 0].real
        return np.asarray(own * told_answered(part, [one for one in clusters if one is not cluster]))

    @staticmethod
    def _curve(waved: Waves, weights: Array, half: Array) -> Array:
        return np.asarray(0.5 * half + waved.imag @ weights)

    def _slopes(
        self,
        part: Seen,
        clusters: list[_Cluster],
        others: list[Waves],
        whole: Waves,
        ratio: Waves,
        frequencies: Array,
        weights: Array,
        beta: Array,
    ) -> Array:
        """x xᵀ F'(xᵀβ) of every record: columns of different clusters by products, those of one by its own cells."""
        tilted = weights * frequencies
        by_record = ratio.transpose(1, 0, 2)
        out = np.matmul(by_record * (whole * tilted)[:, None, :], by_record.transpose(0, 2, 1)).real
        for cluster, rest in zip(clusters, others, strict=True):
            if cluster.X is None:
                continue
            wave = np.exp(1j * np.outer(cluster.position(beta), frequencies))
            for a, i in enumerate(cluster.own):
                for b, j in enumerate(cluster.own[: a + 1]):
                    both = cluster.told(part, (cluster.X[:, a] * cluster.X[:, b])[:, None] * wave)
                    out[:, i, j] = out[:, j, i] = (rest * both).real @ tilted
        return np.asarray(out)

    def _reach(self, clusters: list[_Cluster], beta: Array) -> float:
        """The largest |xᵀβ| that any values can have."""
        constant = sum(abs(beta[j] * float(self._columns[j].table)) for j in self._constant)
        return float(constant + sum(float(np.abs(cluster.position(beta)).max()) for cluster in clusters))


def told_answered(part: Seen, clusters: Sequence[_Cluster]) -> Array:
    """Whether there is a response, without bias: 1 where all give one."""
    out = np.ones(len(part.counts))
    for cluster in clusters:
        if not (cluster.base == 1).all():
            out = out * told(part, cluster.places, cluster.base[:, None])[:, 0]
    return out


def _products_without(factors: list[Waves], shift: Waves, rows: int) -> list[Waves]:
    """The product of all factors but one, for each of them."""
    before = [np.tile(shift, (rows, 1))]
    for factor in factors[:-1]:
        before.append(before[-1] * factor)
    out, after = [], np.ones((rows, len(shift)), dtype=np.complex128)
    for factor, left in zip(reversed(factors), reversed(before), strict=False):
        out.append(left * after)
        after = after * factor
    return out[::-1]


def _tied(part: Seen, columns: Sequence[Column], answered: Column | None) -> list[list[int]]:
    """The blocks that columns look at, those of a common column together."""
    groups: list[set[int]] = []
    for column in [*columns, *([answered] if answered is not None else [])]:
        held = {i for i, block in enumerate(part.blocks) if not set(block.names).isdisjoint(column.names)}
        if held:
            met = [group for group in groups if group & held]
            groups = [group for group in groups if not group & held]
            groups.append(held.union(*met))
    return [sorted(group) for group in groups]


def _chunks(part: Seen) -> Iterator[Seen]:
    for begin in range(0, len(part.counts), _CHUNK):
        rows = slice(begin, begin + _CHUNK)
        codes = {name: np.asarray(column)[rows] for name, column in (part.codes or {}).items()}
        yield replace(part, counts=part.counts[rows], codes=codes)
