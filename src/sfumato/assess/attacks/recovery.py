"""What an attack brings home: the recovered values, how wrong they are, and how wrong knowing nothing would be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Array
from sfumato.errors import SfumatoError

_ROUNDING = 1e-9  # two sums of the same terms differ by less


@dataclass(frozen=True, eq=False)
class Recovery:
    """The outcome of an attack. Errors are shares of wrong guesses for codes, root mean squares for numbers."""

    attack: str
    recovered: Any
    error: float | None  # None where it cannot be told without the truth
    nothing: float | None  # the error of knowing only the public prior or the column means
    naive: float | None = None  # the error of taking the released values at face value
    details: dict[str, Any] = field(default_factory=dict)
    beside: str = "knowing nothing"  # what ``nothing`` is the error of, in words

    @property
    def advantage(self) -> float | None:
        """The share of the ignorance that the attack removes: 0 learns nothing, 1 learns everything."""
        if self.error is None or not self.nothing:
            return None
        gain = 1 - self.error / self.nothing
        return gain if abs(gain) > _ROUNDING else 0.0

    def __str__(self) -> str:
        def number(value: float | None) -> str:
            return "unknown" if value is None else f"{value:.4g}"

        out = f"{self.attack}: error {number(self.error)}, {self.beside} {number(self.nothing)}"
        return out if self.naive is None else out + f", released values as they are {number(self.naive)}"


def rms(difference: Array) -> float:
    """The root mean square of all entries."""
    return float(np.sqrt(np.mean(np.square(difference))))


def table(values: ArrayLike, name: str, like: Array | None = None) -> Array:
    """A two-dimensional table of finite numbers, of the same shape as another where one is given."""
    try:
        out = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):  # whose message would quote a record
        raise SfumatoError(f"{name} must be a table of finite numbers, got something that is not a number") from None
    out = out[:, None] if out.ndim == 1 else out
    if out.ndim != 2 or not out.size or not np.isfinite(out).all():
        raise SfumatoError(f"{name} must be a table of finite numbers, got shape {out.shape}")
    if like is not None and out.shape != like.shape:
        raise SfumatoError(f"{name} must have shape {like.shape} like the released table, got {out.shape} instead")
    return out
