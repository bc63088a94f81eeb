"""sfumato estimate --false --robust and --evasive: estimates that allow for false answers, and for evasive ones."""

from __future__ import annotations

from sfumato.assess.evasive import evasive
from sfumato.assess.robust import robust
from sfumato.cli import console
from sfumato.cli.typed_labels import TypedLabels, some_labels
from sfumato.errors import SfumatoError
from sfumato.printable import label_text, level_text, many
from sfumato.release import Release


def show_robust(release: Release, names: list[str], share: float | None, level: float, json: bool) -> None:
    """The shares of one attribute, whatever a share of the answers is."""
    if len(names) != 1 or share is None:
        raise SfumatoError(
            "--robust goes with one attribute, --columns NAME, and with --false, the share of false answers"
        )
    found = robust(release, share, names[0], level=level)
    rows = [
        {"value": label, "estimate": float(value), "low": float(low), "high": float(high)}
        for label, value, low, high in zip(found.labels, found.value, found.low, found.high, strict=True)
    ]
    if json:
        console.emit({"columns": names, "n": len(release), "false": share, "level": level, "cells": rows})
        return
    console.say(
        f"shares of {names[0]} if {100 * share:g} % of the answers are false, {many(len(release), 'randomized record')}"
    )
    console.table([names[0], "estimate", "low", "high"], [list(row.values()) for row in rows])
    console.note(f"low, high: they hold whatever the liars answered, at {level_text(level)}")


def show_evasive(release: Release, names: list[str], safe: str, level: float, json: bool) -> None:
    """How many hold the sensitive one of two values, and how many give the safe one whatever the device says."""
    if len(names) != 1:
        raise SfumatoError("--evasive goes with one attribute of two values: --columns NAME")
    domain = release.schema[names[0]]
    labels, typed = [label_text(label) for label in domain.labels], TypedLabels(domain)
    if len(labels) != 2 or not typed.written(safe):
        raise SfumatoError(f"--evasive must name one of the two values of {names[0]}: {some_labels(domain.labels)}")
    safe = label_text(typed.meant(safe))
    found = evasive(release, attribute=names[0], safe=labels.index(safe), level=level)
    other = labels[1 - labels.index(safe)]
    if json:
        numbers = {"share": found.share, "share_interval": found.share_interval, "cheating": found.cheating}
        more = {"cheating_interval": found.cheating_interval, "everybody": found.everybody, "level": level}
        console.emit({"columns": names, "n": len(release), "safe": safe, **numbers, **more})
        return
    low, high = found.everybody
    console.table(
        ["", "estimate", "low", "high"],
        [
            [f"{names[0]} = {other}, of those who follow the device", found.share, *found.share_interval],
            [f"evasive: they say {safe} whatever it tells them", found.cheating, *found.cheating_interval],
        ],
    )
    console.say(
        f"{names[0]} = {other} among everybody: between {low:.3f} and {high:.3f}, as those who evade are unknown"
    )
