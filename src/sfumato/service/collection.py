"""The service without HTTP: studies, tokens, responses and uploads over one database and one writer."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import Connection

from sfumato.released.part import Part
from sfumato.service import clock
from sfumato.service.clock import Clock
from sfumato.service.design.smaller import of_a_smaller_design
from sfumato.service.estimates import Estimates, answered
from sfumato.service.export import export, row_bytes
from sfumato.service.models.request import Models, Source
from sfumato.service.refusals import RefusalError
from sfumato.service.responses import Responses
from sfumato.service.settings import Settings
from sfumato.service.storage.database import Database, open_database
from sfumato.service.storage.traces import Traces
from sfumato.service.storage.writer import Writer
from sfumato.service.studies import Studies
from sfumato.service.tallies import told
from sfumato.service.tokens import Tokens
from sfumato.service.turns import Turns
from sfumato.service.upload import Upload
from sfumato.service.uploads import Uploads
from sfumato.service.worker import Worker

#: The most files of rows that are being downloaded: whoever reads slowly keeps one on the disk.
DOWNLOADS = 16
#: The most rows that are written into one file, and the most bytes that they take: they are mixed in memory.
MOST_WRITTEN, MOST_BYTES = 1 << 26, 1 << 30


class Collection:
    """Everything that one server holds. ``close`` writes what waits, then lets go of the database."""

    def __init__(self, database: Database, settings: Settings | None = None, now: Clock = clock.system) -> None:
        self.database, self.settings, self.clock = database, settings or Settings(), now
        self.writer = Writer(database.engine)
        self.studies = Studies(now)
        self.tokens = Tokens(now, self.studies)
        self.responses = Responses(self.writer, now, self.studies, self.tokens)
        self.uploads = Uploads(database.folder, self.writer, now, self.studies, self.settings)
        self.models = Models(self.settings.read_apart)
        self.looks = Turns(2, 64)  # at estimates
        self.downloads = Turns(1, DOWNLOADS)
        self._exports = database.folder / "exports"
        self._sent: list[Path] = []
        self.designs = Worker(
            "sfumato.service.design.answer",
            self.settings.longest_design,
            apart=self.settings.read_apart,
            advice=of_a_smaller_design,
        )
        self.writer.reload = self._load
        self.writer.renewed, self.writer.alone = database.renewed, database.alone
        self.writer.forget = Traces(database).forget
        with database.engine.connect() as connection:
            self._load(connection)
        self._sweep()

    def _sweep(self) -> None:
        """Delete what an earlier process left behind: uploads that nobody finished, downloads that broke off."""
        self.uploads.sweep()
        self.uploads.sweep_files()
        for path in self._exports.glob("*.parquet"):
            path.unlink(missing_ok=True)

    def _load(self, connection: Connection) -> None:
        self.studies.load(connection)
        self.tokens.load(connection)
        self.responses.load(connection)
        self.uploads.load(connection)

    @property
    def fresh(self) -> bool:
        """Whether nobody has a token yet, as at the first start."""
        return not any(token.role == "admin" and token.revoked is None for token in self.tokens)

    def estimates(self, study: str) -> Estimates:
        """Questions to what a study has collected so far."""
        return Estimates(self.studies[study], self._rows(study), self.uploads.counted(study))

    def _rows(self, study: str) -> list[Part]:
        """The tables of all rows that the study holds, and of none that were pushed as counts."""
        tallies = [*self.responses.collected(self.studies[study]).tallies(), *self.uploads.tallies(study)]
        return [part for part in (tally.part() for tally in tallies) if len(part)]

    def learned_from(self, study: str, names: Sequence[str]) -> Source:
        """What tells these attributes together: the tables that are kept, or all rows where these do not."""
        parts = self.estimates(study).about(names)
        answers = sum(len(part) for part in parts)
        if answered(lambda: all(told(part, names) for part in parts)):
            return Source(parts, None, answers)
        counted = tuple(part for part in self.uploads.counted(study) if told(part, names))
        return Source(counted, self._written(study), answers)

    def export(self, study: str) -> Path:
        """All rows of a study in a file, which the caller deletes, if they are enough."""
        asked = self.studies[study]
        if asked.scheme is None:
            rows = self.uploads.progress(study)["rows"]
            if rows < asked.minimum:
                raise RefusalError("too_few", f"{rows:,} rows so far", answers=rows, minimum=asked.minimum)
        else:
            held = self._rows(study)
            counted = [] if held else self.uploads.counted(study)  # they do not make a few rows many
            Estimates(asked, held, counted).check_enough()
        self._sent = [path for path in self._sent if path.exists()]
        if len(self._sent) >= DOWNLOADS:
            raise RefusalError("busy", "many are downloading: ask again in a while", seconds=10)
        self._sent.append(self._written(study))
        return self._sent[-1]

    def _written(self, study: str) -> Path:
        held = self.uploads.accepted(study)
        pushed = (one for one in held if one.about is not None and not one.about["counted"])
        rows = self.responses.collected(self.studies[study]).responses + sum(one.rows or 0 for one in pushed)
        if rows > MOST_WRITTEN or rows * row_bytes(self.studies[study]) > MOST_BYTES:
            raise RefusalError("not_possible", f"{rows:,} rows are more than a server sends: ask for estimates")
        self._exports.mkdir(mode=0o700, exist_ok=True)
        path = self._exports / f"{study}-{secrets.token_hex(8)}.parquet"
        try:
            export(path, self.database.engine, self.studies[study], self.uploads)
        except Exception:
            path.unlink(missing_ok=True)
            self._check_still_there(study, held)
            raise
        return path

    def _check_still_there(self, study: str, held: Sequence[Upload]) -> None:
        """Raise if one of these uploads was deleted: their files could not all be read."""
        if {one.id for one in held} - {one.id for one in self.uploads.accepted(study)}:
            raise RefusalError("busy", "an upload was deleted meanwhile: ask again", seconds=1)

    def close(self) -> None:
        self.designs.close()
        self.responses.save()
        self.writer.close()
        self.database.close()


def open_collection(
    folder: str | Path, url: str | None = None, settings: Settings | None = None, now: Clock = clock.system
) -> Collection:
    """The collection in a data folder, which is made where it is missing; ``url`` names a PostgreSQL database."""
    return Collection(open_database(Path(folder), url), settings, now)
