"""How few bytes a file of rows can have. Equal rows pack to nothing: a few kilobytes could fill a server's memory.

Randomized answers do not pack. Whatever the true values are, and in whatever order, n answers under a channel take

    n min_x H(P[x, .])

bits on average, where H is Shannon's entropy.
"""

from __future__ import annotations

from math import log2
from pathlib import Path

import numpy as np

from sfumato.arrays import Array
from sfumato.channels.base import Channel
from sfumato.channels.hyperplanes import Hyperplanes
from sfumato.channels.subset import Subset
from sfumato.errors import SfumatoError
from sfumato.reading.memory_limit import TooLargeError, check_decoded
from sfumato.reading.parquet_structure import ROWS_OF_A_BYTE
from sfumato.release import Release
from sfumato.scheme import Scheme
from sfumato.service.refusals import RefusalError

MOST_ROWS = 1 << 28
_MANY = "the file holds more rows than so few bytes of randomized answers can"
_ENTRIES = 1 << 22  # of a matrix that is looked at


def least_bits(scheme: Scheme) -> float:
    """The bits that the answers of one record have at least.

    >>> from sfumato import channels as c
    >>> from sfumato.schema import Categorical, Schema
    >>> round(least_bits(Scheme(Schema({"sex": Categorical(("F", "M"))}), {"sex": c.symmetric(2, 0.25)})), 3)
    0.811
    """
    return sum(_entropy(channel) for group in scheme.groups for _, channel in group.channel.factors(group.names))


def _entropy(channel: Channel) -> float:
    if channel.continuous:
        return 0.0
    if channel.k * channel.m <= _ENTRIES:
        return _least_entropy(channel.matrix)
    if isinstance(channel, Hyperplanes | Subset):
        return max(0.0, log2(channel.m / channel.gamma))  # no answer is likelier than gamma times the average
    return 0.0


def _least_entropy(matrix: Array) -> float:
    logarithms = np.log2(matrix, out=np.zeros_like(matrix), where=matrix > 0)
    return float(-(matrix * logarithms).sum(axis=1).max())  # the row with the least entropy


def check_release(path: Path, release: Release) -> None:
    """Refuse a release that has more rows than so many bytes of randomized answers."""
    size = path.stat().st_size
    least = {scheme: least_bits(scheme) for scheme in {part.scheme for part in release.parts}}
    bits = sum(len(part) * least[part.scheme] for part in release.parts)
    if len(release) > min(MOST_ROWS, ROWS_OF_A_BYTE * size) or bits > 2 * 8 * size:  # twice: chance, and rounding
        raise RefusalError("refused", _MANY)
    columns = {name for part in release.parts for name in (*part.scheme.columns, *([part.id] if part.id else []))}
    try:
        check_decoded(path, sorted(columns))  # or nobody could download what all sites have pushed
    except TooLargeError:
        raise RefusalError("refused", _MANY) from None


def check_resampled(path: Path, names: list[str], rows: int) -> None:
    """Refuse rows that would take far more memory than their file."""
    if rows > MOST_ROWS:
        raise RefusalError("refused", f"the file holds more than {MOST_ROWS:,} rows")
    try:
        check_decoded(path, names)
    except SfumatoError:
        raise RefusalError("refused", "the file holds more rows than so few bytes of resampled numbers can") from None
