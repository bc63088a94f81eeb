r"""A secure sum of the counts of several sites: no site shows its own, all learn the sum.

Every site splits its tables into one share for each site (``split``), keeps its own and sends the others. Every site
adds the shares that came to it, its own among them (``add``), and shows that sum. The sums of all sites together are
the counts of all (``add`` again). Any number of sites that work together, short of all but one, learn no more than the
sum of the others' tables; see ``sfumato.secrets.additive_shares``.

Each site must follow the rules, and shares must travel so that nobody else reads them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.arrays import Words
from sfumato.errors import ReleaseError
from sfumato.input_checks import given
from sfumato.randomness import Rng
from sfumato.released.counted import Columns, CountedPart, merged_parts
from sfumato.released.counts_file import (
    SHARE,
    VERSION,
    Entry,
    counted_part,
    read_document,
    read_entries,
    write_entries,
)
from sfumato.scheme import Scheme
from sfumato.secrets.additive_shares import MODULUS, added, additive_shares, check_modulus, check_sites

#: The scheme and the tables of each part: what the numbers of a share stand for.
Layout = tuple[tuple[Scheme, tuple[Columns, ...]], ...]

#: How many missing sites an error names.
_NAMED = 10


@dataclass(frozen=True, eq=False)
class Share:
    """A share of the counts of some sites, for one of them: numbers that are uniform on 0 .. modulus - 1.

    ``senders`` and ``to`` count the sites from 1. Once the shares of all senders are in it, it may be shown to anybody.
    """

    layout: Layout
    numbers: Words
    modulus: int
    sites: int
    senders: tuple[int, ...]
    to: int

    @property
    def complete(self) -> bool:
        """Whether it is the sum of what all sites sent."""
        return len(self.senders) == self.sites

    def save(self, path: str | Path, overwrite: bool = False) -> Path:
        """Write it as JSON, with its modulus."""
        about = {"modulus": self.modulus, "sites": self.sites, "senders": list(self.senders), "to": self.to}
        entries = _entries(self.layout, self.numbers)
        write_entries(path, {"format": SHARE, "version": VERSION} | about, entries, overwrite)
        return Path(path)

    @classmethod
    def load(cls, path: str | Path) -> Share:
        """Read a share."""
        path = Path(path)
        document: Any = read_document(path)
        if document.get("format") != SHARE:
            raise ReleaseError(f"{path}: is not a share of counts, as sfumato split writes it")
        modulus, sites, to = document.get("modulus"), document.get("sites"), document.get("to")
        try:
            check_modulus(modulus)
            check_sites(sites)
        except ReleaseError as problem:
            raise ReleaseError(f"{path}: {problem}") from None
        senders = document.get("senders")
        named = senders if isinstance(senders, list) else []
        proper = all(type(one) is int and 1 <= one <= sites for one in (*named, to))
        if not named or not proper or len(set(named)) < len(named):
            raise ReleaseError(f"{path}: senders and to must name sites from 1 to {sites}")
        parts = read_entries(document, path)
        layout = tuple((scheme, tuple(held)) for scheme, _, held in parts)
        numbers = _numbers(parts)
        if numbers.size and int(numbers.max()) >= modulus:
            raise ReleaseError(f"{path}: a share must lie below its modulus")
        return cls(layout, numbers, modulus, sites, tuple(named), to)


def split(
    parts: Sequence[CountedPart], sites: int, site: int, modulus: int = MODULUS, rng: Rng = None, clear: bool = False
) -> list[Share]:
    """The shares of a site's counts, the first for site 1.

    The sum will be there for all to see, so that counts of raw records are refused unless ``clear`` allows them.
    """
    check_sites(sites)
    if isinstance(site, bool) or not isinstance(site, int) or not 1 <= site <= sites:
        raise ReleaseError(f"site must be a number from 1 to {sites}, got {site!r} instead")
    if any(part.raw for part in parts) and not clear:
        raise ReleaseError("these are counts of raw records, whose sum would be shown as it is: say clear=True")
    held = _in_order(merged_parts(parts))
    layout = tuple((part.scheme, tuple(part.tables)) for part in held)
    counts = _numbers([(part.scheme, part.records, part.tables) for part in held])
    shares = additive_shares(counts, sites, modulus, rng)
    return [Share(layout, numbers, modulus, sites, (site,), to + 1) for to, numbers in enumerate(shares)]


def add(shares: Sequence[Share]) -> Share | list[CountedPart]:
    """The shares that all sites sent to one of them, as one to be shown; of those of all sites, the counts of all."""
    if not isinstance(shares, Sequence) or not all(isinstance(share, Share) for share in shares):
        raise ReleaseError(f"shares must be a list of those that the sites sent, got {given(shares)} instead")
    if not shares:
        raise ReleaseError("there are no shares to add")
    first = shares[0]
    for other in shares[1:]:
        if (other.modulus, other.sites) != (first.modulus, first.sites):
            raise ReleaseError("the shares have different moduli or numbers of sites: all sites must state the same")
        if other.layout != first.layout:
            raise ReleaseError("the shares are of different tables or schemes: all sites must count the same tables")
    every = range(1, first.sites + 1)
    total = added(np.stack([share.numbers for share in shares]), first.modulus)
    if all(share.complete for share in shares):
        _each_once("the sum", "", [share.to for share in shares], every)
        return [_checked(entry) for entry in _entries(first.layout, total)]
    if any(share.to != first.to for share in shares):
        raise ReleaseError("add the shares that were sent to one site: these were sent to different ones")
    senders = [sender for share in shares for sender in share.senders]
    _each_once("the share", f" for site {first.to}", senders, every)
    return Share(first.layout, total, first.modulus, first.sites, tuple(every), first.to)


def _each_once(what: str, whose: str, found: list[int], every: range) -> None:
    of = "from" if whose else "of"
    times = Counter(found)
    missing = [str(site) for site in every if site not in times]
    if missing:
        more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
        some = ", ".join(missing[:_NAMED]) + more
        if len(missing) == 1:
            raise ReleaseError(f"{what}{whose} {of} site {some} is missing: without it the others say nothing")
        raise ReleaseError(f"{what}s{whose} {of} sites {some} are missing: without them the others say nothing")
    if len(found) > len(every):
        twice = next(site for site in every if times[site] > 1)
        raise ReleaseError(f"{what}{whose} {of} site {twice} is there twice")


def _checked(entry: Entry) -> CountedPart:
    try:
        return counted_part(*entry, "the sum")
    except ReleaseError as problem:
        raise ReleaseError(f"{problem}; some of the shares are of another split, or of other tables") from None


def _in_order(parts: list[CountedPart]) -> list[CountedPart]:
    """The same parts and tables in an order that all sites share."""
    ordered = sorted(parts, key=lambda part: (part.scheme.fingerprint, sorted(part.tables)))
    return [
        CountedPart({c: part.tables[c] for c in sorted(part.tables)}, part.scheme, raw=part.raw, records=part.records)
        for part in ordered
    ]


def _numbers(entries: Sequence[tuple[Scheme, int, dict[Columns, Any]]]) -> Words:
    """All numbers of some parts in a row: of each the records, then its tables."""
    pieces = [piece for _, records, held in entries for piece in ([records], *held.values())]
    return np.concatenate([np.asarray(piece, dtype=np.uint64) for piece in pieces])


def _entries(layout: Layout, numbers: Words) -> list[Entry]:
    """The reverse."""
    out: list[Entry] = []
    at = 0
    for scheme, tables in layout:
        records, at = int(numbers[at]), at + 1
        held = {}
        for columns in tables:
            cells = int(np.prod([scheme.output_sizes[column] for column in columns]))
            held[columns], at = numbers[at : at + cells], at + cells
        out.append((scheme, records, held))
    return out
