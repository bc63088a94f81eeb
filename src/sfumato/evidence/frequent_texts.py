r"""Frequent texts that nobody listed: found beginning by beginning, and judged by people who had no part in it.

Every person answered one question: about the first letters of their text, or about the whole of it (see
``sfumato.channels.prefixes``). The answers to the first question say which beginnings are frequent. Each of these is
continued in every possible way, and the answers to the next question say which of the longer ones are frequent; and so
on. Candidates are ranked by how far their estimates z_l, in standard deviations, fall short of being clear:

    D = sum over the questions l of max(0, CLEAR - z_l)^2

Only those who answered the last question tell how frequent each candidate is. They had no part in the search, so that
tests and intervals need to allow for nothing but the number of candidates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Array, Bytes
from sfumato.channels.prefixes import Prefixes
from sfumato.channels.text_hash import TextHash
from sfumato.channels.text_noise import text_noise
from sfumato.domains.text import UNANSWERED

#: In standard deviations: with less a candidate is dropped; with more it looks no better.
LEAST, CLEAR = 3.0, 5.0
#: The most beginnings that are continued, and the most whole texts that are judged.
MOST_CONTINUED = 500
MOST_JUDGED = 200


@dataclass(frozen=True, eq=False)
class Candidates:
    """Texts, or beginnings of texts, a row of bytes each, and how far each falls short of being clearly frequent."""

    texts: Bytes
    short: Array

    def best(self, most: int) -> Candidates:
        """Those that fall short least."""
        if len(self.short) <= most:
            return self
        kept = np.sort(np.argpartition(self.short, most)[:most])
        return Candidates(self.texts[kept], self.short[kept])


def candidates(channel: Prefixes, counts: Sequence[Array]) -> Bytes:
    """The whole texts that the answers to all questions but the last point to, a row of bytes each.

    ``counts`` has for each question how many people gave each answer. Of texts that the last question cannot tell
    apart, since they share a number, the likeliest stays.
    """
    found = Candidates(np.zeros((1, channel.max_length), dtype=np.uint8), np.zeros(1))
    before = 0
    for length, numbering, own in zip(channel.lengths[:-1], channel.hashes, counts, strict=False):
        z = scores(channel, own)
        pieces = list(_continued(channel, numbering, found, before, z))
        longer = Candidates(*(np.concatenate([getattr(p, part) for p in pieces]) for part in ("texts", "short")))
        found, before = longer.best(MOST_CONTINUED), length
    likeliest = found.texts[np.argsort(found.short, kind="stable")]
    _, first = np.unique(channel.hashes[-1](likeliest), return_index=True)
    return likeliest[np.sort(first)[:MOST_JUDGED]]


def scores(channel: Prefixes, counts: Array) -> Array:
    """The estimated count of every number, in standard deviations of one that nobody has."""
    n = float(counts.sum())
    if not n:
        return np.zeros(channel.channel.k)
    return np.asarray(channel.channel.inverse.apply(counts) / (text_noise(channel, n) * n))


def every_text(channel: Prefixes) -> Bytes:
    """All texts, where they are few enough to be tried one by one."""
    texts = _endings(channel.letters, channel.max_length)[1:]
    return np.concatenate([texts, _no_answer(channel)]) if channel.nullable else texts


def _continued(
    channel: Prefixes, numbering: TextHash, found: Candidates, before: int, z: Array
) -> Iterator[Candidates]:
    """Every candidate with every continuation that enough people seem to have."""
    ended = found.texts[:, before - 1] == 0 if before else np.zeros(len(found.texts), dtype=np.bool_)
    done = found.texts[ended]
    yield _kept(done, found.short[ended], z[numbering(done)])
    if not before and channel.nullable:
        none = _no_answer(channel)
        yield _kept(none, np.zeros(1), z[numbering(none)])
    endings = _endings(channel.letters, numbering.length - before)[0 if before else 1 :]
    steps = numbering.shift(endings, before)
    for text, short in zip(found.texts[~ended], found.short[~ended], strict=True):
        own = z[(numbering(text[None]) + steps) % numbering.cells]
        kept = np.flatnonzero(own > LEAST)
        texts = np.repeat(text[None], len(kept), axis=0)
        texts[:, before : numbering.length] = endings[kept]
        yield _kept(texts, np.full(len(kept), short), own[kept])


def _kept(texts: Bytes, short: Array, z: Array) -> Candidates:
    kept = z > LEAST
    return Candidates(texts[kept], short[kept] + np.maximum(CLEAR - z[kept], 0.0) ** 2)


def _no_answer(channel: Prefixes) -> Bytes:
    none = np.zeros((1, channel.max_length), dtype=np.uint8)
    none[0, 0] = UNANSWERED
    return none


def _endings(letters: int, length: int) -> Bytes:
    """All texts of up to so many letters, the empty one first."""
    pieces = [np.zeros((1, length), dtype=np.uint8)]
    for place in range(length):
        longer = np.repeat(pieces[-1], letters, axis=0)
        longer[:, place] = np.tile(np.arange(1, letters + 1, dtype=np.uint8), len(pieces[-1]))
        pieces.append(longer)
    return np.concatenate(pieces)
