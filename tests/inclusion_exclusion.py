"""The paper's way to a support, proposition 7.4: all 2^k released counts by inclusion and exclusion, then an inverse.

Kept as the checked twin of the closed form: slow for large sets, the same number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from sfumato.arrays import Array


def table_from_supports(supports: Mapping[frozenset[str], float], items: Sequence[str]) -> Array:
    """T̃ of every presence/absence combination, first item slowest, from the supports of all subsets.

        T̃(C₂ present, the others absent) = Σ_{C₂ ⊆ C₃ ⊆ C} (-1)^{|C₃| - |C₂|} sup(C₃)

    >>> found = table_from_supports({frozenset(): 10, frozenset("a"): 6, frozenset("b"): 5, frozenset("ab"): 4}, "ab")
    >>> found
    array([3., 1., 2., 4.])
    """
    k = len(items)
    out = np.zeros(1 << k)
    for present in range(1 << k):
        held = {items[i] for i in range(k) if present >> (k - 1 - i) & 1}
        absent = [item for item in items if item not in held]
        out[present] = sum(
            (-1) ** size * supports[frozenset(held | set(more))]
            for size in range(len(absent) + 1)
            for more in combinations(absent, size)
        )
    return out


def support_by_inversion(table: Array, matrices: Sequence[Array]) -> float:
    """The last entry of P⁻ᵀ T̃, P the Kronecker product of the groups' marginal matrices: the estimated count."""
    P: Array = np.ones((1, 1))
    for matrix in matrices:
        P = np.asarray(np.kron(P, matrix), dtype=np.float64)
    return float(np.linalg.solve(P.T, table)[-1])
