"""What stands beside a model: what the data cannot decide, and what was not looked at, for who reads a page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from sfumato.errors import (
    BiasWarning,
    DisclosureWarning,
    NegativeCountsWarning,
    NothingForetoldWarning,
    SfumatoWarning,
)
from sfumato.evidence.kinds import JunctionTreeWarning

#: These speak to who may choose a method.
_OF_METHODS = (BiasWarning, DisclosureWarning, JunctionTreeWarning, NegativeCountsWarning)
#: Arguments that a request does not have.
_PHRASES = (
    (r"raise min_support,? or set max_items(=\d+ to agree)?", "ask for a larger support"),
    (r", or allow more memory", ""),
)


def notes(model: dict[str, Any], kept: Sequence[SfumatoWarning]) -> list[str]:
    """What the model says of itself, and what was warned of while it was learned, each once."""
    return list(dict.fromkeys([*model.get("notes", ()), *map(_in_words, _more(model, kept))]))


def _more(model: dict[str, Any], kept: Iterable[SfumatoWarning]) -> Iterable[str]:
    for one in kept:
        said = str(one) == model.get("shortfall") or (
            isinstance(one, NothingForetoldWarning) and model.get("leaves") == 1  # a single leaf says the same
        )
        if not said and not isinstance(one, _OF_METHODS):
            yield str(one)


def _in_words(text: str) -> str:
    for said, instead in _PHRASES:
        text = re.sub(said, instead, text)
    return text
