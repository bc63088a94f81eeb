"""Pictures in files of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sfumato.errors import SfumatoError

ENDINGS = (".svg", ".png", ".pdf")


def check_picture(path: str | Path) -> None:
    """Refuse what is no name for a picture, or lies in a folder that is not there."""
    target = Path(path)
    if target.suffix.lower() not in ENDINGS:
        raise SfumatoError(f"{path}: a picture must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}")
    if not target.parent.is_dir():
        raise SfumatoError(f"{path}: the folder {target.parent} does not exist")


def save_picture(figure: Any, path: str | Path) -> None:
    """Write a figure, or say in one line why not."""
    check_picture(path)
    try:
        figure.savefig(str(path), dpi=150)
    except OSError as problem:
        raise SfumatoError(f"{path}: cannot be written: {problem.strerror}") from None
