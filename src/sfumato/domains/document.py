"""A domain from its JSON description, with one line for whatever is wrong in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.domains.base import Domain
from sfumato.domains.categorical import Categorical, Ordinal
from sfumato.domains.dates import Date
from sfumato.domains.hierarchy import Hierarchy
from sfumato.domains.numeric import MOST_BINS, Numeric
from sfumato.domains.text import Text
from sfumato.errors import SchemaError

#: The keys each kind takes; "kind" and one of the first group are needed, the others may be left out.
KEYS = {
    "categorical": {"values", "other", "nullable", "missing", "spellings"},
    "ordinal": {"values", "other", "nullable", "missing", "spellings", "clip"},
    "numeric": {"edges", "low", "high", "bins", "points", "step", "nullable", "missing", "clip", "unit"},
    "date": {"first", "last", "by", "nullable", "missing", "clip", "formats"},
    "hierarchy": {"levels", "tree", "parents", "level", "nullable", "missing", "spellings"},
    "text": {"max_length", "alphabet", "nullable", "missing", "clip"},
}
_FAMILIES: dict[str, Any] = {
    "categorical": Categorical,
    "ordinal": Ordinal,
    "numeric": Numeric,
    "date": Date,
    "hierarchy": Hierarchy,
    "text": Text,
}
_COMMENTS = {"why", "discloses", "note"}  # what the schema command writes beside a domain for people to read


def check_bins(document: Mapping[str, Any]) -> None:
    """Raise where a short document asks for more bins than memory should hold."""
    entries = [entry for entry in document.values() if isinstance(entry, dict)]
    bins = [entry.get(key) for entry in entries for key in ("bins", "points")]
    if sum(number for number in bins if isinstance(number, int | float) and number > 0) > MOST_BINS:
        raise SchemaError(f"the attributes have more than {MOST_BINS} bins in all: use wider ones")


def domain_from_dict(name: str, entry: Any) -> Domain:
    """The domain that ``to_dict`` described, or that somebody wrote by hand."""
    if not isinstance(entry, dict):
        raise SchemaError(f"attribute {name!r}: its description must be an object, got {type(entry).__name__} instead")
    kind = entry.get("kind")
    if not isinstance(kind, str) or kind not in KEYS:
        raise SchemaError(f"attribute {name!r}: kind must be one of {', '.join(KEYS)}, got {kind!r} instead")
    given = {key: value for key, value in entry.items() if key != "kind" and key not in _COMMENTS}
    strange = sorted(set(given) - KEYS[kind])
    if strange:
        raise SchemaError(
            f"attribute {name!r}: {kind} has no key {strange[0]!r}; it takes {', '.join(sorted(KEYS[kind]))}"
        )
    for key in ("values", "edges", "missing", "formats", "levels"):
        if key in given:
            if not isinstance(given[key], list):
                raise SchemaError(f"attribute {name!r}: {key} must be a list, got {type(given[key]).__name__} instead")
            given[key] = tuple(given[key])
    for key in ("nullable", "clip"):
        if not isinstance(given.get(key, False), bool):
            raise SchemaError(f"attribute {name!r}: {key} must be true or false")
    try:
        domain: Domain = _FAMILIES[kind](**given)
    except SchemaError as problem:
        raise SchemaError(f"attribute {name!r}: {problem}") from None
    except (KeyError, TypeError, ValueError, OverflowError) as problem:
        raise SchemaError(f"the description of attribute {name!r} is damaged: {type(problem).__name__}") from None
    return domain
