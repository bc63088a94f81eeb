"""How a reproduction prints itself when it is run as a program."""

from __future__ import annotations

import sys


def show(text: str) -> None:
    """Write to standard output."""
    sys.stdout.write(text + "\n")
