"""The tracking attack: keyed answers stay while values stay, and make a person recognisable from release to release."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.assess.attacks.recovery import Recovery
from sfumato.assess.precision import check_n
from sfumato.channels.longitudinal import Longitudinal
from sfumato.errors import SfumatoError
from sfumato.input_checks import check_kind
from sfumato.release import Release
from sfumato.scheme import Scheme

_BLIND = "naming anybody"
_AT_ONCE = 1 << 24  # comparisons that are held at a time
_MOST = 2000  # records of the second release that are looked for
_DRAWS = 4000
_LARGEST = 1 << 22  # answers whose probabilities are listed


def track(first: Release | Scheme, second: Release | None = None, *, n: int | None = None) -> Recovery:
    r"""Find each record of one release again in another one, by its answers alone.

    Under a key an answer is the same in both while the value is, so a record that nobody else's answers equal is
    found again. The record of ``first`` is named that agrees with one of ``second`` in the answers that are rarest:

        score = sum over equal answers y of - ln (share of y)

    Of a longitudinal channel the hash function stays, and is compared. Whose a record is must be known to count right
    names: both releases carry pseudonyms under one key. With one release it is the share that would be found again in a
    keyed repeat of it; of a scheme, the share that is expected among ``n`` people whose attributes are independent.
    """
    if isinstance(first, Scheme):
        if n is None or second is not None:
            raise SfumatoError("tracking under a scheme needs n, the number of people, and no release")
        alone, success = _expected(first, check_n(n))
        return _told(None, success, alone, n, "expected, if attributes are independent and values stay")
    for release in (first, first if second is None else second):
        check_kind(SfumatoError, "what is tracked", release, Release, "a release, or one scheme with n")
    if n is not None:
        raise SfumatoError("n goes with a scheme: a release has its own number of people")
    mine = _answers(first)
    _, place, counts = np.unique(mine, axis=0, return_inverse=True, return_counts=True)
    alone, size = float(np.mean(counts[place.reshape(-1)] == 1)), len(mine)
    if second is None:
        return _told(None, len(counts) / size, alone, size, "expected of a keyed repeat, if values stay")
    theirs = _answers(second)
    if mine.shape[1] != theirs.shape[1]:
        raise SfumatoError("the two releases hold different attributes: release the same ones, or select them")
    own, other = _pseudonyms(first), _pseudonyms(second)
    known = np.flatnonzero(np.isin(other, own))[:_MOST]
    if not len(known):
        raise SfumatoError("no pseudonym stands in both releases: they must be made under one key to count right names")
    order = np.argsort(own)
    truth = order[np.searchsorted(own[order], other[known])]
    guess, right = _named(mine, theirs[known], truth)
    return _told(guess, float(right.mean()), alone, size, f"counted among {len(known):,} people of both releases")


def _told(guess: NDArray[np.int64] | None, success: float, alone: float, n: int, how: str) -> Recovery:
    details = {"found_again": success, "unlike_anybody": alone, "blind": 1 / n, "people": n, "how": how}
    return Recovery("track", guess, 1 - success, 1 - 1 / n, None, details, _BLIND)


def _answers(release: Release) -> Array:
    """What is compared of each record: its form, and a number for every answer."""
    rows: list[Array] = []
    columns = list(dict.fromkeys(column for part in release.parts for column in part.scheme.columns))
    for number, part in enumerate(release.parts):
        table, held = part.arrow(), {}
        for group in part.scheme.groups:
            for column in group.columns:
                codes, channel = np.asarray(table.column(column), dtype=np.float64), group.channel
                held[column] = codes // channel.classes if isinstance(channel, Longitudinal) else codes
        none = np.full(len(part), -1.0)
        form = np.full(len(part), float(number if len(columns) > len(part.scheme.columns) else 0))
        rows.append(np.column_stack([form, *(held.get(column, none) for column in columns)]))
    return np.concatenate(rows)


def _pseudonyms(release: Release) -> NDArray[np.str_]:
    if release.id is None or release.id_kind != "pseudonym":
        raise SfumatoError("tracking two releases needs pseudonyms in both: randomize them with id and one key")
    return np.concatenate([np.asarray(part.arrow().column(release.id)).astype(str) for part in release.parts])


def _named(mine: Array, theirs: Array, truth: NDArray[np.int64]) -> tuple[NDArray[np.int64], Array]:
    """The record that each of theirs agrees with most, and the chance that it is the right one among equals."""
    guess, right = np.zeros(len(theirs), dtype=np.int64), np.zeros(len(theirs))
    rarities = [_rarity(column) for column in mine.T]
    step = max(1, _AT_ONCE // len(mine))
    for start in range(0, len(theirs), step):
        some = theirs[start : start + step]
        score = np.zeros((len(some), len(mine)))
        for column, rare in enumerate(rarities):
            score += np.where(some[:, column, None] == mine[None, :, column], rare, 0.0)
        best = score.max(axis=1, keepdims=True) * (1 - 1e-12)
        top = score >= best
        at = slice(start, start + len(some))
        guess[at] = top.argmax(axis=1)
        right[at] = top[np.arange(len(some)), truth[at]] / top.sum(axis=1)
    return guess, right


def _rarity(answers: Array) -> Array:
    """-ln of the share of each answer."""
    _, place, counts = np.unique(answers, return_inverse=True, return_counts=True)
    return np.asarray(-np.log(counts / len(answers))[place])


def _expected(scheme: Scheme, n: int) -> tuple[float, float]:
    r"""The shares of people unlike anybody, and found again: E (1 - q)^(n-1) and E (1 - (1 - q)^n) / (n q).

    q is the probability of a record's answers, a product over the groups; every value counts as equally likely.
    """
    rng = np.random.default_rng(0)
    log_q = np.zeros(_DRAWS)
    for channel in (part for group in scheme.groups for _, part in group.channel.factors(group.names)):
        if channel.continuous:  # nobody's number is another's
            return 1.0, 1.0
        if isinstance(channel, Longitudinal):
            log_q -= np.log(channel.hashes)
            continue
        if max(channel.k, channel.m) > _LARGEST:
            raise SfumatoError(f"{channel} has too many answers to count who is alike: track two releases instead")
        q = channel.transition.T.apply(np.ones((channel.k, 1)))[:, 0]
        q = q / q.sum()  # impossible combinations have empty rows
        log_q += np.log(rng.choice(q, _DRAWS, p=q))
    q = np.exp(log_q)
    nobody = n * np.log1p(-np.minimum(q, 1 - 1e-15))
    again = np.where(n * q < 1e-12, 1.0, -np.expm1(nobody) / np.maximum(n * q, 1e-300))
    return float(np.exp(nobody * (n - 1) / n).mean()), float(again.mean())
