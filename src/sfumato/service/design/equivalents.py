"""The same design in Python and on the command line, to be copied."""

from __future__ import annotations

from collections.abc import Mapping
from pprint import pformat
from textwrap import indent
from typing import Any

from sfumato.forms import Forms
from sfumato.scheme import Scheme

_OPTIONS = {"half_width": "--half-width", "gamma": "--gamma", "record_gamma": "--record-gamma"}


def in_python(schema: Mapping[str, Any], wish: str, value: float, n: int) -> str:
    """A program that makes the same scheme from this schema."""
    call = "design_record" if wish == "record_gamma" else "design"
    name = "gamma" if wish == "record_gamma" else wish
    domains = indent(pformat(dict(schema), width=96, sort_dicts=False), "    ")
    return (
        "import sfumato as sf\n\n"
        f"schema = sf.Schema.from_dict(\n{domains}\n)\n"
        f"found = sf.design.{call}(schema, n={n}, {name}={_written(value)})\n"
        "print(found.explain())\n"
        "scheme = found.scheme\n"
    )


def on_command_line(wish: str, value: float, n: int) -> str:
    """The command that makes the same scheme from the schema in a file."""
    return f"sfumato design schema.json --n {n} {_OPTIONS[wish]} {_written(value)} --save scheme.json"


def _written(value: float) -> str:
    """The number in full, without a needless .0."""
    return str(int(value)) if value == int(value) else repr(value)


def scheme_in_python(scheme: Scheme | Forms, n: int) -> str:
    """A program that reads the scheme in a file, and says what it discloses."""
    kind = "Forms" if isinstance(scheme, Forms) else "Scheme"
    return (
        "from pathlib import Path\n\nimport sfumato as sf\n\n"
        f'scheme = sf.{kind}.from_json(Path("scheme.json").read_text(encoding="utf-8"))\n'
        f"print(sf.report(scheme, n={n}).text())\n"
    )


def scheme_on_command_line(n: int) -> str:
    """The command that says what the scheme in a file discloses."""
    return f"sfumato assess scheme.json --n {n}"
