"""The attack that a blurred model calls for: how far its moments moved towards a record, each by its precision.

The closed form of ``exposure`` says how well this can work at best. It needs no shadow release, and it sees columns and
clipped records as the model does. It is one of the attacker's features, so that no release is judged without it.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sfumato.arrays import Array, Labels
from sfumato.owner.resample.exposure import Sight, excess
from sfumato.owner.resample.model import Model


class MatchedFilter:
    r"""Log-likelihood ratios of every candidate from the released means m', covariance W' and class scales s'.

        e' (c W + t G)^-1 (m' - m)  +  sum_jk S_jk (W' - W)_jk / (2 c w_j w_k + k t g_j g_k)

    with the symbols of ``exposure.distances``; class scales add sum_j ((e_j^2 / w_jj - 1) / 2) log(s'_j / s_j) / (c / 2
    + t). The model is one of the whole pool of candidates. The trace of W' is set to that of W, as blurring does.
    """

    names: ClassVar[tuple[str, ...]] = ("matched filter of means", "matched filter of covariances", "matched filter")

    def __init__(self, model: Model, strength: float, rows: float) -> None:
        self._model, self._sight = model, Sight.of(model, strength, rows)
        self._E = model.residuals @ self._sight.axes
        self._excess = excess(model) if model.form.scaled else None

    def __call__(self, R: Array, r: Labels) -> Array:
        """One line for each of ``names``, one column for each candidate, from released rows R and labels r."""
        model, sight, d = self._model, self._sight, len(self._sight.size)
        own = np.minimum(np.searchsorted(model.labels, r), len(model.labels) - 1)
        known = model.labels[own] == r
        if not d or not known.any():
            return np.zeros((len(self.names), len(model.own)))
        Z, own = model.columns.forward(R)[known], own[known]
        parts = [Z[own == c] for c in range(len(model.labels))]
        means = np.array([part.mean(axis=0) if len(part) else m for part, m in zip(parts, model.means, strict=True)])
        rest = (Z - means[own]) / model.scales[own]
        shift = ((means - model.means) / model.scales) @ sight.axes
        centre = (self._E * (shift * sight.means)[model.own]).sum(axis=1)
        along = rest @ sight.axes
        seen = along.T @ along / len(along)
        gap = seen * (sight.size.sum() / max(float(np.trace(seen)), 1e-12)) - np.diag(sight.size)
        gap = gap * sight.moments
        if model.form.diagonal:
            gap = np.diag(np.diag(gap))
        around = ((self._E @ gap) * self._E).sum(axis=1) - float(np.diag(gap) @ sight.size)
        if self._excess is not None:
            around = around + (self._excess * self._wider(rest, own)[model.own]).sum(axis=1) * sight.scales
        return np.array([centre, around, centre + around])

    def _wider(self, rest: Array, own: Labels) -> Array:
        """The logarithms of the deviations of each class against those of all."""
        usual = np.log(np.maximum(rest.std(axis=0), 1e-9))
        out = np.zeros_like(self._model.means)
        for c in range(len(out)):
            if (own == c).sum() > 1:
                out[c] = np.log(np.maximum(rest[own == c].std(axis=0), 1e-9)) - usual
        return out
