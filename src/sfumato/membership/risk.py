"""What the attack on membership reached, against what was asked."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

#: A bound is held where the estimate and this many standard errors stay within it.
ERRORS = 2


@dataclass(frozen=True)
class Risk:
    """The membership AUC of the shadow attack over all records and over the loneliest tenth, with standard errors.

    A bound is held where the AUC and two standard errors stay within it. ``attacks`` are the AUCs of each feature by
    itself. 1/2 is blind guessing, 1 is certainty.
    """

    auc: float
    error: float
    outliers: float
    outliers_error: float
    asked: float | None = None
    outliers_asked: float | None = None
    attacks: dict[str, tuple[float, float]] = field(default_factory=dict)
    shadows: int = 0

    @property
    def held(self) -> bool:
        """Whether both AUCs, two standard errors included, are within what was asked."""
        whole, outer = self._upper
        return _within(whole, self.asked) and _within(outer, self.outliers_asked)

    @property
    def nearest(self) -> tuple[float, float]:
        """The lowest bounds, in hundredths, that this release does hold.

        >>> Risk(0.561, 0.003, 0.62, 0.012).nearest
        (0.57, 0.65)
        """
        whole, outer = (min(math.ceil(100 * max(value, 0.5) - 1e-9) / 100, 1.0) for value in self._upper)
        return whole, outer

    @property
    def _upper(self) -> tuple[float, float]:
        return self.auc + ERRORS * self.error, self.outliers + ERRORS * self.outliers_error

    def __str__(self) -> str:
        asked = "" if self.asked is None else f" (asked: at most {self.asked:g})"
        outer = "" if self.outliers_asked is None else f" (asked: at most {self.outliers_asked:g})"
        return (
            f"membership AUC {self.auc:.3f} ± {self.error:.3f}{asked}, "
            f"outliers {self.outliers:.3f} ± {self.outliers_error:.3f}{outer}, by {self.shadows} shadow releases"
        )


def _within(value: float, bound: float | None) -> bool:
    return bound is None or value <= bound
