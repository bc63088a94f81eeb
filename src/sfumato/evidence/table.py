"""Evidence: what learners see. It answers one question, ``counts(names)``, from releases or exactly from raw tables."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.channels import Channel
from sfumato.channels.linear import Array, Dense, left_inverse
from sfumato.channels.pram import check_distribution
from sfumato.errors import BiasWarning, EstimationError, NegativeCountsWarning
from sfumato.evidence import mle
from sfumato.evidence.cells import check_cells, listed_cells
from sfumato.evidence.counting import Counts, counts, counts_many, sparse_counts
from sfumato.evidence.estimate import COVARIANCE_CELLS, Estimate
from sfumato.evidence.pieces import Piece
from sfumato.evidence.simplex import project
from sfumato.evidence.view import View, view
from sfumato.printable import printable
from sfumato.release import Part, Release
from sfumato.schema import Numeric, Schema
from sfumato.scheme import Scheme

if TYPE_CHECKING:
    from sfumato.evidence.density import Density

METHODS = ("moment", "project", "mle")
#: Up to this size of A all cells of a table are estimated, also where only some were asked for.
LISTED_CELLS = 1 << 20


class Evidence:
    """Counts with covariance, from a release (estimated) or from raw rows (exact).

    ``names`` are the attributes it speaks of, all unless given; ``schema`` is theirs.
    """

    def __init__(self, release: Release, method: str = "moment", names: Sequence[str] | None = None) -> None:
        if method not in METHODS:
            raise EstimationError(f"method must be one of {', '.join(METHODS)} or model, got {method!r} instead")
        if isinstance(names, str):
            raise EstimationError(f"names must be a list of attributes, got {names!r} instead")
        self.release = release
        self.method = method
        self.names = tuple(release.schema.names if names is None else names)
        self.schema = release.schema if names is None else release.schema.select(self._check(list(self.names)))
        self._warned = False

    def __repr__(self) -> str:
        about = "exact" if self.exact else self.method
        return f"Evidence({self.n:,} records, {about}; {printable(', '.join(self.names))})"

    @property
    def exact(self) -> bool:
        """Whether every attribute passed unchanged, so that estimates are the counts themselves."""
        groups = (group for part in self.release.parts for group in part.scheme.groups)
        return all(_is_identity(group.channel) for group in groups if set(group.names) & set(self.names))

    def refitted(self, release: Release) -> Evidence:
        """The same kind of evidence, of other records."""
        return Evidence(release, self.method, self.names)

    @property
    def n(self) -> int:
        """The number of records."""
        return len(self.release)

    def counts(self, names: str | Sequence[str]) -> Estimate:
        """How many records hold each combination of values of the named attributes."""
        asked = self._check([names] if isinstance(names, str) else list(names))
        self._warn_if_projected(asked)
        by_scheme: dict[Scheme, Array] = {}
        for part in self.release.parts:
            found = self._observed(part, asked)
            by_scheme[part.scheme] = by_scheme.get(part.scheme, np.zeros(())) + found
        return self._estimate(asked, [(scheme, view(scheme, asked), seen) for scheme, seen in by_scheme.items()])

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
        codes = check_cells(cells, self.schema.sizes(asked))
        pieces = [self._listed(part, asked, codes) for part in self.release.parts if len(part)]
        if not pieces:
            raise EstimationError("the release holds no rows: there is nothing to estimate")
        value = np.asarray(np.sum([piece.centre for piece in pieces], axis=0))
        return Estimate(self.schema.select(asked), value, tuple(pieces), "moment", codes=codes)

    def feasible(self, names: Sequence[str]) -> bool:
        """Whether method "mle" can find the table of these attributes in reasonable time."""
        return all(mle.feasible(view(part.scheme, names).full) for part in self.release.parts)

    def density(self, name: str, **options: Any) -> Density:
        """The density of a numeric attribute that was released with additive noise; see ``sfumato.density``."""
        from sfumato.evidence.density import density

        noises = {part.scheme.noises.get(name) for part in self.release.parts}
        noise = noises.pop()
        if noise is None or noises:
            raise EstimationError(f"{name!r} must carry the same additive noise in every part of the release")
        domain = self.schema[name]
        if isinstance(domain, Numeric) and not {"support", "bins"} & set(options):
            options["support"] = (domain.low, domain.high)
        batches = (part.batches([name]) for part in self.release.parts)
        return density((batch.column(0).to_numpy() for some in batches for batch in some), noise, **options)

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
            if shown.whole != shown.axes:
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
            self.release.schema[name]
            if name not in self.names:
                kind = "model" if self.method == "model" else "evidence"
                raise EstimationError(f"{name!r} is not in the {kind}, which covers {', '.join(self.names)}")
        return names

    def _warn_if_projected(self, names: list[str]) -> None:
        """Say once that projecting flattens the distribution of ordered values."""
        if self.method != "project" or self._warned:
            return
        ordered = [name for name in names if self.schema[name].ordered and self.schema[name].size > 2]
        schemes = [part.scheme for part in self.release.parts]
        changed = [name for name in ordered if not all(_is_identity(s.group(name).channel) for s in schemes)]
        if changed:
            self._warned = True
            warnings.warn(
                f'method="project" flattens the distribution of ordered values ({", ".join(changed)}) and biases '
                f'their means; use method="mle" for shares and running shares, "moment" for means',
                BiasWarning,
                stacklevel=3,
            )

    def _observed(self, part: Part, names: list[str]) -> Array:
        return counts(part, view(part.scheme, names).columns).astype(np.float64)

    def _listed(self, part: Part, names: list[str], codes: NDArray[np.int64]) -> Piece:
        shown = view(part.scheme, names)
        codes = codes[:, [names.index(name) for name in shown.axes]]
        if shown.full.rows * shown.full.cols > LISTED_CELLS and not shown.solved_whole:
            return listed_cells(sparse_counts(part, shown.columns), shown, codes)
        place = np.ravel_multi_index(tuple(codes.T), self.schema.sizes(shown.axes))
        return Piece(shown.inverse, self._observed(part, names), shown, place)

    def _estimate(self, names: list[str], found: list[tuple[Scheme, View, Array]]) -> Estimate:
        pieces = []
        values = []
        for scheme, shown, observed in found:
            if not observed.sum():
                continue
            piece = Piece(shown.inverse, observed, shown, _place(shown.axes, names, self.schema))
            value = piece.centre
            if self.method == "project":
                value = project(value, piece.total)
            elif self.method == "mle":
                piece, value = self._most_likely(shown, piece, scheme)
            pieces.append(piece)
            values.append(value)
        if not pieces:
            raise EstimationError("the release holds no rows: there is nothing to estimate")
        value = np.asarray(np.sum(values, axis=0))
        estimate = Estimate(self.schema.select(names), value, tuple(pieces), self.method)
        _warn_if_negative(estimate)
        return estimate

    def _most_likely(self, shown: View, piece: Piece, scheme: Scheme) -> tuple[Piece, Array]:
        if shown.whole != shown.axes:
            # The likelihood knows only whole groups: fit all their attributes, then sum.
            fitted = mle.fit(view(scheme, shown.whole).transition, piece.observed)
            dropped = tuple(i for i, name in enumerate(shown.whole) if name not in shown.axes)
            summed = fitted.theta.reshape(self.schema.sizes(shown.whole)).sum(axis=dropped).reshape(-1)
            return piece, piece.placed(summed * piece.total)
        fitted = mle.fit(shown.transition, piece.observed)
        forward = shown.transition
        small = forward.rows <= COVARIANCE_CELLS and forward.rows * forward.cols <= 1 << 22
        if forward.cols > forward.rows and small:
            # With more outputs than inputs the likelihood weighs them best; this left inverse has its covariance. One
            # record spread evenly keeps every possible output possible.
            possible = forward.apply(np.ones(forward.cols)) > 0
            seen = forward.T.apply(fitted.theta * piece.total + possible / possible.sum())
            piece = replace(piece, inverse=Dense(left_inverse(forward.dense(), seen)))
        return piece, piece.placed(fitted.theta * piece.total)


def evidence(
    source: Any,
    schema: Schema | None = None,
    method: str = "moment",
    names: Sequence[str] | None = None,
    **options: Any,
) -> Evidence:
    """Evidence from a release, or, with a schema, exactly from a raw table.

    ``method`` is "moment" (unbiased, may be negative), "mle" (maximum likelihood, never negative), "project" (moment
    moved to the nearest possible counts: quick, but it biases ordered attributes) or "model" (one joint model of all
    attributes, which takes the options of ``ModelEvidence``). ``names`` keeps to some of the attributes.
    """
    if method == "model":
        from sfumato.evidence.model import model_evidence

        release = source if isinstance(source, Release) else evidence(source, schema).release
        return model_evidence(release, names=names, **options)
    if options:
        raise EstimationError(f"method {method!r} takes no option {next(iter(options))!r}")
    if isinstance(source, Release):
        if schema is not None:
            raise EstimationError("a release carries its own schema: give schema only with a raw table")
        return Evidence(source, method, names)
    if schema is None:
        raise EstimationError("a raw table needs its schema: sfumato.evidence(table, schema)")
    return Evidence(Release.raw(source, schema), method, names)


def _place(axes: tuple[str, ...], names: list[str], schema: Schema) -> NDArray[np.int64] | None:
    """Which flat cell of a table over axes is each cell of the same table over names."""
    if list(axes) == names:
        return None
    cells = np.arange(prod(schema.sizes(axes))).reshape(schema.sizes(axes))
    return np.asarray(cells.transpose([axes.index(name) for name in names]).reshape(-1))


def _is_identity(channel: Channel) -> bool:
    return channel.k == channel.m and channel.k <= 4096 and bool((channel.matrix == np.eye(channel.k)).all())


def _warn_if_negative(estimate: Estimate) -> None:
    negative = int((estimate.value < -1e-9 * max(estimate.n, 1)).sum())
    if negative:
        other = "mle" if all(mle.feasible(piece.shown.full) for piece in estimate.pieces) else "project"
        warnings.warn(
            f"{negative} of {len(estimate.value)} estimated counts are negative, as unbiased estimates of small counts "
            f'are; use method="{other}" where that is not wanted',
            NegativeCountsWarning,
            stacklevel=4,
        )
