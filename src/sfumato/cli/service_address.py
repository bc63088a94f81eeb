"""Which server a command speaks to, and with which token."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from sfumato.errors import SfumatoError
from sfumato.service.client import Client, on_this_machine

#: Where the first start of a server leaves the admin's token.
TOKEN_FILE = "admin.token"
_HERE = Path("sfumato-data") / TOKEN_FILE

To = Annotated[str, typer.Option("--to", envvar="SFUMATO_SERVER", help="The server's address.")]
TokenFile = Annotated[
    Path | None,
    typer.Option(
        help="A file with the token. Otherwise SFUMATO_TOKEN holds it, or, for a server here, sfumato-data/admin.token."
    ),
]
HERE = "http://localhost:8000"


def client(to: str, token_file: Path | None) -> Client:
    """A client with the token that was given: in a file, in the environment, or where a server here left it."""
    if token_file is not None:
        return Client(to, _read(token_file))
    if os.environ.get("SFUMATO_TOKEN"):
        return Client(to, os.environ["SFUMATO_TOKEN"].strip())
    if _HERE.is_file() and on_this_machine(to):  # another server has no business with it
        return Client(to, _read(_HERE))
    raise SfumatoError("this needs a token: name its file (--token-file), or set SFUMATO_TOKEN")


def _read(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        raise SfumatoError(f"{path}: there is no such file") from None
    except OSError as problem:
        raise SfumatoError(f"{path}: cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise SfumatoError(f"{path}: holds no token, which is one word of text") from None
    if not text or len(text.split()) != 1 or not text.isascii():
        raise SfumatoError(f"{path}: holds no token, which is one word")
    return text
