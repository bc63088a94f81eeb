"""What a channel leaves to estimate from: the best covariance through it, and the share of the sample it is worth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sfumato.arrays import Array
from sfumato.channels.base import Channel
from sfumato.channels.hyperplanes import Hyperplanes, share_variance
from sfumato.channels.longitudinal import Longitudinal
from sfumato.channels.prefixes import Prefixes
from sfumato.channels.response import Symmetric
from sfumato.channels.subset import Subset, spread
from sfumato.channels.windows import Windows, windows
from sfumato.errors import EstimationError
from sfumato.input_checks import check_word

#: What is to be estimated: the share of every value, the running shares of ordered ones, or their mean.
TARGETS = ("shares", "cdf", "mean")
_DENSE = 512  # values up to which subset selection is weighed by its matrix, and not by its design
_SINGULAR = 1e-12


def best_covariance(P: Array, prior: Array) -> Array:
    r"""n times the covariance of the best estimate of the shares theta, from records randomized by P.

        (P diag(1 / Pᵀ theta) Pᵀ)^-1 - theta thetaᵀ

    The inverse Fisher information on the simplex; with the identity channel diag(theta) - theta thetaᵀ.
    """
    released = prior @ P
    seen = released > 0
    # a value that would show in answers that never occur is known to be absent: its share has no variance
    possible = (P.sum(axis=1) > 0.5) & (P[:, ~seen].sum(axis=1) == 0)
    root = P[np.ix_(possible, seen)] / np.sqrt(released[seen])
    scale = np.linalg.norm(root, axis=1)  # shares near zero make large entries, which hinder nobody
    gram = (root / scale[:, None]) @ (root / scale[:, None]).T
    spectrum = np.linalg.eigvalsh(gram)
    if spectrum[0] < _SINGULAR * spectrum[-1]:
        raise EstimationError(
            "the shares cannot be estimated: different true distributions give the same released one"
            + ("; give a prior without zeros" if (prior[possible] == 0).any() else "")
        )
    out = np.zeros((len(P), len(P)))
    out[np.ix_(possible, possible)] = np.linalg.inv(gram) / np.outer(scale, scale)
    return np.asarray(out - np.outer(prior, prior))


def even_prior(k: int, nullable: bool = False) -> Array:
    """Every value equally likely. Nobody knows how many will not answer: "no answer", the last code, gets no share."""
    return np.append(np.full(k - 1, 1 / (k - 1)), 0.0) if nullable and k > 2 else np.full(k, 1 / k)


def target_map(prior: Array, target: str = "shares", nullable: bool = False) -> Array:
    r"""The matrix C for which C V Cᵀ is the covariance of the target, V that of the shares of all codes.

    The identity for "shares", running sums for "cdf", for "mean" the values scaled to [0, 1] in one row. Where the last
    code is "no answer" all speak of those who answered: theta_x / A with A their share, whose derivative is
    (e_x - theta_x / A) / A. (With a single value there is nothing but the share of answers to estimate.)
    """
    check_word(EstimationError, "target", target, TARGETS)
    k = len(prior)
    C = np.eye(k)
    if nullable and k > 2:
        answered = 1 - prior[-1]
        if answered <= 0:
            raise EstimationError("the prior says that nobody answers: there is nothing to estimate")
        C = (np.eye(k)[:-1] - np.outer(prior[:-1] / answered, np.arange(k) < k - 1)) / answered
    if target == "mean":
        return np.linspace(0, 1, len(C))[None, :] @ C if len(C) > 1 else C
    return np.asarray(np.cumsum(C, axis=0) if target == "cdf" else C)


def efficiency(P: Array, prior: Array, target: str = "shares", nullable: bool = False) -> float:
    r"""The share r of n for which r n unrandomized records estimate the target as well as n randomized ones do.

        r = trace(C (diag theta - theta thetaᵀ) Cᵀ) / trace(C V Cᵀ)

    V is the best covariance through P, and C = I for "shares", the running sums for "cdf", the values for "mean" (see
    ``target_map``).

    >>> round(efficiency(np.array([[0.7, 0.3], [0.3, 0.7]]), np.array([0.5, 0.5])), 6)
    0.16
    """
    C = target_map(prior, target, nullable)
    through, direct = (float(np.sum((C @ V) * C)) for V in (best_covariance(P, prior), _direct(prior)))
    if direct <= 0:
        raise EstimationError("the prior puts everything on one value: there is nothing to estimate")
    return direct / through


def _direct(prior: Array) -> Array:
    return np.asarray(np.diag(prior) - np.outer(prior, prior))


def even_efficiency(channel: Channel, target: str = "shares", nullable: bool = False) -> float:
    """The efficiency when all values are equally likely (see ``even_prior``); 0 where nothing can be estimated.

    Channels that treat all values alike keep the same share for either target: the symmetric one the square of
    keep - other, a design what its counts say.

    >>> from sfumato.channels import symmetric, windows
    >>> round(even_efficiency(symmetric(20, gamma=95), "cdf"), 3), round(even_efficiency(windows(20, 95), "cdf"), 3)
    (0.68, 0.547)
    """
    k = channel.k
    if isinstance(channel, Prefixes):  # of a text that a tenth of the people have, which the last question tells of
        k, kept = channel.channel.k, even_efficiency(channel.channel)
        return channel.shares[-1] / (1 + (1 - 1 / k) / k / kept / 0.09) if kept > 0 else 0.0
    if isinstance(channel, Symmetric) and (not nullable or k > _DENSE):
        return float((1 - channel.p - channel.p / (k - 1)) ** 2) if k > 1 else 1.0
    if isinstance(channel, Hyperplanes) and k > _DENSE:
        return (1 - 1 / k) / k / share_variance(k, channel.space, float(channel.bound))
    if isinstance(channel, Longitudinal) and k > _DENSE:
        return (1 - 1 / k) / k / channel.share_variance
    if isinstance(channel, Subset) and k > _DENSE:
        inside = channel.membership
        together = float((inside[0] & inside[1]).sum())
        wide = spread(k, inside.shape[1], float(inside[0].sum()), together, float(channel.bound))
        return (1 - 1 / k) / k / wide
    if isinstance(channel, Windows) and k > _DENSE:  # the same windows over fewer, wider bins
        channel, k = _coarser(channel), _DENSE + channel.nullable
    if isinstance(channel, Subset):
        channel = replace(channel)  # a copy: its matrix goes with it, where those of a hundred forms would stay
    try:
        return efficiency(channel.transition.dense(), even_prior(k, nullable), target, nullable)
    except EstimationError:
        return 0.0


def _coarser(channel: Windows) -> Windows:
    """The same windows over fewer, wider bins."""
    fewer = _DENSE
    if channel.as_chosen:
        return windows(fewer, float(channel.bound), nullable=channel.nullable)
    often: dict[int, int] = {}
    for width, part in zip(channel.widths, channel.mix or [1] * len(channel.widths), strict=True):
        rounded = max(1, round(width * fewer / channel.values))
        often[rounded] = often.get(rounded, 0) + part
    return Windows(fewer, channel.bound, tuple(often), channel.nullable, tuple(often.values()))
