"""What the survey page needs to ask the questions of a study and to randomize the answers by itself.

The page draws from the same integers as Python does. A channel is sent to it as a plan: most often the table of its
integer weights, for a few families the numbers from which the table follows. ``randomize.js`` reads these plans. All
numbers of 2^-63 parts are hexadecimal text, because JSON has none so large.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from sfumato.channels import Channel
from sfumato.channels.cells import Cells
from sfumato.channels.hyperplanes import Hyperplanes
from sfumato.channels.longitudinal import Longitudinal
from sfumato.channels.odds import levels
from sfumato.channels.product import Product
from sfumato.channels.response import Symmetric
from sfumato.channels.select_a_size import SelectASize
from sfumato.channels.valid import ValidSymmetric
from sfumato.domains import Date, Domain, Numeric, Ordinal
from sfumato.errors import ChannelError, SchemeError
from sfumato.forms import Forms
from sfumato.question import question
from sfumato.randomness import ONE
from sfumato.scheme import Scheme

#: The most entries of a table that a page is sent: 4 MB, and far less when it is compressed.
MOST_ENTRIES = 1 << 22
#: The most points of a geometry that a page goes through, which takes it some tenths of a second.
MOST_POINTS = 1 << 22


def questionnaire(scheme: Scheme | Forms) -> dict[str, Any]:
    """The attributes as the page asks for them, and for every form the plans of its channels.

    Refused in one line where a page cannot draw an answer.
    """
    forms, ends = (tuple(scheme), scheme.ends.tolist()) if isinstance(scheme, Forms) else ((scheme,), [ONE])
    return {
        "fingerprint": scheme.fingerprint,
        "attributes": {name: _attribute(domain) for name, domain in scheme.schema.items()},
        "forms": [{"end": f"{end:x}", "groups": _groups(form)} for form, end in zip(forms, ends, strict=True)],
    }


def _groups(scheme: Scheme) -> list[dict[str, Any]]:
    out = []
    for group in scheme.groups:
        try:
            plan = drawing(group.channel)
        except ChannelError as problem:
            raise SchemeError(f"{' + '.join(group.names)}: {problem}") from None
        out.append(
            {
                "names": list(group.names),
                "columns": list(group.columns),
                "question": question(scheme, group.names).hex(),
                "plan": plan,
            }
        )
    return out


def drawing(channel: Channel) -> dict[str, Any]:
    """How a page draws from this channel."""
    if channel.continuous:
        raise ChannelError(
            "a page cannot add continuous noise bit for bit as other programs do; cut the numbers into bins, "
            "or round them to points, and randomize those"
        )
    if not channel.listed:
        raise ChannelError("the survey page has no box for free text yet: list the answers, or collect it at sites")
    frame = {"sizes": list(channel.sizes), "outputs": list(channel.outputs), "draws": channel.draws}
    return {**frame, **_plan(channel)}


def _plan(channel: Channel) -> dict[str, Any]:
    match channel:
        case Product():
            return {"kind": "product", "channels": [drawing(one) for one in channel.channels]}
        case Cells() if channel.channel.k * channel.channel.m > MOST_ENTRIES:
            return _plan(channel.channel)
        case Symmetric():
            return {"kind": "symmetric", "other": f"{channel.other:x}"}
        case ValidSymmetric():
            return {"kind": "valid", "cells": channel.cells.tolist(), "inner": drawing(channel.inner)}
        case SelectASize():
            keep = [f"{weight:x}" for weight in channel.keep]
            return {"kind": "select_a_size", "keep": keep, "noise": f"{channel.noise:x}"}
        case Longitudinal():
            others = {"permanent": f"{channel.permanent.other:x}", "repeated": f"{channel.repeated.other:x}"}
            return {"kind": "longitudinal", "classes": channel.classes, "digits": channel.space.d - 1, **others}
        case Hyperplanes():
            return _points(channel)
    if channel.draws != 1 or channel.k * channel.m > MOST_ENTRIES:
        raise ChannelError(f"{channel} is too large to be drawn from in a page: group its values first")
    return _table(channel)


def _table(channel: Channel) -> dict[str, Any]:
    """The integer matrix: its distinct weights, and for every entry which one it is."""
    palette, which = np.unique(channel.weights, return_inverse=True)
    if len(palette) > 1 << 16:
        raise ChannelError(f"{channel} has too many different probabilities to be drawn from in a page")
    width = 1 if len(palette) <= 1 << 8 else 2
    rows = which.astype(f"<u{width}").tobytes()
    return {
        "kind": "table",
        "weights": [f"{int(weight):x}" for weight in palette],
        "bytes": width,
        "rows": base64.b64encode(rows).decode(),
    }


def _points(channel: Hyperplanes) -> dict[str, Any]:
    if channel.m > MOST_POINTS:
        raise ChannelError(f"{channel} has more released codes than a page can go through: group its values first")
    low, high, spare = levels(channel.space.through_one, channel.m, ONE, channel.bound)
    found = {"low": f"{low:x}", "high": f"{high:x}", "spare": spare}
    return {"kind": "hyperplanes", "order": channel.order, "digits": channel.space.d, **found}


def _attribute(domain: Domain) -> dict[str, Any]:
    """How an answer is asked for, and how it becomes a code."""
    common = {"size": domain.size, "nullable": domain.nullable}
    if isinstance(domain, Numeric):
        edges = [float(edge) for edge in domain.edge_array]
        limits = {"low": edges[0], "high": edges[-1], "clip": domain.clip, "unit": domain.unit}
        if domain.points is not None:
            return {"kind": "points", "points": domain.points, **limits, **common}
        return {"kind": "number", "edges": edges, "labels": _labels(domain), **limits, **common}
    ordered = isinstance(domain, Ordinal | Date)
    return {"kind": "choice", "ordered": ordered, "labels": _labels(domain), **common}


def _labels(domain: Domain) -> list[str | None]:
    return [None if label is None else str(label) for label in domain.labels]
