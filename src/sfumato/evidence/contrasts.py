r"""The arithmetic behind the tests of independence: contrasts of an estimated table and their covariance.

    T[j, a, b] = N̂[j, a, b] - N̂[j, a] N̂[j, b] / N̂[j]  =  C N̂,        V = Σ_parts (C A) diag(½ Ñ + ½ Ñ₀) (C A)ᵀ

where j runs over the configurations of what is given, Ñ are the released counts and Ñ₀ those expected under
independence. Ñ alone is too sure of itself where cells are rare, Ñ₀ alone of what independence forbids; their mean
follows the likelihood ratio.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from sfumato.channels.linear import Array
from sfumato.evidence.families import Family, Seen, each_axis

#: A configuration is used when its estimated count exceeds this many standard deviations.
CLEAR = 3.0
#: A contrast is used when the strongest possible dependence would exceed this many of its standard deviations.
TELLING = 1.0
#: How large dependences are expected to be: the prior variance of a correlation.
EFFECT = 0.05


@dataclass(frozen=True, eq=False)
class Contrasts:
    """T, its covariance V, the covariance R that an unrandomized table would have, and the scale of the prior."""

    T: Array
    V: Array
    prior: Array  # the covariance of T if correlations had variance 1


def overall_and_common(family: Family) -> tuple[Contrasts, Contrasts]:
    """All telling contrasts of the two last attributes given the others, and their sums over the configurations."""
    kx, ky = family.table.shape[-2:]
    table = family.table.reshape(-1, kx, ky)
    J, size = len(table), (kx - 1) * (ky - 1)
    px, py, weight = _independent(table)
    left, right = _rows(px), _rows(py)
    T = (left @ table @ right.transpose(0, 2, 1)).reshape(J, size)
    V = np.zeros((J * size, J * size))
    spread = np.zeros(J)
    expected = (weight[:, None, None] * px[:, :, None] * py[:, None, :]).reshape(family.table.shape)
    for part in family.seen:
        B = _released(family, part, left, right)
        mean = 0.5 * part.observed + 0.5 * part.observed.sum() / family.n * _release(family, part, expected)
        V += (B * mean) @ B.T
        spread += _spread(family, part, J)
    own_x, own_y = (rows * p[:, None, :] @ rows.transpose(0, 2, 1) for rows, p in ((left, px), (right, py)))
    raw = weight[:, None, None] * (own_x[:, :, None, :, None] * own_y[:, None, :, None, :]).reshape(J, size, size)
    clear = (table.sum((1, 2)) > CLEAR * np.sqrt(spread)) & (weight > 0)
    ceiling = weight[:, None, None] * np.minimum(_others(px * (1 - px))[:, :, None], _others(py * (1 - py))[:, None, :])
    variance = np.diag(V).reshape(J, size)
    used = clear[:, None] & (variance > 1e-9 * family.n)
    used &= ceiling.reshape(J, size) > TELLING * np.sqrt(np.maximum(variance, 0.0))
    prior = np.zeros((J, size, J, size))
    each = np.arange(J)
    prior[each, :, each, :] = raw * weight[:, None, None]
    at = np.flatnonzero(used)
    overall = Contrasts(T.reshape(-1)[at], V[np.ix_(at, at)], prior.reshape(J * size, -1)[np.ix_(at, at)])
    if J == 1:
        return overall, overall
    S = (_levels(px, weight)[:, None, :, :, None] * _levels(py, weight)[None, :, :, None, :]).reshape(size, J, size)
    S = S * clear[None, :, None]
    together = sum((S[:, j] @ raw[j] @ S[:, j].T for j in range(J)), np.zeros((size, size))) * weight[clear].sum()
    S = S.reshape(size, -1)
    V = S @ V @ S.T
    at = np.flatnonzero(np.diag(V) > 1e-9 * family.n)
    return overall, Contrasts((S @ T.reshape(-1))[at], V[np.ix_(at, at)], together[np.ix_(at, at)])


def judge(contrasts: Contrasts) -> tuple[float, float]:
    r"""The Wald statistic W = Tᵀ V⁻¹ T, and twice the log of the approximate Bayes factor for dependence.

        2 log BF = Σ_i u_i² s_i / (1 + s_i) - log(1 + s_i)

    where V^{-1/2} T has components u_i along the eigenvectors of the prior in units of V, and s_i are its eigenvalues:
    with nothing randomized s_i ≈ N · EFFECT, and Σ log(1 + s_i) is the d log N of the BIC up to a constant; under
    randomization each direction counts with its own effective number of records, and one that tells nothing costs
    nothing. Wakefield (2009).
    """
    if not contrasts.T.size:
        return 0.0, 0.0
    scale = 1 / np.sqrt(np.diag(contrasts.V))
    both = scale[:, None] * scale[None, :]
    ridge = 1e-10 * np.eye(len(scale))
    root = np.linalg.inv(np.linalg.cholesky(contrasts.V * both + ridge))
    t = root @ (contrasts.T * scale)
    strengths, directions = np.linalg.eigh(root @ (EFFECT * contrasts.prior * both) @ root.T)
    s = np.maximum(strengths, 0.0)
    u = directions.T @ t
    return float(t @ t), float((u * u * s / (1 + s) - np.log1p(s)).sum())


def _independent(table: Array) -> tuple[Array, Array, Array]:
    """Shares of x and of y in each configuration, and how many records it holds; nothing negative."""
    rows, cols = np.maximum(table.sum(2), 0.0), np.maximum(table.sum(1), 0.0)
    weight = np.maximum(table.sum((1, 2)), 0.0)
    tiny = 1e-300
    rows /= np.maximum(rows.sum(1, keepdims=True), tiny)
    cols /= np.maximum(cols.sum(1, keepdims=True), tiny)
    return rows, cols, weight


def _kept(p: Array) -> NDArray[np.int64]:
    """In each configuration all values but the most frequent, whose contrast the others imply."""
    k = p.shape[1]
    return np.asarray((p.argmax(1)[:, None] + 1 + np.arange(k - 1)[None, :]) % k)


def _rows(p: Array) -> Array:
    """The rows of I - p 1ᵀ for the kept values of each configuration."""
    full = np.eye(p.shape[1])[None] - p[:, :, None]
    return np.take_along_axis(full, _kept(p)[:, :, None], axis=1)


def _others(p: Array) -> Array:
    return np.take_along_axis(p, _kept(p), axis=1)


def _levels(p: Array, weight: Array) -> Array:
    """How the contrast of each value but the overall most frequent is made of those kept in each configuration."""
    J, k = p.shape
    full = np.zeros((J, k, k - 1))
    np.put_along_axis(full, _kept(p)[:, None, :], 1.0, axis=1)
    np.put_along_axis(full, p.argmax(1)[:, None, None], -1.0, axis=1)
    top = int((p * weight[:, None]).sum(0).argmax())
    return np.delete(full, top, axis=1).transpose(1, 0, 2)


def _released(family: Family, part: Seen, left: Array, right: Array) -> Array:
    """C A, contrasts by released cells: a product of factors when the last two attributes are treated apart."""
    J, a, kx = left.shape
    b, ky = right.shape[1:]
    if part.axes == family.names and all(len(block.names) == 1 for block in part.blocks[-2:]):
        G = np.ones((1, 1))
        for block in part.blocks[:-2]:
            G = (G[:, None, :, None] * block.A[None, :, None, :]).reshape(len(G) * len(block.A), -1)
        first, second = left @ part.blocks[-2].A, right @ part.blocks[-1].A
        U = (first[:, :, None, :, None] * second[:, None, :, None, :]).reshape(J, a * b, 1, -1)
        return np.asarray((G[:, None, :, None] * U).reshape(J * a * b, -1))
    C = np.zeros((J, a, b, J, kx, ky))
    for j in range(J):
        C[j, :, :, j] = left[j][:, None, :, None] * right[j][None, :, None, :]
    return np.asarray(C.reshape(J * a * b, -1) @ family.inverse(part))


def _release(family: Family, part: Seen, table: Array) -> Array:
    """Pᵀ table: what would be released of it on average."""
    out = table.transpose([family.names.index(name) for name in part.axes])
    out = out.reshape([prod(block.sizes) for block in part.blocks])
    return each_axis(out, [block.P.T for block in part.blocks]).reshape(-1)


def _spread(family: Family, part: Seen, J: int) -> Array:
    """diag(A diag(Ñ) Aᵀ) of the configurations alone."""
    given = family.names[:-2]
    if not given:
        return np.array([float(part.observed.sum())])
    maps, axes = [], []
    for block in part.blocks:
        dropped = tuple(i for i, name in enumerate(block.names) if name not in given)
        A = block.A.reshape(*block.sizes, block.released).sum(axis=dropped)
        maps.append(A.reshape(-1, block.released) ** 2)
        axes += [name for name in block.names if name in given]
    out = each_axis(part.observed.reshape([block.released for block in part.blocks]), maps)
    sizes = dict(zip(family.names, family.table.shape, strict=True))
    out = out.reshape([sizes[name] for name in axes])
    return np.asarray(out.transpose([axes.index(name) for name in given]).reshape(J))
