"""Released counts with the channel that they came through: from a release, or given by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.arrays import Array
from sfumato.assess.subject import Attribute, channel_of
from sfumato.channels import Channel
from sfumato.errors import EstimationError
from sfumato.evidence import evidence
from sfumato.printable import label_text
from sfumato.release import Release
from sfumato.schema import Schema
from sfumato.scheme import Scheme


def channel_and_counts(released: Any, of: Any, attribute: Attribute) -> tuple[Channel, Array, tuple[str, ...]]:
    """The channel, the counts of its released values, and names of the true ones."""
    if isinstance(released, Release):
        if of is not None and attribute is None:
            of, attribute = None, of
        if attribute is None:
            raise EstimationError(f"name an attribute: the release has {', '.join(released.schema.names)}")
        names = [attribute] if isinstance(attribute, str) else list(attribute)
        for name in names:
            if name in released.scheme.noises:
                raise EstimationError(f"{name!r} has additive noise, under which no number is impossible")
        if not len(released):
            raise EstimationError("the release holds no answers: nothing can be estimated from it")
        counts = evidence(released).released_counts(names)
        labels = cell_labels(released.schema.select(names))
        return channel_of(released.scheme, attribute), counts.reshape(-1).astype(np.float64), labels
    if of is None:
        raise EstimationError("give the channel that the counts came through, or a release instead of counts")
    channel = channel_of(of, attribute)
    if isinstance(of, Scheme) and attribute is not None:
        labels = cell_labels(of.schema.select([attribute] if isinstance(attribute, str) else attribute))
    else:
        labels = tuple(str(x) for x in range(channel.k))
    return channel, _counts(released, channel.m), labels


def _counts(given: ArrayLike, m: int) -> Array:
    try:
        counts = np.asarray(given, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise EstimationError("the released counts must be numbers") from None
    if len(counts) != m:
        raise EstimationError(f"the channel releases {m} different values, got {len(counts)} counts instead")
    if not np.isfinite(counts).all() or (counts < 0).any() or (counts != np.floor(counts)).any() or counts.sum() < 1:
        raise EstimationError("the released counts must be whole numbers, none below 0 and not all 0")
    return counts


def cell_labels(schema: Schema, codes: NDArray[np.int64] | None = None) -> tuple[str, ...]:
    """A name for each cell; cells that were not listed run over all combinations."""
    grid = np.indices(schema.sizes()).reshape(len(schema), -1).T if codes is None else codes
    words = [[label_text(label) for label in domain.labels] for domain in schema.values()]
    return tuple(", ".join(own[code] for own, code in zip(words, cell, strict=True)) for cell in grid)
