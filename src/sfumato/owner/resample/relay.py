"""A model fitted to rows that a model drew: what the first learned of any one record is lost among the draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sfumato.owner.resample.blend import Blend, Setting, fit
from sfumato.owner.resample.cells import covariance
from sfumato.owner.resample.kernel import Array, normals
from sfumato.randomness import Source

_ALONE = 1e-9


def models(classes: Sequence[Array], setting: Setting, src: Source) -> list[Blend]:
    """The classes of one site, ready to be drawn from, relayed where the setting says so.

    A record x shifts the mean of its class by (x - m) / n, and n released rows show that mean up to sd / sqrt(n): where
    n is small an outlier is seen by this alone. So r n drawn rows stand between the records and the release, and the
    model is fitted anew to them: its parameters are blurred by sd / sqrt(r n), which nobody can undo, and which costs a
    classifier as much as having 1 + 1/r times fewer records.
    """
    first = fit(classes, setting)
    if setting.relay >= 1:
        return first
    drawn = [_drawn(model, setting.relay, src) for model in first]
    common = covariance(
        np.vstack([(Z - Z.mean(axis=0)) @ m.backward.T for m, cells in zip(first, drawn, strict=True) for Z in cells])
    )
    return [_refitted(model, cells, common) for model, cells in zip(first, drawn, strict=True)]


def _drawn(model: Blend, share: float, src: Source) -> list[Array]:
    """Rows from every cell, so many for each of its records, in the coordinates of the class."""
    out = []
    for g, (mean, factor) in enumerate(zip(model.means, model.factors, strict=True)):
        n, d = max(round(share * int((model.own == g).sum())), 3), len(mean)
        out.append(mean + normals(src, n * d).reshape(n, d) @ factor.T)
    return out


def _refitted(model: Blend, cells: list[Array], common: Array) -> Blend:
    """The same cells with the means and the common shape of the drawn rows; lambda is 1: no row has its own record."""
    root = np.linalg.cholesky(model.forward @ common @ model.forward.T + _ALONE * np.eye(len(model.forward)))
    shape = np.broadcast_to(root, model.factors.shape), np.broadcast_to(np.linalg.inv(root), model.factors.shape)
    means = np.array([Z.mean(axis=0) for Z in cells])
    return replace(model, means=means, factors=shape[0], inverses=shape[1], mix=np.ones(len(model.Z)), sources=np.inf)
