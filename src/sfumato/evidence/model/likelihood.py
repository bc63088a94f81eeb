"""The likelihood of a distribution of true records: released counts of every scheme, through their channels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.errors import NoRowsError
from sfumato.evidence.blocks import blocks
from sfumato.evidence.counting import counter
from sfumato.evidence.model.design_matrix import DesignMatrix, Term
from sfumato.evidence.model.merge_outputs import condense
from sfumato.evidence.seen import Seen, columns, seen_records
from sfumato.release import Release
from sfumato.released.part import Part
from sfumato.scheme import Scheme

#: The most cells of the released table that the model looks at; finer outputs are merged first.
RELEASED_CELLS = 1 << 20


@lru_cache(maxsize=8)
def margins_design(sizes: tuple[int, ...], terms: tuple[Term, ...]) -> DesignMatrix:
    """The margins that some terms need; cuts of the same records share it."""
    return DesignMatrix(sizes, terms)


@dataclass(frozen=True, eq=False)
class Likelihood:
    """All that the likelihood needs."""

    parts: tuple[Seen, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Of the modelled attributes."""
        return self.parts[0].shape

    @cached_property
    def total(self) -> float:
        return float(sum(part.total for part in self.parts))

    @cached_property
    def of_forms(self) -> bool:
        """Whether some records were not asked about all attributes."""
        return any(part.silent for part in self.parts)

    @cached_property
    def _margins(self) -> tuple[DesignMatrix, list[slice]]:
        """What forms look at: the margins of what each asks, all from one product, and where each part finds its own.

        Parts that were asked everything need none.
        """
        terms = [tuple(i for i in range(len(self.sizes)) if i not in part.silent) for part in self.parts]
        known = tuple(dict.fromkeys(term for term in terms if len(term) < len(self.sizes)))
        ends = np.cumsum([prod(self.sizes[i] for i in term) for term in known]).tolist()
        own = dict(zip(known, map(slice, [0, *ends], ends), strict=False))
        return margins_design(self.sizes, known), [own.get(term, slice(0)) for term in terms]

    @cached_property
    def _held(self) -> list[tuple[NDArray[np.int64], Array]]:
        """Of each part the released cells that hold records, and how many: a few of very many."""
        held = [np.flatnonzero(part.counts > 0) for part in self.parts]
        return [(cells, part.counts[cells]) for cells, part in zip(held, self.parts, strict=True)]

    def evaluate(self, theta: Array) -> tuple[float, Array]:
        """The log-likelihood, and P(Ñ / Pᵀθ) / N, whose product with θ is the posterior table."""
        likelihood, ratio = 0.0, np.zeros_like(theta)
        if self.of_forms:
            design, places = self._margins
            margins, weights = design.margins(theta), np.zeros(design.parameters)
        for place, part in enumerate(self.parts):
            silent = bool(part.silent)
            one = part.without_silent if silent else part
            cells, counts = self._held[place]
            q = np.maximum(one.forward(margins[places[place]] if silent else theta)[cells], 1e-300)
            likelihood += float(counts @ np.log(q))
            rest = np.zeros(part.counts.size)
            rest[cells] = counts / q
            told = one.backward(rest)
            if silent:
                weights[places[place]] += told
            else:
                ratio += told
        if self.of_forms:
            ratio += design.log_theta(weights)
        return likelihood, ratio / self.total

    def log_likelihood(self, theta: Array) -> float:
        """Σ Ñ log Pᵀθ."""
        return self.evaluate(theta)[0]

    def margins(self) -> list[Array]:
        """Corrected shares of every attribute, by a few steps of EM on the whole table."""
        theta = np.full(prod(self.sizes), 1.0 / prod(self.sizes))
        for _ in range(6):
            theta = theta * self.evaluate(theta)[1]
            theta /= theta.sum()
        table, axes = theta.reshape(self.sizes), range(len(self.sizes))
        return [table.sum(axis=tuple(i for i in axes if i != axis)) for axis in axes]

    def folds(self, count: int, rng: np.random.Generator | None = None) -> list[Likelihood]:
        """The records cut at random into equal parts; without rng their own counts seed the draw, once and for all."""
        drawn = rng if rng is not None else np.random.default_rng([crc32(part.counts.tobytes()) for part in self.parts])
        cut = [drawn.multinomial(part.counts.astype(np.int64), [1.0 / count] * count) for part in self.parts]
        return [
            Likelihood(tuple(part.holding(own[:, i]) for part, own in zip(self.parts, cut, strict=True)))
            for i in range(count)
        ]

    @staticmethod
    def together(several: Sequence[Likelihood]) -> Likelihood:
        """The records of several cuts of the same release."""
        parts = zip(*(one.parts for one in several), strict=True)
        return Likelihood(tuple(same[0].holding(np.sum([one.counts for one in same], axis=0)) for same in parts))


def log_released(part: Seen, theta: Array, target: int | None = None) -> Array:
    """log Pr(released cell); for a target with a block of its own, of its released value given the others."""
    q = np.maximum(part.forward(theta), 1e-300)
    alone = [] if target is None else [block.names == (part.names[target],) for block in part.blocks]
    if not any(alone):
        return np.log(q)
    table = q.reshape(part.released)
    return np.asarray(np.log(table / table.sum(axis=alone.index(True), keepdims=True)).reshape(-1))


def likelihood(release: Release, names: Sequence[str]) -> Likelihood:
    """Count the release for a joint model of the named attributes.

    Of attributes that are randomized together with others it sees the mean channel over the others' values. A question
    that a part did not ask is a channel with one output.
    """
    found: dict[Scheme, Seen] = {}
    sizes = release.schema.sizes(names)
    for part in release.parts:
        asked = tuple(name for name in names if name in part.scheme.schema)
        if not asked:
            continue
        one = _counted(part, asked).widened(names, sizes)
        found[part.scheme] = one.holding(one.counts + found[part.scheme].counts) if part.scheme in found else one
    parts = tuple(part for part in found.values() if part.counts.any())
    if not parts:
        raise NoRowsError
    return Likelihood(parts)


def _counted(part: Part, names: tuple[str, ...]) -> Seen:
    shown = blocks(part.scheme, names)
    if prod(block.released for block in shown) > RELEASED_CELLS:
        return condense(seen_records(part, names), RELEASED_CELLS)
    return Seen(names, shown, counter(part).counts(columns(shown)), scheme=part.scheme)


def likelihood_of_records(found: Seen) -> Likelihood:
    """The likelihood of listed records."""
    large = prod(found.released) > RELEASED_CELLS
    return Likelihood((condense(found, RELEASED_CELLS) if large else found.dense(),))
