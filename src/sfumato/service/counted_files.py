"""Sites that may share only counts push tables, or shares of tables that add up to the counts of all sites."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from sfumato.released.counted import CountedPart, merged_parts
from sfumato.released.counts_file import COUNTS, SHARE, read_counts, read_document
from sfumato.released.shares import Share, add
from sfumato.scheme import Scheme
from sfumato.service.file_sizes import MOST_ROWS
from sfumato.service.intake import Intake, check_part
from sfumato.service.refusals import RefusalError
from sfumato.service.study import Study

_MOST_BYTES = 1 << 26
_MOST_PARTS = 1000  # schemes, or choices of tables, in one file; each takes a millisecond to read
Held = Mapping[str, Any]  # an accepted upload: its "file" and what is known about it


def is_json(path: Path) -> bool:
    """Whether a pushed file is JSON, as files of counts are; everything else must be Parquet."""
    with path.open("rb") as file:
        return file.read(1) == b"{"


def examine_counts(path: Path, study: Study, others: Sequence[Held]) -> Intake:
    """What a file of counts, or of shares, holds; refused where it does not fit the study."""
    if path.stat().st_size > _MOST_BYTES:
        raise RefusalError("refused", f"a file of counts has at most {_MOST_BYTES >> 20} MB: count fewer tables")
    form = read_document(path).get("format")
    if form == COUNTS:
        parts = merged_parts(read_counts(path))
        _check_parts(len(parts))
        told = _attributes(study, [part.scheme for part in parts])
        rows = _records(parts)
        if not rows:
            raise RefusalError("refused", "the file counts no records")
        return Intake(rows, counted=True, told=told)
    if form != SHARE:
        raise RefusalError("refused", "it is neither a release nor a file of counts")
    share = Share.load(path)
    _check_parts(len(share.layout))
    told = _attributes(study, [scheme for scheme, _ in share.layout])
    if not share.complete:
        raise RefusalError("refused", "push the sum of what all sites sent you (sfumato add), not a single share")
    group = _group(share)
    same = [other for other in others if other.get("share") and other["share"]["group"] == group]
    if any(other["share"]["to"] == share.to for other in same):
        raise RefusalError("refused", f"the sum of site {share.to} was pushed before")
    if len(same) + 1 == share.sites:
        _records(summed([*(other["file"] for other in same), path]))  # refused here where they do not add up
    return Intake(0, counted=True, share={"group": group, "to": share.to, "sites": share.sites}, told=told)


def _check_parts(number: int) -> None:
    if number > _MOST_PARTS:
        raise RefusalError("refused", f"it has more than {_MOST_PARTS:,} kinds of tables: count fewer")


def _records(parts: Iterable[CountedPart]) -> int:
    """How many records were counted: not more than could be pushed as rows, so that any sum of them can be stored."""
    records = sum(part.records for part in parts)
    if records > MOST_ROWS:
        raise RefusalError("refused", f"it counts more than {MOST_ROWS:,} records")
    return records


def _attributes(study: Study, schemes: Sequence[Scheme]) -> list[str]:
    """What the counts are of, perhaps some attributes only: nothing is joined. Refused where it does not fit."""
    own = [layout.scheme for layout in study.forms]
    for scheme in schemes:
        if scheme not in own:
            check_part(scheme, study)
    return sorted({name for scheme in schemes for name in scheme.schema.names})


def _group(share: Share) -> str:
    """Shares of the same tables, for as many sites, modulo the same number: they belong together."""
    layout = [[scheme.fingerprint, *map(list, tables)] for scheme, tables in share.layout]
    return hashlib.sha256(repr((share.modulus, share.sites, layout)).encode()).hexdigest()


def summed(files: Iterable[str | Path]) -> list[CountedPart]:
    """The counts of all sites, from the sums that each of them showed."""
    found = add([Share.load(file) for file in files])
    return [] if isinstance(found, Share) else found


def counted_parts(held: Sequence[Held]) -> list[CountedPart]:
    """The tables of all pushed files of counts, and of shares that are all there, added up."""
    plain = tuple(one["file"] for one in held if not one.get("share"))
    groups: dict[str, list[Held]] = {}
    for one in held:
        if one.get("share"):
            groups.setdefault(one["share"]["group"], []).append(one)
    whole = (same for same in groups.values() if len(same) == same[0]["share"]["sites"])
    return list(_added_up(plain, tuple(tuple(one["file"] for one in same) for same in whole)))


@lru_cache(maxsize=4)
def _added_up(plain: tuple[str, ...], sums: tuple[tuple[str, ...], ...]) -> tuple[CountedPart, ...]:
    """The tables in these files, read once: a file has the name of its digest, and never changes."""
    found = list(_plain(plain))
    for files in sums:
        found = merged_parts([*found, *summed(files)])
    return tuple(found)


#: Of each folder of a study, the files of counts that were added up last, and their sum.
_last: dict[Path, tuple[frozenset[str], tuple[CountedPart, ...]]] = {}
_adding = Lock()


def _plain(files: tuple[str, ...]) -> tuple[CountedPart, ...]:
    """The sum of files of counts. Where some came to those that were added up last, only these are read."""
    if not files:
        return ()
    with _adding:
        folder = Path(files[0]).parent
        known, found = _last.get(folder, (frozenset(), ()))
        if not known <= set(files):
            known, found = frozenset(), ()
        for file in sorted(set(files) - known):
            found = tuple(merged_parts([*found, *read_counts(Path(file))]))
        _last[folder] = frozenset(files), found
        return found
