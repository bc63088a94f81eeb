"""Evidence: what learners see. It answers one question, ``counts(names)``, from releases or exactly from raw tables."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.channels import Channel
from sfumato.channels.base import join_codes, left_inverse
from sfumato.channels.linear import Array, Dense, Kronecker, Operator
from sfumato.channels.pram import check_distribution
from sfumato.errors import ChannelError, EstimationError, NegativeCountsWarning
from sfumato.evidence import mle
from sfumato.evidence.counting import Counts, SparseCounts, counts, counts_many, sparse_counts
from sfumato.evidence.estimate import COVARIANCE_CELLS, Estimate, Piece
from sfumato.evidence.simplex import project
from sfumato.release import Part, Release
from sfumato.schema import Schema
from sfumato.scheme import Scheme

METHODS = ("moment", "project", "mle")


@dataclass(frozen=True)
class View:
    """How a scheme shows some attributes: the released columns to count, and the maps between their tables."""

    columns: tuple[str, ...]
    axes: tuple[str, ...]  # the attributes, in the order of the maps' axes
    sizes: tuple[tuple[int, ...], ...]  # of the attributes, group by group
    outputs: tuple[tuple[int, ...], ...]  # of the columns, group by group
    transition: Kronecker
    inverse: Kronecker

    @property
    def own(self) -> Array:
        """Σ_y A[x, y]² P[x, y] of every cell."""
        return self.inverse.squared().diagonal_of_product(self.transition)


class Evidence:
    """Counts with covariance, from a release (estimated) or from raw rows (exact)."""

    def __init__(self, release: Release, method: str = "moment") -> None:
        if method not in METHODS:
            raise EstimationError(f"method must be one of {', '.join(METHODS)}, got {method!r} instead")
        self.release = release
        self.method = method

    @property
    def schema(self) -> Schema:
        return self.release.schema

    @property
    def exact(self) -> bool:
        """Whether every attribute passed unchanged, so that estimates are the counts themselves."""
        return all(_is_identity(group.channel) for part in self.release.parts for group in part.scheme.groups)

    @property
    def n(self) -> int:
        """The number of records."""
        return len(self.release)

    def counts(self, names: str | Sequence[str]) -> Estimate:
        """How many records hold each combination of values of the named attributes."""
        asked = self._check([names] if isinstance(names, str) else list(names))
        by_scheme: dict[Scheme, Array] = {}
        for part in self.release.parts:
            found = self._observed(part, asked)
            by_scheme[part.scheme] = by_scheme.get(part.scheme, np.zeros(())) + found
        views = {scheme: view(scheme, asked) for scheme in by_scheme}
        return self._estimate(asked, [(views[scheme], observed) for scheme, observed in by_scheme.items()])

    def counts_many(self, requests: Sequence[Sequence[str]]) -> list[Estimate]:
        """Several tables, counted in as few scans as possible."""
        for part in self.release.parts:
            counts_many(part, [view(part.scheme, self._check(list(names))).columns for names in requests])
        return [self.counts(names) for names in requests]

    def cells(self, names: str | Sequence[str], cells: ArrayLike) -> Estimate:
        """How many records hold each of the listed combinations of codes, for tables with too many cells to list all.

        Unbiased whatever the method of this evidence: only the moment estimate goes cell by cell.
        """
        asked = self._check([names] if isinstance(names, str) else list(names))
        codes = _check_cells(cells, self.schema.sizes(asked))
        pieces = [
            listed_cells(
                sparse_counts(part, shown.columns), shown, codes[:, [asked.index(name) for name in shown.axes]]
            )
            for part in self.release.parts
            for shown in [view(part.scheme, asked)]
        ]
        value = np.asarray(np.sum([piece.centre for piece in pieces], axis=0))
        order = tuple(range(len(asked)))
        return Estimate(self.schema.select(asked), value, tuple(pieces), order, "moment", codes=codes)

    def released_counts(self, names: str | Sequence[str]) -> Counts:
        """The counts of the released values themselves, uncorrected, where all rows share one scheme."""
        asked = self._check([names] if isinstance(names, str) else list(names))
        scheme = self.release.scheme
        return np.asarray(np.sum([counts(part, view(scheme, asked).columns) for part in self.release.parts], axis=0))

    def log_likelihood(self, names: str | Sequence[str], theta: ArrayLike) -> float:
        """log Pr(released values of these attributes) if the true ones followed theta, flat as ``counts`` gives."""
        asked = self._check([names] if isinstance(names, str) else list(names))
        sizes = self.schema.sizes(asked)
        flat = check_distribution(np.asarray(theta, dtype=np.float64).reshape(-1), prod(sizes), "theta")
        total = 0.0
        for part in self.release.parts:
            shown = view(part.scheme, asked)
            if shown.transition.rows != flat.size:
                raise EstimationError(
                    f"{', '.join(asked)} are randomized together with others: theta must cover the whole group"
                )
            moved = flat.reshape(sizes).transpose([asked.index(name) for name in shown.axes]).reshape(-1)
            total += mle.log_likelihood(shown.transition, self._observed(part, asked), moved)
        return total

    def _check(self, names: list[str]) -> list[str]:
        if not names or len(set(names)) != len(names):
            raise EstimationError(f"name each attribute once, and at least one; got {names}")
        for name in names:
            self.schema[name]
        return names

    def _observed(self, part: Part, names: list[str]) -> Array:
        return counts(part, view(part.scheme, names).columns).astype(np.float64)

    def _estimate(self, names: list[str], found: list[tuple[View, Array]]) -> Estimate:
        axes = found[0][0].axes
        pieces = []
        values = []
        for shown, observed in found:
            if not observed.sum():
                continue
            piece = Piece(shown.inverse, observed, shown.own)
            value = piece.centre
            if self.method == "project":
                value = project(value, piece.total)
            elif self.method == "mle":
                piece, value = _most_likely(shown, piece)
            pieces.append(_reordered(piece, shown, axes, self.schema))
            values.append(_move(value, shown.axes, axes, self.schema))
        if not pieces:
            raise EstimationError("the release holds no rows: there is nothing to estimate")
        order = tuple(axes.index(name) for name in names)
        estimate = Estimate(self.schema.select(names), np.zeros(0), tuple(pieces), order, self.method)
        value = estimate._arrange(np.sum(values, axis=0))
        object.__setattr__(estimate, "value", value)
        _warn_if_negative(estimate)
        return estimate


def evidence(source: Any, schema: Schema | None = None, method: str = "moment") -> Evidence:
    """Evidence from a release, or, with a schema, exactly from a raw table.

    ``method`` is "moment" (unbiased, may be negative), "project" (moment moved to the nearest possible counts) or
    "mle" (maximum likelihood).
    """
    if isinstance(source, Release):
        if schema is not None:
            raise EstimationError("a release carries its own schema: give schema only with a raw table")
        return Evidence(source, method)
    if schema is None:
        raise EstimationError("a raw table needs its schema: sfumato.evidence(table, schema)")
    return Evidence(Release.raw(source, schema), method)


def view(scheme: Scheme, names: Sequence[str]) -> View:
    """The maps between true and released tables of some attributes.

    A group of which only some attributes are wanted is seen through its marginal channel (Ma 2006, section 5.3, case
    d) where it has one; otherwise through the whole group, and the estimate is summed over the others.
    """
    columns: list[str] = []
    axes: list[str] = []
    sizes: list[tuple[int, ...]] = []
    outputs: list[tuple[int, ...]] = []
    forward: list[Operator] = []
    backward: list[Operator] = []
    for group in dict.fromkeys(scheme.group(name) for name in names):
        kept = [i for i, name in enumerate(group.names) if name in names]
        axes += [group.names[i] for i in kept]
        channel = group.channel
        dropped = tuple(i for i in range(len(group.names)) if i not in kept)
        summing: Array | None = None
        if dropped:
            try:
                channel = channel.marginal(kept)
                columns += [group.columns[i] for i in kept]
            except ChannelError:
                summing = _summing(group.channel.sizes, dropped)
                columns += group.columns
        else:
            columns += group.columns
        _check_invertible(channel, group.names)
        sizes.append(tuple(group.channel.sizes[i] for i in kept))
        outputs.append(channel.outputs)
        if summing is None:
            forward.append(channel.transition)
            backward.append(channel.inverse)
        else:
            # an average of the group's rows stands for P: it is only asked how a cell's variance grows with its count
            averaging = summing / summing.sum(axis=1, keepdims=True)
            forward.append(Dense(averaging @ channel.transition.dense()))
            backward.append(Dense(summing @ channel.inverse.dense()))
    return View(
        tuple(columns), tuple(axes), tuple(sizes), tuple(outputs), Kronecker(tuple(forward)), Kronecker(tuple(backward))
    )


def listed_cells(found: SparseCounts, shown: View, codes: NDArray[np.int64]) -> Piece:
    """The rows of the Kronecker inverse that the listed cells need, against the released cells that occur."""
    rows = np.ones((len(codes), len(found.counts)))
    own = np.ones(len(codes))
    axis = column = 0
    for inverse, transition, sizes, outputs in zip(
        shown.inverse.factors, shown.transition.factors, shown.sizes, shown.outputs, strict=True
    ):
        true = np.ravel_multi_index(tuple(codes[:, axis : axis + len(sizes)].T), sizes)
        released = join_codes(found.codes[column : column + len(outputs)], outputs)
        A = inverse.dense()
        rows *= A[np.ix_(true, released)]
        own *= np.einsum("ij,ij->i", A**2, transition.dense())[true]
        axis, column = axis + len(sizes), column + len(outputs)
    return Piece(Dense(rows), found.counts.astype(np.float64), own)


def _check_cells(cells: ArrayLike, sizes: tuple[int, ...]) -> NDArray[np.int64]:
    codes = np.asarray(cells, dtype=np.int64)
    if codes.ndim != 2 or codes.shape[1] != len(sizes) or not len(codes):
        raise EstimationError(f"cells must list a code for each of the {len(sizes)} attributes, a row per cell")
    outside = ((codes < 0) | (codes >= np.array(sizes))).any(axis=1)
    if outside.any():
        first = codes[outside][0].tolist()
        raise EstimationError(f"cell {first} lies outside the table of {' x '.join(map(str, sizes))} values")
    return codes


def _check_invertible(channel: Channel, names: Sequence[str]) -> None:
    if not channel.invertible:
        raise EstimationError(
            f"{' + '.join(names)}: the channel {channel} is not invertible: different true tables give the same "
            f"released one, so that no count can be estimated"
        )


def _summing(sizes: Sequence[int], dropped: tuple[int, ...]) -> Array:
    """The matrix that sums a group's flat table over the dropped axes."""
    kept = [size for i, size in enumerate(sizes) if i not in dropped]
    eye = np.eye(prod(sizes)).reshape(*sizes, prod(sizes))
    return np.asarray(eye.sum(axis=dropped).reshape(prod(kept), prod(sizes)))


def _most_likely(shown: View, piece: Piece) -> tuple[Piece, Array]:
    fitted = mle.fit(shown.transition, piece.observed)
    forward = shown.transition
    small = forward.rows <= COVARIANCE_CELLS and forward.rows * forward.cols <= 1 << 22
    if forward.cols > forward.rows and small:
        # With more outputs than inputs the likelihood weighs them best: its covariance is that of this left inverse.
        P = forward.dense()
        best = Dense(left_inverse(P, forward.T.apply(fitted.theta)))
        piece = Piece(best, piece.observed, best.squared().diagonal_of_product(forward))
    return piece, fitted.theta * piece.total


def _reordered(piece: Piece, shown: View, axes: tuple[str, ...], schema: Schema) -> Piece:
    if shown.axes == axes:
        return piece
    rows = _move(np.arange(float(piece.inverse.rows)), shown.axes, axes, schema).astype(np.int64)
    return Piece(Dense(piece.inverse.dense()[rows]), piece.observed, piece.own[rows])


def _move(flat: Array, source: tuple[str, ...], target: tuple[str, ...], schema: Schema) -> Array:
    if source == target:
        return flat
    return flat.reshape(schema.sizes(source)).transpose([source.index(name) for name in target]).reshape(-1)


def _is_identity(channel: Channel) -> bool:
    return channel.k == channel.m and channel.k <= 4096 and bool((channel.matrix == np.eye(channel.k)).all())


def _warn_if_negative(estimate: Estimate) -> None:
    negative = int((estimate.value < -1e-9 * max(estimate.n, 1)).sum())
    if negative:
        warnings.warn(
            f"{negative} of {len(estimate.value)} estimated counts are negative, as unbiased estimates of small counts "
            f'are; use method="project" or "mle" where that is not wanted',
            NegativeCountsWarning,
            stacklevel=4,
        )
