"""sfumato estimate: the miner's first verb."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli import console
from sfumato.cli.choices import one_of
from sfumato.cli.conditions import conditions
from sfumato.cli.count_table import CountTable, counts_of
from sfumato.cli.false_answers import show_evasive, show_robust
from sfumato.cli.questions import Question, answer
from sfumato.cli.release_files import load_together
from sfumato.cli.top_values import at_levels, counts_of_values, show, wider_levels
from sfumato.errors import SfumatoError
from sfumato.evidence import evidence
from sfumato.reading.name_lists import listed


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
            help="Of ordered attributes: smooth intervals of quantiles and running shares too, or nothing. Without it "
            "estimates are smoothed where they may be, and intervals are not."
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="mle (counts never negative; their default), moment (unbiased; for very many values, and for means, "
            "quantiles and correlations) or model (one model of all attributes).",
            autocompletion=one_of("mle", "moment", "model"),
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
    names = listed(columns or "", release.schema)
    levels = wider_levels(roll_up, release.schema, names)
    held = conditions(where, at_levels(release.schema, levels), several=question.asked)
    if question.asked:
        of_counts = {"--roll-up": roll_up, "--top": top, "--values": values, "--false": false, "--evasive": evasive}
        for option, given in {**of_counts, "--robust": robustly or None}.items():
            if given is not None:
                raise SfumatoError(f"{option} is about counts: it goes with --columns alone")
        if method in ("mle", "project"):
            raise SfumatoError(f"--method {method} is about counts: questions take moment (their default) or model")
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
    asked = [*names, *held]
    ev = evidence(release, method=method).covering(asked)
    found = ev.counts(asked, level=levels) if levels else counts_of(ev, names, held)
    found = found.population() if population else found
    table = CountTable.of(found, names, held, None if json else rows, top, level, found.method, false)
    if plot is not None:
        table.draw(plot)
    if json:
        console.emit(table.document())
    else:
        table.say(ranked=top is not None)
