"""Cutting the records of a release at random: to learn from some, and to judge on the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import EstimationError
from sfumato.evidence.direct import DirectEvidence
from sfumato.evidence.protocol import Evidence
from sfumato.randomness import numpy_generator
from sfumato.release import Release
from sfumato.released.part import Part


def hold_out(
    release: Release, share: float = 0.25, rng: np.random.Generator | int | None = None
) -> tuple[Release, Release]:
    """The release cut at random into records to learn from and records to score on."""
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share < 1:
        raise EstimationError(f"share must lie in (0, 1), got {share!r} instead")
    generator = numpy_generator(rng)
    learn, held = [], []
    for part in release.parts:
        rows = part.arrow()
        drawn = generator.permutation(rows.num_rows)
        cut = round(share * rows.num_rows)
        held.append(part.with_rows(rows.take(np.sort(drawn[:cut]))))
        learn.append(part.with_rows(rows.take(np.sort(drawn[cut:]))))
    return Release.of(learn), Release.of(held)


def folds(release: Release, count: int = 5, rng: np.random.Generator | int | None = None) -> list[Release]:
    """The records of a release cut at random into equal parts."""
    if isinstance(count, bool) or not isinstance(count, int) or count < 2:
        raise EstimationError(f"folds must be a whole number of at least 2, got {count!r} instead")
    if len(release) < 2 * count:
        raise EstimationError(f"{count} folds need at least {2 * count} records, and the release holds {len(release)}")
    generator = numpy_generator(rng)
    return _cut(release, count, generator.permutation)


def cross_fits(
    source: Evidence, count: int, rng: np.random.Generator | int | None = None
) -> Iterator[tuple[Evidence, Evidence]]:
    """For every fold: evidence of the given kind from all other records, and unbiased evidence of its own."""
    return _each_without(source, folds(source.release, count, rng))


def leave_out(source: Evidence, count: int) -> Iterator[Evidence]:
    """Evidence of the given kind without each of ``count`` parts of the records in turn: for the jackknife.

    The parts are drawn, the same ones every time: of rows in some order, every tenth ones would be too much alike.
    """
    drawn = np.random.default_rng(0)
    return (kept for kept, _ in _each_without(source, _cut(source.release, count, drawn.permutation)))


def _each_without(source: Evidence, cut: list[Release]) -> Iterator[tuple[Evidence, Evidence]]:
    for held in cut:
        kept = Release.concat([one for one in cut if one is not held])
        yield source.refitted(kept), DirectEvidence(held, "moment", source.names)


def _cut(release: Release, count: int, order: Callable[[int], NDArray[np.int64]]) -> list[Release]:
    cut: list[list[Part]] = [[] for _ in range(count)]
    at = 0
    for part in release.parts:
        rows = part.arrow()
        place = (order(rows.num_rows) + at) % count
        at += rows.num_rows
        for number, own in enumerate(cut):
            own.append(part.with_rows(rows.take(np.flatnonzero(place == number))))
    # a form that nobody of a cut was given stays, for what it could have asked
    return [Release.of(part for part in own if len(part) or not release.whole) for own in cut]
