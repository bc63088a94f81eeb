"""The norm bounds of Tan and Ng (2007), Lemmas 4.1 and 4.2, and how often they hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Array
from sfumato.assess.attacks.recovery import table
from sfumato.errors import SfumatoError


@dataclass(frozen=True, eq=False)
class NormBound:
    """Lower bounds on the norm of every column; with the truth, whether each holds, and how tight it is."""

    bounds: Array
    norms: Array | None
    nothing: float = 0.0  # what is known of a norm without any attack: it is not negative

    @property
    def holds(self) -> float | None:
        """The share of columns whose bound is true. The lemma speaks of the mean over R; a single R may break it."""
        return None if self.norms is None else float((self.bounds <= self.norms + 1e-9).mean())

    @property
    def tightness(self) -> float | None:
        """The mean of bound / norm: near 0 the bound says nothing."""
        return None if self.norms is None else float((np.maximum(self.bounds, 0.0) / self.norms).mean())


def norm_bound(
    first: ArrayLike, second: ArrayLike, norm: float, column: int = 0, truth: ArrayLike | None = None
) -> NormBound:
    r"""Lemma 4.1: each column of one site is at least as long as its released product with a known column of another.

        |x_(1,i)|  >=  y_(1,i)ᵀ y_(2,j) / |x_(2,j)|

    ``first`` and ``second`` are the released tables of two sites (projected rows by columns), ``norm`` the length of
    column j = ``column`` of the second site's true table, ``truth`` the first site's. Cauchy and Schwarz give it for
    the *expected* product over random projections; for one draw it fails up to half the time.
    """
    Y1, Y2 = table(first, "first"), table(second, "second")
    if len(Y1) != len(Y2):
        raise SfumatoError(f"both sites must be projected to the same number of rows, got {len(Y1)} and {len(Y2)}")
    if not 0 <= column < Y2.shape[1]:
        raise SfumatoError(f"column must lie in [0, {Y2.shape[1] - 1}], got {column} instead")
    if not norm > 0:
        raise SfumatoError(f"norm must be positive, got {norm} instead")
    norms = None if truth is None else np.linalg.norm(table(truth, "truth"), axis=0)
    if norms is not None and norms.size != Y1.shape[1]:
        raise SfumatoError(f"truth must have {Y1.shape[1]} columns like the first site, got {norms.size} instead")
    return NormBound(Y1.T @ Y2[:, column] / norm, norms)


def element_bound(bound: float, others: ArrayLike) -> float:
    r"""Lemma 4.2: the one unknown entry of a column, |x_q| >= sqrt(max(0, bound² - sum of the other entries squared)).

    Almost always 0, for the bound would have to be tight to within one entry of the column.

    >>> element_bound(5.0, [3.0])
    4.0
    """
    rest = float(np.square(np.asarray(others, dtype=np.float64)).sum())
    return float(np.sqrt(max(max(bound, 0.0) ** 2 - rest, 0.0)))
