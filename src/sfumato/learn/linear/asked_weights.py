r"""Where unbiased counts put the weights of a logistic classifier that was fitted to the cells of a joint model.

A model that hides much of what the records tell leaves the weights far too near 0, where curves are steep and one step
of Newton's method is too short. The counts ask for the weights w at which

    Σ N p(x; w) ⊗ x  =  t,        t = Σ N p̃ ⊗ x + Σ_z Ñ_z ψ_z

where N are the model's cells, p̃ is the linear function nearest to p, and ψ is of ``PairScores``. For given t that is a
concave problem, and the penalty gives it a solution whatever the noise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Array
from sfumato.learn.base import normalise
from sfumato.learn.linear.told_errors import LogisticCells

#: Σ Ñ ψ and its covariance, of linear shares: a row per feature and one of the constant, a column per class.
Sums = Callable[[Array], tuple[Array, Array]]

_STEPS = 50
_CLOSE = 1e-4  # of a gain in log likelihood
_SHORTEST = 1e-6


class Asked(NamedTuple):
    """How far from the fitted weights, a row per class: as far as what counts tell is clear of noise, and farther."""

    clear: Array
    farther: Array


class FittedCells:
    """Cells and what was fitted there: ``X`` and ``penalty`` as of ``LogisticCells``, ``fitted`` a row per class."""

    def __init__(self, X: Array, scores: Array, weights: Array, fitted: Array, penalty: Array) -> None:
        self._X, self._scores, self._weights = X, scores, weights
        # of two classes one has all the weight, and of each half of it the penalty counts twice
        self._fitted, self._penalty, self._pull = fitted, penalty, (2 if len(fitted) == 2 else 1) * penalty

    def at(self, moved: Array) -> LogisticCells:
        """The cells with weights that were moved."""
        return LogisticCells(self._X, self._scores + self._X @ moved.T, self._weights, self._penalty)

    def asked(self, sums: Sums) -> Asked:
        """By how much unbiased counts move the weights.

        Noise alone would lead away from where curves are steep: its expected part of the way is left out (James and
        Stein). It may as well have led back: one standard error farther curves are flatter, and noise moves more.
        """
        none = np.zeros_like(self._fitted)
        here = self.at(none)
        score, covariance = sums(here.linear_shares())
        step, noise = here.step(score, covariance)
        size = float(score @ step.reshape(-1))
        clear = np.sqrt(max(1 - noise, 0.0))
        error = np.sqrt(max(float(step.reshape(-1) @ covariance @ step.reshape(-1)), 0.0)) / size if size > 0 else 0.0
        return Asked(*(self._reached(part, sums, score) for part in (clear, clear + error)))

    def _reached(self, part: float, sums: Sums, score: Array) -> Array:
        """Where this part of what the counts tell beyond the fitted weights leads."""
        none = np.zeros_like(self._fitted)
        before = self._sums(none)
        first = self._solved(none, before + part * score.reshape(none.shape))
        again = sums(self.at(first).linear_shares())[0].reshape(none.shape)  # curves bend: shares are linear elsewhere
        return self._solved(first, before + part * (self._sums(first) + again - before))

    def _solved(self, moved: Array, sums: Array) -> Array:
        """The weights under which the cells have these sums, penalised."""
        value = self._value(moved, sums)
        for _ in range(_STEPS):
            left = sums - self._sums(moved) - self._pull * self._centred(moved)
            step = self.at(moved).towards(left)
            length = 1.0
            while (reached := self._value(moved + length * step, sums)) <= value and length > _SHORTEST:
                length /= 2
            if reached - value < _CLOSE:
                break
            moved, value = moved + length * step, reached
        return moved

    def _value(self, moved: Array, sums: Array) -> float:
        scores = self._scores + self._X @ moved.T
        total = np.logaddexp.reduce(scores, axis=1)
        w = self._centred(moved)
        return float((sums * moved).sum() - self._weights @ total - 0.5 * (self._pull * w**2).sum())

    def _sums(self, moved: Array) -> Array:
        shares = normalise(self._scores + self._X @ moved.T)
        return np.asarray((shares * self._weights[:, None]).T @ self._X)

    def _centred(self, moved: Array) -> Array:
        w = self._fitted + moved
        return np.asarray(w - w.mean(axis=0))
