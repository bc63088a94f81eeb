"""Tests of independence that know how much noise the channels added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log

import numpy as np

from sfumato.arrays import Array
from sfumato.errors import EstimationError
from sfumato.evidence.contrasts import Contrasts, judge, overall_and_common
from sfumato.evidence.protocol import Evidence
from sfumato.evidence.wald import wald as statistic_of

_CLEARLY = 20.0
#: How likely two attributes are to depend on each other beforehand, and what twice the log Bayes factor must exceed.
DEPENDENT = 0.15
ODDS = 2 * log((1 - DEPENDENT) / DEPENDENT)


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
    """Two tests of the same independence: on all contrasts, and on their sums over the configurations.

    The first sees any dependence. The second has fewer degrees of freedom, suffers less from noise in what is given,
    and sees dependence that has the same direction in all configurations.
    """

    overall: Test
    common: Test

    @property
    def evidence(self) -> float:
        """Twice the log of the Bayes factor for dependence, either kind being as likely beforehand.

        Where all contrasts together speak clearly their sums add nothing, so that strong evidence stays additive.
        """
        overall, common = self.overall.evidence, self.common.evidence
        if overall > _CLEARLY:
            common = min(common, overall)
        return 2 * float(np.logaddexp(overall / 2, common / 2)) - 2 * log(2)

    def likelihood(self, gain: float) -> float:
        """Some of the evidence on the scale of the likelihood of true records, whatever the noise of the test."""
        return min(gain * self.test.inflation, self.overall.deviance)

    @property
    def test(self) -> Test:
        """The test that speaks more clearly for dependence."""
        return max(self.overall, self.common, key=lambda test: test.evidence)


def wald(source: Evidence, x: str, y: str, given: Sequence[str] = ()) -> Test:
    r"""Whether x and y are independent given some attributes, against the covariance that the channels inflated.

        W = Tᵀ V⁻¹ T,        T[j, a, b] = N̂[j, a, b] - N̂[j, a] N̂[j, b] / N̂[j]

    is chi-square under independence, with as many degrees of freedom as there are telling contrasts.
    """
    return association(source, x, y, given).overall


def association(source: Evidence, x: str, y: str, given: Sequence[str] = ()) -> Association:
    """Both tests of the independence of x and y given some attributes."""
    _distinct([*given, x, y], f"{x}, {y} given {', '.join(given) or 'nothing'}")
    overall, common = overall_and_common(source.counts((*given, x, y), quiet=True))
    first = _test(overall)
    return Association(first, _test(common) if given else first)


def independence(table: Array, covariance: Array) -> tuple[float, int]:
    """The Wald statistic of T = r cᵀ / n for one estimated table, and its degrees of freedom.

    The residuals are contrasts, (I - p 1ᵀ) T (I - q 1ᵀ)ᵀ with the shares p of the rows and q of the columns.
    """
    n = float(table.sum())
    if n <= 0:
        return 0.0, 0
    rows, cols = (np.eye(len(m)) - (m / n)[:, None] for m in (table.sum(axis=1), table.sum(axis=0)))
    C = np.kron(rows, cols)
    return statistic_of(C @ table.reshape(-1), C @ covariance @ C.T)


def _test(contrasts: Contrasts) -> Test:
    statistic, evidence, inflation = judge(contrasts)
    deviance = inf if contrasts.deviance is None else contrasts.deviance
    return Test(statistic, len(contrasts.T), evidence, inflation, deviance)


def all_pairs(source: Evidence, names: Sequence[str]) -> dict[tuple[str, str], Test]:
    """The test of every pair that was asked together, from one pass over the rows."""
    asked = [set(part.scheme.schema) for part in source.release.parts]
    every = [(x, y) for i, x in enumerate(names) for y in names[i + 1 :]]
    pairs = [pair for pair in every if any(set(pair) <= form for form in asked)]
    source.expect_many()
    return {pair: association(source, *pair).overall for pair in pairs}


def dependent_pairs(source: Evidence, names: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs that depend on each other, by what a link between them gains, most telling first."""
    places = {name: i for i, name in enumerate(names)}
    gains = {(x, y): test.evidence - ODDS for (x, y), test in all_pairs(source, names).items() if test.df}
    found = [pair for pair, gain in gains.items() if gain > 0]
    return sorted(found, key=lambda pair: (gains[pair], places[pair[0]], places[pair[1]]), reverse=True)


def g_squared(source: Evidence, x: str, y: str, given: Sequence[str] = ()) -> Test:
    r"""The likelihood-ratio test on the released table itself.

        G² = 2 Σ Ñ log(Ñ Ñ.. / Ñ_x Ñ_y),        df = (M_x - 1)(M_y - 1) per stratum

    Channels that treat x and y apart keep independence, and lose nothing else than power, so nothing needs to be
    inverted. That is so given other attributes only where those passed unchanged: use ``wald`` otherwise.
    """
    names = [*given, x, y]
    _distinct(names, ", ".join(names))
    total, df = 0.0, 0
    for part in source.seen(names):
        if any({x, y} <= set(block.full.names) for block in part.blocks):
            raise EstimationError(
                f"{x} and {y} are randomized together, which makes their released values dependent: use wald"
            )
        for block in part.blocks:
            changed = {x, y}.isdisjoint(block.names) and not np.array_equal(block.P, np.eye(*block.P.shape))
            if changed:
                raise EstimationError(
                    f"{block.names[0]} is randomized, and given its released values {x} and {y} may depend on each "
                    f"other though they do not given the true ones: use wald"
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
