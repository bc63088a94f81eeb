"""Public shares of an attribute's values as the command line takes them."""

from __future__ import annotations

import os.path
from pathlib import Path
from typing import Any

from sfumato.cli import scheme_files
from sfumato.cli.typed_labels import listed_labels
from sfumato.errors import SfumatoError
from sfumato.reading import json_documents


def read_shares(text: str, attribute: str) -> Any:
    """Shares of one attribute from ``F=.4,M=.6``, from ``.4,.6``, or from a JSON file that may name several."""
    path = Path(text)
    if path.suffix == ".json" or os.path.isfile(text):  # noqa: PTH113 - a list may be longer than a file name
        document = read_json(path)
        if not isinstance(document, dict | list):
            raise SfumatoError(f'{path}: shares are given as {{"F": 0.4, "M": 0.6}} or as [0.4, 0.6]')
        if isinstance(document, dict) and isinstance(document.get(attribute), dict | list):
            return document[attribute]
        if isinstance(document, dict) and any(isinstance(value, dict | list) for value in document.values()):
            raise SfumatoError(f"{path}: it names no shares of {attribute!r}")
        return document
    parts = listed_labels(text)
    try:
        if "=" not in text:
            return [float(part) for part in parts]
        named = [part.rpartition("=") for part in parts]
        return {label.strip(): float(share) for label, _, share in named}
    except ValueError:
        raise SfumatoError(
            f"--shares must look like F=.4,M=.6 or name a JSON file, got {text[:60]!r} instead"
        ) from None


def read_json(path: Path) -> Any:
    """A JSON document, or one clear line."""
    return json_documents.read_json(scheme_files.read_text(path), f"{path}:")
