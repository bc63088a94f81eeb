"""What was observed: released counts and the maps that made them, for every scheme of a release, on common axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike

from sfumato.channels.linear import Array, Kronecker
from sfumato.errors import EstimationError
from sfumato.evidence.counting import counts, sparse_counts
from sfumato.evidence.model.condense import condense
from sfumato.evidence.view import View, view
from sfumato.release import Part, Release
from sfumato.schema import Schema

#: The most cells of the released table that the model looks at; finer outputs are merged first.
RELEASED_CELLS = 1 << 20


@dataclass(frozen=True, eq=False)
class Channelled:
    """The released counts of one scheme, and Pᵀ and P on the model's axes."""

    transition: Kronecker
    counts: Array
    order: tuple[int, ...]  # the model's axes in the order of the transition's
    sizes: tuple[int, ...]  # of the model's axes

    def forward(self, theta: Array) -> Array:
        """Pᵀθ."""
        return self.transition.T.apply(self._in(theta))

    def backward(self, weights: Array) -> Array:
        """P w."""
        return self._out(self.transition.apply(weights))

    def log_released(self, theta: Array, target: int | None = None) -> Array:
        """log Pr(released cell); for a target with a column of its own, of that column given the others."""
        q = np.maximum(self.forward(theta), 1e-300)
        place = None if target is None else self._factor_of(target)
        if place is None:
            return np.log(q)
        table = q.reshape([factor.cols for factor in self.transition.factors])
        return np.asarray(np.log(table / table.sum(axis=place, keepdims=True)).reshape(-1))

    def _factor_of(self, axis: int) -> int | None:
        """The factor that treats one attribute alone, if there is one."""
        at = 0
        for place, factor in enumerate(self.transition.factors):
            held: list[int] = []
            rows = 1
            while rows < factor.rows or not held:
                held.append(self.order[at])
                rows *= self.sizes[self.order[at]]
                at += 1
            if held == [axis]:
                return place
        return None

    def holding(self, counts: ArrayLike) -> Channelled:
        """The same maps over other released counts."""
        return replace(self, counts=np.asarray(counts, dtype=np.float64))

    def _in(self, flat: Array) -> Array:
        if self.order == tuple(range(len(self.sizes))):
            return flat
        return flat.reshape(self.sizes).transpose(self.order).reshape(-1)

    def _out(self, flat: Array) -> Array:
        if self.order == tuple(range(len(self.sizes))):
            return flat
        moved = flat.reshape([self.sizes[axis] for axis in self.order])
        return np.ascontiguousarray(moved.transpose(np.argsort(self.order))).reshape(-1)


@dataclass(frozen=True, eq=False)
class Observed:
    """All that the likelihood needs."""

    sizes: tuple[int, ...]
    parts: tuple[Channelled, ...]

    @property
    def total(self) -> float:
        return float(sum(part.counts.sum() for part in self.parts))

    def evaluate(self, theta: Array) -> tuple[float, Array]:
        """The log-likelihood, and P(Ñ / Pᵀθ) / N, whose product with θ is the posterior table."""
        likelihood, ratio = 0.0, np.zeros_like(theta)
        for part in self.parts:
            q = np.maximum(part.forward(theta), 1e-300)
            seen = part.counts > 0
            likelihood += float(part.counts[seen] @ np.log(q[seen]))
            ratio += part.backward(np.divide(part.counts, q, out=np.zeros_like(q), where=seen))
        return likelihood, ratio / self.total

    def log_likelihood(self, theta: Array) -> float:
        """Σ Ñ log Pᵀθ."""
        return self.evaluate(theta)[0]

    def margins(self) -> list[Array]:
        """Corrected shares of every attribute, by a few steps of EM on each one's own table."""
        out = [np.zeros(size) for size in self.sizes]
        theta = np.full(prod(self.sizes), 1.0 / prod(self.sizes))
        for _ in range(6):
            theta = theta * self.evaluate(theta)[1]
            theta /= theta.sum()
        table = theta.reshape(self.sizes)
        for axis in range(len(self.sizes)):
            out[axis] = table.sum(axis=tuple(i for i in range(len(self.sizes)) if i != axis))
        return out

    def folds(self, count: int, rng: np.random.Generator | None = None) -> list[Observed]:
        """The records cut at random into equal parts; without rng their own counts seed the draw, once and for all."""
        drawn = rng if rng is not None else np.random.default_rng([crc32(part.counts.tobytes()) for part in self.parts])
        cut = [drawn.multinomial(part.counts.astype(np.int64), [1.0 / count] * count) for part in self.parts]
        return [
            Observed(self.sizes, tuple(part.holding(own[:, i]) for part, own in zip(self.parts, cut, strict=True)))
            for i in range(count)
        ]

    @staticmethod
    def together(several: Sequence[Observed]) -> Observed:
        """The records of several cuts of the same release."""
        parts = zip(*(one.parts for one in several), strict=True)
        return Observed(
            several[0].sizes, tuple(same[0].holding(np.sum([one.counts for one in same], axis=0)) for same in parts)
        )


def observe(release: Release, names: Sequence[str]) -> Observed:
    """Count the release for a joint model of the named attributes."""
    schema = release.schema
    found: dict[str, Channelled] = {}
    for part in release.parts:
        key = part.scheme.fingerprint
        one = _channelled(part, list(names), schema)
        if key in found:
            one = one.holding(one.counts + found[key].counts)
        found[key] = one
    parts = tuple(part for part in found.values() if part.counts.sum() > 0)
    if not parts:
        raise EstimationError("the release holds no rows: there is nothing to fit")
    return Observed(schema.sizes(names), parts)


def _channelled(part: Part, names: list[str], schema: Schema) -> Channelled:
    shown = view(part.scheme, names)
    transition, released = _table(part, shown)
    if transition.rows != prod(schema.sizes(names)):
        raise EstimationError(
            f"{', '.join(names)} are randomized together with others: the model must cover whole groups"
        )
    return Channelled(transition, released, tuple(names.index(name) for name in shown.axes), schema.sizes(names))


def _table(part: Part, shown: View) -> tuple[Kronecker, Array]:
    cells = prod(prod(outputs) for outputs in shown.outputs)
    if cells <= RELEASED_CELLS:
        return shown.transition, counts(part, shown.columns).astype(np.float64)
    return condense(shown, sparse_counts(part, shown.columns), RELEASED_CELLS)
