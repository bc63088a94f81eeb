"""Where a smooth model and the unbiased estimate differ by more than noise, the model is missing something."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb, prod

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence.estimate import Estimate
from sfumato.evidence.protocol import Evidence
from sfumato.evidence.wald import wald

LEVEL = 0.001  # the chance that a table is said to differ where only noise tells them apart
_MOST_TABLES = 200
MOST_CELLS = 64
_MOST_SETS = 50_000


@dataclass(frozen=True)
class Disagreement:
    """A table on which model and unbiased estimate differ: a Wald statistic on the unbiased one's own covariance."""

    names: tuple[str, ...]
    statistic: float
    freedom: int
    p_value: float

    def __str__(self) -> str:
        return f"{' x '.join(self.names)} (statistic {self.statistic:.0f} on {self.freedom} degrees of freedom)"


def disagreements(moment: Evidence, model: Evidence, level: float) -> tuple[Disagreement, ...]:
    """Tables of up to three attributes that differ, after Bonferroni, worst first."""
    sizes = dict(zip(model.names, moment.schema.sizes(model.names), strict=True))
    forms = [set(part.scheme.schema) for part in moment.release.parts]
    wanted = [
        s
        for s in _sets(model.names)
        if prod(sizes[name] for name in s) <= MOST_CELLS and any(form.issuperset(s) for form in forms)
    ]
    if len(wanted) > _MOST_TABLES:
        step = len(wanted) / _MOST_TABLES
        wanted = [wanted[int(i * step)] for i in range(_MOST_TABLES)]
    found = []
    for asked in wanted:
        one = held_against(moment.counts(asked, quiet=True).population(), model.shares(asked))
        if one.p_value * len(wanted) < level:
            found.append(one)
    return tuple(sorted(found, key=lambda d: d.statistic / d.freedom, reverse=True))


def held_against(unbiased: Estimate, shares: Array) -> Disagreement:
    """How far modelled shares are from the unbiased ones of the population.

    An answer that nobody happened to give tells no variance, and one that the model hardly expects has more than that:
    of each the noise is that of the larger count, the one that came or the one that the model expects.
    """
    from scipy.stats import chi2

    expected = tuple(one.holding(np.maximum(one.counts, one.forward(shares) * one.total)) for one in unbiased.seen)
    statistic, freedom = wald(unbiased.unbiased - shares, replace(unbiased, seen=expected).cov)
    return Disagreement(tuple(unbiased.names), statistic, freedom, float(chi2.sf(statistic, freedom)))


def said_of(unbiased: Estimate, shares: Array) -> tuple[str, ...]:
    """What to say of the table that a question is about, where the model differs there by more than noise."""
    if not 1 < len(unbiased.value) <= MOST_CELLS:
        return ()
    found = held_against(unbiased, shares)
    if found.p_value >= LEVEL:
        return ()
    return (
        f"the model differs from the unbiased counts of {found} by more than noise: trust these (method mle, moment)",
    )


def _sets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """All sets of up to three; where there are very many, as many of each size, evenly from the first to the last."""
    counts = {size: comb(len(names), size) for size in (1, 2, 3)}
    if sum(counts.values()) <= _MOST_SETS:
        return (s for size in counts for s in combinations(names, size))
    each = _MOST_TABLES // len(counts)
    return (
        _combination(names, size, i * count // min(each, count))
        for size, count in counts.items()
        for i in range(min(each, count))
    )


def _combination(names: Sequence[str], size: int, rank: int) -> tuple[str, ...]:
    """The set at one place of ``combinations(names, size)``, without those before it.

    >>> list(combinations("abcd", 2))[4], _combination("abcd", 2, 4)
    (('b', 'd'), ('b', 'd'))
    """
    if size == 0:
        return ()
    for place, name in enumerate(names):
        with_it = comb(len(names) - place - 1, size - 1)
        if rank < with_it:
            return (name, *_combination(names[place + 1 :], size - 1, rank))
        rank -= with_it
    raise IndexError(rank)


def in_words(found: Sequence[Disagreement]) -> str:
    """What a model says of itself."""
    return f"disagrees with the unbiased ones: {found[0]}" if found else "agrees with the unbiased estimates"
