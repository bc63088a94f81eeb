"""The best channel of each family for one attribute under a bound on gamma, side by side."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import ArrayLike

from sfumato.assess.effective import effective_sample_bound, effective_sample_size
from sfumato.assess.precision import half_width, worst_half_width
from sfumato.channels import Channel, identity, subset, symmetric, windows
from sfumato.channels.efficiency import even_efficiency
from sfumato.domains import Domain
from sfumato.errors import ChannelError, EstimationError

MOST_VALUES = 1024  # beyond this, covariances take too long to weigh candidates


@dataclass(frozen=True)
class Candidate:
    """A channel and what it costs: gamma, epsilon, effective sample size and the expected half-width for n records."""

    attribute: str
    family: str
    channel: Channel
    gamma: float
    epsilon: float
    effective: float
    bound: float
    half_width: float
    target: str

    def row(self) -> dict[str, Any]:
        """The numbers, plainly."""
        return {
            "attribute": self.attribute,
            "family": self.family,
            "channel": str(self.channel),
            "gamma": self.gamma,
            "epsilon": self.epsilon,
            "effective_sample_size": self.effective,
            "effective_sample_bound": self.bound,
            "half_width": self.half_width,
            "target": self.target,
        }


def target_of(domain: Domain, wanted: str = "auto") -> str:
    """What matters of an attribute: the running shares of an ordered one, the shares of any other."""
    if wanted != "auto":
        return wanted
    return "cdf" if domain.ordered and domain.size - domain.nullable > 2 else "shares"


def families(domain: Domain) -> dict[str, Callable[[float], Channel]]:
    """How to make each family's best channel for this attribute from a bound on gamma."""
    k = domain.size
    out: dict[str, Callable[[float], Channel]] = {"symmetric": lambda g: symmetric(k, gamma=g)}
    if k > 2:
        out["subset"] = lambda g: subset(k, g)
    if domain.ordered and k - domain.nullable > 2:
        out["windows"] = lambda g: windows(k - domain.nullable, g, domain.nullable)
    return out


def weigh(
    name: str,
    family: str,
    channel: Channel,
    target: str,
    n: int,
    level: float,
    prior: ArrayLike | None = None,
    nullable: bool = False,
) -> Candidate:
    """The costs of one channel."""
    reach = expected(channel, target, n, level, prior, nullable)
    effective = effective_sample_size(channel, prior, target, nullable=nullable)
    bound = effective_sample_bound(channel)
    return Candidate(name, family, channel, channel.gamma, channel.epsilon, effective, bound, reach, target)


def expected(
    channel: Channel, target: str, n: int, level: float, prior: ArrayLike | None, nullable: bool = False
) -> float:
    """The worst expected half-width of what matters; without a prior, over priors that are hard.

    Of a nullable attribute it is that of the shares among those who answer; without a prior, all of them do.
    """
    if target == "shares":
        return worst_half_width(channel, n, prior, level=level, nullable=nullable)
    return float(half_width(channel, n, prior, level=level, target="cdf", nullable=nullable).max())


def candidates(
    name: str,
    domain: Domain,
    gamma: float,
    n: int,
    target: str,
    level: float = 0.95,
    prior: ArrayLike | None = None,
    by: str = "effective",
) -> list[Candidate]:
    """Every family's best channel under the bound, best first ``by`` effective sample or by half_width."""
    if domain.size == 1:
        return []
    if gamma == math.inf:
        return [weigh(name, "identity", identity(domain.size), target, n, level, prior, domain.nullable)]
    found = []
    for family, make in families(domain).items():
        try:
            found.append(weigh(name, family, make(gamma), target, n, level, prior, domain.nullable))
        except EstimationError:  # answers that say nothing
            continue
    order = {"symmetric": 0, "subset": 1, "windows": 2}  # of two that are equally good, the simpler one

    answered = _if_all_answered(domain, gamma, target) if domain.nullable and domain.size > 2 and prior is None else {}

    def rank(one: Candidate) -> tuple[float, int]:
        worth = -round(answered.get(one.family, one.effective), 12)
        return worth if by == "effective" else float(f"{one.half_width:.9g}"), order[one.family]

    return sorted(found, key=rank)


def _if_all_answered(domain: Domain, gamma: float, target: str) -> dict[str, float]:
    """Each family's efficiency over the values alone, by which a nullable attribute gets its family."""
    out = {}
    for family, make in families(replace(domain, nullable=False)).items():  # type: ignore[type-var]
        out[family] = even_efficiency(make(gamma), target)
    return out


def narrowest(domain: Domain, gamma: float, n: int, target: str, level: float, prior: ArrayLike | None) -> float:
    """The smallest half-width that any family reaches under the bound; infinite where none can be estimated from."""
    out = math.inf
    for make in families(domain).values():
        try:
            out = min(out, expected(make(gamma), target, n, level, prior, domain.nullable))
        except EstimationError:
            continue
    return out


def check_size(name: str, domain: Domain) -> None:
    """Covariances of more values than this take too long."""
    if domain.size > MOST_VALUES:
        raise ChannelError(f"{name}: at most {MOST_VALUES} values can be weighed, got {domain.size}: use wider bins")
