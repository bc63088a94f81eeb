"""The answers as they arrived, before anything is estimated: counts of released codes, and of the values they name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.channels import Channel
from sfumato.evidence.direct import DirectEvidence
from sfumato.release import Release
from sfumato.released.part import Part
from sfumato.scheme import Scheme

#: The most entries of a channel's matrix that is looked through.
_ENTRIES = 1 << 22


def arrived(names: Sequence[str], parts: Sequence[Part], most: int) -> dict[str, Any] | None:
    """The counts of the released codes, where all parts have one scheme and at most so many codes."""
    schemes = {part.scheme for part in parts}
    if len(schemes) > 1:
        return None
    (scheme,) = schemes
    columns = [c for group in scheme.groups if not set(group.names).isdisjoint(names) for c in group.columns]
    sizes = [scheme.output_sizes[column] for column in columns]
    if math.prod(sizes) > most:
        return None
    counts = DirectEvidence(Release.of(parts)).released_counts(names)
    named = _named(scheme, names, counts.astype(np.float64))
    return {
        "columns": columns,
        "sizes": sizes,
        "counts": counts.tolist(),
        "shares": None if named is None else named.tolist(),
    }


def _named(scheme: Scheme, names: Sequence[str], counts: Array) -> Array | None:
    """The share of every value among the answers as they arrived, where one attribute has a channel of its own."""
    group = scheme.group(names[0])
    if len(names) > 1 or group.names != (names[0],) or counts.sum() <= 0:
        return None
    channel = group.channel
    if channel.k * channel.m > _ENTRIES or len(counts) != channel.m:
        return None
    return np.asarray(speaks_for(channel) @ counts / counts.sum())


def speaks_for(channel: Channel) -> Array:
    """For every value and released code, how far the code names the value.

    A code names the values under which it is most likely, all in equal parts: one of them under a channel that keeps or
    changes a value, those of the set or window that is released under others.

    >>> from sfumato import channels as c
    >>> speaks_for(c.symmetric(3, 0.3)).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    matrix = channel.matrix
    most = matrix >= matrix.max(axis=0) * (1 - 1e-9)
    return np.asarray(most / most.sum(axis=0))
