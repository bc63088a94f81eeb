"""What each released code counts in a mean, and how precise the mean will be."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Array
from sfumato.channels.average import Average
from sfumato.channels.base import Channel

_MEANS = 41  # means at which the worst distribution is sought
_MOST_PAIRS = 101  # values whose pairs are tried


def scores(channel: Channel, values: ArrayLike) -> Array:
    r"""g with sum_y P[x, y] g_y = values[x]: the mean of g over released records is unbiased for that of the values.

    One value a code, 0 for "no answer" where a sum over those who answered is meant. Under ``average`` equally spaced
    values have the scores that it was designed for. Otherwise g = Aᵀ values, A the left inverse.

    >>> from sfumato.channels import symmetric
    >>> scores(symmetric(3, 0.3), [0, 1, 2]).round(3).tolist()
    [-0.818, 1.0, 2.818]
    """
    wanted = np.asarray(values, dtype=np.float64)
    if isinstance(channel, Average):
        answers = wanted[: channel.values]
        step = (answers[-1] - answers[0]) / (channel.values - 1)
        spaced = answers[0] + step * np.arange(channel.values)
        scale = max(float(np.abs(answers).max()), 1e-300)
        if np.abs(answers - spaced).max() <= 1e-9 * scale and (not channel.nullable or wanted[-1] == 0):
            middle, half = (answers[0] + answers[-1]) / 2, (answers[-1] - answers[0]) / 2
            return np.asarray(middle * channel.answered + half * channel.scores)
    return np.asarray(channel.inverse.T.apply(wanted))


def mean_variance(channel: Channel, prior: ArrayLike | None = None, nullable: bool = False) -> float:
    r"""n times the variance of the mean of equally spaced values in [0, 1], by its scores, from n records.

    Of a nullable attribute the mean of those who answer: the sum of their scores over that of the answers. Without a
    prior the largest that any distribution has, sought among all pairs of values: at a mean m it is the largest chord
    over m of the second moments of score - m (answer).
    """
    k = channel.k - nullable
    x = np.linspace(0, 1, k)
    codes = np.append(x, 0.0) if nullable else x
    value, answer = scores(channel, codes), _answers(channel, nullable)
    P = channel.transition
    if prior is not None:
        shares = np.asarray(prior, dtype=np.float64)
        answered = float(shares[:k].sum())
        mean = float(shares[:k] @ x) / answered
        return float(shares @ P.apply((value - mean * answer) ** 2)) / answered**2
    places = np.unique(np.linspace(0, k - 1, min(k, _MOST_PAIRS)).round().astype(np.int64))
    at = x[places]
    worst = 0.0
    for mean in np.linspace(0, 1, _MEANS):
        second = P.apply((value - mean * answer) ** 2)[places]
        low, high = at <= mean + 1e-12, at >= mean - 1e-12
        a, b = at[low][:, None], at[high][None, :]
        share = np.divide(mean - a, b - a, out=np.zeros((low.sum(), high.sum())), where=b > a)
        worst = max(worst, float(((1 - share) * second[low][:, None] + share * second[high][None, :]).max()))
    return worst


def _answers(channel: Channel, nullable: bool) -> Array:
    """The scores of having answered."""
    if not nullable:
        return np.ones(channel.m)
    if isinstance(channel, Average):
        return channel.answered
    return np.asarray(channel.inverse.T.apply(np.append(np.ones(channel.k - 1), 0.0)))
