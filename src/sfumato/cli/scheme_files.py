"""Schemas, schemes and forms in files that a command is given: read, or one line that says what the file is instead."""

from __future__ import annotations

from pathlib import Path

from sfumato.errors import SchemaError, SchemeError, SfumatoError
from sfumato.forms import FORMAT as FORMS
from sfumato.forms import Forms
from sfumato.reading.json_documents import read_json
from sfumato.schema import Schema
from sfumato.scheme import Scheme


def read_schema(path: Path) -> Schema:
    """The schema in a file, which may also be a scheme."""
    text = read_text(path)
    try:
        document = read_json(text, "it")
        if isinstance(document, dict) and document.get("format") == "sfumato scheme":
            return Scheme.from_dict(document).schema
        if isinstance(document, dict) and document.get("format") == FORMS:
            return Forms.from_dict(document).schema
        return Schema.from_json(text)
    except SfumatoError as problem:
        raise SchemaError(f"{path}: {problem}") from None


def read_scheme(path: Path) -> Scheme:
    """The scheme in a file, or one line that says what the file is instead."""
    found = read_scheme_or_forms(path)
    if isinstance(found, Forms):
        raise SchemeError(f"{path}: these are forms, and this command takes a scheme: see sfumato inspect {path}")
    return found


def read_scheme_or_forms(path: Path) -> Scheme | Forms:
    """The scheme, or the forms, in a file."""
    text = read_text(path)
    try:
        document = read_json(text, "the scheme")
        if isinstance(document, dict) and document.get("format") == "sfumato schema":
            raise SchemeError(
                "this is a schema, which has no channels yet; make a scheme of it: "
                f"sfumato design {path} --n RECORDS --gamma 3 --save scheme.json"
            )
        if isinstance(document, dict) and document.get("format") == FORMS:
            return Forms.from_dict(document)
        return Scheme.from_dict(document)
    except SfumatoError as problem:
        raise SchemeError(f"{path}: {problem}") from None


def read_text(path: Path) -> str:
    """A text file, or one clear line."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise SfumatoError(f"{path}: there is no such file") from None
    except OSError as problem:
        raise SfumatoError(f"{path}: cannot be read: {problem.strerror}") from None
    except ValueError:  # not UTF-8, or a path with a zero in it
        raise SfumatoError(f"{path}: is not text") from None
