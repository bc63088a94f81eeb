"""Evidence that asks one joint model: any table of any attributes, smooth, with a covariance."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato.channels.linear import Array
from sfumato.errors import EstimationError, NegativeCountsWarning, UnrecoverableWarning
from sfumato.evidence.estimate import Estimate
from sfumato.evidence.model.agreement import Disagreement, disagreements, in_words, misfit
from sfumato.evidence.model.candidates import Candidate, Choice, choose, fit_only
from sfumato.evidence.model.estimate import ModelEstimate
from sfumato.evidence.model.information import Information, information
from sfumato.evidence.model.observed import observe
from sfumato.evidence.model.retention import left_to_learn_from, warn_if_too_little
from sfumato.evidence.table import Evidence
from sfumato.printable import printable
from sfumato.release import Release

if TYPE_CHECKING:
    import pyarrow as pa

#: The most cells of a table that is modelled whole; beyond it the junction tree takes over.
JOINT_CELLS = 1 << 20


class ModelEvidence(Evidence):
    """Counts from a pairwise log-linear model of all attributes, fitted to the randomized records.

    ``tau`` fixes the penalty (None: chosen by held-out randomized records), ``order`` the highest interaction,
    ``target`` the class that learners will ask about (it adds naive Bayes to the candidates), ``names`` the attributes.

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
        super().__init__(release, names=names)
        self.method = "model"
        self.target = target
        self._asked: dict[str, Any] = {"tau": tau, "order": order, "target": target, "rng": rng}
        #: Whether the target was found independent of the others, and is modelled so; see ``about``.
        self.apart = False
        check_tau(tau)
        if not isinstance(order, int) or order < 1:
            raise EstimationError(f"order must be a whole number of at least 1, got {order!r} instead")
        if target is not None and target not in self.names:
            raise EstimationError(f"the target {target!r} is not among the modelled attributes {', '.join(self.names)}")
        cells = prod(self.schema.sizes(self.names))
        if cells > JOINT_CELLS:
            raise EstimationError(
                f"the joint table of {len(self.names)} attributes has {cells} cells, more than {JOINT_CELLS}: "
                f"model fewer attributes, or take JunctionEvidence(release)"
            )
        self._data = observe(release, self.names)
        self._rng = None if rng is None else np.random.default_rng(rng)
        self._choice = self._fit(tau, order, self._rng)
        warn_if_too_little(self.effective_records, self.n)

    def _fit(self, tau: float | None, order: int, rng: np.random.Generator | None) -> Choice:
        if tau is not None:
            return fit_only(self._data, tau, order)
        target = None if self.target is None else self.names.index(self.target)
        return choose(self._data, target, rng, order)

    # What it knows.

    @property
    def exact(self) -> bool:
        """Never: what a model says is smoothed, also of raw records."""
        return False

    def refitted(self, release: Release) -> ModelEvidence:
        return ModelEvidence(release, self.names, **self._asked)

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
    def candidates(self) -> tuple[Candidate, ...]:
        """What was tried, with held-out gains per record; empty where tau was given."""
        return self._choice.candidates

    @property
    def effective_records(self) -> float:
        """N · a_class² · median(a_j²): roughly how many clean records the randomized ones are worth for learning."""
        return left_to_learn_from(self.release, self.names, self.target)

    def __repr__(self) -> str:
        says = in_words(self.disagreement())
        return f"ModelEvidence({printable(', '.join(self.names))}; {self.chosen}; n={self.n}; {says})"

    # What it answers.

    def counts(self, names: str | Sequence[str]) -> ModelEstimate:
        asked = self._check([names] if isinstance(names, str) else list(names))
        shares = self.shares(asked)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NegativeCountsWarning)
            unbiased = self._moment.counts(asked).population()
        found = self._information
        if found is not None:
            root = found.root(tuple(self.names.index(name) for name in asked))
            wrong = misfit(shares, (root**2).sum(axis=1), unbiased)
        else:  # too many parameters to invert: the unbiased estimate's own noise bounds the model's from above
            root = np.zeros((len(shares), 0))
            wrong = unbiased.variance + misfit(shares, unbiased.variance, unbiased)
        return ModelEstimate(
            self.schema.select(asked), shares * self.n, (), "model", records=float(self.n), root=root, misfit=wrong
        )

    def shares(self, names: Sequence[str]) -> Array:
        """The modelled shares alone, flat."""
        return margin(self.joint, [self.names.index(name) for name in names])

    def counts_many(self, requests: Sequence[Sequence[str]]) -> list[Estimate]:
        return [self.counts(names) for names in requests]

    def cells(self, names: str | Sequence[str], cells: ArrayLike) -> Estimate:
        whole = self.counts(names)
        asked = tuple(whole.schema.names)
        codes = np.asarray(cells, dtype=np.int64)
        if codes.ndim != 2 or codes.shape[1] != len(asked):
            raise EstimationError(f"cells must list a code for each of the {len(asked)} attributes, a row per cell")
        flat = np.ravel_multi_index(tuple(codes.T), whole.shape)
        return replace(whole, value=whole.value[flat], codes=codes, root=whole.root[flat], misfit=whole.misfit[flat])

    def region(self, fixed: Mapping[str, int], target: str) -> Array | None:
        """The covariance of the shares of every class of the target among records with the fixed codes."""
        found = self._information
        if found is None:
            return None
        return found.region({self.names.index(name): code for name, code in fixed.items()}, self.names.index(target))

    def sample(self, n: int, rng: np.random.Generator | int | None = None) -> pa.Table:
        """n records drawn from the model: synthetic, none of them anybody's."""
        if n < 1:
            raise EstimationError(f"n must be at least 1, got {n} instead")
        drawn = np.random.default_rng(rng).choice(self.theta.size, size=n, p=self.theta / self.theta.sum())
        codes = np.unravel_index(drawn, self.schema.sizes(self.names))
        return self.schema.select(self.names).decode(dict(zip(self.names, codes, strict=True)))

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
        observed = self._data if release is None else observe(release, self.names)
        return observed.log_likelihood(self.theta)

    def about(self, target: str) -> ModelEvidence:
        """What a learner of the target should ask: this model, or where held-out records do not show that anything
        foretells the target, the same with the target independent of all else, so that its majority is learned.
        """
        if self.target == target and self.apart:
            return self
        axis = self.names.index(self._check([target])[0])
        choice = self._choice.about(self._data, axis, self._rng)
        if choice is self._choice:
            return self
        warnings.warn(
            f"held-out records do not show that any attribute foretells {target!r}: its majority class is all that "
            f"can be learned",
            UnrecoverableWarning,
            stacklevel=2,
        )
        out = copy(self)
        out.__dict__.pop("_information", None)
        out.target, out.apart, out._choice = target, True, choice
        return out

    def posterior_counts(self) -> Array:
        """Expected counts of the true table given the released one, Σ_y Ñ_y Pr(x | y), flat."""
        return np.asarray(self.theta * self._data.evaluate(self.theta)[1] * self._data.total)

    def disagreement(self, level: float = 0.001) -> tuple[Disagreement, ...]:
        """Tables on which the model and the unbiased estimate differ by more than their noise, worst first."""
        return disagreements(self._moment, self, level)

    # Inside.

    @cached_property
    def _moment(self) -> Evidence:
        return Evidence(self.release, "moment", self.names)

    @cached_property
    def _information(self) -> Information | None:
        fitted = self._choice.fitted
        return information(self._data, fitted.design, self.theta, fitted.tau)


def check_tau(tau: Any) -> None:
    """Refuse a penalty that is not positive; None asks for the choice."""
    good = tau is None or (isinstance(tau, int | float) and not isinstance(tau, bool) and tau > 0)
    if not good:
        raise EstimationError(f"tau must be positive, got {tau!r} instead")


def margin(joint: Array, axes: Sequence[int]) -> Array:
    """The flat margin of a table over some axes, in their order."""
    kept = sorted(axes)
    summed = joint.sum(axis=tuple(i for i in range(joint.ndim) if i not in axes))
    return np.asarray(summed.transpose([kept.index(axis) for axis in axes]).reshape(-1))
