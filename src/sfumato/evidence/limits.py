r"""Limits for a count by inverting a test: all counts n that the estimate does not contradict.

Under a true count of n the estimate N̂ has mean n and central moments that are sums over the records,

    κ_j(n) = n c_j + (N - n) c̄_j,       c_j of a record of the cell, c̄_j of another record on average, j = 2, 3, 4.

The test of n has three parts.

1. The distribution of N̂ - n is taken as a gamma distribution with these κ₂ and κ₃ (Wilson and Hilferty's cube root
   turns it into a normal score u), and N̂ is moved towards n by half of what one record moves it, J = sqrt(κ₄ / κ₂).
   For few and large jumps this follows the Poisson distribution closely.
2. Where less than half a jump is expected, one jump has at least the probability 1 - exp(-λ), λ = κ₂ / J².
3. Estimates are ordered by their likelihood ratio against the best count in [0, N] (Feldman and Cousins 1998), so that
   limits near 0 and N pass smoothly from two sides to one, and some count is always accepted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.errors import EstimationError

_CHUNK = 1 << 14  # cells that are solved together: their arrays stay in the processor's cache
_STEPS = 80
_FINE = 1e-8  # of a standard deviation
_NOTHING = 1e-12  # a standard deviation of this many times N is rounding
_TILT = 4.0  # the most that the other cells' second moment is raised by
_SKEW = 4.0  # beyond this skewness part 2 of the test speaks


def check_level(level: float) -> float:
    if isinstance(level, bool) or not isinstance(level, int | float | np.number) or not 0 < level < 1:
        raise EstimationError(f"level must lie in (0, 1), got {level!r} instead")
    return float(level)


@dataclass(frozen=True, eq=False)
class Records:
    """What the records say of each cell's count; all arrays have the shape of the cells, moments three times that.

    ``own`` and ``other`` are the second to fourth moments of what one record adds to the estimate, for a record of the
    cell and, on average, for one of another cell. Their first moments are 1 and 0. For the table's own counts they are
    moments about these means, for a population about 0.

    ``other`` describes the other cells as they seem to be. If the true count were n, they would probably be others,
    and their second moment would be other + tilt (n - pivot) / (around - n). The test takes the larger of the two.
    """

    estimate: Array
    most: Array  # the most that the count may be
    around: Array  # how many records may belong to the cell; of a population, as many as were seen
    own: Array
    other: Array
    pivot: Array
    tilt: Array

    def flat(self) -> Records:
        """The same with one axis of cells."""
        shape = self.estimate.shape
        single = [np.broadcast_to(part, shape).reshape(-1) for part in (self.estimate, self.most, self.around)]
        moments = [np.broadcast_to(part, (3, *shape)).reshape(3, -1) for part in (self.own, self.other)]
        lines = [np.broadcast_to(part, shape).reshape(-1) for part in (self.pivot, self.tilt)]
        return Records(*single, *moments, *lines)

    def at(self, cells: NDArray[np.int64] | slice) -> Records:
        """Some cells of a flat one."""
        parts = (self.estimate, self.most, self.around, self.own, self.other, self.pivot, self.tilt)
        return Records(*(part[..., cells] for part in parts))


def limits(below: Records, above: Records, level: float, population: float = 0.0) -> tuple[Array, Array]:
    """The least and the greatest count that a test at 1 - level accepts, cell by cell.

    For a population the count is N times a share: the records themselves are then a sample, and each belongs to the
    cell with the probability n / N, or to the other cells that the channel may mix it up with, with the probability
    (around - n) / N. Between 0 and 1 ``population`` is the share of a table that was not asked: moments
    then lie between those of the table asked whole and of a sample from a population without end.
    """
    alpha = 1 - check_level(level)
    chunks = [slice(at, at + _CHUNK) for at in range(0, below.estimate.size, _CHUNK)]
    low, high = (
        np.concatenate([_edge(side.at(chunk), end, alpha, population) for chunk in chunks])
        for side, end in ((below.flat(), 0.0), (above.flat(), 1.0))
    )
    return low.reshape(below.estimate.shape), high.reshape(below.estimate.shape)


def p_value(count: Array, records: Records, population: float) -> Array:
    """The probability, if this is the true count, of an estimate that speaks as much or more against it."""
    from scipy.special import ndtr

    variance, third, fourth = _central(count, records, population)
    variance = np.maximum(variance, (_NOTHING * (1 + records.most)) ** 2)
    sd = np.sqrt(variance)
    jump = np.sqrt(np.maximum(fourth, 0.0) / variance)
    away = np.abs(records.estimate - count)
    above = records.estimate > count
    skew = np.clip(np.where(above, third, -third) / (variance * sd), -_SKEW, _SKEW)
    u = np.maximum(_normal_score(np.maximum(away - jump / 2, 0.0) / sd, skew), 0.0)
    u = np.where(away <= jump / 2, 0.0, u)
    below, beyond = count / sd, (records.most - count) / sd  # the distances to the least and the greatest count
    near, far = np.where(above, beyond, below), np.where(above, below, beyond)
    # -2 log of the likelihood ratio, and the score on the other side that has the same ratio
    ratio = np.where(u <= near, u * u, near * (2 * u - near))
    root = np.sqrt(ratio)
    opposite = np.where(root <= far, root, (ratio + far * far) / np.maximum(2 * far, 1e-12))
    p = np.where(ratio > 0, ndtr(-u) + ndtr(-opposite), 1.0)
    expected = variance / np.maximum(jump * jump, 1e-300)
    # fading out between 1 and 1.5 jumps, and between a quarter and half a jump expected
    single = np.clip(3 - 2 * away / np.maximum(jump, 1e-300), 0.0, 1.0) * np.clip(2 - 4 * expected, 0.0, 1.0)
    return np.asarray(np.maximum(p, -np.expm1(-expected) * single))


def _normal_score(z: Array, skew: Array) -> Array:
    """The normal score of a standardized gamma variable; Wilson and Hilferty (1931)."""
    some = np.where(np.abs(skew) > 1e-4, skew, 1.0)
    curved = 6 / some * (np.cbrt(1 + some * z / 2) - 1) + some / 6
    return np.where(np.abs(skew) > 1e-4, curved, z - skew * (z * z - 1) / 6)


def _central(count: Array, records: Records, population: float) -> tuple[Array, Array, Array]:
    """The second to fourth central moments, summed over the records, if this is the true count."""
    n, own, other = records.most, records.own, records.other
    left = np.maximum(records.around - count, 0.0)
    tilted = other[0] + records.tilt * (count - records.pivot) / np.maximum(left, _NOTHING)
    others = np.clip(tilted, other[0], _TILT * other[0]), other[1], other[2]
    if not population:
        second, third, fourth = (count * mine + left * theirs for mine, theirs in zip(own, others, strict=True))
        return second, third, fourth
    m1, rest = count / np.maximum(n, 1e-300), left / np.maximum(n, 1e-300)
    m2, m3, m4 = (m1 * mine + rest * theirs for mine, theirs in zip(own, others, strict=True))
    drawn = m2 - m1**2, m3 - 3 * m1 * m2 + 2 * m1**3, m4 - 4 * m1 * m3 + 6 * m1**2 * m2 - 3 * m1**4
    if population == 1:
        return n * drawn[0], n * drawn[1], n * drawn[2]
    whole = (m1 * mine + rest * theirs for mine, theirs in zip(about_the_mean(own), others, strict=True))
    second, third, fourth = (n * (population * d + (1 - population) * w) for d, w in zip(drawn, whole, strict=True))
    return second, third, fourth


def about_the_mean(moments: Array) -> Array:
    """Second to fourth moments about the mean 1, from those about 0."""
    second, third, fourth = moments
    return np.stack([second - 1, third - 3 * second + 2, fourth - 4 * third + 6 * second - 3])


def _edge(records: Records, end: float, alpha: float, population: float) -> Array:
    """The last accepted count on the way from the estimate to 0 or N, by the Illinois form of the secant rule."""
    start, rounding = np.clip(records.estimate, 0.0, records.most), 10 * _NOTHING * (1 + records.most)
    goal = float(np.sqrt(-2 * np.log(alpha)))
    out = end * records.most
    refusal = _refusal(p_value(out, records, population), goal)
    left = np.flatnonzero(refusal > 0)  # the cells still to be solved; the others reach the end
    if not left.size:
        return out
    records = records.at(left)
    inside, outside = start[left], out[left]
    at_inside, at_outside = np.full(left.size, -goal), refusal[left]
    variance, _, fourth = _central(inside, records, population)
    guess = goal * np.sqrt(np.maximum(variance, 0.0)) + goal * np.sqrt(np.maximum(fourth, 0.0) / (variance + 1e-300))
    share = np.clip(guess / np.abs(outside - inside), 1e-6, 0.5)
    before = np.ones(left.size, dtype=bool)
    for step in range(_STEPS):
        middle = inside + share * (outside - inside)
        value = _refusal(p_value(middle, records, population), goal)
        accepted = value <= 0
        # the value at an end that stays a second time counts half, so that both ends move
        again = np.where(accepted == before, 0.5, 1.0)
        at_inside = np.where(accepted, value, at_inside * again)
        at_outside = np.where(accepted, at_outside * again, value)
        inside, outside = np.where(accepted, middle, inside), np.where(accepted, outside, middle)
        solved = np.abs(value) < _FINE
        out[left] = np.where(solved, middle, inside)
        todo = np.flatnonzero(~solved & (np.abs(outside - inside) > _FINE * (1e-4 + np.abs(middle))))
        if not todo.size:
            break
        if todo.size < left.size:
            left, records = left[todo], records.at(todo)
            inside, outside, at_inside, at_outside = (x[todo] for x in (inside, outside, at_inside, at_outside))
        before = accepted[todo]
        share = at_inside / (at_inside - at_outside) if step % 8 < 7 else np.full(todo.size, 0.5)
    return np.where((refusal > 0) & (np.abs(out - start) <= rounding), start, out)


def _refusal(p: Array, goal: float) -> Array:
    """Above 0 where the test refuses; sqrt(-2 log p) grows almost linearly with the distance from the estimate."""
    return np.asarray(np.sqrt(-2 * np.log(np.clip(p, 1e-300, 1.0))) - goal)
