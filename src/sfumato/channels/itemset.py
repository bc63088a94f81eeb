"""MASK, a channel for item sets: it flips every item on its own.

A transaction over n items is a row of n two-valued attributes, absent (code 0) or present (code 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from sfumato.channels.arguments import real, whole
from sfumato.channels.base import Channel
from sfumato.channels.codes import check_axes
from sfumato.channels.pram import binary
from sfumato.channels.product import Product
from sfumato.channels.ratios import Ratio, power
from sfumato.channels.size_limits import check_items
from sfumato.errors import ChannelError
from sfumato.schema import Domain


class Mask(Product):
    r"""Flip the presence of every item with probability p, independently (Rizvi and Haritsa 2002).

        P = B ⊗ ... ⊗ B,   B = [[1 - p, p], [p, 1 - p]],        gamma = ((1 - p) / p)^n

    >>> round(mask(0.25, items=3).gamma)
    27
    """

    kind = "mask"

    def __init__(self, p: float, items: int = 1) -> None:
        object.__setattr__(self, "p", p)
        object.__setattr__(self, "items", items)

    p: float
    items: int

    @cached_property
    def _one(self) -> Channel:
        """The channel of one item."""
        return binary(self.p, self.p)

    @cached_property
    def channels(self) -> tuple[Channel, ...]:
        return (self._one,) * self.items

    @property
    def arity(self) -> int:
        return self.items

    @property
    def matrix_cells(self) -> int:
        return self._one.matrix_cells

    @cached_property
    def exact_gamma(self) -> Ratio:
        return self._one.exact_gamma**self.items

    @cached_property
    def gamma(self) -> float:
        return power(self._one.gamma, self.items)

    @cached_property
    def epsilon(self) -> float:
        return self._one.epsilon * self.items

    def bind(self, domains: Sequence[Domain]) -> Mask:
        check_two_valued(domains)
        return Mask(self.p, len(domains))

    def marginal(self, axes: Sequence[int]) -> Mask:
        return Mask(self.p, len(check_axes(axes, len(self.sizes))))

    def parameters(self) -> dict[str, Any]:
        return {"p": self.p, "items": self.items}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Mask:
        return mask(float(parameters["p"]), int(parameters["items"]))

    def __str__(self) -> str:
        return f"mask(p={self.p:.6g}, items={self.items})"


def mask(p: float, items: int = 1) -> Mask:
    """Flip every item with probability p; in a scheme the number of items is that of the group."""
    p, items = real("p", p), whole("items", items, 1)
    check_items(items)
    if not 0 <= p < 0.5:
        raise ChannelError(f"p must lie in [0, 1/2), got {p}: at 1/2 the output ignores the input")
    return Mask(p, items)


def check_two_valued(domains: Sequence[Domain]) -> None:
    sizes = [domain.size for domain in domains]
    if any(size != 2 for size in sizes):
        raise ChannelError(f"a channel for item sets needs attributes with two values each, got sizes {sizes}")
