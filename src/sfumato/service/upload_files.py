"""Where the bytes of uploads lie: those that arrive by their id, those that were taken by their digest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sfumato.service.counted_files import is_json
from sfumato.service.refusals import RefusalError, busy
from sfumato.service.upload import Upload
from sfumato.writing.whole_files import sync


class UploadFiles:
    """The files of all uploads, in a folder for each study.

    Sites choose the ids. No id has a dot in it, so that what arrives never has the name of what was taken.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def taken(self, upload: Upload) -> Path:
        """Where the file of an accepted upload lies."""
        kind = "json" if upload.about is not None and upload.about["counted"] else "parquet"
        return self.folder / upload.study / f"{upload.digest}.{kind}"

    def arriving(self, upload: Upload) -> Path:
        """Where bytes lie until all of them are there and were looked at."""
        return self.folder / upload.study / f"{upload.id}.arriving"

    def rewritten(self, upload: Upload) -> Path:
        """Where columns or counts lie, as the server wrote them, until they are taken instead of what arrived."""
        return self.folder / upload.study / f"{upload.id}.rewritten"

    def received(self, upload: Upload) -> int:
        """How many bytes have arrived."""
        if upload.state != "arriving":
            return upload.bytes
        path = self.arriving(upload)
        return path.stat().st_size if path.exists() else 0

    def append(self, upload: Upload, offset: int, piece: bytes) -> int:
        """Write bytes that follow those which are there; how many there are now."""
        if upload.state != "arriving":
            raise RefusalError("conflict", f"the upload is {upload.state}", received=upload.bytes)
        path = self.arriving(upload)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        there = self.received(upload)
        if offset != there:
            raise RefusalError("conflict", f"{there} bytes have arrived: go on from there", received=there)
        if there + len(piece) > upload.bytes:
            raise RefusalError("too_large", "more bytes than were announced", most=upload.bytes)
        try:
            with path.open("ab") as file:
                file.write(piece)
        except OSError:
            raise busy() from None
        return there + len(piece)

    @contextmanager
    def looked_at(self, upload: Upload) -> Iterator[Path]:
        """All that arrived, for the moment under a name by which programs know its kind."""
        arrived = self.arriving(upload)
        named = arrived.with_name(arrived.name + (".json" if is_json(arrived) else ".parquet"))
        arrived.replace(named)
        try:
            yield named
        finally:
            named.replace(arrived)

    def take(self, upload: Upload) -> None:
        """Move all that arrived, or what was written of it, to where accepted files lie, on the disk."""
        arrived, written, taken = self.arriving(upload), self.rewritten(upload), self.taken(upload)
        kept = written if written.exists() else arrived
        sync(kept)
        kept.replace(taken)
        arrived.unlink(missing_ok=True)
        sync(taken.parent)

    def remove(self, upload: Upload) -> None:
        """Delete what there is of an upload. What was taken under its digest is another's, unless it was accepted."""
        self.arriving(upload).unlink(missing_ok=True)
        self.rewritten(upload).unlink(missing_ok=True)
        if upload.state == "accepted":
            self.taken(upload).unlink(missing_ok=True)
