"""sfumato export: a release in words, for a spreadsheet."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from unicodedata import category

import numpy as np
import typer

from sfumato.cli import console
from sfumato.errors import ReleaseError
from sfumato.printable import many
from sfumato.reading.name_lists import listed
from sfumato.release import Part, Release
from sfumato.released.in_words import in_words
from sfumato.released.writer import code_types
from sfumato.writing.whole_files import replacing

if TYPE_CHECKING:
    import pyarrow as pa


#: What a spreadsheet takes for the beginning of a formula, unless a number follows.
_COMPUTED = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
#: What a program may drop at the beginning of a cell: white space, control and format characters, marks on letters that
#: are not there, letters without a shape, quotes.
_UNSEEN = ("Cc", "Cf", "Mn", "Zs", "Zl", "Zp")
_SHAPELESS = '"\u115f\u1160\u2800\u3164\uffa0'
#: Where a program may begin another cell: many countries write commas in numbers and cut text files at semicolons.
_CUT = re.compile(r"([;\t\n\v\f\r\x85\u2028\u2029])")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)

#: The values of a set that a cell names; a spreadsheet's cell holds about 30 000 characters.
MOST_NAMED = 100


def export(
    release: Annotated[Path, typer.Argument(help="The release: .parquet, or .csv with its .json beside it.")],
    out: Annotated[Path, typer.Argument(help="The table to write: .csv or .tsv.")],
    columns: Annotated[str | None, typer.Option(help="Only these attributes, in this order (a,b,c).")] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace the table if it exists.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Write a release with words instead of codes: values, sets of values, stretches of neighbouring ones.

    The words are the randomized answers, not what the records truly hold: count them with sfumato estimate. A set
    of values is written as one | two | three. Of one with more than 100 values 100 are named, and how many there are
    besides; the release holds them all.

        sfumato export north.parquet labels.csv

        sfumato export north.parquet labels.csv --columns sex,education --overwrite
    """
    if not out.name.lower().endswith((".csv", ".tsv")):
        raise ReleaseError(f"{out}: a table in words must end in .csv or .tsv")
    found = Release.load(release)
    if columns is not None:
        found = found.select(listed(columns, found.schema))
    names = _in_order(found, list(found.schema) if columns is None else listed(columns))
    rows = 0
    # Spreadsheets take a text file for their own old encoding unless it starts with this mark.
    plain = all(part.scheme.to_json().isascii() for part in found.parts)
    with (
        replacing(out, overwrite) as temporary,
        temporary.open("w", newline="", encoding="utf-8" if plain else "utf-8-sig") as file,
        console.progress("writing", len(found)) as advance,
    ):
        writer: Any = csv.writer(
            file,
            delimiter="\t" if out.suffix.lower() == ".tsv" else ",",
            # Of a single column nothing tells the delimiter: DuckDB would cut a | b into two.
            quoting=csv.QUOTE_NONNUMERIC if len(names) == 1 else csv.QUOTE_MINIMAL,
            lineterminator="\n",
        )
        writer.writerow(map(_no_formula, names))
        for batch in _labelled(found, names):
            writer.writerows(zip(*batch, strict=True))
            rows += len(batch[0])
            advance(len(batch[0]))
    if json:
        console.emit({"out": str(out), "rows": rows, "columns": names})
    else:
        console.say(f"{many(rows, 'randomized record')} in words: {out}")


def _names(part: Part) -> list[str]:
    return [*part.scheme.columns, *([part.id] if part.id else [])]


def _in_order(release: Release, attributes: list[str]) -> list[str]:
    """The columns of all parts by the order of their attributes, the ids last."""
    held = [
        (name, part.scheme.select([name]).columns)
        for part in release.parts
        for name in attributes
        if name in part.scheme.schema
    ]
    held.sort(key=lambda one: attributes.index(one[0]))
    ids = [part.id for part in release.parts if part.id]
    return list(dict.fromkeys([*(column for _, columns in held for column in columns), *ids]))


def _labelled(release: Release, names: list[str]) -> Iterator[list[list[Any]]]:
    """The columns in words, batch by batch; an attribute that a part does not hold is blank there."""
    import pyarrow as pa

    for part in release.parts:
        held = _names(part)
        kinds = {**code_types(part.scheme), **({part.id: pa.string()} if part.id else {})}
        for batch in part.batches(held, kinds):
            yield [_words(part, name, batch.column(name)) if name in held else [""] * batch.num_rows for name in names]


def _words(part: Part, name: str, column: pa.Array) -> list[Any]:
    if name in part.scheme.noises:
        return list(column.to_pylist())
    if name == part.id:
        return [_no_formula(text) for text in column.to_pylist()]
    codes = np.asarray(column.to_numpy(zero_copy_only=False))
    different, place = np.unique(codes, return_inverse=True)
    if len(different) and (different[0] < 0 or different[-1] >= part.scheme.output_sizes[name]):
        raise ReleaseError(f"column {name!r} holds codes that its channel cannot release: the file is damaged")
    words = np.array(
        [_no_formula(text) for text in in_words(part.scheme, name, different.tolist(), MOST_NAMED)], dtype=object
    )
    return list(words[place])


def _no_formula(text: str) -> str:
    """Text that a spreadsheet does not compute: labels and ids come from others, and =HYPERLINK(...) sends cells away.

    >>> _no_formula("=1+1"), _no_formula("-1.5"), _no_formula("a=b"), _no_formula("a;=b")
    ("'=1+1", '-1.5', 'a=b', "a;'=b")
    """
    if not any(sign in text for sign in _COMPUTED):
        return text
    return "".join(f"'{piece}" if _computed(piece) else piece for piece in _CUT.split(text))


def _computed(cell: str) -> bool:
    """Whether a spreadsheet may take the text of a cell for a formula."""
    first = next((sign for sign in cell if category(sign) not in _UNSEEN and sign not in _SHAPELESS), "")
    return first in _COMPUTED and not _NUMBER.fullmatch(cell.strip(" "))
