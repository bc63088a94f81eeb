r"""The accuracy of a model whose features make too large a table to list: ``score``'s balance over drawn records.

Records drawn from a tree of cliques stand for θ̂, and the weights h may depend on a released record only through what
the model answers to its likeliest true values, and through its released class. Then P h and g become small tables:

    (A/N D + G) β = B,     D = E φφᵀ,   G = E φφ'ᵀ,   B = E φ gᵀ

where φ and φ' are two randomizations of the same drawn record, and g says which cell of the confusion matrix it is in;
of many classes only whether it is on the diagonal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array, Codes
from sfumato.evidence import Evidence
from sfumato.evidence.kinds import cliques_of
from sfumato.evidence.seen import Seen
from sfumato.schema import Schema

_DRAWN = 50_000
#: With more classes only the accuracy is estimated, and no confusion matrix.
MOST_CLASSES = 24
Columns = list[NDArray[np.int64]]
Told = list[tuple[tuple[int, ...], Array]]


class FittedClassifier(Protocol):
    """A fitted classifier, as those see it who judge its answers."""

    schema_: Schema
    target_: str
    features_: tuple[str, ...]
    classes_: NDArray[Any]

    @property
    def used_features(self) -> tuple[str, ...]: ...

    def decisions(self, names: Sequence[str]) -> NDArray[np.int64]: ...

    def answers(self, codes: Mapping[str, Codes]) -> NDArray[np.int64]: ...


def drawn_confusion(
    model: FittedClassifier, source: Evidence, trust: float, fitted: Evidence | None = None
) -> tuple[Array, Array, Array, float]:
    """The shares of all records by true and predicted class, flat; the covariance of their noise, and that of what is
    left to the fitted model (before it is divided by its trust); and the number of records.

    Of more than ``MOST_CLASSES`` classes: the shares that are wrong and right. ``fitted`` stands for θ̂ where it comes
    from other records.
    """
    names = [*model.used_features, model.target_]
    if fitted is None:
        fitted = source if source.smoothed and set(names) <= set(source.names) else cliques_of(source, names)
    problem = _Problem(model, fitted)
    parts = [problem.solve(part, trust) for part in source.records(fitted.names)]
    total = sum(n for n, *_ in parts)
    value = sum(n / total * mean for n, mean, _, _ in parts)
    noise = sum((n / total) ** 2 * spread for n, _, spread, _ in parts)
    gap = sum(n / total * missed for n, _, _, missed in parts)
    return np.asarray(value), np.asarray(noise), np.asarray(gap), total


class _Problem:
    """Records drawn from the fitted model, and what the classifier says of them."""

    def __init__(self, model: FittedClassifier, fitted: Evidence) -> None:
        self.model, self.names = model, fitted.names
        self.sizes = fitted.schema.sizes(fitted.names)
        self.target = fitted.names.index(model.target_)
        self.classes = len(model.classes_)
        self.rng = np.random.default_rng(0)  # an integral over draws, the same every time
        self.drawn = list(fitted.sample_codes(_DRAWN, self.rng).values())
        self.cells = self.classes**2 if self.classes <= MOST_CLASSES else 2
        self.truth = self._place(self.drawn[self.target], self._answers(self.drawn))

    def solve(self, part: Seen, trust: float) -> tuple[float, Array, Array, Array]:
        """The records, the shares, the noise of the weights' means, and what the weights leave to the model."""
        told, cells, n = part.likelihoods(), self.cells, part.total
        first, second = (self._cells(told, [self._randomize(*one) for one in told]) for _ in range(2))
        G = _joint(first, second, cells)
        G = (G + G.T) / 2
        B = (_joint(first, self.truth, cells) + _joint(second, self.truth, cells)) / 2
        seen_drawn, true = B.sum(axis=1), B.sum(axis=0)
        kept = seen_drawn > 0
        beta = np.zeros((cells, cells))
        left = trust / n * np.diag(seen_drawn[kept]) + G[np.ix_(kept, kept)]
        beta[kept] = np.linalg.lstsq(left, B[kept], rcond=None)[0]
        observed = np.bincount(self._cells(told, part.joined), weights=part.counts, minlength=cells) / n
        mean, rest = observed @ beta, true - seen_drawn @ beta
        noise = (beta.T * observed) @ beta - np.outer(mean, mean)
        missed = np.diag(true) - B.T @ beta - beta.T @ B + beta.T @ G @ beta - np.outer(rest, rest)
        drawn = np.diag(true) - B.T @ beta - beta.T @ B + (beta.T * seen_drawn) @ beta - np.outer(rest, rest)
        return n, mean + rest, noise / n + drawn / _DRAWN, _lifted(missed)

    def _answers(self, codes: Columns) -> NDArray[np.int64]:
        given = {name: codes[self.names.index(name)] for name in self.names if name != self.model.target_}
        rows = len(codes[0])
        for name in self.model.features_:
            given.setdefault(name, np.zeros(rows, dtype=np.int64))
        return self.model.answers(given)

    def _randomize(self, axes: tuple[int, ...], likelihood: Array) -> NDArray[np.int64]:
        flat = np.ravel_multi_index([self.drawn[axis] for axis in axes], likelihood.shape[1:])
        table = likelihood.reshape(len(likelihood), -1)
        out = np.zeros(len(flat), dtype=np.int64)
        for value in np.unique(flat):
            here = np.flatnonzero(flat == value)
            upper = np.cumsum(table[:, value])
            drawn = np.searchsorted(upper, self.rng.random(len(here)) * upper[-1], side="right")
            out[here] = np.minimum(drawn, len(upper) - 1)
        return out

    def _cells(self, told: Told, released: Sequence[NDArray[np.integer]]) -> NDArray[np.int64]:
        """φ as a number: the likeliest class, and the answer at the likeliest true values."""
        codes: Columns = [np.empty(0, dtype=np.int64)] * len(self.sizes)
        for (axes, likelihood), values in zip(told, released, strict=True):
            shape = likelihood.shape[1:]
            table = likelihood.reshape(len(likelihood), -1)
            if axes != (self.target,):
                flat = np.ravel_multi_index([self.drawn[axis] for axis in axes], shape)
                table = table * np.bincount(flat, minlength=table.shape[1])
            likeliest = np.unravel_index(table.argmax(axis=1)[values], shape)
            for axis, column in zip(axes, likeliest, strict=True):
                codes[axis] = column
        return self._place(codes[self.target], self._answers(codes))

    def _place(self, true: NDArray[np.int64], said: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where a record stands in the confusion matrix."""
        return true * self.classes + said if self.classes <= MOST_CLASSES else (true == said).astype(np.int64)


def _lifted(covariance: Array) -> Array:
    """Without the negative eigenvalues that a covariance estimated from draws may have."""
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


def _joint(one: NDArray[np.int64], other: NDArray[np.int64], cells: int) -> Array:
    return np.bincount(one * cells + other, minlength=cells * cells).reshape(cells, cells) / len(one)
