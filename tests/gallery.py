"""Every shipped family of channels at least once, small enough for the brute-force twins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.stats

from sfumato import channels as c
from sfumato.channels import Channel
from sfumato.schema import Hierarchy, Schema
from sfumato.scheme import Scheme

PLACES = Hierarchy(
    levels=("region", "county", "town"),
    tree={"North": {"A": ["a", "b", "c"], "B": ["d"]}, "South": {"C": ["e", "f"]}},
)
VALID = [("F", "yes"), ("F", "no"), ("M", "no")]


def gallery() -> dict[str, Channel]:
    """Channels by name."""
    general = np.random.default_rng(3).dirichlet(np.ones(5), 4)
    return {
        "identity": c.identity(3),
        "binary": c.binary(0.1, 0.25),
        "one-sided": c.binary(0.3, 0.0),
        "ternary": c.ternary(0.15, 0.1),
        "symmetric": c.symmetric(6, 0.3),
        "symmetric-gamma": c.symmetric(5, gamma=3),
        "symmetric-large": c.symmetric(300, 0.4),
        "joint": c.symmetric((2, 3, 2), 0.3),
        "valid": c.symmetric(valid=VALID, p=0.3),
        "matrix": c.matrix(np.random.default_rng(2).dirichlet(np.ones(4), 4) * 0.5 + np.eye(4) * 0.5),
        "rectangular": c.matrix(general),
        "blocks": c.blocks([c.symmetric(3, 0.3), c.binary(0.2, 0.1)]),
        "invariant": c.invariant(c.symmetric(4, 0.4), [0.1, 0.2, 0.3, 0.4]),
        "mask": c.mask(0.2, items=3),
        "select-a-size": c.select_a_size([0.1, 0.2, 0.3, 0.4], 0.15, items=4),
        "subset": c.subset(8, 2),
        "projective": c.subset(12, 2, design="projective"),
        "hyperplanes": c.subset(11, 2, design="hyperplanes", size=3),
        "hyperplanes-large": c.subset(60, 7, design="hyperplanes"),
        "longitudinal": c.longitudinal(7, 2, 30),
        "longitudinal-many": c.longitudinal(30, 3, 2000, classes=5),
        "longitudinal-two": c.longitudinal(2, 3, 50),
        "tree-levels": c.tree_levels(PLACES, 3),
        "windows": c.windows(10, 3),
        "windows-nullable": c.windows(10, 3, nullable=True),
        "windows-two": c.windows(12, 3, [3, 12]),
        "windows-two-nullable": c.windows(12, 2.5, [5, 12], nullable=True),
        "windows-many": c.windows(40, 4),
        "average": c.average(7, 3),
        "average-many": c.average(11, 1.5),
        "average-nullable": c.average(5, 2, nullable=True),
        "product": c.product([c.binary(0.1, 0.25), c.symmetric(3, 0.2), c.subset(4, 2)]),
    }


CHANNELS = gallery()

#: Channels with continuous output.
CONTINUOUS: dict[str, Channel] = {
    "uniform": c.uniform(0.7),
    "gaussian": c.gaussian(0.5),
    "laplace": c.laplace(0.4),
    "tabulated": c.tabulated([-1, 0, 2], [0.25, 0.75]),
    "gamma": c.from_scipy(scipy.stats.gamma(2.0)),
}


def rest_clear(schema: Schema, channels: Mapping[str | tuple[str, ...], Any] | None = None) -> Scheme:
    """The scheme in which the attributes that are not named pass in the clear, said once for all of them."""
    named = {name for key in channels or {} for name in ([key] if isinstance(key, str) else key)}
    return Scheme(schema, channels, clear=[name for name in schema if name not in named])
