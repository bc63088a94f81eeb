"""Rules A => B: support, confidence and lift, with intervals by the delta method on the logarithms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sfumato.channels.linear import Array
from sfumato.learn.rules.apriori import Itemset
from sfumato.learn.rules.supports import ReleaseSupports

if TYPE_CHECKING:
    from sfumato.learn.rules.miner import FrequentSet


@dataclass(frozen=True)
class Rule:
    """If a record holds the antecedent, it holds the consequent too, with this confidence."""

    antecedent: tuple[str, ...]
    consequent: tuple[str, ...]
    support: float
    support_low: float
    support_high: float
    confidence: float
    confidence_low: float
    confidence_high: float
    lift: float
    lift_low: float
    lift_high: float

    def __str__(self) -> str:
        return (
            f"{' + '.join(self.antecedent)} => {' + '.join(self.consequent)}  support {self.support:.3g}, "
            f"confidence {self.confidence:.3g}, lift {self.lift:.3g}"
        )


def make_rule(
    items: Itemset,
    left: Itemset,
    right: Itemset,
    sets: Mapping[Itemset, FrequentSet],
    supports: ReleaseSupports,
    level: float,
) -> Rule:
    """The rule left => right of a frequent set.

    confidence = s(A ∪ B) / s(A),    lift = confidence / s(B)
    """
    from scipy.special import ndtri

    z = float(ndtri((1 + level) / 2))
    whole, a, b = sets[items], sets[left], sets[right]
    confidence = min(whole.support / a.support, 1.0)
    lift = confidence / max(b.support, 1e-12)
    values = np.array([max(s.support, 1e-9) for s in (whole, a, b)])
    cov = np.diag([s.sd**2 for s in (whole, a, b)])
    if cov.any():
        cov[0, 1] = cov[1, 0] = supports.covariance(items, left)
        cov[0, 2] = cov[2, 0] = supports.covariance(items, right)
        cov[1, 2] = cov[2, 1] = supports.covariance(left, right)
    relative = cov / np.outer(values, values)
    of_confidence = z * _root(relative, np.array([1.0, -1.0, 0.0]))
    of_lift = z * _root(relative, np.array([1.0, -1.0, -1.0]))
    return Rule(
        tuple(item.label for item in left),
        tuple(item.label for item in right),
        whole.support,
        whole.low,
        whole.high,
        confidence,
        confidence * float(np.exp(-of_confidence)),
        min(confidence * float(np.exp(of_confidence)), 1.0),
        lift,
        lift * float(np.exp(-of_lift)),
        lift * float(np.exp(of_lift)),
    )


def _root(covariance: Array, slope: Array) -> float:
    return float(np.sqrt(max(float(slope @ covariance @ slope), 0.0)))
