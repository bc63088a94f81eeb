"""What the answers that are about to leave would add up to with those that people gave before."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from sfumato.forms import Forms
from sfumato.owner import ledger_people
from sfumato.owner.composition import GivenAnswer, raised, total
from sfumato.owner.ledger_file import Entry, LedgerFile
from sfumato.owner.ledger_rules import AskedAttribute, Composed, Names, asked_by
from sfumato.scheme import Scheme


def findings(
    file: LedgerFile,
    population: str,
    database: sqlite3.Connection,
    scheme: Scheme | Forms,
    key: str | None,
    places: dict[str, int],
) -> tuple[list[Composed], list[Entry], Names]:
    """What the answers to each attribute would add up to for the people in the table of now."""
    entries = file.entries(database, population)
    names = Names(entries, file.aliases(database))
    found = [Composed(asked, names.releases(asked.name)) for asked in asked_by(scheme, key is not None)]
    alike = names.alike([finding.asked.name for finding in found])
    for block in ledger_people.blocks(database):
        _compose(found, alike, block, names, key, places, counted=True)
    if any(names.repeated_under_a_key(finding.asked.name) for finding in found):
        # One who is everyone has answered all questions, but each with one value: those known may have changed theirs.
        with ledger_people.everyone_instead_of_nobody(database, population) as blocks:
            for block in blocks:
                _compose(found, alike, block, names, key, places, counted=False)
    return found, entries, names


def _compose(
    found: Sequence[Composed],
    alike: Sequence[Sequence[int]],
    block: ledger_people.PeopleBlock,
    names: Names,
    key: str | None,
    places: dict[str, int],
    counted: bool,
) -> None:
    """Add one block of people to what was found; ``alike`` are attributes of the scheme that the ledger calls one."""

    def now(asked: AskedAttribute) -> GivenAnswer:
        return asked.answer(key, block, block.truth(places.get(asked.name, 0)))

    for i, finding in enumerate(found):
        earlier = block.answers(names.of(finding.asked.name))
        before = total(block.size, earlier)
        composed = total(block.size, earlier, now(finding.asked))
        if counted:
            finding.add(composed, block, earlier)
        also = [found[j].asked for j in alike[i] if found[j].asked.form == finding.asked.form]
        if also:
            composed = total(block.size, [*earlier, *map(now, also)], now(finding.asked))
        finding.reaches(float(composed.gamma.max()), raised(before.gamma, composed.gamma))


def renumbered(
    database: sqlite3.Connection, asked: Sequence[AskedAttribute], names: Names, id: str, found: Sequence[Composed]
) -> bool:
    """Whether nobody was met before although the ids stand in another column than theirs did, or as many were asked."""
    before = [entry for one in asked for entry in names.of(one.name) if entry.people and not entry.plain]
    if not before or any(finding.met for finding in found):
        return False
    return all(entry.id != id for entry in before) or ledger_people.as_many(database, {e.release for e in before})
