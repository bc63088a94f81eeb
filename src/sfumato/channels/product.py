"""Channels side by side: independent channels on several attributes, as one channel on their combinations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import fsum, inf
from typing import Any

from sfumato.arrays import Codes, Words
from sfumato.channels.arguments import check_finite
from sfumato.channels.base import Channel, from_dict
from sfumato.channels.codes import check_axes, join_codes, split_codes
from sfumato.channels.linear import Kronecker
from sfumato.channels.ratios import Ratio
from sfumato.channels.ratios import product as multiplied
from sfumato.channels.size_limits import check_items
from sfumato.errors import ChannelError
from sfumato.randomness import Source


@dataclass(frozen=True, eq=False, repr=False)
class Product(Channel):
    r"""Each attribute through its own channel, independently.

        P = P_1 ⊗ ... ⊗ P_n  (first attribute slowest),        gamma = gamma_1 ... gamma_n

    Three items that change as often as under the joint channel of gamma 16.33, but one by one:

    >>> from sfumato.channels import symmetric
    >>> one = symmetric((2, 2, 2), p=0.3).marginal([0])
    >>> round(product([one, one, one]).gamma, 3)
    112.912
    """

    channels: tuple[Channel, ...]

    kind = "product"

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(size for channel in self.channels for size in channel.sizes)

    @property
    def outputs(self) -> tuple[int, ...]:
        return tuple(size for channel in self.channels for size in channel.outputs)

    @property
    def arity(self) -> int:
        return sum(channel.arity for channel in self.channels)

    @property
    def matrix_cells(self) -> int:
        return sum(channel.matrix_cells for channel in self.channels)

    @property
    def draws(self) -> int:
        return sum(channel.draws for channel in self.channels)

    @property
    def releases_values(self) -> bool:
        return all(channel.releases_values for channel in self.channels)

    @property
    def weights(self) -> Words:
        raise ChannelError("a product is published factor by factor: ask each of its channels for its weights")

    @cached_property
    def transition(self) -> Kronecker:
        return Kronecker(tuple(channel.transition for channel in self.channels))

    @cached_property
    def inverse(self) -> Kronecker:
        return Kronecker(tuple(channel.inverse for channel in self.channels))

    @cached_property
    def invertible(self) -> bool:
        return all(channel.invertible for channel in self.channels)

    def exact_gammas(self) -> list[Ratio]:
        combined: list[Ratio] = [Fraction(1)]
        for channel in self.channels:
            combined = [_times(g, h) for g in combined for h in channel.exact_gammas()]
        return combined

    @cached_property
    def exact_gamma(self) -> Ratio:
        worst: Ratio = Fraction(1)
        for channel in self.channels:
            worst = _times(worst, channel.exact_gamma)
        return worst

    @cached_property
    def gamma(self) -> float:
        return multiplied(channel.gamma for channel in self.channels)

    @cached_property
    def epsilon(self) -> float:
        return fsum(channel.epsilon for channel in self.channels)

    def _sliced(self, columns: Sequence[Codes]) -> list[tuple[Channel, Sequence[Codes]]]:
        ends = list(accumulate(len(channel.sizes) for channel in self.channels))
        starts = [0, *ends[:-1]]
        return [(c, columns[a:b]) for c, a, b in zip(self.channels, starts, ends, strict=True)]

    def draw_columns(self, columns: Sequence[Codes], word: Callable[[int], Words]) -> list[Codes]:
        out: list[Codes] = []
        first = 0
        for channel, own in self._sliced(columns):
            out += channel.draw_columns(own, lambda i, first=first: word(first + i))  # type: ignore[misc]
            first += channel.draws
        return out

    def sample_columns(self, columns: Sequence[Codes], src: Source) -> list[Codes]:
        return [out for channel, own in self._sliced(columns) for out in channel.sample_columns(own, src)]

    def sample(self, codes: Codes, src: Source) -> Codes:
        return join_codes(self.sample_columns(split_codes(codes, self.sizes), src), self.outputs)

    def check_columns(self, columns: Sequence[Codes]) -> None:
        for channel, own in self._sliced(columns):
            channel.check_columns(own)

    def factors(self, names: Sequence[str]) -> list[tuple[tuple[str, ...], Channel]]:
        return [part for own, channel in self._named(names) for part in channel.factors(own)]

    def columns(self, names: Sequence[str]) -> list[str]:
        return [column for own, channel in self._named(names) for column in channel.columns(own)]

    def _named(self, names: Sequence[str]) -> list[tuple[Sequence[str], Channel]]:
        ends = list(accumulate(channel.arity for channel in self.channels))
        return [(names[end - channel.arity : end], channel) for channel, end in zip(self.channels, ends, strict=True)]

    def marginal(self, axes: Sequence[int]) -> Channel:
        axes = check_axes(axes, len(self.sizes))
        owner = [i for i, channel in enumerate(self.channels) for _ in channel.sizes]
        first = {i: owner.index(i) for i in set(owner)}
        kept: list[Channel] = []
        for i in dict.fromkeys(owner[axis] for axis in axes):
            local = [axis - first[i] for axis in axes if owner[axis] == i]
            kept.append(self.channels[i].marginal(local))
        in_order = [axis for i in dict.fromkeys(owner[a] for a in axes) for axis in axes if owner[axis] == i]
        if in_order != list(axes):
            raise ChannelError(f"axes {list(axes)} mix the attributes of joint channels: name each channel's together")
        return kept[0] if len(kept) == 1 else Product(tuple(kept))

    def parameters(self) -> dict[str, Any]:
        return {"channels": [channel.to_dict() for channel in self.channels]}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Product:
        return product([from_dict(document) for document in parameters["channels"]])


def product(channels: Sequence[Channel]) -> Product:
    """The channels of several attributes as one, each acting independently of the others."""
    given = check_finite(channels, "product")
    check_items(sum(channel.arity for channel in given))
    return Product(given)


def _times(g: Ratio, h: Ratio) -> Ratio:
    return inf if inf in (g, h) else g * h
