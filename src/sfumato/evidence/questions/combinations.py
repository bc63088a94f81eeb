r"""Differences, ratios and weighted sums of estimates, with the covariance between them.

A weighted sum w·v has the variance wᵀ Cov w. Of counts its limits are the normal ones. Of means, shares and quantiles,
whose own limits l, u need not be symmetric, they follow by recovering the variances (MOVER; Zou and Donner 2008):

    low = w·v - sqrt(dᵀ R d),   d_i = w_i (v_i - l_i) if w_i > 0 else w_i (v_i - u_i),   R the correlations

A ratio has Fieller's limits, see ``forms``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.arrays import Array
from sfumato.errors import EstimationError
from sfumato.evidence.questions.forms import ratio_limits
from sfumato.evidence.questions.rows import Rows
from sfumato.printable import label_text, printed_as

LEVEL95 = 1.959963984540054


@dataclass(frozen=True, eq=False, repr=False)
class Combination(Rows):
    """Weighted sums of the answers of a source, or (with ``below``) one sum over another."""

    source: Any
    weights: Array  # a row for each sum
    what: str
    names: dict[str, list[Any]]
    below: Array | None = None

    @property
    def n(self) -> float:
        return float(self.source.n)

    @property
    def of_population(self) -> bool:  # type: ignore[override]
        return bool(self.source.of_population)

    @property
    def keys(self) -> dict[str, list[Any]]:
        return self.names

    @property
    def title(self) -> str:
        return self.what

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(getattr(self.source, "notes", ()))

    def population(self) -> Combination:
        """The same of the distribution behind the table."""
        return replace(self, source=self.source.population())

    @cached_property
    def value(self) -> Array:
        found = _times(self.weights, self._centre)
        if self.below is not None:
            bottom = _times(self.below, self._centre)
            found = np.divide(found, bottom, out=np.full(len(found), np.nan), where=bottom != 0)
        return found if self.plain is self else np.clip(found, *self.plain.limits(LEVEL95))

    @cached_property
    def cov(self) -> Array:
        rows = self.weights
        if self.below is not None:
            bottom = _times(self.below, self._centre)[:, None]
            safe = np.where(bottom == 0, np.nan, bottom)
            rows = (self.weights - self.value[:, None] * self.below) / safe
        unknown = np.isnan(np.diag(self.source.cov))
        lost = np.isnan(rows).any(axis=1) | ((rows != 0) & unknown).any(axis=1)
        out = np.nan_to_num(rows) @ np.nan_to_num(self.source.cov) @ np.nan_to_num(rows).T
        out[lost], out[:, lost] = np.nan, np.nan
        return np.asarray(out)

    @property
    def plain(self) -> Combination:
        """The same of the unbiased answers: see ``Answer.closer``."""
        source = getattr(self.source, "plain", self.source)
        return self if source is self.source else replace(self, source=source)

    def limits(self, z: float) -> tuple[Array, Array]:
        if self.plain is not self:
            first, last = self.plain.limits(z)
            value = np.where(np.isnan(self.value), first, self.value)
            return np.minimum(first, value), np.maximum(last, value)
        if self.below is not None:
            return self._ratio_limits(z)
        if not isinstance(self.source, Rows):
            reach = z * self.sd
            return self.value - reach, self.value + reach
        first, last = self.source.limits(z)
        centre = self._centre
        sd = self.source.sd
        told = sd > 0
        R = np.divide(self.source.cov, np.outer(sd, sd), out=np.zeros((len(sd),) * 2), where=np.outer(told, told))
        R[np.isnan(R)] = 0.0
        np.fill_diagonal(R, 1.0)
        down, up = centre - first, last - centre
        low, high = [], []
        for w, value in zip(self.weights, self.value, strict=True):
            if np.isnan(value):
                added, taken = w.clip(min=0)[None], w.clip(max=0)[None]
                low.append(float(_times(added, first)[0] + _times(taken, last)[0]))
                high.append(float(_times(added, last)[0] + _times(taken, first)[0]))
                continue
            below = np.where(w == 0, 0.0, np.where(w > 0, w * np.nan_to_num(down), w * np.nan_to_num(up)))
            above = np.where(w == 0, 0.0, np.where(w > 0, w * np.nan_to_num(up), w * np.nan_to_num(down)))
            low.append(value - np.sqrt(max(float(below @ R @ below), 0.0)))
            high.append(value + np.sqrt(max(float(above @ R @ above), 0.0)))
        return np.array(low), np.array(high)

    def _ratio_limits(self, z: float) -> tuple[Array, Array]:
        below = np.zeros_like(self.weights) if self.below is None else self.below
        top, bottom = _times(self.weights, self._centre), _times(below, self._centre)
        sign = np.where(bottom < 0, -1.0, 1.0)
        cov = np.nan_to_num(self.source.cov)
        pairs = [(self.weights, self.weights), (self.weights, below), (below, below)]
        v = [np.einsum("ri,ij,rj->r", a, cov, b) for a, b in pairs]
        nothing = np.isnan(top) | np.isnan(bottom)
        top, bottom = np.where(nothing, 0.0, top * sign), np.where(nothing, 0.0, bottom * sign)
        ends = np.full(len(top), np.inf)
        least = np.zeros(len(top)) if self._never_negative else -ends
        return ratio_limits(top, bottom, v[0], v[1], v[2], z, least, ends)

    @property
    def _never_negative(self) -> bool:
        floor = getattr(self.source, "floor", None)
        return floor is not None and bool((np.asarray(floor) >= 0).all())

    @property
    def _centre(self) -> Array:
        """What the covariance belongs to: unbiased counts, also where the shown ones were moved to possible ones."""
        moved = getattr(self.source, "method", None) in ("project", "mle")
        return np.asarray(self.source.unbiased if moved else self.source.value)

    def linear(self, weights: ArrayLike | Mapping[Any, float]) -> Combination:
        return linear(self, weights)

    def contrast(self, a: Any, b: Any) -> Combination:
        return contrast(self, a, b)

    def ratio(self, a: Any, b: Any) -> Combination:
        return ratio(self, a, b)


def contrast(source: Any, a: Any, b: Any) -> Combination:
    """a - b. Where several rows belong to each, such as several quantiles of a group, one difference for each."""
    W, V, keys = _paired(source, a, b)
    return Combination(source, W - V, f"difference {_words(a)} - {_words(b)}: {_asked(source)}", keys)


def ratio(source: Any, a: Any, b: Any) -> Combination:
    """a / b, with Fieller's limits: everything is possible where b may be 0."""
    W, V, keys = _paired(source, a, b)
    return Combination(source, W, f"ratio {_words(a)} / {_words(b)}: {_asked(source)}", keys, below=V)


def linear(source: Any, weights: ArrayLike | Mapping[Any, float]) -> Combination:
    """A weighted sum of the answers: a weight for each row, in order, or by label; a matrix gives a sum per row."""
    rows = len(source.value)
    if isinstance(weights, Mapping):
        w = np.zeros((1, rows))
        for label, weight in weights.items():
            w[0, _places(source, label)] += float(weight)
    else:
        try:
            w = np.atleast_2d(np.asarray(weights, dtype=np.float64))
        except (TypeError, ValueError):
            raise EstimationError("weights must be numbers, one for each row") from None
    if w.ndim != 2 or w.shape[1] != rows or not np.isfinite(w).all():
        raise EstimationError(f"weights must be {rows} finite numbers, one for each row of the estimate")
    keys = {"sum": list(range(1, len(w) + 1))} if len(w) > 1 else {}
    return Combination(source, w, f"weighted sum: {_asked(source)}", keys)


def _asked(source: Any) -> str:
    """What the combined answers were to; a difference of values is told in the unit of their errors."""
    return str(source.title).replace(" (sd in ", " (in ")


def _paired(source: Any, a: Any, b: Any) -> tuple[Array, Array, dict[str, list[Any]]]:
    one, other = _places(source, a), _places(source, b)
    labels, names = source.labels(), _key_names(source)
    depth = len(a) if isinstance(a, tuple) else 1
    rest = [[labels[i][depth:] for i in rows] for rows in (one, other)]
    if rest[0] != rest[1]:
        raise EstimationError(f"{_words(a)} and {_words(b)} have different rows: name each by all of its labels")
    out = np.zeros((2, len(one), len(labels)))
    for side, rows in enumerate((one, other)):
        out[side, np.arange(len(rows)), rows] = 1.0
    keys = {name: [labels[i][depth + j] for i in one] for j, name in enumerate(names[depth:])}
    return out[0], out[1], keys


def _key_names(source: Any) -> list[str]:
    return list(source.keys) if isinstance(source, Rows) else list(source.names)


def _places(source: Any, label: Any) -> NDArray[np.int64]:
    """The rows of a label: its first parts, or all of them."""
    wanted = label if isinstance(label, tuple) else (label,)
    labels = source.labels()
    found = [i for i, one in enumerate(labels) if one[: len(wanted)] == wanted]
    found = found or [
        i
        for i, one in enumerate(labels)
        if len(one) >= len(wanted) and all(a == b or printed_as(a, b) for a, b in zip(one, wanted, strict=False))
    ]
    if not found or not wanted:
        shown = ", ".join(dict.fromkeys(_words(one[0] if len(one) == 1 else one) for one in labels[:12]))
        raise EstimationError(f"there is no row {_words(label)}: the rows are {shown or 'one, without a label'}")
    return np.array(found, dtype=np.int64)


def _words(label: Any) -> str:
    return ", ".join(map(label_text, label)) if isinstance(label, tuple) else str(label_text(label))


def _times(weights: Array, values: Array) -> Array:
    """weights @ values, where nothing times an unknown value is nothing."""
    return np.asarray(np.multiply(weights, values, out=np.zeros(weights.shape), where=weights != 0).sum(axis=1))
