"""Mix every record with the covariance of its cell, so far that each released row has enough plausible sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.owner.resample.cells import cells, covariance
from sfumato.owner.resample.kernel import Array, Index, centres, deviation, normals
from sfumato.owner.resample.margins import Margins
from sfumato.randomness import Source

#: The share of each class that is drawn from the model alone, because no crowd is near.
LONELY = 0.15
_ALONE = 1e-9
_STEPS = 16


@dataclass(frozen=True)
class Setting:
    """How strongly to mix: the least number of plausible sources, the pull of cells to a common shape, factors kept.

    ``sources=inf`` draws from the normal model of each cell and uses no record directly; ``tie=inf`` gives all cells
    one covariance; ``relay`` below 1 fits the cells anew to that many drawn rows per record (see ``relay``);
    ``margins`` gives each column of a large class the shape of the records' (see ``margins``).
    """

    sources: float
    tie: float = 1.0
    factors: int | None = None
    relay: float = 1.0
    margins: bool = False

    @property
    def words(self) -> str:
        """The setting as people read it.

        >>> Setting(64, margins=True).words, Setting(np.inf, np.inf).words
        ('64 plausible sources, columns shaped', 'the model alone, one shape for all cells')
        """
        sources = "the model alone" if np.isinf(self.sources) else f"{self.sources:g} plausible sources"
        shape = ", one shape for all cells" if np.isinf(self.tie) else f", tie {self.tie:g}" if self.tie != 1 else ""
        factors = f", {self.factors} factors" if self.factors else ""
        relay = f", relayed by {self.relay:.1%} as many rows" if self.relay < 1 else ""
        return sources + shape + factors + relay + (", columns shaped" if self.margins else "")


@dataclass(frozen=True)
class Blend:
    r"""One class, ready to be drawn from.

        y = m + sqrt(1 - lambda_i) (x_i - m) + sqrt(lambda_i) L e

    with m and L L' the mean and the shrunk covariance of the record's cell, e standard normal. Mean and covariance
    of the cell are kept. lambda_i is the least for which the weights
    exp(-(1 - lambda) |L^-1 (x_i - x_j)|^2 / (2 lambda)) over distinct records j, i too, have perplexity ``sources``:
    an outlier, whose neighbours are far, is mixed more. The loneliest, who would need most mixing, are not used at
    all: for them lambda is 1 and the noise as wide as they lie on average, so that the covariance is kept.
    """

    mean: Array
    forward: Array
    backward: Array
    noise: Array
    means: Array
    factors: Array
    inverses: Array
    Z: Array
    own: Index
    sources: float
    mix: Array
    limit: float = np.inf
    spread: float = 1.0
    margins: Margins | None = None

    def white(self, X: Array) -> Array:
        """Records in the coordinates of the class."""
        return np.asarray((X - self.mean) @ self.forward.T)

    def cell(self, Z: Array) -> Index:
        """The cell in which each record is most likely."""
        return np.asarray(self.depth(Z).argmax(axis=1))

    def depth(self, Z: Array) -> Array:
        """Log density of each record in each cell, up to a constant."""
        out = np.empty((len(Z), len(self.means)))
        for g, (mean, inverse) in enumerate(zip(self.means, self.inverses, strict=True)):
            out[:, g] = np.log(np.diag(inverse)).sum() - (((Z - mean) @ inverse.T) ** 2).sum(axis=1) / 2
        return out

    def mixing(self, Z: Array, own: Index) -> Array:
        """lambda of records that are not among the sources, each counted as a source of its own row."""
        return np.ones(len(Z)) if self.alone else _lonely(self._perplexity(Z, own, False), self.limit)

    @property
    def alone(self) -> bool:
        """Whether so many sources are asked for that only the model is left."""
        return self.sources >= 0.98 * len(self.Z)

    def settled(self) -> Blend:
        """The same with lambda of its own records, the limit of the lonely, and how widely those lie."""
        if self.alone:
            return self
        mix = self._perplexity(self.Z, self.own, True)
        limit = float(np.quantile(mix, 1 - LONELY))
        mix = _lonely(mix, limit)
        radius = [
            ((self.Z[i] - self.means[g]) @ self.inverses[g].T) ** 2 for i, g in enumerate(self.own) if mix[i] == 1
        ]
        spread = max(float(np.mean(radius)), 1.0)
        return replace(self, mix=mix, limit=limit, spread=spread)

    def _perplexity(self, Z: Array, own: Index, among: bool) -> Array:
        out = np.empty(len(Z))
        sources = np.unique(self.Z.round(9), axis=0)  # copies of a record are one source and do not hide it
        for g, inverse in enumerate(self.inverses):
            rows = np.flatnonzero(own == g)
            if len(rows):
                gaps = squared(Z[rows] @ inverse.T, sources @ inverse.T)
                if not among:  # a record is always a plausible source of its own row
                    gaps = np.column_stack([np.zeros(len(rows)), gaps])
                out[rows] = perplexity_mixing(gaps, self.sources)
        return out

    def draw(self, rows: int, src: Source) -> tuple[Array, Index]:
        """Released rows in a random order, and which record each started from."""
        chosen = centres(src, len(self.Z), rows, balanced=True)
        return self.around(self.Z[chosen], self.own[chosen], self.mix[chosen], src), chosen

    def around(self, Z: Array, own: Index, mix: Array, src: Source) -> Array:
        """One released row for each record, given its cell and lambda."""
        out = np.empty_like(Z)
        for g, (mean, factor) in enumerate(zip(self.means, self.factors, strict=True)):
            rows = own == g
            noise = normals(src, int(rows.sum()) * Z.shape[1]).reshape(-1, Z.shape[1]) @ factor.T
            lam = mix[rows, None]
            out[rows] = mean + np.sqrt(1 - lam) * (Z[rows] - mean) + np.sqrt(self.width(lam)) * noise
        out = out @ self.backward.T + self.mean
        if self.noise.any():
            out += normals(src, out.size).reshape(out.shape) * self.noise
        return out if self.margins is None else self.margins.apply(out)

    def even(self) -> Array:
        """What each column is drawn as, before the margins: even steps through the normal around every record."""
        from scipy.special import ndtri

        lam, means = self.mix[:, None], self.means[self.own]
        middle = (means + np.sqrt(1 - lam) * (self.Z - means)) @ self.backward.T + self.mean
        spans = np.array([((self.backward @ factor) ** 2).sum(axis=1) for factor in self.factors])
        wide = np.sqrt(self.width(lam) * spans[self.own] + self.noise**2)
        steps = np.asarray(ndtri((np.arange(_STEPS) + 0.5) / _STEPS))
        return np.asarray((middle + steps[:, None, None] * wide).reshape(-1, len(self.mean)))

    def width(self, lam: Array) -> Array:
        """The variance of the noise, in units of the cell's."""
        return np.where(lam == 1, self.spread, lam)

    def density(self, Z: Array, own: Index, mix: Array, Y: Array) -> Array:
        """Log density of each released row (in the coordinates of the class) given each record as its source."""
        lam = np.clip(mix, 1e-6, 1)[:, None]
        wide = self.width(lam)
        out = np.empty((len(Z), len(Y)))
        for g, (mean, inverse) in enumerate(zip(self.means, self.inverses, strict=True)):
            rows = own == g
            if rows.any():
                start = np.sqrt(1 - lam[rows]) * ((Z[rows] - mean) @ inverse.T)
                gaps = squared(start, (Y - mean) @ inverse.T)
                size = Z.shape[1] / 2 * np.log(wide[rows]) - np.log(np.diag(inverse)).sum()
                out[rows] = -gaps / (2 * wide[rows]) - size
        return out


def fit(classes: Sequence[Array], setting: Setting) -> list[Blend]:
    """The classes of one site, together: small cells borrow their shape from all."""
    frames = [_frame(X, setting.factors) for X in classes]
    spots = [cells(Z, max(20, 5 * Z.shape[1])) for *_, Z in frames]
    residuals = [X[i] - X[i].mean(axis=0) for X, cut in zip(classes, spots, strict=True) for i in cut]
    common = covariance(np.vstack(residuals)) if len(residuals) > 1 else None
    models = [_blend(frame, cut, common, setting) for frame, cut in zip(frames, spots, strict=True)]
    if not setting.margins:
        return models
    return [replace(model, margins=Margins.fit(X, model.even())) for model, X in zip(models, classes, strict=True)]


def squared(A: Array, B: Array) -> Array:
    """Squared distances of all pairs."""
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(A, B, "sqeuclidean"))


def perplexity_mixing(gaps: Array, k: float) -> Array:
    """The least lambda, row by row, for which exp(-gap (1 - lambda) / (2 lambda)) spreads over k squared distances.

    >>> perplexity_mixing(np.array([[0.0, 0.0, 0.0, 50.0], [0.0, 50.0, 50.0, 50.0]]), 2.9).round(2).tolist()
    [0.0, 0.94]
    """
    gaps = gaps - gaps.min(axis=1, keepdims=True)
    low, high = np.full(len(gaps), -12.0), np.full(len(gaps), 12.0)  # logit of lambda
    for _ in range(16):
        middle = (low + high) / 2
        rate = np.exp(-middle) / 2
        weight = np.exp(-gaps * rate[:, None])
        total = weight.sum(axis=1)
        entropy = np.log(total) + rate * np.einsum("ij,ij->i", gaps, weight) / total
        enough = entropy > np.log(k)
        high, low = np.where(enough, middle, high), np.where(enough, low, middle)
    return np.asarray(1 / (1 + np.exp(-high)))


def _frame(X: Array, factors: int | None) -> tuple[Array, Array, Array, Array, Array]:
    """Mean, the map into the class's coordinates and back, the noise of what the factors leave out, and the records."""
    mean, sd = X.mean(axis=0), deviation(X)
    mean = np.where(sd > 0, mean, X[0])  # a constant column is released as it is, to the last digit
    unit = np.where(sd > 0, sd, 1.0)
    standard = (X - mean) / unit
    spread = covariance(standard) + _ALONE * np.eye(X.shape[1])
    noise = np.zeros(X.shape[1])
    if factors is None or factors >= X.shape[1]:
        root = np.linalg.cholesky(spread)
        forward, backward = np.linalg.inv(root), root
    else:
        size, axes = np.linalg.eigh(spread)
        size, axes = np.sqrt(size[::-1][:factors]), axes[:, ::-1][:, :factors]
        forward, backward = (axes / size).T, axes * size
        rest = standard - standard @ forward.T @ backward.T
        noise = RESIDUAL * rest.std(axis=0) * sd
    Z = standard @ forward.T
    maps = np.asarray(forward / unit, dtype=np.float64), np.asarray(backward * sd[:, None], dtype=np.float64)
    return mean, *maps, noise, Z


#: How much of the noise outside the factors a release carries: nearest neighbours want none of it, trees want some.
RESIDUAL = 0.3


def _blend(
    frame: tuple[Array, Array, Array, Array, Array], cut: list[Index], common: Array | None, setting: Setting
) -> Blend:
    mean, forward, backward, noise, Z = frame
    target = None if common is None else forward @ common @ forward.T
    roots = [np.linalg.cholesky(covariance(Z[rows], setting.tie, target) + _ALONE * np.eye(Z.shape[1])) for rows in cut]
    own = np.empty(len(Z), dtype=np.int64)
    for g, rows in enumerate(cut):
        own[rows] = g
    return Blend(
        mean,
        forward,
        backward,
        noise,
        np.array([Z[rows].mean(axis=0) for rows in cut]),
        np.array(roots),
        np.array([np.linalg.inv(root) for root in roots]),
        Z,
        own,
        setting.sources,
        np.ones(len(Z)),
    ).settled()


def _lonely(mix: Array, limit: float) -> Array:
    return np.where(mix >= limit, 1.0, mix)
