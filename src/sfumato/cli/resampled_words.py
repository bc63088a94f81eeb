"""What a table of new rows says of itself, in words: after ``sfumato resample``, and in ``sfumato inspect``."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from sfumato.cli import console
from sfumato.errors import ReleaseError, SfumatoError
from sfumato.owner.resample.description import read_description
from sfumato.pages.display import Precise
from sfumato.printable import many
from sfumato.reading import tables
from sfumato.writing.described_file import content, sidecar


def inspect_resampled(file: Path, rows: int, fit: bool, json: bool) -> bool:
    """Show what such a table says of itself; False where the file is another kind."""
    try:
        about = read_description(file)
    except SfumatoError:
        return False
    if fit:
        raise SfumatoError("--fit tests the answers of a release, and these are new rows: they went through no channel")
    if tables.suffix(file) in tables.CSV and any(about.get(k) != v for k, v in content(file).items()):
        raise ReleaseError(f"{file} is not the file that {sidecar(file).name} describes: its content differs")
    names = tables.column_names(file)
    if json:
        console.emit({"file": str(file), "columns": names, **about})
        return True
    try:
        target = about["target"]
        total = sum(entry["rows"] for entry in about["proportions"])
        console.say(f"{file.name}: {many(total, 'new row')} in place of records: {about['method']}")
        told = [f"{name} (the label)" if name == target else name for name in names]
        console.say(f"columns: {console.some(told, 20)}")
        keys = [key for key in ("site", "class", "rows") if key in about["proportions"][0]]
        if len(keys) > 1:
            console.table(
                keys,
                [
                    [*(_shown(entry[key]) for key in keys[:-1]), Precise(entry["rows"], 0)]
                    for entry in about["proportions"]
                ],
            )
        say_protection(about)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        raise ReleaseError(f"{file}: the description of the table is damaged: ask its owner for it again") from None
    console.say(
        "ordinary rows: read them with any tool, there is nothing to estimate; error bars computed from them are too "
        "small, because they know neither of the drawing nor how many records there were"
    )
    if rows:
        console.say()
        head = [row for batch in islice(tables.batches(file), 1) for row in batch.slice(0, rows).to_pylist()]
        console.table(names, [[_shown(row[name]) for name in names] for row in head])
    return True


def say_protection(about: Mapping[str, Any]) -> None:
    """What was measured or proved of the rows."""
    if about["risk"]:
        console.table(
            ["site", "asked", "measured", "outliers asked", "outliers", "held"],
            [
                [
                    str(r["site"]),
                    r["asked"],
                    f"{r['measured']:.3f} ± {r['error']:.3f}",
                    r["outliers_asked"],
                    f"{r['outliers']:.3f} ± {r['outliers_error']:.3f}",
                    "yes" if r["held"] else "no",
                ]
                for r in about["risk"]
            ],
        )
        console.say("measured against the shadow attack, on this table; --epsilon gives a proof instead")
    elif "proved" in about:
        console.say(f"proved: no attack on any record has an AUC above {about['proved']['auc']:.3f}")
    else:
        console.say("no bound was asked for: sfumato resample --max-risk .55 holds one")


def _shown(cell: Any) -> Any:
    return cell if isinstance(cell, int | float) and not isinstance(cell, bool) else str(cell)
