"""sfumato resample: release rows drawn around the records instead of the records."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from sfumato import tables
from sfumato.cli import console
from sfumato.errors import SfumatoError
from sfumato.files import replacing
from sfumato.owner.resample import Resampled, resample_file
from sfumato.owner.resample import resample as draw
from sfumato.owner.resample.intake import Labels
from sfumato.owner.resample.recommended import refuse_or_warn
from sfumato.owner.resample.sink import check_target
from sfumato.scheme import Scheme

if TYPE_CHECKING:
    import pyarrow as pa

#: Tables with more rows, or text files of more bytes, are resampled batch by batch.
LARGE, LARGE_TEXT = 2_000_000, 200_000_000
#: Records of a large table that its report is about.
REPORTED = 4000


def resample(
    source: Annotated[Path, typer.Argument(help="The raw table: .parquet, .csv or .tsv.")],
    target: Annotated[str | None, typer.Option(help="The label column; rows are drawn per class.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where to write; by default beside the file, .resampled.")] = None,
    max_risk: Annotated[float, typer.Option(help="No attack on membership may do better than this AUC.")] = 0.55,
    max_outlier_risk: Annotated[float | None, typer.Option(help="The same for outliers; .05 more by default.")] = None,
    sites: Annotated[int, typer.Option(help="For experiments: deal the rows out to this many sites.")] = 1,
    site_column: Annotated[str | None, typer.Option(help="The column that tells the site of a row.")] = None,
    bandwidth: Annotated[
        float | None, typer.Option(help="The paper's kernel instead, at this multiple of its bandwidth; no bound.")
    ] = None,
    shrink: Annotated[bool, typer.Option(help="With --bandwidth: take back the variance that it adds.")] = False,
    pooled: Annotated[bool, typer.Option(help="With --bandwidth: one density for all classes of a site.")] = False,
    rows: Annotated[int | None, typer.Option(help="How many rows to release; as many as records by default.")] = None,
    drop: Annotated[str | None, typer.Option(help="Columns to leave out, comma-separated: ids, free text.")] = None,
    ride: Annotated[str | None, typer.Option(help="Columns that go along as they are, comma-separated.")] = None,
    scheme: Annotated[Path | None, typer.Option(help="Columns that pass through channels: a scheme, as JSON.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write a page for the owner on what is disclosed.")] = None,
    accept_risk: Annotated[bool, typer.Option(help="Write the release even if the bound is not held.")] = False,
    overwrite: Annotated[bool, typer.Option(help="Replace the output if it exists.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Release rows drawn around the records. Each site runs this on its own file; only the rows travel.

    Hold every known attack on membership to an AUC of .55, outliers to .60, and see what that costs:

        sfumato resample patients.csv --target diabetes --report report.html

    Several sites in one file:

        sfumato resample patients.parquet --target diabetes --site-column hospital --max-risk .6

    The paper's kernel, without a bound:

        sfumato resample patients.csv --target diabetes --bandwidth 1
    """
    _check(source, sites, site_column, bandwidth, shrink or pooled, max_outlier_risk, report)
    goal = out or source.with_name(f"{source.name.removesuffix(tables.suffix(source))}.resampled.parquet")
    if goal.exists() and not overwrite:
        raise SfumatoError(f"{goal} already exists; choose another name with --out, or allow --overwrite")
    check_target(source, goal, overwrite)
    asked = max_risk if bandwidth is None else None
    chosen = Scheme.from_json(console.read_text(scheme)) if scheme is not None else None
    riding, dropped = _names(ride), _names(drop)

    def drawn(table: pa.Table) -> Resampled:
        return draw(
            table,
            target,
            site_column or sites,
            "scott" if bandwidth is None else bandwidth,
            shrink,
            not pooled,
            max_risk=asked,
            max_outlier_risk=max_outlier_risk,
            rows=rows,
            ride=riding,
            scheme=chosen,
        )

    if _large(source) and sites == 1 and rows is None:
        with console.progress("resampling", tables.count_rows(source)) as advance:
            about = resample_file(
                source,
                goal,
                target,
                site_column=site_column,
                drop=dropped,
                per_class=not pooled,
                bandwidth="scott" if bandwidth is None else bandwidth,
                shrink=shrink,
                max_risk=asked,
                max_outlier_risk=max_outlier_risk,
                ride=riding,
                scheme=chosen,
                strict=not accept_risk,
                overwrite=overwrite,
                progress=advance,
            )
        if report is not None:
            part = _sample(source, dropped)
            _report(report, part, target, drawn(part), f"{part.num_rows} records of {source.name}", max_risk)
        _say(goal, about, json)
        return
    table = _read(source, dropped)
    released = drawn(table)
    if report is not None:  # also, and above all, where the release is then refused
        _report(report, table, target, released, source.name, max_risk)
    if not accept_risk:
        for place, risk in released.risk.items():
            if not risk.held:
                refuse_or_warn(place if len(released.risk) > 1 else None, risk, strict=True)
    released.save(goal, overwrite)
    _say(goal, released.description, json)


def _check(
    source: Path,
    sites: int,
    site_column: str | None,
    bandwidth: float | None,
    kernel_only: bool,
    max_outlier_risk: float | None,
    report: Path | None,
) -> None:
    tables.column_names(source)  # a missing or unreadable file says so here
    if sites != 1 and site_column is not None:
        raise SfumatoError("give either --sites, for an experiment, or --site-column, for real sites")
    if bandwidth is None and kernel_only:
        raise SfumatoError("--shrink and --pooled go with --bandwidth, the paper's kernel")
    if bandwidth is not None and max_outlier_risk is not None:
        raise SfumatoError("--bandwidth is the paper's kernel, which holds no bound: leave --max-outlier-risk out")
    if report is not None and not report.parent.is_dir():
        raise SfumatoError(f"{report}: the folder {report.parent} does not exist")
    if report is not None and report.resolve() == source.resolve():
        raise SfumatoError(f"{report} is the raw table itself: choose another name for the report")


def _large(source: Path) -> bool:
    rows = tables.count_rows(source)
    return source.stat().st_size > LARGE_TEXT if rows is None else rows > LARGE


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(console.listed(text)) if text else ()


def _read(source: Path, drop: tuple[str, ...]) -> pa.Table:
    import pyarrow as pa

    present = tables.column_names(source)
    missing = [name for name in drop if name not in present]
    if missing:
        raise SfumatoError(f"--drop names {missing[0]!r}, which is no column of {source.name}")
    wanted = [name for name in present if name not in drop]
    return pa.Table.from_batches(list(tables.batches(source, wanted)))


def _sample(source: Path, drop: tuple[str, ...]) -> pa.Table:
    """A random part of a large table, for its report: every record gets a tag, those with the least stay."""
    import pyarrow as pa

    rng = np.random.default_rng()
    wanted = [name for name in tables.column_names(source) if name not in drop]
    tags = np.empty(0)
    kept: list[pa.RecordBatch] = []
    for batch in tables.batches(source, wanted):
        pool = pa.Table.from_batches([*kept, batch])
        tags = np.concatenate([tags, rng.random(batch.num_rows)])
        least = np.argsort(tags)[:REPORTED]
        tags, kept = tags[least], pool.take(least).combine_chunks().to_batches()
    return pa.Table.from_batches(kept)


def _report(path: Path, table: pa.Table, target: str | None, released: Resampled, title: str, asked: float) -> None:
    from sfumato.assess.comparison import NEIGHBOURS, compare
    from sfumato.assess.disclosure import disclosure
    from sfumato.assess.resample_page import page

    X = np.column_stack([np.asarray(table.column(name), dtype=np.float64) for name in released.names])
    y = np.asarray(table.column(target)) if target else None
    rows: Any = ()
    if y is not None and len(X) <= 5000:
        console.note("comparing methods at equal risk (on the owner's own records; nothing of it is released) ...")
        test = _quarter(y)
        try:
            if (~test).sum() < NEIGHBOURS or not test.any():
                raise SfumatoError(f"{len(X)} records are too few to train classifiers on and to test them")
            rows = compare(X[~test], y[~test], X[test], y[test], asked, repeats=2)
        except SfumatoError as problem:
            console.warn(f"the report has no comparison of methods: {problem}")
    with replacing(path, True) as temporary:
        temporary.write_text(page(X, y, released, disclosure(X, released), rows, title), encoding="utf-8")


def _quarter(y: Labels) -> NDArray[np.bool_]:
    """A random quarter of the records of each class, to test on; small classes are left to training."""
    rng = np.random.default_rng()
    out = np.zeros(len(y), dtype=bool)
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        out[members[: len(members) // 4]] = True
    return out


def _say(goal: Path, about: dict[str, Any], json: bool) -> None:
    if json:
        console.emit({"target": str(goal), **about})
        return
    total = sum(entry["rows"] for entry in about["proportions"])
    console.say(f"{total} rows written to {goal}: {about['method']}")
    if about["risk"]:
        console.table(
            ["site", "asked", "achieved", "outliers asked", "outliers", "held"],
            [
                [
                    str(r["site"]),
                    r["asked"],
                    r["achieved"],
                    r["outliers_asked"],
                    r["outliers"],
                    "yes" if r["held"] else "no",
                ]
                for r in about["risk"]
            ],
        )
    else:
        console.say("no bound was asked for: sfumato resample --max-risk .55 plays the attacks and holds one")
