"""How a scheme shows some attributes: the released columns of each channel, P, and A with A Pᵀ = I."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.channels import Channel
from sfumato.channels.linear import Dense, Embedded, Operator
from sfumato.channels.product import Product
from sfumato.errors import ChannelError, EstimationError
from sfumato.scheme import Scheme


@dataclass(frozen=True, eq=False)
class Block:
    """Attributes that one channel treats: the released columns to count, P and A.

    Where a channel treats other attributes too and has no marginal channel, ``whole`` is the block of all of them, and
    ``into`` the cell of the asked ones that each of its cells belongs to. A then sums over the others, and P is the
    mean over their possible values.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    columns: tuple[str, ...]
    outputs: tuple[int, ...]
    channel: Channel | None = None  # where it is not given what follows from it:
    forward: Operator | None = None
    backward: Operator | None = None
    whole: Block | None = None
    into: NDArray[np.int64] | None = None

    @property
    def released(self) -> int:
        """How many released values there are."""
        return prod(self.outputs)

    @cached_property
    def transition(self) -> Operator:
        return self.forward or self._given.transition

    @cached_property
    def inverse(self) -> Operator:
        return self.backward or self._given.inverse

    @property
    def _given(self) -> Channel:
        if self.channel is None:
            raise EstimationError(f"{' + '.join(self.names)}: no left inverse is known")
        return self.channel

    @cached_property
    def P(self) -> Array:
        return self.transition.dense()

    @cached_property
    def A(self) -> Array:
        return self.inverse.dense()

    @property
    def full(self) -> Block:
        """The block of all attributes that the channel treats."""
        return self if self.whole is None else self.whole

    def own(self, k: int) -> Array:
        """Σ_y A[x, y]^k P[c, y] of every cell c of all the channel's attributes, x being the cell it belongs to."""
        forward = self.full.transition
        if self.into is None:
            return self.inverse.power(k).diagonal_of_product(forward)
        if not isinstance(forward, Embedded):
            return np.asarray(np.einsum("cy,cy->c", self.A[self.into] ** k, self.full.P))
        out = np.zeros(forward.rows)
        cells = forward.cells
        out[cells] = np.einsum("cy,cy->c", self.A[np.ix_(self.into[cells], cells)] ** k, forward.inner.dense())
        return out


def unasked(name: str, size: int) -> Block:
    """An attribute that was not asked: a channel of gamma 1, whose one output says nothing."""
    return Block((name,), (size,), (), (), forward=Dense(np.ones((size, 1))))


@lru_cache(maxsize=1 << 14)
def blocks(scheme: Scheme, names: tuple[str, ...], inverted: bool = True) -> tuple[Block, ...]:
    """The channels that treat these attributes, each with those of its attributes that are asked for.

    ``inverted`` refuses a channel that has no left inverse, naming its attributes.
    """
    groups = dict.fromkeys(scheme.group(name) for name in names)
    asked = frozenset(names)
    return tuple(
        _block(scheme, own, tuple(name for name in own if name in asked), inverted)
        for group in groups
        for own, _, _ in pieces(group.names, group.channel)
        if not asked.isdisjoint(own)
    )


def pieces(names: tuple[str, ...], channel: Channel) -> Iterator[tuple[tuple[str, ...], tuple[str, ...], Channel]]:
    """The independent channels that a channel consists of: attributes, released columns and channel of each."""
    if not isinstance(channel, Product):
        yield names, tuple(channel.columns(names)), channel
        return
    first = 0
    for part in channel.channels:
        yield from pieces(names[first : first + part.arity], part)
        first += part.arity


@lru_cache(maxsize=1 << 14)
def _block(scheme: Scheme, names: tuple[str, ...], kept: tuple[str, ...], inverted: bool) -> Block:
    """Some attributes of a piece.

    They are seen through their marginal channel (Ma 2006, section 5.3, case d) where there is one; otherwise through
    the whole channel, and the estimate is summed over the others.
    """
    group = scheme.group(names[0])
    columns, channel = next((c, ch) for own, c, ch in pieces(group.names, group.channel) if own == names)
    places = [names.index(name) for name in kept]
    own = _marginal(channel, places)
    if own is not None:
        if inverted:
            check_invertible(own, names)
        seen = columns if len(kept) == len(names) else tuple(columns[i] for i in places)
        return Block(kept, own.sizes, seen, own.outputs, own)
    whole = _block(scheme, names, names, inverted)
    dropped = tuple(i for i in range(len(names)) if i not in places)
    rows = _summed(channel.transition, channel.sizes, dropped)
    return Block(
        names=kept,
        sizes=tuple(channel.sizes[i] for i in places),
        columns=columns,
        outputs=channel.outputs,
        forward=Dense(rows / np.maximum(rows.sum(axis=1, keepdims=True), 1e-300)),
        backward=Dense(_summed(channel.inverse, channel.sizes, dropped)),
        whole=whole,
        into=_margin(channel.sizes, places),
    )


def _marginal(channel: Channel, kept: list[int]) -> Channel | None:
    """The channel of the kept attributes alone, where there is one."""
    try:
        return channel if len(kept) == len(channel.sizes) else channel.marginal(kept)
    except ChannelError:
        return None


def check_invertible(channel: Channel, names: Sequence[str]) -> None:
    """Refuse a channel from which no count can be estimated, naming its attributes."""
    try:
        invertible = channel.invertible
    except ChannelError as problem:
        raise EstimationError(f"{' + '.join(names)}: {problem}") from None
    if not invertible:
        raise EstimationError(
            f"{' + '.join(names)}: the channel {channel} is not invertible: different true tables give the same "
            f"released one, so that no count can be estimated; leave it out (a channel for means tells its mean alone)"
        )


def _margin(sizes: Sequence[int], kept: Sequence[int]) -> NDArray[np.int64]:
    """The cell of the kept attributes that each cell of a group belongs to."""
    cells = np.unravel_index(np.arange(prod(sizes)), tuple(sizes))
    return np.asarray(np.ravel_multi_index([cells[i] for i in kept], [sizes[i] for i in kept]))


def _summed(operator: Operator, sizes: Sequence[int], dropped: tuple[int, ...]) -> Array:
    """The rows of a group's map, summed over the dropped attributes."""
    kept = [i for i in range(len(sizes)) if i not in dropped]
    rows = prod(sizes[i] for i in kept)
    if not isinstance(operator, Embedded):
        tensor = operator.dense().reshape(*sizes, operator.cols)
        return np.asarray(tensor.sum(axis=dropped).reshape(rows, operator.cols))
    inner = np.zeros((rows, len(operator.cells)))
    np.add.at(inner, _margin(sizes, kept)[operator.cells], operator.inner.dense())
    out = np.zeros((rows, operator.cols))
    out[:, operator.cells] = inner
    return out
