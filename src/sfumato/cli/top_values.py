"""sfumato estimate --top, --values and --roll-up: the largest counts, those of some values, or of a wider level."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sfumato.channels.prefixes import Prefixes
from sfumato.channels.text_noise import rarest
from sfumato.cli import console
from sfumato.cli.typed_labels import TypedLabels, listed_labels
from sfumato.errors import SfumatoError
from sfumato.evidence import Estimate, Evidence, evidence
from sfumato.evidence.plot import MOST_DRAWN
from sfumato.pages.display import settled
from sfumato.printable import label_text, level_text, many
from sfumato.reading.name_lists import listed
from sfumato.release import Release
from sfumato.schema import Hierarchy, Schema

_MOST_LABELS = 1 << 17  # values whose texts are all held against what is typed


def counts_of_values(
    release: Release, name: str, values: str | None, top: int | None, population: bool
) -> tuple[Estimate, list[str]]:
    """The counts of some values, or of the most frequent texts, and what to say about them."""
    ev = evidence(release)
    if values is not None:
        found, notes = _counts_of(ev, name, _texts(values)), []
    elif top is None:
        raise SfumatoError(f"{name!r} is free text, whose values nobody can list: say how many to find, --top 10")
    else:
        found, notes = ev.top(name, top), [_how_rare(release, name)]
    return (found.population() if population else found), notes


def _counts_of(ev: Evidence, name: str, texts: list[str]) -> Estimate:
    """The counts of the values that are typed so."""
    domain = ev.schema[name]
    if not domain.listed or domain.size > _MOST_LABELS:
        return ev.listed(name, texts)
    typed = TypedLabels(domain)
    try:
        codes = [domain.labels.index(typed.meant(text)) for text in texts]
    except SfumatoError as problem:
        raise SfumatoError(f"--values: {name} has {problem}") from None
    return ev.cells(name, np.array(codes, dtype=np.int64)[:, None])


def _texts(values: str) -> list[str]:
    given = listed_labels(values)
    if not given:
        raise SfumatoError("--values takes some values of the attribute: --values flu,cold")
    return given


def _how_rare(release: Release, name: str) -> str:
    channel, n = release.parts[0].scheme[name], len(release)
    share = rarest(channel, n) if isinstance(channel, Prefixes) else 0.0
    return (
        f"one such list in twenty holds a text that is not there; a text is found nine times in ten if more than "
        f"{100 * share:.2g} % of the records have it, {share * n:,.0f} of these {n:,}"
    )


def show(found: Estimate, notes: list[str], level: float, plot: Path | None, json: bool) -> None:
    """Print the counts, or write them as JSON, and draw them where asked."""
    frame = found.frame(level)
    if plot is not None:
        if len(found.value) > MOST_DRAWN:
            raise SfumatoError(f"--plot: {len(found.value)} values cannot be read in a picture; ask for {MOST_DRAWN}")
        found.plot(plot, level=level)
    if json:
        told = {"columns": list(found.names), "n": found.n, "method": found.method, "level": level}
        kind = {"population": found.population_kind, "together": found.together}
        console.emit({**told, **kind, "cells": frame.to_pylist(), "notes": notes})
        return
    about = "shares of the population" if found.of_population else "counts of this table"
    each = "" if found.together == 1 else f" for {found.together:,} values together"
    console.say(
        f"{about}, {many(found.n, 'randomized record')}, method {found.method}, intervals {level_text(level)}{each}"
    )
    rows = []
    for label, value, sd, low, high in (row.values() for row in frame.to_pylist()):
        rows.append([label_text(label), settled(value, sd), sd, settled(low, sd), settled(high, sd)])
    console.table(frame.schema.names, rows)
    for note in notes:
        console.note(note)


def wider_levels(text: str | None, schema: Schema, names: list[str]) -> dict[str, str]:
    """The levels that --roll-up asks for: place=county, or the level alone where one attribute has it."""
    out: dict[str, str] = {}
    for part in listed(text or ""):
        name, equals, level = (piece.strip() for piece in part.partition("="))
        if not equals:
            level = name
            having = [n for n in names if level in getattr(schema[n], "above", ())]
            if len(having) != 1:
                several = f"{len(having)} of the columns have" if having else "none of the columns has"
                raise SfumatoError(f"--roll-up: {several} a level {level!r}: say which attribute, as place=county")
            name = having[0]
        domain = schema[name]
        if not isinstance(domain, Hierarchy):
            raise SfumatoError(f"--roll-up: {name!r} has no levels: it is {domain.kind}, and no hierarchy")
        domain.at(level)  # raises where there is no such level
        out[name] = level
    return out


def at_levels(schema: Schema, levels: dict[str, str]) -> Schema:
    """The schema with some attributes at wider levels."""
    wider = {
        name: domain.at(levels[name])
        for name, domain in schema.items()
        if isinstance(domain, Hierarchy) and name in levels
    }
    return Schema({**schema, **wider})
