"""Conditional probabilities from estimated counts, each with its uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from sfumato.channels.linear import Array
from sfumato.errors import EstimationError
from sfumato.evidence.families import Family, Seen, each_axis
from sfumato.evidence.simplex import project
from sfumato.learn.bayesnet.ratio import Hinkley, delta_variance, fieller
from sfumato.schema import Schema

PRIORS = ("ml", "bdeu", "k2")


@dataclass(frozen=True, eq=False)
class CPT:
    r"""Pr(node | parents): a table with an axis per parent, the node's own axis last.

        ML:   θ_jk = N̂_jk / N̂_j                 MAP:  θ_jk = (α_jk + N̂_jk) / (α_j + N̂_j)

    ``values`` never leave the simplex; ``raw`` is the estimate as it came, which may. Where no record is estimated to
    hold a parent configuration, the row is uniform (or the prior's) and ``supported`` is False. Ma (2006) section 5.4.
    """

    node: str
    parents: tuple[str, ...]
    schema: Schema  # of the parents, then the node
    values: Array
    family: Family | None = None  # what it was estimated from; None for a table that was given
    alpha: float | None = None  # the prior weight of one cell

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    @cached_property
    def counts(self) -> Array:
        """N̂, unbiased, in the shape of the table."""
        return self._fitted().table

    @cached_property
    def raw(self) -> Array:
        """The estimate before it was brought into [0, 1]; NaN where nothing holds the parent configuration."""
        top, bottom = self.counts, self.counts.sum(-1, keepdims=True)
        alpha = self.alpha or 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(bottom > 0, (alpha + top) / (alpha * self.shape[-1] + bottom), np.nan)

    @cached_property
    def supported(self) -> Any:
        """Whether any record is estimated to hold each parent configuration."""
        return self.counts.sum(-1) > 0

    def moments(self, population: bool = True) -> tuple[Array, Array, Array, Array, Array]:
        """N̂_jk, N̂_j and their variances and covariance: (μ₁, μ₂, σ₁², σ₁₂, σ₂²), each in the table's shape."""
        m11, m12, m22 = self._second
        top = self.counts
        bottom = np.broadcast_to(top.sum(-1, keepdims=True), top.shape)
        if population:  # Cov(N̂) = A diag(Ñ) Aᵀ - N̂ N̂ᵀ / N
            n = self._fitted().n
            return top, bottom, m11 - top**2 / n, m12 - top * bottom / n, m22 - bottom**2 / n
        return top, bottom, m11 - top, m12 - top, m22 - bottom

    def sd(self, population: bool = True) -> Array:
        """The standard deviation of each probability, by the delta method."""
        top, bottom, v11, v12, v22 = self.moments(population)
        extra = (self.alpha or 0.0) * self.shape[-1]
        variance = delta_variance(top, bottom, v11, v12, v22)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(bottom > 0, np.sqrt(variance) * bottom / (bottom + extra), np.nan)

    def interval(self, level: float = 0.95, method: str = "score", population: bool = True) -> tuple[Array, Array]:
        """Limits that cover each probability, kept within [0, 1].

        "delta": estimate ± z sd. "fieller": Fieller's set, right also where the parent configuration is rare. "score":
        Fieller's set with the variance taken at the probability in question, right also for probabilities near 0 and
        1; it is Wilson's interval where nothing was randomized.
        """
        if not 0 < level < 1:
            raise EstimationError(f"level must lie in (0, 1), got {level} instead")
        if method == "delta":
            from scipy.special import ndtri

            half = float(ndtri((1 + level) / 2)) * self.sd(population)
            low, high = self.raw - half, self.raw + half
        elif method == "fieller":
            low, high = fieller(*self.moments(population), level)
        elif method == "score":
            low, high = self._score_limits(level, population)
        else:
            raise EstimationError(f"method must be delta, fieller or score, got {method!r} instead")
        low, high = np.nan_to_num(low, nan=0.0), np.nan_to_num(high, nan=1.0)
        return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)

    def density(self, cell: tuple[int, ...], population: bool = True) -> Hinkley:
        """The approximate distribution of one estimate, as a ratio of two normals."""
        m1, m2, v11, v12, v22 = (float(part[cell]) for part in self.moments(population))
        if min(v11, v22) <= 0:
            raise EstimationError("nothing was randomized here and the table is exact: the estimate has no spread")
        return Hinkley(m1, m2, v11**0.5, v22**0.5, v12 / (v11 * v22) ** 0.5)

    def frame(self, level: float = 0.95) -> Any:
        """A row per probability: the parents' values, the node's, the estimate, and its uncertainty where known."""
        import pyarrow as pa

        columns: dict[str, Any] = {}
        for (name, domain), codes in zip(self.schema.items(), np.indices(self.shape), strict=True):
            columns[name] = [str(domain.labels[code]) for code in codes.reshape(-1)]
        columns["probability"] = self.values.reshape(-1)
        if self.family is not None:
            low, high = self.interval(level)
            columns |= {"raw": self.raw.reshape(-1), "sd": self.sd().reshape(-1)}
            columns |= {"low": low.reshape(-1), "high": high.reshape(-1)}
            columns["supported"] = np.repeat(np.ravel(self.supported), self.shape[-1])
        return pa.table(columns)

    def _fitted(self) -> Family:
        if self.family is None:
            raise EstimationError(f"the probabilities of {self.node!r} were given, not estimated: they carry no counts")
        return self.family

    @cached_property
    def _second(self) -> tuple[Array, Array, Array]:
        """Entries of A diag(Ñ) Aᵀ: cell with cell, cell with configuration, configuration with configuration."""
        family = self._fitted()
        out = [np.zeros(self.shape) for _ in range(3)]
        for part in family.seen:
            for total, powers in zip(out, ((2, 0), (1, 1), (0, 2)), strict=True):
                total += _through(family, part, part.observed, powers)
        return out[0], out[1], out[2]

    def _score_limits(self, level: float, population: bool) -> tuple[Array, Array]:
        from scipy.special import ndtri

        z2 = float(ndtri((1 + level) / 2)) ** 2
        top, bottom = self.counts, np.broadcast_to(self.counts.sum(-1, keepdims=True), self.shape)
        at_value = self._variance_at(population)

        def outside(theta: Array) -> Array:
            return np.asarray((top - theta * bottom) ** 2 - z2 * np.maximum(at_value(theta), 1e-9))

        grid = np.linspace(0.0, 1.0, 65)
        accepted = np.stack([outside(np.full(self.shape, theta)) <= 0 for theta in grid])
        with np.errstate(invalid="ignore", divide="ignore"):
            guess = np.clip(np.nan_to_num(np.where(bottom > 0, top / bottom, 0.5), nan=0.5), 0.0, 1.0)
        some = accepted.any(0)
        first = np.where(some, grid[accepted.argmax(0)], guess)
        last = np.where(some, grid[len(grid) - 1 - accepted[::-1].argmax(0)], guess)
        inner = np.where(outside(guess) <= 0, guess, np.nan)
        first, last = np.fmin(first, inner), np.fmax(last, inner)
        low = _edge(outside, np.maximum(first - grid[1], 0.0), first)
        high = _edge(outside, np.minimum(last + grid[1], 1.0), last)
        return low, high

    def _variance_at(self, population: bool) -> Any:
        """Var(N̂_jk - θ N̂_j) as if the probability were θ and the other values of the node kept their proportions."""
        family = self._fitted()
        m11, m12, m22 = self._second
        k = self.shape[-1]
        counts = self.counts.reshape(-1, k)
        weight = np.maximum(counts.sum(1), 0.0)
        others = np.maximum(counts, 0.0)[:, None, :] * (1 - np.eye(k))[None]  # configuration, value, other value
        total = others.sum(2, keepdims=True)
        share = np.where(total > 0, others / np.maximum(total, 1e-300), (1 - np.eye(k))[None] / max(k - 1, 1))
        own = np.zeros((3, weight.size, k, k))
        for part in family.seen:
            own += part.observed.sum() / family.n * _own(family, part)

        def variance(theta: Array) -> Array:
            flat = theta.reshape(-1, k)[:, :, None]
            assumed = weight[:, None, None] * (flat * np.eye(k)[None] + (1 - flat) * share)
            slope = own[0] - 2 * flat * own[1] + flat**2 * own[2]
            moved = ((assumed - counts[:, None, :]) * slope).sum(2).reshape(self.shape)
            out = np.asarray(m11 - 2 * theta * m12 + theta**2 * m22 + moved)
            return out if population else out - theta * (1 - theta) * weight.reshape(*self.shape[:-1], 1)

        return variance


def fit_cpt(family: Family, schema: Schema, prior: str | float = "ml") -> CPT:
    """The table of the last named attribute given the others.

    ``prior`` is "ml" (none), "k2" (one record per cell), "bdeu" (ten records spread evenly over the table), or the
    number of records to spread.
    """
    *parents, node = family.names
    k = family.table.shape[-1]
    counts = family.table.reshape(-1, k)
    alpha = _alpha(prior, counts.size)
    values = np.full(counts.shape, 1.0 / k)
    for row, found in zip(values, counts, strict=True):
        total = float(found.sum())
        if total <= 0:
            continue  # nothing holds this configuration: uniform, as the prior would say
        possible = found if (found >= 0).all() else project(found, total)
        row[:] = (alpha + possible) / (alpha * k + total)
    names = (*parents, node)
    return CPT(node, tuple(parents), schema.select(names), values.reshape(family.table.shape), family, alpha)


def _alpha(prior: str | float, cells: int) -> float:
    if isinstance(prior, str):
        if prior not in PRIORS:
            raise EstimationError(f"prior must be one of {', '.join(PRIORS)} or a number of records, got {prior!r}")
        return {"ml": 0.0, "k2": 1.0, "bdeu": 10.0 / cells}[prior]
    if not prior >= 0:
        raise EstimationError(f"prior must be a number of records, 0 or more, got {prior} instead")
    return float(prior) / cells


def _edge(outside: Any, out: Array, inside: Array) -> Array:
    """The point between a refused and an accepted value where the one becomes the other."""
    refused = outside(out) > 0
    low, high = out.copy(), inside.copy()
    for _ in range(36):
        middle = (low + high) / 2
        ok = outside(middle) <= 0
        low, high = np.where(ok, low, middle), np.where(ok, middle, high)
    return np.where(refused, high, out)


def _through(family: Family, part: Seen, observed: Array, powers: tuple[int, int]) -> Array:
    """(A^p ∘ S^q) Ñ with S the rows of A summed over the node's values: products of entries factor over the blocks."""
    entries = [(A ** powers[0] * S ** powers[1]).reshape(-1, A.shape[-1]) for A, S in _rows(family, part)]
    out = each_axis(observed.reshape([block.released for block in part.blocks]), entries)
    sizes = [size for block in part.blocks for size in block.sizes]
    return np.asarray(out.reshape(sizes).transpose([part.axes.index(name) for name in family.names]))


def _rows(family: Family, part: Seen) -> list[tuple[Array, Array]]:
    """Of each block A and S, with an axis per attribute and the released cells last."""
    node = family.names[-1]
    out = []
    for block in part.blocks:
        A = block.A.reshape(*block.sizes, block.released)
        inside = node in block.names
        S = A.sum(axis=block.names.index(node), keepdims=True) if inside else A
        out.append((A, np.broadcast_to(S, A.shape)))
    return out


def _own(family: Family, part: Seen) -> Array:
    """Σ_y P[(j,k'), y] (A², A S, S²)[(j,k), y]: how much a record at (j, k') adds to the variances of (j, k)."""
    node = family.names[-1]
    k = family.table.shape[-1]
    pieces = []
    for power in ((2, 0), (1, 1), (0, 2)):
        out = np.ones((1,) * 0)
        axes: list[str] = []
        for block, (A, S) in zip(part.blocks, _rows(family, part), strict=True):
            P = block.P.reshape(*block.sizes, block.released)
            entries = A ** power[0] * S ** power[1]
            if node in block.names:
                at = block.names.index(node)
                mine, theirs = np.moveaxis(entries, at, 0), np.moveaxis(P, at, 0)
                factor = np.einsum("a...y,b...y->...ab", mine, theirs)
                names = [name for name in block.names if name != node]
            else:
                factor = (entries * P).sum(-1)[..., None, None]
                names = list(block.names)
            out = _outer(out, factor)
            axes += names
        if not axes:
            pieces.append(out.reshape(1, k, k))
            continue
        order = [axes.index(name) for name in family.names[:-1]]
        out = out.transpose([*order, len(axes), len(axes) + 1])
        pieces.append(out.reshape(prod(family.table.shape[:-1]), k, k))
    return np.stack(pieces)


def _outer(left: Array, right: Array) -> Array:
    """Parents' axes side by side; the two last axes (the node's value twice, or 1 by 1) multiply."""
    if not left.ndim:
        return right
    a, b = left.shape[:-2], right.shape[:-2]
    return left.reshape(*a, *(1 for _ in b), *left.shape[-2:]) * right
