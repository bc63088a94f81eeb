r"""Numbers with additive noise put back into intervals, as Agrawal and Srikant (2000), AS00, do before growing a tree.

The distribution of x over the intervals is reconstructed from z = x + noise. Then the records are sorted by z, and the
lowest N · p_1 of them go to the first interval, the next N · p_2 to the second, and so on: every record has an interval
again, and the intervals hold as many records as they should.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.channels.additive import Noise
from sfumato.errors import UnrecoverableWarning, without_warnings
from sfumato.evidence.density import density

Places = NDArray[np.int64]

#: Reconstruction is not tried for fewer records: AS00 stop it "when the number of records becomes small".
LEAST = 1000
#: AS00 choose the intervals so that they hold a hundred records on average, but never fewer or more than these.
PER_INTERVAL, FEWEST, MOST = 100, 10, 100


@dataclass(frozen=True)
class Column:
    """One attribute: its noise (None where it is as it was), the edges of its intervals, the iteration that is used."""

    noise: Noise | None
    edges: Array
    method: str = "as"

    @property
    def intervals(self) -> int:
        return self.edges.size - 1

    def plain(self, z: Array) -> Places:
        """The interval of each number as it stands; what lies beyond the ends belongs to the end intervals."""
        return np.asarray(np.clip(np.searchsorted(self.edges, z, side="right") - 1, 0, self.intervals - 1))

    def reconstructed(self, z: Array) -> Places:
        """The interval of each record by the reconstructed distribution."""
        if self.noise is None or z.size < 2 or z.min() == z.max():
            return self.plain(z)
        ends = (float(self.edges[0]), float(self.edges[-1]))
        options: dict[str, Any] = {"bins": self.intervals} if self.method != "auto" else {"place_only": True}
        with without_warnings(UnrecoverableWarning):  # said once, by the tree
            found = density(z, self.noise, support=ends, method=self.method, outside="widen", **options)
        return by_rank(z, found.cdf(self.edges[1:-1]))

    def drowned(self, z: Array) -> bool:
        """Whether the noise leaves little more than the mean: the variance of x is below a ninth of the noise's."""
        return self.noise is not None and float(np.var(z)) < self.noise.sd**2 * (1 + 1 / 9)


def by_rank(z: Array, up_to: Array) -> Places:
    """The interval of each record: the share ``up_to[i]`` with the lowest z lies in the intervals 0 to i.

    >>> by_rank(np.array([5.0, 1.0, 9.0, 2.0]), np.array([0.5, 0.75]))
    array([1, 0, 2, 0])
    """
    rank = np.empty(z.size, dtype=np.int64)
    rank[np.argsort(z, kind="stable")] = np.arange(z.size)
    return np.asarray(np.searchsorted(np.rint(up_to * z.size), rank, side="right"), dtype=np.int64)


def number_of_intervals(records: int) -> int:
    """A hundred records each on average, from 10 to 100 intervals."""
    return int(np.clip(records // PER_INTERVAL, FEWEST, MOST))


def overall(columns: Sequence[Column], values: Array) -> Places:
    """Global: one reconstruction of every attribute, from all records."""
    return np.stack([one.reconstructed(values[:, j]) for j, one in enumerate(columns)], axis=1)


def by_class(columns: Sequence[Column], values: Array, classes: Places) -> Places:
    """ByClass: the records of every class are reconstructed apart."""
    found = np.empty(values.shape, dtype=np.int64)
    for c in np.unique(classes):
        found[classes == c] = overall(columns, values[classes == c])
    return found


def local(columns: Sequence[Column], values: Array, classes: Places) -> Callable[[Places, Places, set[int]], Places]:
    """Local: by class again in every node. An attribute that was asked above keeps its intervals.

    There z was cut by rank, so that it is no sum of x and independent noise any more.
    """

    def anew(rows: Places, places: Places, asked: set[int]) -> Places:
        if not asked:  # the root is reconstructed by class already
            return places
        out = places.copy()
        for c in np.unique(classes[rows]):
            own = classes[rows] == c
            if int(own.sum()) < LEAST:
                continue
            for j, one in enumerate(columns):
                if j not in asked:
                    out[own, j] = one.reconstructed(values[rows[own], j])
        return out

    return anew
