"""rho1-to-rho2 privacy breaches: how far one answer can move a belief (Evfimievski et al. 2003; Ma 2006, 3.1.2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Array
from sfumato.assess.amplification import gamma as gamma_of
from sfumato.assess.subject import Attribute, subject
from sfumato.errors import ChannelError, SfumatoError
from sfumato.input_checks import check_number, check_numbers, given

_MOST_VALUES = 14  # 2^14 properties: beyond that only single values and the caller's own sets are looked at
_SLACK = 1e-13  # of odds: beliefs that equal a limit but for rounding count as having reached it


def rho2(gamma: Any, rho1: ArrayLike) -> Any:
    r"""The highest posterior belief that any prior belief rho1 can reach in one answer.

        rho2* = gamma rho1 / (1 + (gamma - 1) rho1)

    ``gamma`` is a number or anything that has one. Ma (2006), figure 3.2.

    >>> [round(rho2(gamma, rho1), 9) for gamma, rho1 in ((3, 0.1), (9, 0.1), (19, 0.05))]
    [0.25, 0.5, 0.5]
    """
    g, prior = _gamma(gamma), _belief(rho1, "rho1")
    out = np.where(prior > 0, 1.0, 0.0) if g == math.inf else g * prior / (1 + (g - 1) * prior)
    return float(out) if np.ndim(rho1) == 0 else out


def lowest(gamma: Any, rho2: ArrayLike) -> Any:
    r"""The lowest posterior belief that any prior belief rho2 can sink to: rho2 / (rho2 + gamma (1 - rho2)).

    >>> round(lowest(9, 0.9), 9)
    0.5
    """
    g, prior = _gamma(gamma), _belief(rho2, "rho2")
    out = np.where(prior < 1, 0.0, 1.0) if g == math.inf else prior / (prior + g * (1 - prior))
    return float(out) if np.ndim(rho2) == 0 else out


def gamma_for_breach(rho1: float, rho2: float) -> float:
    r"""The gamma up to which no belief of at most rho1 can rise to rho2, nor one of rho2 sink to rho1.

        gamma < rho2 (1 - rho1) / (rho1 (1 - rho2))

    >>> gamma_for_breach(0.1, 0.5)
    9.0
    """
    for name, value in (("rho1", rho1), ("rho2", rho2)):
        check_number(SfumatoError, name, value)
    if not 0 < rho1 < rho2 < 1:
        raise SfumatoError(f"rho1 and rho2 must satisfy 0 < rho1 < rho2 < 1, got {rho1} and {rho2} instead")
    return rho2 * (1 - rho1) / (rho1 * (1 - rho2))


@dataclass(frozen=True)
class Finding:
    """A property (a set of true values) whose belief moved too far when y was seen."""

    values: tuple[int, ...]
    y: int
    prior: float
    posterior: float


@dataclass(frozen=True)
class Breach:
    """Which beliefs are breached under a given prior; ``possible`` says whether any prior at all could be."""

    upward: tuple[Finding, ...]
    downward: tuple[Finding, ...]
    possible: bool

    def __bool__(self) -> bool:
        return bool(self.upward or self.downward)


def breach(
    of: Any,
    rho1: float,
    rho2: float,
    prior: ArrayLike | None = None,
    *,
    properties: Sequence[Sequence[int]] | str = "values",
    attribute: Attribute = None,
) -> Breach:
    """Whether this prior is breached: upward, prior <= rho1 and posterior >= rho2; downward, the other way about.

    ``properties`` are the sets of true values an adversary asks about: "values" for each single one, "all" for every
    set (up to 14 values), or a list of sets of codes.

    >>> found = breach([[0.9, 0.1], [0.1, 0.9]], 0.1, 0.5, prior=[0.1, 0.9])
    >>> found.upward[0].posterior, found.possible
    (0.5, True)
    """
    limit = gamma_for_breach(rho1, rho2)
    seen = subject(of, prior, attribute)
    sets = _properties(properties, len(seen.prior))
    inside = np.zeros((len(sets), len(seen.prior)))
    for row, values in enumerate(sets):
        inside[row, list(values)] = 1.0
    before, after = inside @ seen.prior, inside @ seen.posterior
    was, now, low, high = _odds(before)[:, None], _odds(after), rho1 / (1 - rho1), rho2 / (1 - rho2)
    more, less = 1 + _SLACK, 1 - _SLACK
    up = (was <= low * more) & (now >= high * less) & seen.seen
    down = (was >= high * less) & (now <= low * more) & seen.seen
    possible = bool(gamma_of(of, attribute) >= limit * (1 - 3 * _SLACK))  # the slack of both odds, and of the limit
    return Breach(_findings(up, sets, before, after), _findings(down, sets, before, after), possible)


def _odds(belief: Array) -> Array:
    return np.divide(belief, 1 - belief, out=np.full_like(belief, np.inf), where=belief < 1)


def _findings(where: Any, sets: list[tuple[int, ...]], before: Array, after: Array) -> tuple[Finding, ...]:
    rows = [Finding(sets[s], int(y), float(before[s]), float(after[s, y])) for s, y in np.argwhere(where)]
    return tuple(sorted(rows, key=lambda f: -abs(f.posterior - f.prior)))


def _properties(properties: Sequence[Sequence[int]] | str, k: int) -> list[tuple[int, ...]]:
    if isinstance(properties, str) and properties == "values":
        return [(x,) for x in range(k)]
    if isinstance(properties, str) and properties == "all":
        if k > _MOST_VALUES:
            raise ChannelError(f"properties='all' looks at every set of at most {_MOST_VALUES} values, got {k} values")
        return [values for size in range(1, k) for values in combinations(range(k), size)]
    try:
        out = [tuple(int(x) for x in values) for values in properties]
    except (TypeError, ValueError):
        raise ChannelError(
            f'properties must be "values", "all" or a list of sets of codes, got {given(properties)} instead'
        ) from None
    for values in out:
        if not values or min(values) < 0 or max(values) >= k:
            raise ChannelError(f"each property must be a set of codes in [0, {k - 1}], got {list(values)} instead")
    return out


def _gamma(given: Any) -> float:
    if given is None or isinstance(given, str | bytes):
        check_number(SfumatoError, "gamma", given)
    value = float(given) if isinstance(given, int | float | np.number) else gamma_of(given)
    if not value >= 1:
        raise SfumatoError(f"gamma must be at least 1, got {value} instead")
    return value


def _belief(values: ArrayLike, name: str) -> Array:
    out = check_numbers(SfumatoError, name, values)
    if not ((out >= 0) & (out <= 1)).all():
        raise SfumatoError(f"{name} must lie in [0, 1], got {out} instead")
    return out
