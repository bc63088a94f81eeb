"""Lists of names in one text, as command lines and addresses have them."""

from __future__ import annotations

import re


def listed(names: str) -> list[str]:
    """Names from the comma-separated form. A name with a comma or with outer spaces stands in double quotes.

    >>> listed('sex, "income, net",age')
    ['sex', 'income, net', 'age']
    """
    found = [_unquoted(field) for field in _FIELD.findall(names + ",")]
    return [name for name in found if name]


_FIELD = re.compile(r'((?:\s*"(?:[^"]|"")*"[^,]*)|[^,]*),', re.DOTALL)
_QUOTED = re.compile(r'\s*"((?:[^"]|"")*)"([^,]*)', re.DOTALL)


def _unquoted(field: str) -> str:
    match = _QUOTED.fullmatch(field)
    return field.strip() if match is None else match[1].replace('""', '"') + match[2].rstrip()
