"""The smoothed distribution of each group behind unbiased answers, where there may be one, and where it is belied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from sfumato.arrays import Array
from sfumato.channels.average import Average
from sfumato.channels.base import Channel
from sfumato.channels.response import is_identity
from sfumato.evidence.asked_parts import asking
from sfumato.evidence.density.smooth import Smooth, smooth
from sfumato.evidence.questions.forms import Ratios
from sfumato.evidence.questions.statistics import ModelSums, Statistic, Sums
from sfumato.evidence.seen import Seen, seen

if TYPE_CHECKING:
    from sfumato.evidence.questions.asked import Asked

#: Fewer values are told one by one: grades and scales have heaps of their own.
SMOOTH_FROM = 10
#: So many standard deviations between a smoothed running share and the unbiased one are no noise.
HEAPED = 3.5


def smoothed_groups(asked: Asked, name: str) -> list[Smooth | None] | None:
    """The smoothed distribution of each group, where neighbours may be taken to resemble each other; else None.

    Asked are many values in order that pass a channel of their own, and groups in the clear. Nothing is smoothed that
    was released as it is, nor where only means are told.
    """
    domain, attributes = asked.ev.schema[name], asked.attributes
    k = domain.size - domain.nullable
    if not domain.ordered or domain.rounds or k < SMOOTH_FROM or getattr(asked.ev, "weights", None) is not None:
        return None
    parts = [part for part in asking(asked.ev.release, attributes) if len(part)]
    if (
        asked.ev.smoothed
        or not asked.ev.release.whole
        or any(set(part.scheme.noises) & set(attributes) for part in parts)
    ):
        return None
    for part in parts:
        own = part.scheme.group(name).channel
        if own.arity != 1 or is_identity(own) or isinstance(own, Average) or not own.invertible:
            return None
        others = [part.scheme.group(other) for other in attributes if other != name]
        if any(len(one.names) > 1 or not is_identity(one.channel) for one in others):
            return None
    tables = [(one, _by_attribute(one)) for one in seen(asked.ev.release, attributes, inverted=False)]
    channels = [cast(Channel, one.blocks[[b.names for b in one.blocks].index((name,))].channel) for one, _ in tables]
    found: list[Smooth | None] = []
    for group in range(len(asked.groups.labels)):
        member = asked.groups.statistic(group, {})
        counts = [_of_group(table, one, member, name) for one, table in tables]
        some = sum(float(own.sum()) for own in counts) > 0
        found.append(smooth(counts, channels, nullable=domain.nullable) if some else None)
    return found


def heaped(sums: Sums | ModelSums, per: int, k: int, groups: Sequence[Smooth | None]) -> bool:
    """Whether smoothed running shares are further from the unbiased ones than noise explains, anywhere.

    ``sums`` are running sums, ``per`` of each group, the first ``k`` of them up to each value.
    """
    rows = len(groups)
    top = per * np.repeat(np.arange(rows), k) + np.tile(np.arange(k), rows)
    form = Ratios(top, per * np.repeat(np.arange(rows), k) + k - 1, np.zeros(len(top)), np.ones(len(top)))
    S, C = sums.finite()
    slopes = np.nan_to_num(form.jacobian(S))
    sd = np.sqrt(np.maximum(np.einsum("ri,ri->r", slopes @ C, slopes), 0.0))
    smoothed = np.concatenate([np.full(k, np.nan) if one is None else one.cdf for one in groups])
    unbiased = S[top] / np.maximum(S[form.bottom], 1e-9)
    return bool((np.abs(smoothed - unbiased) > HEAPED * sd + 1e-9).any())


def _by_attribute(one: Seen) -> Array:
    return np.asarray(one.counts, dtype=np.float64).reshape([block.released for block in one.blocks])


def _of_group(table: Array, one: Seen, member: Statistic, name: str) -> Array:
    """The released counts of the attribute among the records of a group."""
    for axis in range(len(one.blocks) - 1, -1, -1):
        other = one.blocks[axis].names[0]
        if other != name:
            inside = np.asarray(member.get(other, np.ones(one.blocks[axis].released))) > 0
            table = np.compress(inside, table, axis=axis).sum(axis=axis)
    return table
