r"""The mean of a function g of the true record over clean records, from randomized ones and a model of them.

With P the channel and θ̂ a model, choose weights h on the released values that minimise

    Σ_y q_y h_y² / N  +  (1/A) Σ_x θ̂_x (P h - g)_x²,        q = Pᵀθ̂

and estimate by  mean of h over the records + Σ_x θ̂_x (g - P h)_x. Where the channel lets it, P h = g and the estimate
is unbiased; where that would be too noisy, the model fills in. A is how many records the model's own error is worth.

The records are cut in four: each quarter is weighed with the model of the others, so that θ̂ does not know its noise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence.model.design_matrix import DesignMatrix, pairwise
from sfumato.evidence.model.likelihood import Likelihood
from sfumato.evidence.model.loglinear import fit
from sfumato.evidence.model.tuning import FEWEST, LOOSE, PARTS, TAU
from sfumato.evidence.seen import Seen

Cut = tuple[Likelihood, Array]


@dataclass(frozen=True)
class Blended:
    """An estimate, the variance of the weights' mean, and what is left to the model, as a root mean square."""

    value: float
    noise: float
    gap: float


def cross_fitted(observed: Likelihood) -> list[Cut]:
    """Every quarter of the records with the pairwise model of the other three."""
    design = DesignMatrix(observed.sizes, pairwise(len(observed.sizes)))
    if observed.total < FEWEST:
        return [(observed, fit(observed, design, TAU).theta)]
    parts = observed.folds(PARTS)
    return [
        (own, fit(Likelihood.together([one for one in parts if one is not own]), design, TAU, tolerance=LOOSE).theta)
        for own in parts
    ]


def blended_mean(cuts: Sequence[Cut], wanted: Array, trust: float) -> Blended:
    """The mean of ``wanted`` over clean records, with the model trusted as much as so many records."""
    total = sum(own.total for own, _ in cuts)
    value = noise = gap = 0.0
    for own, theta in cuts:
        for part in own.parts:
            n = float(part.counts.sum())
            if n == 0:
                continue
            h, left = blend_weights(part, theta, wanted, trust / total)
            mean, kept = float(part.counts @ h) / n, float(theta @ left)
            value += n / total * (mean + kept)
            noise += n / total**2 * max(float(part.counts @ h**2) / n - mean**2, 0.0)
            gap += n / total * float(np.sqrt(max(float(theta @ left**2) - kept**2, 0.0)))
    return Blended(value, noise, gap)


def blend_weights(
    part: Seen, theta: Array, wanted: Array, ridge: float, tolerance: float = 1e-7
) -> tuple[Array, Array]:
    """h, and g - P h; ``ridge`` is A / N. Weights need not be the best: what they leave is counted."""
    root = np.sqrt(np.maximum(part.forward(theta), 1e-300))

    def forward(k: Array) -> Array:
        """(A/N) k + D^-1/2 Pᵀ Θ P D^-1/2 k, with D = diag(q)."""
        return ridge * k + part.forward(theta * part.backward(k / root)) / root

    h = conjugate_gradients(forward, part.forward(theta * wanted) / root, tolerance) / root
    return h, wanted - part.backward(h)


def conjugate_gradients(
    forward: Any, right: Array, tolerance: float, most: int = 400, enough: Callable[[Array], bool] | None = None
) -> Array:
    """The solution of forward(x) = right, for a symmetric positive map.

    What is left of the right side, r, ends the search when it is small against the whole, or when it is ``enough``.
    """
    x = np.zeros_like(right)
    r = right.copy()
    d = r.copy()
    size = first = float(r @ r)
    for _ in range(most):
        if size <= tolerance**2 * first or (enough is not None and enough(r)):
            break
        moved = forward(d)
        step = size / float(d @ moved)
        x += step * d
        r -= step * moved
        following = float(r @ r)
        d = r + following / size * d
        size = following
    return x
