"""Gaussian coefficients where covariates or the response carry additive noise: corrected moments, record by record.

    Σ_i (xy)_i = Σ_i (xxᵀ)_i β

where (xxᵀ)_i and (xy)_i are unbiased given the released record i. Of z = x + noise with variance μ₂ the number x has
the score z, its square z² - μ₂ (the correction for attenuation), and so on. Of codes the scores are the channel's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from sfumato.arrays import Array
from sfumato.errors import EstimationError
from sfumato.evidence import Evidence
from sfumato.evidence.questions.gather import noisy
from sfumato.evidence.questions.records import RecordScores, record_scores
from sfumato.evidence.questions.statistics import Statistic, product
from sfumato.learn.regression.design_columns import Column
from sfumato.learn.regression.moments import Moments
from sfumato.learn.regression.response import Response
from sfumato.schema import Numeric, Schema

_MOST_POWER = 2


@dataclass(frozen=True, eq=False)
class Term:
    """A column as a number times a product of one factor per attribute."""

    term: str
    scale: float
    factors: Statistic

    def column(self, schema: Schema) -> Column:
        """The same over the codes of a schema in which every power is one of a numeric attribute's numbers."""
        own = {
            name: cast(Numeric, schema[name]).midpoints ** factor if isinstance(factor, int) else factor
            for name, factor in self.factors.items()
        }
        made = Column("", (), np.asarray(self.scale))
        for name, factor in own.items():
            made = made.times(Column("", (name,), factor))
        return replace(made, term=self.term)

    def times(self, other: Term) -> tuple[float, Statistic | None]:
        return self.scale * other.scale, product(self.factors, other.factors)


def noises_of(source: Evidence, names: Sequence[str]) -> list[str]:
    """Which of these attributes carry additive noise in some part."""
    found = noisy(source)
    return [name for name in names if name in found]


def terms_of(columns: Sequence[Column], schema: Schema, noises: Sequence[str]) -> list[Term]:
    """The columns, each taken apart; refuses what is not told of a number with noise, such as dummies of its bins."""
    return [_apart(column, schema, noises) for column in columns]


def _apart(column: Column, schema: Schema, noises: Sequence[str]) -> Term:
    if not column.names:
        return Term(column.term, float(column.table), {})
    highest = np.unravel_index(int(np.abs(column.table).argmax()), column.table.shape)
    peak = scale = float(column.table[highest])
    factors: Statistic = {}
    rebuilt = np.full((1,) * column.table.ndim, peak)
    for axis, name in enumerate(column.names):
        at = tuple(slice(None) if i == axis else place for i, place in enumerate(highest))
        own = column.table[at] / peak
        rebuilt = rebuilt * own.reshape([-1 if i == axis else 1 for i in range(column.table.ndim)])
        if name not in noises:
            factors[name] = own
            continue
        power, size = _power(own, name, schema, column.term)
        factors[name] = power
        scale *= size
    if not np.allclose(rebuilt, column.table, atol=1e-9 * float(np.abs(column.table).max())):
        raise EstimationError(f"the term {column.term!r} is no product of its attributes: it is not told under noise")
    return Term(column.term, scale, factors)


def _power(own: Array, name: str, schema: Schema, term: str) -> tuple[int, float]:
    """(p, c) with own = c · number^p."""
    domain = schema[name]
    numbers = domain.midpoints if isinstance(domain, Numeric) else np.arange(len(own), dtype=np.float64)
    for power in range(1, _MOST_POWER + 1):
        base = numbers**power
        size = float(own @ base / (base @ base))
        if np.allclose(own, size * base, atol=1e-9):
            return power, size
    raise EstimationError(
        f"{name!r} carries additive noise, and the term {term!r} needs more than the number and its square: name "
        f"{name!r} itself, or cut the numbers into intervals (release.in_intervals())"
    )


def noisy_moments(
    source: Evidence, columns: Sequence[Column], response: Response, names: Sequence[str]
) -> tuple[NoisyMoments, Array]:
    """The moments of columns that are brought to size 1, and the sizes; the response is the last of the names."""
    noises = noises_of(source, names)
    own = (names[-1],)
    y = Column("y", own, np.where(response.kept, response.values, 0.0))
    listed = [*columns, y]
    if not response.kept.all():
        listed.append(Column("answered", own, response.kept.astype(np.float64)))
    terms = terms_of(listed, source.schema, noises)
    sizes = np.array([float(np.abs(column.table).max()) or 1.0 for column in columns])
    scaled = [replace(term, scale=term.scale / size) for term, size in zip(terms, sizes, strict=False)]
    answered = terms[len(columns) + 1] if len(terms) > len(columns) + 1 else None
    return NoisyMoments(source, names, scaled, terms[len(columns)], answered), sizes


class NoisyMoments(Moments[RecordScores, Term]):
    """The moments of records whose numbers carry noise; ``answered`` is 0 where there is no response."""

    def __init__(self, source: Evidence, names: Sequence[str], columns: Sequence[Term], y: Term, answered: Term | None):
        self._answered = answered
        super().__init__(record_scores(source, names), columns, y)

    def _told(self, part: RecordScores, one: Term, other: Term) -> Array:
        scale, both = one.times(other)
        if both is not None and self._answered is not None:
            both = product(both, self._answered.factors)
        return np.zeros(part.rows) if both is None else scale * part.score(both)

    def _counts(self, part: RecordScores) -> Array:
        return np.ones(part.rows)
