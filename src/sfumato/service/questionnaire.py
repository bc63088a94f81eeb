"""What the survey page needs to ask the questions of a study and to randomize the answers by itself.

The page draws from the same integers as Python does. A channel is sent to it as a plan: most often the table of its
integer weights, for a few families the numbers from which the table follows. ``channels.js`` reads these plans. All
numbers of 2^-63 parts are hexadecimal text, because JSON has none so large. Additive noise is drawn in doubles.
"""

from __future__ import annotations

import base64
import math
from typing import Any, cast

import numpy as np

from sfumato.channels import Channel
from sfumato.channels.additive import Gaussian, Laplace, Tabulated, Uniform
from sfumato.channels.average import Average
from sfumato.channels.cells import Cells
from sfumato.channels.hyperplanes import Hyperplanes
from sfumato.channels.longitudinal import Longitudinal
from sfumato.channels.noise import Noise
from sfumato.channels.odds import levels
from sfumato.channels.prefixes import Prefixes
from sfumato.channels.product import Product
from sfumato.channels.response import Symmetric
from sfumato.channels.select_a_size import SelectASize
from sfumato.channels.valid import ValidSymmetric
from sfumato.domains import Date, Domain, Numeric, Ordinal, Text
from sfumato.domains.text import UNANSWERED
from sfumato.errors import ChannelError, SchemeError
from sfumato.forms import Forms
from sfumato.question import question
from sfumato.randomness import ONE
from sfumato.scheme import Scheme
from sfumato.service.json_values import texts

#: The most entries of a table that a page is sent: 4 MB, and far less when it is compressed.
MOST_ENTRIES = 1 << 22
#: Up to so many entries the page looks at the table itself to say its odds.
MOST_LOOKED_AT = 1 << 18


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
    """How a page draws from this channel, and what it says about it."""
    gamma = None if math.isinf(channel.gamma) else channel.gamma
    if channel.continuous:
        noise = cast(Noise, channel)
        likely = [float(end) for end in noise.quantile([0.05, 0.95])]
        return {"kind": "noise", "draws": 1, "gamma": gamma, "likely": likely, **_noise(noise)}
    frame = {"outputs": list(channel.outputs), "draws": channel.draws, "gamma": gamma}
    if isinstance(channel, Prefixes):
        return {"kind": "prefixes", **frame, **_prefixes(channel)}
    return {"sizes": list(channel.sizes), **frame, **_plan(channel)}


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
        case Average():
            scores: list[float | None] = channel.scores.tolist()
            return {**_listed(channel), "scores": [*scores[:-1], None] if channel.nullable else scores}
    return _listed(channel)


def _listed(channel: Channel) -> dict[str, Any]:
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
    found = {
        "kind": "table",
        "weights": [f"{int(weight):x}" for weight in palette],
        "bytes": width,
        "rows": base64.b64encode(rows).decode(),
    }
    return found if channel.weights.size <= MOST_LOOKED_AT else {**found, "inside": _inside(channel)}


def _inside(channel: Channel) -> dict[str, Any]:
    """How often what is sent speaks for the true value, at least and at most, and whether it is a value itself."""
    parts = channel.weights / float(ONE)
    speaks = parts > parts.max(axis=0) * (1 - 1e-9)
    shares = np.where(speaks, parts, 0.0).sum(axis=1)
    values = channel.k == channel.m and bool(speaks.sum() == channel.k and speaks.diagonal().all())
    return {"least": float(shares.min()), "most": min(float(shares.max()), 1.0), "values": values}


def _points(channel: Hyperplanes) -> dict[str, Any]:
    low, high, spare = levels(channel.space.through_one, channel.m, ONE, channel.bound)
    found = {"low": f"{low:x}", "high": f"{high:x}", "spare": spare}
    return {"kind": "hyperplanes", "order": channel.order, "digits": channel.space.d, **found}


def _prefixes(channel: Prefixes) -> dict[str, Any]:
    """For each question its end on the scale of the words, its letters, and the numbers that they add up to."""
    columns = [*range(1, channel.letters + 1), UNANSWERED]
    if sum(channel.lengths) * len(columns) > MOST_ENTRIES:
        raise ChannelError(f"{channel} has too many letters to be drawn from in a page")
    tables = [base64.b64encode(one.table[:, columns].astype("<u4").tobytes()).decode() for one in channel.hashes]
    told = zip(channel.ends.tolist(), channel.lengths, tables, strict=True)
    return {
        "longest": channel.max_length,
        "letters": channel.letters,
        "levels": [{"end": f"{end:x}", "letters": length, "table": table} for end, length, table in told],
        "inner": drawing(channel.channel),
    }


def _noise(channel: Noise) -> dict[str, Any]:
    match channel:
        case Uniform() | Gaussian() | Laplace():
            return {"family": channel.kind, **channel.parameters()}
        case Tabulated():
            shares, edges = channel.quantile_points
            return {"family": "tabulated", "shares": shares.tolist(), "edges": edges.tolist()}
    raise ChannelError(
        f"a page has no formula for {channel}: take uniform, gaussian or laplace noise, or a table of it"
    )


def _attribute(domain: Domain) -> dict[str, Any]:
    """How an answer is asked for, and how it becomes a code."""
    if isinstance(domain, Text):
        limits = {"alphabet": domain.alphabet, "longest": domain.max_length, "clip": domain.clip}
        return {"kind": "text", **limits, "nullable": domain.nullable}
    common = {"size": domain.size, "nullable": domain.nullable}
    if isinstance(domain, Numeric):
        edges = [float(edge) for edge in domain.edge_array]
        limits = {"low": edges[0], "high": domain.greatest, "clip": domain.clip, "unit": domain.unit}
        if domain.points is not None:
            return {"kind": "points", "points": domain.points, **limits, **common}
        bins = {"edges": edges, "ends": domain.upper_ends.tolist(), "labels": texts(domain.labels)}
        step = {} if domain.step is None else {"step": float(domain.step)}
        return {"kind": "number", **bins, **step, **limits, **common}
    ordered = isinstance(domain, Ordinal | Date)
    return {"kind": "choice", "ordered": ordered, "labels": texts(domain.labels), **common}
