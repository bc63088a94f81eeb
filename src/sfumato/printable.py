"""Names and messages made safe to show: no character that moves a cursor, turns text around or ends a line."""

from __future__ import annotations

import re

NO_ANSWER = "no answer"
_LONGEST = 1000
#: C0 and C1 controls, invisible marks, line separators, turns of direction, halves of surrogate pairs. Not the joiners
#: that some scripts write words with.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""The text with every such character written as Python would write it.

    >>> printable("a\x1b[31m\nb")
    'a\\x1b[31m\\nb'
    """
    return _UNSAFE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def printable_lines(text: str) -> str:
    """The same for text of several lines, which stay."""
    return "\n".join(map(printable, text.split("\n")))


def label_text(label: object) -> str:
    """A value of an attribute in words; the missing one of a nullable attribute is called "no answer"."""
    return NO_ANSWER if label is None else str(label)


def figure_text(text: object) -> str:
    r"""A name or a value as a figure shows it: no formula between dollars, nothing hidden from the legend.

    >>> figure_text("cost in $"), figure_text("_a")
    ('cost in \\$', ' _a')
    """
    shown = printable(label_text(text)).replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def one_line(text: str) -> str:
    """The text as one printable line, shortened in the middle where it is very long."""
    line = printable(text)
    if len(line) > _LONGEST:
        line = f"{line[: 3 * _LONGEST // 4]} ... {line[-_LONGEST // 5 :]}"
    return line


def json_text(document: str) -> str:
    """JSON with the characters that a terminal would act on written as JSON escapes: the same document."""
    return _UNSAFE.sub(lambda found: found[0] if found[0] == "\n" else f"\\u{ord(found[0]):04x}", document)
