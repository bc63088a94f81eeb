"""When an iteration should stop: early stopping is the regulariser of EM, so the rule is always explicit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.errors import EstimationError

DEFAULTS = {"iterations": 100.0, "theta": 1e-3, "loglik": 0.3, "chi2": 0.01, "cv": 5.0}


@dataclass(frozen=True)
class Stop:
    """A rule and its number.

    iterations n          exactly n iterations
    theta t               sum |change of mass| < t (AA01 section 4.2)
    loglik t              gain in log-likelihood < t
    chi2 t                chi-square between successive estimates < t times its 95 % threshold (Agrawal, Srikant 2000)
    cv folds              the fewest iterations within one standard error of the best held-out log-likelihood
    """

    rule: str
    value: float
    limit: int = 20_000

    def __post_init__(self) -> None:
        if self.rule not in DEFAULTS:
            raise EstimationError(f"stop must be one of {', '.join(DEFAULTS)}, got {self.rule!r}")
        if not (math.isfinite(self.value) and self.value > 0):
            raise EstimationError(f"stop {self.rule} must be positive, got {self.value}")
        if self.rule in ("iterations", "cv") and self.value != int(self.value):
            raise EstimationError(f"stop {self.rule} must be a whole number, got {self.value}")
        if self.rule == "cv" and not 2 <= self.value <= 20:
            raise EstimationError(f"stop cv takes 2 to 20 folds, got {self.value:.0f}")

    def __str__(self) -> str:
        return f"{self.rule}:{self.value:g}"

    def met(self, before: Array, after: Array, gain: float, n: float) -> bool:
        """Whether the step from `before` to `after`, which gained `gain` log-likelihood, was the last one."""
        if self.rule == "theta":
            return float(np.abs(after - before).sum()) < self.value
        if self.rule == "loglik":
            return gain < self.value
        if self.rule == "chi2":
            held = before > 0
            change = n * float(np.sum((after[held] - before[held]) ** 2 / before[held]))
            return change < self.value * chi2_threshold(before.size - 1)
        return False


def parse_stop(stop: Any, default: str) -> Stop:
    """A rule from a number of iterations, "rule:value", {rule: value}, (rule, value) or None.

    >>> parse_stop("theta:1e-4", "chi2")
    Stop(rule='theta', value=0.0001, limit=20000)
    >>> parse_stop(50, "chi2").rule
    'iterations'
    """
    if stop is None:
        stop = default
    if isinstance(stop, Stop):
        return stop
    if isinstance(stop, int | float | np.integer | np.floating) and not isinstance(stop, bool):
        return Stop("iterations", float(stop))
    if isinstance(stop, str) and _number(stop) is not None:
        return Stop("iterations", float(stop))
    if isinstance(stop, Mapping) and len(stop) == 1:
        stop = next(iter(stop.items()))
    if isinstance(stop, str):
        rule, _, text = stop.partition(":")
        stop = (rule, text or DEFAULTS.get(rule, 1.0))
    if isinstance(stop, tuple) and len(stop) == 2 and isinstance(stop[0], str):
        value = _number(stop[1])
        if value is None:
            raise EstimationError(f"stop must look like {stop[0]}:0.01, got {stop[1]!r} for the number")
        return Stop(stop[0], value)
    raise EstimationError(f"stop must be iterations, 'rule:value' or {{rule: value}}, got {stop!r}")


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def chi2_threshold(df: int) -> float:
    """The 95 % point of chi-square with df degrees of freedom."""
    from scipy.special import chdtri

    return float(chdtri(max(df, 1), 0.05))
