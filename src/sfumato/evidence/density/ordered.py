"""The density of an ordered attribute that passed a finite channel: the smoothed distribution of its values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Array
from sfumato.channels.base import Channel
from sfumato.channels.noise import Noise
from sfumato.errors import EstimationError
from sfumato.evidence.density.band import Spread
from sfumato.evidence.density.result import Density
from sfumato.evidence.density.smooth import smooth
from sfumato.pages.display import html_table
from sfumato.printable import percentage


@dataclass(frozen=True, eq=False, repr=False)
class OrderedDensity(Density):
    """A Density whose cells are the attribute's own values (about 100 groups of them where they are many).

    ``noise`` is the channel. There is no histogram of z: what was released need not look like values at all. ``names``
    are the values where these are no numbers in bins. Each fills a step of the edges: numbers at equal distances stand
    in the middle of theirs, and others at their ``places``, from 0 to 1, from 1 to 2 and so on, which have no mean.
    """

    names: tuple[Any, ...] = ()
    places: bool = False

    def __repr__(self) -> str:
        cells = f"OrderedDensity({self.channel}, n={self.n:,}, {self.mass.size} cells"
        if self.places:
            return f"{cells} from {self.names[0]!r} to {self.names[-1]!r})"
        return f"{cells} on [{self.edges[0]:.6g}, {self.edges[-1]:.6g}], mean {self.mean:.6g}, sd {self.sd:.6g})"

    def _repr_html_(self) -> str:
        if not self.places:
            return super()._repr_html_()
        firsts, lasts = self.edges[:-1].astype(int), self.edges[1:].astype(int) - 1
        ends = ([str(self.names[place]) for place in dict.fromkeys(pair)] for pair in zip(firsts, lasts, strict=True))
        shares = (percentage(float(share)) for share in self.mass)
        rows = list(zip(map(" to ".join, ends), shares, strict=True))
        return html_table(repr(self), ["value", "share"], rows)

    @property
    def mean(self) -> float:
        self._check_numbers("mean")
        return super().mean

    @property
    def variance(self) -> float:
        self._check_numbers("variance")
        return super().variance

    def quantile(self, q: ArrayLike) -> Array:
        """The smallest x with cdf(x) >= q."""
        self._check_numbers("quantiles")
        return super().quantile(q)

    def _check_numbers(self, what: str) -> None:
        if self.places:
            raise EstimationError(
                f"a density of values at their places, from {self.names[0]!r} to {self.names[-1]!r}, has no {what}: "
                "mean, quantile and shares of the evidence tell what there is of the attribute"
            )

    @property
    def step(self) -> float:
        """How far apart the values of ``names`` stand."""
        return float(self.edges[-1] - self.edges[0]) / max(len(self.names), 1)

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
            "mean": None if self.places else self.mean,
            "sd": None if self.places else self.sd,
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
