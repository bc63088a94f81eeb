"""The distribution of an ordered attribute as JSON, reconstructed, and beside it the numbers as they arrived."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from sfumato.evidence import Evidence
from sfumato.evidence.critical import wider_level
from sfumato.evidence.density.ordered import OrderedDensity
from sfumato.evidence.density.result import Density
from sfumato.evidence.density.smooth import ROUNDED_OFF
from sfumato.evidence.questions.values import are_years
from sfumato.printable import many
from sfumato.service.json_values import number


def distribution(source: Evidence, asked: dict[str, Any]) -> dict[str, Any]:
    """The density of ``target`` with a band; of numbers under additive noise also the histogram of what arrived."""
    found = source.density(asked["target"])
    low, high = (None, None) if found.spread is None else found.band(wider_level(asked["level"], source.n))
    arrived = None
    if not isinstance(found, OrderedDensity) and found.z_counts.size:
        height = found.z_counts / max(float(found.z_counts.sum()), 1.0) / np.diff(found.z_edges)
        arrived = {"edges": found.z_edges.tolist(), "height": height.tolist()}
    step, edges, named = 1.0, found.edges, False
    if isinstance(found, OrderedDensity) and found.names:  # drawn at the places of the values, from 0 on
        step, named = found.step, True
        edges = (edges - edges[0]) / step
    return {
        "target": asked["target"],
        "edges": edges.tolist(),
        "height": [number(one) for one in found.height * step],
        "low": None if low is None else [number(one) for one in low * step],
        "high": None if high is None else [number(one) for one in high * step],
        "mean": None if named else number(found.mean),
        "sd": None if named else number(found.sd),
        "years": not named and are_years(float(found.edges[0]), float(found.edges[-1])),
        "arrived": arrived,
        "notes": list(_notes(source, asked["target"], found)),
    }


def _notes(source: Evidence, target: str, found: Density | OrderedDensity) -> Iterator[str]:
    """Who is left out, where the band does not hold, and what noise hides."""
    silent = source.n - found.n
    if source.schema[target].nullable and silent > 0:
        yield f"left out: {many(silent, 'record')} without an answer, as estimated"
    yield f"the band is that of a smoothed distribution: {ROUNDED_OFF}"
    if not isinstance(found, OrderedDensity):
        coarse = not math.isfinite(found.resolution)
        apart = "of any kind" if coarse else f"nearer to each other than {found.resolution:.3g}"
        yield f"hills {apart} may show as one through this noise, and gaps between them not at all"
