"""Newton's method for estimating equations, where the likelihood behind them need not be concave."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Array

#: The equations at some coefficients, and minus their derivative; None where the coefficients are impossible.
Equations = Callable[[Array], tuple[Array, Array] | None]

_STEPS = 60
_CLOSE = 1e-10  # of a step, in units of the columns' sizes
_FARTHEST = 1e100  # that a step may lead


class Root(NamedTuple):
    """Where the equations hold, or where the search was given up."""

    beta: Array
    information: Array
    converged: bool


def solve(equations: Equations, start: Array) -> Root:
    """U(β) = 0 from a start, each step halved until U becomes smaller in the metric of the start.

    Counts may be negative, so that minus the derivative of U need not be positive everywhere; where it is not positive
    at the root, that root is no maximum, and nothing has converged.
    """
    beta = start
    first = equations(beta)
    if first is None:
        return Root(beta, np.eye(len(beta)), False)
    score, information = first
    metric = np.linalg.pinv(information, hermitian=True)
    for _ in range(_STEPS):
        try:
            step = np.linalg.solve(information, score)
        except np.linalg.LinAlgError:
            return Root(beta, information, False)
        size = float(np.abs(step).max())
        if not size < _FARTHEST:  # next to singular: away without end
            return Root(beta, information, False)
        if size < _CLOSE * (1 + float(np.abs(beta).max())):
            return Root(beta, information, _positive(information))
        reached = abs(float(score @ metric @ score))
        length = 1.0
        while length > 1e-4:
            found = equations(beta + length * step)
            if found is not None and abs(float(found[0] @ metric @ found[0])) < reached * (1 - 1e-4 * length):
                break
            length /= 2
        else:  # what is left is rounding, or the search is stuck
            return Root(beta, information, size < 1e-7 and _positive(information))
        beta = beta + length * step
        score, information = found
    return Root(beta, information, False)


def _positive(information: Array) -> bool:
    return bool(np.linalg.eigvalsh((information + information.T) / 2)[0] > 0)
