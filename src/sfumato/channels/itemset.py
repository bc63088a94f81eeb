"""Channels for item sets: MASK flips every item on its own, select-a-size keeps some items and adds others.

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

from sfumato.channels.arguments import real, whole
from sfumato.channels.base import Channel, check_axes
from sfumato.channels.linear import Array, Dense
from sfumato.channels.lookup import Codes
from sfumato.channels.pram import binary
from sfumato.channels.product import Product
from sfumato.errors import ChannelError
from sfumato.randomness import ONE, Source, Words, parts, quantize, words
from sfumato.schema import Domain

_MATRIX_ITEMS = 12


class Mask(Product):
    r"""Flip the presence of every item with probability p, independently (Rizvi and Haritsa 2002).

        P = B ⊗ ... ⊗ B,   B = [[1 - p, p], [p, 1 - p]],        gamma = ((1 - p) / p)^n

    >>> round(mask(0.25, items=3).gamma)
    27
    """

    kind = "mask"

    def __init__(self, p: float, items: int = 1) -> None:
        super().__init__((binary(p, p),) * items)
        object.__setattr__(self, "p", p)

    p: float

    def bind(self, domains: Sequence[Domain]) -> Mask:
        _check_items(domains)
        return Mask(self.p, len(domains))

    def marginal(self, axes: Sequence[int]) -> Mask:
        return Mask(self.p, len(check_axes(axes, len(self.sizes))))

    def parameters(self) -> dict[str, Any]:
        return {"p": self.p, "items": len(self.channels)}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Mask:
        return mask(float(parameters["p"]), int(parameters["items"]))

    def __str__(self) -> str:
        return f"mask(p={self.p:.6g}, items={len(self.channels)})"


def mask(p: float, items: int = 1) -> Mask:
    """Flip every item with probability p; in a scheme the number of items is that of the group."""
    p, items = real("p", p), whole("items", items, 1)
    if not 0 <= p < 0.5:
        raise ChannelError(f"p must lie in [0, 1/2), got {p}: at 1/2 the output ignores the input")
    return Mask(p, items)


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

    def exact_gammas(self) -> list[Fraction | float]:
        """One value for each size of the released transaction; sampling's rounding (below 2^-50) is added on top."""
        n = len(self.sizes)
        slack = 1 + Fraction(n * n + 1, 1 << 55)
        out: list[Fraction | float] = []
        for released in range(n + 1):
            column = [
                self._probability(size, common, released)
                for size in range(n + 1)
                for common in range(max(0, size + released - n), min(size, released) + 1)
            ]
            if max(column) > 0:
                out.append(max(column) / min(column) * slack if min(column) > 0 else inf)
        return out

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
        out: list[Codes] = []
        for item in range(present.shape[1]):
            # Choosing uniformly without replacement: keep the next item with probability needed / left.
            threshold = _ratio(needed, left)
            kept = present[:, item] & (word(1 + 2 * item) < threshold)
            needed = needed - kept
            left = left - present[:, item]
            added = ~present[:, item] & (word(2 + 2 * item) < np.uint64(self.noise))
            out.append((kept | added).astype(np.uint8))
        return out

    def sample_columns(self, columns: Sequence[Codes], src: Source) -> list[Codes]:
        return self.draw_columns(columns, lambda _: words(src, len(columns[0])))

    def bind(self, domains: Sequence[Domain]) -> SelectASize:
        _check_items(domains)
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
        keep, items = tuple(int(weight) for weight in parameters["keep"]), parameters["items"]
        if sum(keep) != ONE or min(keep) < 0:
            raise ChannelError("keep must be non-negative and sum to 2^63")
        return cls(keep, int(parameters["noise"]), None if items is None else int(items))

    def __str__(self) -> str:
        return f"select_a_size(noise={self.noise / ONE:.6g}, items={self.items})"


def select_a_size(keep: Sequence[float], noise: float, items: int | None = None) -> SelectASize:
    """Keep j items of a transaction with probability keep[j], and add every other item with probability noise.

    >>> select_a_size([0.1, 0.3, 0.6], noise=0.2, items=4).matrix.sum(axis=1).round(12)[:3]
    array([1., 1., 1.])
    """
    if isinstance(keep, Mapping) or not len(keep):
        raise ChannelError("keep must list Pr(0 items are kept), Pr(1 item is kept), ...")
    keep, noise = [real("keep", share) for share in keep], real("noise", noise)
    items = None if items is None else whole("items", items, 1)
    if min(keep) < 0 or abs(sum(keep) - 1) > 1e-9:
        raise ChannelError(f"keep must be probabilities that sum to 1, got a sum of {sum(keep):.9g}")
    if not 0 <= noise < 1:
        raise ChannelError(f"noise must lie in [0, 1), got {noise} instead")
    weights = quantize(np.asarray(keep, dtype=np.float64))
    return SelectASize(tuple(int(weight) for weight in weights), parts(noise), items)


def _ratio(needed: Codes, left: Codes) -> Words:
    """floor(2^63 needed / left) as integers; 0 where nothing is left."""
    most = int(left.max(initial=0))
    table = np.array(
        [[(ONE * min(n, m)) // m if m else 0 for n in range(most + 1)] for m in range(most + 1)], np.uint64
    )
    return np.asarray(table[left, needed])


def _check_items(domains: Sequence[Domain]) -> None:
    sizes = [domain.size for domain in domains]
    if any(size != 2 for size in sizes):
        raise ChannelError(f"a channel for item sets needs attributes with two values each, got sizes {sizes}")
