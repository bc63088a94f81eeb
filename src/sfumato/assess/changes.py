"""What changed answers disclose: under a key an answer stays while the value stays, so a new one tells of a change."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.assess.subject import Attribute, channel_of
from sfumato.channels import Channel
from sfumato.channels.longitudinal import Longitudinal
from sfumato.channels.product import Product
from sfumato.errors import ChannelError

_ENTRIES = 1 << 22  # of a matrix that is compared row by row
_SOME = 5  # values that are compared with all others where they are too many


@dataclass(frozen=True)
class Changes:
    """How a change of a value shows in keyed answers of two rounds, and in any number of rounds."""

    least: float  # the probability that the answer differs from the round before, of the change that shows least
    most: float  # the same of the change that shows most
    without: float  # the probability that the answer differs although the value is the same
    ever: float  # the most with which a change can be seen in any number of rounds before and after it

    @property
    def odds(self) -> float:
        """By how much a new answer raises the odds that the value is new: infinite where nothing else explains it."""
        return math.inf if self.without == 0 < self.most else self.most / self.without if self.without else 1.0

    def __str__(self) -> str:
        shown = f"{self.least:.3g}" if self.most - self.least < 5e-4 else f"{self.least:.3g} to {self.most:.3g}"
        return f"a change shows in {shown} of the cases, and {self.without:.3g} look changed that are not"


def changes(of: Any, attribute: Attribute = None) -> Changes:
    r"""What a miner sees of a change from x to x' in the keyed answers of one person.

        Pr(answer differs) = 1 - Σ_y P[x, y] P[x', y],     0 where the value is the same

    So a new answer proves a new value, though not which. A longitudinal channel hides changes: the answer differs
    with probability 1 - Σ_z Q2[r, z]² although the value is the same; with probability c the hash puts both values into
    one class, and then nothing changes; otherwise it differs with probability 1 - Σ_z Q[0, z] Q[1, z]. Many rounds show
    the permanent answers themselves: at most (1 - c)(1 - Σ_z Q1[0, z] Q1[1, z]) of the changes are ever seen.

    >>> from sfumato import channels as c
    >>> print(changes(c.symmetric(10, gamma=3)))
    a change shows in 0.903 of the cases, and 0 look changed that are not
    >>> weekly = changes(c.longitudinal(10, gamma=3, lifetime=81, classes=2))
    >>> print(weekly)
    a change shows in 0.476 of the cases, and 0.305 look changed that are not
    >>> round(weekly.ever, 3)
    0.437
    """
    channel = channel_of(of, attribute)
    if not channel.listed:
        raise ChannelError("free text has too many values to compare their answers: ask for another attribute")
    if channel.k == 1:
        return Changes(0.0, 0.0, 0.0, 0.0)
    if isinstance(channel, Longitudinal):
        return _longitudinal(channel)
    alike = _meetings(channel)
    least, most = (float(min(max(1 - share, 0.0), 1.0)) for share in (alike.max(), alike.min()))
    return Changes(least, most, 0.0, most)


def _longitudinal(channel: Longitudinal) -> Changes:
    apart = 1 - float(channel.shared)
    again, first = channel.repeated.matrix, channel.permanent.matrix
    without = 1 - float(again[0] @ again[0])
    both = first @ again
    differs = apart * (1 - float(both[0] @ both[1])) + (1 - apart) * without
    ever = apart * (1 - float(first[0] @ first[1]))
    return Changes(differs, differs, without, ever)


def _meetings(channel: Channel) -> Array:
    """Σ_y P[x, y] P[x', y] of pairs of different values: of all, or of some with all others."""
    if isinstance(channel, Product):  # one attribute of a group that changes shows least, all of them show most
        parts = [part for part in channel.channels if part.k > 1]  # a single value cannot change
        found = [_meetings(part) for part in parts]
        same = [max(float(_row_meetings(part, x)[x]) for x in _chosen(part)) for part in parts]
        whole = math.prod(same)
        single = max(whole / own * float(each.max()) for own, each in zip(same, found, strict=True))
        return np.array([single, math.prod(float(each.min()) for each in found)])
    if channel.k * channel.m <= _ENTRIES:
        P = channel.matrix
        P = P[P.sum(axis=1) > 0.5]  # combinations that are impossible have empty rows
        return np.asarray((P @ P.T)[~np.eye(len(P), dtype=bool)])
    return np.concatenate([np.delete(_row_meetings(channel, x), x) for x in _chosen(channel)])


def _chosen(channel: Channel) -> list[int]:
    return [int(x) for x in np.unique(np.linspace(0, channel.k - 1, _SOME).astype(np.int64))]


def _row_meetings(channel: Channel, x: int) -> Array:
    one = np.zeros((channel.k, 1))
    one[x] = 1
    return channel.transition.apply(channel.transition.T.apply(one))[:, 0]
