"""Words that stand for no answer, for yes and for no; spellings that mean the same."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

#: Never a value of its own.
NOTHING = {
    "na", "n/a", "n.a.", "#n/a", "nan", "null", "(null)", "-", "--", "---", ".", "..", "?", "??", "#value!",
    "#div/0!", "#ref!", "k.a.", "keine angabe", "not available", "<na>", "nat",
}  # fmt: skip
#: No answer among numbers and dates; among words it may be an answer like others.
UNKNOWN = {
    "unknown", "unk", "none", "nil", "missing", "not known", "unbekannt", "inconnu",
    "not recorded", "not done", "refused", "pending", "ongoing",
    "not applicable", "other", "tbd", "error", "x", "xx", "xxx",
}  # fmt: skip
YES = {"yes", "y", "true", "t", "1", "ja", "j", "oui", "si", "sí", "x"}
NO = {"no", "n", "false", "f", "0", "nein", "non"}
#: Numbers that questionnaires use for "no answer".
CODED = (9, 99, 999, 9999, 99999, 8, 88, 888, 7, 77, 777, -1, -7, -8, -9, -99, -999, -9999)


def no_answers(counts: Counter[str]) -> tuple[str, ...]:
    """Which of the words stand for no answer, whatever the column is about."""
    return tuple(sorted(word for word in counts if word.lower() in NOTHING))


def yes_and_no(counts: Counter[str]) -> dict[str, str] | None:
    """Where a column says yes and no in more than one way: what each spelling means.

    >>> yes_and_no(Counter(["yes", "Y", "N"]))
    {'yes': 'yes', 'Y': 'yes', 'N': 'no'}
    """
    meant = {word: "yes" if word.lower() in YES else "no" if word.lower() in NO else None for word in counts}
    if None in meant.values() or len(meant) < 3 or len(set(meant.values())) < 2:
        return None
    return {word: str(value) for word, value in meant.items()}


#: Scales that everybody reads in the same order.
SCALES = (
    ("none", "trace", "minimal", "slight", "low", "mild", "medium", "moderate", "middle", "high", "severe", "very high",
     "very severe", "extreme"),
    ("very small", "small", "medium", "large", "very large"),
    ("xs", "s", "m", "l", "xl", "xxl"),
    ("never", "rarely", "seldom", "sometimes", "often", "usually", "very often", "always"),
    ("very poor", "poor", "fair", "good", "very good", "excellent"),
    ("bad", "not so good", "average", "good", "very good"),
    ("strongly disagree", "disagree", "somewhat disagree", "neutral", "neither agree nor disagree", "somewhat agree",
     "agree", "strongly agree"),
    ("very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied"),
    ("sehr niedrig", "niedrig", "gering", "mittel", "hoch", "sehr hoch"),
    ("klein", "mittel", "groß"),
    ("nie", "selten", "manchmal", "oft", "immer"),
)  # fmt: skip
_BELOW = ("<", "≤", "under", "up to", "less than", "lt ", "below", "at most", "unter", "bis", "weniger als")
_ABOVE = (">", "≥", "over", "more than", "gt ", "above", "at least", "über", "mehr als")
_NUMBER = r"[$€£]?\s?(\d+(?:,\d{3})*(?:\.\d+)?)"
_RANGE = re.compile(
    rf"({'|'.join((*_BELOW, *_ABOVE))})?=?\s*{_NUMBER}(?:\s*(?:-|–|to|bis)\s*[$€£]?\s?\d+.*|\s*\+.*"
    r"|\s+(?:or|and|oder|und)\s+(?:more|over|above|older|mehr|älter).*)?",
    re.IGNORECASE,
)


def in_order(values: Iterable[str]) -> tuple[str, ...] | None:
    """The values lowest first, if they are steps of a scale that everybody knows, or ranges of numbers.

    >>> in_order(["$1000 to 2999", "$25,000 or more", "lt $1000"])
    ('lt $1000', '$1000 to 2999', '$25,000 or more')
    >>> in_order(["high", "low", "medium"]), in_order(["50+", "<20", "20-49"]), in_order(["red", "low"])
    (('low', 'medium', 'high'), ('<20', '20-49', '50+'), None)
    """
    words = list(values)
    for scale in SCALES:
        if len(words) > 2 and all(word.lower() in scale for word in words):
            return tuple(sorted(words, key=lambda word: scale.index(word.lower())))
    found = [_RANGE.fullmatch(word) for word in words]
    if len(words) < 3 or not all(found) or all(word.replace(".", "").isdigit() for word in words):
        return None
    keys = [
        (float(m[2].replace(",", "")), 1 if m[1] is None else 0 if m[1].lower() in _BELOW else 2) for m in found if m
    ]
    return None if len(set(keys)) < len(keys) else tuple(word for _, word in sorted(zip(keys, words, strict=True)))


def same_words(counts: Counter[str]) -> dict[str, str]:
    """Spellings that differ only in case and blanks, each with the commonest of its kind.

    >>> same_words(Counter({"Male": 5, "male": 2, "F": 3}))
    {'male': 'Male'}
    """
    families: dict[str, list[str]] = {}
    for word in counts:
        families.setdefault(re.sub(r"\s+", " ", word).strip().casefold(), []).append(word)
    out: dict[str, str] = {}
    for family in families.values():
        leader = max(family, key=lambda word: (counts[word], word))
        out |= {word: leader for word in sorted(family) if word != leader}
    return out
