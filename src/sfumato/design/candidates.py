"""The best channel of each family for one attribute under a bound on gamma, side by side."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from sfumato.assess.effective import effective_sample_bound, effective_sample_size
from sfumato.assess.precision import MANY, half_width, hardest_half_width, mean_half_width, worst_half_width
from sfumato.channels import Channel, average, identity, prefixes
from sfumato.channels import families as channel_families
from sfumato.channels.efficiency import TARGETS, even_efficiency, even_prior
from sfumato.channels.scores import mean_variance
from sfumato.domains import Domain, Text
from sfumato.errors import ChannelError, EstimationError, SfumatoError
from sfumato.input_checks import check_kind, check_number, check_share, check_word

SIMPLEST_FIRST = ("symmetric", "subset", "windows", "average", "prefixes")  # of two that are equally good


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
    """What matters of an attribute: the mean of one with points, the running shares of an ordered one, else the shares.

    Where means are wanted, an attribute whose codes are not equally spaced has none: it is taken as if nothing were.
    """
    if wanted in ("shares", "cdf"):
        return wanted
    if domain.spaced and (domain.rounds or wanted == "mean"):
        return "mean"
    return "cdf" if domain.ordered and domain.size - domain.nullable > 2 else "shares"


def families(domain: Domain, target: str) -> dict[str, Callable[[float], list[Channel]]]:
    """How to make each family's channels for this attribute from a bound on gamma; the best of them counts."""
    if isinstance(domain, Text):
        return {"prefixes": lambda g: [prefixes(domain, g)]}
    k = domain.size
    out = channel_families.families(k, domain.ordered, domain.nullable)
    if target == "mean" and k - domain.nullable > 1:
        out["average"] = lambda g: [average(k - domain.nullable, g, nullable=domain.nullable)]
    return out


def best_of(
    channels: list[Channel], target: str, n: int, level: float, prior: ArrayLike | None, nullable: bool
) -> tuple[float, Channel]:
    """The channel with the smallest expected half-width, and that half-width."""
    reach = []
    for channel in channels:
        try:
            reach.append(expected(channel, target, n, level, prior, nullable))
        except (EstimationError, ChannelError):  # answers that say nothing
            reach.append(math.inf)
    if min(reach) == math.inf:
        raise EstimationError("the answers of no channel say anything")
    first = min(range(len(reach)), key=lambda i: float(f"{reach[i]:.9g}"))
    return reach[first], channels[first]


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
    if target == "mean":
        shares = even_prior(channel.k, nullable) if prior is None else prior
        plain = mean_variance(identity(channel.k), shares, nullable)
        effective = plain / mean_variance(channel, shares, nullable)
    elif channel.k > MANY:
        effective = even_efficiency(channel, nullable=nullable)
    else:
        effective = effective_sample_size(channel, prior, target, nullable=nullable)
    bound = effective_sample_bound(channel)
    return Candidate(name, family, channel, channel.gamma, channel.epsilon, effective, bound, reach, target)


def expected(
    channel: Channel, target: str, n: int, level: float, prior: ArrayLike | None, nullable: bool = False
) -> float:
    """The worst expected half-width of what matters; without a prior, over priors that are hard.

    Of a nullable attribute it is that of the shares among those who answer; without a prior, all of them do.
    """
    if target == "mean":
        return mean_half_width(channel, n, prior, level=level, nullable=nullable)
    if channel.k > MANY:
        return hardest_half_width(channel, n, prior, level=level)
    if target == "shares":
        return worst_half_width(channel, n, prior, level=level, nullable=nullable)
    return float(half_width(channel, n, prior, level=level, target="cdf", nullable=nullable).max())


def candidates(
    name: str, domain: Domain, gamma: float, n: int, target: str, level: float = 0.95, prior: ArrayLike | None = None
) -> list[Candidate]:
    """Every family's best channel under the bound, the smallest expected half-width first."""
    check_kind(SfumatoError, "domain", domain, Domain, "a domain, such as schema[name]")
    check_word(SfumatoError, "target", target, TARGETS)
    check_share(SfumatoError, "level", level)
    if domain.size == 1:
        return []
    gamma = check_number(SfumatoError, "gamma", gamma)
    if gamma == math.inf:
        return [weigh(name, "identity", identity(domain.size), target, n, level, prior, domain.nullable)]
    found = []
    for family, make in families(domain, target).items():
        try:
            _, channel = best_of(make(gamma), target, n, level, prior, domain.nullable)
            found.append(weigh(name, family, channel, target, n, level, prior, domain.nullable))
        except (EstimationError, ChannelError):  # answers that say nothing, or too many values for its matrix
            continue
    return sorted(found, key=lambda one: (float(f"{one.half_width:.9g}"), SIMPLEST_FIRST.index(one.family)))


def narrowest_of(
    domain: Domain, family: str, gamma: float, n: int, target: str, level: float, prior: ArrayLike | None
) -> float:
    """The half-width that one family reaches under the bound; infinite where it cannot be estimated from."""
    try:
        return best_of(families(domain, target)[family](gamma), target, n, level, prior, domain.nullable)[0]
    except (EstimationError, ChannelError, KeyError):
        return math.inf


def narrowest(domain: Domain, gamma: float, n: int, target: str, level: float, prior: ArrayLike | None) -> float:
    """The smallest half-width that any family reaches under the bound; infinite where none can be estimated from."""
    return min(narrowest_of(domain, family, gamma, n, target, level, prior) for family in families(domain, target))


_FEWER = {"date": "use longer periods or a shorter range", "numeric": "use wider bins, or fewer points"}


def check_size(name: str, domain: Domain) -> None:
    """The running shares of more ordered values take too long to weigh."""
    if domain.ordered and domain.size > MANY:
        how = _FEWER.get(domain.kind, "merge neighbouring values")
        raise ChannelError(f"{name}: at most {MANY:,} ordered values can be weighed, got {domain.size:,}: {how}")
