"""What liars can do: how far false answers move an estimate, told from the channel alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.arrays import Array
from sfumato.assess.shares import given_shares
from sfumato.assess.subject import Attribute, channel_of
from sfumato.channels import Channel
from sfumato.channels.geometry import Incidence
from sfumato.channels.linear import Kronecker, Operator, UniformPlus
from sfumato.errors import SchemeError, SfumatoError
from sfumato.pages.display import MOST, html_table, text_table
from sfumato.printable import label_text, printable
from sfumato.scheme import Scheme

#: The most entries of a left inverse that is looked through in full.
_ENTRIES = 1 << 24


@dataclass(frozen=True, eq=False)
class Poisoning:
    r"""How far a share of false answers can move the estimated share of each value.

    The moment estimate of the share of x is the mean of A[x, y] over the released answers y, where A is the left
    inverse of the channel. An honest answer of someone with value x' adds 1[x = x'] on average. A false answer adds
    whatever it likes:

        down[x] = s (min_y A[x, y] - h[x]),      up[x] = s (max_y A[x, y] - h[x])

    where s is the share of false answers and h[x] what their senders would have added honestly: anything from 0 to 1,
    or the shares of the values where these are given. Someone who lies about the value but lets the channel randomize
    moves a share by no more than s.
    """

    share: float
    labels: tuple[str, ...]
    down: Array
    up: Array

    @property
    def worst(self) -> float:
        """The farthest that any share can be moved."""
        return float(max(-self.down.min(), self.up.max()))

    @property
    def factor(self) -> float:
        """How many times more than an ordinary lie, one that goes through the channel, the worst false answer moves."""
        return self.worst / self.share

    def __repr__(self) -> str:
        return f"{printable(self._title)}\n{text_table(*self._shown())}"

    def _repr_html_(self) -> str:
        return html_table(self._title, *self._shown())

    @property
    def _title(self) -> str:
        return f"{100 * self.share:g} % false answers move a share by at most {self.worst:.3g}"

    def _shown(self) -> tuple[list[str], list[list[Any]], int]:
        rows: list[list[Any]] = [
            [label, float(f"{down:.4g}"), float(f"{up:.4g}")]
            for label, down, up in zip(self.labels[:MOST], self.down, self.up, strict=False)
        ]
        return ["value", "down", "up"], rows, len(self.labels) - len(rows)


def poisoning(of: Any, share: float, attribute: Attribute = None, *, shares: ArrayLike | None = None) -> Poisoning:
    """How far a share of false answers can move the estimated share of each value of an attribute.

    ``of`` is a channel, a matrix, or a scheme with the ``attribute`` named; ``shares`` are those of the values among
    the senders, where they are known. The bound is exact: the last column of a row is reached by sending one answer.

    >>> from sfumato import channels as c
    >>> poisoning(c.symmetric(4, gamma=3), 0.01).up
    array([0.025, 0.025, 0.025, 0.025])
    """
    share = checked_share(share)
    if isinstance(of, Scheme) and attribute is None:
        if len(of.schema) > 1:
            raise SchemeError(f"name an attribute: the scheme has {', '.join(of.schema.names)}")
        attribute = of.schema.names[0]
    channel = channel_of(of, attribute)
    labels = _labels(of, attribute, channel)
    low, high = extremes(channel.inverse)
    honest = np.zeros(2) if shares is None else given_shares(shares, channel.k, labels)
    if shares is None:
        return Poisoning(share, labels, share * (low - 1.0), share * high)
    return Poisoning(share, labels, share * (low - honest), share * (high - honest))


def extremes(operator: Operator) -> tuple[Array, Array]:
    """The least and the greatest entry of each row."""
    if isinstance(operator, UniformPlus):
        both = np.array([operator.a + operator.b, operator.b] if operator.k > 1 else [operator.a + operator.b])
        return np.full(operator.k, both.min()), np.full(operator.k, both.max())
    if isinstance(operator, Kronecker):
        return _products([extremes(factor) for factor in operator.factors])
    if isinstance(operator, Incidence) and not operator.turned and operator.rows * operator.cols > _ENTRIES:
        both = np.array([np.min(operator.off), np.max(operator.off), np.min(operator.on), np.max(operator.on)])
        return np.full(operator.rows, both.min()), np.full(operator.rows, both.max())
    if operator.rows * operator.cols > _ENTRIES:
        raise SfumatoError(f"{operator.rows} values are too many here: ask for an attribute with fewer")
    matrix = operator.dense()
    return matrix.min(axis=1), matrix.max(axis=1)


def checked_share(share: float) -> float:
    """A share of the answers: above 0 and below 1."""
    if not (isinstance(share, int | float | np.floating) and 0 < share < 1):
        raise SfumatoError(f"share must lie between 0 and 1, got {share!r} instead: write .01 for 1 %")
    return float(share)


def _products(parts: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """The extremes of a Kronecker product: those of the products of the factors' extremes."""
    low, high = np.ones(1), np.ones(1)
    for least, most in parts:
        corners = [np.multiply.outer(a, b).reshape(-1) for a in (low, high) for b in (least, most)]
        low, high = np.min(corners, axis=0), np.max(corners, axis=0)
    return low, high


def _labels(of: Any, attribute: Attribute, channel: Channel) -> tuple[str, ...]:
    if not isinstance(of, Scheme) or attribute is None:
        return tuple(str(x) for x in range(channel.k))
    names = (attribute,) if isinstance(attribute, str) else attribute
    grid: NDArray[np.int64] = np.indices([of.schema[name].size for name in names]).reshape(len(names), -1)
    words = [[label_text(label) for label in of.schema[name].labels] for name in names]
    return tuple(", ".join(own[code] for own, code in zip(words, cell, strict=True)) for cell in grid.T)
