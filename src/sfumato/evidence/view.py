"""How a scheme shows some attributes: the released columns to count, and the maps between their tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np
from numpy.typing import NDArray

from sfumato.channels import Channel
from sfumato.channels.geometry import Incidence
from sfumato.channels.linear import Array, Dense, Embedded, Kronecker, Operator, UniformPlus, kronecker
from sfumato.channels.product import Product
from sfumato.errors import ChannelError, EstimationError
from sfumato.scheme import Scheme


@dataclass(frozen=True)
class View:
    """The released columns to count for some attributes, and the linear maps between true and released tables."""

    columns: tuple[str, ...]
    axes: tuple[str, ...]  # the attributes, in the order of the maps' axes
    sizes: tuple[tuple[int, ...], ...]  # of the attributes, group by group
    outputs: tuple[tuple[int, ...], ...]  # of the columns, group by group
    transition: Kronecker  # where attributes are summed out, an average over the cells of a group
    inverse: Kronecker
    whole: tuple[str, ...]  # all attributes the columns show: more than axes where some are summed out
    full: Kronecker  # P of all these attributes
    full_inverse: Kronecker
    into: tuple[NDArray[np.int64] | None, ...]  # group by group, where each of its cells goes if some are summed out

    @property
    def partial(self) -> bool:
        """Whether some attributes are summed out."""
        return any(into is not None for into in self.into)

    @property
    def solved_whole(self) -> bool:
        """Whether all cells take no longer than some: a single attribute under a channel that needs no matrix."""
        return len(self.full.factors) == 1 and isinstance(self.full.factors[0], UniformPlus | Incidence)

    def summed(self, values: Array) -> Array:
        """A table of all attributes, summed to one of the axes."""
        tail, done = values.shape[1:], 1
        for factor, into, sizes in zip(self.full.factors, self.into, self.sizes, strict=True):
            if into is not None:
                cells = values.reshape(done, factor.rows, -1).transpose(1, 0, 2)
                out = np.zeros((prod(sizes), *cells.shape[1:]))
                np.add.at(out, into, cells)
                values = out.transpose(1, 0, 2)
            done *= prod(sizes)
        return values.reshape(done, *tail)

    def own(self, k: int) -> Array:
        """Σ_y A[x, y]^k P[c, y] of every cell c of all attributes, x being the cell of the axes that c belongs to."""
        factors = zip(self.inverse.factors, self.full.factors, self.into, strict=True)
        return kronecker([_own(inverse, forward, into, k) for inverse, forward, into in factors])


def view(scheme: Scheme, names: Sequence[str]) -> View:
    """The maps between true and released tables of some attributes; see ``View``."""
    return _view(scheme, tuple(names))


@lru_cache(maxsize=1 << 14)
def _view(scheme: Scheme, names: tuple[str, ...]) -> View:
    """How each group of the scheme shows what is wanted of it.

    A group of which only some attributes are wanted is seen through its marginal channel (Ma 2006, section 5.3, case
    d) where it has one; otherwise through the whole group, and the estimate is summed over the others.
    """
    columns: list[str] = []
    axes: list[str] = []
    whole: list[str] = []
    sizes: list[tuple[int, ...]] = []
    outputs: list[tuple[int, ...]] = []
    forward: list[Operator] = []
    backward: list[Operator] = []
    full: list[tuple[Operator, Operator]] = []
    into: list[NDArray[np.int64] | None] = []
    for group in dict.fromkeys(scheme.group(name) for name in names):
        kept = [i for i, name in enumerate(group.names) if name in names]
        axes += [group.names[i] for i in kept]
        dropped = tuple(i for i in range(len(group.names)) if i not in kept)
        channel = _marginal(group.channel, kept)
        if channel is not None:
            _check_invertible(channel, group.names)
            whole += [group.names[i] for i in kept]
            columns += [group.columns[i] for i in kept] if dropped else group.columns
            for factor in _factors(channel):
                sizes.append(factor.sizes)
                outputs.append(factor.outputs)
                forward.append(factor.transition)
                backward.append(factor.inverse)
                full.append((factor.transition, factor.inverse))
                into.append(None)
        else:
            _check_invertible(group.channel, group.names)
            whole += group.names
            columns += group.columns
            sizes.append(tuple(group.channel.sizes[i] for i in kept))
            outputs.append(group.channel.outputs)
            full.append((group.channel.transition, group.channel.inverse))
            into.append(_margin(group.channel.sizes, kept))
            # the mean of the possible cells' rows stands for P
            rows = _summed(group.channel.transition, group.channel.sizes, dropped)
            forward.append(Dense(rows / np.maximum(rows.sum(axis=1, keepdims=True), 1e-300)))
            backward.append(Dense(_summed(group.channel.inverse, group.channel.sizes, dropped)))
    return View(
        columns=tuple(columns),
        axes=tuple(axes),
        whole=tuple(whole),
        sizes=tuple(sizes),
        outputs=tuple(outputs),
        transition=Kronecker(tuple(forward)),
        inverse=Kronecker(tuple(backward)),
        full=Kronecker(tuple(transition for transition, _ in full)),
        full_inverse=Kronecker(tuple(inverse for _, inverse in full)),
        into=tuple(into),
    )


def _check_invertible(channel: Channel, names: Sequence[str]) -> None:
    try:
        invertible = channel.invertible
    except ChannelError as problem:
        raise EstimationError(f"{' + '.join(names)}: {problem}") from None
    if not invertible:
        raise EstimationError(
            f"{' + '.join(names)}: the channel {channel} is not invertible: different true tables give the same "
            f"released one, so that no count can be estimated"
        )


def _marginal(channel: Channel, kept: list[int]) -> Channel | None:
    """The channel of the kept attributes alone, where there is one."""
    if len(kept) == len(channel.sizes):
        return channel
    try:
        return channel.marginal(kept)
    except ChannelError:
        return None


def _factors(channel: Channel) -> list[Channel]:
    """The independent channels that a channel consists of: no matrix is ever formed for their product."""
    if not isinstance(channel, Product):
        return [channel]
    return [factor for part in channel.channels for factor in _factors(part)]


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
    codes = np.unravel_index(operator.cells, tuple(sizes))
    target = np.ravel_multi_index([codes[i] for i in kept], [sizes[i] for i in kept])
    inner = np.zeros((rows, len(operator.cells)))
    np.add.at(inner, target, operator.inner.dense())
    out = np.zeros((rows, operator.cols))
    out[:, operator.cells] = inner
    return out


def _own(inverse: Operator, forward: Operator, into: NDArray[np.int64] | None, k: int) -> Array:
    if into is None:
        return inverse.power(k).diagonal_of_product(forward)
    rows = inverse.dense()
    if not isinstance(forward, Embedded):
        return np.asarray(np.einsum("cy,cy->c", rows[into] ** k, forward.dense()))
    out = np.zeros(forward.rows)
    cells = forward.cells
    out[cells] = np.einsum("cy,cy->c", rows[np.ix_(into[cells], cells)] ** k, forward.inner.dense())
    return out
