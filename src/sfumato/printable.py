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

_NUMBER = r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
_SHOWN = r"-?[\d,]+(?:\.\d+)?(?:e[-+]?\d+)?"
#: A bin as its label has it, and as it is shown. What follows widths= is a list of two numbers.
_BIN = re.compile(rf"(?<!widths=)\[({_NUMBER}), ({_NUMBER})([\])])")
_SHOWN_BIN = re.compile(rf"\[({_SHOWN}) to ({_SHOWN})([\])])")


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


def level_text(level: float) -> str:
    """How often an interval holds, as it was asked for.

    >>> level_text(0.95), level_text(0.995), level_text(0.57)
    ('95 %', '99.5 %', '57 %')
    """
    return f"{100 * level:.10g} %"


def percentage(share: float, decimals: int = 0) -> str:
    """A share in hundredths.

    >>> percentage(0.314), percentage(0.0312, 1)
    ('31 %', '3.1 %')
    """
    return f"{100 * share:.{decimals}f} %"


def many(count: float, one: str, several: str | None = None) -> str:
    """A number of things: the noun in the singular where there is one.

    >>> many(1, "rule"), many(1200, "rule"), many(0, "leaf", "leaves")
    ('1 rule', '1,200 rules', '0 leaves')
    """
    return f"{count:,.0f} {one if round(count) == 1 else several or one + 's'}"


def readable_bins(text: str) -> str:
    """The text with "to" between the ends of every bin, and thousands marked in numbers of five digits and more.

    >>> readable_bins("gdp = [1000, 5000)"), readable_bins("[5000, 10000)"), readable_bins("[1000000, 20000000]")
    ('gdp = [1000 to 5000)', '[5000 to 10,000)', '[1,000,000 to 20,000,000]')
    """
    return _BIN.sub(lambda found: f"[{_marked(found[1])} to {_marked(found[2])}{found[3]}", text)


def plain_bins(text: str) -> str:
    """The text with every bin as its label has it: what ``readable_bins`` did is undone.

    >>> plain_bins("gdp=[5000 to 10,000)")
    'gdp=[5000, 10000)'
    """
    return _SHOWN_BIN.sub(lambda found: f"[{found[1].replace(',', '')}, {found[2].replace(',', '')}{found[3]}", text)


def printed_as(label: object, text: object) -> bool:
    """Whether a text is what is printed for a label.

    >>> printed_as(None, "no answer"), printed_as("[0, 10000)", "[0 to 10,000)"), printed_as("a", "b")
    (True, True, False)
    """
    return isinstance(text, str) and label_text(label) in (text, plain_bins(text))


def is_bin(text: str) -> bool:
    return _BIN.fullmatch(text) is not None


def stretch(first: str, last: str) -> str:
    """All values from one to another; of bins that follow each other, the bin they make together.

    >>> stretch("[0, 2)", "[4, 6)"), stretch("2023-01", "2023-05")
    ('[0, 6)', '2023-01 to 2023-05')
    """
    low, high = _BIN.fullmatch(first), _BIN.fullmatch(last)
    return f"{first} to {last}" if low is None or high is None else f"[{low[1]}, {high[2]}{high[3]}"


def _marked(number: str) -> str:
    whole, point, rest = number.partition(".")
    return f"{int(whole):,}{point}{rest}" if len(whole.lstrip("-")) > 4 and whole.lstrip("-").isdigit() else number


def figure_text(text: object) -> str:
    r"""A name or a value as a figure shows it: no formula between dollars, nothing hidden from the legend.

    >>> figure_text("cost in $"), figure_text("_a")
    ('cost in \\$', ' _a')
    """
    shown = readable_bins(printable(label_text(text))).replace("$", r"\$")
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


def nor_others(count: int) -> str:
    """That so many others lack something, too.

    >>> nor_others(0), nor_others(1), nor_others(3)
    ('', ' (nor has another)', ' (nor have 3 others)')
    """
    return "" if count == 0 else f" (nor {'has another' if count == 1 else f'have {count} others'})"
