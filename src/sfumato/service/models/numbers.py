"""Numbers as models send them: with their limits, and with what false answers could do to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.assess.poisoned_ratio import poisoned_share
from sfumato.errors import SfumatoError
from sfumato.evidence import Evidence
from sfumato.service.estimates import FALSE
from sfumato.service.json_values import number


def limited(value: Any, low: Any, high: Any) -> dict[str, float | None]:
    """A number with its limits."""
    return {"value": number(value), "low": number(low), "high": number(high)}


def moved(source: Evidence, held: Mapping[str, int], given: Mapping[str, int]) -> dict[str, float | None]:
    """How far false answers could move the share of some values among those with the given ones; nothing if untold."""
    try:
        down, up = poisoned_share(source, FALSE, held, given)
    except SfumatoError:
        return {"down": None, "up": None}
    return {"down": number(down), "up": number(up)}
