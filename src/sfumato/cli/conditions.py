"""sfumato estimate --where: the values that records must hold, as they are typed or pasted from what was printed."""

from __future__ import annotations

import re
from typing import Any

from sfumato.cli.typed_labels import TypedLabels
from sfumato.errors import SfumatoError
from sfumato.schema import Schema

_QUOTED = re.compile(r'\s*"((?:[^"]|"")*)"\s*')
_LONGEST = 20  # commas that a label may hold


def conditions(where: list[str] | None, schema: Schema, several: bool = False) -> dict[str, Any]:
    """The label that --where asks for, by attribute; where ``several`` may be named, a list of those."""
    held: dict[str, list[Any]] = {}
    typed: dict[str, TypedLabels] = {}
    for text in where or []:
        rest = text
        while rest.strip(" ,"):
            name, rest = _name(rest, schema)
            if name not in typed:
                typed[name] = TypedLabels(schema[name])
            value, rest = _value(rest, typed[name])
            try:
                label = typed[name].meant(value)
            except SfumatoError as problem:
                raise SfumatoError(f"--where: {name} has {problem}") from None
            if label not in held.setdefault(name, []):
                held[name].append(label)
            if len(held[name]) > 1 and not several:
                raise SfumatoError(
                    f"--where asks for two values of {name!r}: counts take one; --mean, --median, --quantiles, --cdf "
                    f"and --correlation take records that hold either"
                )
    return {name: labels if len(labels) > 1 else labels[0] for name, labels in held.items()}


def _name(text: str, schema: Schema) -> tuple[str, str]:
    """The attribute that a condition begins with, and what follows its equals sign."""
    text = text.lstrip(" ,")
    own = [name for name in schema if text.startswith(name) and text[len(name) :].lstrip().startswith("=")]
    quoted = _QUOTED.match(text)
    if own:
        name = max(own, key=len)
        rest = text[len(name) :].lstrip()
    elif quoted is not None:
        name, rest = quoted[1].replace('""', '"'), text[quoted.end() :]
    else:
        name, _, _ = text.partition("=")
        rest = text[len(name) :]
    if not rest.startswith("=") or not name.strip():
        raise SfumatoError(f"--where must look like sex=F or sex=F,grade=a, got {text!r} instead")
    return name.strip(), rest[1:]


def _value(text: str, labels: TypedLabels) -> tuple[str, str]:
    """The value up to a comma, and what follows. A comma inside the value ends it only where no label has it."""
    quoted = _QUOTED.match(text)
    if quoted is not None and text[quoted.end() : quoted.end() + 1] in ("", ","):
        return quoted[1].replace('""', '"'), text[quoted.end() + 1 :]
    ends = [*[found.start() for found in re.finditer(",", text)][:_LONGEST], len(text)]
    end = next((end for end in reversed(ends) if labels.written(text[:end].strip())), ends[0])
    return text[:end].strip(), text[end + 1 :]
