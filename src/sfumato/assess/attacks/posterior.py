"""Bayes: the posterior of every record from its answers, and what repeated releases add up to."""

from __future__ import annotations

from math import comb, lgamma
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato.assess.attacks.recovery import Recovery
from sfumato.assess.subject import Attribute, is_noise, subject
from sfumato.channels.linear import Array
from sfumato.errors import ChannelError, SfumatoError

_MOST_PATTERNS = 200_000


def bayes(
    released: ArrayLike,
    of: Any,
    prior: ArrayLike | None = None,
    truth: ArrayLike | None = None,
    *,
    attribute: Attribute = None,
) -> Recovery:
    """The most likely true value of every record given its released code, or several codes of fresh releases.

    ``released`` holds a code per record, or a row of codes per record where it was released more than once. Without
    the truth the error is the one the adversary himself expects.

    >>> attack = bayes([0, 1, 1], [[0.75, 0.25], [0.25, 0.75]])
    >>> attack.recovered, round(attack.error, 9), attack.nothing
    (array([0, 1, 1]), 0.25, 0.5)
    """
    seen = subject(of, prior, attribute)
    codes = np.asarray(released)
    codes = codes[:, None] if codes.ndim == 1 else codes
    if codes.ndim != 2 or codes.dtype.kind not in "iub" or not codes.size:
        raise SfumatoError(f"released must hold whole-number codes, a row per record, got shape {codes.shape}")
    m = seen.P.shape[1]
    if codes.min() < 0 or codes.max() >= m:
        raise ChannelError(f"released codes must lie in [0, {m - 1}], got {int(codes.min())} to {int(codes.max())}")
    never = ~seen.seen[codes]
    if never.any():
        y = int(codes[never][0])
        raise ChannelError(f"released code {y} cannot occur under this channel and prior: it has no posterior")
    patterns, place = np.unique(np.sort(codes, axis=1), axis=0, return_inverse=True)
    with np.errstate(divide="ignore"):
        log = np.log(seen.prior)[:, None] + sum(np.log(seen.P)[:, patterns[:, t]] for t in range(codes.shape[1]))
    top = log.max(axis=0)
    if np.isinf(top).any():
        raise ChannelError("the answers of some record contradict each other: no true value can give them all")
    weights = np.exp(log - top)
    posterior = weights / weights.sum(axis=0)
    guess = posterior.argmax(axis=0)[place.reshape(-1)]
    sure = posterior.max(axis=0)[place.reshape(-1)]
    error = float(1 - sure.mean()) if truth is None else _wrong(guess, truth)
    return Recovery("bayes", guess, error, _nothing(seen.prior, truth), None, {"confidence": sure})


def repeated(
    of: Any,
    times: int,
    prior: ArrayLike | None = None,
    *,
    trials: int = 20_000,
    rng: np.random.Generator | int | None = None,
    attribute: Attribute = None,
) -> Recovery:
    r"""What ``times`` fresh releases of the same record add up to, for an adversary who guesses best.

        success = sum over patterns of answers of  max_x Pr(x) prod_t P[x, y_t]

    Exact while the patterns can be listed, otherwise simulated. For additive noise the average has sd / sqrt(times).

    >>> round(1 - repeated([[0.5, 1/6, 1/6, 1/6], [1/6, 0.5, 1/6, 1/6], [1/6, 1/6, 0.5, 1/6], [1/6, 1/6, 1/6, 0.5]], 10).error, 3)
    0.815
    """  # noqa: E501
    if times < 1 or int(times) != times:
        raise SfumatoError(f"times must be a whole number of at least 1, got {times} instead")
    if is_noise(of):
        return Recovery("repeated", None, float(of.sd) / float(np.sqrt(times)), None, float(of.sd), {"exact": True})
    seen = subject(of, prior, attribute)
    keep = np.flatnonzero(seen.seen)
    P = seen.P[:, keep]
    exact = comb(times + len(keep) - 1, len(keep) - 1) <= _MOST_PATTERNS
    success = _exact(P, seen.prior, times) if exact else _simulated(P, seen.prior, times, trials, rng)
    return Recovery("repeated", None, 1 - success, _nothing(seen.prior, None), None, {"exact": exact, "times": times})


def _exact(P: Array, prior: Array, times: int) -> float:
    """Sum over how often each answer occurred."""
    counts = _patterns(times, P.shape[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        log_p = np.log(P)
        terms = np.where(counts[:, None, :] > 0, counts[:, None, :] * log_p[None], 0.0).sum(axis=2)
        log = np.log(prior)[None] + terms
    ways = lgamma(times + 1) - np.array([sum(lgamma(c + 1) for c in row) for row in counts])
    return float(min(np.exp(log.max(axis=1) + ways).sum(), 1.0))


def _patterns(times: int, m: int) -> Array:
    if m == 1:
        return np.array([[times]], dtype=np.float64)
    rows = [np.insert(_patterns(times - first, m - 1), 0, first, axis=1) for first in range(times + 1)]
    return np.concatenate(rows)


def _simulated(P: Array, prior: Array, times: int, trials: int, rng: np.random.Generator | int | None) -> float:
    generator = rng if isinstance(rng, np.random.Generator) else np.random.default_rng(rng)
    x = generator.choice(len(prior), size=trials, p=prior)
    counts = np.array([generator.multinomial(times, P[v] / P[v].sum()) for v in x], dtype=np.float64)
    with np.errstate(divide="ignore"):
        log = np.log(prior) + counts @ np.maximum(np.log(P), -1e6).T
    return float((log.argmax(axis=1) == x).mean())


def _wrong(guess: Any, truth: ArrayLike) -> float:
    known = np.asarray(truth).reshape(-1)
    if known.shape != guess.shape:
        raise SfumatoError(f"truth must have {guess.size} entries, one per record, got {known.size} instead")
    return float((known != guess).mean())


def _nothing(prior: Array, truth: ArrayLike | None) -> float:
    if truth is None:
        return float(1 - prior.max())
    return _wrong(np.full(np.asarray(truth).size, prior.argmax()), truth)
