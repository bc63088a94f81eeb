"""Rules A => B: support, confidence and lift, with limits that know how their supports vary together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sfumato.arrays import Array
from sfumato.errors import SfumatoWarning, warn
from sfumato.learn.bayesnet.ratio_of_counts import fieller
from sfumato.learn.rules.apriori import Itemset
from sfumato.learn.rules.limits import DRAWN, quantile, widened
from sfumato.learn.rules.supports import Supports
from sfumato.printable import printable

#: The most ways of cutting frequent sets in two that are looked at.
SPLITS = 200_000
Split = tuple[Itemset, Itemset, Itemset]  # the whole, what it is concluded from, what is concluded


@dataclass(frozen=True)
class FrequentSet:
    """An item set: its support, that support's interval, and the unbiased estimate with its standard deviation."""

    items: tuple[str, ...]
    support: float
    low: float
    high: float
    unbiased: float
    sd: float


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

    @property
    def tells_more(self) -> bool:
        """Whether the consequent is surely likelier where the antecedent holds than in all records: a lift above 1."""
        return self.lift_low > 1 + 1e-9

    def __str__(self) -> str:
        return printable(
            f"{' + '.join(self.antecedent)} => {' + '.join(self.consequent)}  support {self.support:.3g}, "
            f"confidence {self.confidence:.3g}, lift {self.lift:.3g}"
        )


class Candidates:
    """All ways of cutting the frequent sets in two, with what their confidence is judged by.

    confidence = s(A ∪ B) / s(A),    lift = confidence / s(B)
    """

    def __init__(
        self,
        splits: Sequence[Split],
        sets: Mapping[Itemset, FrequentSet],
        supports: Supports,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self.splits, self.sets, self._supports = splits, sets, supports
        self._known: dict[tuple[Itemset, Itemset], float] = {}
        rows = []
        for items, left, _ in splits:
            whole, a = sets[items], sets[left]
            rows.append((whole.unbiased, a.unbiased, whole.sd, self._covariance(items, left), a.sd))
            if progress is not None:
                progress(1)
        self._numbers = np.array(rows).reshape(-1, 5)
        self.confidence = np.array([sets[w].support / max(sets[a].support, 1e-12) for w, a, _ in splits])

    def __len__(self) -> int:
        return len(self.splits)

    def limits(self, z: float) -> tuple[Array, Array]:
        """Fieller's limits of every confidence, within [0, 1]; an estimate above 1 counts as 1."""
        top, bottom, sd, cov, sd_left = self._numbers.T
        level = 1 - 2 * _tail(z)
        low, high = fieller(np.minimum(top, bottom), bottom, sd**2, cov, sd_left**2, level)
        return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)

    def report(self, by: str, least: float, level: float) -> list[Rule]:
        """The rules whose limit or estimate reaches the least confidence, the best first."""
        if not self.splits:
            return []
        z = quantile(level)
        if by == "lower":
            z = widened(level, len(self), lambda at: int((self.limits(at)[0] >= least - 1e-12).sum()))
        low, high = self.limits(z)
        confidence = np.clip(self.confidence, *self.limits(DRAWN * z))
        value = {"lower": low, "estimate": confidence, "upper": high}[by]
        kept = np.flatnonzero(value >= least - 1e-12).tolist()
        out = [self._rule(i, float(confidence[i]), float(low[i]), float(high[i]), z) for i in kept]
        if by == "lower":
            return sorted(out, key=lambda rule: (-rule.confidence_low, -rule.support_low, rule.antecedent))
        return sorted(out, key=lambda rule: (-rule.confidence, -rule.support, rule.antecedent))

    def _rule(self, i: int, confidence: float, low: float, high: float, z: float) -> Rule:
        """The lift's limits are those of its logarithm, to first order."""
        items, left, right = self.splits[i]
        whole, a, b = (self.sets[one] for one in (items, left, right))
        lift = confidence / max(b.support, 1e-12)
        values = np.array([max(s.support, 1e-9) for s in (whole, a, b)])
        cov = np.diag([s.sd**2 for s in (whole, a, b)])
        if cov.any():
            cov[0, 1] = cov[1, 0] = self._covariance(items, left)
            cov[0, 2] = cov[2, 0] = self._covariance(items, right)
            cov[1, 2] = cov[2, 1] = self._covariance(left, right)
        slope = np.array([1.0, -1.0, -1.0]) / values
        of_lift = z * float(np.sqrt(max(float(slope @ cov @ slope), 0.0)))
        return Rule(
            tuple(item.label for item in left),
            tuple(item.label for item in right),
            whole.support,
            whole.low,
            whole.high,
            confidence,
            low,
            high,
            lift,
            lift * float(np.exp(-of_lift)),
            lift * float(np.exp(min(of_lift, 700.0))),
        )

    def _covariance(self, one: Itemset, other: Itemset) -> float:
        if not self.sets[one].sd and not self.sets[other].sd:
            return 0.0
        if (one, other) not in self._known:
            self._known[one, other] = self._supports.covariance(one, other)
        return self._known[one, other]


def make_rules(
    order: Sequence[Itemset],
    sets: Mapping[Itemset, FrequentSet],
    supports: Supports,
    target: str | None,
    progress: Callable[[int], None] | None = None,
) -> Candidates:
    """Every rule that frequent sets can make; where a target is named, only those that conclude it."""
    splits: list[Split] = []
    looked = 0
    for items in order:
        looked += 2 ** len(items) - 2
        if looked > SPLITS:
            warn(
                f"the {len(order)} frequent sets make more than {SPLITS} rules: only those of sets of fewer than "
                f"{len(items)} items, and of some of that size, are made; raise min_support or set max_items",
                SfumatoWarning,
                stacklevel=5,
            )
            break
        for size in range(1, len(items)):
            for left in combinations(items, size):
                right = tuple(item for item in items if item not in left)
                if target is None or all(item.attribute == target for item in right):
                    splits.append((items, left, right))
    return Candidates(splits, sets, supports, progress)


def _tail(z: float) -> float:
    from scipy.special import ndtr

    return float(ndtr(-z))
