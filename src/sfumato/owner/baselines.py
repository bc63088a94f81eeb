"""The methods that resampling is measured against: noise, rotation, projection, a normal model, the plain bootstrap.

Each takes records (and labels) and gives released rows. None is recommended: see the attack named with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.arrays import Array
from sfumato.errors import SfumatoError, quoted
from sfumato.owner.resample.intake import take_in
from sfumato.owner.resample.kernel import deviation
from sfumato.randomness import Rng, integers, normals, source


def additive_noise(X: ArrayLike, level: float = 0.5, *, rng: Rng = None) -> Array:
    """y = x + level s e, with s the deviation of each column and e normal.

    Agrawal and Srikant (2000). Correlated columns give the noise away (``attacks.spectral``, ``attacks.pca``).
    """
    if not (np.isfinite(level) and level > 0):
        raise SfumatoError(f"level must be positive, got {level}: it is the noise in units of a column's deviation")
    data = _matrix(X)
    noise = normals(source(rng), data.size).reshape(data.shape)
    return np.asarray(data + level * deviation(data) * noise)


def rotation(X: ArrayLike, *, rng: Rng = None) -> tuple[Array, Array]:
    """y = x Q', with Q orthogonal and uniform (Haar). Distances stay as they are; d known rows undo it.

    Chen and Liu (2005); ``attacks.procrustes``. Returns the rows and Q, which the sites share and keep secret.

    >>> Y, Q = rotation([[1.0, 0.0], [0.0, 2.0]], rng=0)
    >>> bool(np.allclose(Q @ Q.T, np.eye(2)) and np.allclose(np.linalg.norm(Y, axis=1), [1, 2]))
    True
    """
    data = _matrix(X)
    d = data.shape[1]
    Q, R = np.linalg.qr(normals(source(rng), d * d).reshape(d, d))
    Q = Q * np.sign(np.diag(R))  # without the signs the law would depend on the algorithm (Mezzadri 2007)
    return np.asarray(data @ Q.T), np.asarray(Q)


def projection(X: ArrayLike, k: int, *, rng: Rng = None) -> tuple[Array, Array]:
    """y = x R' / sqrt(k), R of k by d standard normals: distances are kept on average.

    Liu, Kargupta and Ryan (2006). Returns the rows and the matrix.
    """
    data = _matrix(X)
    d = data.shape[1]
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= d:
        raise SfumatoError(f"k must be a whole number between 1 and the {d} columns, got {k!r} instead")
    R = normals(source(rng), int(k) * d).reshape(int(k), d) / np.sqrt(k)
    return np.asarray(data @ R.T), R


def row_projection(X: ArrayLike, k: int, *, rng: Rng = None) -> tuple[Array, Array]:
    """Y = R x / sqrt(k) with R of k by N standard normals: rows are mixed, and products of columns kept on average.

    The reading of Tan and Ng (2007), section 4, where k < N. Returns the k rows and the matrix. Sites with as many
    records share it: another one releases ``R @ X2``. See ``attacks.norm_bound``.

    >>> Y, R = row_projection([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]], 2, rng=0)
    >>> Y.shape, R.shape
    ((2, 2), (2, 3))
    """
    data = _matrix(X)
    n = len(data)
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k < n:
        raise SfumatoError(f"k must be a whole number of at least 1 and fewer than the {n} rows, got {k!r} instead")
    R = normals(source(rng), int(k) * n).reshape(int(k), n) / np.sqrt(k)
    return np.asarray(R @ data), R


def gaussian_model(X: ArrayLike, y: ArrayLike | None = None, *, rng: Rng = None) -> tuple[Array, NDArray[Any]]:
    """Rows from the normal distribution fitted to each class: no record is used but in its mean and covariance."""
    data, labels = _labelled(X, y)
    src = source(rng)
    rows, marks = [], []
    for label in np.unique(labels):
        mine = data[labels == label]
        if len(mine) < 2:
            raise SfumatoError(f"a class has one row: a normal model needs two{quoted(label)}")
        spread = np.atleast_2d(np.cov(mine.T))
        size, axes = np.linalg.eigh(spread)
        root = axes * np.sqrt(np.maximum(size, 0))  # also where there are fewer rows than columns
        rows.append(mine.mean(axis=0) + normals(src, mine.size).reshape(mine.shape) @ root.T)
        marks.append(np.full(len(mine), label))
    return np.vstack(rows), np.concatenate(marks)


def bootstrap(X: ArrayLike, y: ArrayLike | None = None, *, rng: Rng = None) -> tuple[Array, NDArray[Any]]:
    """Records drawn with replacement, as they are: full accuracy, and no privacy but of the third left out."""
    data, labels = _labelled(X, y)
    chosen = integers(source(rng), len(data), len(data))
    return data[chosen], labels[chosen]


def _matrix(X: ArrayLike) -> Array:
    return take_in(np.asarray(X), None).X


def _labelled(X: ArrayLike, y: ArrayLike | None) -> tuple[Array, NDArray[Any]]:
    data = take_in(np.asarray(X), None if y is None else np.asarray(y))
    return data.X, np.zeros(len(data.X), dtype=np.int64) if data.y is None else data.y
