"""The weighted left inverse of a channel's matrix: what turns released counts into unbiased ones."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Array


def left_inverse(P: Array, released: Array) -> Array:
    """(P W Pᵀ)⁻¹ P W with W = 1 / released: unbiased, and best when that is the released distribution.

    Rows of zeros are impossible values: they stay zero.
    """
    W = np.divide(1.0, released, out=np.zeros_like(released), where=released > 0)
    out = np.zeros_like(P)
    possible = P.any(axis=1)
    rows = P[possible]
    out[possible] = np.linalg.solve((rows * W) @ rows.T, rows * W)
    return out
