r"""How far a mean may lie from that of the middles of its bins, by the heights of neighbouring bins.

Where values lie inside a bin is not released. Between two neighbours the density is taken to rise or to fall all the
way, and in a bin above or below both of them to do so up to one place, which may be any. Then with a and b the heights
of the bins on the left and on the right over that of the bin between them, its mean lies left of its middle by at most

    w (1 - B)(1 - s) / 2,    s = (1 - B) / (A - B),    A = a if a >= 1 else ∞,    B = b if b < 1 else 0

of its width w, and by nothing where a <= 1 <= b; right of it the same with a and b exchanged. Beside the first and the
last bin stands nothing, or where these are the higher ones, a heap at the end. Heights that noise or chance explains
are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.domains import Numeric
from sfumato.evidence.questions.answer import Answer
from sfumato.evidence.questions.forms import AnswerForm
from sfumato.evidence.questions.statistics import ModelSums, Sums
from sfumato.evidence.questions.values import off_by
from sfumato.pages.display import shown

_EXPLAINED = 3.0  # standard deviations that a difference of two heights may be noise
_HIDDEN = 0.05
#: What is less, of the standard deviation of a mean, hardly changes how often its limits hold.
MATERIAL = 0.25


def widened(found: Answer, domain: Numeric, running: Sums | ModelSums, per: int) -> Answer:
    """Means with limits that hold what the bins leave open, from the running sums, ``per`` of each group."""
    starts = [per * row for row in range(len(found.value))]
    below, above = off_the_middle(*running.finite(), starts, np.diff(domain.edges_between_values))
    some = np.maximum(below, above) > MATERIAL * np.nan_to_num(found.sd)
    if not some.any():
        return replace(found, said=(*found.said, middles(domain)))
    said = f"{middles(domain)}; intervals hold what the heights of the bins leave open"
    form = Widened(found.form, np.where(some, below, 0.0), np.where(some, above, 0.0))
    return replace(found, form=form, said=(*found.said, said))


def middles(domain: Numeric) -> str:
    half = shown(off_by(domain))
    return f"numbers count as the middle of their bin: where they heap on one side, a mean is off by up to {half}"


def hidden_spread(halves: Sequence[float], *variances: float) -> tuple[str, ...]:
    """What to say of a correlation where the spread inside bins is more than a twentieth of that between them."""
    inside = sum((2 * h) ** 2 / 12 / max(v, 1e-300) for h, v in zip(halves, variances, strict=True))
    if inside <= _HIDDEN:
        return ()
    how = "much" if inside > 1 else f"by about {inside / 2:.0%}"
    return (f"numbers count as the middle of their bin: the correlation of the numbers themselves may differ {how}",)


def off_the_middle(sums: Array, cov: Array, starts: Sequence[int], widths: Array) -> tuple[Array, Array]:
    """How much lower and how much higher the mean of each group may be, from its running sums at ``starts``.

    >>> low, high = off_the_middle(np.array([90.0, 99.0, 100.0]), np.zeros((3, 3)), [0], np.ones(3))
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.446], [0.0])
    """
    k = len(widths)
    below, above = np.zeros(len(starts)), np.zeros(len(starts))
    for row, start in enumerate(starts):
        own = slice(start, start + k)
        L = (np.eye(k) - np.eye(k, k=-1)) / widths[:, None]
        heights = L @ sums[own]
        chance = np.maximum(heights * widths, 1.0) / widths**2  # of records that are a sample of an even stretch
        noise = L @ cov[own, own] @ L.T + np.diag(chance)
        total = float(heights @ widths)
        if total <= 0:
            continue
        steps = np.diff(heights)
        variance = np.diag(noise)[1:] + np.diag(noise)[:-1] - 2 * np.diag(noise, 1)
        told = np.abs(steps) > _EXPLAINED * np.sqrt(np.maximum(variance, 0.0))
        safe = np.maximum(heights, 1e-9 * total / widths.sum())
        after = np.where(told, np.maximum(heights[1:], 0.0) / safe[:-1], 1.0)
        before = np.where(told, np.maximum(heights[:-1], 0.0) / safe[1:], 1.0)
        a, b = np.append(_outside(after[0]), before), np.append(after, _outside(before[-1]))
        held = widths * np.maximum(heights, 0.0) * widths / total
        below[row], above[row] = held @ _leftmost(a, b), held @ _leftmost(b, a)
    return below, above


def _outside(inner: float) -> float:
    """The height beyond the first or the last bin, by that of the bin inside over its own."""
    return 1.0 if inner == 1 else np.inf if inner < 1 else 0.0


def _leftmost(a: Array, b: Array) -> Array:
    A, B = np.where(a >= 1, a, np.inf), np.where(b < 1, b, 0.0)
    s = np.where(A > B, (1 - B) / np.where(A > B, A - B, 1.0), 1.0)
    return np.where((a <= 1) & (b >= 1), 0.0, (1 - B) * (1 - s) / 2)


@dataclass(frozen=True, eq=False)
class Widened:
    """Answers whose limits reach further down and up, by what no covariance tells."""

    form: AnswerForm
    below: Array
    above: Array

    @property
    def by_limits(self) -> NDArray[np.bool_]:
        return np.asarray((self.below > 0) | (self.above > 0))

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
        return np.maximum(low - self.below, self.low), np.minimum(high + self.above, self.high)

    def records(self, S: Array) -> Array:
        return self.form.records(S)
