"""What the owner asks for, turned into a bound on each attribute's gamma."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from sfumato.assess.breach import gamma_for_breach
from sfumato.assess.game import gamma_for_no_intrusion
from sfumato.assess.precision import check_n
from sfumato.channels.efficiency import TARGETS
from sfumato.domains import Domain
from sfumato.errors import SfumatoError
from sfumato.schema import Schema

_JUST_BELOW = 1 - 2.0**-40  # a breach needs gamma to reach its limit, and roots are rounded: stay a hair under it


@dataclass(frozen=True)
class Wishes:
    """Any of: a bound on gamma, on the whole record's gamma, on beliefs, on the game, and a wanted precision."""

    gamma: float | None = None
    joint_gamma: float | None = None
    rho1: float | None = None
    rho2: float | None = None
    sigma: float | None = None
    p_max: float | None = None
    half_width: float | None = None
    level: float = 0.95
    target: str = "auto"
    prior: Mapping[str, ArrayLike] = field(default_factory=dict)

    def check(self, schema: Schema, n: int) -> None:
        """One clear line for every wish that makes no sense."""
        check_n(n)
        for name, value in (("gamma", self.gamma), ("joint_gamma", self.joint_gamma)):
            if value is not None and not 1 < value < math.inf:
                raise SfumatoError(f"{name} must lie in (1, inf), got {value}: at 1 the answers ignore the data")
        if (self.rho1 is None) != (self.rho2 is None):
            raise SfumatoError("rho1 and rho2 go together: beliefs of at most rho1 must stay below rho2")
        if self.half_width is not None and not 0 < self.half_width < 1:
            raise SfumatoError(f"half_width must lie in (0, 1), a share of the records, got {self.half_width} instead")
        if not 0 < self.level < 1:
            raise SfumatoError(f"level must lie in (0, 1), got {self.level} instead")
        if self.target not in ("auto", *TARGETS):
            raise SfumatoError(f"target must be auto, shares or cdf, got {self.target!r} instead")
        for name in self.prior:
            schema[name]
        if self._none():
            raise SfumatoError("say what is wanted: gamma, joint_gamma, rho1 and rho2, sigma or half_width")

    def _none(self) -> bool:
        wanted = (self.gamma, self.joint_gamma, self.rho1, self.sigma, self.half_width)
        return all(value is None for value in wanted)

    def limits(self, name: str, domain: Domain, sensitive: int) -> list[tuple[float, str]]:
        """Every bound on this attribute's gamma with its reason; ``sensitive`` attributes share the joint bound."""
        out: list[tuple[float, str]] = []
        if self.gamma is not None:
            out.append((self.gamma, f"gamma of each attribute at most {self.gamma:g}"))
        if self.joint_gamma is not None:
            share = self.joint_gamma ** (1 / sensitive) * (_JUST_BELOW if sensitive > 1 else 1.0)
            reason = f"gamma of the whole record at most {self.joint_gamma:g}, shared by {sensitive} attributes"
            out.append((share, reason))
        if self.rho1 is not None and self.rho2 is not None:
            limit = gamma_for_breach(self.rho1, self.rho2) * _JUST_BELOW
            out.append((limit, f"no belief of at most {self.rho1:g} may rise to {self.rho2:g}"))
        if self.sigma is not None:
            out.append(self._game(name, domain))
        return out

    def _game(self, name: str, domain: Domain) -> tuple[float, str]:
        given = self.prior.get(name)
        top = float(np.max(given)) if given is not None else 1 / domain.size
        top = top if self.p_max is None else self.p_max
        limit = gamma_for_no_intrusion(top, float(self.sigma or 0))
        if limit <= 1:
            raise SfumatoError(
                f"{name}: no channel can make guessing unprofitable at sigma = {self.sigma:g} when a value is "
                f"{top:.3g} likely beforehand; the nearest that one can is any sigma below {(1 - top) / top:.4g}"
            )
        assumed = "" if self.p_max is not None or given is not None else " (all values equally likely)"
        return limit, f"guessing must not pay at a benefit of {self.sigma:g} times the loss{assumed}"


def tightest(limits: list[tuple[float, str]]) -> tuple[float, str]:
    """The bound that binds, or none."""
    return min(limits, default=(math.inf, "no bound on gamma"))
