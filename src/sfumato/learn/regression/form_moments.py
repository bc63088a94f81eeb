r"""Gaussian coefficients from forms: each moment from the forms that ask the attributes it looks at.

    Σ x_i x_j  ≈  N / n_ij  Σ_z Ñ_z (x_i x_j)_z,        over the n_ij records that were asked both

No form need ask all attributes together. A record adds to the score, x (y - xᵀβ), what its form tells of it; the
variance is the sum over the records, form by form, around the form's own mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence import Evidence
from sfumato.evidence.kinds import asked_by_part, asked_together
from sfumato.evidence.seen import Seen
from sfumato.learn.regression.design_columns import Column
from sfumato.learn.regression.told_by_records import told_of_column

Entry = tuple[int, int]


class FormMoments:
    """Unbiased moments of the columns and, last, the response; ``answered`` is 0 where there is no response."""

    def __init__(
        self, source: Evidence, names: Sequence[str], columns: Sequence[Column], y: Column, answered: Column | None
    ) -> None:
        self._products = products(columns, y, answered)
        self._parts = _parts(source, names)
        self.total, width = float(source.n), len(columns)
        asked = dict.fromkeys(self._products, 0.0)
        moments = np.zeros((width + 1, width + 1))
        for part in self._parts:
            for entry, told in self._told(part):
                asked[entry] += part.total
                moments[entry] += part.counts @ told
        self._scale = {entry: self.total / n for entry, n in asked.items()}
        for (i, j), scale in self._scale.items():
            moments[i, j] = moments[j, i] = moments[i, j] * scale
        self.information, self.answers = moments[:-1, :-1], moments[:-1, -1]
        self.squares = float(moments[-1, -1])

    def spread(self, beta: Array) -> Array:
        """The covariance of the score at β."""
        weights, width = np.append(-beta, 1.0), len(beta)

        def score(s: Array, entry: Entry, told: Array) -> None:
            i, j = entry
            if i < width:
                s[:, i] += weights[j] * told
            if j < width and i != j:
                s[:, j] += weights[i] * told

        return self._summed(width, score)

    def quadratic_spread(self, directions: Array) -> Array:
        """The variance of Σ (xᵀv)² for each column v of the directions."""
        width = len(directions)

        def square(s: Array, entry: Entry, told: Array) -> None:
            i, j = entry
            if max(i, j) < width:
                s += told[:, None] * directions[i] * directions[j] * (1 if i == j else 2)

        return np.asarray(np.diag(self._summed(directions.shape[1], square)))

    def _summed(self, width: int, add: Callable[[Array, Entry, Array], None]) -> Array:
        out = np.zeros((width, width))
        for part in self._parts:
            s = np.zeros((len(part.counts), width))
            for entry, told in self._told(part):
                add(s, entry, self._scale[entry] * told)
            mean = part.counts @ s
            out += (s * part.counts[:, None]).T @ s - np.outer(mean, mean) / part.total
        return out

    def _told(self, part: Seen) -> list[tuple[Entry, Array]]:
        """What every record of a part says of each moment that its form tells."""
        held = set(part.names)
        return [(e, told_of_column(part, p)) for e, p in self._products.items() if held.issuperset(p.names)]


def products(columns: Sequence[Column], y: Column, answered: Column | None) -> dict[Entry, Column]:
    """The products of every two columns, the response last."""
    every = [*columns, y]
    found = {(i, j): every[i].times(every[j]) for j in range(len(every)) for i in range(j + 1)}
    return found if answered is None else {entry: one.times(answered) for entry, one in found.items()}


def told_by_forms(source: Evidence, columns: Sequence[Column], y: Column, answered: Column | None) -> bool:
    """Whether every moment is asked by some form."""
    return all(asked_together(source, one.names) for one in products(columns, y, answered).values())


def _parts(source: Evidence, names: Sequence[str]) -> list[Seen]:
    """The records of every form, with those of the attributes that it asks."""
    asked = [tuple(name for name in names if name in part) for part in asked_by_part(source)]
    out = []
    for own in dict.fromkeys(one for one in asked if one):
        for found in source.records(own):
            scheme = found.scheme
            if scheme is not None and tuple(name for name in names if name in scheme.schema) == own:
                out.append(found)
    return out
