r"""What unbiased counts say of the weights of a logistic classifier where its cells are too many to list.

    w - w* ≈ H⁻¹ Σ_z Ñ_z ψ_z,        ψ_z = Σ_cells A[cell, z] (1[class] - p̃(x)) ⊗ x,        p̃(x) = α + Σ β x

p̃ is the sum over attributes that is nearest to Pr(class | x) among the cells that the classifier was fitted to, so that
there the score of p̃ is that of the classifier. Then ψ is a sum over pairs of attributes, and what a record says of a
pair is a product over the blocks of its scheme: no cell is ever listed, and the noise is that of pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence.seen import Seen
from sfumato.learn.regression.told_by_records import told

_CHUNK = 1 << 14  # records at a time


@dataclass(frozen=True, eq=False)
class PairScores:
    """Scores as a function of pairs of attributes.

    ``tables`` holds what the codes of each attribute are worth, centred and scaled, a column per feature; ``slopes``
    the β of each attribute, a row per feature and a column per class; ``level`` is α.
    """

    target: str
    tables: dict[str, Array]
    slopes: dict[str, Array]
    level: Array

    @classmethod
    def about(cls, target: str, tables: dict[str, Array], shares: Array) -> PairScores:
        """Of shares that are linear in the features: a row per feature, and one of α."""
        ends = np.cumsum([0, *(table.shape[1] for table in tables.values())])
        slopes = {name: shares[ends[at] : ends[at + 1]] for at, name in enumerate(tables)}
        return cls(target, tables, slopes, shares[-1])

    def sums(self, parts: Sequence[Seen]) -> tuple[Array, Array]:
        """Σ Ñ ψ and its covariance; after ψ, a row per feature and one of ones, stand the squares of the features."""
        width = sum(table.shape[1] for table in self.tables.values())
        size = (width + 1) * len(self.level) + width
        total, second, n = np.zeros(size), np.zeros((size, size)), 0.0
        for part in parts:
            for some in _chunks(part):
                found = self._told(some)
                total += some.counts @ found
                second += (found * some.counts[:, None]).T @ found
            n += part.total
        return total, second - np.outer(total, total) / n

    def _told(self, part: Seen) -> Array:
        """ψ and squares of every listed record."""
        rows, classes = len(part.counts), len(self.level)
        plain, missed, crossed, squares = {}, {}, {}, {}
        for place, block in enumerate(part.blocks):
            codes = np.indices(block.sizes).reshape(len(block.sizes), -1)
            own = {
                name: self.tables[name][code]
                for name, code in zip(block.names, codes, strict=True)
                if name in self.tables
            }
            miss = -sum((x @ self.slopes[name] for name, x in own.items()), np.zeros((codes.shape[1], classes)))
            for name, code in zip(block.names, codes, strict=True):
                if name == self.target:
                    miss = miss + np.eye(classes)[code]
            missed[place] = told(part, [place], miss)
            for name, x in own.items():
                plain[name] = told(part, [place], x)
                both = (x[:, :, None] * miss[:, None, :]).reshape(len(x), -1)
                inside = told(part, [place], both).reshape(rows, -1, classes)
                crossed[name] = inside - plain[name][:, :, None] * missed[place][:, None, :]
                squares[name] = told(part, [place], x**2)
        whole = sum(missed.values()) - self.level
        score = [plain[name][:, :, None] * whole[:, None, :] + crossed[name] for name in self.tables]
        both = np.concatenate([*score, whole[:, None, :]], axis=1).transpose(0, 2, 1)
        return np.concatenate([both.reshape(rows, -1), *(squares[name] for name in self.tables)], axis=1)


def _chunks(part: Seen) -> Iterator[Seen]:
    for begin in range(0, len(part.counts), _CHUNK):
        rows = slice(begin, begin + _CHUNK)
        codes = {name: np.asarray(column)[rows] for name, column in (part.codes or {}).items()}
        yield replace(part, counts=part.counts[rows], codes=codes)
