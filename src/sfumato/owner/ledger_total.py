"""What all answers of one person add up to, over all attributes and all releases."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

from sfumato.arrays import Array
from sfumato.channels.ratios import as_float, product
from sfumato.errors import ReleaseError
from sfumato.owner import ledger_people
from sfumato.owner.composition import GivenAnswer, raised, total
from sfumato.owner.ledger_file import Entry
from sfumato.owner.ledger_rules import AskedAttribute, shown


def person_total(database: sqlite3.Connection, population: str, entries: Sequence[Entry]) -> float:
    """The gamma that the independent answers of the person with most of them multiply to.

    Attributes that are answered together are one answer. Somebody of whom it is not known what they were asked may have
    been asked everything.
    """
    questions = _questions(entries)
    with ledger_people.everyone_instead_of_nobody(database, population) as known:
        most = max((float(_of_block(block, questions).max()) for block in known), default=1.0)
    return max([most, *(float(_of_block(block, questions).max()) for block in ledger_people.blocks(database))])


def raised_total(
    database: sqlite3.Connection,
    population: str,
    entries: Sequence[Entry],
    asked: Sequence[AskedAttribute],
    key: str | None,
    places: dict[str, int],
) -> float:
    """The most that the answers of somebody come to for whom what is asked now adds something; 1 where it adds nothing.

    Who repeats answers that were given before is told nothing new of, whatever they add up to.
    """
    questions = _questions(entries)
    now = list({(one.question, one.form): one for one in asked}.values())
    most = 1.0
    with ledger_people.everyone_instead_of_nobody(database, population) as known:
        for block in known:
            most = max(most, _raised(block, questions, now, key, {}))
    for block in ledger_people.blocks(database):
        most = max(most, _raised(block, questions, now, key, places))
    return most


def _questions(entries: Sequence[Entry]) -> list[Entry]:
    return list({(e.release, e.question, e.form): e for e in entries}.values())


def _of_block(block: ledger_people.PeopleBlock, questions: Sequence[Entry]) -> Array:
    return total(block.size, block.given(_certain(block, questions))).gamma


def _raised(
    block: ledger_people.PeopleBlock,
    questions: Sequence[Entry],
    now: Sequence[AskedAttribute],
    key: str | None,
    places: dict[str, int],
) -> float:
    told = block.given(_certain(block, questions))
    before = total(block.size, told).gamma
    return max(
        raised(before, total(block.size, [*told, *(_answer(one, block, key, places) for one in form)]).gamma)
        for form in _by_form(block, now)
    )


def _certain(block: ledger_people.PeopleBlock, questions: Sequence[Entry]) -> list[Entry]:
    """The questions that these people may have answered: of forms that nobody was told apart by, the worst one's."""
    out, doubtful = [], dict[int, dict[int, list[Entry]]]()
    for entry in questions:
        if entry.form is None or (entry.people and block.known):
            out.append(entry)
        else:
            doubtful.setdefault(entry.release, {}).setdefault(entry.form, []).append(entry)
    for forms in doubtful.values():
        out += max(forms.values(), key=lambda form: product(as_float(entry.gamma) for entry in form))
    return out


def _by_form(block: ledger_people.PeopleBlock, now: Sequence[AskedAttribute]) -> Iterator[list[AskedAttribute]]:
    """What is asked now, at once where everybody's form is known, else form by form."""
    if block.forms_known or not now:
        yield list(now)
        return
    forms: dict[int | None, list[AskedAttribute]] = {}
    for one in now:
        forms.setdefault(one.form, []).append(one)
    yield from forms.values()


def _answer(
    one: AskedAttribute, block: ledger_people.PeopleBlock, key: str | None, places: dict[str, int]
) -> GivenAnswer:
    return one.answer(key, block, block.truth(places.get(one.name, 0)))


def check_total(gamma: float, limit: float) -> None:
    """Refuse what would take a person past the limit."""
    if gamma > limit:
        raise ReleaseError(
            f"all answers of one person together would add up to a gamma of {shown(gamma)}, past the limit of "
            f"{shown(limit)} for a person that was set for this ledger: ask fewer people, fewer questions, or no more"
        )
