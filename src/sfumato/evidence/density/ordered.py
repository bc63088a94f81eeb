"""The density of an ordered attribute that passed a finite channel: the smoothed distribution of its values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from sfumato.arrays import Array
from sfumato.channels.base import Channel
from sfumato.channels.noise import Noise
from sfumato.errors import EstimationError
from sfumato.evidence.density.band import Spread
from sfumato.evidence.density.result import Density
from sfumato.evidence.density.smooth import smooth


@dataclass(frozen=True, eq=False, repr=False)
class OrderedDensity(Density):
    """A Density whose cells are the attribute's own values (about 100 groups of them where they are many).

    ``noise`` is the channel. There is no histogram of z: what was released need not look like values at all. ``names``
    are the values that stand at their places, from 0 to 1, from 1 to 2 and so on, where these are no numbers in bins.
    """

    names: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        return (
            f"OrderedDensity({self.channel}, n={self.n:,}, {self.mass.size} cells on "
            f"[{self.edges[0]:.6g}, {self.edges[-1]:.6g}], mean {self.mean:.6g}, sd {self.sd:.6g})"
        )

    @property
    def channel(self) -> Channel:
        """What the attribute passed; the first, where there are several."""
        return cast(Channel, self.noise)

    @property
    def rank(self) -> int:
        """How many directions of the mass the answers tell."""
        return min(self.mass.size, int(np.linalg.matrix_rank(self.channel.transition.dense())))

    def null_space(self) -> Array:
        raise EstimationError("the null space is that of additive noise; a channel tells its own by its matrix")

    def to_dict(self) -> dict[str, Any]:
        low, high = self.band()
        return {
            "method": "smooth",
            "n": self.n,
            "channel": self.channel.to_dict(),
            "mean": self.mean,
            "sd": self.sd,
            "edges": self.edges.tolist(),
            "mass": self.mass.tolist(),
            "band": {"level": 0.9, "low": low.tolist(), "high": high.tolist()},
        }


def ordered_density(
    counts: Sequence[Array], channels: Sequence[Channel], edges: Array, *, nullable: bool = False
) -> OrderedDensity:
    """From the counts of released codes; ``edges`` are the ends of the values, one more than there are.

    >>> from sfumato.channels import windows
    >>> channel = windows(40, gamma=9)
    >>> released = np.bincount(channel.randomize(np.repeat(np.arange(10, 30), 500), rng=0), minlength=channel.m)
    >>> found = ordered_density([released], [channel], np.linspace(0, 80, 41))
    >>> round(found.mean), found.edges.size
    (40, 41)
    """
    found = smooth(counts, channels, nullable=nullable)
    ends = edges[np.append(found.first, len(found.shares))]
    mass = np.add.reduceat(found.shares, found.first)
    models = found.models
    if models is not None:  # heights per unit of the attribute, not per value
        scale = np.log(np.diff(np.append(found.first, len(found.shares))) / np.diff(ends))
        models = Spread(models.centre + scale, models.sd, models.weights)
    n = round(found.n * (1 - found.missing))
    none = np.empty(0)
    made = OrderedDensity(ends, mass, "smooth", cast(Noise, channels[0]), n, 0, np.nan, none, none)
    return replace(made, spread=models)
