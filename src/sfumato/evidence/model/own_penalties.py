r"""A penalty for each pair of attributes, as strong as the records say: empirical Bayes.

Two attributes that hardly depend on each other should be held near independence, others be left free. The penalty of a
term s is a prior of its d_s coefficients, λ_s ~ N(0, τ_s² I). Its τ_s is sought where the records are most probable,
by the fixed point of MacKay (1992): with Σ the covariance of the coefficients, and g_s = d_s - tr Σ_ss / τ_s² how many
of them the records tell,

    τ_s² ← (|λ_s|² + ν σ²) / (g_s + ν)

Few coefficients say little of τ_s. So it has a prior too, an inverse chi-square one: ν coefficients of size σ.

Where every record was asked everything, the table of a pair alone tells its τ, by a model of these two attributes. It
also shows dependence that goes through others, so that it is taken half-way to the default: τ_s = √(τ · default). Of
forms, each of which asks few people, all terms are sought together.

That τ_s is only estimated makes coefficients less sure (Kass and Steffey 1989): λ follows log τ_s² by Σ W λ within the
term, W = 1 / τ_s², and the variance of log τ_s² is 2 / (g_s + ν).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence.model.design_matrix import DesignMatrix, Term, pairwise
from sfumato.evidence.model.information import Information, information
from sfumato.evidence.model.likelihood import Likelihood, likelihood
from sfumato.evidence.model.loglinear import Fitted, fit
from sfumato.evidence.model.tuning import LOOSE, TAU
from sfumato.release import Release

_FIRST = 0.5  # of all terms
_LEAST, _MOST = 0.01, 5.0
_STEPS = 6
#: Set on Adult at two other granularities than those of the published table, and other draws.
NU, SIGMA = 1.0, 0.4


class PairPenalties:
    """The penalty of each pair of attributes of a release, half-way to what its table alone tells; found once."""

    def __init__(self, release: Release) -> None:
        self._release = release
        self._found: dict[tuple[str, ...], float] = {}

    def of(self, names: Sequence[str], terms: Sequence[Term]) -> Array:
        """τ of each term; of three attributes and more, and where a pair's table is too large to tell, the default."""
        return np.array([self._of(tuple(sorted(names[axis] for axis in term))) for term in terms])

    def _of(self, pair: tuple[str, ...]) -> float:
        if len(pair) != 2:
            return TAU
        if pair not in self._found:
            fitted = fit_own_penalties(likelihood(self._release, pair))
            self._found[pair] = TAU if fitted is None else float(np.sqrt(np.asarray(fitted.tau)[-1] * TAU))
        return self._found[pair]


def all_the_way(penalties: Array) -> Array:
    """What the tables of the pairs alone tell."""
    return penalties**2 / TAU


def fit_own_penalties(observed: Likelihood, order: int = 2) -> Fitted | None:
    """The model of all terms up to an order, each with a penalty of its own; None where the table is too large."""
    design = DesignMatrix(observed.sizes, pairwise(len(observed.sizes), order))
    tau, start = np.full(len(design.terms), _FIRST), None
    for _ in range(_STEPS):
        fitted = fit(observed, design, tau, start, LOOSE)
        found = information(observed, design, fitted.theta, tau)
        if found is None:
            return None
        start = fitted.parameters
        size = np.array([float(own @ own) for own in _coefficients(found, fitted)])
        told = _told(found, tau)
        tau = np.clip(np.sqrt((size + NU * SIGMA**2) / (told + NU)), _LEAST, _MOST)
    return fit(observed, design, tau, start)


def with_unsure_penalties(found: Information, fitted: Fitted) -> Array:
    """The covariance of the coefficients, what is not known of the penalties included."""
    tau = np.asarray(fitted.tau)
    told, own = _told(found, tau), _coefficients(found, fitted)
    out = found.covariance.copy()
    for s, term in enumerate(found.features.terms):
        if len(term) > 1 and len(own[s]):
            moved = found.covariance[:, found.features.owner == s] @ own[s] / tau[s] ** 2
            out += 2 / (told[s] + NU) * np.outer(moved, moved)
    return out


def _told(found: Information, tau: Array) -> Array:
    """g: of each term how many coefficients the records tell."""
    owner = found.features.owner
    freedom = np.bincount(owner, minlength=len(tau)).astype(np.float64)
    unsure = np.bincount(owner, weights=np.diag(found.covariance), minlength=len(tau))
    return np.asarray(np.maximum(freedom - unsure / tau**2, 0.0))


def _coefficients(found: Information, fitted: Fitted) -> list[Array]:
    design = fitted.design
    own = (fitted.parameters[design.owner == s] for s in range(len(design.terms)))
    return [found.features.coefficients(s, parameters) for s, parameters in enumerate(own)]
