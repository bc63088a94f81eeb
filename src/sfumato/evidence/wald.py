"""The Wald statistic of estimates that have mean zero if a hypothesis holds."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Array

#: Of variances brought to one scale, what is less than this share of the largest is rounding.
_ROUNDING = 1e-9


def wald(T: Array, V: Array) -> tuple[float, int]:
    r"""W = Tᵀ V⁻¹ T, chi-square under the hypothesis, and its degrees of freedom: the directions that vary at all.

    >>> wald(np.array([1.0, -1.0]), np.array([[2.0, -2.0], [-2.0, 2.0]]))
    (0.5, 1)
    """
    scale = np.sqrt(np.maximum(np.diag(V), 0.0))
    used = np.flatnonzero(scale > _ROUNDING * scale.max(initial=0.0))
    if not used.size:
        return 0.0, 0
    scale = scale[used]
    values, vectors = np.linalg.eigh(V[np.ix_(used, used)] / np.outer(scale, scale))
    kept = values > _ROUNDING * values[-1]
    along = vectors[:, kept].T @ (T[used] / scale)
    return float((along**2 / values[kept]).sum()), int(kept.sum())
