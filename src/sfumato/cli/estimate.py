"""sfumato estimate: the miner's first verb."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from sfumato.assess.poisoning import poisoning
from sfumato.cli import console
from sfumato.cli.false_answers import show_evasive, show_robust
from sfumato.cli.questions import Question, answer
from sfumato.cli.release_files import load_together
from sfumato.cli.top_values import at_levels, counts_of_values, show, wider_levels
from sfumato.domains import Domain
from sfumato.errors import SfumatoError
from sfumato.evidence import Estimate, evidence
from sfumato.evidence.plot import MOST_DRAWN
from sfumato.pages.display import settled
from sfumato.printable import label_text
from sfumato.reading.name_lists import listed
from sfumato.schema import Schema


def estimate(
    files: Annotated[list[Path], typer.Argument(help="One or more releases; several are taken as different records.")],
    columns: Annotated[str | None, typer.Option(help="The attributes to cross, comma-separated.")] = None,
    mean: Annotated[str | None, typer.Option(help="The mean of this attribute.")] = None,
    median: Annotated[str | None, typer.Option(help="The median of this attribute.")] = None,
    quantiles: Annotated[
        str | None, typer.Option(help="These quantiles, .25,.5,.75, of the attribute that --columns names.")
    ] = None,
    cdf: Annotated[str | None, typer.Option(help="The running shares of this attribute.")] = None,
    correlation: Annotated[str | None, typer.Option(help="The correlation of two attributes: age,income.")] = None,
    by: Annotated[str | None, typer.Option(help="One answer for each group: sex, or sex,grade.")] = None,
    smooth: Annotated[
        bool | None,
        typer.Option(
            help="Of ordered attributes: smooth intervals too, or nothing. Without it estimates are smoothed where "
            "they may be, and intervals are not."
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="mle (counts never negative; their default), moment (unbiased; for very many values, and for means, "
            "quantiles and correlations) or model (one model of all attributes)."
        ),
    ] = None,
    level: Annotated[float, typer.Option(help="The confidence of the intervals.")] = 0.95,
    where: Annotated[
        list[str] | None,
        typer.Option(help="Only records that hold these values: sex=F, sex=F,grade=a or age=31. May be repeated."),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Only the cells with the largest estimates; their intervals hold together. Of free text: the most "
            "frequent texts, which are found first.",
        ),
    ] = None,
    values: Annotated[
        str | None, typer.Option(help="Only these values of the attribute that --columns names: flu,cold.")
    ] = None,
    roll_up: Annotated[
        str | None, typer.Option(help="Counts of a wider level of a hierarchy: place=county, or just county.")
    ] = None,
    rows: Annotated[
        int,
        typer.Option(min=1, help="The most rows to print, the largest estimates if there are more; --json has all."),
    ] = 60,
    population: Annotated[bool, typer.Option(help="Shares of the population behind the table.")] = False,
    false: Annotated[
        float | None, typer.Option(help="Say how far this share of false answers could move each estimate: .01 is 1 %.")
    ] = None,
    robustly: Annotated[
        bool, typer.Option("--robust", help="With --false: estimate the shares so that they hold whatever is false.")
    ] = False,
    evasive: Annotated[
        str | None,
        typer.Option(help="Groups under different schemes: how many give this safe one of two values in any case."),
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Also draw the estimate (.svg, .png or .pdf).")] = None,
    json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Estimate how many records hold each value, or a mean, a median, a correlation, with intervals.

    Examples:

        sfumato estimate release.parquet --columns sex

        sfumato estimate north.parquet south.parquet --columns sex,grade --population

        sfumato estimate release.parquet --columns education,income --where sex=F --top 10

        sfumato estimate release.parquet --columns diagnosis --top 10

        sfumato estimate release.parquet --columns diagnosis --values flu,cold

        sfumato estimate release.parquet --columns place,sex --roll-up county

        sfumato estimate release.parquet --columns age --method moment --plot age.svg

        sfumato estimate release.parquet --columns sex --population --false 0.01

        sfumato estimate release.parquet --columns sex --false 0.05 --robust

        sfumato estimate group1.parquet group2.parquet --columns drugs --evasive no

        sfumato estimate release.parquet --mean income --by sex --where grade=a

        sfumato estimate release.parquet --columns income --quantiles .25,.5,.75

        sfumato estimate release.parquet --cdf income --by sex --plot income.svg
    """
    question = Question(mean, median, quantiles, cdf, correlation, by, smooth)
    question.check(columns)
    release = load_together(files)
    names = listed(columns or "")
    levels = wider_levels(roll_up, release.schema, names)
    held = _conditions(where, at_levels(release.schema, levels))
    if question.asked:
        of_counts = {"--roll-up": roll_up, "--top": top, "--values": values, "--false": false, "--evasive": evasive}
        for option, given in {**of_counts, "--robust": robustly or None}.items():
            if given is not None:
                raise SfumatoError(f"{option} is about counts: it goes with --columns alone")
        reply = question.answer(evidence(release, method=method or "moment"), columns, held)
        answer(reply.population() if population else reply, level, rows, plot, json, held)
        return
    if robustly or evasive is not None:
        others = (top, values, plot, roll_up, method, evasive if robustly else false)
        if held or any(other is not None for other in others):
            raise SfumatoError("--robust and --evasive go with one attribute, --columns NAME, --level and --json only")
        if evasive is not None:
            show_evasive(release, names, evasive, level, json)
        else:
            show_robust(release, names, false, level, json)
        return
    if values is not None or not all(release.schema[name].listed for name in names):
        alone = len(names) == 1 and not held and not levels and false is None and method in (None, "moment")
        if not alone or (values is not None and top is not None):
            raise SfumatoError(
                "--values, and free text, go with one attribute and with --level, --population, --plot and --json; not "
                "with --where, --roll-up, --false or another method, nor --values with --top"
            )
        show(*counts_of_values(release, names[0], values, top, population), level, plot, json)
        return
    both = [name for name in held if name in names]
    if both:
        raise SfumatoError(f"--where fixes {both[0]!r}: leave it out of --columns")
    if method is None:
        method = "mle" if evidence(release).feasible([*names, *held]) else "moment"
    found = evidence(release, method=method).counts([*names, *held], level=levels or None)
    if population:
        found = found.population()
    cells = _chosen(found, held)
    of = len(cells)
    if top is not None:
        found = replace(found, together=of)
    cells = _largest(found, cells, top or (of if json else rows))
    frame = found.frame(level, cells=cells).drop_columns(list(held))
    moved = None if false is None else _moved(found, false, cells)
    if plot is not None:
        drawn = _largest(found, cells, MOST_DRAWN)
        cut = f", the {len(drawn)} largest of {of:,}" if len(drawn) < of else ""
        found.plot(plot, level=level, cells=drawn, title=" x ".join(found.names) + cut)
    if json:
        console.emit(
            {
                "columns": names,
                **({"where": held} if held else {}),
                "n": found.n,
                "method": method,
                "level": level,
                "together": found.together,
                "population": found.population_kind,
                **({} if false is None else {"false": false}),
                "cells": [
                    {**row, **more} for row, more in zip(frame.to_pylist(), moved or [{}] * len(cells), strict=True)
                ],
            }
        )
        return
    about = "shares of the population" if population else "counts of this table"
    each = "" if top is None else f" for {of:,} cells together"
    console.say(f"{about}, {found.n:,.0f} randomized records, method {method}, intervals {level:.0%}{each}")
    if held:
        fixed = ", ".join(f"{name} = {label_text(value)}" for name, value in held.items())
        console.say(f"of records with {fixed}" + ("; shares are still of everybody" if population else ""))
    shown = [_in_words(list(row.values()), len(names)) for row in frame.to_pylist()]
    if moved is not None:
        shown = [[*row, *more.values()] for row, more in zip(shown, moved, strict=True)]
    console.table([*frame.schema.names, *_FALSE][: len(shown[0])], shown)
    if false is not None:
        console.note(
            f"{_FALSE[0]}, {_FALSE[1]}: how far {100 * false:g} % of false answers could move an estimate. No interval "
            f"allows for them."
        )
    unclear = int((frame.column(frame.schema.names[-2]).to_numpy() <= 0).sum())
    if 2 * unclear > len(cells) and len(names) + len(held) > 1:
        console.note(
            f"{unclear:,} of {len(cells):,} cells may be empty: their intervals reach 0. Fewer columns tell more."
        )
    if top is None and len(cells) < of:
        console.note(f"the {len(cells):,} largest of {of:,} cells: --rows shows more, --json all of them")


#: The columns that say how far false answers could move an estimate.
_FALSE = ("false_down", "false_up")


def _moved(found: Estimate, share: float, cells: NDArray[np.int64]) -> list[dict[str, float]]:
    """How far a share of false answers could move each of these cells, in its own unit."""
    try:
        bound = poisoning(found, share)
    except SfumatoError as problem:
        raise SfumatoError(f"--false: {problem}") from None
    unit = 1.0 if found.of_population else found.n
    sides = (bound.down[cells] * unit, bound.up[cells] * unit)
    return [dict(zip(_FALSE, map(float, pair), strict=True)) for pair in zip(*sides, strict=True)]


def _conditions(where: list[str] | None, schema: Schema) -> dict[str, Any]:
    """The labels that --where asks for, by attribute."""
    held: dict[str, Any] = {}
    for part in (part for text in where or [] for part in _parts(text)):
        name, equals, value = part.partition("=")
        name, value = name.strip(), value.strip()
        if len(value) > 1 and value[0] == value[-1] == '"':
            value = value[1:-1]
        if not equals or not name:
            raise SfumatoError(f"--where must look like sex=F or sex=F,grade=a, got {part!r} instead")
        label = _label(schema[name], name, value)
        if held.setdefault(name, label) != label:
            raise SfumatoError(f"--where asks for two values of {name!r}, which no record holds; give one")
    return held


def _parts(text: str) -> list[str]:
    """The conditions of one --where. The comma of a bin, age=[18, 21), ends none."""
    whole = _BIN.sub(lambda found: found[0].replace(",", _COMMA), text)
    return [part.replace(_COMMA, ",") for part in listed(whole)]


_COMMA = "\x00"
_BIN = re.compile(r"=\s*\"?\[[^\[\],]*,[^\[\],)]*[\])]")


def _label(domain: Domain, name: str, value: str) -> Any:
    """The label that a text means: the label itself, "no answer" or nothing for the missing one, a number in a bin."""
    labels = {label_text(label): label for label in domain.labels}
    if None in domain.labels:
        labels.setdefault("", None)
    if value in labels:
        return labels[value]
    with suppress(ValueError):
        wanted = float(value)
        for label in domain.labels:
            if isinstance(label, int | float) and label == wanted:
                return label
    if value and domain.kind in ("numeric", "date"):
        with suppress(SfumatoError, ValueError):
            return domain.labels[int(domain.encode([value])[0])]
    shown = ", ".join([label for label in labels if label][:12])
    raise SfumatoError(f"--where: {name} has no value {value!r}; it has {shown}{', ...' * (len(domain.labels) > 12)}")


def _chosen(found: Estimate, held: dict[str, Any]) -> NDArray[np.int64]:
    """The places of the cells that were asked for."""
    kept = [
        np.array([domain.labels.index(held[name])]) if name in held else np.arange(domain.size)
        for name, domain in found.schema.items()
    ]
    return np.ravel_multi_index(np.ix_(*kept), found.shape).reshape(-1)


def _largest(found: Estimate, cells: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """All of them as they stand, or as many of the largest, largest first."""
    return cells if len(cells) <= most else cells[np.argsort(-found.value[cells], kind="stable")[:most]]


def _in_words(row: list[Any], attributes: int) -> list[Any]:
    """A row to print: "no answer" in words, and no digits of an estimate or a limit far below its error."""
    labels, (value, sd, low, high) = row[:attributes], row[attributes:]
    value, low, high = (settled(number, sd) for number in (value, low, high))
    return [*(label_text(label) if label is None else label for label in labels), value, sd, low, high]
