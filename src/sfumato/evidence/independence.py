"""Tests of independence that know how much noise the channels added, and the order of values where there is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import copysign, inf, isnan, log, nan, sqrt

import numpy as np

from sfumato.arrays import Array
from sfumato.domains import Domain
from sfumato.errors import EstimationError
from sfumato.evidence.contrasts import Contrasts, judge, overall_and_common
from sfumato.evidence.protocol import Evidence
from sfumato.evidence.trends import scores, straight_and_bent, trend_and_bend
from sfumato.evidence.wald import wald

_CLEARLY = 20.0
#: How likely two attributes are to depend on each other beforehand, and what twice the log Bayes factor must exceed.
DEPENDENT = 0.15
ODDS = 2 * log((1 - DEPENDENT) / DEPENDENT)
#: How likely a dependence is to be a trend where there is an order, and how likely to be a bend. Chosen on other
#: settings than those that judge (docs/measured/bayesnet.md).
TREND, BEND = 0.9, 0.05
#: The shares of the false alarms that the tests of a trend and of a bend may give. The trend's is large so that it is
#: found as often as by a test that looks for nothing else.
TREND_ALARMS, BEND_ALARMS = 0.97, 0.02
#: What each kind of test looks for, in words.
LOOKS_FOR = {
    "any": "any difference",
    "alike": "differences alike for all values of the other parents",
    "trend": "both rise together or one falls",
    "means": "groups differ in their means",
    "bend": "the middle differs from the ends",
}


@dataclass(frozen=True)
class Test:
    """A chi-square statistic, its degrees of freedom, and twice the log of the Bayes factor for dependence.

    ``inflation`` is how many times the channels enlarged the variance, in the direction of the dependence;
    ``deviance`` the likelihood ratio of the estimated table where it is known.
    """

    statistic: float
    df: int
    evidence: float = 0.0
    inflation: float = 1.0
    deviance: float = inf

    __test__ = False  # not a test case, whatever pytest thinks of the name

    @property
    def p_value(self) -> float:
        """Pr(chi-square with df degrees of freedom > statistic); 1 where nothing could be tested."""
        from scipy.special import chdtrc

        return float(chdtrc(self.df, max(self.statistic, 0.0))) if self.df else 1.0


@dataclass(frozen=True)
class Association:
    """Tests of the same independence: on all contrasts, on their sums over the configurations, of a trend, of a bend.

    The first sees any dependence. The second has fewer degrees of freedom, suffers less from noise in what is given,
    and sees dependence that has the same direction in all configurations. The others are there where values are
    ordered; ``rises`` is then T of the trend over its standard deviation where both are: positive if they rise
    together.
    """

    overall: Test
    common: Test
    trend: Test | None = None
    bend: Test | None = None
    rises: float = nan

    @property
    def evidence(self) -> float:
        """Twice the log of the Bayes factor for dependence: a trend with probability TREND, a bend with BEND, else
        either other kind.

        Where all contrasts together speak clearly the others add nothing, so that strong evidence stays additive.
        """
        overall, common = self.overall.evidence, self._at_most(self.common)
        general = float(np.logaddexp(overall / 2, common / 2)) - log(2)
        named = [(test, share) for test, share in ((self.trend, TREND), (self.bend, BEND)) if test is not None]
        rest = general + log(1 - sum(share for _, share in named))
        kinds = [self._at_most(test) / 2 + log(share) for test, share in named]
        return 2 * float(np.logaddexp.reduce([rest, *kinds]))

    def _at_most(self, test: Test) -> float:
        overall = self.overall.evidence
        return min(test.evidence, overall) if overall > _CLEARLY else test.evidence

    def likelihood(self, gain: float) -> float:
        """Some of the evidence on the scale of the likelihood of true records, whatever the noise of the test."""
        return min(gain * self.test.inflation, self.overall.deviance)

    @property
    def test(self) -> Test:
        """The test that speaks most clearly for dependence."""
        tests = [self.overall, self.common, *(test for test in (self.trend, self.bend) if test is not None)]
        return max(tests, key=lambda test: test.evidence)

    @property
    def statistic(self) -> float:
        """That of all contrasts, not of the best test, which luck would choose."""
        return self.overall.statistic

    @property
    def df(self) -> int:
        return self.overall.df

    @property
    def deciding(self) -> tuple[str, Test]:
        """The test that the p-value comes from, and what it looks for: see ``LOOKS_FOR``."""
        _, _, kind, test = min(self._paid(), key=lambda paid: paid[:2])
        return ("means" if kind == "trend" and isnan(self.rises) else kind), test

    @property
    def p_value(self) -> float:
        """The smallest of the tests, each paid for by its share of the false alarms (Bonferroni): at most the level
        it says.

        >>> trend, weak, strong = Test(6.6857, 1), Test(1.0, 1), Test(13.0693, 1)
        >>> round(Association(weak, weak, trend).p_value, 4)  # .0097 / .97
        0.01
        >>> round(Association(strong, strong, weak, weak).p_value, 3)  # .0003 / .01
        0.03
        >>> round(Association(weak, strong).p_value, 4)
        0.0006
        """
        return min(1.0, *(p for p, *_ in self._paid()))

    def _paid(self) -> list[tuple[float, float, str, Test]]:
        """Of every test: its p-value over its share, less its evidence, its kind."""
        tests = [("any", self.overall, 1.0)]
        if self.common is not self.overall:
            tests = [("any", self.overall, 0.5), ("alike", self.common, 0.5)]
        named = [("trend", self.trend, TREND_ALARMS), ("bend", self.bend, BEND_ALARMS)]
        ordered = [(kind, test, share) for kind, test, share in named if test is not None]
        rest = 1 - sum(share for _, _, share in ordered)
        every = [*((kind, test, rest * share) for kind, test, share in tests), *ordered]
        return [(test.p_value / share, -test.evidence, kind, test) for kind, test, share in every]


def association(source: Evidence, x: str, y: str, given: Sequence[str] = ()) -> Association:
    r"""Whether x and y are independent given some attributes, against the covariance that the channels inflated.

        W = Tᵀ V⁻¹ T,        T[j, a, b] = N̂[j, a, b] - N̂[j, a] N̂[j, b] / N̂[j]

    is chi-square under independence, with as many degrees of freedom as there are telling contrasts. Where values are
    ordered so is the square of their trend, with one, and that of their bends.
    """
    _distinct([*given, x, y], f"{x}, {y} given {', '.join(given) or 'nothing'}")
    counted = source.counts((*given, x, y), quiet=True)
    overall, common = overall_and_common(counted)
    first, (rising, bending) = _test(overall), trend_and_bend(counted)
    both = first if not given else _test(common)
    if not rising.T.size:
        return Association(first, both)
    ordered = scores(source.schema[x]) is not None and scores(source.schema[y]) is not None
    found = _test(rising)
    bend = _test(bending) if bending.T.size else None
    return Association(first, both, found, bend, copysign(sqrt(found.statistic), rising.T[0]) if ordered else nan)


def independence(table: Array, covariance: Array, domains: Sequence[Domain]) -> float:
    """The p-value of one estimated table: by all contrasts, and where there is an order by trend and bend.

    Its residuals are contrasts, (I - p 1ᵀ) T (I - q 1ᵀ)ᵀ with the shares p of the rows and q of the columns.
    """
    n = float(table.sum())
    if n <= 0:
        return 1.0
    shares = [table.sum(axis=1) / n, table.sum(axis=0) / n]
    every = [np.eye(len(p)) - p[:, None] for p in shares]
    general = _of_rows(table, covariance, np.kron(*every))
    scored = [scores(domain) for domain in domains]
    if all(u is None for u in scored) or max(table.shape) <= 2:
        return general.p_value
    sides = [
        [each] if u is None else [row[None, :] for row in straight_and_bent(u, domain.nullable, np.maximum(p, 0.0))]
        for each, u, domain, p in zip(every, scored, domains, shares, strict=True)
    ]
    (straight, *bent), (other, *other_bent) = sides
    bends = [np.kron(one, other) for one in bent] + [np.kron(straight, one) for one in other_bent]
    bend = _of_rows(table, covariance, np.concatenate(bends)) if bends else None
    return Association(general, general, _of_rows(table, covariance, np.kron(straight, other)), bend).p_value


def _of_rows(table: Array, covariance: Array, C: Array) -> Test:
    return Test(*wald(C @ table.reshape(-1), C @ covariance @ C.T))


def _test(contrasts: Contrasts) -> Test:
    statistic, evidence, inflation = judge(contrasts)
    deviance = inf if contrasts.deviance is None else contrasts.deviance
    return Test(statistic, len(contrasts.T), evidence, inflation, deviance)


def all_pairs(source: Evidence, names: Sequence[str]) -> dict[tuple[str, str], Association]:
    """The tests of every pair that anybody was asked together, from one pass over the rows."""
    asked = [set(part.scheme.schema) for part in source.release.parts if len(part)]
    every = [(x, y) for i, x in enumerate(names) for y in names[i + 1 :]]
    pairs = [pair for pair in every if any(set(pair) <= form for form in asked)]
    source.expect_many()
    return {pair: association(source, *pair) for pair in pairs}


def dependent_pairs(source: Evidence, names: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs that depend on each other, by what a link between them gains, most telling first."""
    places = {name: i for i, name in enumerate(names)}
    gains = {pair: one.evidence - ODDS for pair, one in all_pairs(source, names).items() if one.test.df}
    found = [pair for pair, gain in gains.items() if gain > 0]
    return sorted(found, key=lambda pair: (gains[pair], places[pair[0]], places[pair[1]]), reverse=True)


def g_squared(source: Evidence, x: str, y: str, given: Sequence[str] = ()) -> Test:
    r"""The likelihood-ratio test on the released table itself.

        G² = 2 Σ Ñ log(Ñ Ñ.. / Ñ_x Ñ_y),        df = (M_x - 1)(M_y - 1) per stratum

    Channels that treat x and y apart keep independence, and lose nothing else than power, so nothing needs to be
    inverted. That is so given other attributes only where those passed unchanged: use ``association`` otherwise.
    """
    names = [*given, x, y]
    _distinct(names, ", ".join(names))
    total, df = 0.0, 0
    for part in source.seen(names):
        if any({x, y} <= set(block.full.names) for block in part.blocks):
            raise EstimationError(
                f"{x} and {y} are randomized together, which makes their released values dependent: use association"
            )
        for block in part.blocks:
            changed = {x, y}.isdisjoint(block.names) and not np.array_equal(block.P, np.eye(*block.P.shape))
            if changed:
                raise EstimationError(
                    f"{block.names[0]} is randomized, and given its released values {x} and {y} may depend on each "
                    f"other though they do not given the true ones: use association"
                )
        own = [next(i for i, block in enumerate(part.blocks) if name in block.names) for name in (x, y)]
        table = np.moveaxis(part.counts.reshape(part.released), own, (-2, -1))
        for stratum in table.reshape(-1, *table.shape[-2:]):
            statistic, more = _likelihood_ratio(stratum)
            total, df = total + statistic, df + more
    return Test(total, df)


def _distinct(names: Sequence[str], said: str) -> None:
    if len(set(names)) != len(names):
        raise EstimationError(f"a test needs distinct attributes, got {said}")


def _likelihood_ratio(table: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> tuple[float, int]:
    table = table[table.sum(1) > 0][:, table.sum(0) > 0]
    if min(table.shape) < 2:
        return 0.0, 0
    expected = np.outer(table.sum(1), table.sum(0)) / table.sum()
    hit = table > 0
    statistic = 2 * float((table[hit] * np.log(table[hit] / expected[hit])).sum())
    return statistic, (table.shape[0] - 1) * (table.shape[1] - 1)
