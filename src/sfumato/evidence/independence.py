"""Tests of independence that know how much noise the channels added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log, prod

import numpy as np

from sfumato.errors import EstimationError
from sfumato.evidence.contrasts import Contrasts, judge, overall_and_common
from sfumato.evidence.families import Families
from sfumato.evidence.table import Evidence
from sfumato.evidence.view import view
from sfumato.release import Release

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


def wald(evidence: Evidence | Families, x: str, y: str, given: Sequence[str] = ()) -> Test:
    r"""Whether x and y are independent given some attributes, against the covariance that the channels inflated.

        W = Tᵀ V⁻¹ T,        T[j, a, b] = N̂[j, a, b] - N̂[j, a] N̂[j, b] / N̂[j]

    is chi-square under independence, with as many degrees of freedom as there are telling contrasts.
    """
    return association(evidence if isinstance(evidence, Families) else Families(evidence), x, y, given).overall


def association(families: Families, x: str, y: str, given: Sequence[str] = ()) -> Association:
    """Both tests of the independence of x and y given some attributes."""
    given = tuple(given)
    if len({x, y, *given}) != 2 + len(given):
        raise EstimationError(f"a test needs distinct attributes, got {x}, {y} given {', '.join(given) or 'nothing'}")
    overall, common = overall_and_common(families.family((*given, x, y)))
    first = _test(overall)
    return Association(first, _test(common) if given else first)


def _test(contrasts: Contrasts) -> Test:
    statistic, evidence, inflation = judge(contrasts)
    deviance = inf if contrasts.deviance is None else contrasts.deviance
    return Test(statistic, len(contrasts.T), evidence, inflation, deviance)


def all_pairs(families: Families, names: Sequence[str]) -> dict[tuple[str, str], Test]:
    """The test of every pair, from one pass over the rows."""
    pairs = [(x, y) for i, x in enumerate(names) for y in names[i + 1 :]]
    families.count_pairs()
    return {pair: association(families, *pair).overall for pair in pairs}


def g_squared(evidence: Evidence, x: str, y: str, given: Sequence[str] = ()) -> Test:
    r"""The likelihood-ratio test on the released table itself.

        G² = 2 Σ Ñ log(Ñ Ñ.. / Ñ_x Ñ_y),        df = (M_x - 1)(M_y - 1) per stratum

    Channels that treat x and y apart keep independence, and lose nothing else than power, so nothing needs to be
    inverted. That is so given other attributes only where those passed unchanged: use ``wald`` otherwise.
    """
    names = [*given, x, y]
    if len(set(names)) != len(names):
        raise EstimationError(f"a test needs distinct attributes, got {', '.join(names)}")
    total, df = 0.0, 0
    for scheme in dict.fromkeys(part.scheme for part in evidence.release.parts):
        if scheme.group(x) is scheme.group(y):
            raise EstimationError(
                f"{x} and {y} are randomized together, which makes their released values dependent: use wald"
            )
        for name in given:
            if not np.array_equal(scheme[name].matrix, np.eye(scheme[name].k)):
                raise EstimationError(
                    f"{name} is randomized, and given its released values {x} and {y} may depend on each other "
                    f"though they do not given the true ones: use wald"
                )
        part = Evidence(Release.of(part for part in evidence.release.parts if part.scheme == scheme))
        shape = [prod(view(scheme, [name]).transition.cols for name in group) for group in (given, [x], [y])]
        for table in part.released_counts(names).reshape(shape).astype(np.float64):
            statistic, more = _likelihood_ratio(table)
            total, df = total + statistic, df + more
    return Test(total, df)


def _likelihood_ratio(table: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> tuple[float, int]:
    table = table[table.sum(1) > 0][:, table.sum(0) > 0]
    if min(table.shape) < 2:
        return 0.0, 0
    expected = np.outer(table.sum(1), table.sum(0)) / table.sum()
    hit = table > 0
    statistic = 2 * float((table[hit] * np.log(table[hit] / expected[hit])).sum())
    return statistic, (table.shape[0] - 1) * (table.shape[1] - 1)
