"""Files that a command will read are looked for before its work begins: nobody waits for a model to hear of a typo."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sfumato.errors import SchemaError
from sfumato.writing.description import check_raw


def check_inputs(arguments: Mapping[str, Any], written: tuple[str, ...]) -> None:
    """One line about the first file that is not there; ``written`` names the options that are made where missing.

    A release is no raw table: its columns hold codes, which look like numbers and grades.
    """
    for path in _read(arguments, written):
        try:
            there = path.exists()
        except OSError:  # in a folder that may not be searched: said where it is read
            continue
        except ValueError:  # a zero in its name
            there = False
        if not there:
            raise SchemaError(f"{path}: there is no such file")
    source = arguments.get("source")
    if isinstance(source, Path):
        check_raw(source)


def _read(arguments: Mapping[str, Any], written: tuple[str, ...]) -> Iterator[Path]:
    for name, value in arguments.items():
        if name in written:
            continue
        paths = value if isinstance(value, list) else [value]
        if name == "files" and arguments.get("out", "") is None:
            paths = paths[:-1]  # the last name is the output
        yield from (path for path in paths if isinstance(path, Path))
