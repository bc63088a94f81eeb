"""Columns of text: categories, spellings of them, numbers of persons and things, free text."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from typing import Any

from sfumato.columns.id_names import MANY_IDS, named_like_an_id, names_things
from sfumato.columns.spellings import in_order, no_answers, same_words, yes_and_no
from sfumato.columns.value_counts import Cells
from sfumato.columns.verdict import RARE, Verdict, option, rare_values, rows_of, rows_that
from sfumato.domains import Categorical, Ordinal, Text
from sfumato.domains.base import is_number
from sfumato.domains.text import LONGEST, MOST_LETTERS
from sfumato.errors import SchemaError

_PHONE = re.compile(r"(?=(?:\D*\d){6})[+(]?[\d][\d\s()/.\-]{6,}")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_WHOLE_AS_FRACTION = re.compile(r"-?\d{1,15}\.0")
_LONG = 8  # digits: amounts that all have so many, and hardly ever repeat, are rare
_TWINS = 20  # pairs of equal numbers that chance would give: where none is, somebody numbered the rows
MANY_ROWS = 20  # below, nothing can be said about how often values repeat


def judge_identifier(cells: Cells, counts: Counter[str], most_values: int) -> Verdict | None:
    """The verdict on text that tells records apart, or None."""
    texts = list(counts)
    digits = [text for text in texts if text.isdigit()]
    zeros = [text for text in digits if len(text) > 1 and text.startswith("0")]
    mostly_digits = len(digits) >= 0.95 * len(texts)
    if mostly_digits and zeros and len(texts) > most_values:
        return _identifier(cells, "numbers with leading zeros: codes, such as of patients or places")
    if sum(_EMAIL.fullmatch(text) is not None for text in texts) > 0.8 * len(texts):
        return _identifier(cells, "addresses of e-mail")
    few = cells.held < MANY_ROWS
    if (
        sum(_PHONE.fullmatch(text) is not None and not is_number(text) for text in texts) > 0.8 * len(texts)
        and len(texts) > cells.held / 2
        and not few
    ):
        return _identifier(cells, "numbers of telephones, or codes like them")
    if mostly_digits and zeros and not few and len(texts) > 0.9 * cells.held:
        return _identifier(cells, "numbers with leading zeros, nearly every row its own")
    return None


def judge_numbered(cells: Cells, numbers: Counter[float], most_values: int) -> Verdict | None:
    """The verdict on whole numbers that tell records or things apart, or None."""
    whole = [value for value in numbers if isinstance(value, int)]
    if len(whole) < len(numbers) or cells.held < MANY_ROWS:
        return None
    if cells.running:
        return _identifier(cells, "the rows are numbered one after the other")
    unique = len(numbers) == cells.held or (cells.overflowing and all(times == 1 for times in numbers.values()))
    values = sorted(whole)
    if unique and not cells.overflowing and values[-1] - values[0] == len(values) - 1 and len(values) > 50:
        return _identifier(cells, "row numbers in another order")
    steps = {b - a for a, b in pairwise(values)}
    if unique and len(steps) == 1 and len(values) > 50:
        return _identifier(cells, "numbers at equal steps, each once")
    if unique and len(values) ** 2 > _TWINS * 2 * (values[-1] - values[0] + 1):
        return _identifier(cells, "whole numbers close together, and no two rows with the same one")
    lengths = {len(str(abs(value))) for value in whole}
    if unique and len(lengths) == 1 and min(lengths) >= 6:
        return _identifier(cells, f"numbers of {min(lengths)} digits, every row its own")
    if len(lengths) == 1 and min(lengths) >= _LONG and len(numbers) + len(cells.later) > cells.held / 2:
        return _identifier(cells, f"numbers of {min(lengths)} digits, most rows their own")
    if len(numbers) > 0.9 * cells.held and named_like_an_id(cells.name):
        return _identifier(cells, "nearly every row its own, under the name of a number")
    if len(numbers) > MANY_IDS and names_things(cells.name):
        return _identifier(cells, "numbers of persons or things by its name, some of them in several rows")
    if len(numbers) > 2 and names_things(cells.name):
        return replace(
            as_category(cells, most_values), why=f"{len(numbers)} numbers of things by its name, in no order"
        )
    return None


def judge_words(cells: Cells, counts: Counter[str], most_values: int) -> Verdict:
    """The verdict on words."""
    missing = no_answers(counts)
    counts = Counter({word: times for word, times in counts.items() if word not in missing})
    nullable = bool(cells.blank or missing)
    said = (
        [f"{len(missing)} of its words {'stands' if len(missing) == 1 else 'stand'} for no answer: see missing"]
        if missing
        else []
    )
    if not counts:
        return Verdict(cells.name, "empty", "no row holds a value")
    answered = sum(counts.values())
    answers = yes_and_no(counts)
    if answers:
        said.append(f"yes and no are written in {len(answers)} ways: see spellings")
        domain = Categorical(
            ("no", "yes"), nullable, missing=missing, spellings={k: v for k, v in answers.items() if k != v}
        )
        return Verdict(cells.name, "categorical", "yes or no", "that the question was asked", domain, tuple(said))
    spellings = same_words(counts)
    values = Counter[str]()
    for word, times in counts.items():
        values[spellings.get(word, word)] += times
    length = sum(len(word) * times for word, times in counts.items()) / answered
    spaces = sum(word.count(" ") * times for word, times in counts.items()) / answered
    different = len(values) > 0.5 * answered and answered >= MANY_ROWS
    sentences = length > 40 and spaces >= 4 and len(values) > 15
    if sentences or ((different or len(values) > most_values) and (length > 30 or spaces >= 3)):
        return Verdict(
            cells.name, "free text", f"texts of about {length:.0f} letters, {len(values):,} of them different"
        )
    if different and (len(values) > 15 or named_like_an_id(cells.name)):
        return _identifier(cells, f"{_texts_in(cells, values)}: names, numbers or codes")
    scattered = len(values) > 20 and sum(times < RARE for times in values.values()) > len(values) / 2
    if len(values) > most_values or cells.overflowing or (scattered and answered >= 20 * RARE):
        return _most_common(cells, values, nullable, missing, spellings, most_values)
    if spellings:
        many_same = "1 value differs" if len(spellings) == 1 else f"{len(spellings)} values differ"
        said.append(f"{many_same} from others only in case or blanks: see spellings")
    if answered >= 10 * RARE:
        said.extend(rare_values(values))
    order = in_order(values)
    if order is not None:
        ranked = Ordinal(order, nullable, missing=missing, spellings=spellings)
        why = f"{len(values)} different words that have an order"
        return Verdict(cells.name, "ordinal", why, f"the {len(values)} values", ranked, tuple(said))
    domain = Categorical(listed(values), nullable, missing=missing, spellings=spellings)
    why = f"{len(values)} different words"
    return Verdict(cells.name, "categorical", why, f"the {len(values)} values", domain, tuple(said))


def as_category(cells: Cells, most_values: int) -> Verdict:
    """The verdict on a column that its owner keeps as a category: all its values, or the commonest of very many."""
    counts = Counter({str(value): times for value, times in cells.counts.items()})
    missing = no_answers(counts)
    values = Counter({value: times for value, times in counts.items() if value not in missing})
    nullable = bool(cells.blank or missing)
    if len(values) > most_values or cells.overflowing:
        kept = [value for value, times in values.most_common(most_values) if times >= RARE]
        if not kept:
            raise SchemaError(f"column {cells.name!r}: no value is held by {RARE} rows, so it makes no category")
        rest = values.most_common(most_values + 1)[-1][1] if len(values) > most_values else 0
        how = "--most-values keeps more of them" if rest >= RARE else f"values of fewer than {RARE} rows get no name"
        return _by_name(cells, values, kept, nullable, missing, {}, how)
    said = tuple(rare_values(values))
    names: tuple[Any, ...] = listed(values)
    if all(_WHOLE_AS_FRACTION.fullmatch(value) for value in values):  # 1.0, 2.0: as written where some rows are empty
        names = tuple(sorted(int(float(value)) for value in values))
    domain = Categorical(names, nullable, missing=missing)
    why = f"{len(values):,} different values, a category as asked for"
    return Verdict(cells.name, "categorical", why, f"the {len(values):,} values", domain, said)


def listed(values: Iterable[str]) -> tuple[str, ...]:
    """Values as people list them: numbers by size, then words by their letters.

    >>> listed(["10", "9", "b", "a"])
    ('9', '10', 'a', 'b')
    """
    return tuple(sorted(values, key=lambda value: (not value.isdecimal(), len(value) * value.isdecimal(), value)))


def _most_common(
    cells: Cells,
    values: Counter[str],
    nullable: bool,
    missing: tuple[str, ...],
    spellings: dict[str, str],
    most_values: int,
) -> Verdict:
    """The commonest values by name, the others together; an identifier where no few are common."""
    total = sum(values.values())
    least = max(RARE, math.ceil(total / 1000))
    kept = [word for word, times in values.most_common(most_values - 1) if times >= least]
    if len(kept) < 2 or sum(values[word] for word in kept[: most_values // 2]) < 0.3 * total:
        return _identifier(cells, f"{_texts_in(cells, values)}, few of them common: names, codes or free text")
    more = "--most-values keeps more of them"
    if len(kept) < most_values - 1:
        named = f"--as {option(cells.name, 'categorical')} names more of them"
        more = f"their values are held by fewer than {least} rows ({named})"
    return _by_name(cells, values, kept, nullable, missing, spellings, more)


def _by_name(
    cells: Cells,
    values: Counter[str],
    kept: list[str],
    nullable: bool,
    missing: tuple[str, ...],
    spellings: dict[str, str],
    how: str,
) -> Verdict:
    """A category of these values, and one for all others; ``how`` says which these are, or how to name more."""
    other = "other" if "other" not in kept else "(other)"
    domain = Categorical(
        listed(kept), nullable, other, missing=missing,
        spellings={k: v for k, v in spellings.items() if v in kept},
    )  # fmt: skip
    left = rows_that(values.total() - sum(values[word] for word in kept), "go", "goes")
    more = "more than " if cells.overflowing else ""
    noun = "numbers" if all(is_number(value) for value in kept) else "words"
    why = f"{more}{len(values):,} different {noun}, the {len(kept)} commonest by name"
    return Verdict(
        cells.name, "categorical", why, f"the {len(kept)} commonest values", domain,
        (f"{left} to {other!r}; {how}",),
    )  # fmt: skip


def _texts_in(cells: Cells, values: Counter[str]) -> str:
    if cells.overflowing:
        return f"more than {len(values):,} different texts"
    return f"{len(values):,} different texts in {rows_of(values.total())}"


def _identifier(cells: Cells, why: str) -> Verdict:
    return Verdict(cells.name, "identifier", why)


def as_text(cells: Cells) -> Verdict:
    """Free text, as asked for: the longest, and the letters that occur."""
    texts = [str(text).strip() for text in (*cells.counts, *cells.later)]
    every = sorted({letter for text in texts for letter in text} - {"\0"})
    letters = [letter for letter in every if not letter.isspace()]
    if len(letters) > 1:  # blanks stand between letters, never at an end of the alphabet
        letters[1:1] = [letter for letter in every if letter.isspace()]
    longest = min(max(len(text) for text in texts), LONGEST)
    if not 2 <= len(letters) <= MOST_LETTERS:
        return Verdict(cells.name, "unreadable", f"has {len(letters)} different letters: write its alphabet by hand")
    domain = Text(longest, "".join(letters), bool(cells.blank), clip=True)
    told = f"texts of up to {longest} of {len(letters)} letters, as asked for"
    return Verdict(cells.name, "text", told, "the letters that occur, and the length of the longest text", domain)
