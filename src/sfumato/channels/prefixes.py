"""Free text: every person answers about the beginning of their text, or about the whole of it, under one bound."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Array, Codes, Index, Words
from sfumato.channels.arguments import bound, check_finite, whole
from sfumato.channels.base import Channel, from_dict
from sfumato.channels.linear import Operator
from sfumato.channels.lookup import code_type
from sfumato.channels.ratios import Ratio
from sfumato.channels.subset import subset
from sfumato.channels.text_hash import TextHash, as_rows
from sfumato.domains import Domain, Text
from sfumato.domains.text import LONGEST, MOST_LETTERS
from sfumato.errors import ChannelError
from sfumato.randomness import Rng, Source, quantize, source, words

#: Numbers that beginnings are hashed to. The error does not grow with them; the time to estimate does.
CELLS = 1 << 22
#: The most beginnings that are looked at without knowing anything, and the most ways to go on from one.
FIRST_TEXTS = 1 << 20
NEXT_TEXTS = 1 << 15
MOST_LEVELS = 64
#: How many people answer about each beginning, and how many about the whole text: these judge what the others found.
_PEOPLE = 2, 3
_BLOCK = 1 << 18


@dataclass(frozen=True, eq=False, repr=False)
class Prefixes(Channel):
    r"""Answer about the first l letters of a text, hashed, through a channel Q; which l, a draw says.

        P[x, (l, y)] = w_l Q[h_l(x), y],        gamma = that of Q

    where h_l numbers beginnings of l letters (see ``TextHash``). The last question is about the whole text. From the
    answers about short beginnings a miner learns which of them are frequent, from those about longer ones how these go
    on, letter by letter, and from the answers about whole texts how frequent each one is.

    >>> prefixes(Text(16), gamma=50).lengths
    (4, 7, 10, 13, 16, 16)
    """

    max_length: int
    letters: int
    nullable: bool
    lengths: tuple[int, ...]  # how many letters each question is about
    people: tuple[int, ...]  # in which proportions each question is asked
    seed: int
    channel: Channel  # Q

    kind = "prefixes"
    listed = False

    @property
    def sizes(self) -> tuple[int, ...]:
        return (sum(self.letters**length for length in range(1, self.max_length + 1)) + self.nullable,)

    @property
    def outputs(self) -> tuple[int, ...]:
        return (len(self.lengths) * self.channel.m,)

    @property
    def matrix_cells(self) -> int:
        return self.channel.matrix_cells

    @property
    def releases_values(self) -> bool:
        return False

    @cached_property
    def hashes(self) -> tuple[TextHash, ...]:
        """The numbering that each question uses."""
        base = self.letters + 1 if len(self.lengths) == 1 else None
        return tuple(
            TextHash(length, self.channel.k, level, self.seed, base) for level, length in enumerate(self.lengths)
        )

    @cached_property
    def shares(self) -> tuple[float, ...]:
        """The probability of each question."""
        return tuple(part / sum(self.people) for part in self.people)

    @cached_property
    def ends(self) -> Words:
        """Where each question ends on the scale of the words that choose it."""
        return np.cumsum(quantize(np.array(self.shares)), dtype=np.uint64)

    @property
    def exact_gamma(self) -> Ratio:
        return self.channel.exact_gamma

    @property
    def weights(self) -> Words:
        self._refuse()

    @property
    def matrix(self) -> Array:
        self._refuse()

    @property
    def transition(self) -> Operator:
        self._refuse()

    @property
    def inverse(self) -> Operator:
        self._refuse()

    @property
    def invertible(self) -> bool:
        return False

    def _refuse(self) -> NoReturn:
        raise ChannelError("free text has too many values for a matrix: ask for its top values")

    @property
    def draws(self) -> int:
        return 2

    def draw_columns(self, columns: Sequence[Codes], word: Callable[[int], Words]) -> list[Codes]:
        return [self._answers(columns[0], word(0), word(1))]

    def sample_columns(self, columns: Sequence[Codes], src: Source) -> list[Codes]:
        (texts,) = columns
        out = np.empty(len(texts), dtype=code_type(self.m))
        for start in range(0, len(texts), _BLOCK):
            block = texts[start : start + _BLOCK]
            out[start : start + _BLOCK] = self._answers(block, words(src, len(block)), words(src, len(block)))
        return [out]

    def _answers(self, texts: Codes, draws: Words, which: Words) -> Codes:
        rows = as_rows(texts)
        level = np.searchsorted(self.ends, which, side="right")
        numbers = np.empty(len(rows), dtype=code_type(self.channel.k))
        for place, number in enumerate(self.hashes):
            own = np.flatnonzero(level == place)
            numbers[own] = number(rows[own])
        said = self.channel.draw(numbers, draws).astype(np.int64)
        return np.asarray(said + level * self.channel.m).astype(code_type(self.m))

    def randomize(self, codes: ArrayLike, rng: Rng = None) -> Codes:
        """Randomize texts as ``Text.encode`` gives them."""
        given = np.asarray(codes)
        if given.dtype.kind != "S" or given.ndim != 1 or given.dtype.itemsize > self.max_length:
            raise ChannelError(f"texts must be given as Text({self.max_length}, ...).encode makes them")
        return self.sample_columns([given], source(rng))[0]

    def split(self, codes: Codes) -> tuple[Index, Index]:
        """The question that each released code answers, and the answer of the channel Q."""
        level, said = np.divmod(np.asarray(codes, dtype=np.int64), self.channel.m)
        return level, said

    def bind(self, domains: Sequence[Domain]) -> Channel:
        (domain,) = domains if len(domains) == 1 else (None,)
        if not isinstance(domain, Text):
            raise ChannelError(f"{self} takes one attribute of free text")
        asked = (domain.max_length, len(domain.alphabet), domain.nullable)
        if asked != (self.max_length, self.letters, self.nullable):
            raise ChannelError(f"{self} does not fit a text of at most {asked[0]} of {asked[1]} letters")
        return self

    def parameters(self) -> dict[str, Any]:
        return {
            "max_length": self.max_length,
            "letters": self.letters,
            "nullable": self.nullable,
            "lengths": list(self.lengths),
            "people": list(self.people),
            "seed": self.seed,
            "channel": self.channel.to_dict(),
        }

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Prefixes:
        return _checked(
            whole("max_length", parameters["max_length"], 1),
            whole("letters", parameters["letters"], 2),
            bool(parameters["nullable"]),
            tuple(whole("lengths", length, 1) for length in parameters["lengths"]),
            tuple(whole("people", part, 1) for part in parameters["people"]),
            whole("seed", parameters["seed"], 0),
            from_dict(parameters["channel"]),
        )

    def __str__(self) -> str:
        return f"prefixes({self.max_length} of {self.letters} letters, gamma={self.gamma:.6g})"


def prefixes(domain: Text, gamma: float, seed: int = 0, cells: int = CELLS) -> Prefixes:
    """The channel for free text under a bound on gamma.

    The first question is about as many letters as can be tried out in full, each later one about as many more as can
    be tried out after a frequent beginning. Texts so short that all can be tried have one question. ``seed`` chooses
    the numbering, which is public. ``cells`` says how many numbers there are: fewer are quicker to estimate from, but
    more texts share one.
    """
    if not isinstance(domain, Text):
        raise ChannelError(f"prefixes takes the domain of an attribute of free text, got {type(domain).__name__}")
    gamma, letters, longest = bound(gamma), len(domain.alphabet), domain.max_length
    lengths = _lengths(longest, letters)
    if lengths == (longest,):
        people: tuple[int, ...] = (1,)
        cells = (letters + 1) ** longest + domain.nullable
    else:
        lengths = (*lengths, longest)
        people = (*(_PEOPLE[0] for _ in lengths[1:]), _PEOPLE[1])
        cells = whole("cells", cells, 1 << 10)
    return _checked(longest, letters, domain.nullable, lengths, people, whole("seed", seed, 0), subset(cells, gamma))


def _lengths(longest: int, letters: int) -> tuple[int, ...]:
    """How many letters to ask about, question by question, until the text is whole."""
    first = max(1, math.floor(math.log(FIRST_TEXTS, letters + 1) + 1e-9))
    step = max(1, math.floor(math.log(NEXT_TEXTS, letters + 1) + 1e-9))
    return tuple(min(length, longest) for length in range(first, longest + step, step))


def _checked(
    longest: int, letters: int, nullable: bool, lengths: tuple[int, ...], people: tuple[int, ...], seed: int, q: Channel
) -> Prefixes:
    (given,) = check_finite([q], "prefixes")
    if letters > MOST_LETTERS or longest > LONGEST:
        raise ChannelError(f"texts have at most {LONGEST} of 2 to {MOST_LETTERS} letters, got {longest} of {letters}")
    if not 1 <= len(lengths) <= MOST_LEVELS or list(lengths) != sorted(lengths) or lengths[-1] != longest:
        raise ChannelError(f"lengths must grow to {longest}, the whole text, got {list(lengths)} instead")
    steps = [lengths[0] - 1, *(after - before - 1 for before, after in pairwise(lengths))]
    most = [FIRST_TEXTS, *(NEXT_TEXTS for _ in lengths[1:])]
    if any(step > 0 and (letters + 1) ** (step + 1) > texts for step, texts in zip(steps, most, strict=True)):
        raise ChannelError(f"lengths must grow by few letters at a time, so that all can be tried, got {list(lengths)}")
    if len(people) != len(lengths) or max(people) > 1 << 20:
        raise ChannelError(f"people must be {len(lengths)} small whole numbers, one for each question")
    if given.arity != 1 or len(given.outputs) != 1 or given.draws != 1 or seed >= 1 << 63:
        raise ChannelError("prefixes needs a channel of one attribute, and a seed below 2^63")
    if len(lengths) == 1 and given.k < (letters + 1) ** longest + nullable:
        raise ChannelError("one question about the whole text needs a channel of as many values as there are texts")
    if len(lengths) > 1 and (lengths[-2] != longest or given.k < 2):
        raise ChannelError("the last question but one must be about the whole text too: the last judges what it found")
    return Prefixes(longest, letters, nullable, lengths, people, seed, given)
