"""Parties that hold different columns of the same records: their files are joined by the pseudonyms they carry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.reading.parquet_file import open_parquet
from sfumato.release import Release
from sfumato.released.joining import match
from sfumato.released.part import Part
from sfumato.service.intake import Intake
from sfumato.service.refusals import RefusalError
from sfumato.service.study import Study
from sfumato.service.tallies import Tally

if TYPE_CHECKING:
    import pyarrow as pa

_ID = "\0pseudonym"
Held = Mapping[str, Any]  # an accepted upload: "file", "attributes" and "link"


def check_repeated(path: Path, found: Intake, others: Sequence[Held]) -> None:
    """Refuse records that were pushed before, as their pseudonyms tell, and columns that another party holds."""
    if found.link is None:
        return
    import pyarrow.compute as pc

    mine = _ids(path)
    twice = len(mine) - len(pc.unique(mine))
    if twice:
        raise RefusalError("refused", f"{twice:,} of its pseudonyms occur more than once; each record needs its own")
    for other in others:
        if other["link"] != found.link:
            continue
        theirs = other["attributes"]
        if theirs is None or found.attributes is None or theirs == found.attributes:
            again = int(pc.sum(pc.is_in(mine, value_set=_ids(Path(other["file"])))).as_py() or 0)
            if again:
                raise RefusalError("refused", f"{again:,} of its records were pushed before, in another file")
        elif set(theirs) & set(found.attributes):
            raise RefusalError(
                "refused", "another party pushed some of these columns for records under the same link key"
            )


def complete(study: Study, held: Sequence[Held]) -> Part | None:
    """The records that all parties hold, under the study's scheme; None as long as columns are missing.

    Parties may have no record in common yet, and call their pseudonyms as they like: none can stop the others by that.
    """
    if {name for one in held for name in one["attributes"]} != set(study.schema.names):
        return None
    import pyarrow as pa

    groups: dict[tuple[str, ...], list[pa.Table]] = {}
    for one in held:
        groups.setdefault(tuple(one["attributes"]), []).extend(map(_rows, Release.load(one["file"]).parts))
    columns = [pa.concat_tables(tables, promote_options="permissive") for tables in groups.values()]
    rows = reduce(lambda left, right: match(left, right, _ID), columns)
    return Part(rows.drop([_ID]), study.forms[0].scheme, order="shuffled")


def _rows(part: Part) -> pa.Table:
    """The rows of a part, the pseudonyms under a name that no column has, whatever texts their sender made of them."""
    import pyarrow as pa

    found = part.arrow()
    place = found.schema.get_field_index(part.id)
    return found.set_column(place, _ID, found.column(place).cast(pa.large_string()))


def joined(study: Study, held: Sequence[Held]) -> Intake:
    """What those records count; nothing as long as columns are missing."""
    scheme = study.forms[0].scheme
    tally, whole = Tally(scheme), complete(study, held)
    if whole is not None and len(whole):
        rows = whole.arrow()
        tally.add({name: rows.column(name).to_numpy() for name in scheme.output_sizes}, rows.num_rows)
    return Intake(tally.n, {0: tally})


def _ids(path: Path) -> pa.Array:
    import pyarrow as pa

    name = [Release.load(path).id or ""]
    with open_parquet(path, name) as file:
        return pa.concat_arrays(file.read(columns=name).column(0).cast(pa.large_string()).chunks)
