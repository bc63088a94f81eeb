"""JSON that somebody else wrote: read whole or refused in one line, which never quotes what it found."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NoReturn

from sfumato.errors import SfumatoError

#: Half of a character: JSON can write it, no text can hold it.
SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED = re.compile(r"\\u[dD][89a-fA-F]")


class DocumentError(SfumatoError, ValueError):
    """A document that is not JSON as the standard has it."""


Pairs = Callable[[list[tuple[str, Any]]], Any]


def read_json(
    text: str | bytes, what: str, pairs: Pairs | None = None, error: type[SfumatoError] = DocumentError
) -> Any:
    """What a JSON document says; ``pairs`` turns the entries of an object into what stands for it.

    What is no JSON is an ``error``.

    >>> read_json('{"a": 1}', "the scheme")
    {'a': 1}
    """
    try:
        return _read(text, what, pairs)
    except DocumentError as problem:
        raise error(str(problem)) from None


def _read(text: str | bytes, what: str, pairs: Pairs | None) -> Any:
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8-sig")
        found = json.loads(text, object_pairs_hook=pairs, parse_constant=_refuse)
        if _ESCAPED.search(text) or SURROGATE.search(text):
            _check_text(found)
        return found
    except DocumentError as problem:
        raise DocumentError(f"{what} {problem}") from None
    except SfumatoError:  # what ``pairs`` found wrong
        raise
    except UnicodeDecodeError:
        raise DocumentError(f"{what} is not UTF-8 text") from None
    except json.JSONDecodeError as problem:
        if not text.strip():
            raise DocumentError(f"{what} is empty, where JSON is expected") from None
        raise DocumentError(f"{what} is not JSON: {problem.msg}, line {problem.lineno}") from None
    except RecursionError:
        raise DocumentError(f"{what} is nested too deeply") from None
    except ValueError:  # Python reads no integer of more than a few thousand digits
        raise DocumentError(f"{what} holds a number of too many digits") from None
    except TypeError:
        raise DocumentError(f"{what} must be text, got {type(text).__name__} instead") from None


def _refuse(constant: str) -> NoReturn:
    raise DocumentError(f"holds {constant}, which is no JSON number")


def _check_text(found: Any) -> None:
    if isinstance(found, str):
        if SURROGATE.search(found):
            raise DocumentError("holds half of a surrogate pair, which is no character")
    elif isinstance(found, dict):
        for key, entry in found.items():
            _check_text(key)
            _check_text(entry)
    elif isinstance(found, list):
        for entry in found:
            _check_text(entry)
