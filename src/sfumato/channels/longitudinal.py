"""Answers that are asked for again and again while the value changes: a bound on all rounds together."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.arrays import Codes, Words
from sfumato.channels.arguments import bound, real, whole
from sfumato.channels.base import DENSE_LIMIT, Channel
from sfumato.channels.fields import is_prime
from sfumato.channels.geometry import Geometry, Incidence, even_inverse, even_variance, point_count
from sfumato.channels.lookup import code_type
from sfumato.channels.ratios import as_float, power
from sfumato.channels.response import Symmetric
from sfumato.errors import ChannelError
from sfumato.randomness import ONE, Source, quantize, words
from sfumato.schema import Domain

MOST_CLASSES = 251  # a class is one byte of a keyed answer
MOST_VALUES = 1 << 24
MOST_OUTPUTS = 1 << 25
_BLOCK = 1 << 18  # records whose classes are computed together


@dataclass(frozen=True, eq=False, repr=False)
class Longitudinal(Channel):
    r"""Hash the value to one of g classes, randomize the class once for ever, and that answer again in every round.

        P[x, (h, z)] = Q[h(x), z] / D,    Q = Q1 Q2,    gamma = max Q / min Q,    lifetime = (max Q1 / min Q1)^g

    where h is one of D hash functions, drawn once for each person and public; Q1 answers each class once (the permanent
    answer); Q2 draws from that answer in each round. gamma bounds one round. A person has at most g permanent answers,
    so ``lifetime`` bounds what any number of rounds tells of the values, between two histories that change their
    class in the same rounds: LOLOHA, Arcolezi et al. (2023). That something changed shows too: ``privacy.changes``.
    Under a key the permanent answer is a function of key, person and class; without one all is drawn.

    The values are points of the affine space over F_g and the h its directions, so every two values share a class under
    equally many h, and the estimate is that of ``Hyperplanes``. The released code is g times the number of h, plus z.

    >>> weekly = longitudinal(100, gamma=2, lifetime=81)
    >>> weekly.classes, weekly.gamma, round(as_float(weekly.lifetime), 9)
    (3, 2.0, 81.0)
    """

    values: int
    classes: int  # g
    permanent: Symmetric
    repeated: Symmetric  # what is drawn from the permanent answer in each round

    kind = "longitudinal"
    memoizes = True

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.values,)

    @property
    def outputs(self) -> tuple[int, ...]:
        return (self.classes * self.hashes,)

    @property
    def releases_values(self) -> bool:
        return False

    @property
    def matrix_cells(self) -> int:
        return self.m

    @cached_property
    def space(self) -> Geometry:
        """Its first points stand for the values; all others but the last are (direction, class)."""
        return Geometry(self.classes, 1 + _digits(self.values, self.classes))

    @property
    def hashes(self) -> int:
        """D: how many functions there are."""
        return point_count(self.classes, self.space.d - 1)

    @cached_property
    def _stay(self) -> Fraction:
        """The probability that a round reports the true class."""
        g, a, b = self.classes, self.permanent.other, self.repeated.other
        return Fraction((ONE - (g - 1) * a) * (ONE - (g - 1) * b) + (g - 1) * a * b, ONE * ONE)

    @property
    def _move(self) -> Fraction:
        return (1 - self._stay) / (self.classes - 1)

    @property
    def _told(self) -> tuple[Fraction, Fraction]:
        """The probability that the reported class is that of the true value, and that of another value."""
        return self._stay, self.shared * self._stay + (1 - self.shared) * self._move

    @cached_property
    def exact_gamma(self) -> Fraction:
        return self._stay / self._move

    @cached_property
    def lifetime(self) -> Fraction:
        """The worst likelihood ratio of all answers that a person ever gives."""
        return Fraction(self.permanent.exact_gamma) ** self.classes

    @property
    def shared(self) -> Fraction:
        """The share of the hash functions that put two different values into one class."""
        return Fraction(point_count(self.classes, self.space.d - 2), self.hashes)

    @property
    def common(self) -> Fraction:
        """The sum over the answers of their least probability."""
        return self.classes * self._move

    @property
    def share_variance(self) -> float:
        """The variance of one estimated share times n, if all values are equally likely."""
        return even_variance(self.k, *self._told)

    @property
    def invertible(self) -> bool:
        return True

    @property
    def weights(self) -> Words:
        if self.k * self.m > DENSE_LIMIT:
            raise ChannelError(f"{self} has no list of its weights: {self.k} x {self.m} are too many")
        return quantize(self.transition.dense())

    @cached_property
    def transition(self) -> Incidence:
        off, on = float(self._move / self.hashes), float(self._stay / self.hashes)
        return Incidence(self.space, self.values, off, on, unused=1)

    @cached_property
    def inverse(self) -> Incidence:
        return even_inverse(self.space, self.values, *self._told, unused=1)

    # A round, step by step.

    @property
    def draws(self) -> int:
        return 3

    def hashed(self, codes: Codes, word: Words) -> tuple[Words, Codes]:
        """The hash function of each person, from a word that is the person's own, and the class of the value."""
        chosen, d, g = word % np.uint64(self.hashes), self.space.d - 1, self.classes
        directions = Geometry(g, d) if d > 1 else None
        out = np.empty(len(codes), dtype=np.uint8)
        for start in range(0, len(codes), _BLOCK):
            rest = np.asarray(codes[start : start + _BLOCK]).astype(np.int64)
            total = np.zeros(len(rest), dtype=np.int64)
            own = chosen[start : start + _BLOCK].astype(np.int64)
            digits = np.ones((len(rest), 1), dtype=np.int64) if directions is None else directions.digits(own)
            for place in range(d):  # the last digit of the value meets the first of the direction
                rest, digit = np.divmod(rest, g)
                total += digit * digits[:, place]
            out[start : start + _BLOCK] = -total % g
        return chosen, out

    def report(self, chosen: Words, classes: Codes, first: Words, again: Words) -> Codes:
        """What is released in one round: the permanent answer from ``first``, the round's from ``again``."""
        answer = self.repeated.draw(self.permanent.draw(classes, first), again)
        return np.asarray(chosen * np.uint64(self.classes) + answer.astype(np.uint64)).astype(code_type(self.m))

    def draw_columns(self, columns: Sequence[Codes], word: Callable[[int], Words]) -> list[Codes]:
        chosen, classes = self.hashed(columns[0], word(0))
        return [self.report(chosen, classes, word(1), word(2))]

    def sample(self, codes: Codes, src: Source) -> Codes:
        return self.draw_columns([codes], lambda _: words(src, len(codes)))[0]

    def sample_columns(self, columns: Sequence[Codes], src: Source) -> list[Codes]:
        return [self.sample(columns[0], src)]

    def bind(self, domains: Sequence[Domain]) -> Channel:
        if any(domain.rounds for domain in domains):
            raise ChannelError(f"{self} takes values or bins, not points: rounding would be drawn anew in each round")
        return super().bind(domains)

    def parameters(self) -> dict[str, Any]:
        others = {"permanent": str(self.permanent.other), "repeated": str(self.repeated.other)}
        return {"values": self.values, "classes": self.classes, **others}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Longitudinal:
        k, g = int(parameters["values"]), int(parameters["classes"])
        _check(k, g)
        first, again = (_symmetric(g, int(parameters[name])) for name in ("permanent", "repeated"))
        return cls(k, g, first, again)

    def __str__(self) -> str:
        return f"longitudinal({self.values}, gamma={self.gamma:.6g}, lifetime={as_float(self.lifetime):.6g})"


def longitudinal(k: int, gamma: float, lifetime: float, classes: int | None = None) -> Longitudinal:
    """A channel for k values that are asked for in every round of a study, with two bounds on what it discloses.

    ``gamma`` bounds one round, ``lifetime`` all rounds of one person together, under the owner's key. ``classes`` is a
    prime; without one, that which estimates best under both bounds.
    """
    k, gamma, life = whole("k", k, 2), bound(gamma), real("lifetime", lifetime)
    if gamma**2 >= life:
        raise ChannelError(
            f"lifetime must exceed gamma^2 = {gamma**2:.6g}, got {life:g}: a value has at least two classes"
        )
    if classes is None:
        fitting = [g for g in range(2, min(k, MOST_CLASSES) + 1) if is_prime(g) and _fits(k, g, gamma, life)]
        if not fitting:
            _check(k, 2)
        classes = min(fitting, key=lambda g: _variance(g, gamma))
    else:
        classes = whole("classes", classes, 2)
        _check(k, classes)
        if power(gamma, classes) >= life:
            raise ChannelError(
                f"lifetime must exceed gamma^classes = {power(gamma, classes):.6g}, got {life:g} instead"
            )
    return _made(k, classes, Fraction(gamma), Fraction(life))


def lifetime_epsilon(channel: Channel, rounds: float = math.inf) -> float:
    """ln of what a person's keyed answers in so many rounds tell of the values, at most: one answer for each value."""
    if isinstance(channel, Longitudinal):
        return min(channel.classes, rounds) * channel.permanent.epsilon if rounds > 1 else channel.epsilon
    return (rounds if channel.continuous else min(channel.k, rounds)) * channel.epsilon if channel.epsilon else 0.0


def _made(k: int, g: int, gamma: Fraction, lifetime: Fraction) -> Longitudinal:
    """The integer thresholds: the largest odds that keep both bounds."""
    each = Fraction(float(lifetime) ** (1 / g))
    other = math.ceil(ONE / (each + g - 1))
    while Fraction(ONE - (g - 1) * other, other) ** g > lifetime:
        other += max(other >> 50, 1)
    permanent = Symmetric((g,), other)
    each = Fraction(permanent.exact_gamma)
    # Q1 Q2 has the ratio (p r + g - 1) / (p + r + g - 2) for Q1 of ratio p and Q2 of ratio r; solved for r
    if each <= gamma:
        raise ChannelError(
            f"lifetime must exceed gamma^{g} = {as_float(gamma**g):.6g}, got {float(lifetime):g} instead"
        )
    ratio = (gamma * (each + g - 2) - (g - 1)) / (each - gamma)
    again = math.ceil(ONE / (ratio + g - 1))
    while (made := Longitudinal(k, g, permanent, Symmetric((g,), again))).exact_gamma > gamma:
        again += max(again >> 50, 1)
    return made.verified(gamma)


def _digits(k: int, g: int) -> int:
    """How many digits base g tell k values apart."""
    digits = 1
    while g**digits < k:
        digits += 1
    return digits


def _fits(k: int, g: int, gamma: float, lifetime: float) -> bool:
    return power(gamma, g) < lifetime and g * point_count(g, _digits(k, g)) <= MOST_OUTPUTS


def _variance(g: int, gamma: float) -> float:
    """The variance of one estimated share times n, where the value is rare: b (1 - b) / (a - b)^2 with b = 1 / g."""
    a, b = gamma / (gamma + g - 1), 1 / g
    return b * (1 - b) / (a - b) ** 2


def _check(k: int, g: int) -> None:
    if not 2 <= k <= MOST_VALUES:
        raise ChannelError(f"longitudinal needs 2 to {MOST_VALUES} values, got {k}: group the values first")
    if not (2 <= g <= min(k, MOST_CLASSES) and is_prime(g)):
        raise ChannelError(f"classes must be a prime of at most {min(k, MOST_CLASSES)}, got {g} instead")
    if g * point_count(g, _digits(k, g)) > MOST_OUTPUTS:
        raise ChannelError(f"{g} classes of {k} values have too many answers: choose fewer classes")


def _symmetric(g: int, other: int) -> Symmetric:
    if not 0 < other * g < ONE:
        raise ChannelError(f"the weight of another class must lie in (0, 2^63 / {g}), got {other} instead")
    return Symmetric((g,), other)
