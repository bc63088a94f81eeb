r"""Points and hyperplanes of the projective space over a finite field, without a matrix.

A point is a vector of d elements of the field, its digits, whose first that is not 0 is 1. Points are numbered by where
that 1 stands, at the front first, and then by the digits after it. Point a and point y are incident where

    a_{d-1} y_0 + a_{d-2} y_1 + ... + a_0 y_{d-1} = 0

so that every point stands for a hyperplane too. Read backwards, the relation is the same: incidence is symmetric.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.channels.fields import Field, field
from sfumato.channels.linear import Operator
from sfumato.errors import ChannelError

#: The most entries of a matrix of incidences that is formed in full.
_DENSE_ENTRIES = 1 << 24

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Geometry:
    """The projective space of d digits over F_q.

    >>> plane = Geometry(3, 3)
    >>> plane.points, plane.through_one, plane.through_two
    (13, 4, 1)
    """

    q: int
    d: int

    @classmethod
    def holding(cls, k: int, q: int) -> Geometry:
        """The smallest space over F_q, at least a line, with k points or more."""
        d = 2
        while point_count(q, d) < k:
            d += 1
        return cls(q, d)

    @property
    def field(self) -> Field:
        """The field that the digits come from."""
        return field(self.q)

    @property
    def points(self) -> int:
        """How many points there are, and so how many hyperplanes."""
        return point_count(self.q, self.d)

    @property
    def through_one(self) -> int:
        """How many hyperplanes hold a point."""
        return point_count(self.q, self.d - 1)

    @property
    def through_two(self) -> int:
        """How many hyperplanes hold two different points."""
        return point_count(self.q, self.d - 2)

    def digits(self, numbers: Numbers) -> Numbers:
        """The vectors of these points, a row each."""
        out = np.zeros((len(numbers), self.d), dtype=np.int64)
        rest = np.asarray(numbers, dtype=np.int64).copy()
        for lead in range(self.d):
            here = self.q ** (self.d - 1 - lead)
            own = (rest >= 0) & (rest < here)
            value = rest[own]
            out[own, lead] = 1
            for place in range(self.d - 1, lead, -1):
                value, out[own, place] = np.divmod(value, self.q)
            rest = np.where(own, -1, rest - here)
        return out

    def incident(self, left: Numbers, right: Numbers) -> NDArray[np.bool_]:
        """Which points of the left are incident with which of the right, left by right."""
        return self.field.vanishing(self.digits(left)[:, ::-1], self.digits(right))

    def sums(self, values: Array) -> Array:
        r"""For every point the sum of the values over the points that it is incident with.

        The q^(d-1) points that begin with 1 form an affine space. Its sums over all hyperplanes come from one Fourier
        transform of it, followed by a transform of length q for each direction (the slices of a Radon transform). The
        other points form a projective space of one digit less, whose sums are added.

        >>> Geometry(2, 3).sums(np.ones(7))
        array([3., 3., 3., 3., 3., 3., 3.])
        """
        if self.d == 1:
            return np.zeros(1)
        affine, beyond = values[: self.q ** (self.d - 1)], values[self.q ** (self.d - 1) :]
        out = np.empty(self.points)
        slices = out[:-1].reshape(-1, self.q)  # direction by last digit
        self._radon(affine, slices)
        slices += Geometry(self.q, self.d - 1).sums(beyond)[:, None]
        out[-1] = beyond.sum()
        return out

    def _radon(self, affine: Array, out: Array) -> None:
        field, first = self.field, 0
        half, spectrum = field.frequencies, field.spectrum(affine, self.d - 1)
        for axes in range(self.d - 1, 0, -1):
            # directions with their 1 further back look at the sums over the last axes: frequency 0 there
            directions = self.q ** (axes - 1)
            lines = np.empty((half, directions), dtype=spectrum.dtype)
            for multiple in range(half):
                own = spectrum[multiple] if axes == 1 else spectrum[..., multiple].reshape(-1)
                lines[multiple] = own if axes == 1 else own[self._reversed(axes - 1, multiple)]
            out[first : first + directions] = field.from_line(lines)
            first += directions
            spectrum = spectrum[..., 0]

    def _reversed(self, axes: int, multiple: int) -> Numbers:
        """For every vector a of this many digits the number of ``multiple`` times a, its digits in reverse."""
        scaled = self.field.times(multiple)
        out = np.zeros(1, dtype=np.int64)
        for place in range(axes):
            out = (out[:, None] + scaled * self.q**place).reshape(-1)
        return out


@dataclass(frozen=True, eq=False)
class Incidence(Operator):
    """A matrix of the first k points against all: one number where they are incident and another elsewhere.

    The two numbers may differ from column to column. ``turned`` is the transpose; the last ``unused`` points are left
    out.

    >>> Incidence(Geometry(2, 2), 2, 0.0, 1.0).dense()
    array([[1., 0., 0.],
           [0., 1., 0.]])
    """

    space: Geometry
    k: int
    off: float | Array
    on: float | Array
    turned: bool = False
    unused: int = 0

    @property
    def _points(self) -> int:
        return self.space.points - self.unused

    @property
    def rows(self) -> int:
        return self._points if self.turned else self.k

    @property
    def cols(self) -> int:
        return self.k if self.turned else self._points

    @property
    def T(self) -> Incidence:
        return replace(self, turned=not self.turned)

    def power(self, k: int) -> Incidence:
        return replace(self, off=self.off**k, on=self.on**k)

    def entries(self, rows: Numbers, cols: Numbers) -> Array:
        if self.turned:
            return self.T.entries(cols, rows).T
        off, on = (np.broadcast_to(number, self.cols)[cols] for number in (self.off, self.on))
        return np.where(self.space.incident(rows, cols), on, off)

    def dense(self) -> Array:
        if self.rows * self.cols > _DENSE_ENTRIES:
            raise ChannelError(
                f"{self.k} values are too many for what needs their whole matrix: estimate their counts, or group them"
            )
        return self.entries(np.arange(self.rows), np.arange(self.cols))

    def diagonal_of_product(self, other: Operator) -> Array:
        if not isinstance(other, Incidence):
            return np.asarray(np.einsum("ij,ij->i", self.dense(), other.dense()))
        return replace(self, off=self.off * other.off, on=self.on * other.on).apply(np.ones(self.cols))

    def apply_middle(self, x: Array) -> Array:
        out = np.empty((x.shape[0], self.rows, x.shape[2]))
        for before in range(x.shape[0]):
            for after in range(x.shape[2]):
                given = x[before, :, after]
                out[before, :, after] = self._spread(given) if self.turned else self._gathered(given)
        return out

    def _gathered(self, given: Array) -> Array:
        told = np.concatenate(((self.on - self.off) * given, np.zeros(self.unused)))
        return self.space.sums(told)[: self.k] + float((self.off * given).sum())

    def _spread(self, given: Array) -> Array:
        found = self.space.sums(np.concatenate((given, np.zeros(self.space.points - self.k))))[: self._points]
        return np.asarray((self.on - self.off) * found + self.off * float(given.sum()))


def even_inverse(space: Geometry, k: int, a: Fraction, b: Fraction, unused: int = 0) -> Incidence:
    r"""The left inverse where the answer is incident with the true value with probability a, with any other with b.

        A[x, y] = (1[x and y are incident] - b) / (a - b) + s_y

    The shift s_y is the same for all values; with it the estimates add up to the number of records.
    """
    plain = Incidence(space, k, float(-b / (a - b)), float((1 - b) / (a - b)), unused=unused)
    shift = (1 - plain.T.apply(np.ones(k))) / k
    return Incidence(space, k, plain.off + shift, plain.on + shift, unused=unused)


def even_variance(k: int, a: Fraction | float, b: Fraction | float) -> float:
    r"""The variance of one estimated share by ``even_inverse``, times n, if all k values are equally likely.

    p (1 - p) / (a - b)^2,      p = a / k + b (1 - 1 / k)
    """
    p = b + (a - b) / k
    return float(p * (1 - p) / (a - b) ** 2)


def point_count(q: int, d: int) -> int:
    """The points of the projective space of d digits over F_q."""
    return int((q**d - 1) // (q - 1))
