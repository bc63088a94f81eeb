"""Tests of independence that know how much noise the channels added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from sfumato.channels.linear import Array
from sfumato.errors import EstimationError
from sfumato.evidence.families import Families, Family, Seen
from sfumato.evidence.table import Evidence, view

#: A parent configuration is used when its estimated count exceeds this many standard deviations.
_CLEAR = 3.0
#: A contrast is used when the strongest possible dependence would exceed this many of its standard deviations.
_TELLING = 1.0


@dataclass(frozen=True)
class Test:
    """A chi-square statistic, its degrees of freedom and its p-value."""

    statistic: float
    df: int

    __test__ = False  # not a test case, whatever pytest thinks of the name

    @property
    def p_value(self) -> float:
        """Pr(chi-square with df degrees of freedom > statistic); 1 where nothing could be tested."""
        from scipy.special import chdtrc

        return float(chdtrc(self.df, max(self.statistic, 0.0))) if self.df else 1.0

    @property
    def excess(self) -> float:
        """How far the statistic lies above what independence gives, in standard deviations."""
        return (self.statistic - self.df) / np.sqrt(2.0 * self.df) if self.df else 0.0


def wald(evidence: Evidence | Families, x: str, y: str, given: Sequence[str] = ()) -> Test:
    """Whether x and y are independent given some attributes, against the covariance that the channels inflated."""
    families = evidence if isinstance(evidence, Families) else Families(evidence)
    return wald_tests(families, x, y, given)[0]


def wald_tests(families: Families, x: str, y: str, given: Sequence[str] = ()) -> tuple[Test, Test]:
    r"""The test on all contrasts, and the one on their sum over the configurations.

        T[j, a, b] = N̂[j, a, b] - N̂[j, a] N̂[j, b] / N̂[j]  =  C N̂,        W = Tᵀ V⁻¹ T,
        V = Σ_parts (C A) diag(½ Ñ + ½ Ñ₀) (C A)ᵀ

    where j runs over the configurations of ``given``, Ñ are the released counts and Ñ₀ those expected under
    independence. The mean of the two follows the likelihood ratio where cells are rare; either alone does not. Both
    statistics are chi-square under independence; the second has fewer degrees of freedom and sees what has the same
    direction everywhere.
    """
    given = tuple(given)
    if x == y or x in given or y in given or len(set(given)) != len(given):
        raise EstimationError(f"a test needs distinct attributes, got {x}, {y} given {', '.join(given) or 'nothing'}")
    family = families.family((*given, x, y))
    kx, ky = family.table.shape[-2:]
    return _tests(family, family.table.reshape(-1, kx, ky))


def all_pairs(families: Families, names: Sequence[str]) -> dict[tuple[str, str], Test]:
    """The test of every pair, from one pass over the rows."""
    pairs = [(x, y) for i, x in enumerate(names) for y in names[i + 1 :]]
    families.prepare(pairs)
    return {(x, y): wald_tests(families, x, y)[0] for x, y in pairs}


def g_squared(evidence: Evidence, x: str, y: str, given: Sequence[str] = ()) -> Test:
    r"""The likelihood-ratio test on the released table itself.

        G² = 2 Σ Ñ log(Ñ Ñ.. / Ñ_x Ñ_y),        df = (M_x - 1)(M_y - 1) per stratum

    Channels that treat x and y apart keep independence, and lose nothing else than power, so nothing needs to be
    inverted. That is so given other attributes only where those passed unchanged: use ``wald`` otherwise.
    """
    names = [*given, x, y]
    if len(set(names)) != len(names):
        raise EstimationError(f"a test needs distinct attributes, got {', '.join(names)}")
    total, df = 0.0, 0
    for part in evidence.release.parts:
        scheme = part.scheme
        if scheme.group(x) is scheme.group(y):
            raise EstimationError(
                f"{x} and {y} are randomized together, which makes their released values dependent: use wald"
            )
        for name in given:
            if not np.array_equal(scheme[name].matrix, np.eye(scheme[name].k)):
                raise EstimationError(
                    f"{name} is randomized, and given its released values {x} and {y} may depend on each other "
                    f"though they do not given the true ones: use wald"
                )
    for scheme in dict.fromkeys(part.scheme for part in evidence.release.parts):
        seen = evidence.__class__(
            evidence.release._of(part for part in evidence.release.parts if part.scheme == scheme)
        ).released_counts(names)
        shape = [prod(view(scheme, [name]).transition.factors[0].cols for name in group) for group in (given, [x], [y])]
        for table in seen.reshape(shape).astype(np.float64):
            table = table[table.sum(1) > 0][:, table.sum(0) > 0]
            if min(table.shape, default=0) < 2:
                continue
            expected = np.outer(table.sum(1), table.sum(0)) / table.sum()
            hit = table > 0
            total += 2 * float((table[hit] * np.log(table[hit] / expected[hit])).sum())
            df += (table.shape[0] - 1) * (table.shape[1] - 1)
    return Test(total, df)


def _tests(family: Family, table: Array) -> tuple[Test, Test]:
    J, kx, ky = table.shape
    px, py, weight = _independent(table)
    expected = weight[:, None, None] * px[:, :, None] * py[:, None, :]
    left, right = _contrasts(px), _contrasts(py)
    T = np.einsum("jax,jxy,jby->jab", left, table, right)
    V = np.zeros((T.size, T.size))
    spread = np.zeros(J)
    for part in family.seen:
        B, observed = _released_contrasts(family, part, left, right)
        share = part.observed.sum() / family.n
        under = share * _release(family, part, expected.reshape(-1))
        V += (B * (0.5 * (observed + under))) @ B.T
        spread += _spread(family, part, J)
    largest = np.minimum(
        _others(px * (1 - px)) [:, :, None] * weight[:, None, None], _others(py * (1 - py))[:, None, :] * weight[:, None, None]
    )
    variance = np.diag(V).reshape(T.shape)
    R = _raw_covariance(left, right, expected)
    clear = (table.sum((1, 2)) > _CLEAR * np.sqrt(np.maximum(spread, 0.0))) & (weight > 0)
    used = clear[:, None, None] & (variance > 1e-9 * family.n) & (largest > _TELLING * np.sqrt(np.maximum(variance, 0)))
    M = R * weight[:, None, None, None, None]
    blocks = np.zeros_like(V).reshape(J, T[0].size, J, T[0].size)
    blocks[np.arange(J), :, np.arange(J), :] = M.reshape(J, T[0].size, T[0].size)
    S, t, cov, on = _summed(T, V, clear, px, py, weight)
    Rs = np.zeros_like(V).reshape(J, T[0].size, J, T[0].size)
    Rs[np.arange(J), :, np.arange(J), :] = R.reshape(J, T[0].size, T[0].size)
    Ms = S @ Rs.reshape(V.shape) @ S.T * weight[clear].sum()
    a = _quadratic(T, V, used, blocks.reshape(V.shape)); b = _quadratic(t, cov, on, Ms)
    return a, b


def _independent(table: Array) -> tuple[Array, Array, Array]:
    """Shares of x and of y in each configuration, and how many records it holds; nothing negative."""
    rows, cols = np.maximum(table.sum(2), 0.0), np.maximum(table.sum(1), 0.0)
    weight = np.maximum(table.sum((1, 2)), 0.0)
    tiny = 1e-300
    return rows / np.maximum(rows.sum(1, keepdims=True), tiny), cols / np.maximum(cols.sum(1, keepdims=True), tiny), weight


def _contrasts(p: Array) -> Array:
    """For each configuration the rows of I - p 1ᵀ, without that of the most frequent value."""
    J, k = p.shape
    full = np.eye(k)[None] - p[:, :, None]
    return np.take_along_axis(full, _kept(p)[:, :, None], axis=1)


def _kept(p: Array) -> NDArray[np.int64]:
    k = p.shape[1]
    top = p.argmax(1)
    return np.asarray((top[:, None] + 1 + np.arange(k - 1)[None, :]) % k)


def _others(p: Array) -> Array:
    return np.take_along_axis(p, _kept(p), axis=1)


def _released_contrasts(family: Family, part: Seen, left: Array, right: Array) -> tuple[Array, Array]:
    """C A for one part, contrasts by released cells, and Ñ in the same order of cells."""
    J, a, kx = left.shape
    b = right.shape[1]
    last = part.blocks[-2:]
    if len(part.blocks) >= 2 and [block.names for block in last] == [family.names[-2:-1], family.names[-1:]]:
        given = part.blocks[:-2]
        if tuple(name for block in given for name in block.names) == family.names[:-2]:
            G = np.ones((1, 1))
            for block in given:
                G = np.kron(G, block.A)
            U = np.einsum("jax,jby->jabxy", left @ last[0].A, right @ last[1].A)
            B = G[:, None, None, :, None, None] * U[:, :, :, None]
            return B.reshape(J * a * b, -1), part.observed
    C = np.zeros((J, a, b, J, kx, right.shape[2]))
    for j in range(J):
        C[j, :, :, j] = np.einsum("ax,by->abxy", left[j], right[j])
    return C.reshape(J * a * b, -1) @ family.inverse(part), part.observed


def _release(family: Family, part: Seen, table: Array) -> Array:
    """Pᵀ table: what would be released of it on average."""
    order = [family.names.index(name) for name in part.axes]
    out = table.reshape(family.table.shape).transpose(order).reshape([prod(block.sizes) for block in part.blocks])
    for axis, block in enumerate(part.blocks):
        out = np.moveaxis(np.tensordot(block.P.T, out, axes=(1, axis)), 0, axis)
    return np.asarray(out.reshape(-1))


def _spread(family: Family, part: Seen, J: int) -> Array:
    """diag(A diag(Ñ) Aᵀ) of the configurations alone."""
    inner = set(family.names[:-2])
    out = part.observed.reshape([block.released for block in part.blocks])
    for axis, block in enumerate(part.blocks):
        kept = tuple(i for i, name in enumerate(block.names) if name in inner)
        A = block.A.reshape(*block.sizes, -1).sum(axis=tuple(i for i in range(len(block.sizes)) if i not in kept))
        A = A.reshape(-1, block.released)
        out = np.moveaxis(np.tensordot(A**2, out, axes=(1, axis)), 0, axis)
    axes = [name for name in part.axes if name in inner]
    sizes = dict(zip(family.names, family.table.shape, strict=True))
    out = out.reshape([sizes[name] for name in axes])
    return np.asarray(out.transpose([axes.index(name) for name in family.names[:-2]]).reshape(J))


def _summed(
    T: Array, V: Array, clear: NDArray[np.bool_], px: Array, py: Array, weight: Array
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """The contrasts added up over configurations, value by value."""
    S = np.einsum("xja,yjb->xyjab", _levels(px, weight), _levels(py, weight)) * clear[None, None, :, None, None]
    S = S.reshape(-1, T.size)
    cov = S @ V @ S.T
    return S, S @ T.reshape(-1), cov, np.diag(cov) > 1e-9 * max(weight.sum(), 1.0)


def _levels(p: Array, weight: Array) -> Array:
    """How each value but the most frequent one overall is made of the contrasts kept in each configuration."""
    J, k = p.shape
    full = np.zeros((J, k, k - 1))
    np.put_along_axis(full, _kept(p)[:, None, :], 1.0, axis=1)
    np.put_along_axis(full, p.argmax(1)[:, None, None], -1.0, axis=1)
    top = int((p * weight[:, None]).sum(0).argmax())
    return np.delete(full, top, axis=1).transpose(1, 0, 2)


def _raw_covariance(left, right, expected):
    return np.einsum("jax,jxy,jby,jcx,jdy->jabcd", left, expected, right, left, right, optimize=True)


SIGMA2 = 0.1


def _quadratic(T: Array, V: Array, used: NDArray[np.bool_], M) -> Test:
    at = np.flatnonzero(used)
    if not at.size:
        t = Test(0.0, 0)
        object.__setattr__(t, "lbf", -0.0)
        return t
    t, cov, M = T.reshape(-1)[at], V[np.ix_(at, at)], M[np.ix_(at, at)]
    scale = 1 / np.sqrt(np.diag(cov))
    t, cov, M = t * scale, cov * np.outer(scale, scale), M * np.outer(scale, scale)
    eye = 1e-10 * np.eye(len(at))
    f = np.linalg.cholesky(cov + eye)
    half = np.linalg.solve(f, t)
    w = float(half @ half)
    g = np.linalg.cholesky(cov + SIGMA2 * M + eye)
    half2 = np.linalg.solve(g, t)
    lbf = float(w - half2 @ half2) - 2 * float(np.log(np.diag(g)).sum() - np.log(np.diag(f)).sum())
    out = Test(w, len(at))
    object.__setattr__(out, "lbf", lbf)
    return out
