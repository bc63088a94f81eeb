"""How the columns of a table are measured before it is modelled: constants, middle and unit, and powers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array, Index
from sfumato.randomness import Source, normals

#: A column in which fewer records than this differ from the median is released as constant: the few would show.
NEARLY_CONSTANT = 0.08
#: Deviation of the logarithm of that threshold, so that one record more or less does not decide for certain.
_JITTER = 0.25
#: Units are deviations within these quantiles, times what makes that 1 for normal columns.
_WINSOR, _NORMAL = (0.05, 0.95), 1.187
#: Powers of Yeo and Johnson that are tried: few, so that the choice says little of a record; all can be undone.
_POWERS = (0.0, 0.5, 1.0, 1.5, 2.0)
#: Beyond these many units no bent column is looked at, and drawn values grow as a logarithm: undone powers would throw
#: rows far out.
_FAR = 6.0
#: Columns can share a unit if none spreads more times as far as another; pixels of digits differ by 27.
ALIKE = 30.0


@dataclass(frozen=True)
class Columns:
    """The columns that vary, in units of their deviation; the same map for all classes, so that none is marked."""

    varies: NDArray[np.bool_]
    constant: Array
    middle: Array
    unit: Array
    bent: tuple[Array, Array, Array] | None = None  # powers, and then middle and unit again

    @classmethod
    def fit(cls, X: Array, own: Index, src: Source, *, powers: bool = False, one_unit: bool = False) -> Columns:
        """From the records; ``own`` is the class of each, around whose mean its power is judged.

        ``one_unit`` measures all columns in the same unit, for tables whose columns are alike, such as pixels.
        """
        median = np.median(X, axis=0)
        threshold = NEARLY_CONSTANT * np.exp(_JITTER * normals(src, X.shape[1]))
        varies = ((median != X).mean(axis=0) >= threshold) & (np.ptp(X, axis=0) > 0)
        middle, unit = _measure(X[:, varies])
        if one_unit and varies.any():
            unit = np.full(len(unit), np.sqrt(np.mean(unit**2)))
        plain = cls(varies, median, middle, unit)
        if not powers or not varies.any():
            return plain
        Z = plain.forward(X)
        power = np.array([_best_power(column, own) for column in Z.T])
        bent = np.column_stack([bend(column, p) for column, p in zip(Z.T, power, strict=True)])
        return cls(varies, median, middle, unit, (power, *_measure(bent)))

    @property
    def alike(self) -> bool:
        """Whether one unit would serve all of them."""
        return bool(self.unit.max(initial=0.0) <= ALIKE * self.unit.min(initial=np.inf))

    def forward(self, X: Array) -> Array:
        """Records as the model sees them."""
        Z = (X[:, self.varies] - self.middle) / self.unit
        if self.bent is None:
            return np.asarray(Z)
        power, centre, scale = self.bent
        return np.asarray((np.column_stack([bend(x, p) for x, p in zip(Z.T, power, strict=True)]) - centre) / scale)

    def back(self, Z: Array) -> Array:
        """Drawn rows as the table has them."""
        if self.bent is not None:
            power, centre, scale = self.bent
            Z = np.column_stack([_unbend_near(x, p) for x, p in zip((Z * scale + centre).T, power, strict=True)])
        out = np.tile(self.constant, (len(Z), 1))
        out[:, self.varies] = Z * self.unit + self.middle
        return out


def bend(x: Array, power: float) -> Array:
    """The power transformation of Yeo and Johnson (2000); power 1 leaves a column as it is.

    >>> bend(np.array([-1.0, 0.0, 3.0]), 0.5).round(3).tolist()
    [-1.219, 0.0, 2.0]
    """
    up, down = np.maximum(x, 0), np.maximum(-x, 0)
    above = np.log1p(up) if power == 0 else ((1 + up) ** power - 1) / power
    below = np.log1p(down) if power == 2 else ((1 + down) ** (2 - power) - 1) / (2 - power)
    return np.asarray(above - below)


def unbend(z: Array, power: float) -> Array:
    """The same undone, for powers from 0 to 2."""
    up, down = np.maximum(z, 0), np.maximum(-z, 0)
    above = np.expm1(up) if power == 0 else (1 + up * power) ** (1 / power) - 1
    below = np.expm1(down) if power == 2 else (1 + down * (2 - power)) ** (1 / (2 - power)) - 1
    return np.asarray(above - below)


def _unbend_near(z: Array, power: float) -> Array:
    """The same undone as far as ``_FAR``, and from there on with the same slope at first, then as a logarithm.

    Values cut off at a limit would all be the limit, an exact statistic of the records. Here none repeats, there is no
    edge, and the density is continuous.
    """
    limits = bend(np.array([-_FAR, _FAR]), power)
    below, above = np.maximum(limits[0] - z, 0), np.maximum(z - limits[1], 0)
    steep = (1 + _FAR) ** (1 - power)
    return np.asarray(unbend(np.clip(z, *limits), power) + np.log1p(steep * above) - np.log1p(below / steep))


def _measure(Z: Array) -> tuple[Array, Array]:
    """The middle of each column and its unit, neither moved far by a single record."""
    low, high = np.quantile(Z, _WINSOR, axis=0)
    inner = np.clip(Z, low, high)
    spread = _NORMAL * inner.std(axis=0)
    # A column with more than nine tenths of one value has no spread inside the quantiles.
    return inner.mean(axis=0), np.where(high > low, spread, np.where(Z.std(axis=0) > 0, Z.std(axis=0), 1.0))


def _best_power(column: Array, own: Index) -> float:
    """The power that makes the column most nearly normal around the means of the classes, by likelihood."""
    x = np.clip(column, -_FAR, _FAR)
    stretch = float((np.sign(x) * np.log1p(np.abs(x))).sum())
    counts = np.maximum(np.bincount(own), 1)

    def likelihood(power: float) -> float:
        bent = bend(x, power)
        rest = bent - (np.bincount(own, bent) / counts)[own]
        return -len(x) / 2 * float(np.log(np.mean(rest**2) + 1e-9)) + (power - 1) * stretch

    return max(_POWERS, key=likelihood)
