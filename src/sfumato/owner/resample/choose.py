"""Which form of the model to release: the one on whose rows simple classifiers do best, at equal risk."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Array, Index, Labels

#: Neighbours that vote.
_NEIGHBOURS = 11


def mean_error(R: Array, r: Labels, X: Array, y: Labels) -> float:
    """The share of records X that classifiers trained on the rows R get wrong, averaged over three of them.

    Nearest neighbours, naive Bayes with normal columns, and linear discriminants: one that looks at rows, one at
    columns, one at covariances. They are small on purpose, since they only compare forms.
    """
    spread = np.where(np.ptp(R, axis=0) > 0, R.std(axis=0), 1.0)
    middle = R.mean(axis=0)
    R, X = (R - middle) / spread, (X - middle) / spread
    labels, own = np.unique(r, return_inverse=True)
    guesses = (_neighbours(R, own, X), _naive_bayes(R, own, X), _discriminant(R, own, X))
    return float(np.mean([np.mean(labels[guess] != y) for guess in guesses]))


def _neighbours(R: Array, own: Index, X: Array) -> Index:
    from scipy.spatial import cKDTree

    near = np.atleast_2d(cKDTree(R).query(X, k=min(_NEIGHBOURS, len(R)))[1]).reshape(len(X), -1)
    votes = np.stack([(own[near] == c).sum(axis=1) for c in range(int(own.max()) + 1)])
    return np.asarray(votes.argmax(axis=0))


def _naive_bayes(R: Array, own: Index, X: Array) -> Index:
    scores = []
    for c in range(int(own.max()) + 1):
        part = R[own == c]
        mean, variance = part.mean(axis=0), part.var(axis=0) + 1e-3
        scores.append(np.log(len(part)) - (((X - mean) ** 2 / variance) + np.log(variance)).sum(axis=1) / 2)
    return np.asarray(np.argmax(scores, axis=0))


def _discriminant(R: Array, own: Index, X: Array) -> Index:
    means = np.array([R[own == c].mean(axis=0) for c in range(int(own.max()) + 1)])
    rest = R - means[own]
    directions = np.linalg.solve(rest.T @ rest / len(R) + 0.02 * np.eye(R.shape[1]), means.T)
    shares = np.log(np.bincount(own) / len(own))
    return np.asarray((X @ directions - (means.T * directions).sum(axis=0) / 2 + shares).argmax(axis=1))
