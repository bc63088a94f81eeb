"""Design: from requirements to a scheme, with the candidates side by side and the reasons in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato.assess.report.summary import factor
from sfumato.channels import Channel, identity, tree_levels
from sfumato.design.candidates import Candidate, candidates, check_size, expected, narrowest, target_of, weigh
from sfumato.design.joint_channel import JointChoice, choose_joint
from sfumato.design.many_values import caution
from sfumato.design.requirements import Requirements, tightest
from sfumato.design.search import LOOSEST, least, needed
from sfumato.design.tradeoff import Tradeoff, tradeoff
from sfumato.domains import Domain, Hierarchy
from sfumato.errors import SfumatoError
from sfumato.input_checks import check_kind, check_names
from sfumato.schema import Schema
from sfumato.scheme import Scheme


@dataclass(frozen=True)
class Choice:
    """What was chosen for one attribute: the bound that binds, the candidates (best first), the pick, what is unmet."""

    attribute: str
    limit: float
    reason: str
    candidates: tuple[Candidate, ...]
    pick: Candidate
    unmet: str | None = None


@dataclass(frozen=True, eq=False)
class Design:
    """A scheme that meets the requirements, or comes nearest, and why."""

    schema: Schema
    n: int
    requirements: Requirements
    choices: tuple[Choice, ...]
    joint: JointChoice | None = None  # where one channel over all attributes does better than one each

    @cached_property
    def scheme(self) -> Scheme:
        """The chosen scheme."""
        single = [name for name, domain in self.schema.items() if domain.size == 1]  # nothing to protect
        if self.joint is not None:
            return Scheme(self.schema, {self.joint.names: self.joint.channel}, clear=single)
        picked: dict[str | tuple[str, ...], Channel] = {c.attribute: c.pick.channel for c in self.choices}
        return Scheme(self.schema, picked, clear=single)

    @property
    def unmet(self) -> list[str]:
        """Requirements that cannot be granted, each with the nearest that can."""
        if self.joint is not None:
            return list(self.joint.unmet)
        return [choice.unmet for choice in self.choices if choice.unmet]

    def rows(self) -> list[dict[str, Any]]:
        """Every candidate with its numbers; ``chosen`` marks the pick."""
        out = [
            {**c.row(), "chosen": self.joint is None and c is choice.pick}
            for choice in self.choices
            for c in choice.candidates
        ]
        return out + [{**c.row(), "chosen": True} for c in (() if self.joint is None else self.joint.parts)]

    def tradeoff(self, attribute: str | None = None) -> Tradeoff:
        """The trade-off curves of one attribute (default: the first)."""
        name = attribute or self.choices[0].attribute
        asked = self.requirements
        prior = asked.prior.get(name)
        return tradeoff(name, self.schema[name], self.n, level=asked.level, target=asked.target, prior=prior)

    def plot(self, path: Any, attribute: str | None = None) -> None:
        """Write the trade-off curves of an attribute to a picture, with the pick as a dot."""
        name = attribute or self.choices[0].attribute
        pick = next((c.pick for c in self.choices if c.attribute == name), None)
        at = None if pick is None or pick.gamma == math.inf or self.joint else (pick.gamma, pick.half_width)
        self.tradeoff(name).save(path, at)

    def explain(self) -> str:
        """The candidates side by side, and the pick in words."""
        lines = []
        for choice in self.choices:
            lines.append(f"{choice.attribute}: {choice.reason}")
            for c in choice.candidates:
                mark = "->" if c is choice.pick and self.joint is None else "  "
                lines.append(
                    f" {mark} {c.family:9s} gamma {c.gamma:<5.4g} "
                    f"effective sample {100 * c.effective:5.3g} %  {_what(c)} {_points(c.half_width)}"
                )
            lines.append("    " + _why(choice))
            few = caution(choice.pick.channel, choice.pick.half_width, self.n)
            if few is not None and choice.pick.target == "shares":
                lines.append("    " + few)
            if choice.unmet and self.joint is None:
                lines.append("    NOT MET: " + choice.unmet.removeprefix(f"{choice.attribute}: "))
        if self.joint is not None:
            parts = self.joint.parts
            worst = min(c.effective for c in parts)
            lines.append(
                f"Chosen instead: one channel over all {len(parts)} attributes together, which keeps at least "
                f"{100 * worst:.3g} % of the sample for every attribute ({_points(self.joint.widest)} or better) at "
                f"gamma {self.joint.channel.gamma:.4g} of the whole record."
            )
            lines += ["    NOT MET: " + text for text in self.joint.unmet]
        lines.append(f"The whole record: gamma {factor(self.scheme.epsilon, 4)}, epsilon {self.scheme.epsilon:.4g}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Design({self.scheme!r})"

    def _repr_html_(self) -> str:
        return self.scheme._repr_html_()


def design(
    schema: Schema,
    n: int,
    *,
    gamma: float | Mapping[str, float] | None = None,
    joint_gamma: float | None = None,
    rho1: float | None = None,
    rho2: float | None = None,
    sigma: float | None = None,
    p_max: float | None = None,
    half_width: float | None = None,
    level: float = 0.95,
    target: str = "auto",
    prior: Mapping[str, ArrayLike] | None = None,
    all_levels: Sequence[str] = (),
) -> Design:
    """The best channel for each attribute under any of the requirements, for n records.

    ``gamma`` bounds every attribute, or, as a mapping, each attribute by its name.
    With a bound on privacy the most precise channel under it is chosen; with only a wanted ``half_width``, the most
    private channel that reaches it. Where both are given and contradict each other the bound holds, and the nearest
    reachable precision is told. ``all_levels`` names hierarchies that are asked about at every level.

    >>> from sfumato.schema import Categorical
    >>> wanted = design(Schema({"sex": Categorical(("F", "M"))}), n=10_000, rho1=0.1, rho2=0.25)
    >>> round(wanted.scheme.gamma, 6)
    3.0
    """
    if prior is not None:
        check_kind(SfumatoError, "prior", prior, Mapping, "a mapping of attributes to shares")
    all_levels = check_names(SfumatoError, "all_levels", all_levels, "hierarchies")
    asked = Requirements(
        gamma, joint_gamma, rho1, rho2, sigma, p_max, half_width, level, target, dict(prior or {}), all_levels
    )
    asked.check(schema, n)
    sensitive = [name for name, domain in schema.items() if domain.size > 1]
    if not sensitive:
        raise SfumatoError("every attribute has a single value: there is nothing to protect")
    choices = tuple(_choose(name, schema[name], asked, n, len(sensitive)) for name in sensitive)
    picks = [choice.pick for choice in choices]
    joint = None if asked.all_levels else choose_joint(schema, sensitive, asked, picks, n)
    return Design(schema, n, asked, choices, joint)


def _choose(name: str, domain: Domain, asked: Requirements, n: int, sensitive: int) -> Choice:
    check_size(name, domain)
    limit, reason = tightest(asked.shared(sensitive) + asked.limits(name, domain))
    prior, aim, wanted = asked.prior.get(name), target_of(domain, asked.target), asked.half_width
    best = None if wanted is None else _least(name, domain, min(limit, LOOSEST), asked, n, wanted)
    if wanted is not None and best is not None:
        limit, reason = best, f"± {100 * wanted:g} points wanted, with as little disclosed as possible"
    if limit == math.inf:
        raise _boundless(name, domain, asked, n)
    if limit > LOOSEST:
        limit, reason = LOOSEST, f"{reason}; beyond {LOOSEST:g} nothing more is gained"
    found = tuple(candidates(name, domain, limit, n, aim, asked.level, prior))
    if not found:
        raise _blind(name, domain, limit, aim, n, asked)
    if isinstance(domain, Hierarchy) and name in asked.all_levels:
        levels = tree_levels(domain, limit)
        found = (weigh(name, "levels", levels, aim, n, asked.level, prior, domain.nullable), *found)
    unmet = None
    if wanted is not None and found[0].half_width > wanted * (1 + 1e-6):
        unmet = _nearest(name, domain, found[0], asked, n, wanted, limit)
    return Choice(name, limit, reason, found, found[0], unmet)


def _least(name: str, domain: Domain, limit: float, asked: Requirements, n: int, wanted: float) -> float | None:
    """The smallest gamma up to the limit whose best channel is precise enough, or None."""
    prior, aim = asked.prior.get(name), target_of(domain, asked.target)
    return least(lambda gamma: narrowest(domain, gamma, n, aim, asked.level, prior), limit, wanted)


def _boundless(name: str, domain: Domain, asked: Requirements, n: int) -> SfumatoError:
    """No bound on gamma, and either no precision wanted or one that n is too small for."""
    wanted = asked.half_width
    if wanted is None:
        return SfumatoError(
            f"{name}: gamma names no bound for this attribute; name all of them, or ask for something else"
        )
    aim, prior = target_of(domain, asked.target), asked.prior.get(name)
    floor = expected(identity(domain.size), aim, n, asked.level, prior, domain.nullable)
    return SfumatoError(
        f"{name}: ± {100 * wanted:g} points cannot be reached with n = {n}, even without randomizing: "
        f"the nearest is ± {100 * floor:.3g}, or {needed(n, floor, wanted):,} records"
    )


def _blind(name: str, domain: Domain, limit: float, aim: str, n: int, asked: Requirements) -> SfumatoError:
    """A bound so close to 1 that the answers say nothing: the nearest one that leaves something to estimate."""
    prior, gamma = asked.prior.get(name), limit
    if prior is not None and np.max(prior) >= 1:
        return SfumatoError(f"{name}: the prior puts everything on one value: there is nothing to estimate")
    while gamma < LOOSEST and narrowest(domain, gamma, n, aim, asked.level, prior) == math.inf:
        gamma = 1 + 2 * (gamma - 1)
    if gamma >= LOOSEST:
        return SfumatoError(f"{name}: its shares cannot be estimated under any gamma; give a prior without zeros")
    return SfumatoError(
        f"{name}: under gamma {limit:.9g} the answers say nothing that could be estimated; the nearest that leaves "
        f"something is gamma {gamma:.9g}"
    )


def _nearest(
    name: str, domain: Domain, pick: Candidate, asked: Requirements, n: int, wanted: float, limit: float
) -> str:
    text = (
        f"{name}: ± {100 * wanted:g} points cannot be reached under gamma {limit:.4g} with n = {n:,}; the nearest is "
        f"± {100 * pick.half_width:.3g}, or {needed(n, pick.half_width, wanted):,} records"
    )
    looser = _least(name, domain, LOOSEST, asked, n, wanted)
    return text if looser is None else text + f", or gamma {looser:.4g}"


def _what(candidate: Candidate) -> str:
    return {"shares": "shares", "cdf": "running shares", "mean": "mean, of the range,"}[candidate.target]


def _points(half_width: float) -> str:
    return f"± {100 * half_width:.3g} points" if half_width < 1 else "nothing can be said"


def _why(choice: Choice) -> str:
    pick = choice.pick
    if len(choice.candidates) == 1:
        return f"{pick.family} is the only family that fits."
    if pick.family == "levels":
        return "levels: as asked for; counts of wider levels are more precise than sums of the others' would be."
    second = choice.candidates[1]
    gain = (second.half_width / pick.half_width) ** 2
    if gain < 1.005:
        return f"{pick.family}: {second.family} is as precise, to within 1 in 200 records."
    if pick.target != "mean" and second.effective > 1.005 * pick.effective:
        hardest = "share" if pick.target == "shares" else "running share"
        return (
            f"{pick.family}: the hardest {hardest} is as precise as with {gain:.3g} times the records of "
            f"{second.family}. That one has the larger effective sample: it is better on average, where all values are "
            "about equally frequent."
        )
    alone = " It is made for means: shares and quantiles are less precise." if pick.family == "average" else ""
    return f"{pick.family}: worth {gain:.3g} times the records of {second.family} at the same gamma.{alone}"
