"""What the owner asks for, turned into a bound on each attribute's gamma."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato.assess.breach import gamma_for_breach
from sfumato.assess.game import gamma_for_no_intrusion
from sfumato.assess.precision import check_n
from sfumato.channels.efficiency import TARGETS
from sfumato.channels.pram import check_distribution
from sfumato.domains import Domain, Hierarchy
from sfumato.errors import ChannelError, SfumatoError, quoted
from sfumato.input_checks import check_kind, check_word, given
from sfumato.schema import Schema

_JUST_BELOW = 1 - 2.0**-40  # a breach needs gamma to reach its limit, and roots are rounded: stay a hair under it


#: The finest precision that can be asked for: even all people together tell shares no more precisely.
LEAST_HALF_WIDTH = 1e-6


@dataclass(frozen=True)
class Requirements:
    """Any of: a bound on gamma, on the whole record's gamma, on beliefs, on the game, and a wanted precision."""

    gamma: float | Mapping[str, float] | None = None  # of every attribute, or of each by its name
    joint_gamma: float | None = None
    rho1: float | None = None
    rho2: float | None = None
    sigma: float | None = None
    p_max: float | None = None
    half_width: float | None = None
    level: float = 0.95
    target: str = "auto"
    prior: Mapping[str, ArrayLike] = field(default_factory=dict)
    all_levels: tuple[str, ...] = ()  # hierarchies whose wider levels matter too

    def check(self, schema: Schema, n: int) -> None:
        """One clear line for every requirement that makes no sense."""
        check_kind(SfumatoError, "schema", schema, Schema, "a Schema")
        check_n(n)
        for name, value in self._numbers(schema).items():
            if isinstance(value, bool | str) or not isinstance(value, int | float | np.number):
                raise SfumatoError(f"{name} must be a number, got {given(value)} instead")
            if name.startswith(("gamma", "joint_gamma")) and not 1 < value < math.inf:
                raise SfumatoError(f"{name} must lie in (1, inf), got {value}: at 1 the answers ignore the data")
        if (self.rho1 is None) != (self.rho2 is None):
            raise SfumatoError("rho1 and rho2 go together: beliefs of at most rho1 must stay below rho2")
        if self.p_max is not None and self.sigma is None:
            raise SfumatoError("p_max goes with sigma: it says how likely the likeliest value is in the game")
        if self.half_width is not None and not 0 < self.half_width < 1:
            raise SfumatoError(f"half_width must lie in (0, 1), a share of the records, got {self.half_width} instead")
        if self.half_width is not None and self.half_width < LEAST_HALF_WIDTH:
            raise SfumatoError(
                f"half_width must be at least {LEAST_HALF_WIDTH:g}: there are not people enough for less"
            )
        if not 0 < self.level < 1:
            raise SfumatoError(f"level must lie in (0, 1), got {self.level} instead")
        check_word(SfumatoError, "target", self.target, ("auto", *TARGETS))
        for name in self.all_levels:
            if not isinstance(schema[name], Hierarchy):
                raise SfumatoError(f"all_levels: {name!r} has no levels: it is {schema[name].kind}, and no hierarchy")
        for name, shares in self.prior.items():
            check_prior(name, shares, schema[name].size)
        if all(v is None for v in (self.gamma, self.joint_gamma, self.rho1, self.sigma, self.half_width)):
            raise SfumatoError("say what is wanted: gamma, joint_gamma, rho1 and rho2, sigma or half_width")

    def _numbers(self, schema: Schema) -> dict[str, Any]:
        """Every number that was given, by the name it was given under."""
        plain = ("joint_gamma", "rho1", "rho2", "sigma", "p_max", "half_width", "level")
        out = {name: getattr(self, name) for name in plain if name == "level" or getattr(self, name) is not None}
        if isinstance(self.gamma, Mapping):
            for name in self.gamma:
                schema[name]
            return out | {f"gamma[{name!r}]": value for name, value in self.gamma.items()}
        return out if self.gamma is None else out | {"gamma": self.gamma}

    def shared(self, sensitive: int) -> list[tuple[float, str]]:
        """The bound on each of the attributes that share the whole record's gamma, if there is one."""
        if self.joint_gamma is None:
            return []
        reason = f"gamma of the whole record at most {self.joint_gamma:g}, shared by {sensitive} attributes"
        return [(split_gamma(self.joint_gamma, sensitive), reason)]

    def limits(self, name: str, domain: Domain) -> list[tuple[float, str]]:
        """Every bound on this attribute's own gamma with its reason."""
        out: list[tuple[float, str]] = []
        if isinstance(self.gamma, Mapping):
            if name in self.gamma:
                out.append((self.gamma[name], f"gamma of this attribute at most {self.gamma[name]:g}"))
        elif self.gamma is not None:
            out.append((self.gamma, f"gamma of each attribute at most {self.gamma:g}"))
        if self.rho1 is not None and self.rho2 is not None:
            limit = gamma_for_breach(self.rho1, self.rho2) * _JUST_BELOW
            out.append((limit, f"no belief of at most {self.rho1:g} may rise to {self.rho2:g}"))
        if self.sigma is not None:
            out.append(self._game(name, domain, self.sigma))
        return out

    def _game(self, name: str, domain: Domain, sigma: float) -> tuple[float, str]:
        given = self.prior.get(name)
        likely = float(np.max(given)) if given is not None else 1 / domain.size
        top = likely if self.p_max is None else self.p_max
        if top < likely * (1 - 1e-9):
            why = f"{domain.size} values share the whole" if given is None else "its prior says so"
            raise SfumatoError(f"{name}: p_max must be at least {likely:.4g}, got {top:g}: {why}")
        limit = gamma_for_no_intrusion(top, sigma)
        if limit <= 1:
            nearest = (
                f"any sigma below {(1 - top) / top:.4g}" if top < 1 else "a p_max below 1: he knows the value already"
            )
            raise SfumatoError(
                f"{name}: no channel can make guessing unprofitable at sigma = {sigma:g} when a value is "
                f"{top:.3g} likely beforehand; the nearest that one can is {nearest}"
            )
        assumed = "" if self.p_max is not None or given is not None else " (all values equally likely)"
        return limit, f"guessing must not pay at a benefit of {sigma:g} times the loss{assumed}"


def split_gamma(gamma: float, attributes: int) -> float:
    """The share of each attribute in a bound on the whole record: their product stays below it.

    >>> round(split_gamma(9.0, 2), 6)
    3.0
    """
    return float(gamma ** (1 / attributes)) * (_JUST_BELOW if attributes > 1 else 1.0)


def check_prior(name: str, shares: ArrayLike, size: int) -> None:
    """Shares of an attribute's values, or one line that names the attribute."""
    try:
        check_distribution(np.asarray(shares, dtype=np.float64), size)
    except (ChannelError, TypeError, ValueError) as problem:
        known = isinstance(problem, ChannelError)
        what = str(problem) if known else f"prior must hold numbers{quoted(str(shares)[:60])}"
        raise SfumatoError(f"{name}: {what}") from None


def tightest(limits: list[tuple[float, str]]) -> tuple[float, str]:
    """The bound that binds, or none."""
    return min(limits, default=(math.inf, "no bound on gamma"))
