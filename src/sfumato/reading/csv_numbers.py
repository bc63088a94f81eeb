"""Numbers in text files: the decimal comma, separators of thousands, brackets around losses, and how to tell them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

#: Signs of currencies, as the inside of a character class.
CURRENCIES = "$€£¥₹₩₽₺₪₫₴₱฿"
#: What may stand before and after a number: a currency, a unit.
BEFORE = rf"[-+]?(?:[{CURRENCIES}]|[A-Z]{{3}})?\s?[-+]?"
AFTER = rf"\s?(?:%|‰|[{CURRENCIES}]|(?:°|[^\W\d_])[\w/²³µ°]{{0,8}})?"
#: What stands between groups of thousands beside a point and a comma.
BLANKS = " \u00a0\u202f'"
_EXPONENT = r"(?:[eE][-+]?\d+)?"
_FORMS = {
    "comma": rf"\d+,\d+{_EXPONENT}",
    "comma groups": r"[1-9]\d{0,2}(?:,\d{3})+",
    "comma groups, point": r"[1-9]\d{0,2}(?:,\d{3})+\.\d+",
    "point": r"\d+\.\d+",
    "point groups": r"[1-9]\d{0,2}(?:\.\d{3})+",
    "point groups, comma": r"[1-9]\d{0,2}(?:\.\d{3})+,\d+",
    "space groups": rf"[1-9]\d{{0,2}}(?:[{BLANKS}]\d{{3}})+",
    "space groups, comma": rf"[1-9]\d{{0,2}}(?:[{BLANKS}]\d{{3}})+,\d+",
    "space groups, point": rf"[1-9]\d{{0,2}}(?:[{BLANKS}]\d{{3}})+\.\d+",
    "whole": r"\d+",
}
_NUMBER = {name: re.compile(f"{BEFORE}{form}{AFTER}") for name, form in _FORMS.items()}
_ANY = re.compile(f"{BEFORE}(?:{'|'.join(_FORMS.values())}){AFTER}")
_PLAIN = re.compile(rf"[-+]?(?:\d+\.?\d*|\.\d+){_EXPONENT}")
_IN_BRACKETS = re.compile(r"\([^-+()]+\)")
_LOOKED_AT = 1000  # rows
_MOSTLY = 0.8  # a column is numbers if this share of its values are; the rest are words for "no answer"


def numeric_columns(columns: Sequence[Sequence[str]]) -> list[int]:
    """The places of columns that hold numbers, in any of the ways to write them.

    Numbers in brackets are negative beside numbers without; where all are in brackets, they are names.

    >>> numeric_columns([["12", "(3)", "1,200"], ["(1)", "(2)", "(3)"]])
    [0]
    """
    found = []
    for place, cells in enumerate(columns):
        held = [cell for cell in cells[:_LOOKED_AT] if cell]
        bare = sum(_is_number(cell) for cell in held)
        if bare and bare + sum(_is_loss(cell) for cell in held) >= _MOSTLY * len(held):
            found.append(place)
    return found


def respelt_columns(columns: Sequence[Sequence[str]], thousands: str | None) -> tuple[list[int], list[int]]:
    """Those of them with numbers that readers of plain ones do not take: in brackets, or in groups of thousands.

    >>> respelt_columns([["12", "(3)"], ["1", "2.5"], ["7", "1,200"]], ",")
    ([0], [2])
    """
    numbers = numeric_columns(columns)
    signs = BLANKS if thousands == " " else thousands or ()
    grouped = [place for place in numbers if any(sign in cell for cell in columns[place] for sign in signs)]
    return [place for place in numbers if any(map(_is_loss, columns[place]))], grouped


def _is_number(cell: str) -> bool:
    return _PLAIN.fullmatch(cell) is not None or _ANY.fullmatch(cell) is not None


def _is_loss(cell: str) -> bool:
    """Whether a number stands in brackets, as bookkeepers write negative ones."""
    return _IN_BRACKETS.fullmatch(cell) is not None and _is_number(cell[1:-1])


def separators(columns: Sequence[Sequence[str]], delimiter: str) -> tuple[str, str | None, bool]:
    """The decimal separator, that of thousands (or None), and whether they are no more than a guess.

    >>> separators([["1,5", "2,25"], ["1.000", "3"]], ";")
    (',', '.', False)
    >>> separators([["1,500", "2,250"]], ",")
    ('.', ',', True)
    """
    seen = dict.fromkeys(_FORMS, 0)
    long_groups = {"comma": 0, "point": 0}
    for place in numeric_columns(columns):
        for cell in {cell[1:-1] if _is_loss(cell) else cell for cell in columns[place][:_LOOKED_AT]}:
            if _PLAIN.fullmatch(cell) and not re.fullmatch(_FORMS["point groups"], cell.lstrip("+-")):
                seen["point"] += "." in cell
                continue
            forms = [name for name, form in _NUMBER.items() if form.fullmatch(cell)]
            for sign in ("comma", "point"):
                if f"{sign} groups" in forms:
                    forms = [form for form in forms if form != sign]
                    long_groups[sign] += len(re.findall(r"[.,]\d{3}", cell)) > 1
            for form in forms:
                seen[form] += 1
    comma = seen["comma"] + seen["point groups, comma"] + seen["space groups, comma"] + long_groups["point"]
    point = seen["point"] + seen["comma groups, point"] + long_groups["comma"]
    grouped = {",": seen["comma groups"] + seen["comma groups, point"], ".": seen["point groups"]}
    spaced = " " if any(seen[f"space groups{rest}"] for rest in ("", ", comma", ", point")) else None
    if comma > point:
        return ",", "." if grouped["."] + seen["point groups, comma"] else spaced, False
    if not grouped[","]:
        return ".", spaced, False
    if point:
        return ".", ",", False
    return (",", None, True) if delimiter == ";" else (".", ",", True)


def with_points(column: pa.Array, decimal: str, thousands: str | None) -> pa.Array:
    """The text with every number in it written plainly, 1.234,5 as 1234.5; whatever is no number stays as it is.

    >>> import pyarrow as pa
    >>> with_points(pa.array(["1,200", "(3.5)", "($1,200)", "(a)"]), ".", ",").to_pylist()
    ['1200', '-3.5', '-$1200', '(a)']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    letters = column.buffers()[2]
    if letters is not None and b"(" in letters.to_pybytes():  # far faster than to ask every value
        digits = rf"\d(?:[\d.,{BLANKS}]*\d)?"
        loss = rf"^\(((?:[{CURRENCIES}]|[A-Z]{{3}})?\s?{digits}{AFTER})\)$"
        column = pc.replace_substring_regex(column, _for_arrow(loss), r"-\1")
    if decimal == "." and thousands is None:
        return column
    group = {".": r"\.", ",": ",", " ": f"[{BLANKS}]"}.get(thousands or "")
    whole = rf"(?:\d+|[1-9]\d{{0,2}}(?:{group}\d{{3}})+)" if group else r"\d+"
    point = r"\." if decimal == "." else ","
    here = pc.match_substring_regex(column, _for_arrow(f"^{BEFORE}{whole}(?:{point}\\d+)?{_EXPONENT}{AFTER}$"))
    plain = column
    if group:
        plain = pc.replace_substring_regex(plain, rf"(\d){group}(\d\d\d)", r"\1\2")
        plain = pc.replace_substring_regex(plain, rf"(\d){group}(\d\d\d)", r"\1\2")  # matches do not overlap
    if decimal == ",":
        plain = pc.replace_substring(plain, ",", ".")
    return pc.if_else(pc.fill_null(here, False), plain, column).cast(pa.string())


def _for_arrow(pattern: str) -> str:
    """A pattern in the words of Arrow's expressions, which take letters of every script by another name."""
    return pattern.replace(r"[^\W\d_]", r"\pL").replace(r"[\w/", r"[\pL\d_/")
