"""Responses: one person's released codes each, stored once however often they are sent."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from sfumato.service.clock import Clock, hour_of
from sfumato.service.collected import Collected
from sfumato.service.receipts import response_receipt
from sfumato.service.refusals import RefusalError
from sfumato.service.storage import tables
from sfumato.service.storage.writer import Alone, Writer
from sfumato.service.studies import Studies
from sfumato.service.study import Study
from sfumato.service.tokens import Token, Tokens, mark

_ID = re.compile(r"[A-Za-z0-9_-]{16,64}")
_r = tables.responses.c
_KNOWN = select(_r.id, _r.receipt).where(_r.study == bindparam("of"), _r.id.in_(bindparam("ids", expanding=True)))
_INSERT = insert(tables.responses)


@dataclass(frozen=True, slots=True)
class Report:
    """A response that fits its study, on its way to the disk. An invitation comes as its hash and its mark."""

    study: str
    id: str
    form: int
    codes: bytes
    receipt: bytes
    invitation: str | None = None
    mark: str | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """The outcome: ``accepted``, or ``replayed`` where it was there already."""

    status: str
    id: str
    receipt: bytes

    def public(self) -> dict[str, str]:
        return {"status": self.status, "id": self.id, "receipt": self.receipt.hex()}


def check_id(id: Any) -> str:
    """An id that a client made."""
    if not isinstance(id, str) or not _ID.fullmatch(id):
        raise RefusalError("malformed", "an id has 16 to 64 characters out of A-Z, a-z, 0-9, - and _", where="id")
    return id


class Responses:
    """Checks responses, and writes all that wait in one transaction."""

    def __init__(self, writer: Writer, clock: Clock, studies: Studies, tokens: Tokens) -> None:
        self._writer, self._clock, self._studies, self._tokens = writer, clock, studies, tokens
        self._hour = hour_of(clock())
        self._collected: dict[str, Collected] = {}

    def load(self, connection: Connection) -> None:
        """Count what the database holds."""
        for study in self._studies:
            held = Collected.load(connection, study, self._hour)
            self._collected[study.id] = held
            self._hour = max(self._hour, held.last)  # hours never go back

    def collected(self, study: Study) -> Collected:
        """What the study has collected."""
        if study.id not in self._collected or self._collected[study.id].layouts is not study.forms:
            held = self._collected.get(study.id)
            if held is None or not held.responses:  # a draft whose scheme was changed
                self._collected[study.id] = Collected(study)
        return self._collected[study.id]

    def report(
        self,
        study: str,
        id: Any,
        fingerprint: str,
        form: int | None,
        answers: Mapping[str, Any],
        token: Token | None = None,
        secret: str | None = None,
    ) -> Report:
        """Check a response; what comes out can be written."""
        known = token is not None and token.study in (None, study)
        asked = self._studies[study] if known else self._studies.public(study)
        check_id(id)
        asked.check_taking(self._clock())
        invited = token if token is not None and token.role == "invitation" else None
        if asked.document["access"] == "invitation" and invited is None:
            raise RefusalError("unauthorized", "this study takes invitations: Authorization: Bearer TOKEN")
        if invited is not None and invited.study != study:
            raise RefusalError("forbidden", "this invitation is to another study")
        layout = asked.layout(form, fingerprint)
        codes = layout.pack(answers)
        made = response_receipt(study, id, fingerprint, form or 0, layout.spelled(codes))
        if invited is None or secret is None:
            return Report(study, id, form or 0, codes, made)
        return Report(study, id, form or 0, codes, made, invited.hash, mark(secret, id))

    # What the writer calls, in its own thread.

    def write(self, connection: Connection, jobs: Sequence[Report]) -> list[Any]:
        """The outcome of each report, inside one transaction."""
        now = self._clock()
        self._hour = max(self._hour, hour_of(now))
        outcomes: list[Any] = [None] * len(jobs)
        by_study: dict[str, list[int]] = {}
        for place, job in enumerate(jobs):
            by_study.setdefault(job.study, []).append(place)
        fresh: list[dict[str, Any]] = []
        marks: dict[str, str] = {}
        for study, places in by_study.items():
            found = connection.execute(_KNOWN, {"of": study, "ids": [jobs[place].id for place in places]})
            known: dict[str, bytes] = {id: bytes(kept) for id, kept in found}
            for place in places:
                job = jobs[place]
                try:
                    if job.id in known:
                        outcomes[place] = _again(job, known[job.id])
                        continue
                    self._studies[study].check_taking(now)  # it may have closed while this waited
                    self._check_invitation(job, marks)
                except RefusalError as refusal:
                    outcomes[place] = refusal
                    continue
                known[job.id] = job.receipt
                outcomes[place] = Stored("accepted", job.id, job.receipt)
                row = (job.study, job.id, job.form, job.codes, job.receipt, self._hour)
                fresh.append(dict(zip(_COLUMNS, row, strict=True)))
        if fresh:
            connection.execute(_INSERT, fresh)
        self._tokens.use(connection, marks)
        return outcomes

    def _check_invitation(self, job: Report, marks: dict[str, str]) -> None:
        if job.invitation is None or job.mark is None:
            return
        before = marks.get(job.invitation) or self._tokens.marked(job.invitation)
        if before not in (None, job.mark):
            raise RefusalError("invitation_used", "this invitation was used for another response")
        marks[job.invitation] = job.mark

    def committed(self, jobs: Sequence[Report], outcomes: Sequence[Any]) -> None:
        """Count what is on the disk now."""
        turned = set()
        for job, outcome in zip(jobs, outcomes, strict=True):
            if isinstance(outcome, Stored) and outcome.status == "accepted":
                held = self.collected(self._studies[job.study])
                if held.add(job.form, job.codes, self._hour):
                    turned.add(job.study)
                if job.invitation is not None and job.mark is not None:
                    self._tokens.used({job.invitation: job.mark})
        for study in turned:
            self._writer.later(Alone(partial(self._save, study)))

    # Asking and taking back.

    def find(self, connection: Connection, study: str, id: str) -> Stored:
        """Whether a response is there."""
        self._studies.public(study)
        found = connection.execute(_KNOWN, {"of": study, "ids": [check_id(id)]}).first()
        if found is None:
            raise RefusalError("not_found", "there is no such response")
        if not found.receipt:
            raise _deleted()
        return Stored("accepted", id, bytes(found.receipt))

    def delete(self, study: str, id: str) -> Alone:
        """Remove the codes and what could be computed from them; the id stays, so that a late retry finds it."""
        self._studies.public(study)
        mine = (_r.study == study, _r.id == check_id(id))

        def run(connection: Connection) -> Any:
            found = connection.execute(select(_r.form, _r.codes, _r.hour).where(*mine)).first()
            if found is None:
                raise RefusalError("not_found", "there is no such response")
            connection.execute(update(tables.responses).where(*mine).values(codes=None, receipt=b""))
            connection.execute(delete(tables.snapshots).where(tables.snapshots.c.study == study))
            return found

        def then(found: Any) -> None:
            if found.codes is not None:
                held = self._collected[study]
                held.remove(found.form, bytes(found.codes), found.hour)
                held.stale = True  # written with the next hour: all tables for each who withdraws would keep others out

        return Alone(run, then)

    def save(self) -> None:
        """Write down the tables of finished hours, where that was not done yet."""
        for study, held in list(self._collected.items()):
            if held.stale:
                self._writer.now(Alone(partial(self._save, study)))

    def _save(self, study: str, connection: Connection) -> None:
        """What is held when it is written: after a failure that is not what was held when it was to be written."""
        self._collected[study].save(connection)


_COLUMNS = ("study", "id", "form", "codes", "receipt", "hour")


def _again(job: Report, known: bytes) -> Stored | RefusalError:
    if not known:
        return _deleted()
    if known != job.receipt:
        return RefusalError("conflict", "this id was used for other answers")
    return Stored("replayed", job.id, job.receipt)


def _deleted() -> RefusalError:
    return RefusalError("deleted", "this response was deleted; its id is not used again")
