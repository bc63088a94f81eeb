"""The answer to ``POST /v1/design``: the scheme that a wish leads to, and what it means, attribute by attribute."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from itertools import product as combinations
from typing import Any

import numpy as np

from sfumato.assess.breach import rho2
from sfumato.assess.report.sentences import rounded_up
from sfumato.channels import Channel, identity
from sfumato.design import design
from sfumato.design.candidates import expected, target_of
from sfumato.design.search import needed
from sfumato.design.whole_record import RecordDesign, design_record
from sfumato.errors import SfumatoError, without_warnings
from sfumato.forms import Forms, read_scheme
from sfumato.printable import label_text
from sfumato.released.in_words import in_words
from sfumato.schema import Schema
from sfumato.scheme import Scheme
from sfumato.service.design import equivalents
from sfumato.service.design.attributes import LEVEL, Unit, attribute_facts, units
from sfumato.service.design.curves import answer_curve, person_curve
from sfumato.service.json_values import number
from sfumato.service.questionnaire import drawing
from sfumato.service.refusals import RefusalError

MOST_ATTRIBUTES = 40
MOST_VALUES = 300  # of one attribute: more take seconds each
_MOST_CURVE = 128  # values of an attribute whose trade-off is drawn
_MOST_ENTRIES = 1 << 14  # of a matrix that is drawn
_BELIEFS = np.linspace(0, 1, 41)


def answered(request: dict[str, Any]) -> dict[str, Any]:
    """The document ``DesignOut`` for a document ``DesignIn``."""
    with without_warnings(), np.errstate(all="ignore"):
        return _answered(request)


def _answered(request: dict[str, Any]) -> dict[str, Any]:
    n = request["n"] // request["groups"]
    if n < 1:
        raise RefusalError("malformed", "there are more groups than people", where="groups")
    given = [name for name in ("schema", "scheme") if request[name] is not None]
    if len(given) != 1:
        raise RefusalError("malformed", "give either a schema, with a wish, or a scheme", where="schema")
    if given == ["scheme"]:
        scheme, ways = _read(request["scheme"]), None
        python, command = equivalents.scheme_in_python(scheme, n), equivalents.scheme_on_command_line(n)
        whole = isinstance(scheme, Forms)
    else:
        schema = _schema(request["schema"])
        wish, value = _wish(request["wish"], schema)
        scheme, ways = _designed(schema, wish, value, n)
        python = equivalents.in_python(request["schema"], wish, value, n)
        command = equivalents.on_command_line(wish, value, n)
        whole = wish == "record_gamma"
    name, by = request["attribute"], request.get("by")
    if by is not None and by not in scheme.schema:
        raise RefusalError("malformed", "there is no such attribute to compare groups by", where="by")
    return {
        "scheme": scheme.to_dict(),
        "forms": len(scheme) if isinstance(scheme, Forms) else 0,
        "fingerprint": scheme.fingerprint,
        "gamma": number(scheme.gamma),
        "epsilon": number(scheme.epsilon),
        "records": n,
        "beliefs": [{"before": before, "after": rho2(scheme.gamma, before)} for before in (0.01, 0.1, 0.5)],
        "attributes": list(attribute_facts(scheme, n, by)),
        "alternatives": [] if ways is None else list(_alternatives(ways)),
        "closer": None if name is None else _closer(scheme, name, n, whole),
        "askable": all(_askable(channel) for channel in {unit.channel for unit in units(scheme)}),
        "python": python,
        "command": command,
    }


def _schema(document: dict[str, Any]) -> Schema:
    if len(document) > MOST_ATTRIBUTES:
        raise RefusalError("refused", f"a page designs at most {MOST_ATTRIBUTES} attributes at a time")
    try:
        found = Schema.from_dict(document)
    except SfumatoError as problem:
        raise RefusalError("refused", f"the schema does not hold: {problem}") from None
    return _small(found)


def _read(document: dict[str, Any]) -> Scheme | Forms:
    try:
        found = read_scheme(json.dumps(document))
    except SfumatoError as problem:
        raise RefusalError("refused", f"the scheme does not hold: {problem}") from None
    _small(found.schema)
    return found


def _small(schema: Schema) -> Schema:
    if len(schema) > MOST_ATTRIBUTES:
        raise RefusalError("refused", f"a page designs at most {MOST_ATTRIBUTES} attributes at a time")
    for name, domain in schema.items():
        if domain.listed and domain.size > MOST_VALUES:
            raise RefusalError(
                "refused", f"attribute {name!r} has more than {MOST_VALUES:,} values: use fewer", attribute=name
            )
    return schema


def _wish(given: dict[str, Any] | None, schema: Schema) -> tuple[str, float]:
    """The one wish; a bound on the whole person is one on the answer where there is a single question."""
    wishes = [(name, float(value)) for name, value in (given or {}).items() if value is not None]
    if len(wishes) != 1:
        raise RefusalError("malformed", "wish for exactly one of half_width, gamma and record_gamma", where="wish")
    name, value = wishes[0]
    return ("gamma" if name == "record_gamma" and len(schema) == 1 else name), value


def _designed(schema: Schema, wish: str, value: float, n: int) -> tuple[Scheme | Forms, RecordDesign | None]:
    if wish == "record_gamma":
        ways = design_record(schema, n, value)
        return ways.scheme, ways
    if wish == "gamma":
        return design(schema, n, gamma=value, level=LEVEL).scheme, None
    _check_reachable(schema, n, value)
    return design(schema, n, half_width=value, level=LEVEL).scheme, None


def _check_reachable(schema: Schema, n: int, wanted: float) -> None:
    """Refuse what so few answers could not tell even if they were true, with what they can tell."""
    for name, domain in schema.items():
        if not domain.listed or domain.size == 1:
            continue
        floor = expected(identity(domain.size), target_of(domain), n, LEVEL, None, domain.nullable)
        if floor > wanted:
            raise RefusalError(
                "not_possible",
                f"{name}: ± {100 * wanted:g} points cannot be reached with {n:,} answers, even without randomizing: "
                f"the nearest is ± {rounded_up(100 * floor):.3g}, or {needed(n, floor, wanted):,} answers",
                attribute=name,
                nearest=floor,
                records=needed(n, floor, wanted),
            )


def _alternatives(ways: RecordDesign) -> Iterator[dict[str, Any]]:
    for one in ways.alternatives:
        yield {
            "ask": one.ask,
            "forms": one.forms,
            "single": number(one.single),
            "pair": number(one.pair),
            "chosen": one is ways.chosen,
        }


def _closer(scheme: Scheme | Forms, name: str, n: int, whole: bool) -> dict[str, Any]:
    if name not in scheme.schema:
        raise RefusalError("malformed", "there is no such attribute to look at", where="attribute")
    unit = next(one for one in units(scheme) if name in one.names)
    domain = scheme.schema[name]
    curve = None
    if domain.listed and 1 < domain.size <= _MOST_CURVE and not unit.channel.continuous:
        curve = person_curve(name, scheme.schema, n) if whole else answer_curve(domain, n)
    gamma = scheme.gamma if whole else unit.channel.gamma
    return {
        "attribute": name,
        "names": list(unit.names),
        "share": unit.weight,
        **_table(unit),
        "beliefs": [{"before": float(b), "after": rho2(gamma, float(b))} for b in _BELIEFS],
        "curve": curve,
    }


def _table(unit: Unit) -> dict[str, Any]:
    """The channel as a page draws from it, with words for its rows and columns."""
    channel = unit.channel
    listed = channel.listed and not channel.continuous
    if (listed and channel.k * channel.m > _MOST_ENTRIES) or not _askable(channel):
        return {"plan": None, "inputs": [], "outputs": []}
    plan = drawing(channel)
    if not listed:
        return {"plan": plan, "inputs": [], "outputs": []}
    domains = [unit.form.schema[name] for name in unit.names]
    inputs = [" / ".join(map(label_text, row)) for row in combinations(*(domain.labels for domain in domains))]
    columns = channel.columns(unit.names)
    if channel.releases_values and math.prod(channel.outputs) == channel.k:
        return {"plan": plan, "inputs": inputs, "outputs": inputs}
    outputs = in_words(unit.form, columns[0], range(channel.m)) if len(columns) == 1 else []
    return {"plan": plan, "inputs": inputs, "outputs": outputs}


def _askable(channel: Channel) -> bool:
    """Whether a survey page can draw from it."""
    try:
        drawing(channel)
    except SfumatoError:
        return False
    return True
