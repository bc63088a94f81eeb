"""Run one command line through the real entry point, and keep what it said."""

from __future__ import annotations

import contextlib
import io
import shlex
import sys
from dataclasses import dataclass
from unittest import mock

from sfumato.cli import console, main


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    error: str


def run(line: str, width: int = 200) -> Ran:
    """Its exit code, standard output and standard error."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        mock.patch.object(sys, "argv", ["sfumato", *shlex.split(line)]),
        mock.patch.dict("os.environ", {"COLUMNS": str(width)}),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(console, "_out", console.Console(highlight=False, width=width)),
        mock.patch.object(console, "_err", console.Console(stderr=True, highlight=False, width=width)),
    ):
        try:
            main()
        except SystemExit as stopped:
            code = int(stopped.code or 0)
    return Ran(code, out.getvalue(), err.getvalue())
