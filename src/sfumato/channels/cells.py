"""Several attributes asked as one question: a channel over their combinations of values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

from sfumato.arrays import Codes, Words
from sfumato.channels.arguments import check_finite, whole
from sfumato.channels.base import Channel, from_dict
from sfumato.channels.linear import Operator
from sfumato.channels.ratios import Ratio
from sfumato.errors import ChannelError
from sfumato.randomness import Source


@dataclass(frozen=True, eq=False, repr=False)
class Cells(Channel):
    r"""The cells of a table of several attributes through a channel of one: x = (x_1, ..., x_n), first slowest.

        P[(x_1, ..., x_n), y] = Q[x, y],        gamma = that of Q

    >>> from sfumato.channels import subset
    >>> both = subset((2, 3), gamma=3)
    >>> both.sizes, both.m, both.gamma
    ((2, 3), 15, 3.0)
    """

    channel: Channel
    sizes_: tuple[int, ...]

    kind = "cells"

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.sizes_

    @property
    def outputs(self) -> tuple[int, ...]:
        return (self.channel.m,)

    @property
    def releases_values(self) -> bool:
        return False

    @property
    def matrix_cells(self) -> int:
        return self.channel.matrix_cells

    @property
    def weights(self) -> Words:
        return self.channel.weights

    @cached_property
    def transition(self) -> Operator:
        return self.channel.transition

    @cached_property
    def inverse(self) -> Operator:
        return self.channel.inverse

    @property
    def invertible(self) -> bool:
        return self.channel.invertible

    @property
    def exact_gamma(self) -> Ratio:
        return self.channel.exact_gamma

    @property
    def draws(self) -> int:
        return self.channel.draws

    def draw(self, codes: Codes, draws: Words) -> Codes:
        return self.channel.draw(codes, draws)

    def sample(self, codes: Codes, src: Source) -> Codes:
        return self.channel.sample(codes, src)

    def columns(self, names: Sequence[str]) -> list[str]:
        return ["+".join(names)]

    def parameters(self) -> dict[str, Any]:
        return {"sizes": list(self.sizes_), "channel": self.channel.to_dict()}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Cells:
        return cells(from_dict(parameters["channel"]), parameters["sizes"])

    def __str__(self) -> str:
        name, bracket, rest = str(self.channel).partition(f"({self.k}")
        return f"{name}({' x '.join(map(str, self.sizes_))}{rest}" if bracket else f"cells({name})"


def cells(channel: Channel, sizes: Sequence[int]) -> Cells:
    """A channel of one attribute, for the combinations of several that have as many values in all."""
    (given,) = check_finite([channel], "cells")
    shape = tuple(whole("sizes", size, 1) for size in sizes)
    if len(shape) < 2 or given.arity != 1 or len(given.outputs) != 1 or given.draws != 1:
        raise ChannelError("cells takes a channel of one attribute, and the sizes of at least two")
    if prod(shape) != given.k:
        raise ChannelError(f"{channel} has {given.k} values, and {' x '.join(map(str, shape))} make {prod(shape)}")
    return Cells(given, shape)


def of_one(channel: Channel) -> Channel:
    """The channel of one attribute behind the cells of several; any other channel is itself."""
    return channel.channel if isinstance(channel, Cells) else channel
