"""One channel over all attributes, where the whole record's gamma is bounded: often better than a share for each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import prod

from sfumato.channels import Channel, symmetric
from sfumato.design.candidates import Candidate, expected, target_of, weigh
from sfumato.design.requirements import Requirements
from sfumato.design.search import LOOSEST, least, needed
from sfumato.schema import Schema

_MOST_TOGETHER = 4096


@dataclass(frozen=True, eq=False)
class JointChoice:
    """The joint channel, what it costs each attribute, and which requirements it leaves unmet."""

    channel: Channel
    parts: tuple[Candidate, ...]
    unmet: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(part.attribute for part in self.parts)

    @property
    def widest(self) -> float:
        """The half-width of the worst-off attribute."""
        return max(part.half_width for part in self.parts)


def choose_joint(
    schema: Schema, names: list[str], asked: Requirements, picks: list[Candidate], n: int
) -> JointChoice | None:
    """One symmetric channel over all attributes, if it grants every bound and does better than the single picks.

    Without a wanted precision it must serve the worst-off attribute better; with one, reach it at a smaller gamma of
    the whole record, or come nearer to it.
    """
    sizes = schema.sizes(names)
    if asked.joint_gamma is None or len(names) < 2 or prod(sizes) > _MOST_TOGETHER:
        return None
    cap, wanted = min(asked.joint_gamma, LOOSEST), asked.half_width
    if wanted is not None:
        cap = least(lambda gamma: _widest(schema, names, asked, gamma, n), cap, wanted) or cap
    joint = symmetric(sizes, gamma=cap)
    parts = []
    for i, name in enumerate(names):
        own = joint.marginal([i])
        if own.gamma > min((gamma for gamma, _ in asked.limits(name, schema[name])), default=math.inf):
            return None
        target = target_of(schema[name], asked.target)
        prior, nullable = asked.prior.get(name), schema[name].nullable
        parts.append(weigh(name, "together", own, target, n, asked.level, prior, nullable))
    found = JointChoice(joint, tuple(parts))
    if wanted is None:
        return found if min(c.effective for c in parts) > min(c.effective for c in picks) else None
    mine, theirs = found.widest, max(c.half_width for c in picks)
    enough = wanted * (1 + 1e-6)
    if mine <= enough and theirs <= enough:
        return found if joint.gamma < prod(c.gamma for c in picks) else None
    if mine >= theirs:
        return None
    return JointChoice(joint, found.parts, _unmet(schema, asked, found, n, wanted))


def _widest(schema: Schema, names: list[str], asked: Requirements, gamma: float, n: int) -> float:
    joint = symmetric(schema.sizes(names), gamma=gamma)
    targets = [target_of(schema[name], asked.target) for name in names]
    return max(
        expected(joint.marginal([i]), targets[i], n, asked.level, asked.prior.get(name), schema[name].nullable)
        for i, name in enumerate(names)
    )


def _unmet(schema: Schema, asked: Requirements, found: JointChoice, n: int, wanted: float) -> tuple[str, ...]:
    short = [part for part in found.parts if part.half_width > wanted * (1 + 1e-6)]
    if not short:
        return ()
    looser = least(lambda gamma: _widest(schema, list(found.names), asked, gamma, n), LOOSEST, wanted)
    more = "" if looser is None else f", or gamma {looser:.4g} of the whole record"
    return tuple(
        f"{part.attribute}: ± {100 * wanted:g} points cannot be reached under gamma {found.channel.gamma:.4g} of the "
        f"whole record with n = {n:,}; the nearest is ± {100 * part.half_width:.3g}, or "
        f"{needed(n, part.half_width, wanted):,} records{more}"
        for part in short
    )
