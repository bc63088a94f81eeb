"""sfumato resample: release new rows instead of the records."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli import console, scheme_files
from sfumato.cli.identifiers import point_out_identifiers
from sfumato.cli.resample_report import compared, measure, sample, write_report
from sfumato.cli.resampled_words import say_protection
from sfumato.cli.signals import Stopped
from sfumato.errors import SfumatoError
from sfumato.membership import Risk
from sfumato.owner.resample import Resampled, resample_file
from sfumato.owner.resample import resample as draw
from sfumato.owner.resample.calibrate import refuse_or_warn
from sfumato.owner.resample.description import risk_entry
from sfumato.owner.resample.stream import check_target
from sfumato.printable import many
from sfumato.reading import tables
from sfumato.reading.json_documents import read_json
from sfumato.reading.name_lists import listed

if TYPE_CHECKING:
    import pyarrow as pa

#: Tables with more rows, or text files of more bytes, are resampled batch by batch.
LARGE, LARGE_TEXT = 2_000_000, 200_000_000


def resample(
    source: Annotated[Path, typer.Argument(help="The raw table: .parquet, .csv or .tsv.")],
    target: Annotated[str | None, typer.Option(help="The label column; rows are drawn per class.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where to write; by default beside the file, .resampled.")
    ] = None,
    max_risk: Annotated[
        float | None, typer.Option(help="The most that the shadow attack may reach, as an AUC; .55 by default.")
    ] = None,
    max_outlier_risk: Annotated[float | None, typer.Option(help="The same for outliers; .05 more by default.")] = None,
    epsilon: Annotated[
        float | None, typer.Option(help="A proof instead of a measurement; needs --ranges. 1 bounds every AUC by .588.")
    ] = None,
    delta: Annotated[float | None, typer.Option(help="With --epsilon: 1e-4 by default.")] = None,
    ranges: Annotated[
        str | None, typer.Option(help="With --epsilon: age=0:120,bmi=10:80, or a JSON file of {name: [low, high]}.")
    ] = None,
    sites: Annotated[int, typer.Option(help="For experiments: deal the rows out to this many sites.")] = 1,
    site_column: Annotated[str | None, typer.Option(help="The column that tells the site of a row.")] = None,
    bandwidth: Annotated[
        float | None, typer.Option(help="The paper's kernel instead, at this multiple of its bandwidth; no bound.")
    ] = None,
    shrink: Annotated[bool, typer.Option(help="With --bandwidth: take back the variance that it adds.")] = False,
    pooled: Annotated[bool, typer.Option(help="With --bandwidth: one density for all classes of a site.")] = False,
    rows: Annotated[
        int | None, typer.Option(help="How many rows to release; by default four for each record, up to 20,000.")
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="Only these columns (a,b,c), in this order, and the target and the site.")
    ] = None,
    drop: Annotated[str | None, typer.Option(help="All columns but these (a,b,c): ids, free text.")] = None,
    report: Annotated[
        Path | None, typer.Option("--report", "--html", help="Write a page for the owner on what is disclosed.")
    ] = None,
    comparison: Annotated[
        bool, typer.Option(help="In the report, what other methods cost at equal risk. The rows are written before it.")
    ] = True,
    accept_risk: Annotated[bool, typer.Option(help="Write the release even if the bound is not held.")] = False,
    overwrite: Annotated[bool, typer.Option(help="Replace the output if it exists.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Release new rows instead of the records. Each site runs this on its own file; only the rows travel.

    Rows from a model that is blurred until the attack on membership reaches at most .55, and .60 for outliers:

        sfumato resample patients.csv --target diabetes --report report.html

    With a proof that holds for every record and every attack; say what each column can be:

        sfumato resample patients.csv --target diabetes --epsilon 1 --ranges age=0:120,bmi=10:80

    Of some columns only, the target beside them:

        sfumato resample patients.csv --target diabetes --columns age,bmi

    Several sites in one file:

        sfumato resample patients.parquet --target diabetes --site-column hospital --max-risk .6

    The paper's kernel, without a bound; what the attack reaches is measured all the same:

        sfumato resample patients.csv --target diabetes --bandwidth 1
    """
    _check(source, sites, site_column, bandwidth, shrink or pooled, max_risk, max_outlier_risk, epsilon, report)
    goal = out or source.with_name(f"{source.name.removesuffix(tables.suffix(source))}.resampled.parquet")
    if goal.exists() and not overwrite:
        raise SfumatoError(f"{goal} already exists; choose another name with --out, or allow --overwrite")
    check_target(source, goal, overwrite)
    wanted = _wanted(source, columns, drop, target, site_column)
    asked: dict[str, Any] = {
        "bandwidth": "scott" if bandwidth is None else bandwidth,
        "shrink": shrink,
        "per_class": not pooled,
        "max_risk": (0.55 if max_risk is None else max_risk) if bandwidth is None and epsilon is None else None,
        "max_outlier_risk": max_outlier_risk,
        "epsilon": epsilon,
        "delta": delta,
        "ranges": _ranges(ranges),
    }
    large = _large(source) and sites == 1 and rows is None
    if large:
        with console.progress("resampling", tables.count_rows(source)) as advance:
            about = resample_file(
                source,
                goal,
                target,
                site_column=site_column,
                columns=wanted,
                strict=not accept_risk,
                overwrite=overwrite,
                progress=advance,
                **asked,
            )
        if bandwidth is None and report is None:
            _say(goal, about, None, json)
            return
        table = sample(source, wanted)
        released = draw(table, target, site_column or 1, **asked)
        title = f"{many(table.num_rows, 'record')} of {source.name}"
    else:
        point_out_identifiers(source, wanted, target, site_column)
        table = _read(source, wanted)
        released = draw(table, target, site_column or sites, rows=rows, **asked)
        about, title = released.description, source.name
    measured = measure(table, target, released) if bandwidth is not None or report is not None else None
    refused = not (large or accept_risk or all(risk.held for risk in released.risk.values()))
    if report is not None:  # also, and above all, where the release is then refused
        write_report(report, table, target, released, measured, title)
    if not (large or refused):
        released.save(goal, overwrite)
    if not refused:
        _say(goal, about, measured, json)
    if report is not None and comparison:
        with _finished(report, None if refused else goal):
            found = compared(table, target, released)
        if found:
            write_report(report, table, target, released, measured, title, found)
    if refused:
        _refuse(released)


@contextmanager
def _finished(report: Path, goal: Path | None) -> Iterator[None]:
    """Where somebody stops the comparison of methods, say what is there without it."""
    try:
        yield
    except (Stopped, KeyboardInterrupt):
        there = report.name if goal is None else f"{goal.name} and {report.name}"
        console.note(f"finished without the comparison of methods: {there}")
        raise


def _refuse(released: Resampled) -> None:
    for place, risk in released.risk.items():
        if not risk.held:
            refuse_or_warn(place if len(released.risk) > 1 else None, risk, strict=True)


def _check(
    source: Path,
    sites: int,
    site_column: str | None,
    bandwidth: float | None,
    kernel_only: bool,
    max_risk: float | None,
    max_outlier_risk: float | None,
    epsilon: float | None,
    report: Path | None,
) -> None:
    tables.column_names(source)  # a missing or unreadable file says so here
    if sites != 1 and site_column is not None:
        raise SfumatoError("give either --sites, for an experiment, or --site-column, for real sites")
    if bandwidth is None and kernel_only:
        raise SfumatoError("--shrink and --pooled go with --bandwidth, the paper's kernel")
    if bandwidth is not None and (max_risk, max_outlier_risk, epsilon) != (None, None, None):
        raise SfumatoError("--bandwidth is the paper's kernel, which holds no bound: leave the others out")
    if epsilon is not None and (max_risk, max_outlier_risk) != (None, None):
        raise SfumatoError("--epsilon holds a proved bound, --max-risk a measured one: give one of them")
    if report is not None and not report.parent.is_dir():
        raise SfumatoError(f"{report}: the folder {report.parent} does not exist")
    if report is not None and report.resolve() == source.resolve():
        raise SfumatoError(f"{report} is the raw table itself: choose another name for the report")


def _ranges(text: str | None) -> dict[str, tuple[float, float]] | None:
    """Ranges as they are typed, or from a JSON file."""
    if text is None:
        return None
    if text.endswith(".json"):
        found = read_json(scheme_files.read_text(Path(text)), text)
        if not isinstance(found, dict):
            raise SfumatoError(f"{text} must read {{name: [low, high], ...}}")
        return found
    out = {}
    for part in text.split(","):
        name, _, span = part.rpartition("=")
        low, _, high = span.partition(":")
        try:
            out[name.strip()] = (float(low), float(high))
        except ValueError:
            name = ""
        if not name.strip():
            raise SfumatoError("--ranges must read name=low:high, comma-separated, such as age=0:120,bmi=10:80")
    return out


def _large(source: Path) -> bool:
    rows = tables.count_rows(source)
    return source.stat().st_size > LARGE_TEXT if rows is None else rows > LARGE


def _wanted(source: Path, columns: str | None, drop: str | None, *known: str | None) -> list[str]:
    """The columns that are read, in the order of --columns, which need not repeat the target and the site."""
    present = tables.column_names(source)
    kept, dropped = listed(columns or "", present), listed(drop or "", present)
    if columns is not None and not kept:
        raise SfumatoError("--columns names no column: list some, comma-separated, such as age,bmi")
    for option, names in (("--columns", kept), ("--drop", dropped)):
        for name in names:
            if name not in present:
                raise SfumatoError(f"{option} names {name!r}, which is no column of {source.name}")
    asked = present if columns is None else [*kept, *(name for name in known if name in present)]
    return [name for name in dict.fromkeys(asked) if name not in dropped]


def _read(source: Path, columns: list[str]) -> pa.Table:
    import pyarrow as pa

    found = list(tables.batches(source, columns))
    if not found:
        raise SfumatoError(f"{source}: the table is empty: there is nothing to resample")
    return pa.Table.from_batches(found)


def _say(goal: Path, about: dict[str, Any], measured: Risk | None, json: bool) -> None:
    beside = {} if measured is None else {"measured": risk_entry(0, measured)}
    if json:
        console.emit({"target": str(goal), **about, **beside})
        return
    total = sum(entry["rows"] for entry in about["proportions"])
    console.say(f"{many(total, 'row')} written to {goal}: {about['method']}")
    say_protection(about)
    if measured is not None:
        console.say(f"measured on releases of half of the records: {measured}")
