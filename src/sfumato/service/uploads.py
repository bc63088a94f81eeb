"""Uploads: releases that sites push, in pieces, taken whole or not at all, and counted once."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from sfumato.released.counted import CountedPart
from sfumato.service import reader
from sfumato.service.allowed_columns import AllowedColumns
from sfumato.service.clock import HOUR, Clock, hour_of
from sfumato.service.counted_files import counted_parts
from sfumato.service.joins import Joins
from sfumato.service.packed_tables import PackedTables
from sfumato.service.refusals import RefusalError
from sfumato.service.responses import check_id
from sfumato.service.settings import Settings
from sfumato.service.storage import tables
from sfumato.service.storage.writer import Alone, Writer
from sfumato.service.studies import Studies
from sfumato.service.study import Study
from sfumato.service.summed_tables import SummedTables
from sfumato.service.sweeping import FORGOTTEN, left_behind, unfinished
from sfumato.service.tallies import Tally
from sfumato.service.upload import Locks, Upload, without_waiting
from sfumato.service.upload_files import UploadFiles

_DIGEST = re.compile(r"[0-9a-f]{64}")
_u = tables.uploads.c


class Uploads:
    """All uploads of a server; files lie in its data folder, by study and digest."""

    def __init__(self, folder: Path, writer: Writer, clock: Clock, studies: Studies, settings: Settings) -> None:
        self.files, self._writer, self._clock = UploadFiles(folder / "uploads"), writer, clock
        self._studies, self._settings = studies, settings
        self._held: dict[tuple[str, str], Upload] = {}
        self._locks = Locks()
        self._joins = Joins(self.files.folder, writer, settings.read_apart)
        self._sums = defaultdict[str, SummedTables](SummedTables)

    def load(self, connection: Connection) -> None:
        """Read what the database holds."""
        rows = connection.execute(select(tables.uploads)).mappings().all()
        self._held = {(row["study"], row["id"]): Upload.read(row) for row in rows}
        self._joins.load(connection)
        self._sums.clear()

    # What is there.

    def find(self, study: str, id: str, token: str | None = None) -> Upload:
        """An upload; with ``token``, only that site's own."""
        self._studies[study]
        found = self._held.get((study, id))
        if found is None or (token is not None and found.token != token):
            raise RefusalError("not_found", "there is no such upload")
        return found

    def every(self, study: str, token: str | None = None) -> list[Upload]:
        """The uploads of a study; with ``token``, that site's own."""
        self._studies[study]
        held = [one for (of, _), one in sorted(self._held.items()) if of == study]
        return [one for one in held if token in (None, one.token)]

    def accepted(self, study: str) -> list[Upload]:
        return [one for one in self.every(study) if one.state == "accepted"]

    def progress(self, study: str) -> dict[str, int]:
        held = self.accepted(study)
        whole = sum(one.rows or 0 for one in held if one.about is not None and one.about["attributes"] is None)
        joined = sum(int(one.about["rows"]) for one in self._joined(study).values())
        summed = sum(part.records for part in counted_parts(self._shares(study)))
        return {"uploads": len(held), "rows": whole + joined + summed}

    def _shares(self, study: str) -> list[dict[str, Any]]:
        return [one for one in self._described(study) if one["share"] is not None]

    def public(self, upload: Upload) -> dict[str, Any]:
        return {
            "id": upload.id,
            "state": upload.state,
            "received": self.files.received(upload),
            "bytes": upload.bytes,
            "digest": upload.digest,
            "rows": upload.rows,
            "receipt": upload.receipt,
            "problem": upload.problem,
            "note": self._joins.note(upload),
        }

    # Sweeping.

    @property
    def unfinished(self) -> list[Upload]:
        """What nobody went on with for long."""
        return unfinished(list(self._held.values()), self._clock())

    def sweep(self) -> None:
        """Forget uploads that nobody went on with: neither their bytes nor their ids are kept."""
        for upload in self.unfinished:
            with suppress(RefusalError), without_waiting(self.lock(upload)):  # the next one sweeps what is busy
                known = self._held.get((upload.study, upload.id))
                if known is not None and known.state in FORGOTTEN:
                    self._writer.now(Alone(partial(_forget, upload), self._forgotten))

    def _forgotten(self, upload: Upload) -> None:
        del self._held[upload.study, upload.id]
        self.files.remove(upload)

    def sweep_files(self) -> None:
        """Delete files that belong to no upload. At the start only: later there are some that nobody knows yet."""
        where = {"arriving": self.files.arriving, "accepted": self.files.taken}
        known = [where[one.state](one) for one in self._held.values() if one.state in where]
        for path in left_behind(self.files.folder, known):
            path.unlink(missing_ok=True)

    # Arriving.

    def announce(self, study: str, id: str, token: str, digest: str, size: int) -> Alone:
        """A file is to come; the outcome is the upload, and whether it is new."""
        asked = self._studies[study]
        check_id(id)
        if not _DIGEST.fullmatch(digest):
            raise RefusalError("malformed", "digest must be a SHA-256 in 64 hexadecimal digits", where="digest")
        if not 1 <= size <= self._settings.largest_upload:
            most = self._settings.largest_upload
            raise RefusalError("too_large", f"an upload has 1 to {most:,} bytes", most=most)

        def run(connection: Connection) -> tuple[Upload, bool]:
            known = self._held.get((study, id))
            if known is not None:
                if (known.digest, known.bytes, known.token) != (digest, size, token):
                    raise RefusalError("conflict", "this id was used for another file, or with another token")
                return known, False
            asked.check_taking(self._clock())
            self._check_new(study, token, digest)
            made = Upload(study, id, token, digest, size, "arriving", hour_of(self._clock()))
            row = {name: getattr(made, name) for name in ("study", "id", "token", "digest", "bytes", "state", "hour")}
            connection.execute(insert(tables.uploads).values(**row))
            return made, True

        return Alone(run, lambda outcome: self._keep(outcome[0]))

    def _check_new(self, study: str, token: str, digest: str) -> None:
        held = self.every(study)
        if any(one.digest == digest and one.state == "accepted" for one in held):
            raise RefusalError("conflict", "this very file was accepted before")
        states = Counter(one.state for one in held if one.token == token)
        if states["arriving"] >= self._settings.most_uploads:
            raise RefusalError("too_many", "too many uploads of this site are unfinished: finish those", seconds=60)
        if states["refused"] >= self._settings.most_refused:
            raise RefusalError("too_many", "many files of this site were refused: come back in a week", seconds=HOUR)

    def _keep(self, upload: Upload) -> None:
        self._held[upload.study, upload.id] = upload

    def lock(self, upload: Upload) -> threading.Lock:
        """One piece at a time."""
        return self._locks.of(upload.study, upload.id)

    # Taking.

    def commit(self, study: str, id: str, token: str, may: AllowedColumns) -> tuple[Upload, bool]:
        """Check the whole file and take it; the upload, and whether it is new. Waits for the disk."""
        with without_waiting(self.lock(self.find(study, id, token))):
            upload = self.find(study, id, token)
            if upload.state == "accepted":
                return upload, False
            if upload.state == "refused":
                raise RefusalError("refused", upload.problem or "it was refused")
            if upload.state == "deleted":
                raise RefusalError("deleted", "this upload was deleted")
            asked = self._studies[study]
            asked.check_taking(self._clock())
            there = self.files.received(upload)
            if there != upload.bytes:
                raise RefusalError("conflict", f"{there} of {upload.bytes} bytes have arrived", received=there)
            with reader.in_line(token), self._taking(study):
                return self._take(upload, asked, may), True

    def _taking(self, study: str) -> threading.Lock:
        """One file of a study after the other: what is compared with all that was taken must see all of it."""
        return self._locks.of(study, "")

    def _take(self, upload: Upload, study: Study, may: AllowedColumns) -> Upload:
        """Columns of a party are joined with those of others at once; a file with which that fails is not kept."""
        try:
            with self.files.looked_at(upload) as file:
                about, counts = self._look(file, upload, study)
                may.check(about, study)
            self.files.take(replace(upload, about=about))
            upload = self._finish(upload, "accepted", about=about, counts=counts)
            if about["attributes"] is not None:
                self._joins.tables(study, about["link"], self.by_link(study.id)[about["link"]], wait=True)
        except RefusalError as refusal:
            if refusal.code == "refused":
                self._refuse(upload, refusal)
            raise
        return upload

    def _refuse(self, upload: Upload, refusal: RefusalError) -> None:
        self._finish(upload, "refused", problem=str(refusal))
        self.files.remove(upload)

    def _look(self, path: Path, upload: Upload, study: Study) -> tuple[dict[str, Any], bytes]:
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != upload.digest:
                raise RefusalError("refused", "the bytes that arrived are not those of the announced digest")
        self._check_new(study.id, "", upload.digest)
        held, written = self._described(study.id), self.files.rewritten(upload)
        return reader.read(study, path, held, self._settings.read_apart, written)

    def _described(self, study: str) -> list[dict[str, Any]]:
        """The accepted uploads, as the reading process needs them."""
        return [
            {"id": one.id, "file": str(self.files.taken(one)), **one.about}
            for one in self.accepted(study)
            if one.about is not None
        ]

    def counted(self, study: str) -> list[CountedPart]:
        """The tables of sites that pushed counts, or shares of them that are all there."""
        return counted_parts([one for one in self._described(study) if one["counted"]])

    def tallies(self, study: str) -> list[Tally]:
        """The tables of all rows that were pushed, those of several parties joined."""
        whole = {f"upload {one.id}": one.packed for one in self.accepted(study) if one.packed is not None}
        joined = {f"link {link}": packed for link, packed in self._joined(study).items()}
        return self._sums[study].of(self._studies[study], {**whole, **joined})

    # Parties that hold some columns each.

    def _joined(self, study: str) -> dict[str, PackedTables]:
        """The tables of the records whose columns are all there, by the key of their pseudonyms."""
        asked = self._studies[study]
        return {link: self._joins.tables(asked, link, held) for link, held in self.by_link(study).items()}

    def by_link(self, study: str) -> dict[str, list[dict[str, Any]]]:
        """The files that hold some columns only, by the key of their pseudonyms."""
        found: dict[str, list[dict[str, Any]]] = {}
        for one in self._described(study):
            if one["attributes"] is not None:
                found.setdefault(one["link"], []).append(one)
        return found

    def _finish(
        self,
        upload: Upload,
        state: str,
        about: dict[str, Any] | None = None,
        counts: bytes | None = None,
        problem: str | None = None,
    ) -> Upload:
        packed = None if about is None or counts is None else PackedTables(about, counts)
        done = replace(upload, state=state, about=about, problem=problem, packed=packed)
        row = {
            "state": state,
            "row_count": done.rows,
            "parts": None if about is None else json.dumps(about),
            "counts": counts,
            "problem": problem,
        }

        def run(connection: Connection) -> Upload:
            mine = (_u.study == upload.study, _u.id == upload.id)
            connection.execute(update(tables.uploads).where(*mine).values(**row))
            return done

        found: Upload = self._writer.now(Alone(run, self._keep))
        return found

    def delete(self, study: str, id: str) -> Upload:
        """Take the rows out again; the id stays."""
        upload = self.find(study, id)
        with without_waiting(self.lock(upload)):
            upload = self.find(study, id)
            if upload.state == "deleted":
                return upload
            done = self._finish(upload, "deleted")
            self.files.remove(upload)
        if upload.about is not None and upload.about["attributes"] is not None:
            self._joins.drop(study, upload.about["link"])
        return done


def _forget(upload: Upload, connection: Connection) -> Upload:
    connection.execute(delete(tables.uploads).where(_u.study == upload.study, _u.id == upload.id))
    return upload
