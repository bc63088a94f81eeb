"""From rows to tables of counts: all that leaves a site which may share no rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod

import numpy as np

from sfumato.errors import EstimationError
from sfumato.evidence.asked_parts import asking
from sfumato.evidence.blocks import blocks
from sfumato.evidence.counting import counter
from sfumato.evidence.seen import columns
from sfumato.input_checks import check_names, given
from sfumato.release import Release
from sfumato.released.counted import CountedPart
from sfumato.released.counts_file import MOST_CELLS
from sfumato.released.part import Part
from sfumato.scheme import Scheme


def counted(release: Release, tables: Sequence[Sequence[str]] | None = None) -> Release:
    """The same records as tables of counts of the randomized answers, without rows and without ids.

    ``tables`` lists the attributes of each; without it every pair of attributes is counted. What comes of it is saved,
    loaded, concatenated and mined like any release, as far as the tables tell: the table of sex and age answers every
    question about sex and age.
    """
    if not isinstance(release, Release):
        raise EstimationError(
            f"counted takes a release, got {type(release).__name__} instead: randomize the table first"
        )
    if tables is not None and not isinstance(tables, Sequence):
        raise EstimationError(f'tables must look like [["sex", "age"], ["grade"]], got {given(tables)} instead')
    wanted = None if tables is None else [_names(names) for names in tables]
    if wanted is not None:
        if not wanted:
            raise EstimationError("tables must list the attributes of at least one table")
        for names in wanted:
            release.schema.select(names)
            asking(release, names)
    found = Release.of(_counted(part, wanted) for part in release.parts)
    if not any(isinstance(part, CountedPart) and part.tables for part in found.parts):
        raise EstimationError("there is nothing to count: every attribute carries additive noise, or is free text")
    return found


def _names(names: Sequence[str]) -> tuple[str, ...]:
    asked = (names,) if isinstance(names, str) else check_names(EstimationError, "a table of tables", names)
    if not asked or len(set(asked)) < len(asked):
        raise EstimationError(f"a table names each attribute once, and at least one; got {list(asked)}")
    return asked


def _counted(part: Part, wanted: list[tuple[str, ...]] | None) -> CountedPart:
    scheme, sizes = part.scheme, part.scheme.output_sizes
    if wanted is None:
        asked = [name for name in scheme.schema if _countable(scheme, name)]
        requests = list(combinations(asked, min(2, len(asked)))) if asked else []
    else:
        requests = [names for names in wanted if all(name in scheme.schema for name in names)]
        bare = next((name for names in requests for name in names if not _countable(scheme, name)), None)
        if bare is not None:
            what = "carries additive noise" if bare in scheme.noises else "is free text"
            raise EstimationError(f"{bare!r} {what} and has no table of counts: leave it out")
    shown = [set(columns(blocks(scheme, names, inverted=False))) for names in requests]
    held = list(dict.fromkeys(tuple(c for c in scheme.columns if c in own) for own in shown))
    cells = sum(prod(sizes[column] for column in own) for own in held)
    if cells > MOST_CELLS:
        raise EstimationError(
            f"the {len(held)} tables have {cells:,} cells, more than {MOST_CELLS:,}: name fewer or smaller ones"
        )
    count = counter(part)
    count.plan(held)
    found = {own: np.rint(count.counts(own)).astype(np.int64) for own in held}
    return CountedPart(found, scheme, raw=part.raw, records=len(part))


def _countable(scheme: Scheme, name: str) -> bool:
    return name not in scheme.noises and scheme.schema[name].listed
