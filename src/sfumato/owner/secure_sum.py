"""The sum of the counts of several sites, of which none shows its own: see ``sfumato.released.shares``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.errors import ReleaseError
from sfumato.input_checks import check_flags, check_kind, given
from sfumato.randomness import Rng
from sfumato.release import Release
from sfumato.released.counted import CountedPart
from sfumato.released.shares import Share, add, split
from sfumato.secrets.additive_shares import MODULUS, check_sites, sum_of_tables


def split_counts(
    release: Release, sites: int, site: int, modulus: int = MODULUS, rng: Rng = None, clear: bool = False
) -> list[Share]:
    """The counts of one site as shares, one for each site: the first is for site 1, and so on.

    Each share by itself, and all of them but one together, are uniform numbers that say nothing. Keep your own, send
    each of the others to its site. ``clear`` allows counts of raw records, whose sum all will see.
    """
    return split(_counted_parts(release), sites, site, modulus, rng, clear)


def add_shares(shares: Sequence[Share]) -> Share | Release:
    """What all sites sent to one, as one share that this site shows; of those that all sites show, the counts."""
    found = add(shares)
    return found if isinstance(found, Share) else Release.of(found)


@overload
def secure_sum(tables: Sequence[Release], modulus: int = MODULUS, rng: Rng = None, clear: bool = False) -> Release: ...


@overload
def secure_sum(
    tables: Sequence[ArrayLike], modulus: int = MODULUS, rng: Rng = None, clear: bool = False
) -> NDArray[np.int64]: ...


def secure_sum(tables: Sequence[Any], modulus: int = MODULUS, rng: Rng = None, clear: bool = False) -> Any:
    """The sum of the tables of three or more sites, integer arrays or counted releases, over additive shares.

    All sites are played in one process, to try it out. Between sites each runs ``split_counts`` and ``add_shares``.

    >>> secure_sum([[1, 2], [10, 20], [100, 200]]).tolist()
    [111, 222]
    """
    check_flags(ReleaseError, clear=clear)
    if not isinstance(tables, Sequence):
        raise ReleaseError(f"tables must be a list with the table of each site, got {given(tables)} instead")
    if not any(isinstance(table, Release) for table in tables):
        return sum_of_tables(tables, modulus, rng)
    check_sites(len(tables))
    if not all(isinstance(table, Release) for table in tables):
        raise ReleaseError("secure_sum takes tables or counted releases, not both")
    sent = [split_counts(one, len(tables), site + 1, modulus, rng, clear) for site, one in enumerate(tables)]
    shown = [add_shares([shares[site] for shares in sent]) for site in range(len(tables))]
    return add_shares([one for one in shown if isinstance(one, Share)])


def _counted_parts(release: Release) -> list[CountedPart]:
    check_kind(ReleaseError, "release", release, Release, "a release of counts, as sf.counted makes it")
    parts = [part for part in release.parts if isinstance(part, CountedPart)]
    if not parts or len(parts) < len(release.parts):
        raise ReleaseError("only counts can be split and added: count the release first, sf.counted(release, tables)")
    return parts
