"""The joint model of many attributes: small models of cliques, tied together along a junction tree.

    θ(x) = ∏_cliques θ_C(x_C) / ∏_separators θ_S(x_S)

The links are the pairs that pass the Wald test against the randomization's own noise; they are taken strongest first
as long as no clique has more than ``CLIQUE_CELLS`` cells, and those that did not fit are listed in ``dropped``. Each
clique is a penalised log-linear model of its own released columns; a child enters by its distribution given what it
shares with its parent.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.channels.linear import Array
from sfumato.errors import EstimationError, NegativeCountsWarning
from sfumato.evidence.estimate import Estimate
from sfumato.evidence.model import messages
from sfumato.evidence.model.agreement import Disagreement, disagreements, in_words
from sfumato.evidence.model.candidates import TAU
from sfumato.evidence.model.estimate import CliqueEstimate
from sfumato.evidence.model.evidence import check_tau
from sfumato.evidence.model.loglinear import Design, fit, pairwise
from sfumato.evidence.model.observed import observe
from sfumato.evidence.model.pairs import dependent_pairs
from sfumato.evidence.model.retention import left_to_learn_from, warn_if_too_little
from sfumato.evidence.model.triangulate import Link, bounded, tree
from sfumato.evidence.table import Evidence
from sfumato.release import Release

if TYPE_CHECKING:
    import pyarrow as pa

#: The bound on a clique's table, and on any table on the way to an answer.
CLIQUE_CELLS = 1 << 12
ANSWER_CELLS = 1 << 20

Factor = tuple[tuple[int, ...], Array]


class JunctionEvidence(Evidence):
    """Counts from a model of cliques; answers ``counts`` for any attributes whose table is small enough to list."""

    def __init__(
        self,
        release: Release,
        names: Sequence[str] | None = None,
        tau: float = TAU,
        most: int = CLIQUE_CELLS,
        target: str | None = None,
    ) -> None:
        super().__init__(release, names=names)
        self.method = "model"
        check_tau(tau)
        self._asked: dict[str, Any] = {"tau": tau, "most": most, "target": target}
        self._sizes = self.schema.sizes(self.names)
        moment = Evidence(release, names=self.names)
        if target is not None and target not in self.names:
            raise EstimationError(f"the target {target!r} is not among the modelled attributes {', '.join(self.names)}")
        ranked = [pair for _, pair in dependent_pairs(moment, self.names)]
        if target is not None:  # what the model is for comes first
            place = self.names.index(target)
            ranked.sort(key=lambda pair: place not in pair)
        found, left_out = bounded(len(self.names), ranked, self._sizes, most, _groups(release, self.names))
        self.links = tree(found)
        #: Pairs that depend on each other and did not fit into cliques of the bounded size.
        self.dropped = [(self.names[i], self.names[j]) for i, j in left_out]
        self._moment = moment
        self._factors: list[Factor] = [(link.clique, self._conditional(link, tau)) for link in self.links]
        #: What answers questions of many cases at once.
        self.messages = messages.Messages(self.links, [table for _, table in self._factors], self._sizes)
        self.target = target
        warn_if_too_little(self.effective_records, self.n)

    @property
    def exact(self) -> bool:
        """Never: what a model says is smoothed, also of raw records."""
        return False

    def refitted(self, release: Release) -> JunctionEvidence:
        return JunctionEvidence(release, self.names, **self._asked)

    @property
    def effective_records(self) -> float:
        """N · a_class² · median(a_j²): roughly how many clean records the randomized ones are worth for learning."""
        return left_to_learn_from(self.release, self.names, self.target)

    def disagreement(self, level: float = 0.001) -> tuple[Disagreement, ...]:
        """Tables on which the model and the unbiased estimate differ by more than their noise, worst first."""
        return disagreements(self._moment, self, level)

    @property
    def cliques(self) -> list[tuple[str, ...]]:
        """The attributes of every clique."""
        return [tuple(self.names[i] for i in link.clique) for link in self.links]

    def __repr__(self) -> str:
        largest = max(prod(self._sizes[i] for i in link.clique) for link in self.links)
        return (
            f"JunctionEvidence({len(self.names)} attributes in {len(self.links)} cliques of at most {largest} cells; "
            f"{len(self.dropped)} weaker links left out; n={self.n}; {in_words(self.disagreement())})"
        )

    def _conditional(self, link: Link, tau: float) -> Array:
        """The clique's distribution given what it shares with its parent, an axis per attribute."""
        observed = observe(self.release, [self.names[i] for i in link.clique])
        design = Design(observed.sizes, pairwise(len(observed.sizes), min(2, len(observed.sizes))))
        joint = fit(observed, design, tau).theta.reshape(observed.sizes)
        own = tuple(place for place, axis in enumerate(link.clique) if axis in link.own)
        if not link.shared:
            return joint
        return np.asarray(joint / np.maximum(joint.sum(axis=own, keepdims=True), 1e-300))

    def counts(self, names: str | Sequence[str]) -> Estimate:
        asked = self._check([names] if isinstance(names, str) else list(names))
        axes = tuple(self.names.index(name) for name in asked)
        share = self._margin(axes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NegativeCountsWarning)
            noise = self._moment.counts(asked)
        return CliqueEstimate(noise.schema, share * self.n, (), "model", records=float(self.n), noise=noise)

    def counts_many(self, requests: Sequence[Sequence[str]]) -> list[Estimate]:
        return [self.counts(names) for names in requests]

    def shares(self, names: Sequence[str]) -> Array:
        """The modelled shares alone, flat."""
        return self._margin(tuple(self.names.index(name) for name in self._check(list(names))))

    def cells(self, names: str | Sequence[str], cells: ArrayLike) -> Estimate:
        asked = self._check([names] if isinstance(names, str) else list(names))
        codes = np.asarray(cells, dtype=np.int64).reshape(-1, len(asked))
        noise = self._moment.cells(asked, codes)  # checks the codes
        known = {self.names.index(name): column for name, column in zip(asked, codes.T, strict=True)}
        share = self.messages.mass(messages.given(known, self._sizes), len(codes))
        return CliqueEstimate(
            noise.schema, share * self.n, (), "model", codes=codes, records=float(self.n), noise=noise
        )

    def log_likelihood(
        self,
        names: str | Sequence[str] | None = None,
        theta: ArrayLike | None = None,
        *,
        release: Release | None = None,
    ) -> float:
        """log Pr(released records) under the model, of its own release or of another (held-out) one."""
        if names is not None and theta is not None:
            return super().log_likelihood(names, theta)
        total = 0.0
        for part in (release or self.release).parts:
            for findings, records in messages.released(part, self.names):
                seen = self.messages.mass(findings, len(records))
                total += float(records @ np.log(np.maximum(seen, 1e-300)))
        return total

    def sample(self, n: int, rng: np.random.Generator | int | None = None) -> pa.Table:
        """n records drawn clique by clique."""
        if n < 1:
            raise EstimationError(f"n must be at least 1, got {n} instead")
        codes = self.sample_codes(n, np.random.default_rng(rng))
        return self.schema.select(self.names).decode(dict(zip(self.names, codes, strict=True)))

    def sample_codes(self, n: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
        """A column of codes per attribute."""
        out: dict[int, NDArray[np.int64]] = {}
        for link, (clique, table) in zip(self.links, self._factors, strict=True):
            given = [clique.index(axis) for axis in link.shared]
            own = [clique.index(axis) for axis in link.own]
            flat = table.transpose([*given, *own]).reshape(prod(self._sizes[a] for a in link.shared), -1)
            upper = np.cumsum(flat, axis=1)
            row = np.zeros(n, dtype=np.int64)
            for axis in link.shared:
                row = row * self._sizes[axis] + out[axis]
            drawn = (rng.random(n)[:, None] * upper[row, -1:] >= upper[row]).sum(axis=1)
            drawn = np.minimum(drawn, flat.shape[1] - 1)
            parts = np.unravel_index(drawn, [self._sizes[axis] for axis in link.own])
            out.update(zip(link.own, parts, strict=True))
        return [out[axis] for axis in range(len(self.names))]

    def _margin(self, axes: tuple[int, ...]) -> Array:
        """Sum the other attributes out of the product of the factors, cheapest first."""
        factors = list(self._factors)
        left = set(range(len(self.names))) - set(axes)
        while left:
            chosen = min(left, key=lambda axis: prod(self._sizes[i] for i in _scope(factors, axis)))
            scope = tuple(sorted(_scope(factors, chosen)))
            product = self._multiply([f for f in factors if chosen in f[0]], scope)
            rest = tuple(i for i in scope if i != chosen)
            factors = [f for f in factors if chosen not in f[0]] + [(rest, product.sum(axis=scope.index(chosen)))]
            left.remove(chosen)
        return np.asarray(self._multiply(factors, axes).reshape(-1))

    def _multiply(self, factors: list[Factor], scope: tuple[int, ...]) -> Array:
        cells = prod(self._sizes[i] for i in scope)
        if cells > ANSWER_CELLS:
            raise EstimationError(
                f"the answer needs a table of {cells} cells, more than {ANSWER_CELLS}: ask for fewer attributes"
            )
        out = np.ones([self._sizes[i] for i in scope])
        for axes, table in factors:
            present = sorted(axes, key=scope.index)
            moved = table.transpose([axes.index(i) for i in present]) if axes else table
            out = out * moved.reshape([self._sizes[i] if i in axes else 1 for i in scope])
        return out


def _scope(factors: list[Factor], axis: int) -> set[int]:
    return set().union(*(set(axes) for axes, _ in factors if axis in axes))


def _groups(release: Release, names: Sequence[str]) -> list[tuple[int, ...]]:
    """Attributes that are randomized together stay together."""
    out: dict[tuple[int, ...], Any] = {}
    for part in release.parts:
        for group in part.scheme.groups:
            held = tuple(names.index(name) for name in group.names if name in names)
            if len(held) > 1:
                out[held] = None
    return list(out)
