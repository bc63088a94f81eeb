"""Subset selection: report a set of values that holds the true one with odds gamma.

At equal gamma it is never worse than symmetric randomization and far better for many values, since the released set
spends its bits on telling groups of values apart instead of on naming one value that is almost surely wrong. Up to a
few thousand values the sets stand in a matrix; beyond, ``hyperplanes`` does without.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import comb, prod
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Words
from sfumato.channels.arguments import bound, whole
from sfumato.channels.cells import Cells, cells
from sfumato.channels.fields import is_order, is_prime
from sfumato.channels.geometry import Geometry
from sfumato.channels.hyperplanes import Hyperplanes, best_order, hyperplanes
from sfumato.channels.odds import SetChannel, odds, read_fraction, worst_ratio
from sfumato.channels.ratios import as_float
from sfumato.errors import ChannelError
from sfumato.randomness import ONE

#: The most outputs for which all sets of a size are listed; beyond it the projective design takes over.
MOST_SETS = 1 << 14
MOST_VALUES = 1 << 13
MOST_ENTRIES = 1 << 25  # of a matrix that is read
CHOSEN_ENTRIES = 1 << 22  # of a matrix that is chosen
_AS_GOOD = 1.03  # a design with a matrix may have so many times the variance of the best one without
DESIGNS = ("sets", "projective", "scattered")


@dataclass(frozen=True, eq=False, repr=False)
class Subset(SetChannel):
    r"""Report one of M sets, each gamma times as likely when it holds the true value.

        P[x, y] = (gamma if x in S_y else 1) / Z,        Z = gamma r + M - r

    where every value lies in r of the M sets and every two values together in the same number of them (a 2-design),
    so that all values are told apart equally well. The sets are all those of a size w (Ye and Barg
    2018), or, when these are too many, the hyperplanes of the projective space over F_q. Neighbouring points share
    hyperplanes, so that cells of a table with one value in common would; scattered, they do not.

    >>> subset(16, gamma=3).m, subset(64, gamma=3).m
    (1820, 85)
    """

    design: str
    size: int  # w, the size of the sets; or q, the order of the field

    kind = "subset"

    @property
    def outputs(self) -> tuple[int, ...]:
        return (self.set_counts[0],)

    @property
    def set_counts(self) -> tuple[int, int]:
        """The number of sets, and how many of them hold a given value."""
        if self.design == "sets":
            return comb(self.values, self.size), comb(self.values - 1, self.size - 1)
        return _projective(self.values, self.size)[:2]

    @cached_property
    def membership(self) -> NDArray[np.bool_]:
        """Which value lies in which set, K by M."""
        if self.design == "sets":
            return _all_sets(self.values, self.size)
        points = _scattered(self.values) if self.design == "scattered" else np.arange(self.values)
        return _hyperplanes(points, self.size)

    @cached_property
    def weights(self) -> Words:
        return odds(self.membership, ONE, self.bound)

    @cached_property
    def exact_gamma(self) -> Fraction:
        outputs, count = self.set_counts
        return worst_ratio(count, outputs, ONE, self.bound)

    @property
    def invertible(self) -> bool:
        return True

    def parameters(self) -> dict[str, Any]:
        return {"values": self.values, "gamma": str(self.bound), "design": self.design, "size": self.size}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Subset:
        return checked_subset(
            int(parameters["values"]),
            read_fraction(parameters["gamma"]),
            parameters["design"],
            int(parameters["size"]),
        )

    def __str__(self) -> str:
        gamma = as_float(self.bound)
        if (self.design.replace("scattered", "projective"), self.size) == best_sets(self.values, gamma):
            return f"subset({self.values}, gamma={gamma:.6g})"
        chosen = f"size={self.size}" if self.design == "sets" else f"{self.design} of order {self.size}"
        return f"subset({self.values}, gamma={gamma:.6g}, {chosen})"


@overload
def subset(k: int, gamma: float, design: str | None = None, size: int | None = None) -> Subset | Hyperplanes: ...


@overload
def subset(k: Sequence[int], gamma: float, design: str | None = None, size: int | None = None) -> Cells: ...


def subset(
    k: int | Sequence[int], gamma: float, design: str | None = None, size: int | None = None
) -> Subset | Hyperplanes | Cells:
    """The best subset selection for k values, up to 16 million of them, under a bound on gamma.

    Of several attributes, k = (k_1, k_2, ...), the sets are of their combinations, and the bound is on all together.
    ``design`` ("sets", "projective", the same with "scattered" cells, or without a matrix, "hyperplanes") and ``size``
    (of the sets; or the order of the field) settle what is otherwise chosen for equally likely values.
    """
    if isinstance(k, Sequence):
        count = prod(whole("k", one, 1) for one in k)
        if design is None and size is None and count > 1:
            design, size = best_sets(count, bound(gamma))
            design = "scattered" if design == "projective" else design
        return cells(subset(count, gamma, design, size), k)
    k, gamma = whole("k", k, 2), bound(gamma)
    if design not in (None, *DESIGNS, "hyperplanes"):
        raise ChannelError(f"design must be 'sets', 'projective', 'scattered' or 'hyperplanes', got {design!r} instead")
    chosen = best_sets(k, gamma, design) if size is None else (design or "sets", whole("size", size, 1))
    if chosen[0] == "hyperplanes":
        return hyperplanes(k, Fraction(gamma), chosen[1])
    return checked_subset(k, Fraction(gamma), *chosen)


def best_sets(k: int, gamma: float, design: str | None = None) -> tuple[str, int]:
    """The design, and the size of its sets or its order, that is best for equally likely values."""
    size = min(_sizes(k, gamma), key=lambda w: _sets_spread(k, w, gamma))
    if design == "sets" or (design is None and _can_list(k, size)):
        return "sets", size
    plane = design in ("projective", "scattered")
    most = MOST_ENTRIES if plane else CHOSEN_ENTRIES
    orders = _orders(gamma)
    fitting = [q for q in orders if k * _projective(k, q)[0] <= most] if design != "hyperplanes" else []
    if fitting and design is None:  # a matrix is convenient, but not worth much of the error
        allowed = _AS_GOOD * _order_spread(k, best_order(k, gamma), gamma)
        fitting = [q for q in fitting if _order_spread(k, q, gamma) <= allowed]
    if fitting or plane:
        return design or "projective", min(fitting or orders, key=lambda q: _order_spread(k, q, gamma))
    return "hyperplanes", best_order(k, gamma)


def _can_list(k: int, size: int) -> bool:
    """Whether all sets of a size are few enough, and so is their matrix."""
    return k <= MOST_VALUES and (sets := comb(k, size)) <= MOST_SETS and k * sets <= MOST_ENTRIES


def checked_subset(k: int, gamma: Fraction, design: str, size: int) -> Subset:
    """The channel, if its numbers make sense and its matrix fits."""
    if design not in DESIGNS or not 2 <= k <= MOST_VALUES:
        raise ChannelError(f"subset selection needs a known design and 2 to {MOST_VALUES} values, got {design!r}, {k}")
    if design == "sets" and not 1 <= size < k:
        raise ChannelError(f"the sets must have 1 to {k - 1} values, got {size} instead")
    if design != "sets" and not (size <= MOST_VALUES and is_order(size)):
        raise ChannelError(f"a {design} design needs 4 or a prime, got {size} instead")
    outputs = comb(k, size) if design == "sets" else _projective(k, size)[0]
    if k * outputs > MOST_ENTRIES:
        raise ChannelError(f"subset selection of {k} values by {design} needs too large a matrix: leave out the design")
    return Subset(k, gamma, design, size).verified(gamma)


def _sets_spread(k: int, w: int, gamma: float) -> float:
    """The spread of all w-sets, in shares: the binomials themselves may be too large for a double."""
    return spread(k, 1.0, w / k, w * (w - 1) / (k * (k - 1)), gamma)


def _order_spread(k: int, q: int, gamma: float) -> float:
    """The spread of the projective design over F_q."""
    return spread(k, *_projective(k, q), gamma)


def spread(k: int, outputs: float, count: float, together: float, gamma: float) -> float:
    """The mean variance of one estimated share times n, for uniform values: what the designs compete on."""
    total = gamma * count + outputs - count
    diagonal = (gamma**2 * count + outputs - count) / total**2
    off = (gamma**2 * together + 2 * gamma * (count - together) + outputs - 2 * count + together) / total**2
    # A = (P - c 1ᵀP) / a with P Pᵀ = aI + bJ; tr(A diag(q) Aᵀ) / k with q nearly uniform over the outputs.
    a, b = diagonal - off, off
    if a <= 0:
        return math.inf
    return ((k - 1) / a + 1 / (a + k * b)) / (k * outputs) - 1 / k**2


def _sizes(k: int, gamma: float) -> list[int]:
    ideal = k / (gamma + 1)
    return sorted({min(max(w, 1), k - 1) for w in (math.floor(ideal), math.ceil(ideal))})


def _all_sets(k: int, w: int) -> NDArray[np.bool_]:
    sets = np.array(list(combinations(range(k), w)), dtype=np.int64)
    out = np.zeros((k, len(sets)), dtype=np.bool_)
    out[sets.reshape(-1), np.repeat(np.arange(len(sets)), w)] = True
    return out


def _orders(gamma: float) -> list[int]:
    """Orders of fields around gamma + 1."""
    most = max(2 * math.ceil(gamma + 1), 5)
    orders = [q for q in range(2, min(most, 2 * MOST_VALUES) + 1) if is_order(q)]
    return sorted(orders, key=lambda q: abs(q - gamma - 1))[:5]


def _projective(k: int, q: int) -> tuple[int, int, int]:
    """Hyperplanes in all, through one point, through two points."""
    space = Geometry.holding(k, q)
    return space.points, space.through_one, space.through_two


def _hyperplanes(points: NDArray[np.int64], q: int) -> NDArray[np.bool_]:
    """Points of the projective space against its hyperplanes: incident where the inner product is 0 in the field."""
    space = Geometry.holding(len(points), q)
    vectors = space.digits(np.arange(space.points))
    return space.field.vanishing(vectors[points], vectors)


def _scattered(k: int) -> NDArray[np.int64]:
    """A point for each of k cells: the rank of its number's inverse modulo the first prime beyond k.

    Numbered as they come, the cells with one value in common fill whole hyperplanes. Few of the sets then tell nearly
    all about that value: its mean has heavy tails, and up to five times the variance. Equal steps from cell to cell
    would do no better where q divides the number of an attribute's values; inverses have no period.

    >>> _scattered(8)
    array([0, 4, 3, 2, 7, 1, 6, 5])
    """
    prime = next(q for q in range(k + 1, 2 * k + 2) if is_prime(q))
    return np.argsort(np.argsort([pow(cell, -1, prime) for cell in range(1, k + 1)]))
