"""sfumato estimate --where: the values that records must hold, as they are typed."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

from sfumato.domains import Domain
from sfumato.errors import SfumatoError
from sfumato.printable import label_text
from sfumato.reading.name_lists import listed
from sfumato.schema import Schema

_COMMA = "\x00"
#: A bin as its label is written; its comma ends no condition.
_BIN = re.compile(r"=\s*\"?\[[^\[\],]*,[^\[\],)]*[\])]")


def conditions(where: list[str] | None, schema: Schema) -> dict[str, Any]:
    """The labels that --where asks for, by attribute."""
    held: dict[str, Any] = {}
    for part in (part for text in where or [] for part in _parts(text)):
        name, equals, value = part.partition("=")
        name, value = name.strip(), value.strip()
        if len(value) > 1 and value[0] == value[-1] == '"':
            value = value[1:-1]
        if not equals or not name:
            raise SfumatoError(f"--where must look like sex=F or sex=F,grade=a, got {part!r} instead")
        label = _label(schema[name], name, value)
        if held.setdefault(name, label) != label:
            raise SfumatoError(f"--where asks for two values of {name!r}, which no record holds; give one")
    return held


def _parts(text: str) -> list[str]:
    """The conditions of one --where. The comma of a bin, age=[18, 21), ends none."""
    whole = _BIN.sub(lambda found: found[0].replace(",", _COMMA), text)
    return [part.replace(_COMMA, ",") for part in listed(whole)]


def _label(domain: Domain, name: str, value: str) -> Any:
    """The label that a text means: the label itself, "no answer" or nothing for the missing one, a number in a bin."""
    labels = {label_text(label): label for label in domain.labels}
    if None in domain.labels:
        labels.setdefault("", None)
    if value in labels:
        return labels[value]
    with suppress(ValueError):
        wanted = float(value)
        for label in domain.labels:
            if isinstance(label, int | float) and label == wanted:
                return label
    if value and domain.kind in ("numeric", "date"):
        with suppress(SfumatoError, ValueError):
            return domain.labels[int(domain.encode([value])[0])]
    shown = ", ".join([label for label in labels if label][:12])
    raise SfumatoError(f"--where: {name} has no value {value!r}; it has {shown}{', ...' * (len(domain.labels) > 12)}")
