"""The adversary's best guess: how often it is right, and how well two true values can be told apart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Array
from sfumato.assess.amplification import gamma as gamma_of
from sfumato.assess.subject import Attribute, subject
from sfumato.errors import ChannelError
from sfumato.input_checks import check_number, check_numbers, given


def map_success(of: Any, prior: ArrayLike | None = None, *, attribute: Attribute = None) -> float:
    r"""How often the most likely true value given the answer is the true one: sum_y max_x Pr(x) P[x, y].

    >>> map_success([[1.0, 0.0], [0.99, 0.01]])
    0.505
    """
    return float(subject(of, prior, attribute).joint.max(axis=0).sum())


@dataclass(frozen=True)
class Roc:
    """How well the best test tells x from other: true against false alarms, and the bound that gamma alone gives."""

    x: int
    other: int
    false: Array
    true: Array
    gamma: float

    @property
    def auc(self) -> float:
        """The chance that the test ranks a record that is x above one that is not: 1/2 is blind, 1 is certain."""
        return float(np.trapezoid(self.true, self.false))

    @property
    def advantage(self) -> float:
        """The largest gap between true and false alarms: the total variation between the two rows."""
        return float((self.true - self.false).max())

    def bound(self, false: ArrayLike | None = None) -> Array:
        """The most true alarms that any channel with this gamma allows."""
        return roc_bound(self.gamma, self.false if false is None else false)


def roc(of: Any, x: int | None = None, other: int | None = None, *, attribute: Attribute = None) -> Roc:
    """The Neyman-Pearson curve between two true values; without names, of the two that are told apart best.

    >>> curve = roc([[0.75, 0.25], [0.25, 0.75]])
    >>> curve.auc, curve.advantage
    (0.75, 0.5)
    """
    seen = subject(of, None, attribute)
    P = seen.P
    k = len(P)
    if (x is None) != (other is None):
        raise ChannelError("roc takes both x and other, or neither")
    if x is None or other is None:
        x, other = _furthest(P, seen.prior > 0)
    for name, code in (("x", x), ("other", other)):
        if isinstance(code, bool) or not isinstance(code, int | np.integer) or not 0 <= code < k:
            raise ChannelError(f"{name} must be a code in [0, {k - 1}], got {given(code)} instead")
        if seen.prior[code] == 0:
            raise ChannelError(f"{name} must be a possible value, got {code}: the channel rules this combination out")
    ratio = np.divide(P[x], P[other], out=np.full(P.shape[1], np.inf), where=P[other] > 0)
    order = np.argsort(-ratio, kind="stable")
    true = np.concatenate(([0.0], np.cumsum(P[x][order])))
    false = np.concatenate(([0.0], np.cumsum(P[other][order])))
    return Roc(int(x), int(other), np.minimum(false, 1.0), np.minimum(true, 1.0), gamma_of(of, attribute))


def roc_bound(gamma: float, false: ArrayLike) -> Array:
    r"""True alarms at a rate of false ones, under gamma alone: min(gamma f, 1 - (1 - f) / gamma)  (Kairouz et al. 2015).

    >>> roc_bound(3, [0.0, 0.25, 1.0])
    array([0.  , 0.75, 1.  ])
    """  # noqa: E501
    check_number(ChannelError, "gamma", gamma)
    f = check_numbers(ChannelError, "false", false)
    if gamma == math.inf:
        return np.ones_like(f)
    return np.minimum(gamma * f, 1 - (1 - f) / gamma)


def _furthest(P: Array, possible: Any) -> tuple[int, int]:
    best, pair = -1.0, (0, min(1, len(P) - 1))
    rows = np.flatnonzero(possible)
    for x in rows:
        gaps = np.abs(P[rows] - P[x]).sum(axis=1) / 2
        if gaps.max() > best + 1e-12:
            best, pair = float(gaps.max()), (int(x), int(rows[gaps.argmax()]))
    return pair
