"""The density of one attribute of a release, through whatever it passed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sfumato.errors import EstimationError, NoRowsError
from sfumato.evidence.asked_parts import asking
from sfumato.evidence.density.deconvolution import density
from sfumato.evidence.density.ordered import ordered_density
from sfumato.evidence.density.result import Density
from sfumato.evidence.seen import seen
from sfumato.reading.spark_session import is_spark
from sfumato.release import Release
from sfumato.schema import Numeric, Ordinal


def density_of(release: Release, name: str, options: Mapping[str, Any]) -> Density:
    """By the options of ``density`` where the numbers carry additive noise; else their smoothed distribution."""
    parts = asking(release, [name])
    if not any(name in part.scheme.noises for part in parts):
        return _of_channels(release, name, options)
    noises = {part.scheme.noises.get(name) for part in parts}
    noise = noises.pop()
    if noise is None or noises:
        raise EstimationError(f"{name!r} must carry the same additive noise in every part of the release")
    domain, given = release.schema[name], dict(options)
    if isinstance(domain, Numeric) and not {"support", "bins"} & set(given):
        given["support"] = (domain.low, domain.high)
    if len(parts) == 1 and is_spark(parts[0].rows):
        return density(parts[0].rows, noise, column=name, **given)
    batches = (part.batches([name]) for part in parts)
    return density((batch.column(0).to_numpy() for some in batches for batch in some), noise, **given)


def _of_channels(release: Release, name: str, options: Mapping[str, Any]) -> Density:
    domain = release.schema[name]
    if not domain.ordered:
        raise EstimationError(f"{name!r} has no order, so that it has no density: ask for its shares")
    if options:
        raise EstimationError(
            f"{next(iter(options))} belongs to densities under additive noise, and {name!r} passed a channel"
        )
    found = seen(release, [name], inverted=False)
    if not found:
        raise NoRowsError
    channels = [one.blocks[0].channel for one in found]
    alone = [channel for channel in channels if channel is not None and channel.arity == 1]
    if len(alone) < len(found):
        raise EstimationError(f"{name!r} is randomized together with others: its density is not told")
    k = domain.size - domain.nullable
    counts = [one.counts for one in found]
    if isinstance(domain, Numeric):
        return ordered_density(counts, alone, domain.edge_array, nullable=domain.nullable)
    names, places = domain.labels[:k], np.arange(k + 1.0)
    numbers = isinstance(domain, Ordinal) and domain.spaced
    edges = names[0] + (places - 0.5) * (names[-1] - names[0]) / (k - 1) if numbers else places
    made = ordered_density(counts, alone, edges, nullable=domain.nullable)
    return replace(made, names=names, places=not numbers)
