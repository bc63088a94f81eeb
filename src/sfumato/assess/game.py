"""Privacy as a game between the data providers and a rational miner (Zhang et al. 2004, section 5)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Array
from sfumato.assess.amplification import gamma as gamma_of
from sfumato.assess.subject import Attribute, Subject, channel_of, noise_of, subject
from sfumato.channels.valid import ValidSymmetric
from sfumato.errors import SfumatoError
from sfumato.input_checks import check_number, check_numbers

_ROUNDING = 1e-12  # of two payoffs that differ by less than this, relatively, none is the better one


@dataclass(frozen=True)
class Game:
    """The miner's best reply to a channel: for each answer the value to guess, or None to abstain, and its gain."""

    guesses: tuple[int | None, ...]
    gains: Array  # expected, each already weighted by how often the answer occurs

    @property
    def value(self) -> float:
        """l_p(R): what the providers expect, minus what the miner gains. 0 means that intrusion does not pay."""
        return 0.0 - float(self.gains.sum())

    @property
    def intrudes(self) -> bool:
        """Whether some answer makes the miner act."""
        return any(guess is not None for guess in self.guesses)


def game(
    of: Any,
    prior: ArrayLike | None = None,
    *,
    benefit: float = 1.0,
    loss: float = 0.0,
    payoff: ArrayLike | None = None,
    attribute: Attribute = None,
) -> Game:
    r"""The miner's best reply: for each answer, the guess that pays best, or none where every guess loses.

        l_p(R) = - sum_y Pr(y) max(0, max_g sum_x Pr(x | y) payoff[x, g])

    ``payoff[true, guessed]`` is by default the benefit where they agree and minus the loss where they do not.

    >>> game([[0.7, 0.3], [0.3, 0.7]], loss=5).guesses
    (None, None)
    """
    seen = subject(of, prior, attribute)
    if payoff is None:
        return _right_or_wrong(seen, benefit, loss)
    return _best_reply(seen, _payoff(payoff, benefit, loss, len(seen.prior)))


def game_value(of: Any, prior: ArrayLike | None = None, **how: Any) -> float:
    """l_p(R) of Zhang et al. (2004), Definition 2: the providers' payoff against the best reply, at most 0.

    It takes what ``game`` takes.

    >>> game_value([[1.0, 0.0], [0.99, 0.01]], loss=5)
    -0.005
    """
    return game(of, prior, **how).value


def game_curve(
    of: Any, losses: ArrayLike, prior: ArrayLike | None = None, *, benefit: float = 1.0, attribute: Attribute = None
) -> Array:
    """l_p(R) as the loss from a wrong guess grows: where it reaches 0, intrusion stops paying."""
    seen = subject(of, prior, attribute)
    each = check_numbers(SfumatoError, "losses", losses).reshape(-1)
    return np.array([_right_or_wrong(seen, benefit, float(loss)).value for loss in each])


def crossing(
    first: Any, second: Any, prior: ArrayLike | None = None, *, most: float = 1e6, benefit: float = 1.0
) -> float | None:
    """The smallest ratio of loss to benefit at which two channels protect equally; None if one is always better.

    >>> round(crossing([[0.7, 0.3], [0.3, 0.7]], [[1.0, 0.0], [0.99, 0.01]]), 5)
    2.31667
    """
    for name, value in (("most", most), ("benefit", benefit)):
        check_number(SfumatoError, name, value)
    one, two = subject(first, prior), subject(second, prior)
    if len(one.prior) != len(two.prior):
        raise SfumatoError(
            f"both channels must have the same true values, got {len(one.prior)} and {len(two.prior)} of them"
        )
    # both payoffs are linear in the loss between the points where some answer stops paying
    cuts = np.unique(np.concatenate(([0.0], _stops(one, benefit), _stops(two, benefit))))
    cuts = np.append(cuts[cuts < most], most)
    values = np.array([[_right_or_wrong(seen, benefit, float(cut)).value for seen in (one, two)] for cut in cuts])
    gaps = values[:, 0] - values[:, 1]
    gaps[np.abs(gaps) <= _ROUNDING * np.abs(values).max(axis=1)] = 0.0
    pays = values.min(axis=1) < 0  # where guessing pays against neither, no channel is the better one
    for i, (left, right, a, b) in enumerate(zip(cuts[:-1], cuts[1:], gaps[:-1], gaps[1:], strict=True)):
        if a == 0 and pays[i]:
            return float(left / benefit)
        if a * b < 0:
            return float((left + (right - left) * a / (a - b)) / benefit)
    return None


def no_intrusion(of: Any, p_max: float, sigma: float, *, attribute: Attribute = None) -> bool:
    r"""Whether Theorem 2 guarantees l_p(R) = 0: gamma <= (1 - p_max) / (sigma p_max).

    ``p_max`` is the highest prior probability of any true value, ``sigma`` the miner's benefit from a right guess
    divided by the loss from a wrong one. Answers that never occur do not count.

    >>> no_intrusion([[0.7, 0.3], [0.3, 0.7]], p_max=0.5, sigma=0.2)
    True
    """
    limit = gamma_for_no_intrusion(p_max, sigma)
    if noise_of(of, attribute) is None:
        channel = channel_of(of, attribute)
        k = len(channel.combinations) if isinstance(channel, ValidSymmetric) else channel.k
        if p_max < (1 - 1e-9) / k:
            raise SfumatoError(f"p_max must be at least 1/{k}, got {p_max}: {k} values share the whole")
    return gamma_of(of, attribute) <= limit


def gamma_for_no_intrusion(p_max: float, sigma: float) -> float:
    """The largest gamma under which intrusion cannot pay (Zhang et al. 2004, Theorem 2); below 1 nothing guarantees it.

    >>> gamma_for_no_intrusion(0.5, 0.2)
    5.0
    """
    _number("p_max", p_max)
    _number("sigma", sigma)
    if not 0 < p_max <= 1:
        raise SfumatoError(f"p_max must lie in (0, 1], got {p_max} instead")
    if not sigma > 0:
        raise SfumatoError(f"sigma must be positive, got {sigma}: it is the benefit divided by the loss of the miner")
    return (1 - p_max) / (sigma * p_max) if sigma < math.inf else 0.0


def _best_reply(seen: Subject, payoff: Array) -> Game:
    expected = payoff.T @ seen.joint  # guess by answer, weighted by Pr(y)
    best = expected.argmax(axis=0)
    gains = expected[best, np.arange(len(best))]
    # a guess that pays nothing is not made; neither is one that pays only a rounding error of what was summed
    summed = (np.abs(payoff).T @ seen.joint)[best, np.arange(len(best))]
    return _game(best, gains, summed)


def _right_or_wrong(seen: Subject, benefit: float, loss: float) -> Game:
    """The best reply where a right guess brings the benefit and any wrong one costs the loss: the likeliest value."""
    _stakes(benefit, loss)
    best = seen.joint.argmax(axis=0)
    right = benefit * seen.joint[best, np.arange(len(best))]
    wrong = loss * np.maximum(seen.released - seen.joint[best, np.arange(len(best))], 0.0)
    return _game(best, right - wrong, right + wrong)


def _game(best: Any, gains: Array, summed: Array) -> Game:
    acts = gains > 4 * np.finfo(np.float64).eps * summed
    return Game(tuple(int(g) if a else None for g, a in zip(best, acts, strict=True)), np.where(acts, gains, 0.0))


def _stops(seen: Subject, benefit: float) -> Array:
    """The losses at which each answer's best guess stops paying: benefit p / (1 - p), p its posterior."""
    top = seen.posterior.max(axis=0)[seen.seen]
    return np.asarray(benefit * top[top < 1] / (1 - top[top < 1]))


def _payoff(payoff: ArrayLike, benefit: float, loss: float, k: int) -> Array:
    if benefit != 1.0 or loss != 0.0:
        raise SfumatoError("payoff says what every guess brings: give it, or benefit and loss, but not both")
    try:
        table = np.asarray(payoff, dtype=np.float64)
    except (TypeError, ValueError):
        raise SfumatoError("payoff must be a table of numbers, a row for each true value") from None
    if table.ndim != 2 or table.shape[0] != k or not table.size:
        raise SfumatoError(f"payoff must have a row for each of the {k} true values, got shape {table.shape}")
    if not np.isfinite(table).all():
        raise SfumatoError(f"payoff must hold finite numbers, got {table[~np.isfinite(table)][0]} instead")
    return table


def _stakes(benefit: float, loss: float) -> None:
    _number("benefit", benefit)
    _number("loss", loss)
    if not (benefit > 0 and math.isfinite(benefit)):
        raise SfumatoError(f"benefit must be positive and finite, got {benefit} instead")
    if not (loss >= 0 and math.isfinite(loss)):
        raise SfumatoError(f"loss must be a finite number of at least 0, got {loss}: give what a wrong guess costs")


def _number(name: str, value: Any) -> None:
    if isinstance(value, bool | str) or not isinstance(value, int | float | np.number):
        raise SfumatoError(f"{name} must be a number, got {value!r} instead")
