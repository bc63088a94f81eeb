"""The numbers that the codes of an attribute stand for."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.domains import Date, Domain, Numeric
from sfumato.printable import readable_bins

#: What to say of quantiles of bins.
WHOLE_BINS = (
    "where values lie inside a bin is not known: intervals reach over whole bins, estimates take them to lie evenly"
)


def numbers(domain: Domain) -> Array:
    """The number that each code stands for: the middle of a bin, a value that is a number, a year, else its place."""
    k = domain.size - domain.nullable
    if isinstance(domain, Numeric):
        own = domain.midpoints
    elif _has_years(domain) or has_numbers(domain):
        own = np.array(domain.labels[:k], dtype=np.float64)
    else:
        own = np.arange(k, dtype=np.float64)
    return np.append(own, 0.0) if domain.nullable else np.asarray(own)


def has_numbers(domain: Domain) -> bool:
    labels = domain.labels[: domain.size - domain.nullable]
    plain = all(isinstance(label, int | float) and not isinstance(label, bool) for label in labels)
    return plain and (not domain.ordered or all(a < b for a, b in pairwise(labels)))


def at_places(values: Array, named: tuple[str, ...]) -> list[str | None]:
    """The value nearest to each number that counts places from 0.

    >>> at_places(np.array([0.0, 1.6, np.nan]), ("2006-Q1", "2006-Q2", "2006-Q3"))
    ['2006-Q1', '2006-Q3', None]
    """
    last = len(named) - 1
    return [None if np.isnan(one) else named[min(max(round(float(one)), 0), last)] for one in values]


def _has_years(domain: Domain) -> bool:
    return isinstance(domain, Date) and domain.by == "year"


def are_years(low: float, high: float) -> bool:
    """Whether numbers between these ends are years.

    >>> are_years(1990, 2020), are_years(0, 2020)
    (True, False)
    """
    return 1500 <= low <= high < 2200


def scale(domain: Domain) -> str:
    """What the numbers count, where they are none of the data's own."""
    if isinstance(domain, Numeric) or _has_years(domain) or has_numbers(domain):
        return ""
    return f" ({domain.by}s after {domain.labels[0]})" if isinstance(domain, Date) else " (places from 0)"


def places(domain: Domain) -> tuple[str, ...]:
    """The values that the numbers count from 0, where they are none of the data's own."""
    return tuple(map(str, domain.labels[: domain.size - domain.nullable])) if scale(domain) else ()


def in_units(domain: Domain) -> str:
    """What differences and errors count, where answers are values that are no numbers."""
    return "" if not scale(domain) else f" (sd in {domain.by}s)" if isinstance(domain, Date) else " (sd in places)"


def answered_by(domain: Domain) -> Array:
    out = np.ones(domain.size)
    if domain.nullable:
        out[-1] = 0.0
    return out


def ends_of(domain: Domain, values: Array) -> tuple[float, float]:
    if isinstance(domain, Numeric):
        return float(domain.edge_array[0]), domain.greatest
    own = values[: domain.size - domain.nullable]
    return float(own.min()), float(own.max())


def clips(domain: Domain) -> bool:
    return bool(getattr(domain, "clip", False))


def clipped(domain: Domain, what: str) -> tuple[str, ...]:
    """What to say of the ``what`` of values that may have been moved to the ends of their range.

    >>> clipped(Numeric(edges=(0, 5, 50_000), clip=True), "mean")
    ('values outside [0 to 50,000] count as its ends: the mean of the values themselves may lie beyond the limits',)
    """
    if not clips(domain):
        return ()
    moved = f"values outside {readable_bins(domain.limits_text())} count as its ends"
    return (f"{moved}: the {what} of the values themselves may lie beyond the limits",)


def between(domain: Domain) -> Array:
    """The ends of the bins, over which values are taken to lie evenly.

    >>> between(Numeric(0, 30, bins=3, step=5))
    array([-2.5,  7.5, 17.5, 27.5])
    """
    return domain.edges_between_values if isinstance(domain, Numeric) else np.arange(domain.size + 1.0)


def behind(domain: Domain) -> tuple[Array, Array]:
    """The least and the largest value that may stand behind each code.

    >>> behind(Numeric(0, 30, bins=3, step=5))
    (array([ 0., 10., 20.]), array([ 5., 15., 25.]))
    """
    if not isinstance(domain, Numeric):
        own = numbers(domain)[: domain.size - domain.nullable]
        return own, own
    if domain.rounds:  # up or down, at random
        points = domain.midpoints
        return np.append(points[0], points[:-1]), np.append(points[1:], points[-1])
    if domain.step is None:
        return domain.edge_array[:-1], domain.edge_array[1:]
    return domain.edges_between_values[:-1] + domain.step / 2, domain.upper_ends


def off_by(domain: Domain) -> float:
    """How far the number that a code stands for may lie from the true one, at most."""
    if not isinstance(domain, Numeric) or domain.rounds:
        return 0.0
    return float((np.diff(domain.edges_between_values).max() - (domain.step or 0.0)) / 2)


def running_ends(domain: Domain) -> tuple[str, list[Any]]:
    """How far the running shares of an ordered attribute reach, and the word for it.

    A bin holds its lower end and not its upper one, where many numbers may heap: 200000 is not below 200000.

    >>> running_ends(Numeric(edges=(0, 100_000, 200_000)))
    ('below', [100000.0, 200000.0])
    >>> running_ends(Numeric(0, 20, bins=2, step=1))
    ('up_to', [9.0, 19.0])
    """
    if not isinstance(domain, Numeric):
        return "up_to", list(domain.labels[: domain.size - domain.nullable])
    open_bins = domain.step is None and domain.points is None
    return "below" if open_bins else "up_to", domain.upper_ends.tolist()
