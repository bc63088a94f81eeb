"""Parties that hold different columns of the same records: their files are joined by the pseudonyms they carry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.release import Release
from sfumato.released.part import Part
from sfumato.released.writer import code_types
from sfumato.scheme import Scheme
from sfumato.service.intake import Intake, checked_batches
from sfumato.service.pseudonym_keys import in_batches, in_order, places
from sfumato.service.refusals import RefusalError
from sfumato.service.study import Study
from sfumato.service.tallies import Tally, kept

#: Rows of the same columns under one link key, the bytes that as many joined records take, and the codes that are
#: looked up to count them (a billion a second): so the columns of one party never keep those of another from being
#: joined in the memory and time of one process.
MOST_JOINED, _BYTES, _CODES = 10_000_000, 512 << 20, 200 * 10**9
MOST_FILES = 1000  # that hold those rows
_KEY = 40  # bytes of a pseudonym while its record is looked for

Held = Mapping[str, Any]  # an accepted upload: "file", "rows", "attributes" and "link"


def most_rows(scheme: Scheme) -> int:
    """The most rows of the same columns that are joined with those of other parties."""
    record = sum(int(kind.bit_width) // 8 for kind in code_types(scheme).values())
    counted = sum(map(len, kept(scheme)))
    return min(MOST_JOINED, _BYTES // (_KEY + record), _CODES // max(counted, 1))


def check_repeated(path: Path, found: Intake, others: Sequence[Held], study: Study) -> None:
    """Refuse records that were pushed before, as their pseudonyms tell, and columns that another party holds."""
    if found.link is None:
        return
    linked = [other for other in others if other["link"] == found.link]
    if found.attributes is not None:
        _check_columns(found, linked, study)
    mine = in_order([path])
    twice = int((mine[1:] == mine[:-1]).sum())
    if twice:
        raise RefusalError("refused", f"{twice:,} of its pseudonyms occur more than once; each record needs its own")
    for other in linked:
        if other["attributes"] is None or found.attributes is None or _same(other, found.attributes):
            again = sum(int(places(theirs, mine)[1].sum()) for theirs in in_batches(Path(other["file"])))
            if again:
                raise RefusalError("refused", f"{again:,} of its records were pushed before, in another file")


def _check_columns(found: Intake, linked: Iterable[Held], study: Study) -> None:
    names, rows, files = found.attributes or [], found.rows, 1
    for other in linked:
        if other["attributes"] is None:
            continue
        if _same(other, names):
            rows, files = rows + other["rows"], files + 1
        elif set(other["attributes"]) & set(names):
            raise RefusalError(
                "refused", "another party pushed some of these columns for records under the same link key"
            )
    if files > MOST_FILES:
        raise RefusalError(
            "refused", f"there are {MOST_FILES:,} files of these columns under one link key: push more rows in a file"
        )
    if rows > (most := most_rows(study.forms[0].scheme)):
        raise RefusalError(
            "refused",
            f"{rows:,} rows of these columns under one link key are more than the {most:,} that are joined with those "
            f"of other parties: push fewer, or one group of people under each link key",
        )


def _same(other: Held, names: Iterable[str]) -> bool:
    return set(other["attributes"]) == set(names)


def complete(study: Study, held: Sequence[Held]) -> Part | None:
    """The records that all parties hold, under the study's scheme; None as long as columns are missing."""
    import pyarrow as pa

    found = _records(study, held)
    return None if found is None else Part(pa.table(found), study.forms[0].scheme, order="shuffled")


def _records(study: Study, held: Sequence[Held]) -> dict[str, NDArray[Any]] | None:
    """Their codes, column by column.

    Parties may have no record in common yet, and call their pseudonyms as they like: none can stop the others by that.
    Only the pseudonyms of the party with the fewest rows are held in memory, with a record for each.
    """
    if {name for one in held for name in one["attributes"]} != set(study.schema.names):
        return None
    parties: dict[frozenset[str], list[Held]] = {}
    for one in held:
        parties.setdefault(frozenset(one["attributes"]), []).append(one)
    fewest = min(parties.values(), key=lambda files: sum(one["rows"] for one in files))
    known, scheme = in_order([Path(one["file"]) for one in fewest]), study.forms[0].scheme
    records = {name: np.zeros(len(known), kind.to_pandas_dtype()) for name, kind in code_types(scheme).items()}
    whole = np.ones(len(known), dtype=bool)
    for files in parties.values():
        there = np.zeros(len(known), dtype=bool)
        for part in (part for one in files for part in Release.load(one["file"]).parts):
            for codes, keys, good in checked_batches(part):
                place, hit = places(keys, known)
                there[place[hit]] = True
                for name, column in codes.items():
                    records[name][place[hit]] = column[good][hit]
        whole &= there
    for name in records:
        records[name] = records[name][whole]
    return records


def joined(study: Study, held: Sequence[Held]) -> Intake:
    """What those records count; nothing as long as columns are missing."""
    scheme = study.forms[0].scheme
    tally, records = Tally(scheme), _records(study, held)
    if records is not None:
        tally.add(records, len(next(iter(records.values()))))
    return Intake(tally.n, {0: tally})
