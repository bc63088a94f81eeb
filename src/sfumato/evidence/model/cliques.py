"""The joint model of many attributes: small models of cliques, tied together along a junction tree.

    θ(x) = ∏_cliques θ_C(x_C) / ∏_separators θ_S(x_S)

The links are the pairs that pass the Wald test against the randomization's own noise; they are taken strongest first
as long as no clique has more than ``CLIQUE_CELLS`` cells, and those that did not fit are listed in ``dropped``. Each
clique is a log-linear model of its own released columns, with a penalty for each pair; a child enters by its
distribution given what it shares with its parent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.arrays import Array, Codes
from sfumato.errors import NotAskedError, without_warnings
from sfumato.evidence.asked_parts import asked_together
from sfumato.evidence.base import ANSWER_CELLS
from sfumato.evidence.counting import all_together
from sfumato.evidence.direct import check_cells
from sfumato.evidence.independence import dependent_pairs
from sfumato.evidence.mle import whole_groups
from sfumato.evidence.model import messages
from sfumato.evidence.model.base import ModelOfRelease
from sfumato.evidence.model.clique_parts import randomized_together, with_one_asked_too, within_clique
from sfumato.evidence.model.design_matrix import DesignMatrix, pairwise
from sfumato.evidence.model.effective_records import warn_if_too_little
from sfumato.evidence.model.goodness_of_fit import in_words
from sfumato.evidence.model.joint import ModelEvidence
from sfumato.evidence.model.likelihood import likelihood
from sfumato.evidence.model.loglinear import fit
from sfumato.evidence.model.model_estimate import ModelEstimate
from sfumato.evidence.model.own_penalties import PairPenalties
from sfumato.evidence.model.triangulate import Link, bounded, tree
from sfumato.evidence.roll_up import Levels, roll_up
from sfumato.evidence.seen import seen_records
from sfumato.evidence.table import Table, eliminate
from sfumato.release import Release

#: The bound on a clique's table.
CLIQUE_CELLS = 1 << 12


class JunctionEvidence(ModelOfRelease):
    """Counts from a model of cliques; answers ``counts`` for any attributes whose table is small enough to list."""

    def __init__(
        self,
        release: Release,
        names: Sequence[str] | None = None,
        tau: float | None = None,
        most: int = CLIQUE_CELLS,
        target: str | None = None,
    ) -> None:
        super().__init__(release, names, tau, target)
        self._options: dict[str, Any] = {"tau": tau, "most": most, "target": target}
        self._covering: ModelEvidence | None = None
        sizes = self.schema.sizes(self.names)
        dependent = dependent_pairs(self._moment, self.names)
        pairs = [*dependent, *with_one_asked_too(release, self.names, dependent)]
        ranked = [(self.names.index(x), self.names.index(y)) for x, y in pairs]
        if target is not None:  # what the model is for comes first
            place = self.names.index(target)
            ranked.sort(key=lambda pair: place not in pair)
        found, left_out = bounded(len(self.names), ranked, sizes, most, randomized_together(release, self.names))
        self.links = tree(found)
        #: Pairs that depend on each other and did not fit into cliques of the bounded size.
        self.dropped = [(self.names[i], self.names[j]) for i, j in left_out]
        penalties = PairPenalties(release)
        self._tables = [self._conditional(link, tau, penalties) for link in self.links]
        #: What answers questions of many cases at once.
        self.messages = messages.Messages(self.links, [table.values for table in self._tables], sizes)
        warn_if_too_little(self.effective_records, self.n)

    def refitted(self, release: Release) -> JunctionEvidence:
        return JunctionEvidence(release, self.names, **self._options)

    def about(self, target: str) -> JunctionEvidence:
        self._asked(target)
        return self

    def covering(self, names: Sequence[str]) -> ModelOfRelease:
        """A model of these attributes by themselves, where no clique holds them all and one might."""
        asked = self._check(names)
        if self._holding(asked) or not self._has_room(asked) or not asked_together(self.release, asked):
            return self
        if self._covering is None or self._covering.names != asked:
            with without_warnings():
                self._covering = ModelEvidence(self.release, asked, tau=self._options["tau"])
            apart = f"no clique of the model holds {all_together(asked)}: here they are modelled alone"
            self._covering._said = (apart,)
        return self._covering

    def said(self, names: Sequence[str]) -> tuple[str, ...]:
        asked = tuple(names)
        if self._holding(asked):
            return self._said
        both = f"no clique of the model holds {all_together(asked)}"
        if self._has_room(asked):
            return (f"{both}, so that it knows of their dependence what follows from others (covering({list(asked)}))",)
        return (f"{both}: it knows of their dependence what follows from others; the unbiased counts know all of it",)

    def _has_room(self, asked: Sequence[str]) -> bool:
        most: int = self._options["most"]
        return prod(self.schema.sizes(asked)) <= most

    def _holding(self, asked: Sequence[str]) -> list[int]:
        """The places of the cliques that hold all of these attributes."""
        wanted = {self.names.index(name) for name in asked}
        return [i for i, link in enumerate(self.links) if wanted <= set(link.clique)]

    @property
    def likelihood_cost(self) -> int:
        """How many cells ``log_likelihood`` goes through: all of every clique, for every record."""
        return self.n * sum(table.values.size for table in self._tables)

    @property
    def cliques(self) -> list[tuple[str, ...]]:
        """The attributes of every clique."""
        return [tuple(self.names[i] for i in link.clique) for link in self.links]

    def __repr__(self) -> str:
        largest = max(table.values.size for table in self._tables)
        return (
            f"JunctionEvidence({len(self.names)} attributes in {len(self.links)} cliques of at most {largest:,} cells; "
            f"{len(self.dropped)} weaker links left out; n={self.n:,}; {in_words(self.disagreement())})"
        )

    def _conditional(self, link: Link, tau: float | None, penalties: PairPenalties) -> Table:
        """The clique's distribution given what it shares with its parent."""
        names = tuple(self.names[i] for i in link.clique)
        observed = likelihood(within_clique(self.release, names), names)
        design = DesignMatrix(observed.sizes, pairwise(len(names), min(2, len(names))))
        own = penalties.of(names, design.terms) if tau is None else tau
        joint = Table(names, fit(observed, design, own).theta.reshape(observed.sizes))
        if not link.shared:
            return joint
        given = joint.project([self.names[i] for i in link.shared]).expand(names)
        return Table(names, joint.values / np.maximum(given.values, 1e-300))

    def counts(self, names: str | Sequence[str], *, level: Levels | None = None, quiet: bool = False) -> ModelEstimate:
        asked = self._asked(names)
        if level is not None:
            return roll_up(self.counts(asked, quiet=quiet), level)
        if not asked_together(self.release, asked):
            raise NotAskedError(
                f"no form asks {', '.join(asked)} together, and a model of so many attributes does not know the error "
                f"of their table: model fewer (names=[...], or --columns)"
            )
        noise = self._moment.counts(asked, quiet=True)
        value, said = self.shares(asked) * self.n, self.said(asked)
        return ModelEstimate(noise.schema, value, noise.seen, "model", records=noise.records, said=said)

    def shares(self, names: Sequence[str], cells: Codes | None = None) -> Array:
        """The modelled shares alone, flat."""
        if cells is not None:
            return self.messages.mass(self._given(dict(zip(names, cells.T, strict=True))), len(cells))
        return eliminate(self._telling(self._check(names)), names, ANSWER_CELLS).values.reshape(-1)

    def _telling(self, asked: tuple[str, ...]) -> list[Table]:
        """Tables whose product, summed to the asked attributes, is their distribution: of as few cliques as will do.

        One clique that holds them all, or the tree between those that hold them. What hangs below sums to one. The
        topmost enters by its distribution, the others by theirs given what they share with their parent.
        """
        holding = self._holding(asked)
        if holding:
            return [self._marginals[min(holding, key=lambda i: self._marginals[i].values.size)]]
        wanted = {self.names.index(name) for name in asked}
        below: dict[int, list[int]] = {}
        tops = []
        for i in range(len(self.links) - 1, -1, -1):
            link = self.links[i]
            if i not in below and wanted.isdisjoint(link.own):
                continue
            below.setdefault(i, [])
            if link.parent is None:
                tops.append(i)
            else:
                below.setdefault(link.parent, []).append(i)
        out = []
        for top in tops:
            while len(below[top]) == 1:
                (only,) = below[top]
                if not wanted & set(self.links[top].clique) <= set(self.links[only].clique):
                    break
                top = only
            out.append(self._marginals[top])
            inside = list(below[top])
            while inside:
                place = inside.pop()
                out.append(self._tables[place])
                inside += below[place]
        return out

    @cached_property
    def _marginals(self) -> list[Table]:
        """The distribution of every clique."""
        out: list[Table] = []
        for link, table in zip(self.links, self._tables, strict=True):
            if link.parent is not None:
                shared = out[link.parent].project([self.names[i] for i in link.shared])
                table = table.multiply(shared).reorder(table.names)
            out.append(table)
        return out

    def cells(self, names: str | Sequence[str], cells: ArrayLike) -> ModelEstimate:
        asked = self._asked(names)
        codes = check_cells(cells, self.schema.sizes(asked))
        noise = self._moment.cells(asked, codes)
        value, said = self.shares(asked, codes) * self.n, self.said(asked)
        return ModelEstimate(noise.schema, value, noise.seen, "model", codes=codes, records=noise.records, said=said)

    def within(self, fixed: Mapping[str, int | Codes], names: Sequence[str], target: str) -> list[Array]:
        classes, n = self.schema[target].size, self.n
        cases = np.broadcast_shapes(*(np.shape(codes) for codes in fixed.values()))
        known = {name: np.repeat(codes, classes) for name, codes in fixed.items()}
        known[target] = np.tile(np.arange(classes), prod(cases))
        found = self.messages.singles(
            self._given(known), len(known[target]), [self.names.index(name) for name in names]
        )
        return [np.swapaxes(one.reshape(*cases, classes, -1), -1, -2) * n for one in found]

    def sample_codes(self, n: int, rng: np.random.Generator) -> dict[str, NDArray[np.int64]]:
        """Drawn clique by clique."""
        out: dict[str, NDArray[np.int64]] = {}
        for link, table in zip(self.links, self._tables, strict=True):
            shared, own = ([self.names[i] for i in axes] for axes in (link.shared, link.own))
            sizes = table.sizes
            flat = table.reorder([*shared, *own]).values.reshape(prod(sizes[name] for name in shared), -1)
            upper = np.cumsum(flat, axis=1)
            row = np.zeros(n, dtype=np.int64)
            for name in shared:
                row = row * sizes[name] + out[name]
            upper /= np.where(upper[:, -1:] > 0, upper[:, -1:], 1.0)
            upper += np.arange(len(upper))[:, None]  # all rows one rising list, so that one search serves all draws
            drawn = np.searchsorted(upper.reshape(-1), row + rng.random(n), side="right") - row * flat.shape[1]
            drawn = np.minimum(drawn, flat.shape[1] - 1)
            out.update(zip(own, np.unravel_index(drawn, [sizes[name] for name in own]), strict=True))
        return {name: out[name] for name in self.names}

    def _likelihood(self, release: Release) -> float:
        total = 0.0
        for part in release.parts:
            asked = [name for name in self.names if name in part.scheme.schema]
            if not asked or not len(part):
                continue
            records = seen_records(part, asked).widened(self.names, self.messages.sizes)
            whole_groups([records], "the model must cover whole groups")
            for found, counts in messages.findings(records):
                seen = self.messages.mass(found, len(counts))
                total += float(counts @ np.log(np.maximum(seen, 1e-300)))
        return total

    def _given(self, codes: Mapping[str, NDArray[np.integer]]) -> list[messages.Finding]:
        return messages.given({self.names.index(name): own for name, own in codes.items()}, self.messages.sizes)
