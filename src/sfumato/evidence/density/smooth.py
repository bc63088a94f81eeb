"""The distribution of ordered values through any channel: the averaged penalised log-densities of ``density``.

The shares of many ordered values cannot be told one by one from randomized answers, but neighbours resemble each other.
So the same models are fitted that ``density`` averages, on the channel's own matrix in place of a noise kernel. Nothing
is to be tuned. More than 128 values are gathered into about 100 cells of neighbours, whose shares are split evenly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Array, Index
from sfumato.channels import Channel
from sfumato.channels.response import Symmetric
from sfumato.channels.scores import scores
from sfumato.channels.windows import Windows
from sfumato.errors import EstimationError
from sfumato.evidence.density.auto import ModelAverage, average, masses_of
from sfumato.evidence.density.band import Spread, models_that_matter, spread
from sfumato.evidence.density.penalised import Problem
from sfumato.threads import one_thread

MOST_CELLS = 128  # up to here every value is a cell of its own
_CELLS = 100
#: What smoothing does to values that heap, such as round numbers, and at the ends of the range.
ROUNDED_OFF = "heaps and edges are rounded off, and where there are some, intervals hold less often"
#: Of the band of running shares: the models' covariances take the row scale as known, and an edge that is smoothed over
#: is a bias. Set on the four shapes of the benchmark at K = 40.
_INFLATE = 1.25
_LISTED = 1 << 12


@dataclass(frozen=True, eq=False)
class Smooth:
    """Shares of ordered values among those who answered, with their covariance.

    ``shares`` sum to 1. ``missing`` is the share of "no answer" among all, with its standard deviation. Whatever is a
    sum over the values (a mean, a running share) is asked through ``linear``, which never forms a large matrix.
    """

    shares: Array
    n: float
    missing: float = 0.0
    missing_sd: float = 0.0
    first: Index = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)  # value of each cell
    factor: Array = field(default_factory=lambda: np.zeros((0, 0)), repr=False)  # cov of the cells = factor factorᵀ
    models: Spread | None = field(default=None, repr=False)  # of the log-density of each cell, per value

    @cached_property
    def _sizes(self) -> Array:
        return np.diff(np.append(self.first, len(self.shares))).astype(np.float64)

    def linear(self, weights: ArrayLike) -> tuple[Array, Array]:
        """Σ_x weights[..., x] shares[x] and the covariance of these sums (a variance for a single one)."""
        w = np.asarray(weights, dtype=np.float64)
        if w.shape[-1:] != self.shares.shape:
            raise EstimationError(f"weights must have {len(self.shares)} entries, got {w.shape[-1:]} instead")
        cells = np.add.reduceat(w, self.first, axis=-1) / self._sizes
        spread = cells @ self.factor
        return np.asarray(w @ self.shares), np.asarray(spread @ spread.T)

    @property
    def cov(self) -> Array:
        """The covariance of all shares."""
        if len(self.shares) > _LISTED:
            raise EstimationError(f"the covariance of {len(self.shares)} shares is too large: ask for sums by linear()")
        rows = np.repeat(self.factor / self._sizes[:, None], self._sizes.astype(np.int64), axis=0)
        return np.asarray(rows @ rows.T)

    @property
    def sd(self) -> Array:
        """The standard deviation of every share."""
        own: Array = np.sqrt(np.einsum("ij,ij->i", self.factor, self.factor)) / self._sizes
        return np.asarray(np.repeat(own, self._sizes.astype(np.int64)))

    @cached_property
    def cdf(self) -> Array:
        """The running share up to and including each value."""
        return np.asarray(np.minimum(np.cumsum(self.shares), 1.0))

    @cached_property
    def cdf_sd(self) -> Array:
        """The standard deviation of every running share."""
        ends = np.cumsum(self.factor, axis=0)
        own = np.sqrt(np.einsum("ij,ij->i", ends, ends))
        ends_at = np.append(self.first[1:], len(self.shares))
        return np.asarray(np.interp(np.arange(1, len(self.shares) + 1), np.append(0, ends_at), np.append(0.0, own)))

    def band(self, level: float = 0.95) -> tuple[Array, Array]:
        """(low, high) for every running share, each by itself; both rise from value to value."""
        reach = _INFLATE * _normal(level) * self.cdf_sd
        low, high = np.clip(self.cdf - reach, 0.0, 1.0), np.clip(self.cdf + reach, 0.0, 1.0)
        return np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1]

    def mean(self, values: ArrayLike) -> tuple[float, float]:
        """The mean of values, one a code, and its standard deviation."""
        value, variance = self.linear(values)
        return float(value), float(np.sqrt(variance))

    def quantile(self, q: float, edges: ArrayLike, level: float = 0.95) -> tuple[float, float, float]:
        """(value, low, high) of a quantile: where the running share, and its band, pass q.

        ``edges`` are the ends of the values, one more than there are values; a share is spread evenly between them.
        """
        if not 0 < q < 1:
            raise EstimationError(f"q must lie in (0, 1), got {q!r} instead")
        ends = np.asarray(edges, dtype=np.float64)
        if ends.shape != (len(self.shares) + 1,):
            raise EstimationError(f"edges must have {len(self.shares) + 1} entries, got {ends.shape} instead")
        low, high = self.band(level)
        value, first, last = (_crossing(q, curve, ends) for curve in (self.cdf, high, low))
        return value, min(first, value), max(last, value)


@one_thread()
def smooth(
    counts: ArrayLike | Sequence[ArrayLike], channel: Channel | Sequence[Channel], *, nullable: bool = False
) -> Smooth:
    """The distribution of an ordered attribute from the counts of its released codes.

    Records that were randomized by several channels give a list of counts and a list of channels. With ``nullable`` the
    last true value is "no answer", and the shares are those of the others.

    >>> from sfumato.channels import windows
    >>> channel = windows(40, gamma=9)
    >>> released = np.bincount(channel.randomize(np.repeat(np.arange(10, 30), 500), rng=0), minlength=channel.m)
    >>> found = smooth(released, channel)
    >>> round(found.mean(np.arange(40))[0]), bool(found.shares[:5].sum() < 0.03)
    (20, True)
    """
    parts = _checked(counts, channel)
    n, k = sum(float(seen.sum()) for seen, _ in parts), parts[0][1].k - nullable
    if n <= 0 or k < 1:
        raise EstimationError("there are no records to estimate from")
    missing, missing_sd = _missing(parts) if nullable else (0.0, 0.0)
    if k == 1:
        return Smooth(np.ones(1), n, missing, missing_sd, np.zeros(1, dtype=np.int64), np.zeros((1, 1)))
    first = np.arange(k) if k <= MOST_CELLS else np.unique(np.linspace(0, k, _CELLS + 1).round().astype(np.int64)[:-1])
    pieces = [_piece(seen, one, first, k, missing if nullable else None) for seen, one in parts]
    matrix = np.concatenate([float(seen.sum()) / n * piece for piece, seen in pieces])
    merged = np.concatenate([seen for _, seen in pieces])
    edges = np.append(first, k).astype(np.float64)
    problem = Problem(np.ascontiguousarray(matrix), merged, edges, np.arange(len(merged) + 1.0), (0, len(first)))
    found = average(problem)
    sizes = np.diff(edges)
    mass = found.mass / found.mass.sum()
    shares = np.repeat(mass / sizes, sizes.astype(np.int64))
    models = spread(found.fits, found.weights, (0, len(first)), float(np.log(found.mass.sum())))
    return Smooth(shares, n, missing, missing_sd, first, _factor(problem, found), models)


def _checked(counts: Any, channel: Channel | Sequence[Channel]) -> list[tuple[Array, Channel]]:
    """The counts of each channel, without parts that have no records."""
    channels = [channel] if isinstance(channel, Channel) else list(channel)
    given = [counts] if isinstance(channel, Channel) else list(counts)
    if not channels or len(given) != len(channels) or len({one.k for one in channels}) != 1:
        raise EstimationError("give as many lists of counts as channels, all of the same number of values")
    parts = []
    for seen, one in zip(given, channels, strict=True):
        own = np.asarray(seen, dtype=np.float64)
        if own.shape != (one.m,) or not np.isfinite(own).all() or (own < 0).any():
            raise EstimationError(f"counts must hold one count for each of the {one.m} released codes")
        parts.append((own, one))
    return [part for part in parts if part[0].any()] or parts[:1]


def _piece(seen: Array, channel: Channel, first: Index, k: int, missing: float | None) -> tuple[Array, Array]:
    """The probabilities of the merged outputs for each cell, "no answer" mixed in, and their counts."""
    matrix, merged = _cells(channel, first, k, seen)
    if missing is None:
        return matrix, merged
    none = channel.transition.T.apply(np.append(np.zeros(k), 1.0))[:, None]
    other, _ = _merge(channel, first, k, none, seen)
    return (1 - missing) * matrix + missing * other, merged


def _cells(channel: Channel, first: Index, k: int, seen: Array) -> tuple[Array, Array]:
    """P for cells of neighbouring values, each equally likely in its cell, outputs by cells; and the counts."""
    sizes = np.diff(np.append(first, k))
    cells = np.zeros((channel.k, len(first)))
    cells[np.arange(k), np.repeat(np.arange(len(first)), sizes)] = np.repeat(1 / sizes, sizes)
    return _merge(channel, first, k, channel.transition.T.apply(cells), seen)


def _merge(channel: Channel, first: Index, k: int, matrix: Array, seen: Array) -> tuple[Array, Array]:
    """Outputs that tell the cells apart equally well, or almost so, as one: windows that start near each other."""
    if len(first) == k:
        return matrix, seen
    if isinstance(channel, Symmetric):
        starts = first if channel.k == k else np.append(first, k)
    elif isinstance(channel, Windows):
        run, starts_at, begin = max(1, k // len(first) // 2), [], 0
        for width in channel.widths:
            starts_at.append(np.arange(begin, begin + k + width - 1, run))
            begin += k + width - 1
        starts = np.concatenate([*starts_at, [begin]] if channel.nullable else starts_at)
    else:
        return matrix, seen
    return np.add.reduceat(matrix, starts, axis=0), np.add.reduceat(seen, starts)


def _missing(parts: Sequence[tuple[Array, Channel]]) -> tuple[float, float]:
    """The share of "no answer", unbiased but for the ends of its range, and its standard deviation.

    Of several channels the mean by precision.
    """
    found = []
    for seen, channel in parts:
        n = float(seen.sum())
        score = 1 - scores(channel, np.append(np.ones(channel.k - 1), 0.0))
        value = float(seen @ score) / n
        found.append((value, max(float(seen @ score**2) / n - value**2, 1e-12) / n))
    weights = np.array([1 / variance for _, variance in found])
    value = float(weights @ [one for one, _ in found]) / float(weights.sum())
    return min(max(value, 0.0), 0.999), float(np.sqrt(1 / weights.sum()))


def _factor(problem: Problem, found: ModelAverage) -> Array:
    """A root of the covariance of the cells' shares: within the models, and between them.

    A model's eta has the covariance H⁻¹ = L⁻ᵀ L⁻¹; its shares p have the derivative diag(p) - p pᵀ. Models count by the
    root of their weights, as in the band of a density.
    """
    from scipy.linalg import lapack

    held, weights = models_that_matter(found.weights)
    centre = found.mass / found.mass.sum()
    roots = []
    for weight, index in zip(weights, held, strict=True):
        fit = found.fits[int(index)]
        p = masses_of(problem, fit)
        inverse, _ = lapack.dtrtri(fit.factor, lower=1)
        own = p[:, None] * inverse.T - np.outer(p, p @ inverse.T)
        roots.append(np.sqrt(weight) * own)
        roots.append(np.sqrt(weight) * (p - centre)[:, None])
    whole = np.concatenate(roots, axis=1)
    values, vectors = np.linalg.eigh(whole @ whole.T)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _crossing(q: float, running: Array, edges: Array) -> float:
    """Where a curve of running shares first reaches q."""
    total = np.append(0.0, running)
    cell = min(int(np.searchsorted(total, q, side="left")), len(running))
    if cell == 0:
        return float(edges[0])
    rise = total[cell] - total[cell - 1]
    share = min(max((q - total[cell - 1]) / rise, 0.0), 1.0) if rise > 0 else 1.0
    return float(edges[cell - 1] + share * (edges[cell] - edges[cell - 1]))


def _normal(level: float) -> float:
    from scipy.special import ndtri

    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise EstimationError(f"level must lie in (0, 1), got {level!r} instead")
    return float(ndtri((1 + level) / 2))
