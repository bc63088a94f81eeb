"""Whether two attributes depend on each other, judged against the noise of their estimated table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.channels.linear import Array
from sfumato.evidence.families import Families
from sfumato.evidence.independence import ODDS, all_pairs
from sfumato.evidence.table import Evidence

Pair = tuple[int, int]


def independence(table: Array, covariance: Array) -> tuple[float, int]:
    """The Wald statistic of T = r cᵀ / n, with the delta method for the residuals, and its degrees of freedom."""
    rows, cols = table.sum(axis=1), table.sum(axis=0)
    n = float(table.sum())
    if n <= 0:
        return 0.0, 0
    residual = (table - np.outer(rows, cols) / n).reshape(-1)
    k, m = table.shape
    sum_rows, sum_cols = np.kron(np.eye(k), np.ones((1, m))), np.kron(np.ones((1, k)), np.eye(m))
    spread_rows, spread_cols = np.kron(np.eye(k), cols[:, None] / n), np.kron(rows[:, None] / n, np.eye(m))
    J = np.eye(k * m) - spread_rows @ sum_rows - spread_cols @ sum_cols
    J += np.outer(np.outer(rows, cols).reshape(-1) / n**2, np.ones(k * m))
    values, vectors = np.linalg.eigh(J @ covariance @ J.T)
    freedom = (k - 1) * (m - 1)
    kept = np.argsort(values)[::-1][:freedom]
    kept = kept[values[kept] > 1e-14]
    along = vectors[:, kept].T @ residual
    return float((along**2 / values[kept]).sum()), len(kept)


def dependent_pairs(source: Evidence, names: Sequence[str]) -> list[tuple[float, Pair]]:
    """Pairs that the Wald test of Bayesian networks links, by what the link gains, most telling first."""
    found = all_pairs(Families(source), names)
    gains = ((test.evidence - ODDS, (names.index(x), names.index(y))) for (x, y), test in found.items() if test.df)
    return sorted((one for one in gains if one[0] > 0), reverse=True)
