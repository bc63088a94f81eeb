r"""How far a mean may lie from that of the middles of its bins, by the heights of neighbouring bins.

Where values lie inside a bin is not released. Between two neighbours the density is taken to rise or to fall all the
way, and in a bin above or below both of them to do so up to one place, which may be any. Then with a and b the heights
of the bins on the left and on the right over that of the bin between them, its mean lies left of its middle by at most

    w (1 - B)(1 - max(s, u)) / 2,    s = (1 - B) / (A - B),    A = a if a >= 1 else ∞,    B = b if b < 1 else 0

of its width w, where u is the step of the numbers over w, if they have one; and by nothing where a <= 1 <= b. Right of
it the same with a and b exchanged. Beyond the first and the last bin stands what leaves more open: as much as beside
them, so that in an end bin above its neighbour values may lie anywhere, or nothing, or for the higher ones a heap.

The step d between two heights has limits d ± z sd, by noise and by chance. What the steps themselves leave open, those
whose limits hold 0 being none, moves the limits of a mean. What the worst steps within their limits leave open beyond
that is an error of each bin, and is added to the mean's own error in squares.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.domains import Numeric
from sfumato.evidence.questions.answer import Answer
from sfumato.evidence.questions.combinations import LEVEL95
from sfumato.evidence.questions.forms import AnswerForm
from sfumato.evidence.questions.values import off_by
from sfumato.pages.display import shown
from sfumato.printable import percentage

_HIDDEN = 0.05
#: What is less, of the standard deviation of a mean, hardly changes how often its limits hold.
MATERIAL = 0.25


def widened(found: Answer, domain: Numeric, running: Sequence[tuple[Array, Array]]) -> Answer:
    """Means with limits that hold what the bins leave open, from the running sums of each group with covariance."""
    bins = Bins(running, np.diff(domain.edges_between_values), domain.step or 0.0)
    room = np.maximum(*(np.hypot(*side) for side in bins.off_the_middle(LEVEL95)))
    some = room > MATERIAL * np.nan_to_num(found.sd)
    if not some.any():
        return replace(found, said=(*found.said, middles(domain)))
    said = f"{middles(domain)}; intervals hold what the heights of the bins leave open"
    return replace(found, form=Widened(found.form, bins, some), said=(*found.said, said))


def middles(domain: Numeric) -> str:
    half = shown(off_by(domain))
    return f"numbers count as the middle of their bin: where they heap on one side, a mean is off by up to {half}"


def hidden_spread(halves: Sequence[float], *variances: float) -> tuple[str, ...]:
    """What to say of a correlation where the spread inside bins is more than a twentieth of that between them."""
    inside = sum((2 * h) ** 2 / 12 / max(v, 1e-300) for h, v in zip(halves, variances, strict=True))
    if inside <= _HIDDEN:
        return ()
    evenly = f"by about {percentage(inside / 2)} where they lie evenly in it, by several times that where they do not"
    how = "much" if inside > 1 else evenly
    return (f"numbers count as the middle of their bin: the correlation of the numbers themselves may differ {how}",)


@dataclass(frozen=True, eq=False)
class Bins:
    """The running sums of each group with their covariance, of bins that hold multiples of ``step``, if it is not 0."""

    groups: Sequence[tuple[Array, Array]]
    widths: Array
    step: float = 0.0

    def off_the_middle(self, z: float) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """How much lower the mean of each group may be, and how much higher: by the steps, and by their errors.

        >>> known = Bins([(np.array([9.0, 90.0, 100.0]), np.zeros((3, 3)))], np.ones(3))
        >>> (low, more_low), (high, more_high) = known.off_the_middle(2.0)
        >>> low.round(3).tolist(), high.round(3).tolist()
        ([0.439], [0.444])
        """
        each = np.array([self._of_group(*own, z) for own in self.groups]).reshape(-1, 4).T
        return (each[0], each[1]), (each[2], each[3])

    def _of_group(self, sums: Array, cov: Array, z: float) -> tuple[float, float, float, float]:
        k, widths = len(self.widths), self.widths
        L = (np.eye(k) - np.eye(k, k=-1)) / widths[:, None]
        heights = L @ sums
        total = float(heights @ widths)
        if total <= 0:
            return 0.0, 0.0, 0.0, 0.0
        chance = np.maximum(heights * widths, 1.0) / widths**2  # of records that are a sample of an even stretch
        noise = L @ cov @ L.T + np.diag(chance)
        variance = np.diag(noise)[1:] + np.diag(noise)[:-1] - 2 * np.diag(noise, 1)
        heights = np.maximum(heights, 1e-9 * total / widths.sum())
        steps, reach = np.diff(heights), z * np.sqrt(np.maximum(variance, 0.0))
        near, far = [], []  # room is most where each step is at a limit
        for beyond in (_as_beside, _nothing_or_heap):
            near.append(_sides(heights, np.where(np.abs(steps) > reach, steps, 0.0), beyond))
            ends = [_sides(heights, steps + end, beyond) for end in (-reach, reach)]
            far += [(a, b) for a, _ in ends for _, b in ends]
        held, least = widths * heights * widths / total, self.step / widths
        left, lefter = (held * np.max([_leftmost(a, b, least) for a, b in each], axis=0) for each in (near, far))
        right, righter = (held * np.max([_leftmost(b, a, least) for a, b in each], axis=0) for each in (near, far))
        more = [float(np.linalg.norm(np.maximum(one, 0.0))) for one in (lefter - left, righter - right)]
        return float(left.sum()), more[0], float(right.sum()), more[1]


def _sides(heights: Array, steps: Array, beyond: Callable[[float], float]) -> tuple[Array, Array]:
    """The heights on the left and on the right of each bin over its own, given the steps from each to the next."""
    after = np.where(steps == 0, 1.0, np.maximum(heights[:-1] + steps, 0.0) / heights[:-1])
    before = np.where(steps == 0, 1.0, np.maximum(heights[1:] - steps, 0.0) / heights[1:])
    return np.append([beyond(one) for one in after[:1]], before), np.append(after, [beyond(one) for one in before[-1:]])


def _as_beside(inner: float) -> float:
    """The height beyond an end bin over its own, by that of the bin inside."""
    return inner


def _nothing_or_heap(inner: float) -> float:
    return 1.0 if inner == 1 else np.inf if inner < 1 else 0.0


def _leftmost(a: Array, b: Array, least: Array) -> Array:
    A, B = np.where(a >= 1, a, np.inf), np.where(b < 1, b, 0.0)
    s = np.where(A > B, (1 - B) / np.where(A > B, A - B, 1.0), 1.0)
    return np.where((a <= 1) & (b >= 1), 0.0, (1 - B) * (1 - np.maximum(s, least)) / 2)


@dataclass(frozen=True, eq=False)
class Widened:
    """Answers whose limits reach further down and up, by what no covariance tells."""

    form: AnswerForm
    bins: Bins
    by_limits: NDArray[np.bool_]

    @property
    def low(self) -> Array:
        return self.form.low

    @property
    def high(self) -> Array:
        return self.form.high

    def value(self, S: Array) -> Array:
        return self.form.value(S)

    def jacobian(self, S: Array) -> Array:
        return self.form.jacobian(S)

    def limits(self, S: Array, C: Array, z: float) -> tuple[Array, Array]:
        low, high = self.form.limits(S, C, z)
        value, known = self.form.value(S), self.by_limits
        (below, more_below), (above, more_above) = self.bins.off_the_middle(z)
        least = np.maximum(value - below - np.hypot(value - low, more_below), self.low)
        most = np.minimum(value + above + np.hypot(high - value, more_above), self.high)
        return np.where(known, np.fmin(least, low), low), np.where(known, np.fmax(most, high), high)

    def records(self, S: Array) -> Array:
        return self.form.records(S)

    def of_population(self, people: float, squares: Array | None) -> Widened:
        return replace(self, form=self.form.of_population(people, squares))

    def unseen(self, S: Array, low: Array, high: Array) -> NDArray[np.bool_]:
        return self.form.unseen(S, low, high)
