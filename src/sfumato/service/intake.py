"""A pushed file, looked at before it is taken: does it fit the study, row by row, and what does it count?

This runs in a process of its own, with a limit on its memory and its time: a hostile file may exhaust or crash the
library that reads it, but not the server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import SfumatoError, without_warnings
from sfumato.reading.json_documents import read_json
from sfumato.reading.memory_limit import pieces, within_memory
from sfumato.reading.parquet_file import open_parquet
from sfumato.reading.parquet_structure import check_received
from sfumato.release import Release
from sfumato.released.part import Part
from sfumato.scheme import Scheme
from sfumato.service.file_sizes import check_release, check_resampled
from sfumato.service.noisy_numbers import reach
from sfumato.service.pseudonym_keys import NO_KEYS, Keys, keys_of
from sfumato.service.refusals import RefusalError
from sfumato.service.study import Study
from sfumato.service.tallies import Tally
from sfumato.writing.described_file import KEY

if TYPE_CHECKING:
    import pyarrow as pa

_LINK = re.compile("[0-9a-f]{16}")  # the fingerprint of a key; a database need not take any other text
_LISTED = 20  # offending rows that are named
_BATCH = 1 << 17


@dataclass
class Intake:
    """What a file holds. ``form`` numbers the study's scheme that each part was made under; ``attributes`` names those
    of a party that holds some columns only, and ``link`` the key of the pseudonyms, where rows carry them.
    """

    rows: int = 0
    forms: dict[int, Tally] = field(default_factory=dict)
    attributes: list[str] | None = None
    link: str | None = None
    counted: bool = False  # whether it is a file of counts, without rows
    share: dict[str, Any] | None = None  # which sum of shares it is, if it is one
    told: list[str] | None = None  # the attributes that a file of counts tells of

    def about(self) -> dict[str, Any]:
        n = {str(form): tally.n for form, tally in self.forms.items()}
        known = {name: getattr(self, name) for name in ("rows", "attributes", "link", "counted", "share", "told")}
        return {**known, "forms": n}


def examine(path: Path, study: Study) -> Intake:
    """What the file counts, or a refusal of all of it."""
    try:
        with without_warnings(), np.errstate(all="ignore"):
            return _resampled(path, study) if study.scheme is None else _release(path, study)
    except RefusalError:
        raise
    except SfumatoError as problem:
        raise RefusalError("refused", str(problem).replace(str(path), "the file")) from None


def _release(path: Path, study: Study) -> Intake:
    release = Release.load(path)
    check_release(path, release)
    if release.id_kind == "clear":
        raise RefusalError("refused", "its ids stand in the clear: randomize it with pseudonyms, or without ids")
    schemes = [layout.scheme for layout in study.forms]
    found = Intake()
    start = 0
    for part in release.parts:
        if part.scheme in schemes:
            form = schemes.index(part.scheme)
            tally = found.forms.setdefault(form, Tally(part.scheme))
        else:
            form, tally = -1, Tally(part.scheme)
            _check_party(part, study, found)
        if release.id is not None:
            if part.link is None or not _LINK.fullmatch(part.link):
                raise RefusalError("refused", "it does not name the key of its pseudonyms: randomize it again")
            if found.link not in (None, part.link):
                raise RefusalError("refused", "its pseudonyms were made under different keys")
            found.link = part.link
        for codes, _, known in checked_batches(part, start):
            if not known.all():
                raise _offending(part.id or "", "is no pseudonym", ~known, start)
            if form >= 0:
                tally.add(codes, len(known))
            start += len(known)
    if found.attributes is not None and found.forms:
        raise RefusalError("refused", "some rows have all columns and some have not: push them separately")
    if not start:
        raise RefusalError("refused", "the file holds no rows")
    found.rows = start
    return found


def _check_party(part: Part, study: Study, found: Intake) -> None:
    """A party that holds some columns of the records: it must have made them as the study's scheme says."""
    check_part(part.scheme, study)
    names = list(part.scheme.schema.names)
    if part.id is None or part.link is None:
        raise RefusalError(
            "refused", "it holds some columns only, and no pseudonyms to join it by: --id, --link-key-file"
        )
    if found.attributes not in (None, names):
        raise RefusalError("refused", "its parts hold different columns: push them separately")
    found.attributes = names


def check_part(scheme: Scheme, study: Study) -> None:
    """Refuse a scheme that is not that of the study for some of its attributes, or for all."""
    whole, names = study.scheme, scheme.schema.names
    held = isinstance(whole, Scheme) and all(name in whole.schema for name in names)
    if not isinstance(whole, Scheme) or not held or whole.select(names) != scheme:
        raise RefusalError("refused", "it was not made under the study's scheme, nor under a part of it")


def checked_batches(part: Part, start: int = 0) -> Iterator[tuple[dict[str, Any], Keys, NDArray[np.bool_]]]:
    """The codes of the rows, batch by batch, their pseudonyms, and which rows have one (all, where there are no ids).

    Refused where they hold other codes. ``start`` rows come before.
    """
    sizes = part.scheme.output_sizes
    columns = list(part.scheme.columns)
    ends = {name: reach(part.scheme, name) for name in part.scheme.noises}
    for batch in _batches(part, [*columns, *([part.id] if part.id else [])]):
        codes = {name: _codes(batch, name, sizes.get(name), ends.get(name), start) for name in columns}
        if part.id is None:
            yield codes, NO_KEYS, np.ones(batch.num_rows, dtype=bool)
        else:
            yield codes, *keys_of(batch.column(batch.schema.get_field_index(part.id)))
        start += batch.num_rows


def _batches(part: Part, columns: list[str]) -> Iterator[pa.RecordBatch]:
    """The rows as they stand in the file, not yet cast to codes."""
    if not isinstance(part.rows, Path):  # few rows of several parts, which were read at once
        yield from part.rows.select(columns).to_batches(max_chunksize=_BATCH)
        return
    check_received(part.rows, columns)
    with open_parquet(part.rows, columns) as file:
        found = file.iter_batches(batch_size=_BATCH, columns=columns)
        yield from pieces(found, *part.span) if part.span else found


def _codes(batch: pa.RecordBatch, name: str, size: int | None, ends: tuple[float, float] | None, start: int) -> Any:
    import pyarrow as pa

    column = batch.column(batch.schema.get_field_index(name))
    if isinstance(column, pa.DictionaryArray):
        column = column.dictionary_decode()
    wanted = "numbers" if size is None else "whole numbers"
    if not (pa.types.is_integer(column.type) or (size is None and pa.types.is_floating(column.type))):
        raise RefusalError("refused", f"column {name!r} must hold {wanted}")
    if column.null_count:
        raise _offending(name, "holds no answer", np.asarray(column.is_null().to_numpy(zero_copy_only=False)), start)
    values = column.to_numpy(zero_copy_only=False)
    low, high = (0, (size or 0) - 1) if ends is None else ends
    outside = ~((values >= low) & (values <= high))
    if outside.any():
        rule = f"is no number from {low:g} to {high:g}" if size is None else f"is no code from 0 to {size - 1}"
        raise _offending(name, rule, outside, start)
    return values


def _offending(column: str, rule: str, where: Any, start: int) -> RefusalError:
    rows = (np.flatnonzero(where)[:_LISTED] + start + 1).tolist()
    many = "row" if len(rows) == 1 else "rows"
    shown = ", ".join(map(str, rows[:5])) + (" ..." if len(rows) > 5 else "")
    return RefusalError("refused", f"column {column!r} of {many} {shown} {rule}", column=column, rows=rows)


def _resampled(path: Path, study: Study) -> Intake:
    """Rows that were drawn anew (sfumato resample): the columns of the study's schema, with values in their domains."""
    with open_parquet(path) as file:
        about = read_json((file.metadata.metadata or {}).get(KEY, b"{}"), "its description")
        if not isinstance(about, dict) or about.get("format") != "sfumato resampled":
            raise RefusalError("refused", "it was not made by sfumato resample")
        names = file.schema_arrow.names
        if sorted(names) != sorted(study.schema.names):
            raise RefusalError("refused", "its columns are not those of the study's schema")
        check_resampled(path, names, file.metadata.num_rows)
        check_received(path, names)
        rows = 0
        for batch in within_memory(path, file.iter_batches(batch_size=_BATCH)):
            for name in names:
                study.schema[name].encode(batch.column(batch.schema.get_field_index(name)), name)
            rows += batch.num_rows
    if not rows:
        raise RefusalError("refused", "the file holds no rows")
    return Intake(rows=rows)
