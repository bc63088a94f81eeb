"""Running shares and quantiles through a smoothed distribution: of numbers under additive noise, or where it is asked.

Unless told otherwise the estimates of ordered attributes are smoothed (``smoothed_groups``) and the limits are not.

The averaged models of ``density`` are fitted to the released values of each group. Their covariance is that of the
distribution behind the table; for the table itself it is on the safe side. Values that heap are smoothed over, and the
band does not tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.channels.base import Channel
from sfumato.channels.noise import Noise
from sfumato.channels.response import is_identity
from sfumato.domains import Domain
from sfumato.errors import EstimationError, NoRowsError
from sfumato.evidence.asked_parts import asking
from sfumato.evidence.density.smooth import ROUNDED_OFF, Smooth, smooth
from sfumato.evidence.questions.combinations import LEVEL95, Combination, contrast, linear, ratio
from sfumato.evidence.questions.rows import Rows
from sfumato.evidence.questions.values import (
    WHOLE_BINS,
    are_years,
    behind,
    between,
    in_units,
    numbers,
    places,
    running_ends,
)
from sfumato.printable import many
from sfumato.schema import Numeric
from sfumato.writing.data_frames import free_name

if TYPE_CHECKING:
    from sfumato.evidence.questions.asked import Asked

_CELLS, _RELEASED = 64, 200


@dataclass(frozen=True, eq=False, repr=False)
class Smoothed(Rows):
    """Running shares, or with ``q`` quantiles, of one smoothed distribution a group; None where a group is empty."""

    found: tuple[Smooth | None, ...]
    edges: Array
    what: str
    names: dict[str, list[Any]]
    q: tuple[float, ...] | None = None
    of_population: bool = False
    running: str | None = None
    spans: tuple[Array, Array] | None = None
    attribute: str = ""
    named: tuple[str, ...] = ()
    values: Array | None = None  # the number of each cell, where only these are possible
    behind: tuple[Array, Array] | None = None  # the least and the greatest number of each cell, where cells are bins

    @property
    def n(self) -> float:
        return float(sum(one.n for one in self.found if one is not None))

    @property
    def keys(self) -> dict[str, list[Any]]:
        return self.names

    @property
    def title(self) -> str:
        return self.what

    @property
    def of_years(self) -> bool:
        return self.q is not None and are_years(float(self.edges[0]), float(self.edges[-1]))

    @property
    def notes(self) -> tuple[str, ...]:
        empty = sum(one is None for one in self.found)
        return (
            f"from a smoothed distribution: {ROUNDED_OFF}; the error is that of the population",
            *([WHOLE_BINS] if self.behind is not None and (self.behind[1] > self.behind[0]).any() else []),
            *([f"{many(empty, 'group is', 'groups are')} not known, for want of records"] if empty else []),
        )

    @property
    def beside(self) -> dict[str, Array]:
        per = len(self.value) // len(self.found)
        n, gone = np.array([(0.0, 0.0) if one is None else (one.n, one.n * one.missing) for one in self.found]).T
        out = {"answered": np.repeat(n - gone, per)}
        return out | ({"no_answer": np.repeat(gone, per)} if gone.any() else {})

    @property
    def floor(self) -> float:
        return 0.0 if self.q is None else float(self.edges[0])

    @cached_property
    def value(self) -> Array:
        return self._each(0)[0]

    @cached_property
    def cov(self) -> Array:
        low, high = self.limits(LEVEL95)
        return np.asarray(np.diag(((high - low) / (2 * LEVEL95)) ** 2))

    def limits(self, z: float) -> tuple[Array, Array]:
        from scipy.special import ndtr

        _, low, high = self._each(float(2 * ndtr(z) - 1))
        return low, high

    def population(self) -> Smoothed:
        return replace(self, of_population=True)

    def contrast(self, a: Any, b: Any) -> Combination:
        return contrast(self, a, b)

    def ratio(self, a: Any, b: Any) -> Combination:
        return ratio(self, a, b)

    def linear(self, weights: Any) -> Combination:
        return linear(self, weights)

    def _each(self, level: float) -> tuple[Array, Array, Array]:
        level = min(max(level, 0.5), 1 - 1e-12)
        parts = []
        for one in self.found:
            if self.q is not None:
                whole = (np.nan, float(self.edges[0]), float(self.edges[-1]))
                each = [whole if one is None else one.quantile(q, self.edges, level) for q in self.q]
                if self.values is not None:
                    each = [_of_cells(*ends, self.values) for ends in each]
                elif self.behind is not None:
                    each = [_over_bins(*ends, self.edges, *self.behind) for ends in each]
                parts += each
            elif one is None:
                parts += [(np.nan, 0.0, 1.0)] * (len(self.edges) - 1)
            else:
                parts += list(zip(one.cdf, *one.band(level), strict=True))
        value, low, high = np.array(parts, dtype=np.float64).T
        return value, low, high


def _of_cells(value: float, low: float, high: float, values: Array) -> tuple[float, float, float]:
    """A quantile and its limits, as places in cells from 0, by the values of their cells. A limit may end a cell."""
    last = len(values) - 1
    first = min(int(low), last)
    own = np.nan if np.isnan(value) else float(values[min(int(value), last)])
    return own, float(values[first]), float(values[min(max(int(np.ceil(high)) - 1, first), last)])


def _over_bins(
    value: float, low: float, high: float, edges: Array, least: Array, most: Array
) -> tuple[float, float, float]:
    """A quantile with limits that reach over whole bins: where in its bin a number lies is not known."""
    first = int(np.clip(np.searchsorted(edges, low, side="right") - 1, 0, len(least) - 1))
    last = int(np.clip(np.searchsorted(edges, high, side="left") - 1, first, len(most) - 1))
    return value, min(low, float(least[first])), max(high, float(most[last]))


def smooth_cdf(asked: Asked, name: str) -> Smoothed:
    found, edges = _fitted(asked, name)
    keys = _repeated(asked, len(edges) - 1)
    domain = asked.ev.schema[name]
    (reached, ends), spans = running_ends(domain), behind(domain)
    if isinstance(domain, Numeric) and not np.array_equal(edges, domain.edge_array):
        reached, ends, spans = "up_to", edges[1:].tolist(), (edges[:-1], edges[1:])
    label = free_name(reached, keys)
    keys[label] = ends * len(found)
    what = f"running shares of {name}{asked.whom}"
    return Smoothed(found, edges, what, keys, running=label, spans=spans, attribute=name)


def smooth_quantile(asked: Asked, name: str, q: Sequence[float]) -> Smoothed:
    found, edges = _fitted(asked, name)
    keys = _repeated(asked, len(q))
    keys[free_name("q", keys)] = list(q) * len(found)
    domain = asked.ev.schema[name]
    ends = None
    if isinstance(domain, Numeric) and np.array_equal(edges, domain.edge_array):
        edges, ends = between(domain), behind(domain)
    own = None if isinstance(domain, Numeric) else numbers(domain)[: len(edges) - 1]
    what = f"quantiles of {name}{in_units(domain)}{asked.whom}"
    named = places(domain)
    return Smoothed(found, edges, what, keys, tuple(q), attribute=name, named=named, values=own, behind=ends)


def _repeated(asked: Asked, times: int) -> dict[str, list[Any]]:
    return {name: [one for one in labels for _ in range(times)] for name, labels in asked.groups.columns.items()}


def _fitted(asked: Asked, name: str) -> tuple[tuple[Smooth | None, ...], Array]:
    """The smoothed distribution of each group, and the ends of the values."""
    parts = [part for part in asking(asked.ev.release, asked.attributes) if len(part)]
    if not parts:
        raise NoRowsError
    if getattr(asked.ev, "weights", None) is not None or asked.ev.smoothed:
        raise EstimationError(f"a smoothed distribution of {name!r} is asked of evidence without weights or model")
    channel = parts[0].scheme[name]
    if channel.arity != 1 or any(part.scheme[name] != channel for part in parts):
        raise EstimationError(f"{name!r} must pass the same channel in every part, and alone, to be smoothed")
    others = [other for other in asked.attributes if other != name]
    for other in others:
        if not all(is_identity(part.scheme.group(other).channel) for part in parts):
            raise EstimationError(
                f"a smoothed distribution of {name!r} is told of groups in the clear only, and {other!r} is "
                f"randomized; its mean can be asked by {other}"
            )
    domain = asked.ev.schema[name]
    rows = [part.arrow() for part in parts]
    column = channel.columns([name])[0]
    released = np.concatenate([one.column(column).to_numpy() for one in rows])
    codes = {other: np.concatenate([one.column(other).to_numpy() for one in rows]) for other in others}
    if channel.continuous:
        channel, released, edges = _cut(channel, released, domain)
    else:
        k = domain.size - domain.nullable
        edges = domain.edge_array if isinstance(domain, Numeric) else np.arange(k + 1.0)
    found: list[Smooth | None] = []
    for group in range(len(asked.groups.labels)):
        inside = np.ones(len(released), dtype=bool)
        for other, member in asked.groups.statistic(group, {}).items():
            inside &= np.asarray(member)[codes[other]] > 0
        counts = np.bincount(released[inside], minlength=channel.m)
        nullable = domain.nullable and channel.k == domain.size
        found.append(smooth(counts, channel, nullable=nullable) if counts.sum() else None)
    return tuple(found), edges


def _cut(noise: Channel, z: Array, domain: Domain) -> tuple[Channel, NDArray[np.int64], Array]:
    """Additive noise as a channel between cells of the numbers and cells of the released ones."""
    if not isinstance(domain, Numeric):
        raise EstimationError("only a numeric attribute carries additive noise")
    edges = np.linspace(domain.edge_array[0], domain.edge_array[-1], _CELLS + 1)
    reach = max(z.max() - edges[-1], edges[0] - z.min(), 1e-9) * (1 + 1e-9)
    shown = np.linspace(edges[0] - reach, edges[-1] + reach, _RELEASED + 1)
    shown[0], shown[-1] = -np.inf, np.inf
    return cast(Noise, noise).discretize(edges, shown), np.searchsorted(shown, z, side="right") - 1, edges
