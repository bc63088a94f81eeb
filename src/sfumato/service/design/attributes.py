"""What becomes of each attribute under a scheme or forms: what an adversary learns, and how exact estimates will be."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.assess.breach import rho2
from sfumato.assess.precision import only_common
from sfumato.channels import Channel
from sfumato.channels.cells import Cells, cells, of_one
from sfumato.channels.response import Symmetric
from sfumato.channels.subset import Subset
from sfumato.design.candidates import expected, target_of
from sfumato.domains import Domain
from sfumato.errors import ChannelError, EstimationError
from sfumato.forms import Forms
from sfumato.scheme import Scheme
from sfumato.service.json_values import number

LEVEL = 0.95
SUSPICION = 0.1
_MOST_ENTRIES = 1 << 20  # of a matrix that is gone through
_MOST_INVERTED = 512  # values of sets whose matrix is inverted


Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Unit:
    """Attributes that are answered together in one form, and the share of the people who get that form."""

    names: tuple[str, ...]
    channel: Channel
    weight: float
    form: Scheme


def units(scheme: Scheme | Forms) -> list[Unit]:
    """Every group of every form; channels side by side count as groups of their own."""
    forms = scheme.forms if isinstance(scheme, Forms) else (scheme,)
    weights = scheme.weights if isinstance(scheme, Forms) else (1.0,)
    return [
        Unit(names, channel, weight, form)
        for form, weight in zip(forms, weights, strict=True)
        for group in form.groups
        for names, channel in group.channel.factors(group.names)
    ]


def attribute_facts(scheme: Scheme | Forms, n: int, by: str | None = None) -> Iterator[dict[str, Any]]:
    """The facts about every attribute, as ``documents.DesignedAttributeOut`` lists them."""
    found, cache = units(scheme), Widths()
    grouping = None if by is None or isinstance(scheme, Forms) else next(unit for unit in found if by in unit.names)
    for name, domain in scheme.schema.items():
        own = [unit for unit in found if name in unit.names]
        gamma = max(unit.channel.gamma for unit in own)
        width = joint_width(name, own, n, cache)
        values = domain.size if domain.listed else None
        counted = [unit for unit in own if not unit.channel.continuous]
        target = target_of(domain) if all(len(unit.names) == 1 for unit in own) else "shares"
        yield {
            "name": name,
            "kind": domain.kind,
            "values": values,
            "family": family(own[0].channel),
            "channel": str(own[0].channel),
            "asked": min(math.fsum(unit.weight for unit in own), 1.0),
            "gamma": number(gamma),
            "suspicion": rho2(gamma, SUSPICION),
            "guess": _guess(name, own) if len(counted) == len(own) else None,
            "blind": None if values is None else 1 / values,
            "target": target,
            "half_width": number(width),
            "within": None if grouping is None or grouping in own else number(width * group_factor(grouping)),
            "only_common": target == "shares" and values is not None and only_common(values, width),
        }


class Widths:
    """Half-widths through one channel from so many records, which many forms share."""

    def __init__(self) -> None:
        self._known: dict[Any, float] = {}

    def of(self, name: str, unit: Unit, n: int) -> float:
        domain, axis, records = unit.form.schema[name], unit.names.index(name), max(round(n * unit.weight), 1)
        key = unit.channel, axis, domain, records
        if key not in self._known:
            passing = _copied(unit.channel)  # for all that are asked together: it goes, and its matrix with it
            for other, one in enumerate(unit.names):
                own = unit.form.schema[one]
                self._known[unit.channel, other, own, records] = _width(passing, other, len(unit.names), own, records)
        return self._known[key]


def _copied(channel: Channel) -> Channel:
    """The channel without what it keeps: the matrices of a hundred forms would not do beside each other."""
    inner = of_one(channel)
    if not isinstance(inner, Subset):
        return channel
    return cells(replace(inner), channel.sizes) if isinstance(channel, Cells) else replace(inner)


def _width(channel: Channel, axis: int, together: int, domain: Domain, n: int) -> float:
    if domain.listed and domain.size == 1:
        return 0.0
    try:
        if together == 1:
            return expected(channel, target_of(domain), n, LEVEL, None, domain.nullable)
        return hardest_among(channel, axis, n)
    except (EstimationError, ChannelError):  # nothing can be estimated, or it would take too long
        return math.inf


def joint_width(name: str, own: list[Unit], n: int, cache: Widths | None = None) -> float:
    r"""The expected half-width of an attribute's hardest share from all forms that ask it, weighted by their precision.

    (sum_f 1 / h_f²)^(-1/2),      h_f the half-width from the records of form f
    """
    known = cache or Widths()
    if any(unit.channel.continuous for unit in own):
        return math.inf
    widths = [known.of(name, unit, n) for unit in own]
    if not all(widths):
        return 0.0
    told = math.fsum(1 / width**2 for width in widths)
    return math.inf if told == 0 else 1 / math.sqrt(told)


def hardest_among(channel: Channel, axis: int, n: int) -> float:
    r"""The expected half-width of the hardest share of one attribute among several that are asked together.

        z sqrt((max_v sum_y g_y² q_y - 1/4) / n),      g = Aᵀ [x_axis = v],      q = Pᵀ theta

    where theta gives one half to the cells with the value v, evenly, and one half to the others. Of many sets A is the
    even inverse, which needs no matrix.
    """
    from scipy.special import ndtri

    sizes = channel.sizes
    places, possible = np.indices(sizes)[axis].ravel(), _possible(channel)
    worst = 0.0
    for value in {0, sizes[axis] // 2, sizes[axis] - 1}:
        inside = places == value
        parts = [possible & inside, possible & ~inside]
        if not all(part.any() for part in parts):
            continue
        scores, released = _told(channel, inside, *parts)
        worst = max(worst, float(released @ scores**2) - 0.25)
    return float(ndtri((1 + LEVEL) / 2)) * math.sqrt(worst / n)


def _large(channel: Channel) -> bool:
    return isinstance(of_one(channel), Subset) and channel.k > _MOST_INVERTED


def _possible(channel: Channel) -> Mask:
    if _large(channel):
        return np.ones(channel.k, dtype=np.bool_)
    return np.asarray(channel.transition.apply(np.ones(channel.m)) > 0.5)


def _told(channel: Channel, inside: Mask, these: Mask, others: Mask) -> tuple[Array, Array]:
    """g and q of ``hardest_among``."""
    inner = of_one(channel)
    if isinstance(inner, Subset) and _large(channel):
        return _told_by_sets(inner, inside)
    theta = 0.5 * these / these.sum() + 0.5 * others / others.sum()
    return channel.inverse.T.apply(inside.astype(np.float64)), channel.transition.T.apply(theta)


def _told_by_sets(channel: Subset, inside: Mask) -> tuple[Array, Array]:
    r"""The same from the sets alone, by their even inverse (see ``geometry.even_inverse``): no matrix of doubles.

        g_y = (|S_y and V| - b |V|) / (a - b) + |V| s_y,      s_y = (1 - (|S_y| - b k) / (a - b)) / k

    where V are the cells with the value, a is the probability of a set that holds the true cell, and b that of one that
    holds a given other cell.
    """
    sets, k, gamma = channel.membership, channel.k, float(channel.bound)
    held, many, those = sets[inside].sum(axis=0), sets.sum(axis=0), int(inside.sum())
    count, together = int(sets[0].sum()), int((sets[0] & sets[1]).sum())
    low = 1 / (gamma * count + channel.m - count)
    a, b = gamma * low * count, low * (count + (gamma - 1) * together)
    scores = (held - b * those) / (a - b) + those * (1 - (many - b * k) / (a - b)) / k
    return scores, low * (1 + (gamma - 1) * (held / those + (many - held) / (k - those)) / 2)


def group_factor(unit: Unit) -> float:
    r"""By how much half-widths grow within one of equally large groups that a blurred answer tells apart.

        sqrt(max_g sum_y s_y² q_y) / pi,      s = Aᵀ [x = g],      q = Pᵀ (pi, ..., pi),      pi = 1 / groups

    The share of x in a group is a ratio, whose error is (s_x - share) s_g / pi. Its second moment is a product, because
    the two answers are blurred apart: that of s_x - share gives the half-width of everybody, that of s_g the factor.
    Where groups are known, s_g is 1 or 0, and the factor the square root of their number.
    """
    channel = unit.channel
    if len(unit.names) > 1 or channel.continuous or not channel.listed or channel.k * channel.m > _MOST_ENTRIES:
        return math.inf
    try:
        second = channel.inverse.power(2).apply(channel.transition.T.apply(np.full(channel.k, 1 / channel.k)))
    except (EstimationError, ChannelError):
        return math.inf
    return channel.k * math.sqrt(float(second.max()))


def _guess(name: str, own: list[Unit]) -> float | None:
    """How often the best guess at an attribute is right, all combinations being equally likely; None if too large."""
    size = own[0].form.schema[name].size
    right, asked = 0.0, 0.0
    known: dict[Any, float] = {}
    for unit in own:
        if not unit.channel.listed or unit.channel.k * unit.channel.m > _MOST_ENTRIES:
            return None
        key = unit.channel, unit.names.index(name)
        if key not in known:
            known[key] = float(_by_value(unit.channel, key[1]).max(axis=0).sum()) / unit.channel.k
        right, asked = right + unit.weight * known[key], asked + unit.weight
    return min(right + max(1 - asked, 0.0) / size, 1.0)


def _by_value(channel: Channel, axis: int) -> Array:
    """The matrix with the rows of one attribute's values added up."""
    P = channel.matrix.reshape(*channel.sizes, -1)
    return np.asarray(P.sum(axis=tuple(i for i in range(len(channel.sizes)) if i != axis)))


def family(channel: Channel) -> str:
    """What the family of a channel is called in a scheme."""
    inner = of_one(channel)
    if isinstance(inner, Symmetric) and inner.other == 0:
        return "identity"
    return inner.kind
