"""Lists of names in one text, as command lines and addresses have them."""

from __future__ import annotations

import re
from collections.abc import Collection

from sfumato.errors import SfumatoError


def listed(names: str, known: Collection[str] = ()) -> list[str]:
    """Names from the comma-separated form. A name with a comma or with outer spaces stands in double quotes.

    Where a ``known`` name was typed without them, an error says how to.

    >>> listed('sex, "income, net",age')
    ['sex', 'income, net', 'age']
    """
    found = [name for name in map(_unquoted, _FIELD.findall(names + ",")) if name]
    typed = set(found)
    for name in known:
        parts = [part.strip() for part in name.split(",")]
        if name not in typed and typed.issuperset(parts) and not set(known).issuperset(parts):
            quoted = name.replace('"', '""')
            raise SfumatoError(
                f"{name!r} is one name: a name with a comma stands in double quotes, and a shell wants single ones "
                f"around them, '\"{quoted}\"'"
            )
    return found


_FIELD = re.compile(r'((?:\s*"(?:[^"]|"")*"[^,]*)|[^,]*),', re.DOTALL)
_QUOTED = re.compile(r'\s*"((?:[^"]|"")*)"([^,]*)', re.DOTALL)


def _unquoted(field: str) -> str:
    match = _QUOTED.fullmatch(field)
    return field.strip() if match is None else match[1].replace('""', '"') + match[2].rstrip()
