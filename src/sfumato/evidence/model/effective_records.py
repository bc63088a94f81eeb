"""How much of a record a channel leaves: the share of clean records that randomized ones are worth."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from sfumato.channels import Channel
from sfumato.errors import ChannelError, UnrecoverableWarning, warn
from sfumato.evidence.model.tuning import ENOUGH
from sfumato.printable import many
from sfumato.release import Release
from sfumato.scheme import Scheme


def retention(channel: Channel) -> float:
    r"""a², the mean square of the channel's singular values besides the trivial one, for a uniform input.

        symmetric(k, p):   a = 1 - p k / (k - 1)

    >>> from sfumato.channels import symmetric
    >>> round(retention(symmetric(3, 0.3)), 4)
    0.3025
    """
    P = channel.transition.dense()
    if P.shape[0] == 1:
        return 1.0
    q = P.mean(axis=0)
    scaled = P / np.sqrt(np.where(q > 0, q, 1.0)) / np.sqrt(len(P))
    values = np.linalg.svd(scaled, compute_uv=False)
    return float((values[1 : len(P)] ** 2).mean())


def attribute_retention(scheme: Scheme, name: str) -> float:
    """The retention of one attribute, through its group's marginal channel where there is one."""
    group = scheme.group(name)
    try:
        return retention(group.channel.marginal([group.names.index(name)]))
    except ChannelError:
        return retention(group.channel)


def pair_retention(scheme: Scheme, one: str, other: str) -> float:
    """What is left of a pair: the product of both, the pair's own where one channel treats them, 0 if not asked."""
    if one not in scheme.schema or other not in scheme.schema:
        return 0.0
    group = scheme.group(one)
    if other in group.names and len(group.channel.outputs) < len(group.names):
        return retention(group.channel)
    return attribute_retention(scheme, one) * attribute_retention(scheme, other)


def left_to_learn_from(release: Release, names: Sequence[str], target: str | None) -> float:
    """N · a_class² · median over the others of a_j², summed over the parts of a release.

    Where not everybody is asked everything: the median over the pairs (with the class, if there is one) of the same
    sum.
    """
    if not release.whole and len(names) > 1:
        pairs = combinations(names, 2) if target is None else ((target, name) for name in names if name != target)
        sized = [(len(part), part.scheme) for part in release.parts]
        return float(np.median([sum(n * pair_retention(scheme, *pair) for n, scheme in sized) for pair in pairs]))
    total = 0.0
    for part in (part for part in release.parts if all(name in part.scheme.schema for name in names)):
        kept = {name: attribute_retention(part.scheme, name) for name in names}
        own = kept.pop(target) if target is not None else float(np.median(list(kept.values())))
        total += len(part) * own * float(np.median(list(kept.values()))) if kept else len(part) * own
    return total


def warn_if_too_little(left: float, records: int) -> None:
    """Say so where fewer than five effective records are left."""
    if left < ENOUGH:
        warn(
            f"{many(records, 'record')} at this randomization {'is' if records == 1 else 'are'} worth {left:.2g} clean "
            f"ones, fewer than {ENOUGH:g}: too little is left to train on",
            UnrecoverableWarning,
            stacklevel=5,
        )
