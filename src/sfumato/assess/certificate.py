"""The statistics of an audit: choose an event on some trials, bound its probabilities, test a fit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array

Counts = NDArray[np.int64]

_PAIRS = 4096  # pairs of inputs for which unions of answers are tried


def best_event(counts: Counts, alpha: float) -> tuple[int, int, Counts]:
    """The inputs and the set of answers with the best certificate on these trials: single answers, then unions."""
    n = int(counts[0].sum())
    low, high = limit(counts, n, alpha / 2, upper=False), limit(counts, n, alpha / 2, upper=True)
    ratio = low.max(axis=0) / high.min(axis=0)
    y = int(ratio.argmax())
    best = (float(ratio[y]), int(low[:, y].argmax()), int(high[:, y].argmin()), np.array([y]))
    for x, other in _pairs(counts):
        # the likelihood ratio, smoothed, orders the answers; some prefix of that order is the best event
        order = np.argsort(-(counts[x] + 0.5) / (counts[other] + 0.5), kind="stable")
        inside, outside = np.cumsum(counts[x][order]), np.cumsum(counts[other][order])
        found = limit(inside, n, alpha / 2, upper=False) / limit(outside, n, alpha / 2, upper=True)
        size = int(found.argmax())
        if found[size] > best[0]:
            best = (float(found[size]), x, other, np.sort(order[: size + 1]))
    return best[1], best[2], best[3]


def _pairs(counts: Counts) -> list[tuple[int, int]]:
    k = len(counts)
    if k * (k - 1) <= _PAIRS:
        return [(x, other) for x in range(k) for other in range(k) if x != other]
    shares = counts / counts.sum(axis=1, keepdims=True)
    mean = shares.mean(axis=0)
    odd = np.argsort(-np.abs(shares - mean).sum(axis=1))[: math.isqrt(_PAIRS)]
    return [(int(x), int(other)) for x in odd for other in odd if x != other]


def limit(inside: Any, n: int, tail: float, upper: bool) -> Any:
    """Clopper and Pearson's limit for a probability after ``inside`` hits in n trials."""
    from scipy.special import betaincinv

    hits = np.asarray(inside, dtype=np.float64)
    if upper:
        return np.where(hits >= n, 1.0, betaincinv(hits + 1, np.maximum(n - hits, 1e-9), 1 - tail))
    return np.where(hits <= 0, 0.0, betaincinv(np.maximum(hits, 1e-9), n - hits + 1, tail))


def fit(P: Array, counts: Counts) -> float:
    """The p-value of the counts under the published matrix: chi-square, small cells pooled; 0 if one is impossible."""
    from scipy.special import chdtrc

    if (counts[P == 0] > 0).any():
        return 0.0
    n = int(counts[0].sum())
    statistic, freedom = 0.0, 0
    for row, seen in zip(P, counts, strict=True):
        expected = n * row
        large = expected >= 10
        cells = np.append(expected[large], expected[~large].sum())
        found = np.append(seen[large], seen[~large].sum())
        if cells[-1] < 10 and len(cells) > 1:
            cells[-2:], found[-2:] = (0.0, cells[-2:].sum()), (0, found[-2:].sum())
        held = cells > 0
        statistic += float(((found[held] - cells[held]) ** 2 / cells[held]).sum())
        freedom += int(held.sum()) - 1
    return float(chdtrc(freedom, statistic)) if freedom else 1.0
