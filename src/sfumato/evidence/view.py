"""How a scheme shows some attributes: the released columns to count, and the maps between their tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np

from sfumato.channels import Channel
from sfumato.channels.linear import Array, Dense, Kronecker, Operator
from sfumato.errors import ChannelError, EstimationError
from sfumato.scheme import Scheme


@dataclass(frozen=True)
class View:
    """The released columns to count for some attributes, and the linear maps between true and released tables."""

    columns: tuple[str, ...]
    axes: tuple[str, ...]  # the attributes, in the order of the maps' axes
    sizes: tuple[tuple[int, ...], ...]  # of the attributes, group by group
    outputs: tuple[tuple[int, ...], ...]  # of the columns, group by group
    transition: Kronecker
    inverse: Kronecker
    whole: tuple[str, ...]  # all attributes the columns show: more than axes where some are summed out

    @property
    def own(self) -> Array:
        """Σ_y A[x, y]² P[x, y] of every cell."""
        return self.inverse.squared().diagonal_of_product(self.transition)


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
    for group in dict.fromkeys(scheme.group(name) for name in names):
        kept = [i for i, name in enumerate(group.names) if name in names]
        axes += [group.names[i] for i in kept]
        whole += [group.names[i] for i in kept]
        channel = group.channel
        dropped = tuple(i for i in range(len(group.names)) if i not in kept)
        summing: Array | None = None
        if dropped:
            try:
                channel = channel.marginal(kept)
                columns += [group.columns[i] for i in kept]
            except ChannelError:
                summing = _summing(group.channel.sizes, dropped)
                columns += group.columns
                whole[-len(kept) :] = group.names
        else:
            columns += group.columns
        _check_invertible(channel, group.names)
        sizes.append(tuple(group.channel.sizes[i] for i in kept))
        outputs.append(channel.outputs)
        if summing is None:
            forward.append(channel.transition)
            backward.append(channel.inverse)
        else:
            # an average of the group's rows stands for P: it is only asked how a cell's variance grows with its count
            averaging = summing / summing.sum(axis=1, keepdims=True)
            forward.append(Dense(averaging @ channel.transition.dense()))
            backward.append(Dense(summing @ channel.inverse.dense()))
    return View(
        columns=tuple(columns),
        axes=tuple(axes),
        whole=tuple(whole),
        sizes=tuple(sizes),
        outputs=tuple(outputs),
        transition=Kronecker(tuple(forward)),
        inverse=Kronecker(tuple(backward)),
    )


def _check_invertible(channel: Channel, names: Sequence[str]) -> None:
    if not channel.invertible:
        raise EstimationError(
            f"{' + '.join(names)}: the channel {channel} is not invertible: different true tables give the same "
            f"released one, so that no count can be estimated"
        )


def _summing(sizes: Sequence[int], dropped: tuple[int, ...]) -> Array:
    """The matrix that sums a group's flat table over the dropped axes."""
    kept = [size for i, size in enumerate(sizes) if i not in dropped]
    eye = np.eye(prod(sizes)).reshape(*sizes, prod(sizes))
    return np.asarray(eye.sum(axis=dropped).reshape(prod(kept), prod(sizes)))
