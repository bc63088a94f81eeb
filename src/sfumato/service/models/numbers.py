"""Numbers as they are sent: each with its limits, and nothing where there is none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from sfumato.assess.poisoned_ratio import poisoned_share
from sfumato.errors import SfumatoError
from sfumato.evidence import Evidence
from sfumato.evidence.critical import wider_level
from sfumato.service.estimates import FALSE


def number(value: Any) -> float | None:
    """A number that JSON can hold."""
    return float(value) if value is not None and math.isfinite(value) else None


def limited(value: Any, low: Any, high: Any) -> dict[str, float | None]:
    """A number with its limits."""
    return {"value": number(value), "low": number(low), "high": number(high)}


def text(label: Any) -> str | None:
    """A value as it stands in a table; None is no answer."""
    return None if label is None else str(label)


def often(level: float, answers: float) -> float:
    """The level at which limits for one look hold at this level however often one looks."""
    return wider_level(level, answers)


def moved(source: Evidence, held: Mapping[str, int], given: Mapping[str, int]) -> dict[str, float | None]:
    """How far false answers could move the share of some values among those with the given ones; nothing if untold."""
    try:
        down, up = poisoned_share(source, FALSE, held, given)
    except SfumatoError:
        return {"down": None, "up": None}
    return {"down": number(down), "up": number(up)}
