"""The trade-off of one attribute: how exact its estimates are under which bound."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from sfumato.channels import identity
from sfumato.design.candidates import expected, target_of
from sfumato.design.tradeoff import tradeoff
from sfumato.design.whole_record import WAYS, way
from sfumato.domains import Domain
from sfumato.errors import SfumatoError
from sfumato.schema import Schema
from sfumato.service.design.attributes import LEVEL, Widths, joint_width, units
from sfumato.service.json_values import number

_N = 1_000_000  # records that half-widths are computed for: they fall with the square root
_PERSON = np.geomspace(1.5, 200, 6)  # bounds on a whole person at which the ways to ask are compared
_NAMES = {None: "all", 1: "one", 2: "two", 3: "three"}
_MOST_FORMS = {1: 150, 2: 150, 3: 20}  # of a way to ask that is drawn: more take too long
Lines = dict[str, list[float | None]]


def answer_curve(domain: Domain, n: int) -> dict[str, Any]:
    """Half-widths against the gamma of the single answer, a line for each family of channels."""
    gammas, lines = _families(domain)
    return {"of": "answer", "gammas": gammas, "lines": _for(lines, n), "floor": _floor(domain, n)}


def person_curve(name: str, schema: Schema, n: int) -> dict[str, Any]:
    """Half-widths against the gamma of all answers of a person, a line for each way to ask."""
    lines = _for(_ways(schema)[name], n)
    return {"of": "person", "gammas": _PERSON.tolist(), "lines": lines, "floor": _floor(schema[name], n)}


def _for(lines: Lines, n: int) -> Lines:
    scale = math.sqrt(_N / n)
    return {key: [None if width is None else width * scale for width in line] for key, line in lines.items()}


def _floor(domain: Domain, n: int) -> float | None:
    return number(expected(identity(domain.size), target_of(domain), n, LEVEL, None, domain.nullable))


@lru_cache(maxsize=128)
def _families(domain: Domain) -> tuple[list[float], Lines]:
    found = tradeoff("", domain, _N, level=LEVEL)
    lines = {family: [number(float(width)) for width in widths] for family, widths in found.half_widths.items()}
    return found.gammas.tolist(), lines


@lru_cache(maxsize=16)
def _ways(schema: Schema) -> dict[str, Lines]:
    """The lines of every attribute."""
    found: dict[str, Lines] = {name: {} for name in schema.names}
    for ask in WAYS:
        if ask is not None and (ask > len(schema) or math.comb(len(schema), ask) > _MOST_FORMS[ask]):
            continue
        widths = [_widths(schema, ask, float(gamma)) for gamma in _PERSON]
        for name, lines in found.items():
            lines[_NAMES[ask]] = [at[name] for at in widths]
    return found


def _widths(schema: Schema, ask: int | None, gamma: float) -> dict[str, float | None]:
    """The half-width of every attribute under one way to ask; None where it does not fit the attributes."""
    try:
        own, cache = units(way(schema, gamma, ask)), Widths()
    except SfumatoError:
        return dict.fromkeys(schema.names)
    return {
        name: number(joint_width(name, [unit for unit in own if name in unit.names], _N, cache))
        for name in schema.names
    }
