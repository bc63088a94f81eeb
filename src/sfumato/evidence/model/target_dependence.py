"""Whether the attributes foretell a target at all; where they do not, its majority class is the best answer.

The model is refitted without a quarter of the records, four times, and judged on the quarter: by the log-likelihood of
the released records under it, over that under the same model with the target made independent of all else. Both have
the same distribution of the other attributes, so that only what they say of the target counts.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence.model.design_matrix import DesignMatrix
from sfumato.evidence.model.likelihood import Likelihood

_FOLDS = 4
_FEWEST = 8


def independent_target(theta: Array, sizes: tuple[int, ...], target: int) -> Array:
    """The same distribution with the target independent of the other attributes.

    >>> independent_target(np.array([0.4, 0.1, 0.1, 0.4]), (2, 2), 1)
    array([0.25, 0.25, 0.25, 0.25])
    """
    table = theta.reshape(sizes)
    others = tuple(axis for axis in range(len(sizes)) if axis != target)
    return np.asarray((table.sum(axis=target, keepdims=True) * table.sum(axis=others, keepdims=True)).reshape(-1))


def target_is_told(
    observed: Likelihood,
    theta: Array,
    design: DesignMatrix,
    target: int,
    refit: Callable[[Likelihood], Array],
    rng: np.random.Generator | None = None,
) -> bool:
    """Whether held-out records speak for a dependence of the target on the others, as ``refit`` models it."""
    if observed.total < _FEWEST:
        return False
    free = sum(prod(design.sizes[axis] - 1 for axis in term) for term in design.terms if target in term)
    # fitting d parameters gains d/2 on the records themselves and loses as much on others: here there is no doubt
    if _gain(observed, theta, design.sizes, target) > 3 * free + 10:
        return True
    held = observed.folds(_FOLDS, rng)
    found = 0.0
    for place, fold in enumerate(held):
        rest = [one for i, one in enumerate(held) if i != place]
        found += _gain(fold, refit(Likelihood.together(rest)), design.sizes, target)
    return found > 0


def _gain(held: Likelihood, theta: Array, sizes: tuple[int, ...], target: int) -> float:
    return held.log_likelihood(theta) - held.log_likelihood(independent_target(theta, sizes, target))
