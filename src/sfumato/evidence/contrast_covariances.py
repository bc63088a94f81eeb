r"""Covariances of contrasts over the released cells, (C A) diag(Ñ) (C A)ᵀ, and the memory they take.

Of a pair of attributes that are randomized apart, C A is a product of two factors L and R, and the sum is made from the
squares of each without ever forming the product:

    Σ_xy Ñ[x, y] L[a, x] L[a', x] R[b, y] R[b', y]
"""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence.seen import Seen, each_axis


def contrast_covariances(
    part: Seen, left: Array, right: Array, sums: Array | None, expected: Array
) -> tuple[Array, Array]:
    """Covariances of the contrasts, or of their sums: from the released counts, and from those expected of a table."""
    null = each_axis(part.in_blocks(expected), [block.P.T for block in part.blocks]).reshape(-1)
    if len(left) == 1 and sums is None and _apart(part):
        L, R = left[0] @ part.blocks[0].A, right[0] @ part.blocks[1].A
        return _of_pair(L, R, part.counts), _of_pair(L, R, null)
    B = _released(part, left, right) if sums is None else _summed(part, sums, left, right)
    return (B * part.counts) @ B.T, (B * null) @ B.T


def bytes_needed(given: int, contrasts: int, most: int, cells: int, released: int) -> int:
    """How much memory the test of one table takes: as many contrasts in each of the given configurations.

    Of a pair only the table itself and its covariance; of more attributes two matrices of contrasts by released cells,
    each once more while it is weighed.
    """
    if given == 1:
        return 8 * (4 * released + 8 * contrasts**2)
    rows = given * contrasts if given * contrasts <= most else contrasts
    return 8 * (4 * rows * released + contrasts * cells + 8 * rows**2)


def _apart(part: Seen) -> bool:
    return part.axes == part.names and all(len(block.names) == 1 for block in part.blocks[-2:])


def _of_pair(L: Array, R: Array, observed: Array) -> Array:
    a, b = len(L), len(R)
    table = observed.reshape(L.shape[1], R.shape[1])
    squares = [(each[:, None, :] * each[None, :, :]).reshape(len(each) ** 2, -1) for each in (L, R)]
    out = (squares[0] @ table) @ squares[1].T
    return np.asarray(out.reshape(a, a, b, b).transpose(0, 2, 1, 3).reshape(a * b, a * b))


def _released(part: Seen, left: Array, right: Array) -> Array:
    """C A, contrasts by released cells: a product of factors when the last two attributes are treated apart."""
    J, a, kx = left.shape
    b, ky = right.shape[1:]
    if _apart(part):
        G = np.ones((1, 1))
        for block in part.blocks[:-2]:
            G = (G[:, None, :, None] * block.A[None, :, None, :]).reshape(len(G) * len(block.A), -1)
        first, second = left @ part.blocks[-2].A, right @ part.blocks[-1].A
        U = (first[:, :, None, :, None] * second[:, None, :, None, :]).reshape(J, a * b, 1, -1)
        return np.asarray((G[:, None, :, None] * U).reshape(J * a * b, -1))
    C = np.zeros((J, a, b, J, kx, ky))
    for j in range(J):
        C[j, :, :, j] = left[j][:, None, :, None] * right[j][None, :, None, :]
    return np.asarray(C.reshape(J * a * b, -1) @ part.rows())


def _summed(part: Seen, sums: Array, left: Array, right: Array) -> Array:
    """Sums of the rows of C A, one after the other, without forming either matrix."""
    J, a, _ = left.shape
    C = np.einsum("sjab,jax,jby->sjxy", sums.reshape(-1, J, a, right.shape[1]), left, right, optimize=True)
    maps = [block.A.T for block in part.blocks]
    return np.stack([each_axis(part.in_blocks(row), maps).reshape(-1) for row in C])
