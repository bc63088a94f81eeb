r"""The linear programme behind ``average``: among all channels under a bound on gamma, the least noise in a mean.

The k true values are the points x_0 = -1, ..., x_(k-1) = 1, equally far apart. Released values are scores v on a grid:

    minimise  t   over P >= 0, l >= 0
    such that sum_y P[x, y] = 1,   sum_y P[x, y] v_y = x                     the score is unbiased
              l_y <= P[x, y] <= gamma l_y                                    no column ratio beyond gamma
              sum_y P[x, y] v_y^2 - x^2 <= t                                 the noise variance of every value

The problem is symmetric, P[-x, -v] = P[x, v]; so only the values up to 0 are variables.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from sfumato.arrays import Array, Index
from sfumato.errors import ChannelError

#: The most points the programme is solved for. More values mix the rows of their two neighbours among these.
MOST_POINTS = 11
#: Grid steps between 0 and the largest score. The programme has many solutions, nearly equal. The first is taken whose
#: rows are clearly different, so that the shares can be estimated too.
_CELLS = (30, 60, 15, 120)
_CLEARLY = 1e-3  # the least singular value, if gamma is not near 1
_REACH = 1.25  # the best scores lie within this of +-(gamma + 1) / (gamma - 1), those of two values
_WHOLE_GRID = 64  # up to so many steps all scores are tried, not only those near the extreme ones
_NOTHING = 1e-9  # an output this rare is left out: the solver's own errors are as large
_TOLERANCE = 1e-10  # the smallest that the solver takes


@dataclass(frozen=True)
class Programme:
    """The solution: P for the values up to 0, the scores as multiples of a step, and the worst noise variance."""

    rows: Array
    multiples: Index
    step: float
    variance: float


@lru_cache(maxsize=64)
def least_variance(points: int, gamma: float) -> Programme:
    """The channel with the least noise variance of the worst value.

    >>> round(least_variance(11, math.e).variance, 2)
    3.99
    """
    found: list[tuple[float, Programme]] = []
    for cells in _CELLS:
        step, multiples = score_grid(points, gamma, cells)
        rows, worst = _solved(points, gamma, step, multiples)
        used = np.maximum(rows, rows[:, ::-1]).max(axis=0) > _NOTHING
        one = Programme(rows[:, used], multiples[used], step, worst)
        found.append((_apart(one.rows, points), one))
        if found[-1][0] > _CLEARLY * min(1.0, gamma - 1):
            break
    return max(found, key=lambda pair: pair[0])[1]


def _apart(rows: Array, points: int) -> float:
    """The least singular value of the whole matrix: 0 where two distributions of values look the same."""
    whole = np.vstack((rows, rows[: points // 2][::-1, ::-1]))
    return float(np.linalg.svd(whole, compute_uv=False)[-1]) if whole.shape[1] >= points else 0.0


def score_grid(points: int, gamma: float, cells: int) -> tuple[float, Index]:
    """The step of the scores, and the multiples of it that may be used.

    The step is the distance of the points divided by a power of two: every point is a multiple of half a step.
    """
    between = 2 / (points - 1)
    extreme = (gamma + 1) / (gamma - 1)
    reach = min(extreme + _REACH, 1.5 * extreme)
    step = between * 2.0 ** min(0, math.floor(math.log2(reach / (cells * between))))
    most = math.ceil(reach / step)
    least = math.floor((extreme - _REACH) / step) if most > _WHOLE_GRID else 0
    upper = np.arange(max(least, 0), most + 1)
    return step, np.unique(np.concatenate([-upper, upper]))


def _solved(points: int, gamma: float, step: float, multiples: Index) -> tuple[Array, float]:
    """P for the points up to 0, and the worst noise variance."""
    from scipy.optimize import linprog

    half = (points + 1) // 2
    x = -1 + 2 * np.arange(half) / (points - 1)
    scale = step * float(multiples[-1])  # scores near 1 keep the numbers of the programme near each other
    v, m = multiples * step / scale, len(multiples)
    n, sizes = half * m, np.abs(multiples)
    level = np.searchsorted(np.unique(sizes), sizes)  # an output and its mirror image share their l
    levels = int(level.max()) + 1
    each, every = np.eye(half), np.eye(n)
    low = np.zeros((n, levels))
    low[np.arange(n), np.tile(level, half)] = 1
    blank, tall = np.zeros((half, levels)), np.zeros((n, 1))
    moment, second = np.kron(each, v[None, :]), np.kron(each, v[None, :] ** 2)
    options: Any = {"primal_feasibility_tolerance": _TOLERANCE, "dual_feasibility_tolerance": _TOLERANCE}
    found = linprog(
        np.append(np.zeros(n + levels), 1.0),
        A_ub=np.block([[every, -gamma * low, tall], [-every, low, tall], [second, blank, -np.ones((half, 1))]]),
        b_ub=np.concatenate([np.zeros(2 * n), (x / scale) ** 2]),
        A_eq=np.block(
            [[np.kron(each, np.ones((1, m))), blank, np.zeros((half, 1))], [moment, blank, np.zeros((half, 1))]]
        ),
        b_eq=np.concatenate([np.ones(half), x / scale]),
        method="highs",
        options=options,
    )
    if found.x is None or found.fun is None:
        raise ChannelError(f"no channel for means of {points} points was found at gamma {gamma:g}: use symmetric")
    rows = found.x[:n].reshape(half, m)
    if points % 2:
        rows[-1] = (rows[-1] + rows[-1, ::-1]) / 2  # the value 0 is its own mirror image
    highest = np.maximum(rows, rows[:, ::-1]).max(axis=0)
    return np.maximum(rows, highest / gamma), float(found.fun) * scale**2
