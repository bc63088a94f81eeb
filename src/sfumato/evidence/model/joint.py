"""Evidence that asks one joint model: any table of any attributes, smooth, with a covariance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property, partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.arrays import Array, Codes
from sfumato.errors import EstimationError, NotAskedError, NothingForetoldWarning, warn
from sfumato.evidence.asked_parts import largest_asked
from sfumato.evidence.direct import check_cells
from sfumato.evidence.model.base import ModelOfRelease
from sfumato.evidence.model.candidates import INDEPENDENT, ChosenModel, TriedModel, choose, fit_only
from sfumato.evidence.model.effective_records import warn_if_too_little
from sfumato.evidence.model.goodness_of_fit import in_words
from sfumato.evidence.model.information import Information, information
from sfumato.evidence.model.likelihood import likelihood
from sfumato.evidence.model.model_estimate import ModelEstimate
from sfumato.evidence.model.own_penalties import PairPenalties, with_unsure_penalties
from sfumato.evidence.roll_up import Levels, roll_up
from sfumato.evidence.some_cells import some_cells
from sfumato.evidence.table import Table
from sfumato.printable import printable
from sfumato.release import Release

#: The most cells of a table that is modelled whole; beyond it the junction tree takes over.
JOINT_CELLS = 1 << 20


class ModelEvidence(ModelOfRelease):
    """Counts from a pairwise log-linear model of all attributes, fitted to the randomized records.

    ``tau`` fixes one penalty for all pairs (None: each pair has its own, as the records tell), ``order`` the highest
    interaction, ``target`` the class that learners will ask about (it adds naive Bayes to the candidates), ``names``
    the attributes.

    >>> import sfumato as sf
    >>> from sfumato.datasets import discretized
    >>> table, schema = discretized.wisconsin(), discretized.WISCONSIN
    >>> scheme = sf.Scheme(schema, {name: sf.channels.symmetric(schema[name].size, .2) for name in schema})
    >>> model = ModelEvidence(sf.randomize(table, scheme, rng=sf.experiment(1)), tau=.3)
    >>> model.counts("class").value.round(-1), model.exact
    (array([450., 230.]), False)
    """

    def __init__(
        self,
        release: Release,
        names: Sequence[str] | None = None,
        *,
        tau: float | None = None,
        order: int = 2,
        target: str | None = None,
        rng: np.random.Generator | int | None = None,
    ) -> None:
        super().__init__(release, names, tau, target)
        self._options: dict[str, Any] = {"tau": tau, "order": order, "target": target, "rng": rng}
        #: Whether the target was found independent of the others, and is modelled so; see ``about``.
        self.apart = False
        if isinstance(order, bool) or not isinstance(order, int) or order < 1:
            raise EstimationError(f"order must be a whole number of at least 1, got {order!r} instead")
        cells = prod(self.schema.sizes(self.names))
        if cells > JOINT_CELLS:
            raise EstimationError(
                f"the joint table of {len(self.names)} attributes has more than {JOINT_CELLS:,} cells: "
                f"model fewer attributes, or take JunctionEvidence(release)"
            )
        self._data = likelihood(release, self.names)
        self._rng = None if rng is None else np.random.default_rng(rng)
        self._choice = self._fit(tau, order, self._rng)
        warn_if_too_little(self.effective_records, self.n)

    def _fit(self, tau: float | None, order: int, rng: np.random.Generator | None) -> ChosenModel:
        if tau is not None:
            return fit_only(self._data, tau, order)
        target = None if self.target is None else self.names.index(self.target)
        return choose(self._data, target, partial(PairPenalties(self.release).of, self.names), rng, order)

    # What it knows.

    def refitted(self, release: Release) -> ModelEvidence:
        return ModelEvidence(release, self.names, **self._options)

    @property
    def theta(self) -> Array:
        """The modelled distribution, flat, first attribute slowest."""
        return self._choice.theta

    @property
    def joint(self) -> Array:
        """The modelled distribution with one axis per attribute."""
        return self.theta.reshape(self.schema.sizes(self.names))

    @property
    def chosen(self) -> str:
        """Which candidate the model is."""
        return self._choice.name

    @property
    def candidates(self) -> tuple[TriedModel, ...]:
        """What was tried, with held-out gains per record; empty where tau was given."""
        return self._choice.candidates

    def __repr__(self) -> str:
        says = in_words(self.disagreement())
        return f"ModelEvidence({printable(', '.join(self.names))}; {self.chosen}; n={self.n:,}; {says})"

    # What it answers.

    def counts(self, names: str | Sequence[str], *, level: Levels | None = None, quiet: bool = False) -> ModelEstimate:
        asked = self._asked(names)
        if level is not None:
            return roll_up(self.counts(asked, quiet=quiet), level)
        shares, found = self.shares(asked), self._information
        root = None if found is None else found.root(tuple(self.names.index(name) for name in asked))
        try:
            counted = self._moment.counts(asked, quiet=True)
        except NotAskedError:
            if root is None:
                raise
            schema, n, untold = self.schema.select(asked), float(self.n), self._untold(asked)
            said = self.said(asked)
            return ModelEstimate(schema, shares * n, (), "model", records=n, root=root, untold=untold, said=said)
        schema, seen = counted.schema, counted.seen
        return ModelEstimate(
            schema, shares * self.n, seen, "model", records=counted.records, root=root, said=self.said(asked)
        )

    def said(self, names: Sequence[str]) -> tuple[str, ...]:
        if len(names) > 1 and self.chosen == INDEPENDENT:
            return (*self._said, "held-out records show no dependence: the model takes all attributes for independent")
        return self._said

    def _untold(self, asked: tuple[str, ...]) -> Array:
        """Of a table that no form asks: how far the model is from the unbiased counts of the largest tables within it
        that some form asks, spread over its cells as the model spreads them; a column for each."""
        whole, out = Table(self.names, self.joint).project(asked), []
        for names in largest_asked(self.release, asked):
            own = self.counts(names, quiet=True)
            share = whole.values / np.maximum(whole.project(names).expand(asked).values, 1e-300)
            apart = Table(names, own.apart.reshape(own.shape) / self.n)
            out.append((apart.expand(asked).values * share).reshape(-1))
        return np.stack(out, axis=1)

    def shares(self, names: Sequence[str], cells: Codes | None = None) -> Array:
        """The modelled shares alone, flat."""
        values = Table(self.names, self.joint).project(names).values
        return values.reshape(-1) if cells is None else np.asarray(values[tuple(cells.T)])

    def cells(self, names: str | Sequence[str], cells: ArrayLike) -> ModelEstimate:
        whole = self.counts(names)
        codes = check_cells(cells, whole.shape)
        return some_cells(whole, np.ravel_multi_index(tuple(codes.T), whole.shape))

    def within(self, fixed: Mapping[str, int | Codes], names: Sequence[str], target: str) -> list[Array]:
        tables = [Table(self.names, self.joint).project([*fixed, name, target]).values for name in names]
        return [np.asarray(table[tuple(fixed.values())] * self.n) for table in tables]

    def region(self, fixed: Mapping[str, int], target: str) -> Array:
        found = self._information
        if found is None:
            return super().region(fixed, target)
        places = {self.names.index(name): code for name, code in fixed.items()}
        return found.region(places, self.names.index(target)) * self.n**2

    def sample_codes(self, n: int, rng: np.random.Generator) -> dict[str, NDArray[np.int64]]:
        drawn = rng.choice(self.theta.size, size=n, p=self.theta / self.theta.sum())
        return dict(zip(self.names, np.unravel_index(drawn, self.joint.shape), strict=True))

    def _likelihood(self, release: Release) -> float:
        held = self._data if release is self.release else likelihood(release, self.names)
        return held.log_likelihood(self.theta)

    def about(self, target: str) -> ModelEvidence:
        """What a learner of the target should ask: this model, or where held-out records do not show that anything
        foretells the target, the same with the target independent of all else, so that its majority is learned.
        """
        if self.target == target and self.apart:
            return self
        axis = self.names.index(self._asked(target)[0])
        choice = self._choice.about(self._data, axis, self._rng)
        if choice is self._choice:
            return self
        warn(
            f"held-out records do not show that any attribute foretells {target!r}: its majority class is all that "
            f"can be learned",
            NothingForetoldWarning,
            stacklevel=2,
        )
        out = copy(self)
        out.__dict__.pop("_information", None)
        out.target, out.apart, out._choice = target, True, choice
        return out

    def posterior_counts(self) -> Array:
        """Expected counts of the true table given the released one, Σ_y Ñ_y Pr(x | y), flat."""
        return np.asarray(self.theta * self._data.evaluate(self.theta)[1] * self._data.total)

    @cached_property
    def _information(self) -> Information | None:
        fitted = self._choice.fitted
        found = information(self._data, fitted.design, self.theta, fitted.tau)
        if found is None or isinstance(fitted.tau, float | int):
            return found
        return replace(found, covariance=with_unsure_penalties(found, fitted))
