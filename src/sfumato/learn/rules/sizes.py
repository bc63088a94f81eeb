"""Supports under select-a-size from the overlap with a transaction and its size: never a 2^n matrix.

All items are treated alike, so that of a transaction t only its size m and its overlap l with the item set A of k items
matter, and of the released one its size m' and overlap l'. With j items kept, q of them in A, and noise ρ,

    Pr(l', m' | l, m) = Σ_j p_m[j] Σ_q C(l,q) C(m-l,j-q) / C(m,j) · Bin(l'-q; k-l, ρ) · Bin(m'-l'-j+q; n-k-m+l, ρ)

The weight of a released transaction solves Σ Pr(l', m' | l, m) w(l', m') = 1[l = k]: the same number as the inverse of
the full 2^n matrix. Summed over m' this is the (k+1) x (k+1) matrix of Evfimievski et al. (2002), one for each size m.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.channels.select_a_size import SelectASize
from sfumato.errors import EstimationError
from sfumato.learn.rules.items import Item
from sfumato.randomness import ONE


class SizeUnit:
    """Items under one select-a-size channel, and the released transactions."""

    def __init__(self, channel: SelectASize, items: Sequence[Item], columns: Sequence[NDArray[np.integer]]) -> None:
        self.channel = channel
        self.items = tuple(items)
        self._present = {item: np.asarray(column) == 1 for item, column in zip(items, columns, strict=True)}
        self._size = np.sum(list(self._present.values()), axis=0, dtype=np.int64)
        self._weights: dict[int, Array] = {}
        self._squares: dict[int, float] = {}

    def least_square(self, chosen: Sequence[Item]) -> float:
        """The least E w² of a transaction that holds these items, over its size."""
        k = len(chosen)
        if k not in self._squares:
            table = overlap_and_size(self.channel, k)[:, k]
            self._squares[k] = float((table * self._of(k) ** 2).sum(axis=(1, 2)).min())
        return self._squares[k]

    def _of(self, k: int) -> Array:
        if k not in self._weights:
            self._weights[k] = overlap_weights(self.channel, k)
        return self._weights[k]

    def factor(self, chosen: Sequence[Item]) -> Array:
        """The weight of every record for these items."""
        k = len(chosen)
        overlap = np.sum([self._present[item] for item in chosen], axis=0, dtype=np.int64)
        return np.asarray(self._of(k)[self._size - overlap, overlap])


def overlap_weights(channel: SelectASize, k: int) -> Array:
    """w(m' - l', l'), a row per number of other released items, a column per released overlap."""
    n = len(channel.sizes)
    table = overlap_and_size(channel, k)
    wanted = np.zeros((n - k + 1, k + 1))
    wanted[:, k] = 1.0
    L, g = table.reshape(wanted.size, wanted.size), wanted.reshape(-1)
    w = np.linalg.lstsq(L, g, rcond=None)[0]
    if not np.abs(L @ w - g).max() < 1e-6:
        raise EstimationError(
            f"the channel {channel} is singular in double precision: transactions of different sizes give the same "
            f"released ones, so that no support can be estimated; keep more items of large transactions"
        )
    return np.asarray(w.reshape(wanted.shape))


def overlap_and_size(channel: SelectASize, k: int) -> Array:
    """Pr(other released items, released overlap | other items, overlap), four axes in this order: inputs, outputs.

    >>> from sfumato.channels import select_a_size
    >>> table = overlap_and_size(select_a_size([0.1, 0.9], noise=0.2, items=3), 1)
    >>> table.shape, bool(np.allclose(table.sum(axis=(2, 3)), 1))
    ((3, 2, 3, 2), True)
    """
    n, noise = len(channel.sizes), channel.noise / ONE
    others = n - k
    inside = [_added(k, held, noise) for held in range(k + 1)]
    outside = [_added(others, held, noise) for held in range(others + 1)]
    out = np.zeros((others + 1, k + 1, others + 1, k + 1))
    for size in range(n + 1):
        kept = [float(share) for share in channel.kept(size)]
        for overlap in range(max(0, size - others), min(k, size) + 1):
            rest = size - overlap
            picked = np.array(
                [
                    [kept[q + r] * comb(overlap, q) * comb(rest, r) / comb(size, q + r) for q in range(overlap + 1)]
                    for r in range(rest + 1)
                ]
            )
            out[rest, overlap] = outside[rest].T @ picked @ inside[overlap]
    return out


def _added(items: int, held: int, noise: float) -> Array:
    """Pr(this many are released | this many of the held ones are kept): a row per number kept."""
    free = items - held
    gained = [comb(free, more) * noise**more * (1 - noise) ** (free - more) for more in range(free + 1)]
    out = np.zeros((held + 1, items + 1))
    for kept in range(held + 1):
        out[kept, kept : kept + free + 1] = gained
    return out
