"""Supports of item sets as bit operations, for items whose presence flips symmetrically, alone or in a group.

For such a channel the weight of a record is linear in whether it holds the items of the group,

    w_g(C_g) = (1[C_g ⊂ t̃] - b_g 2^{|G| - |C_g|}) / a_g,     b = p / (2^{|G|} - 1),   a = 1 - p - b

so that supports, variances and covariances are sums of released supports of unions: one AND and one population count a
set, never a 2^k x 2^k matrix (Ma 2006, propositions 7.2 and 7.3; errata).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from sfumato.channels import Channel
from sfumato.channels.pram import Matrix
from sfumato.channels.response import Symmetric
from sfumato.errors import EstimationError
from sfumato.evidence.seen import Seen
from sfumato.learn.rules.items import Item, Universe

Set = frozenset[Item]
Form = list[tuple[float, Set]]  # Σ coefficient · 1[items ⊂ t̃]


class BitSupports:
    """Supports of one part of a release whose channels all act on presence and absence alike."""

    def __init__(self, part: Seen, universe: Universe) -> None:
        self.n = len(part.counts)
        held = part.codes or {}
        self._group: dict[Item, tuple[int, Channel | None, int]] = {}
        self._bits: dict[Item, NDArray[np.uint64]] = {}
        item_of = {item.attribute: item for item in universe.items}
        for number, block in enumerate(part.blocks):
            for axis, name in enumerate(block.names):
                item = item_of[name]
                self._group[item] = (number, block.channel, axis)
                self._bits[item] = _pack(held[name])
        self._released: dict[Set, float] = {frozenset(): 1.0}
        self._last: tuple[tuple[Item, ...], NDArray[np.uint64]] = ((), np.zeros(0, dtype=np.uint64))

    def estimate(self, items: Sequence[Item]) -> tuple[float, float]:
        """Σ w and Σ w² over the records, as shares of N: the support and its second moment."""
        forms = [self._form(own) for own in self._by_group(items)]
        return self._mean(forms), self._mean([_times(form, form) for form in forms])

    def cross(self, one: Sequence[Item], other: Sequence[Item]) -> float:
        """The mean of the product of two sets' weights, for covariances."""
        left, right = self._grouped(one), self._grouped(other)
        forms = []
        for number in sorted(left.keys() | right.keys()):
            mine = self._form(left[number]) if number in left else [(1.0, frozenset())]
            theirs = self._form(right[number]) if number in right else [(1.0, frozenset())]
            forms.append(_times(mine, theirs))
        return self._mean(forms)

    def apart(self, one: Sequence[Item], other: Sequence[Item]) -> bool:
        """Whether no group holds items of both."""
        return self._grouped(one).keys().isdisjoint(self._grouped(other).keys())

    def least_square(self, items: Sequence[Item]) -> float:
        """E w² of a record that holds the items, which are released together with probability a + b."""
        out = 1.0
        for own in self._by_group(items):
            (slope, _), (shift, _) = self._form(own)
            shown = (1 - shift) / slope  # Σ w = 1 at the true state: slope · shown + shift = 1
            out *= shown * (slope + shift) ** 2 + (1 - shown) * shift**2
        return out

    def _grouped(self, items: Iterable[Item]) -> dict[int, list[Item]]:
        out: dict[int, list[Item]] = {}
        for item in items:
            out.setdefault(self._group[item][0], []).append(item)
        return out

    def _by_group(self, items: Iterable[Item]) -> list[list[Item]]:
        return list(self._grouped(items).values())

    def _form(self, items: list[Item]) -> Form:
        _, channel, _ = self._group[items[0]]
        if isinstance(channel, Symmetric):
            own = channel.marginal([self._group[item][2] for item in items])
            a, b = own.transition.a, own.transition.b
        elif channel is not None:
            P = channel.transition.dense()
            a, b = float(P[1, 1] - P[0, 1]), float(P[0, 1])
        if abs(a) < 1e-9:
            raise EstimationError(
                f"the channel of item {items[0]} is singular: its released presence says nothing of the true one, "
                f"so that no support can be estimated"
            )
        return [(1.0 / a, frozenset(items)), (-b / a, frozenset())]

    def _mean(self, forms: list[Form]) -> float:
        total = 0.0
        for terms in product(*forms):
            weight, union = 1.0, frozenset[Item]()
            for coefficient, items in terms:
                weight *= coefficient
                union |= items
            total += weight * self.released(union)
        return total

    def released(self, items: Set) -> float:
        """The share of released records that hold all the items."""
        if items not in self._released:
            *head, last = sorted(items)
            held = self._bits[last] if not head else self._all_of(tuple(head)) & self._bits[last]
            self._released[items] = float(np.bitwise_count(held).sum(dtype=np.int64)) / self.n
        return self._released[items]

    def _all_of(self, items: tuple[Item, ...]) -> NDArray[np.uint64]:
        """The records that hold all the items; sets that share all but their last come one after the other."""
        if self._last[0] != items:
            held = self._bits[items[0]]
            for item in items[1:]:
                held = held & self._bits[item]
            self._last = (items, held)
        return self._last[1]


def suits(part: Seen, universe: Universe) -> bool:
    """Whether every channel of the part treats presence and absence in this way, and no items exclude each other."""
    return universe.presence and not universe.families and all(_linear(block.channel) for block in part.blocks)


def _linear(channel: Channel | None) -> bool:
    return isinstance(channel, Symmetric) or (isinstance(channel, Matrix) and channel.k == channel.m == 2)


def _pack(codes: NDArray[np.integer]) -> NDArray[np.uint64]:
    packed = np.packbits(codes == 1)
    return np.concatenate([packed, np.zeros(-len(packed) % 8, dtype=np.uint8)]).view(np.uint64)


def _times(left: Form, right: Form) -> Form:
    out: dict[Set, float] = {}
    for a, one in left:
        for b, other in right:
            out[one | other] = out.get(one | other, 0.0) + a * b
    return [(coefficient, items) for items, coefficient in out.items()]
