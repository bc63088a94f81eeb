"""What to say of a design that takes more than the server gives it: what to drop, and where there are no limits."""

from __future__ import annotations

from typing import Any

from sfumato.errors import SfumatoError
from sfumato.schema import Schema

_NAMED = 3


def of_a_smaller_design(request: dict[str, Any]) -> str:
    """The attributes with the most values, which make the largest tables, and the command line."""
    elsewhere = "or use `sfumato design` on the command line, which has no such limit"
    try:
        schema = Schema.from_dict(request["schema"] or (request["scheme"] or {}).get("schema") or {})
    except (SfumatoError, AttributeError):
        return f"use fewer attributes, {elsewhere}"
    sizes = sorted(((domain.size, name) for name, domain in schema.items() if domain.listed), reverse=True)
    largest = ", ".join(f"{name} ({size} values)" for size, name in sizes[:_NAMED])
    return f"leave out some of the {len(schema)} attributes, first those with the most values ({largest}), {elsewhere}"
