r"""The arithmetic behind the tests of independence: contrasts of an estimated table and their covariance.

    T[j, a, b] = N̂[j, a, b] - N̂[j, a] N̂[j, b] / N̂[j]  =  C N̂,        V = Σ_parts (C A) diag(½ Ñ + ½ Ñ₀) (C A)ᵀ

where j runs over the configurations of what is given, Ñ are the released counts and Ñ₀ those expected under
independence. Ñ alone is too sure of itself where cells are rare, Ñ₀ alone of what independence forbids; their mean
follows the likelihood ratio.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.evidence.contrast_covariances import contrast_covariances
from sfumato.evidence.estimate import Estimate
from sfumato.evidence.seen import Seen, each_axis
from sfumato.evidence.table import Table
from sfumato.evidence.wald import wald

# Chosen by wrong links on other networks than those that judge (docs/measured/bayesnet.md); any EFFECT
# from .02 to .3 does about as well.
#: A configuration is used when its estimated count exceeds this many standard deviations.
CLEAR = 3.0
#: A contrast is used when the strongest possible dependence would exceed this many of its standard deviations.
TELLING = 1.0
#: How large dependences are expected to be: the prior variance of a correlation.
EFFECT = 0.05
#: The most contrasts that are tested together, for time and memory: beyond it only their sums over the configurations
#: are, and of attributes with many values only the most frequent.
MOST = 768
#: How much of W, per unit of inflation, is weighed as it is; what exceeds it is weighed like a likelihood ratio.
NOISY = 10.0


@dataclass(frozen=True, eq=False)
class Contrasts:
    """T and its covariances: V, V₀ under independence, R without randomization; and the prior's scale.

    ``deviance`` is 2 Σ N̂ log(N̂ / expected) of the same table where it is known.
    """

    T: Array
    V: Array
    null: Array
    raw: Array
    prior: Array
    deviance: float | None = None

    def where(self, used: NDArray[np.bool_]) -> Contrasts:
        """Some of them."""
        at = np.flatnonzero(used)
        cut = np.ix_(at, at)
        return Contrasts(self.T[at], self.V[cut], self.null[cut], self.raw[cut], self.prior[cut], self.deviance)


_EMPTY = np.zeros((0, 0))
NO_CONTRASTS = Contrasts(np.zeros(0), _EMPTY, _EMPTY, _EMPTY, _EMPTY)


def overall_and_common(estimate: Estimate) -> tuple[Contrasts, Contrasts]:
    """All telling contrasts of the two last attributes given the others, and their sums over the configurations."""
    estimate = estimate.of_asked
    kx, ky = estimate.shape[-2:]
    table = estimate.judged.reshape(-1, kx, ky)
    if min(kx, ky) < 2:  # an attribute of one value depends on nothing
        return NO_CONTRASTS, NO_CONTRASTS
    px, py, weight = independent(table)
    wide_x, wide_y = widths(kx - 1, ky - 1)
    kept_x, kept_y = _kept(px, weight, wide_x), _kept(py, weight, wide_y)
    J, size = len(table), wide_x * wide_y
    left, right = _rows(px, kept_x), _rows(py, kept_y)
    expected = weight[:, None, None] * px[:, :, None] * py[:, None, :]
    clear = clear_configurations(estimate, table, weight)
    sums = np.eye(size)  # of one configuration, which needs none
    if J > 1:
        levels = _levels(px, weight, kept_x)[:, None, :, :, None] * _levels(py, weight, kept_y)[None, :, :, None, :]
        sums = (levels.reshape(size, J, size) * clear[None, :, None]).reshape(size, -1)
    few = J * size <= MOST
    released = np.zeros((J * size if few else size,) * 2)  # from Ñ
    null = np.zeros_like(released)  # from Ñ₀
    for part in estimate.seen:
        share = part.total / estimate.n
        seen, assumed = contrast_covariances(part, left, right, None if few else sums, share * expected)
        released += seen
        null += assumed
    T = (left @ table @ right.transpose(0, 2, 1)).reshape(-1)
    own_x, own_y = (rows * p[:, None, :] @ rows.transpose(0, 2, 1) for rows, p in ((left, px), (right, py)))
    raw = weight[:, None, None] * (own_x[:, :, None, :, None] * own_y[:, None, :, None, :]).reshape(J, size, size)
    V = 0.5 * released + 0.5 * null
    overall = NO_CONTRASTS
    if few:
        spread_x, spread_y = (np.take_along_axis(p * (1 - p), k, axis=1) for p, k in ((px, kept_x), (py, kept_y)))
        ceiling = np.minimum(spread_x[:, :, None], spread_y[:, None, :])
        ceiling = (weight[:, None, None] * ceiling).reshape(-1)
        R, prior = _blocks(raw), _blocks(raw * weight[:, None, None])
        used = np.repeat(clear, size) & (np.diag(null) > 1e-9 * estimate.n) & (np.diag(R) > 1e-7 * estimate.n)
        used &= ceiling > TELLING * np.sqrt(np.diag(V))
        lumped = (_lump(_lump(each[clear], kept_x[0], 1), kept_y[0], 2) for each in (table, expected))
        overall = Contrasts(T, V, null, R, prior, _deviance(*lumped)).where(used)
        if J == 1:
            return overall, overall
        V, null = sums @ V @ sums.T, sums @ null @ sums.T
    cut = sums.reshape(size, J, size).transpose(1, 0, 2)
    together = (cut @ raw @ cut.transpose(0, 2, 1)).sum(0)
    common = Contrasts(sums @ T, V, null, together, together * weight[clear].sum())
    return overall, common.where((np.diag(V) > 1e-9 * estimate.n) & (np.diag(together) > 1e-7 * estimate.n))


def judge(contrasts: Contrasts) -> tuple[float, float, float]:
    r"""The Wald statistic W = Tᵀ V⁻¹ T, twice the log of the approximate Bayes factor for dependence, and c (below).

        2 log BF = Σ_i u_i² s_i / (1 + s_i) - log(1 + s_i)

    where V^{-1/2} T has components u_i along the eigenvectors of the prior in units of V, and s_i are its eigenvalues:
    with nothing randomized s_i ≈ N · EFFECT, and Σ log(1 + s_i) is the d log N of the BIC up to a constant; under
    randomization each direction counts with its own effective number of records, and one that tells nothing costs
    nothing. Wakefield (2009).

    Where the dependence is strong a quadratic form is no likelihood ratio any more. So the covariance is taken under
    independence, and what exceeds NOISY (c - 1), c being the inflation by randomization in the direction of T, is
    multiplied by deviance / Tᵀ R⁻¹ T. With nothing randomized c = 1, and this *is* the likelihood ratio, which adds up
    along any order of the parents.
    """
    if not contrasts.T.size:
        return 0.0, 0.0, 1.0
    statistic, _ = wald(contrasts.T, contrasts.V)
    under = contrasts.V if contrasts.deviance is None else contrasts.null
    root, t = _whitened(contrasts.T, under)
    strengths, directions = np.linalg.eigh(root @ (EFFECT * contrasts.prior) @ root.T)
    s = np.maximum(strengths, 0.0)
    u2 = np.square(directions.T @ t)
    weighed, penalty = float((u2 * s / (1 + s)).sum()), float(np.log1p(s).sum())
    pearson, _ = wald(contrasts.T, contrasts.raw)
    inflation = max(pearson / float(u2.sum()), 1.0) if pearson > 0 else 1.0
    if contrasts.deviance is not None and pearson > 0:
        noisy = min(weighed, NOISY * (inflation - 1))
        weighed = noisy + contrasts.deviance / pearson * (weighed - noisy)
    return statistic, weighed - penalty, inflation


def _whitened(T: Array, V: Array) -> tuple[Array, Array]:
    """V^{-1/2} (as the inverse of a triangular root) and V^{-1/2} T."""
    scale = 1 / np.sqrt(np.diag(V))
    ridge = 1e-10 * np.eye(len(scale))
    root = np.linalg.inv(np.linalg.cholesky(V * (scale[:, None] * scale[None, :]) + ridge)) * scale[None, :]
    return root, root @ T


def _deviance(table: Array, expected: Array) -> float:
    """2 Σ N̂ log(N̂ / expected), negative counts taken as 0."""
    counts = np.maximum(table, 0.0)
    hit = (counts > 0) & (expected > 0)
    return 2 * float((counts[hit] * np.log(counts[hit] / expected[hit])).sum() - counts.sum() + expected.sum())


def _blocks(each: Array) -> Array:
    """Matrices along the diagonal of a large one."""
    J, size, _ = each.shape
    out = np.zeros((J, size, J, size))
    out[np.arange(J), :, np.arange(J), :] = each
    return out.reshape(J * size, J * size)


def clear_configurations(estimate: Estimate, table: Array, weight: Array) -> NDArray[np.bool_]:
    """Which configurations surely hold records at all."""
    J = len(table)
    spread = sum((_spread(part, J) for part in estimate.seen), np.zeros(J))
    return np.asarray((table.sum((1, 2)) > CLEAR * np.sqrt(spread)) & (weight > 0))


def independent(table: Array) -> tuple[Array, Array, Array]:
    """Shares of x and of y in each configuration, and how many records it holds; nothing negative."""
    rows, cols = np.maximum(table.sum(2), 0.0), np.maximum(table.sum(1), 0.0)
    weight = np.maximum(table.sum((1, 2)), 0.0)
    tiny = 1e-300
    rows /= np.maximum(rows.sum(1, keepdims=True), tiny)
    cols /= np.maximum(cols.sum(1, keepdims=True), tiny)
    return rows, cols, weight


def widths(a: int, b: int) -> tuple[int, int]:
    """How many values of x and of y are contrasted: all, or of many-valued attributes the most frequent ones.

    >>> widths(4, 3), widths(199, 1), widths(39, 39), widths(5, 999)
    ((4, 3), (199, 1), (27, 27), (5, 153))
    """
    if a * b <= MOST:
        return a, b
    root = isqrt(MOST)
    if a <= root:
        return a, MOST // a
    return (MOST // b, b) if b <= root else (root, root)


def _kept(p: Array, weight: Array, wide: int) -> NDArray[np.int64]:
    """In each configuration all values but the most frequent, whose contrast the others imply.

    Where not all fit, the most frequent of the whole table but one, the same in every configuration.
    """
    J, k = p.shape
    if wide == k - 1:
        return np.asarray((p.argmax(1)[:, None] + 1 + np.arange(k - 1)[None, :]) % k)
    ranked = np.argsort(-(p * weight[:, None]).sum(0), kind="stable")[1 : wide + 1]
    return np.tile(ranked, (J, 1))


def _lump(table: Array, kept: NDArray[np.int64], axis: int) -> Array:
    """The table whose contrasts the kept values make: all values that are not kept are one."""
    if len(kept) == table.shape[axis] - 1:
        return table
    rest = np.delete(table, kept, axis=axis).sum(axis=axis, keepdims=True)
    return np.concatenate([np.take(table, kept, axis=axis), rest], axis=axis)


def _rows(p: Array, kept: NDArray[np.int64]) -> Array:
    """The rows of I - p 1ᵀ for the kept values of each configuration."""
    full = np.eye(p.shape[1])[None] - p[:, :, None]
    return np.take_along_axis(full, kept[:, :, None], axis=1)


def value_rows(p: Array, weight: Array) -> Array:
    """The rows of I - p 1ᵀ for all values but the most frequent of the whole table, of at most MOST values."""
    ranked = np.argsort(-(p * weight[:, None]).sum(0), kind="stable")[1 : MOST + 1]
    return _rows(p, np.tile(ranked, (len(p), 1)))


def _levels(p: Array, weight: Array, kept: NDArray[np.int64]) -> Array:
    """How the contrast of each value but the overall most frequent is made of those kept in each configuration."""
    J, k = p.shape
    wide = kept.shape[1]
    if wide < k - 1:
        return np.tile(np.eye(wide)[:, None, :], (1, J, 1))
    full = np.zeros((J, k, k - 1))
    np.put_along_axis(full, kept[:, None, :], 1.0, axis=1)
    np.put_along_axis(full, p.argmax(1)[:, None, None], -1.0, axis=1)
    top = int((p * weight[:, None]).sum(0).argmax())
    return np.delete(full, top, axis=1).transpose(1, 0, 2)


def _spread(part: Seen, J: int) -> Array:
    """diag(A diag(Ñ) Aᵀ) of the configurations alone."""
    given = part.names[:-2]
    if not given:
        return np.array([part.total])
    maps, axes, sizes = [], [], []
    for block in part.blocks:
        kept = [i for i, name in enumerate(block.names) if name in given]
        dropped = tuple(i for i in range(len(block.names)) if i not in kept)
        A = block.A.reshape(*block.sizes, block.released).sum(axis=dropped)
        maps.append(A.reshape(-1, block.released) ** 2)
        axes += [block.names[i] for i in kept]
        sizes += [block.sizes[i] for i in kept]
    out = Table(tuple(axes), each_axis(part.counts.reshape(part.released), maps).reshape(sizes))
    return np.asarray(out.reorder(given).values.reshape(J))
