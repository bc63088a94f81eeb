"""Select-a-size, a channel for item sets: it keeps some items of a transaction and adds others.

A transaction over n items is a row of n two-valued attributes, absent (code 0) or present (code 1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb, inf
from typing import Any

import numpy as np

from sfumato.arrays import Array, Codes, Words
from sfumato.channels.arguments import real, whole
from sfumato.channels.base import Channel
from sfumato.channels.codes import check_axes
from sfumato.channels.itemset import check_two_valued
from sfumato.channels.linear import Dense
from sfumato.channels.ratios import Ratio
from sfumato.channels.size_limits import MOST_CHOSEN, check_items
from sfumato.errors import ChannelError
from sfumato.randomness import ONE, Source, parts, quantize, words
from sfumato.schema import Domain

_MATRIX_ITEMS = 12
_NEAR = 1e-9  # logarithms that differ by less are compared exactly
_TIES = 64


@dataclass(frozen=True, eq=False, repr=False)
class SelectASize(Channel):
    r"""Keep j items of a transaction of size m, j drawn from keep, then add each item not in it with probability noise.

        P[t, t'] = p_m[l] / C(m, l) · noise^(m' - l) (1 - noise)^(n - m - m' + l),    l = |t ∩ t'|,  m' = |t'|

    where p_m[j] = keep[j] for j < m and the rest of keep for j = m. Evfimievski, Srikant, Agrawal, Gehrke (2002).
    """

    keep: tuple[int, ...]  # in parts of 2^-63, summing to ONE
    noise: int
    items: int | None = None

    kind = "select_a_size"

    @property
    def sizes(self) -> tuple[int, ...]:
        if self.items is None:
            raise ChannelError(
                "select_a_size does not know its items yet: give items= or use it for a group in a scheme"
            )
        return (2,) * self.items

    @property
    def arity(self) -> int:
        return len(self.sizes) if self.items is None else self.items

    @property
    def matrix_cells(self) -> int:
        return self.k * self.m if self.arity <= _MATRIX_ITEMS else 0

    @property
    def draws(self) -> int:
        return 1 + 2 * len(self.sizes)

    @property
    def weights(self) -> Words:
        return quantize(self.matrix)

    def kept(self, size: int) -> list[Fraction]:
        """Pr(j items are kept) for a transaction of this size, j = 0 .. size."""
        out = [Fraction(weight, ONE) for weight in self.keep[: size + 1]]
        out += [Fraction(0)] * (size + 1 - len(out))
        out[size] += Fraction(sum(self.keep[size + 1 :]), ONE)
        return out

    def _probability(self, size: int, common: int, released: int) -> Fraction:
        """P[t, t'] as a function of |t|, |t ∩ t'| and |t'|."""
        n, noise = len(self.sizes), Fraction(self.noise, ONE)
        added = released - common
        chosen = self.kept(size)[common] / comb(size, common)
        return chosen * noise**added * (1 - noise) ** (n - size - added)

    @cached_property
    def transition(self) -> Dense:
        n = len(self.sizes)
        if n > _MATRIX_ITEMS:
            raise ChannelError(f"the matrix over {n} items has 2^{n} rows; ask for overlap_matrix() instead")
        cells = np.arange(1 << n)
        bits = (cells[:, None] >> np.arange(n)) & 1
        common = bits @ bits.T
        size = bits.sum(axis=1)
        value = {}
        for s in range(n + 1):
            for r in range(n + 1):
                for c in range(max(0, s + r - n), min(s, r) + 1):
                    value[s, c, r] = float(self._probability(s, c, r))
        lookup = np.zeros((n + 1, n + 1, n + 1))
        for index, probability in value.items():
            lookup[index] = probability
        return Dense(lookup[size[:, None], common, size[None, :]])

    def exact_gammas(self) -> list[Ratio]:
        """One value for each size of the released transaction; sampling's rounding (below 2^-50) is added on top."""
        return [self._worst_ratio(released) for released in range(len(self.sizes) + 1) if self._spread[released] >= 0]

    @cached_property
    def exact_gamma(self) -> Ratio:
        worst = self._spread.max()
        if worst == inf:
            return inf
        near = np.flatnonzero(self._spread >= worst - _NEAR)
        slack = Fraction(1) if len(near) <= _TIES else 1 + Fraction(1, 10**8)
        return max(self._worst_ratio(int(released)) for released in near[:_TIES]) * slack

    def _worst_ratio(self, released: int) -> Ratio:
        """The worst ratio of one size of the released transaction.

        Logarithms say which true transactions come into question; these few are compared exactly.
        """
        if self._spread[released] == inf:
            return inf
        n = len(self.sizes)
        size, common = np.indices((n + 1, n + 1))
        possible = (common >= size + released - n) & (common <= np.minimum(size, released))
        logs, size, common = self._logs[possible], size[possible], common[possible]
        slack = 1 + Fraction(n * n + 1, 1 << 55)
        ends = []
        for near in (np.flatnonzero(logs >= logs.max() - _NEAR), np.flatnonzero(logs <= logs.min() + _NEAR)):
            ends.append({self._probability(int(size[i]), int(common[i]), released) for i in near[:_TIES]})
            slack *= Fraction(1) if len(near) <= _TIES else 1 + Fraction(1, 10**8)
        return max(ends[0]) / min(ends[1]) * slack

    @cached_property
    def _spread(self) -> Array:
        """ln of the worst ratio by the size of the released transaction, -inf where that size never occurs."""
        n = len(self.sizes)
        common = np.arange(n + 1)
        # with |t ∩ t'| = c and |t'| = r fixed, |t| runs from c to n - r + c: running extremes over |t| answer all r
        top = np.maximum.accumulate(np.where(np.isnan(self._logs), -inf, self._logs), axis=0)
        bottom = np.minimum.accumulate(np.where(np.isnan(self._logs), inf, self._logs), axis=0)
        out = np.full(n + 1, -inf)
        for released in range(n + 1):
            c = common[: released + 1]
            high, low = top[n - released + c, c], bottom[n - released + c, c]
            if not self.noise:  # nothing is added: all that was released had been kept
                high, low = high[-1:], low[-1:] if not released else np.array([-inf])
            if high.max() > -inf:
                out[released] = high.max() - low.min()
        return out

    @cached_property
    def _logs(self) -> Array:
        """ln P[t, t'] by |t| and |t ∩ t'|, but for terms that depend on |t'| alone; nan where |t ∩ t'| > |t|."""
        from scipy.special import gammaln

        n = len(self.sizes)
        size, common = np.indices((n + 1, n + 1))
        noise, given = self.noise / ONE, np.array(self.keep, dtype=np.float64) / ONE
        share, rest = np.zeros(n + 1), np.zeros(n + 1)
        share[: len(given)] = given[: n + 1]
        rest[: len(given)] = np.cumsum(given[::-1])[::-1][: n + 1]  # all of a transaction is kept from its size on
        with np.errstate(divide="ignore"):
            kept = np.where(common < size, share[common], rest[size])
            ways = gammaln(size + 1) - gammaln(common + 1) - gammaln(np.maximum(size - common, 0) + 1)
            added = common * np.log(noise) if noise else 0.0
            out = np.log(kept) - ways + (common - size) * np.log1p(-noise) - added
        return np.where(common <= size, out, np.nan)

    def overlap_matrix(self, k: int, size: int) -> Array:
        """Pr(l' items of a k-itemset are released | l are present), for transactions of a given size.

        Pr(l'|l) = Σ_j p[j] Σ_q C(l,q) C(m-l,j-q)/C(m,j) · C(k-l,l'-q) noise^(l'-q) (1-noise)^(k-l-l'+q)
        """
        noise, kept = Fraction(self.noise, ONE), self.kept(size)
        out = np.zeros((k + 1, k + 1))
        for present in range(min(k, size) + 1):
            for released in range(k + 1):
                total = Fraction(0)
                for j in range(size + 1):
                    for q in range(min(present, j, released) + 1):
                        added = released - q
                        if j - q > size - present or added > k - present:
                            continue
                        picked = Fraction(comb(present, q) * comb(size - present, j - q), comb(size, j))
                        gained = comb(k - present, added) * noise**added * (1 - noise) ** (k - present - added)
                        total += kept[j] * picked * gained
                out[present, released] = float(total)
        return out

    def draw_columns(self, columns: Sequence[Codes], word: Callable[[int], Words]) -> list[Codes]:
        present = np.stack([np.asarray(column) == 1 for column in columns], axis=1)
        size = present.sum(axis=1)
        upper = np.cumsum(np.array(self.keep, dtype=np.uint64), dtype=np.uint64)
        needed = np.minimum(np.searchsorted(upper, word(0), side="right"), size)
        left = size.copy()
        threshold = _thresholds(int(size.max(initial=0)))
        out: list[Codes] = []
        for item in range(present.shape[1]):
            # Choosing uniformly without replacement: keep the next item with probability needed / left.
            kept = present[:, item] & (word(1 + 2 * item) < threshold[left, needed])
            needed = needed - kept
            left = left - present[:, item]
            added = ~present[:, item] & (word(2 + 2 * item) < np.uint64(self.noise))
            out.append((kept | added).astype(np.uint8))
        return out

    def sample_columns(self, columns: Sequence[Codes], src: Source) -> list[Codes]:
        return self.draw_columns(columns, lambda _: words(src, len(columns[0])))

    def bind(self, domains: Sequence[Domain]) -> SelectASize:
        check_two_valued(domains)
        check_items(len(domains), MOST_CHOSEN)
        if self.items not in (None, len(domains)):
            raise ChannelError(f"select_a_size is made for {self.items} items, the group has {len(domains)}")
        return SelectASize(self.keep, self.noise, len(domains))

    def marginal(self, axes: Sequence[int]) -> SelectASize:
        axes = check_axes(axes, len(self.sizes))
        if axes != tuple(range(len(self.sizes))):
            raise ChannelError("select_a_size has no marginal channel: what is kept depends on the whole transaction")
        return self

    def parameters(self) -> dict[str, Any]:
        return {"keep": [str(weight) for weight in self.keep], "noise": str(self.noise), "items": self.items}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> SelectASize:
        keep, noise = tuple(int(weight) for weight in parameters["keep"]), int(parameters["noise"])
        if sum(keep) != ONE or min(keep) < 0 or not 0 <= noise < ONE:
            raise ChannelError("keep must be non-negative and sum to 2^63, and noise must lie in [0, 2^63)")
        items = None if parameters["items"] is None else whole("items", parameters["items"], 1)
        check_items(items or 0, MOST_CHOSEN)
        return cls(keep, noise, items)

    def __str__(self) -> str:
        return f"select_a_size(noise={self.noise / ONE:.6g}, items={self.items})"


def select_a_size(keep: Sequence[float], noise: float, items: int | None = None) -> SelectASize:
    """Keep j items of a transaction with probability keep[j], and add every other item with probability noise.

    >>> select_a_size([0.1, 0.3, 0.6], noise=0.2, items=4).matrix.sum(axis=1).round(12)[:3]
    array([1., 1., 1.])
    """
    if isinstance(keep, Mapping | str) or not np.iterable(keep) or not len(keep):
        raise ChannelError("keep must list Pr(0 items are kept), Pr(1 item is kept), ...")
    keep, noise = [real("keep", share) for share in keep], real("noise", noise)
    items = None if items is None else whole("items", items, 1)
    check_items(items or 0, MOST_CHOSEN)
    if min(keep) < 0 or abs(sum(keep) - 1) > 1e-9:
        raise ChannelError(f"keep must be probabilities that sum to 1, got a sum of {sum(keep):.9g}")
    if not 0 <= noise < 1:
        raise ChannelError(f"noise must lie in [0, 1), got {noise} instead")
    weights = quantize(np.asarray(keep, dtype=np.float64))
    return SelectASize(tuple(int(weight) for weight in weights), parts(noise), items)


def _thresholds(most: int) -> Words:
    """floor(2^63 needed / left) as integers, by left (a row each, 0 where nothing is left) and needed."""
    rows = [
        [(ONE * min(needed, left)) // left if left else 0 for needed in range(most + 1)] for left in range(most + 1)
    ]
    return np.array(rows, dtype=np.uint64)
