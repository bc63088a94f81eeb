r"""Additive shares: a table as pieces of which all but one together say nothing.

    table = Σ_s share_s  mod m,        share_1 .. share_{s-1} uniform on 0 .. m - 1, independent

Any s - 1 of the s shares are uniform and independent, whatever the table. A sum of such tables is the sum of their
shares, so that sites can add what none of them shows: Ma (2006), section 1.3.2, names the problem; his ring of sites
gives away the value of a site whose two neighbours work together, and additive shares do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.arrays import Words
from sfumato.errors import ReleaseError
from sfumato.randomness import Rng, Source, source, warn_of_seed

#: What sums are taken modulo, unless another number is stated: far beyond any count.
MODULUS = 1 << 62
#: The most sites of one sum: each sends a share to every other.
MOST_SITES = 1024
_LARGEST = 1 << 63  # two residues of a larger modulus would not add up in 64 bits


def residues(src: Source, modulus: int, n: int) -> Words:
    """n integers exactly uniform on 0 .. modulus - 1: 64-bit words beyond the last whole multiple are drawn again."""
    last = np.uint64((1 << 64) // modulus * modulus - 1)
    out = np.empty(n, dtype=np.uint64)
    src.fill(out.view(np.uint8))
    while (bad := np.flatnonzero(out > last)).size:
        again = np.empty(bad.size, dtype=np.uint64)
        src.fill(again.view(np.uint8))
        out[bad] = again
    out %= np.uint64(modulus)
    return out


def additive_shares(table: ArrayLike, sites: int, modulus: int = MODULUS, rng: Rng = None) -> Words:
    """The shares of a table of counts, one for each site along the first axis.

    >>> shares = additive_shares([3, 0, 5], 4)
    >>> shares.shape, added(shares).tolist()
    ((4, 3), [3, 0, 5])
    """
    check_sites(sites)
    check_modulus(modulus)
    warn_of_seed(rng, "shares")
    counts = whole_numbers(table)
    if counts.size and int(counts.max()) * sites >= modulus:
        raise ReleaseError(
            f"the counts must be less than modulus / sites = {modulus // sites}, so that their sum cannot pass the "
            f"modulus: choose a larger modulus"
        )
    drawn = residues(source(rng), modulus, (sites - 1) * counts.size).reshape(sites - 1, *counts.shape)
    m = np.uint64(modulus)
    last = (counts.astype(np.uint64) + (m - added(drawn, modulus))) % m
    return np.concatenate([drawn, last[None]])


def added(shares: ArrayLike, modulus: int = MODULUS) -> Words:
    """The sum along the first axis, modulo the modulus."""
    check_modulus(modulus)
    m = np.uint64(modulus)
    every = np.asarray(shares, dtype=np.uint64)
    total = np.zeros(every.shape[1:], dtype=np.uint64)
    for one in every:
        total = (total + one % m) % m
    return np.asarray(total, dtype=np.uint64)


def sum_of_tables(tables: Sequence[ArrayLike], modulus: int = MODULUS, rng: Rng = None) -> NDArray[np.int64]:
    """The sum of the sites' tables, made as the sites make it: each sees its own table, and one share of each other.

    >>> sum_of_tables([[1, 2], [10, 20], [100, 200]]).tolist()
    [111, 222]
    """
    check_sites(len(tables))
    held = [whole_numbers(table) for table in tables]
    shapes = {one.shape for one in held}
    if len(shapes) > 1:
        raise ReleaseError(f"the tables must have one shape, got {' and '.join(map(str, sorted(shapes)))}")
    sent = np.stack([additive_shares(table, len(held), modulus, rng) for table in held])
    shown = np.stack([added(sent[:, site], modulus) for site in range(len(held))])
    return added(shown, modulus).astype(np.int64)


def whole_numbers(table: ArrayLike) -> NDArray[np.int64]:
    """A table of counts, if it is one."""
    given: NDArray[Any] = np.asarray(table)
    if given.dtype.kind not in "iu" and not (given.dtype.kind == "f" and bool((given == np.floor(given)).all())):
        raise ReleaseError(f"a table of counts must hold whole numbers, got {given.dtype} instead")
    if given.size and (given.min() < 0 or given.max() >= _LARGEST):
        raise ReleaseError("counts must not be negative, nor beyond 2^63")
    return given.astype(np.int64)


def check_sites(sites: int) -> None:
    """Refuse very many, and fewer than three: of two, each finds the other's table by taking its own from the sum."""
    if isinstance(sites, bool) or not isinstance(sites, int | np.integer) or sites < 3:
        raise ReleaseError(
            f"a secure sum needs at least three sites, got {sites!r}: of two, each knows the other's table from the sum"
        )
    if sites > MOST_SITES:
        raise ReleaseError(f"a secure sum takes at most {MOST_SITES} sites: let some of them count together first")


def check_modulus(modulus: int) -> None:
    """Refuse a modulus that 64 bits cannot add in."""
    if isinstance(modulus, bool) or not isinstance(modulus, int) or not 2 <= modulus <= _LARGEST:
        raise ReleaseError(f"modulus must be a whole number from 2 to 2^63, got {modulus!r} instead")
