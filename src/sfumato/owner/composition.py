"""What a person's answers add up to: gamma multiplies over the independent answers that the person gave.

Fresh answers are always independent of each other. A keyed answer is the same answer again while question, key and
true value are the same, and an independent one when the value has changed. A value in the clear tells all it can the
first time.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.arrays import Array, Flags, Words


@dataclass(frozen=True)
class GivenAnswer:
    """One question, answered by some of n people.

    Answers with the same ``token`` repeat each other, where ``truth`` (a digest of the true value) is the same too.
    """

    gamma: float
    token: Hashable
    who: Flags
    truth: Words | None = None


@dataclass(frozen=True)
class Total:
    """The answers of n people so far, and what one more would change."""

    gamma: Array  # the product over each person's independent answers
    repeated: Flags  # who has answered before, and would now answer independently
    changed: Flags  # of these, who answered this very question under this key with another value


def total(n: int, earlier: Sequence[GivenAnswer], now: GivenAnswer | None = None) -> Total:
    """Compose the answers of n people.

    >>> everyone = np.ones(2, dtype=bool)
    >>> first = GivenAnswer(3.0, "keyed", everyone, np.array([5, 6], dtype=np.uint64))
    >>> again = GivenAnswer(3.0, "keyed", everyone, np.array([5, 7], dtype=np.uint64))
    >>> found = total(2, [first], again)
    >>> found.gamma.tolist(), found.changed.tolist()
    ([3.0, 9.0], [False, True])
    """
    gamma, count = np.ones(n), np.zeros(n, dtype=np.int64)
    given: dict[Any, list[GivenAnswer]] = {}
    for answer in earlier:
        new = answer.who & ~_same(answer, given.get(answer.token, []))
        _multiply(gamma, new, answer.gamma)
        count[new] += 1
        given.setdefault(answer.token, []).append(answer)
    nobody = np.zeros(n, dtype=bool)
    if now is None:
        return Total(gamma, nobody, nobody)
    before = given.get(now.token, [])
    new = now.who & ~_same(now, before)
    _multiply(gamma, new, now.gamma)
    repeated = new & (count > 0)
    asked = nobody.copy()
    for answer in before:
        asked |= answer.who
    return Total(gamma, repeated, repeated & asked)


def raised(before: Array, after: Array) -> float:
    """The largest total among those that grow: a repeat that costs nobody anything raises none; 1 where none grows.

    An infinite total counts as one that grows: what is added to it cannot be seen.

    >>> raised(np.array([50.0, 3.0]), np.array([50.0, 9.0]))
    9.0
    """
    return float(after.max(initial=1.0, where=(after > before) | np.isinf(after)))


def _multiply(gamma: Array, who: Flags, by: float) -> None:
    with np.errstate(over="ignore"):  # what is too large for a double is infinite
        gamma[who] *= by


def _same(answer: GivenAnswer, before: Sequence[GivenAnswer]) -> Flags:
    """Whose answer repeats one that was given before."""
    same = np.zeros(len(answer.who), dtype=bool)
    for other in before:
        if answer.truth is None or other.truth is None:
            same |= other.who
        else:
            same |= other.who & (other.truth == answer.truth)
    return same
