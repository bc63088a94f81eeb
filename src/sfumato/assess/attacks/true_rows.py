"""Which row of the raw table a released row was made from: by its place, or by its id under the owner's key."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import SfumatoError
from sfumato.reading import tables
from sfumato.release import Release
from sfumato.secrets.pseudonyms import Pseudonyms, decoded, hexadecimal, id_text


def true_rows(release: Release, truth: Any, key: bytes | None, link_key: bytes | None) -> NDArray[np.int64] | None:
    """For each released row the place of its raw one; None where both stand in the same order."""
    if release.order != "shuffled":
        return None
    id = release.id
    if id is None:
        raise SfumatoError(
            "the rows of the release were shuffled and carry no ids, so they cannot be held against the truth one by "
            "one: release them with id= and a key (--id, --key-file), or with order='keep' (--order keep)"
        )
    import pyarrow as pa
    import pyarrow.compute as pc

    if id not in tables.column_names(truth):
        raise SfumatoError(f"the truth has no column {id!r}, by whose ids the shuffled rows could be found again")
    batches = [batch.column(0) for batch in tables.batches(truth, [id], tables.AS_TEXT)]
    ids = decoded(pa.chunked_array(batches)) if batches else pa.array([], type=pa.string())
    if release.id_kind == "pseudonym":
        ids = hexadecimal(_pseudonyms(release, key, link_key).of(id_text(ids)))
    place = pc.index_in(release.arrow().column(id).cast(pa.string()), value_set=ids.cast(pa.string()))
    if place.null_count:
        raise SfumatoError(f"{place.null_count:,} released rows have an id that is not in the truth: give all records")
    return np.asarray(place.to_numpy(), dtype=np.int64)


def _pseudonyms(release: Release, key: bytes | None, link_key: bytes | None) -> Pseudonyms:
    if key is None and link_key is None:
        raise SfumatoError(
            "the rows of the release were shuffled and carry pseudonyms: give the key that made them, key= or "
            "link_key= (--key-file, --link-key-file), or release them with order='keep' (--order keep) for this check"
        )
    made = Pseudonyms.under(key, link_key)
    if {part.link for part in release.parts} != {made.fingerprint}:
        raise SfumatoError("the pseudonyms of the release were made under another key: give the one of this release")
    return made
