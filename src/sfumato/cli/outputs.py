"""Files that a command will write are checked before its work begins: nobody waits an hour for a wrong folder.

A picture or a page replaces one of the same name; their endings are checked, so that it replaces nothing else. A file
that the command reads is never replaced, and others only with --overwrite.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sfumato.errors import SfumatoError
from sfumato.pages.picture import ENDINGS

#: Options that name a file to write, wherever they occur.
OUTPUTS = ("plot", "html", "report", "bif", "save", "save_scheme")
#: Made anew every time, under names that say what they are.
MADE_ANEW = {
    "html": ("a page", (".html", ".htm")),
    "report": ("a page", (".html", ".htm")),
    "bif": ("a network", (".bif",)),
    "plot": ("a picture", ENDINGS),
}


def check_outputs(arguments: Mapping[str, Any], folders: tuple[str, ...] = (), also: tuple[str, ...] = ()) -> None:
    """One line about the first output that could not be written.

    ``folders`` names options that are folders, ``also`` such that this command alone writes to.
    """
    outputs = (*OUTPUTS, *also)
    inputs = {_resolved(path) for path in _paths(arguments, outputs)}
    for name in outputs:
        path = arguments.get(name)
        if not isinstance(path, Path):
            continue
        if name in folders:
            if path.exists() and not path.is_dir():
                raise SfumatoError(f"{path}: is a file; --{name} names a folder here")
            continue
        if not path.parent.is_dir():
            raise SfumatoError(f"{path}: the folder {path.parent} does not exist")
        if path.is_dir():
            raise SfumatoError(f"{path}: is a folder; name a file")
        if _resolved(path) in inputs:
            raise SfumatoError(f"{path}: is read by this command; choose another name for --{name.replace('_', '-')}")
        if name in MADE_ANEW:
            what, endings = MADE_ANEW[name]
            if path.suffix.lower() not in endings:
                raise SfumatoError(f"{path}: {what} must end in {' or '.join(', '.join(endings).rsplit(', ', 1))}")
        if path.exists() and name not in MADE_ANEW and arguments.get("overwrite") is False:
            raise SfumatoError(f"{path} already exists; choose another name, or allow --overwrite")


def inputs_and_output(files: list[Path], out: Path | None, verb: str, least: int = 2) -> tuple[list[Path], Path]:
    """Where --out is left out, the last name is the output. It is never one that exists: it may be meant as input."""
    if out is not None:
        return files, out
    *inputs, last = files
    if last.exists():
        raise SfumatoError(
            f"say what to write: sfumato {verb} {' '.join(map(str, files))} --out FILE ({last} exists, so that it is "
            "taken for one of the files to read; to replace it: --out with --overwrite)"
        )
    if len(inputs) < least:
        raise SfumatoError(
            f"{verb} needs {least} or more files to read and one to write: {last} does not exist, and is taken for it"
        )
    return inputs, last


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        raise SfumatoError(f"{path}: is a link that leads back to itself") from None


def _paths(arguments: Mapping[str, Any], outputs: tuple[str, ...]) -> Iterator[Path]:
    for name, value in arguments.items():
        if name not in outputs:
            yield from (one for one in (value if isinstance(value, list) else [value]) if isinstance(one, Path))
