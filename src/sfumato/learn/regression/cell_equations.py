"""Estimating equations over cells: matrix, response and scores of each cell that has a response."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sfumato.arrays import Array
from sfumato.learn.regression.cell_weights import CellWeights
from sfumato.learn.regression.design_columns import INTERCEPT, matrix
from sfumato.learn.regression.families import Ordinal
from sfumato.learn.regression.newton import Root, solve
from sfumato.learn.regression.problem import Fit, Problem


class CellEquations:
    """Matrix and response of the cells that have a response, scaled to columns of size 1."""

    def __init__(self, cells: CellWeights, problem: Problem) -> None:
        y = np.asarray(cells.codes[problem.names[-1]])
        self.cells, self.problem = cells, problem
        self.kept = np.flatnonzero(problem.response.kept[y])
        self.y = problem.response.values[y[self.kept]]
        codes = {name: own[self.kept] for name, own in cells.codes.items()}
        self.size = np.array([float(np.abs(column.table).max()) or 1.0 for column in problem.columns])
        self.X = matrix(problem.columns, codes, len(self.kept)) / self.size
        if isinstance(problem.family, Ordinal):
            self.size = np.append(self.size, np.ones(problem.family.classes - 1))

    @property
    def weights(self) -> Array:
        return self.cells.weights[self.kept]

    def gram(self, weights: Array) -> tuple[list[str], Array, Array]:
        """Names, columns and Σ x xᵀ, the constant included."""
        terms, X = self.problem.terms, self.X
        if isinstance(self.problem.family, Ordinal):
            terms, X = [INTERCEPT.term, *terms], np.hstack([np.ones((len(X), 1)), X])
        return terms, X, (X * weights[:, None]).T @ X

    def solve(self, weights: Array, start: Array | None = None) -> Root:
        family, X, y = self.problem.family, self.X, self.y

        def equations(beta: Array) -> tuple[Array, Array] | None:
            score = family.score(beta, X, y)
            return None if score is None else (weights @ score, family.information(beta, X, y, weights))

        return solve(equations, family.start(X, y, weights) if start is None else start)

    def everywhere(self, values: Array) -> Array:
        """A row per cell, zero where there is no response."""
        out = np.zeros((len(self.cells.weights), values.shape[1]))
        out[self.kept] = values
        return out

    def score(self, beta: Array) -> Array:
        found = self.problem.family.score(beta, self.X, self.y)
        return self.everywhere(np.zeros((len(self.y), len(beta))) if found is None else found)

    def unscaled(self, found: Fit) -> Fit:
        return replace(found, beta=found.beta / self.size, cov=found.cov / np.outer(self.size, self.size))
