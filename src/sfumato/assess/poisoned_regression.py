"""What liars can do to a regression: how far false answers move its coefficients, to first order."""

from __future__ import annotations

from math import prod

import numpy as np

from sfumato.arrays import Array
from sfumato.assess.poisoning import checked_share
from sfumato.channels.linear import Kronecker
from sfumato.errors import EstimationError
from sfumato.evidence import Evidence
from sfumato.evidence.seen import Seen
from sfumato.learn.regression import Regression
from sfumato.learn.regression.design_columns import matrix
from sfumato.learn.regression.families import Family, Gaussian, Logistic, Ordinal
from sfumato.learn.regression.response import response

#: The most numbers in the table of scores by cells, or by released cells.
_MOST = 1 << 22


def poisoned_coefficients(ev: Evidence, share: float, fitted: Regression) -> tuple[Array, Array]:
    r"""How far a share of false answers can move each coefficient, down and up.

        s N H⁻¹ (Σ_cells A[cell, y] ψ(cell) - ψ(x))

    is what the share s of N records adds when its senders, who hold x, all answer y: ψ is the score of a record, H the
    information of all. The extremes are taken over y and x. True as long as the coefficients move little.
    """
    share = checked_share(share)
    names = (*fitted.features_, fitted.target_)
    if not fitted.method_.startswith("corrected scores") or any(
        name in part.scheme.noises for part in ev.release.parts for name in names
    ):
        raise EstimationError("how far false answers move this regression is not told: it rests on no unbiased cells")
    sizes = ev.schema.sizes(names)
    width = len(fitted.coef_)
    if max(prod(sizes), ev.released_cells(names)) * width > _MOST:
        raise EstimationError("too many cells to look through every answer: give fewer covariates")
    parts = ev.seen(names)
    psi, information = _scores(fitted, dict(zip(names, np.indices(sizes).reshape(len(names), -1), strict=True)), parts)
    inverse = np.linalg.pinv(information)
    reach = share * sum(part.total for part in parts)
    honest = reach * (psi @ inverse.T)
    told = np.concatenate([reach * (_released(part, psi) @ inverse.T) for part in parts])
    return told.min(axis=0) - honest.max(axis=0), told.max(axis=0) - honest.min(axis=0)


def _scores(fitted: Regression, codes: dict[str, Array], parts: tuple[Seen, ...]) -> tuple[Array, Array]:
    """ψ of every cell, 0 where there is no response, and the information of all records."""
    found = response(fitted.target_, fitted.schema_[fitted.target_], fitted.family, fitted.event)
    kept, values = found.kept, found.values
    family: Family = Gaussian() if fitted.family == "gaussian" else Logistic()
    if fitted.family == "ordinal":  # classes that nobody holds were left out
        held = set(fitted.classes_.tolist())
        kept = kept & np.array([label in held for label in fitted.schema_[fitted.target_].labels])
        values, family = np.cumsum(kept) - 1.0, Ordinal(int(kept.sum()))
    answer = np.asarray(codes[fitted.target_], dtype=np.int64)
    inside = np.flatnonzero(kept[answer])
    X = matrix(fitted.columns_, {name: own[inside] for name, own in codes.items()}, len(inside))
    y = values[answer[inside]]
    weights = np.sum([part.centre for part in parts], axis=0)[inside]
    psi = np.zeros((len(answer), len(fitted.coef_)))
    score = family.score(fitted.coef_, X, y)
    if score is not None:
        psi[inside] = score
    return psi, family.information(fitted.coef_, X, y, weights)


def _released(part: Seen, psi: Array) -> Array:
    """Σ_cells A[cell, y] ψ(cell) of every released cell y."""
    axes = [part.names.index(name) for name in part.axes]
    moved = psi.reshape(*part.shape, -1).transpose(*axes, len(axes)).reshape(-1, psi.shape[1])
    return np.asarray(Kronecker(tuple(block.inverse.T for block in part.blocks)).apply(moved))
