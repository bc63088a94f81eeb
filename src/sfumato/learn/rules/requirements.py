"""What it would take: the records, or the gamma, with which sets and rules of the asked strength could be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf

import numpy as np

from sfumato.errors import SfumatoError
from sfumato.evidence import Evidence
from sfumato.evidence.blocks import blocks
from sfumato.evidence.simplex import project
from sfumato.learn.rules.apriori import Itemset
from sfumato.learn.rules.items import Item
from sfumato.learn.rules.limits import quantile
from sfumato.learn.rules.measures import Candidates
from sfumato.learn.rules.supports import Supports
from sfumato.schema import Schema
from sfumato.scheme import Scheme

_GAMMAS = np.geomspace(1.25, 10_000.0, 120)


@dataclass(frozen=True)
class Requirement:
    """Either of these would do: so many records under the present scheme, or this gamma with the present records."""

    records: int
    gamma: float | None

    def __str__(self) -> str:
        out = f"about {self.records:,} records"
        return out if self.gamma is None else f"{out}, or gamma {self.gamma:.3g} for every attribute"


def no_sets(
    source: Evidence,
    supports: Supports,
    known: Mapping[Itemset, tuple[float, float, float]],
    size: int,
    least: float,
    level: float,
) -> str:
    """Why no set of this size is reported, and what it would take to tell one of twice the asked support."""
    held = min(2 * least, (1 + least) / 2)
    wanted = (held - least) / quantile(level, 1 / len(known))
    own = sorted((items for items in known if len(items) == size), key=lambda items: known[items][1])
    typical = own[len(own) // 2] if own else _likely(known, size)
    said = f"no set of {size} item{'s' * (size > 1)} is sure to have a support of {least:g}"
    if typical is None:
        return f"{said}: there are fewer than {size} attributes"
    sd = float(np.sqrt(supports.estimate(typical)[1]))
    if sd <= wanted:
        best = max((known[items][0] for items in own), default=0.0)
        return f"{said}, though these data would show one of {held:g}: the largest is estimated at {max(best, 0):.3g}"
    return (
        f"{said} from {source.n:,} records through these channels; to tell one that {held:g} of the records hold "
        f"takes {requirement(source, typical, held, sd, wanted)}"
    )


def no_rules(source: Evidence, candidates: Candidates, least: float, level: float) -> str:
    """Why no rule is reported, and what it would take to tell the nearest."""
    low = candidates.limits(quantile(level, 1 / len(candidates)))[0]
    found = np.minimum(candidates.confidence, 1.0)
    said = f"no rule is sure to have a confidence of {least:g}"
    over = found > least + 1e-9
    if not over.any():
        return f"{said}: the largest is estimated at {found.max():.3g}"
    shrinkage = np.where(over, (found - low) / np.where(over, found - least, 1.0), np.inf)
    nearest = int(shrinkage.argmin())
    whole, left, right = candidates.splits[nearest]
    one = candidates.sets[whole]
    need = requirement(source, whole, max(one.support, 0.0), one.sd, one.sd / float(shrinkage[nearest]))
    name = f"{' + '.join(map(str, left))} => {' + '.join(map(str, right))}"
    return (
        f"{said} from {source.n:,} records through these channels; the nearest, {name}, is estimated at "
        f"{found[nearest]:.3g}: to be sure of that takes {need}"
    )


def _likely(known: Mapping[Itemset, tuple[float, float, float]], size: int) -> Itemset | None:
    """The most frequent items of as many attributes."""
    out: dict[str, Item] = {}
    for item, *more in sorted(known, key=lambda items: -known[items][0]):
        if not more:
            out.setdefault(item.attribute, item)
    return tuple(list(out.values())[:size]) if len(out) >= size else None


def requirement(source: Evidence, items: Sequence[Item], support: float, sd: float, wanted: float) -> Requirement:
    """What brings the standard deviation of a set's support down to the wanted one."""
    n = source.n
    records = ceil(_round(n * (sd / wanted) ** 2))
    names = list(dict.fromkeys(item.attribute for item in items))
    return Requirement(records, _gamma(source, names, items, support, n * wanted**2))


def _gamma(source: Evidence, names: list[str], items: Sequence[Item], support: float, variance: float) -> float | None:
    """The least gamma under whose best channels a record's weight has no more than this variance.

    The attributes are taken as independent. Each item has the share that gives the set its support; the other values
    share the rest as the release lets estimate.
    """
    schema = source.schema.select(names)
    shares = {}
    each = max(support, 0.0) ** (1 / len(items))
    for item in items:
        found = source.counts(item.attribute, quiet=True)
        others = project(found.value, found.n)
        others[item.code] = 0.0
        even = np.ones(len(others)) - (np.arange(len(others)) == item.code)
        shares[item.attribute] = (1 - each) * (others if others.any() else even) / (others.sum() or even.sum())
        shares[item.attribute][item.code] = each
    for gamma in _GAMMAS:
        try:
            if _square(schema, items, shares, float(gamma)) - support <= variance:
                return float(gamma)
        except SfumatoError:  # no channel of this kind
            return None
    return None


def _square(schema: Schema, items: Sequence[Item], shares: dict[str, np.ndarray], gamma: float) -> float:
    """E w² = ∏ Σ_x θ_x Σ_y P[x, y] A[item, y]²."""
    scheme = Scheme.for_gamma(schema, gamma)
    out = 1.0
    for item in items:
        (block,) = blocks(scheme, (item.attribute,))
        weight = np.zeros(block.inverse.rows)
        weight[item.code] = 1.0
        out *= float(block.transition.T.apply(shares[item.attribute]) @ block.inverse.T.apply(weight) ** 2)
    return out


def _round(value: float) -> float:
    """Two digits are all that a plan can claim."""
    if not 0 < value < inf:
        return value
    unit = 10.0 ** max(int(np.floor(np.log10(value))) - 1, 0)
    return float(ceil(value / unit) * unit)
