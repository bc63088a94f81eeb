r"""What held-out records say of a share of clean records, and how far every released record moves the answer.

As in ``evidence.model.blended_mean``, weights h on the held-out records and a model θ̂ of the others give

    T = mean of h + Σ_x θ̂_x r_x + a · W λ̂,        r = g - P h

θ̂ is the pairwise log-linear model with parameters λ̂ and precisions W of their prior. Its penalty draws θ̂ towards
independence, and so T towards chance. The last term takes that back to first order: with H the information of the other
records plus W, and G = Cov_θ̂(r, features), the slope a = H⁻¹ G says how T follows λ̂.

A held-out record with the released value y adds h_y / n to T. One of the others moves T through θ̂, by

    b_y = Σ_x P[x, y] θ̂_x f_x / q_y,       f = features · a, centred

So the variance of T is a sum over the records. What stays unknown is counted by its prior variance: what the penalty
hides, a · W a, and what pairs leave out, τ² |G₃|², where G₃ = Cov_θ̂(r, features of three attributes).

The weights are noisy too. With ε_k the noise of fold k, fold j adds ε_j · v_j, and v_j = v + B Σ_{k≠j} ε_k follows the
other folds. The squares of the v_j count ε_j · B ε_k once. But fold k adds ε_k · B ε_j, which goes along with it. That
adds K (K - 1) tr(BΣBΣ) to the variance, with K folds and Σ the covariance of the noise of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence import Evidence
from sfumato.evidence.kinds import likelihood_of
from sfumato.evidence.model.blended_mean import blend_weights, conjugate_gradients
from sfumato.evidence.model.design_matrix import DesignMatrix, pairwise
from sfumato.evidence.model.loglinear import Fitted, fit, precisions
from sfumato.scheme import Scheme

#: The penalty of the model, and the prior of what it leaves out.
TAU = 1.0
_TOLERANCE = 1e-4  # of the gradient of the mean log-likelihood, and of the weights
_SLIGHT = 5e-4  # of a share: too little to see in three digits
#: The least that is counted of tr(BΣBΣ), as a share of its bound: five folds tell it with much noise. On releases of
#: Iris, wine, Wisconsin and Adult its mean was up to a third of the bound.
_LEAST = 0.25
#: Records of a scheme; those of schemes with fewer are compared with each other, as one alone has no spread.
_FEW = 20


@dataclass(frozen=True, eq=False)
class Judged:
    """The share that one fold finds, and what it hangs on; by scheme, a number for every released value."""

    value: float
    held: dict[Scheme | None, Array]  # h: what a held-out record adds, times the number of held-out records
    kept: dict[Scheme | None, Array]  # b: how far each of the other records moves the share
    hidden: Array  # what the penalty hides, as coefficients of independent errors with variance 1
    left_out: Array  # what pairs leave out, in the same way


class Judge:
    """The model of the kept records, ready to judge by the held-out ones. ``ridge`` is A / N, see ``blended_mean``.

    ``near`` is a judge of almost the same records: its parameters are a good place to begin the fit.
    """

    def __init__(
        self, kept: Evidence, held: Evidence, names: list[str], ridge: float, near: Judge | None = None
    ) -> None:
        others = likelihood_of(kept, names)
        self.counts, self._kept = ({p.scheme: p for p in some.parts} for some in (likelihood_of(held, names), others))
        self._ridge = ridge
        self.records = sum(float(part.counts.sum()) for part in self.counts.values())  # all but forms that ask of none
        sizes = held.schema.sizes(names)
        self._design = DesignMatrix(sizes, pairwise(len(names)))
        triples = tuple(term for term in pairwise(len(names), 3) if len(term) == 3)
        self._triples = DesignMatrix(sizes, triples) if triples else None
        start = None if near is None else near._fitted.parameters
        self._fitted: Fitted = fit(others, self._design, TAU, start, _TOLERANCE)
        self.theta = self._fitted.theta
        self._precisions = precisions(self._design, TAU)
        self._q = {key: np.maximum(part.forward(self.theta), 1e-300) for key, part in self._kept.items()}

    @property
    def cells(self) -> int:
        """How many released cells are weighed for a share."""
        return sum(len(part.counts) for part in self.counts.values())

    def share(self, wanted: Array) -> Judged:
        """The share of clean records in the wanted cells."""
        held, value, left = {}, 0.0, np.zeros_like(wanted)
        for key, part in self.counts.items():
            held[key], rest = blend_weights(part, self.theta, wanted, self._ridge, _TOLERANCE)
            value += float(part.counts @ held[key]) / self.records
            left += part.counts.sum() / self.records * rest
        filled = float(self.theta @ left)
        weighted = self.theta * (left - filled)
        slope = conjugate_gradients(self._information, self._design.margins(weighted), 1e-3, enough=self._slight)
        moved = self.theta * self._centred(slope)
        kept = {key: part.forward(moved) / self._q[key] for key, part in self._kept.items()}
        taken_back = float(slope @ (self._precisions * self._fitted.parameters))
        left_out = np.zeros(0) if self._triples is None else TAU * self._triples.margins(weighted)
        hidden = np.sqrt(self._precisions) * slope
        return Judged(value + filled + taken_back, held, kept, hidden, left_out)

    def _slight(self, rest: Array) -> bool:
        """Whether an error H⁻¹ r of the slope moves nothing: its prior deviation is at most the root of r · W⁻¹ r."""
        return float(rest @ (rest / self._precisions)) <= _SLIGHT**2

    def _centred(self, parameters: Array) -> Array:
        logits = self._design.log_theta(parameters)
        return np.asarray(logits - self.theta @ logits)

    def _information(self, parameters: Array) -> Array:
        """H v = Σ n Cov_y(E[features | y], E[f | y]) + W v, with f = features · v."""
        moved = self.theta * self._centred(parameters)
        out = self._precisions * parameters
        for key, part in self._kept.items():
            seen = self.theta * part.backward(part.forward(moved) / self._q[key])
            out = out + part.counts.sum() * self._design.margins(seen)
        return np.asarray(out)


def mean_over_folds(judges: Sequence[Judge], found: Sequence[Judged]) -> tuple[float, float]:
    """The mean of what all folds found, weighted by their records, and its variance."""
    total = sum(judge.records for judge in judges)
    share = [judge.records / total for judge in judges]
    variance = 0.0
    for j, (judge, own) in enumerate(zip(judges, found, strict=True)):
        few: list[tuple[Array, Array]] = [(np.zeros(0), np.zeros(0))]
        for key, part in judge.counts.items():
            rows = part.counts > 0
            moved = own.held[key][rows] / total
            for k, other in enumerate(found):
                if k != j:
                    moved = moved + share[k] * other.kept[key][rows]
            counts = part.counts[rows]
            if counts.sum() < _FEW:
                few.append((moved, counts))
            else:
                variance += _around_their_mean(moved, counts)
        variance += _around_their_mean(*(np.concatenate(each) for each in zip(*few, strict=True)))
    for unknown in ([one.hidden for one in found], [one.left_out for one in found]):
        variance += float(np.sum(np.tensordot(share, np.stack(unknown), 1) ** 2))
    return float(np.dot(share, [one.value for one in found])), variance + mutual_noise(judges, found)


def _around_their_mean(moved: Array, counts: Array) -> float:
    return float(counts @ (moved - counts @ moved / max(float(counts.sum()), 1.0)) ** 2)


def mutual_noise(judges: Sequence[Judge], found: Sequence[Judged]) -> float:
    """K (K - 1) tr(BΣBΣ): what the folds' weights add to the variance because each follows the noise of the others.

    The folds show Q[j, k] = ε_j · B ε_k, as v_j less the mean of all v is -B ε_j. For normal noise of any covariance

        tr(BΣBΣ) = (tr QQ - (tr QQ + tr QQᵀ + (tr Q)²) / (K + 1)) / ((K - 1) (K - 2))

    on average. It is at most tr(BΣBᵀΣ), which |v_j - mean v|² tells; of two folds only that is known.
    """
    folds, total = len(judges), sum(judge.records for judge in judges)
    bound, crossed = 0.0, np.zeros((folds, folds))
    for key in judges[0].counts:
        if not all(key in judge.counts for judge in judges):
            continue
        counts = np.stack([judge.counts[key].counts for judge in judges])
        pooled = counts.sum(axis=0)
        pulls = [one.held[key] + (folds - 2) * j.records * one.kept[key] for j, one in zip(judges, found, strict=True)]
        apart = (np.stack(pulls) - np.mean(pulls, axis=0)) / total
        apart -= (apart @ pooled / pooled.sum())[:, None]
        noise = counts - np.outer(counts.sum(axis=1) / pooled.sum(), pooled)
        bound += float(np.sum(apart**2 @ pooled))
        crossed -= apart @ noise.T
    if folds == 2:
        return bound
    mirrored = float(np.sum(crossed * crossed.T))
    others = float(np.sum(crossed**2) + np.trace(crossed) ** 2)
    told = (mirrored - (mirrored + others) / (folds + 1)) * folds / (folds - 2)
    return min(max(told, _LEAST * bound), bound)
