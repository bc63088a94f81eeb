"""Counts of free text: of texts that somebody names, and of the most frequent ones, which nobody named."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from sfumato.arrays import Array, Bytes, Codes, Index
from sfumato.channels import Channel
from sfumato.channels.prefixes import Prefixes
from sfumato.channels.text_hash import as_rows
from sfumato.channels.text_noise import rarest
from sfumato.errors import EstimationError, NoRowsError, show_values
from sfumato.evidence.asked_parts import asking
from sfumato.evidence.blocks import Block
from sfumato.evidence.counting import counter
from sfumato.evidence.estimate import Estimate
from sfumato.evidence.frequent_texts import LEAST, MOST_JUDGED, candidates, every_text, scores
from sfumato.evidence.record_moments import MOMENTS, ListedCells
from sfumato.evidence.some_cells import some_cells
from sfumato.release import Release
from sfumato.schema import Categorical, Schema, Text

#: The chance that a text is among the top ones that nobody, or hardly anybody, has.
FALSE = 0.05


class TextAnswers:
    """The answers about one attribute of free text: how many people gave each answer to each question."""

    def __init__(self, release: Release, name: str) -> None:
        self.name, self.domain = name, release.schema[name]
        parts = asking(release, [name])
        channels = {part.scheme[name] for part in parts}
        channel = channels.pop()
        if channels or not isinstance(channel, Prefixes) or not isinstance(self.domain, Text):
            raise EstimationError(f"{name!r} must be free text under the same channel in every part of the release")
        self.channel = channel
        self.n = float(len(release))
        found = [counter(part).records([name], distinct=True) for part in parts]
        codes = np.concatenate([one[0][0].astype(np.int64) for one in found])
        self._level, self._said = channel.split(codes)
        self._rows = np.concatenate([rows for _, rows in found])
        if not len(codes):
            raise NoRowsError

    def counts(self, level: int) -> Array:
        """How many people gave each answer to one question."""
        own = self._level == level
        found = np.bincount(self._said[own], weights=self._rows[own], minlength=self.channel.channel.m)
        return np.asarray(found, dtype=np.float64)

    def estimate(self, texts: Codes, levels: Sequence[int], together: int) -> Estimate:
        """The counts of some texts, from the answers to some questions about whole texts."""
        values = tuple(self.domain.decode(texts).to_pylist())
        told = Categorical(tuple(value for value in values if value is not None) or ("",), nullable=None in values)
        own = np.array([told.labels.index(value) for value in values], dtype=np.int64)
        pieces = tuple(piece for piece in (self._piece(as_rows(texts), level) for level in levels) if piece.total)
        if not pieces:
            raise EstimationError(f"nobody was asked about the whole of {self.name!r}: there are too few records")
        value = np.asarray(np.sum([piece.centre for piece in pieces], axis=0))
        asked = sum(piece.total for piece in pieces) / self.n
        schema = Schema({self.name: told})
        return Estimate(schema, value / asked, pieces, "moment", codes=own[:, None], records=self.n, together=together)

    def _piece(self, texts: Bytes, level: int) -> ListedCells:
        q, own = self.channel.channel, self._level == level
        cells: Index = self.channel.hashes[level](texts)
        said = self._said[own]
        block = Block((self.name,), (q.k,), (self.name,), (q.m,), q)
        rows = q.inverse.entries(cells, said)
        moments = _own_moments(q)[:, cells]
        return ListedCells((self.name,), (block,), self._rows[own], cells=cells, listed=rows, own_moments=moments)


@lru_cache(maxsize=4)
def _own_moments(q: Channel) -> Array:
    """E A[x, Y]^k of a record of every number x, k by x."""
    return np.array([q.inverse.power(k).diagonal_of_product(q.transition) for k in MOMENTS])


def listed_texts(release: Release, name: str, values: Sequence[Any]) -> Estimate:
    """The counts of texts that somebody names: from all questions that were about the whole of each of them."""
    answers = TextAnswers(release, name)
    with show_values():
        texts = answers.domain.encode(list(values), name)
    longest = max(len(text) for text in texts.tolist())
    whole = [level for level, length in enumerate(answers.channel.lengths) if length >= longest]
    return answers.estimate(texts, whole, 1)


def top_texts(release: Release, name: str, most: int) -> Estimate:
    """The most frequent texts, of those that are surely there; the intervals hold for all of them together."""
    answers = TextAnswers(release, name)
    channel, last = answers.channel, len(answers.channel.lengths) - 1
    found = candidates(channel, [answers.counts(level) for level in range(last)]) if last else every_text(channel)
    tried = max(len(found), 1)
    z = scores(channel, answers.counts(last))[channel.hashes[last](found)]
    likely = np.flatnonzero(z > LEAST)
    likely = likely[np.argsort(-z[likely], kind="stable")][:MOST_JUDGED]
    texts = np.ascontiguousarray(found[likely]).view(f"S{channel.max_length}").reshape(-1)
    if len(texts):
        judged = answers.estimate(texts, [last], tried)
        sure = np.flatnonzero(judged.interval(1 - 2 * FALSE)[0] > 0)[:most]
        if len(sure):
            return some_cells(judged, sure)
    raise EstimationError(
        f"no text of {name!r} is frequent enough to be found: among {answers.n:,.0f} records it takes a share of about "
        f"{rarest(channel, answers.n):.2g}"
    )
