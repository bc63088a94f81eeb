"""The answer to a question: a row for each group, with its interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.arrays import Array, Index
from sfumato.evidence.questions.combinations import LEVEL95, Combination, contrast, linear, ratio
from sfumato.evidence.questions.forms import AnswerForm, Shares
from sfumato.evidence.questions.rows import Rows
from sfumato.evidence.questions.statistics import ModelSums, Sums
from sfumato.evidence.questions.values import are_years
from sfumato.pages.display import shown
from sfumato.printable import label_text, many

#: An interval that takes in so much of what is possible leaves the answer open.
ALL_POSSIBLE = 0.95


@dataclass(frozen=True, eq=False, repr=False)
class Answer(Rows):
    r"""Answers of one form, from sums over the true records.

    Of the finite population (this table's own records; the default) or, by ``population()``, of the distribution behind
    the table. With J the derivative of the answers by the sums, Cov = J Cov(S) Jᵀ. ``interval`` does not rest on it:
    ratios and correlations have Fieller's limits, quantiles those of running shares. Where the form
    says so (``by_limits``) the standard deviation is that of a normal estimate with the same limits.

    ``closer`` holds estimates that lie nearer to the truth on average than those of the sums: smoothed ones, or those
    of a joint model. They have no limits of their own that hold, so that the limits stay those of the unbiased answer,
    and the estimates are kept within them.

    ``beside`` tells how many records (or how much weight) each answer rests on, and how many gave no answer.
    """

    sums: Sums | ModelSums
    form: AnswerForm
    what: str
    names: Mapping[str, list[Any]]
    of_population: bool = False
    everybody: Index | None = None  # the sums of all records of each row's group, with those who gave no answer
    said: tuple[str, ...] = ()
    running: str | None = None
    spans: tuple[Array, Array] | None = None
    closer: Array | None = None
    attribute: str = ""
    named: tuple[str, ...] = ()
    between_places: bool = False

    @property
    def n(self) -> float:
        return float(self.sums.n)

    @property
    def keys(self) -> dict[str, list[Any]]:
        return dict(self.names)

    @property
    def title(self) -> str:
        return self.what

    @property
    def of_years(self) -> bool:
        return are_years(float(self.form.low.min(initial=np.inf)), float(self.form.high.max(initial=0.0)))

    @cached_property
    def _found(self) -> tuple[Array, Array]:
        return self.sums.population(self.form.jacobian) if self.of_population else self.sums.finite()

    @cached_property
    def value(self) -> Array:
        own = self.form.value(self._found[0])
        if self.closer is None:
            return own
        low, high = self.form.limits(*self._found, LEVEL95)
        closer = self.closer
        if self.running is not None:  # a share is no less than the limits before it allow, and no more than those after
            rows = (-1, len(set(self.names[self.running])))
            least = np.fmax.accumulate(low.reshape(rows), axis=1)
            most = np.fmin.accumulate(high.reshape(rows)[:, ::-1], axis=1)[:, ::-1]
            closer = np.clip(closer.reshape(rows), least, most).reshape(-1)
        return np.where(np.isnan(own) | np.isnan(closer), own, np.clip(closer, low, high))

    @property
    def plain(self) -> Answer:
        """The answer of the sums themselves, unbiased up to the ends of what is possible."""
        return self if self.closer is None else replace(self, closer=None)

    @cached_property
    def cov(self) -> Array:
        S, C = self._found
        J = self.form.jacobian(S)
        lost = np.asarray(np.isnan(J).any(axis=1))
        J = np.where(lost[:, None], 0.0, J)
        out: Array = J @ C @ J.T
        if np.any(self.form.by_limits):
            low, high = self.form.limits(S, C, LEVEL95)
            out = _agreeing(out, np.where(self.form.by_limits, ((high - low) / (2 * LEVEL95)) ** 2, np.diag(out)))
        elif isinstance(self.form, Shares) and self.of_population:  # none and all have no spread of their own
            low, high = self.form.limits(S, C, LEVEL95)
            told, own = ((high - low) / (2 * LEVEL95)) ** 2, self.form.value(S)
            at_an_end = (own <= self.form.low) | (own >= self.form.high)
            out[np.diag_indices(len(out))] = np.where(at_an_end, np.maximum(told, np.diag(out)), np.diag(out))
        out[lost], out[:, lost] = np.nan, np.nan
        return np.asarray(out)

    def limits(self, z: float) -> tuple[Array, Array]:
        low, high = self.form.limits(*self._found, z)
        value = np.where(np.isnan(self.value), low, self.value)
        return np.minimum(low, value), np.maximum(high, value)

    def open(self, level: float = 0.95, *, anytime: bool = False) -> NDArray[np.bool_]:
        low, high = self.interval(level, anytime=anytime)
        span = self.form.high - self.form.low
        return np.asarray((high - low >= ALL_POSSIBLE * span) & (span > 0))

    @property
    def floor(self) -> Array:
        """The least that each answer can be."""
        return self.form.low

    def population(self) -> Answer:
        """The same of the distribution behind the table, sampling noise included; parts weighed by their precision."""
        squares = self.sums.squares(self.form.jacobian) if isinstance(self.sums, Sums) else None
        return replace(self, of_population=True, form=self.form.of_population(float(self.sums.n), squares))

    def contrast(self, a: Any, b: Any) -> Combination:
        """The difference a - b of two groups."""
        return contrast(self, a, b)

    def ratio(self, a: Any, b: Any) -> Combination:
        """The ratio a / b of two groups, with Fieller's limits."""
        return ratio(self, a, b)

    def linear(self, weights: ArrayLike | Mapping[Any, float]) -> Combination:
        """A weighted sum of the rows: a weight for each, in order, or by label."""
        return linear(self, weights)

    @property
    def beside(self) -> dict[str, Array]:
        S, C = self.sums.finite()  # over this table's own records
        places = np.arange(len(S), dtype=np.float64)
        own = self.form.records(places).astype(np.int64)  # those of the sums behind each answer
        out = {"answered": np.maximum(S[own], 0.0), "answered_sd": _root(C[own, own])}
        if self.everybody is not None:
            every = self.everybody
            out["answered"] = np.minimum(out["answered"], np.maximum(S[every], 0.0))
            out["no_answer"] = np.maximum(S[every] - S[own], 0.0)
            out["no_answer_sd"] = _root(C[every, every] - 2 * C[every, own] + C[own, own])
        return out

    @property
    def notes(self) -> tuple[str, ...]:
        out = list(self.said)
        unknown = np.flatnonzero(self.open() | np.isnan(self.value))
        if len(unknown):
            labels = self.labels()
            some = "; ".join(", ".join(map(_named, labels[i])) or "everybody" for i in unknown[:3])
            more = "; ..." if len(unknown) > 3 else ""
            told = f"{len(unknown)} of {many(len(self.value), 'row')} {'is' if len(unknown) == 1 else 'are'} not known"
            out.append(f"{told}, for want of records: nearly all values are possible ({some}{more})")
        if self.of_population and self.form.unseen(self._found[0], *self.interval()).any():
            out.append(
                "of few answers: values that nobody gave, and up to 3 in so many people hold, could move a mean of the "
                "population beyond its limits"
            )
        if self.everybody is not None:
            out.append("records that gave no answer are left out, and counted under no_answer")
        return tuple(out)


def _named(label: object) -> str:
    return shown(label) if isinstance(label, float) else label_text(label)


def _agreeing(cov: Array, told: Array) -> Array:
    """The covariance with the variances that limits tell; what these add is no error that rows share."""
    own = np.diag(cov)
    part = np.sqrt(np.minimum(np.divide(told, own, out=np.ones(len(own)), where=own > 0), 1.0))
    out = cov * np.outer(part, part)
    np.fill_diagonal(out, told)
    return np.asarray(out)


def _root(variance: Array) -> Array:
    """Standard deviations; those far below one record are what rounding left of a known number."""
    sd = np.sqrt(np.maximum(variance, 0.0))
    return np.where(sd < 1e-3, 0.0, sd)
