"""The owner's ledger: every release of every attribute, so that nobody's value is answered afresh twice unnoticed.

A fresh answer to a question that was answered before multiplies the likelihood ratios: ten answers under gamma = 3 over
four values raise the adversary's success from .50 to .815. A keyed repeat gives the same answer again and is free, as
long as the value has not changed; a changed value is a new answer, and is booked as one.
"""

from __future__ import annotations

import hashlib
import math
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sfumato.errors import ReleaseError
from sfumato.forms import Forms
from sfumato.input_checks import check_flags, path_of
from sfumato.owner import ledger_people
from sfumato.owner.answers import BatchDigests
from sfumato.owner.composition import total
from sfumato.owner.ledger_file import Entry, LedgerFile, ratio_text
from sfumato.owner.ledger_findings import findings, renumbered
from sfumato.owner.ledger_limits import Limits, check_not_below_spent, check_not_raised, keep_limits, kept_limits
from sfumato.owner.ledger_rules import Names, asked_by, by_attribute, folded, judge, tell
from sfumato.owner.ledger_total import check_total, person_total, raised_total
from sfumato.scheme import Scheme
from sfumato.secrets.keyed_answers import KeyedSource
from sfumato.secrets.keys import answer_secret, subkey

#: The population of an owner who names none.
EVERYBODY = "all records"


class Ledger:
    """A small SQLite file that the owner keeps beside the data; ``population`` names whose records are released.

    ``new=True`` begins one. ``limit`` is a bound on what one person's answers about an attribute may add up to, and
    ``person_limit`` on what all answers of one person may, over all attributes and rounds. The file keeps both; they
    can be lowered later, not raised, and not below what was spent. A lower limit holds for this object at once, and is
    kept in the file with the first release that goes through: a release that is refused leaves no limit behind.

    >>> import tempfile, sfumato as sf
    >>> schema = sf.Schema({"sex": sf.Categorical(("F", "M"))})
    >>> scheme = sf.Scheme(schema, {"sex": sf.channels.binary(.25, .25)})
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = Ledger(folder.name + "/ledger.sqlite", new=True)
    >>> with ledger.entry(scheme): pass
    >>> ledger.composed(scheme)["sex"]
    9.0
    >>> folder.cleanup()
    """

    def __init__(
        self,
        path: str | Path,
        population: str = EVERYBODY,
        new: bool = False,
        limit: float = math.inf,
        person_limit: float = math.inf,
    ) -> None:
        given = Limits(limit, person_limit)
        check_flags(ReleaseError, new=new)
        self.file = LedgerFile(path_of(ReleaseError, "path", path), new)
        self.population = self.file.population(population)
        with self.file.opened() as database, database:
            kept = kept_limits(self.path, database)
            check_not_raised(self.path, given, kept)
            check_not_below_spent(given, kept, self.spent_by_anybody)
            if new:  # nothing was spent that it could lock
                keep_limits(self.path, database, given)
        self.limits = given.with_kept(kept)

    @property
    def path(self) -> Path:
        return self.file.path

    @property
    def limit(self) -> float:
        return float(self.limits.attribute)

    @property
    def person_limit(self) -> float:
        return float(self.limits.person)

    @contextmanager
    def entry(
        self,
        scheme: Scheme | Forms,
        key: bytes | None = None,
        again: bool = False,
        id: str | None = None,
        draft: str | None = None,
    ) -> Iterator[Booking]:
        """Book a release: ``see`` is told who answers, ``settle`` books it before anything leaves the house.

        Nothing is ever struck out. What breaks off before it is settled was not booked, and is not there; what was
        settled may have left.
        """
        with self.file.opened() as database:
            check_flags(ReleaseError, again=again)
            booking = Booking(self, database, scheme, key, again, id, draft)
            yield booking
            booking.settle()

    def same(self, name: str, attribute: str) -> None:
        """Say that an attribute is one that was released before under another name; it is never taken back."""
        with self.file.opened() as database, database:
            known = {row[0] for row in database.execute("select attribute from answers union select name from aliases")}
            if folded(attribute) not in map(folded, known):
                raise ReleaseError(f"the ledger knows no attribute {attribute!r}: which one is {name!r} the same as?")
            names = Names((), self.file.aliases(database))
            if (first := names.first(name)) != names.first(attribute):  # all that had the name so far comes along
                database.execute("insert or replace into aliases values (?, ?)", (first, attribute))

    def composed(self, scheme: Scheme | Forms, key: bytes | None = None) -> dict[str, float]:
        """The gamma each attribute could reach once this scheme is released too, to people who were asked before.

        Under a key it is what they reach if their values have not changed since.
        """
        with self.file.opened() as database:
            ledger_people.begin(database)
            found = findings(self.file, self.population, database, scheme, fingerprint(key), {})[0]
        return {finding.asked.name: finding.worst for finding in by_attribute(found)}

    def spent(self) -> dict[str, float]:
        """The gamma that independent answers so far multiply to, for the person who gave most."""
        return self._spent(self.population)

    def total(self) -> float:
        """The gamma of all answers together, over all attributes and rounds, of the person who gave most."""
        return self._total(self.population)

    def _spent(self, population: str) -> dict[str, float]:
        with self.file.opened() as database:
            entries = self.file.entries(database, population)
            names = Names(entries, self.file.aliases(database))
            ledger_people.begin(database)
            ledger_people.add_everyone(database, population)
            out: dict[str, float] = {}
            for block in ledger_people.blocks(database):
                for name in dict.fromkeys(names.of(entry.attribute)[0].attribute for entry in entries):
                    answers = block.answers(names.of(name))
                    out[name] = max(out.get(name, 1.0), float(total(block.size, answers).gamma.max()))
            return out

    def _total(self, population: str) -> float:
        with self.file.opened() as database:
            ledger_people.begin(database)
            ledger_people.add_everyone(database, population)
            return person_total(database, population, self.file.entries(database, population))

    def spent_by_anybody(self) -> Limits:
        """What was spent about an attribute, and by a person, in whatever population."""
        with self.file.opened() as database:
            names = self.file.populations(database)
        of_attributes = [gamma for name in names for gamma in self._spent(name).values()]
        return Limits(max(of_attributes, default=1.0), max(map(self._total, names), default=1.0))

    def entries(self) -> list[Entry]:
        """Everything that was released of this population, oldest first."""
        with self.file.opened() as database:
            return self.file.entries(database, self.population)

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r}, population={self.population!r})"


class Booking:
    """One release about to be made: an account in the sense of ``owner.answers``, which sees digests and no values.

    ``draft`` is a digest of the answers where these outlive an interrupt: the very same ones are booked once.
    """

    def __init__(
        self,
        ledger: Ledger,
        database: sqlite3.Connection,
        scheme: Scheme | Forms,
        key: bytes | None,
        again: bool,
        id: str | None,
        draft: str | None = None,
    ) -> None:
        self.draft = draft
        self._ledger, self._database = ledger, database
        self._scheme, self._again, self._id = scheme, again, id
        self._key = fingerprint(key)
        # Digests of values are tested with the owner's key, which is not in the ledger.
        self._test = None if key is None else KeyedSource(subkey(answer_secret(key), "sfumato ledger values 2"))
        self._places: dict[str, int] = {}
        self._settled = False
        self._identity = ledger.file.identity()
        ledger_people.begin(database)
        if id is None and not self._is_booked():
            self._check()  # it is of everybody: what is refused at the end can be refused at the start
            database.commit()  # no other release shall wait for this one

    @property
    def secret(self) -> bytes:
        return self._ledger.file.secret()

    def see(self, seen: BatchDigests) -> None:
        """Take down who answers, and where answers are keyed, a digest of what is true of them."""
        truths = []
        if self._test is not None:
            self._places = {name: i for i, (names, _, _) in enumerate(seen.values) for name in names}
            truths = [self._test.words(asked, seen.people, [words])(0) for _, asked, words in seen.values]
        ledger_people.add(self._database, seen.people, truths, seen.form)

    def settle(self) -> None:
        """Check and book in one step that no other release comes between; after it the release may leave."""
        if self._settled:
            return
        file, database = self._ledger.file, self._database
        database.commit()
        database.execute("begin immediate")
        try:
            if file.identity() != self._identity:
                raise ReleaseError(f"{file.path}: the ledger was replaced meanwhile; nothing was booked: release again")
            if not self._is_booked():
                for line in self._check():
                    tell(line)
                self._write()
            self._keep_limits()
            database.commit()
        except BaseException:
            database.rollback()
            raise
        self._settled = True

    def _write(self) -> None:
        key, id, places = self._key, self._id, self._places
        answers = [
            (a.name, a.question, key, ratio_text(a.gamma), a.plain, id, a.domain, places.get(a.name), a.form)
            for a in asked_by(self._scheme, key is not None)
        ]
        whose, asked = self._ledger.population, self._scheme.fingerprint
        number = self._ledger.file.write(self._database, whose, asked, answers, self.draft)
        add_people = "insert into people (release, person, truth, form) select ?, person, truth, form from now"
        self._database.execute(add_people, (number,))

    def _keep_limits(self) -> None:
        """Keep the limits of this ledger with the release. What others booked meanwhile may have gone past them."""
        path, database, given = self._ledger.path, self._database, self._ledger.limits
        check_not_below_spent(given, kept_limits(path, database), self._ledger.spent_by_anybody)
        keep_limits(path, database, given)

    def _is_booked(self) -> bool:
        """Whether these answers were booked, and the work ended before they could leave."""
        return self._ledger.file.knows(self._database, self._ledger.population, self._scheme.fingerprint, self.draft)

    def _check(self) -> list[str]:
        """Refuse what must not be released; what the owner should know comes back as lines."""
        file, population = self._ledger.file, self._ledger.population
        each, entries, names = findings(file, population, self._database, self._scheme, self._key, self._places)
        asked, found = [finding.asked for finding in each], by_attribute(each)
        limits = self._ledger.limits.with_kept(kept_limits(self._ledger.path, self._database))  # lowered meanwhile
        lines = judge(found, self._again, limits.attribute, any(entry.key for entry in entries))
        if limits.person < math.inf:
            raised = raised_total(self._database, population, entries, asked, self._key, self._places)
            check_total(raised, limits.person)
        renamed = names.renamed(asked)
        if renamed is not None:
            lines.append(
                f"attribute {renamed[0]!r} is new to the ledger, but has the values of {renamed[1]!r}, which was "
                f"released before; if they are the same, say ledger.same({renamed[0]!r}, {renamed[1]!r})"
            )
        if not entries:
            lines += ledger_people.elsewhere(self._database, population)
        if self._id is not None and renumbered(self._database, asked, names, self._id, found):
            lines.append(
                f"none of these people is in an earlier release of the same attributes; if they are the same people "
                f"under new ids in {self._id!r}, their answers are fresh ones and the ledger does not see it"
            )
        return lines


def fingerprint(key: bytes | None) -> str | None:
    """What the ledger keeps of a key: enough to recognise it, nothing to recompute it from."""
    return None if key is None else hashlib.sha256(b"sfumato ledger 2" + answer_secret(key)).hexdigest()[:32]
