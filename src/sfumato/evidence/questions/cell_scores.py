"""The scores of released cells, whose means are statistics of the true ones, and the sums of a part by them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Array
from sfumato.channels.average import Average
from sfumato.channels.linear import kronecker
from sfumato.channels.scores import scores
from sfumato.errors import EstimationError
from sfumato.evidence.blocks import Block, check_invertible
from sfumato.evidence.questions.part_sums import PartSums
from sfumato.evidence.questions.statistics import Statistic, check_size, product, weights
from sfumato.evidence.seen import Seen


def table_part(seen: Seen, statistics: Sequence[Statistic]) -> PartSums:
    """The statistics from released counts."""
    G = released_scores(seen, statistics)
    total, second = G @ seen.counts, (G * seen.counts) @ G.T
    if any(means_only(block) for block in seen.blocks):
        return PartSums(seen.total, total, second, own_of_means(own_scores(seen, statistics), seen.counts, total))
    W = weights(statistics, seen.names, seen.shape)
    return PartSums(seen.total, total, second, (W * seen.centre) @ W.T)


def means_only(block: Block) -> bool:
    """Whether a block tells means, and no counts: under ``average`` with few outputs."""
    return isinstance(block.channel, Average) and not block.channel.invertible


@dataclass(frozen=True, eq=False)
class OwnScores:
    """The scores of Σ f g for two statistics; with ``records`` of a sum below it, and of the records it is over."""

    at: tuple[int, int]
    score: Array
    records: Array | None = None

    def total(self, counts: Array, totals: Array) -> Array:
        """Σ f g from released counts, a row each: at least (Σ f)(Σ g) / N where only a sum below is told."""
        found = counts @ self.score
        if self.records is None:
            return np.asarray(found)
        i, j = self.at
        held = counts @ self.records
        least = np.divide(totals[..., i] * totals[..., j], held, out=np.zeros_like(found), where=held > 1)
        return np.asarray(np.maximum(found, least))


def own_scores(seen: Seen, statistics: Sequence[Statistic]) -> Iterator[OwnScores]:
    """What W diag(N) Wᵀ is made of where a channel for means tells no squares: the nearest sum below that is told.

    The covariance is then on the safe side.
    """
    known: dict[tuple[int, bytes], Array] = {}
    below: dict[tuple[int, bytes], Array] = {}
    silent = {name for block in seen.blocks if means_only(block) for name in block.names}
    for i in range(len(statistics)):
        for j in range(i, len(statistics)):
            both = product(statistics[i], statistics[j])
            if both is None:
                continue
            try:
                yield OwnScores((i, j), kronecker(list(block_scores(seen.blocks, both, known))))
            except EstimationError:
                alone = {name: factor for name, factor in both.items() if name not in silent}
                records = kronecker(list(block_scores(seen.blocks, alone, known)))
                score = kronecker(list(block_scores(seen.blocks, both, below, lower=True)))
                yield OwnScores((i, j), score, records)


def own_of_means(scores: Iterable[OwnScores], counts: Array, totals: Array) -> Array:
    """W diag(N) Wᵀ from released counts and the statistics, a row each."""
    own = np.zeros((*totals.shape, totals.shape[-1]))
    for one in scores:
        i, j = one.at
        own[..., i, j] = own[..., j, i] = one.total(counts, totals)
    return own


def released_scores(seen: Seen, statistics: Sequence[Statistic]) -> Array:
    """G: the score of every released cell in every statistic."""
    check_size(len(statistics), int(np.prod([float(size) for size in seen.released])))
    known: dict[tuple[int, bytes], Array] = {}
    return np.stack([kronecker(list(block_scores(seen.blocks, one, known))) for one in statistics])


def block_scores(
    blocks: Sequence[Block], statistic: Statistic, known: dict[tuple[int, bytes], Array], lower: bool = False
) -> Iterator[Array]:
    """The scores of every block's released values; those that were found before are ``known``.

    ``lower`` takes, where a factor is not told, the nearest that is told and lies nowhere above it.
    """
    for number, block in enumerate(blocks):
        sizes = dict(zip(block.names, block.sizes, strict=True))
        wanted = kronecker([np.asarray(statistic.get(name, np.ones(size))) for name, size in sizes.items()])
        key = number, wanted.tobytes()
        if key not in known:
            known[key] = _scores_below(block, wanted) if lower and means_only(block) else _scores(block, wanted)
        yield known[key]


def _scores(block: Block, wanted: Array) -> Array:
    if (wanted == 1).all():  # everybody counts once, whatever was released
        return np.ones(block.released)
    if means_only(block) and not _straight(wanted, block):
        raise EstimationError(
            f"{block.names[0]}: the channel {block.channel} tells means, and nothing else: ask for its mean, or take "
            f"windows for running shares and quantiles"
        )
    if block.channel is None:
        return block.inverse.T.apply(wanted)
    if not means_only(block):
        check_invertible(block.channel, block.names)
    return scores(block.channel, wanted)


def _scores_below(block: Block, wanted: Array) -> Array:
    """g with (P g)[x] ≤ wanted[x] for all x, as near as least squares find it, and shifted down by what it exceeds."""
    if _straight(wanted, block) or block.channel is None:
        return _scores(block, wanted)
    P = block.channel.matrix
    g = np.linalg.lstsq(P, wanted, rcond=1e-6)[0]
    return np.asarray(g - max(float((P @ g - wanted).max()), 0.0))


def _straight(wanted: Array, block: Block) -> bool:
    """Whether values are equally spaced, 0 for no answer: all that a channel for means tells."""
    channel = block.channel
    if not isinstance(channel, Average):
        return False
    answers = wanted[: channel.values]
    bend = np.abs(np.diff(answers, 2)).max(initial=0.0)
    return bool(bend <= 1e-9 * max(float(np.abs(answers).max()), 1e-300)) and (
        not channel.nullable or float(wanted[-1]) == 0.0
    )
