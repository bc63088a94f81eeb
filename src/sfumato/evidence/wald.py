"""The Wald statistic of estimates that have mean zero if a hypothesis holds."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Array

#: Of variances brought to one scale, what is less than this share of the largest is rounding.
_ROUNDING = 1e-9


def wald(T: Array, V: Array) -> tuple[float, int]:
    r"""W = Tᵀ V⁻¹ T, chi-square under the hypothesis, and its degrees of freedom: the directions that vary at all.

    >>> W, degrees = wald(np.array([1.0, -1.0]), np.array([[2.0, -2.0], [-2.0, 2.0]]))
    >>> round(W, 9), degrees
    (0.5, 1)
    """
    scale = np.sqrt(np.maximum(V.diagonal(), 0.0))
    used = scale > _ROUNDING * scale.max(initial=0.0)
    if not used.all():
        T, V, scale = T[used], V[np.ix_(used, used)], scale[used]
    if not scale.size:
        return 0.0, 0
    if scale.size == 1:  # as of every pair of two-valued attributes
        return float((T[0] / scale[0]) ** 2), 1
    t, C = T / scale, V / (scale[:, None] * scale)
    try:
        root = np.linalg.cholesky(C)
    except np.linalg.LinAlgError:
        root = np.zeros((1, 1))
    if root.diagonal().min() ** 2 > _ROUNDING:  # of full rank, as most are
        along = np.linalg.solve(root, t)
        return float(along @ along), len(t)
    values, vectors = np.linalg.eigh(C)
    kept = values > _ROUNDING * values[-1]
    along = vectors[:, kept].T @ t
    return float((along**2 / values[kept]).sum()), int(kept.sum())
