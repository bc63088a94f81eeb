"""Design: from wishes to a scheme, with the candidates side by side and the reasons in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

from numpy.typing import ArrayLike

from sfumato.channels import Channel, identity, symmetric
from sfumato.design.candidates import Candidate, candidates, expected, target_of, weigh
from sfumato.design.tradeoff import Tradeoff, tradeoff
from sfumato.design.wishes import Wishes, tightest
from sfumato.domains import Domain
from sfumato.errors import SfumatoError
from sfumato.schema import Schema
from sfumato.scheme import Scheme

_MOST_TOGETHER = 4096
_LOOSEST = 1e6  # the largest gamma that is still called randomizing


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
    """A scheme that grants the wishes, or comes nearest, and why."""

    schema: Schema
    n: int
    wishes: Wishes
    choices: tuple[Choice, ...]
    together: tuple[Candidate, ...] = ()  # where one channel over all attributes does better than one each

    @cached_property
    def scheme(self) -> Scheme:
        """The chosen scheme."""
        if self.together:
            names = tuple(c.attribute for c in self.together)
            joint = symmetric(self.schema.sizes(names), gamma=float(self.wishes.joint_gamma or 0))
            return Scheme(self.schema, {names: joint})
        picked: dict[str | tuple[str, ...], Channel] = {c.attribute: c.pick.channel for c in self.choices}
        return Scheme(self.schema, picked)

    @property
    def unmet(self) -> list[str]:
        """Wishes that cannot be granted, each with the nearest that can."""
        return [choice.unmet for choice in self.choices if choice.unmet]

    def rows(self) -> list[dict[str, Any]]:
        """Every candidate with its numbers; ``chosen`` marks the pick."""
        out = [
            {**c.row(), "chosen": not self.together and c is choice.pick}
            for choice in self.choices
            for c in choice.candidates
        ]
        return out + [{**c.row(), "chosen": True} for c in self.together]

    def tradeoff(self, attribute: str | None = None) -> Tradeoff:
        """The trade-off curves of one attribute (default: the first)."""
        name = attribute or self.choices[0].attribute
        w = self.wishes
        return tradeoff(
            name, self.schema[name], self.n, level=w.level, target=w.target, prior=self.wishes.prior.get(name)
        )

    def plot(self, path: Any, attribute: str | None = None) -> None:
        """Write the trade-off curves of an attribute to a picture, with the pick as a dot."""
        name = attribute or self.choices[0].attribute
        pick = next((c.pick for c in self.choices if c.attribute == name), None)
        at = None if pick is None or pick.gamma == math.inf or self.together else (pick.gamma, pick.half_width)
        self.tradeoff(name).save(path, at)

    def explain(self) -> str:
        """The candidates side by side, and the pick in words."""
        lines = []
        for choice in self.choices:
            lines.append(f"{choice.attribute}: {choice.reason}")
            for c in choice.candidates:
                mark = "->" if c is choice.pick and not self.together else "  "
                lines.append(
                    f"  {mark} {c.family:10s} gamma {c.gamma:9.4g}  epsilon {c.epsilon:6.3f}  "
                    f"effective sample {100 * c.effective:7.3f} %  {_what(c)} ± {100 * c.half_width:.3g} points"
                )
            lines.append("     " + _why(choice))
            if choice.unmet:
                lines.append("     NOT MET: " + choice.unmet)
        if self.together:
            worst = min(c.effective for c in self.together)
            lines.append(
                f"Chosen instead: one channel over all {len(self.together)} attributes together, which keeps at least "
                f"{100 * worst:.3g} % of the sample for every attribute under the same gamma of the whole record."
            )
        lines.append(f"The whole record: gamma {self.scheme.gamma:.6g}, epsilon {self.scheme.epsilon:.4g}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Design({self.scheme!r})"


def design(
    schema: Schema,
    n: int,
    *,
    gamma: float | None = None,
    joint_gamma: float | None = None,
    rho1: float | None = None,
    rho2: float | None = None,
    sigma: float | None = None,
    p_max: float | None = None,
    half_width: float | None = None,
    level: float = 0.95,
    target: str = "auto",
    prior: Mapping[str, ArrayLike] | None = None,
) -> Design:
    """The best channel for each attribute under any of the wishes, for n records.

    With a bound on privacy the most precise channel under it is chosen; with only a wanted ``half_width``, the most
    private channel that reaches it. Where both are given and contradict each other the bound holds, and the nearest
    reachable precision is told.

    >>> from sfumato.schema import Categorical
    >>> wanted = design(Schema({"sex": Categorical(("F", "M"))}), n=10_000, rho1=0.1, rho2=0.25)
    >>> round(wanted.scheme.gamma, 6)
    3.0
    """
    wishes = Wishes(gamma, joint_gamma, rho1, rho2, sigma, p_max, half_width, level, target, dict(prior or {}))
    wishes.check(schema, n)
    sensitive = [name for name, domain in schema.items() if domain.size > 1]
    if not sensitive:
        raise SfumatoError("every attribute has a single value: there is nothing to protect")
    choices = tuple(_choose(name, schema[name], wishes, n, len(sensitive)) for name in sensitive)
    return Design(schema, n, wishes, choices, _together(schema, sensitive, wishes, choices, n))


def _choose(name: str, domain: Domain, wishes: Wishes, n: int, sensitive: int) -> Choice:
    limit, reason = tightest(wishes.limits(name, domain, sensitive))
    prior, aim = wishes.prior.get(name), target_of(domain, wishes.target)
    wanted = wishes.half_width
    if wanted is not None:
        best = _least(name, domain, min(limit, _LOOSEST), wishes, n, wanted)
        if best is not None:
            limit, reason = best, f"± {100 * wanted:g} points wanted, with as little disclosed as possible"
    if limit == math.inf:  # only a precision was wanted, and n is too small for it
        floor = expected(identity(domain.size), aim, n, wishes.level, prior)
        raise SfumatoError(
            f"{name}: ± {100 * float(wanted or 0):g} points cannot be reached with n = {n}, even without randomizing: "
            f"the nearest is ± {100 * floor:.3g}, or {_needed(n, floor, float(wanted or 1)):,} records"
        )
    found = tuple(candidates(name, domain, limit, n, aim, wishes.level, prior))
    pick = found[0]
    unmet = None
    if wanted is not None and pick.half_width > wanted * (1 + 1e-6):
        unmet = _nearest(name, domain, pick, wishes, n, wanted, limit)
    return Choice(name, limit, reason, found, pick, unmet)


def _least(name: str, domain: Domain, limit: float, wishes: Wishes, n: int, wanted: float) -> float | None:
    """The smallest gamma up to the limit whose best channel is precise enough, or None."""
    prior, aim = wishes.prior.get(name), target_of(domain, wishes.target)

    def width(gamma: float) -> float:
        return candidates(name, domain, gamma, n, aim, wishes.level, prior)[0].half_width

    if width(limit) > wanted:
        return None
    low, high = math.log(1.0005), math.log(limit)
    if math.exp(low) >= limit:
        return limit
    for _ in range(22):
        middle = (low + high) / 2
        low, high = (low, middle) if width(math.exp(middle)) <= wanted else (middle, high)
    return math.exp(high)


def _nearest(name: str, domain: Domain, pick: Candidate, wishes: Wishes, n: int, wanted: float, limit: float) -> str:
    text = (
        f"{name}: ± {100 * wanted:g} points cannot be reached under gamma {limit:.4g} with n = {n:,}; the nearest is "
        f"± {100 * pick.half_width:.3g}, or {_needed(n, pick.half_width, wanted):,} records"
    )
    looser = _least(name, domain, _LOOSEST, wishes, n, wanted)
    return text if looser is None else text + f", or gamma {looser:.4g}"


def _needed(n: int, reach: float, wanted: float) -> int:
    return math.ceil(n * (reach / wanted) ** 2)


def _together(
    schema: Schema, names: list[str], wishes: Wishes, choices: tuple[Choice, ...], n: int
) -> tuple[Candidate, ...]:
    """One symmetric channel over all attributes, if it grants every bound and serves the worst-off attribute better."""
    sizes = schema.sizes(names)
    if wishes.joint_gamma is None or len(names) < 2 or prod(sizes) > _MOST_TOGETHER:
        return ()
    joint = symmetric(sizes, gamma=wishes.joint_gamma)
    found = []
    for i, name in enumerate(names):
        domain, prior = schema[name], wishes.prior.get(name)
        own = joint.marginal([i])
        others = [g for g, reason in wishes.limits(name, domain, 1) if not reason.startswith("gamma of the whole")]
        if own.gamma > min(others, default=math.inf):
            return ()
        found.append(weigh(name, "together", own, target_of(domain, wishes.target), n, wishes.level, prior))
    if min(c.effective for c in found) <= min(choice.pick.effective for choice in choices):
        return ()
    return tuple(found)


def _what(candidate: Candidate) -> str:
    return "shares" if candidate.target == "shares" else "running shares"


def _why(choice: Choice) -> str:
    pick = choice.pick
    if len(choice.candidates) == 1:
        return f"{pick.family} is the only family that fits."
    second = choice.candidates[1]
    gain = pick.effective / second.effective
    if gain < 1.005:
        return f"{pick.family}: no other family does better."
    return f"{pick.family}: worth {gain:.3g} times the records of {second.family} at the same gamma."
