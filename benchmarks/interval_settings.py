"""What the study of intervals looks at: every family of channels, joint groups, zeros, products, and parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import sfumato as sf
from sfumato import channels as c
from sfumato.channels import Channel
from sfumato.evidence.blocks import blocks
from sfumato.evidence.seen import Seen

WEAK = [[0.5, 0.3, 0.2], [0.4, 0.35, 0.25], [0.3, 0.3, 0.4]]
VALID = [("a", "x"), ("a", "y"), ("b", "y"), ("c", "x")]


@dataclass(frozen=True)
class Setting:
    """Schemes of one or more parts (with their shares of the records), and the attributes that are asked for."""

    name: str
    schemes: Sequence[sf.Scheme]
    asked: tuple[str, ...]
    shares: tuple[float, ...] = (1.0,)

    @property
    def views(self) -> list[Seen]:
        """The maps of every part, before anything is counted."""
        return [Seen(self.asked, blocks(scheme, self.asked), np.zeros(0)) for scheme in self.schemes]


def scheme(**channels: Channel) -> sf.Scheme:
    """A scheme with an attribute for each channel, and one for each axis of a joint channel."""
    domains: dict[str, sf.Categorical] = {}
    assigned: dict[str | tuple[str, ...], Channel] = {}
    for name, channel in channels.items():
        names = [name] if len(channel.sizes) == 1 else [f"{name}{i}" for i in range(len(channel.sizes))]
        domains |= {n: sf.Categorical(tuple(range(size))) for n, size in zip(names, channel.sizes, strict=True)}
        assigned[names[0] if len(names) == 1 else tuple(names)] = channel
    return sf.Scheme(sf.Schema(domains), assigned)


def _one(name: str, channel: Channel) -> Setting:
    alone = scheme(a=channel)
    return Setting(name, [alone], alone.schema.names)


def _with_zeros(**others: Channel) -> sf.Scheme:
    schema = sf.Schema(
        {"g": sf.Categorical(("a", "b", "c")), "h": sf.Categorical(("x", "y"))}
        | {name: sf.Ordinal(tuple(range(channel.k))) for name, channel in others.items()}
    )
    return sf.Scheme(schema, {("g", "h"): c.symmetric(valid=VALID, p=0.35), **others})


def _joint() -> sf.Scheme:
    """Two attributes under one matrix that has no marginal channel."""
    rows = 0.6 * np.eye(6) + 0.4 * np.random.default_rng(23).dirichlet(np.ones(6), 6)
    return scheme(a=c.matrix(rows, sizes=(3, 2)))


def settings() -> list[Setting]:
    """Every family of channels, joint groups, structural zeros, products, and parts under different schemes."""
    general = np.random.default_rng(41).dirichlet(np.ones(6), 4)
    halves = [scheme(a=c.symmetric(4, 0.12)), scheme(a=c.symmetric(4, 0.45))]
    mixed = [scheme(a=c.subset(6, 4)), scheme(a=c.windows(6, 3))]
    zeros = _with_zeros()
    clear = scheme(a=c.symmetric(4, 0.03), b=c.binary(0.02, 0.005))
    return [
        _one("symmetric(2, .45) *", c.symmetric(2, 0.45)),
        _one("symmetric(2, .06)", c.symmetric(2, 0.06)),
        _one("symmetric(4, .35)", c.symmetric(4, 0.35)),
        _one("symmetric(20, .02)", c.symmetric(20, 0.02)),
        _one("binary(.2, .06)", c.binary(0.2, 0.06)),
        _one("binary(.35, 0)", c.binary(0.35, 0.0)),
        _one("ternary(.12, .25)", c.ternary(0.12, 0.25)),
        _one("matrix, weak *", c.matrix(WEAK)),
        _one("matrix, 4 x 6", c.matrix(general)),
        _one("invariant(symmetric(5, .5)) *", c.invariant(c.symmetric(5, 0.5), [0.1, 0.15, 0.2, 0.25, 0.3])),
        _one("invariant(symmetric(3, .3))", c.invariant(c.symmetric(3, 0.3), [0.7, 0.2, 0.1])),
        _one("blocks", c.blocks([c.symmetric(3, 0.4), c.symmetric(2, 0.15)])),
        _one("blocks, three", c.blocks([c.symmetric(2, 0.4), c.symmetric(2, 0.4), c.symmetric(3, 0.5)])),
        _one("subset(10, 3)", c.subset(10, 3)),
        _one("subset(13, 2), projective", c.subset(13, 2, design="projective")),
        _one("windows(11, 6)", c.windows(11, 6)),
        _one("windows(6, 15)", c.windows(6, 15)),
        _one("windows(7, 6), nullable", c.windows(7, 6, nullable=True)),
        _one("mask(.25), 3 items", c.mask(0.25, items=3)),
        _one("select_a_size, 3 items", c.select_a_size([0.2, 0.1, 0.2, 0.5], 0.1, items=3)),
        _one("symmetric((2, 3), .35)", c.symmetric((2, 3), 0.35)),
        Setting("structural zeros", [zeros], ("g", "h")),
        Setting("structural zeros, summed out", [zeros], ("g",)),
        Setting("structural zeros x windows", [_with_zeros(w=c.windows(4, 5))], ("w", "g", "h")),
        Setting("summed out x windows", [_with_zeros(w=c.windows(4, 5))], ("h", "w")),
        Setting("joint matrix, summed out", [_joint()], ("a1",)),
        Setting("symmetric x binary", [scheme(a=c.symmetric(3, 0.25), b=c.binary(0.1, 0.2))], ("b", "a")),
        Setting("binary x binary *", [scheme(a=c.binary(0.4, 0.4), b=c.binary(0.1, 0.3))], ("b", "a")),
        Setting("symmetric x binary, nearly exact", [clear], ("a", "b")),
        Setting("identity x symmetric", [scheme(a=c.identity(2), b=c.symmetric(3, 0.4))], ("a", "b")),
        Setting("two parts, symmetric(4, .12 and .45)", halves, ("a",), (0.5, 0.5)),
        Setting("two parts, subset and windows", mixed, ("a",), (0.7, 0.3)),
    ]
