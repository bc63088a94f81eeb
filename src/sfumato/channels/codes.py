"""Codes of several attributes as one flat code, and back; checks of codes and of axes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Codes
from sfumato.channels.lookup import code_type
from sfumato.errors import ChannelError, quoted


def join_codes(columns: Sequence[NDArray[Any]], sizes: Sequence[int]) -> Codes:
    """One flat code per row from a code per attribute, first attribute slowest.

    >>> join_codes([np.array([1, 0]), np.array([2, 1])], (2, 3))
    array([5, 1], dtype=uint8)
    """
    out = np.asarray(columns[0]).astype(code_type(prod(sizes)), copy=len(columns) > 1)
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        out *= out.dtype.type(size) if size < prod(sizes) else out.dtype.type(0)
        out += column.astype(out.dtype, copy=False)
    return out


def split_codes(codes: Codes, sizes: Sequence[int]) -> list[Codes]:
    """The inverse of join_codes, each column in its smallest integer type."""
    out: list[Codes] = []
    rest = codes
    for size in reversed(sizes[1:]):
        rest, column = np.divmod(rest, rest.dtype.type(size)) if size <= np.iinfo(rest.dtype).max else (rest * 0, rest)
        out.append(column.astype(code_type(size), copy=False))
    out.append(rest.astype(code_type(sizes[0]), copy=False))
    return out[::-1]


def check_range(codes: Codes, size: int) -> None:
    """Raise unless every code lies in 0 .. size - 1."""
    if codes.size and (int(codes.min()) < 0 or int(codes.max()) >= size):
        worst = int(codes.min()) if int(codes.min()) < 0 else int(codes.max())
        count = int(((codes < 0) | (codes >= size)).sum())
        raise ChannelError(f"codes must lie in [0, {size - 1}], {count} of {codes.size} do not{quoted(worst)}")


def check_axes(axes: Sequence[int], count: int) -> tuple[int, ...]:
    """Axes as a tuple of distinct positions."""
    listed = isinstance(axes, Sequence | np.ndarray) and all(isinstance(axis, int | np.integer) for axis in axes)
    out = tuple(int(axis) for axis in axes) if listed else ()
    if not out or len(set(out)) != len(out) or not all(0 <= axis < count for axis in out):
        raise ChannelError(f"axes must be distinct positions in [0, {count - 1}], got {axes} instead")
    return out
