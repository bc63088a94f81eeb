"""The two ways MGAS merges clusters: neighbours on a line, or the nearest pair in space.

Both follow the same rule, Ma (2006) section 2.3: merge the two clusters whose means are nearest, take a
cluster out of the pool once it has enough records and width, and give what is left over to the nearest
finished cluster.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array, Index


class LineClusters:
    """Clusters on a line, each merging with the one beside it.

    ``gap[i]`` is the distance between the means of clusters i - 1 and i, infinite where they may not merge.
    On a line merging never brings a third cluster nearer, so a gap smaller than the gaps on both its sides
    stays so until it closes. All such gaps can close at once, and the outcome is that of closing the smallest
    gap first, one at a time: no heap is needed. Where few gaps are of that kind (gaps that grow in one
    direction) a walk takes over, so that N sorted values always take O(N).

    Ties go by ``rank``, odd boundaries first: equally spaced values pair up, none queues.
    """

    def __init__(self, values: Array, counts: Index, min_records: int, min_width: float) -> None:
        index = np.arange(len(values))
        self.first = index
        self.size, self.mean, self.low, self.high = counts.copy(), values.copy(), values, values.copy()
        self.gap = np.diff(values, prepend=-np.inf)
        self.rank = np.empty(len(values), dtype=np.int64)
        self.rank[np.lexsort((index, index & -index))] = index
        self.min_records, self.min_width = min_records, min_width
        self.done = self._meets()
        self._close_finished()

    def group_starts(self) -> Index:
        """The index of the first value of every group."""
        while self._merge_round():
            pass
        self._merge_one_by_one()
        return self._absorb_stranded()

    def _meets(self) -> NDArray[np.bool_]:
        return (self.size >= self.min_records) & (self.high - self.low >= self.min_width)

    def _close_finished(self) -> None:
        barred = self.done.copy()
        barred[1:] |= self.done[:-1]
        self.gap[barred] = np.inf

    def _merge_round(self, worthwhile: float = 1 / 32) -> bool:
        """Close every gap that is smaller than both its neighbours; False when too few are to pay."""
        chosen = np.isfinite(self.gap)
        left_first = (self.gap[:-1] < self.gap[1:]) | (
            (self.gap[:-1] == self.gap[1:]) & (self.rank[:-1] < self.rank[1:])
        )
        chosen[:-1] &= left_first
        chosen[1:] &= ~left_first
        right = np.flatnonzero(chosen)
        if len(right) == 0 or len(right) < worthwhile * np.isfinite(self.gap).sum():
            return False
        left = right - 1
        self.size[left] += self.size[right]
        self.mean[left] += (self.mean[right] - self.mean[left]) * (self.size[right] / self.size[left])
        self.high[left] = self.high[right]
        for name in ("first", "size", "mean", "low", "high", "gap", "rank"):
            setattr(self, name, getattr(self, name)[~chosen])
        # The maximum guards the order against rounding: in exact arithmetic a gap never shrinks.
        self.gap[1:] = np.maximum(self.gap[1:], np.diff(self.mean))
        self.done = self._meets()
        self._close_finished()
        return True

    def _merge_one_by_one(self) -> None:
        """Walk downhill to a gap smaller than both its neighbours, close it, go on from there: O(N) steps.

        To the left of ``here`` the gaps fall towards it up to the last infinite one; beyond that all is
        settled.
        """
        size, mean, low, high = self.size.tolist(), self.mean.tolist(), self.low.tolist(), self.high.tolist()
        gap, rank, count = [*self.gap.tolist(), math.inf], [*self.rank.tolist(), 0], len(self.gap)
        before, after = list(range(-1, count)), list(range(1, count + 1))
        alive = [True] * count
        here = 0
        while here < count:
            left, beyond, width = before[here], after[here], gap[here]
            if width == math.inf or (gap[beyond], rank[beyond]) < (width, rank[here]):
                here = beyond
                continue
            if (gap[left], rank[left]) < (width, rank[here]):
                here = left
                continue
            alive[here] = False
            size[left] += size[here]
            mean[left] += (mean[here] - mean[left]) * (size[here] / size[left])
            high[left] = high[here]
            after[left], before[beyond] = beyond, left
            if size[left] >= self.min_records and high[left] - low[left] >= self.min_width:
                gap[left] = gap[beyond] = math.inf
                here = max(before[left], 0)
                continue
            if gap[left] < math.inf:
                gap[left] = max(gap[left], mean[left] - mean[before[left]])
            if gap[beyond] < math.inf:
                gap[beyond] = max(gap[beyond], mean[beyond] - mean[left])
            here = left
        self.size, self.mean, self.high = np.array(size)[alive], np.array(mean)[alive], np.array(high)[alive]
        self.first, self.low = self.first[alive], self.low[alive]
        self.done = self._meets()

    def _absorb_stranded(self) -> Index:
        """Give each cluster that stayed too small or narrow to the finished neighbour of nearer mean."""
        stranded = np.flatnonzero(~self.done)
        distance = np.diff(self.mean, prepend=-np.inf, append=np.inf)
        leftward = distance[stranded] <= distance[stranded + 1]
        kept = np.ones(len(self.first), dtype=bool)
        kept[np.where(leftward, stranded, stranded + 1)] = False
        return self.first[kept]


class SpaceClusters:
    """Clusters in space: any two may merge, the pair with the nearest means first.

    Each cluster remembers a nearest neighbour and its squared distance, looked up when the cluster is made:
    so the newer of two always knows their distance or a lower one. When the neighbour is gone the distance is
    still a lower bound and is only looked up again once the cluster comes first: O(N^2) time, O(N) memory. A
    cluster that is out (merged away or finished) has an infinite mean: infinitely far from all others.
    """

    def __init__(self, points: Array, counts: Index, min_records: int, min_width: float) -> None:
        from scipy.spatial import cKDTree

        self.min_records, self.min_width = min_records, min_width
        self.joined, self.finished = np.arange(len(points)), dict[int, Array]()
        self.point, self.size = np.arange(len(points)), counts.copy()
        self.mean, self.low, self.high = points.T.copy(), points.T.copy(), points.T.copy()
        # The points are distinct: the first found is the point itself, the second its neighbour. Where a tiny
        # distance rounds to zero it can be the other way round: look again when needed.
        distance, neighbour = cKDTree(points).query(points, k=[2])
        self.bound = np.asarray(distance, dtype=np.float64)[:, 0] ** 2
        self.nearest = np.asarray(neighbour, dtype=np.int64)[:, 0]
        self.nearest[self.nearest == self.point] = -1

    def groups(self) -> Index:
        """The group of every point."""
        pooled = len(self.size)
        while pooled > 1:
            one = int(np.argmin(self.bound))
            other = int(self.nearest[one])
            if other < 0:
                self._look_up(one)
                continue
            pooled -= 2 if self._merge(one, other) else 1
            if 2 * pooled < len(self.size):
                self._drop_those_out()
        for stranded in np.flatnonzero(np.isfinite(self.mean[0])):
            centres = np.array(list(self.finished.values()))
            nearest = int(np.argmin(((centres - self.mean[:, stranded]) ** 2).sum(axis=1)))
            self.joined[self.point[stranded]] = list(self.finished)[nearest]
        while (self.joined != self.joined[self.joined]).any():
            self.joined = self.joined[self.joined]
        return np.unique(self.joined, return_inverse=True)[1].astype(np.int64)

    def _look_up(self, one: int) -> None:
        away = self.mean - self.mean[:, one, None]
        distance = np.einsum("ij,ij->j", away, away)
        distance[one] = np.inf
        self.nearest[one] = nearest = int(np.argmin(distance))
        self.bound[one] = distance[nearest]

    def _merge(self, one: int, other: int) -> bool:
        """Put ``other`` into ``one``; True when that finishes it."""
        self.joined[self.point[other]] = self.point[one]
        self.size[one] += self.size[other]
        share = self.size[other] / self.size[one]
        self.mean[:, one] += (self.mean[:, other] - self.mean[:, one]) * share
        self.low[:, one] = np.minimum(self.low[:, one], self.low[:, other])
        self.high[:, one] = np.maximum(self.high[:, one], self.high[:, other])
        self.nearest[(self.nearest == one) | (self.nearest == other)] = -1
        self.mean[:, other] = self.bound[other] = np.inf
        narrowest = (self.high[:, one] - self.low[:, one]).min()
        if self.size[one] >= self.min_records and narrowest >= self.min_width:
            self.finished[int(self.point[one])] = self.mean[:, one].copy()
            self.mean[:, one] = self.bound[one] = np.inf
            return True
        self._look_up(one)
        return False

    def _drop_those_out(self) -> None:
        kept = np.isfinite(self.mean[0])
        moved = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)
        self.nearest = moved[self.nearest][kept]
        self.point, self.size, self.bound = self.point[kept], self.size[kept], self.bound[kept]
        self.mean, self.low, self.high = self.mean[:, kept], self.low[:, kept], self.high[:, kept]
