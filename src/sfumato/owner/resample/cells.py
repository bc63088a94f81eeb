"""Cut a class into cells that are each close to one normal distribution and large enough to hide a record in."""

from __future__ import annotations

import numpy as np

from sfumato.owner.resample.kernel import Array, Index


def cells(Z: Array, least: int) -> list[Index]:
    """Rows of each cell: a class is split in two, again and again, while that pays by BIC and leaves ``least`` rows
    that differ (copies of a row hide nobody).

    A split pays when the gain in log-likelihood of two normals over one exceeds log(n)/2 per parameter. It depends
    on the data alone, so the cells of a release and of its source are found in the same way.
    """
    return _split(Z, np.arange(len(Z)), least)


def covariance(X: Array, prior: float = 1.0, target: Array | None = None) -> Array:
    """The sample covariance, shrunk to a target (its own diagonal by default) as if by prior (d + 1) further rows."""
    n, d = X.shape
    gap = X - X.mean(axis=0)
    raw = gap.T @ gap / max(n - 1, 1)
    goal = np.diag(np.diag(raw)) if target is None else target
    weight = 1.0 if np.isinf(prior) else prior * (d + 1) / (n + prior * (d + 1))
    return np.asarray((1 - weight) * raw + weight * goal)


def distinct(Z: Array) -> int:
    """How many rows differ from each other."""
    return len(np.unique(Z.round(9), axis=0))


def _split(Z: Array, rows: Index, least: int) -> list[Index]:
    n, d = len(rows), Z.shape[1]
    if n < 2 * least:
        return [rows]
    here = Z[rows]
    whole, best, upper = _fit(here), 0.0, None
    for start in _directions(here):
        half = _two_means(here, start)
        share = int(half.sum()), int(n - half.sum())
        if min(share) >= least and min(distinct(here[half]), distinct(here[~half])) >= least:
            gain = _fit(here[half]) + _fit(here[~half]) - whole + sum(part * np.log(part / n) for part in share)
            if gain > best:
                best, upper = gain, half
    if upper is None or best < (1 + d + d * (d + 1) / 2) * np.log(n) / 2:
        return [rows]
    return _split(Z, rows[upper], least) + _split(Z, rows[~upper], least)


def _directions(Z: Array) -> Array:
    """Projections of the rows in which clusters may show: the two with least and the one with most kurtosis.

    After whitening no direction has more variance than another, but the eigenvectors of the mean of |z|^2 z z' still
    tell bimodal directions from long-tailed ones (Cardoso 1989).
    """
    gap = Z - Z.mean(axis=0)
    white = np.linalg.solve(np.linalg.cholesky(covariance(Z) + 1e-9 * np.eye(Z.shape[1])), gap.T).T
    axes = np.linalg.eigh((white * (white**2).sum(axis=1, keepdims=True)).T @ white)[1]
    return np.asarray((white @ axes[:, [*range(min(2, Z.shape[1])), -1]]).T)


def _two_means(Z: Array, start: Array) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    upper = start > 0
    for _ in range(30):
        if upper.all() or not upper.any():
            break
        one, two = Z[upper].mean(axis=0), Z[~upper].mean(axis=0)
        closer = ((Z - one) ** 2).sum(axis=1) < ((Z - two) ** 2).sum(axis=1)
        if np.array_equal(closer, upper):
            break
        upper = closer
    return np.asarray(upper)


def _fit(Z: Array) -> float:
    """Log-likelihood of a normal fitted to the rows, up to what all splits share."""
    spread = covariance(Z) + 1e-6 * np.eye(Z.shape[1])
    return float(-len(Z) / 2 * np.linalg.slogdet(spread)[1])
