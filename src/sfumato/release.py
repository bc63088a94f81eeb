"""The release: randomized rows together with the public scheme that made them. Only this crosses the wall."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.errors import ReleaseError, SchemeError
from sfumato.forms import merged
from sfumato.input_checks import check_flags, check_kind, check_names, path_of
from sfumato.printable import many, printable
from sfumato.reading import tables
from sfumato.reading.file_stamp import Stamp, stamp
from sfumato.reading.spark_session import is_spark
from sfumato.released.additive_columns import NoisyNumbers, in_intervals, noisy_numbers, warn_of_bins_not_told
from sfumato.released.counted import CountedPart
from sfumato.released.counts_file import read_counts, write_counts
from sfumato.released.description import check_matrices, part_documents, read_description
from sfumato.released.joining import check_alike, check_ids, check_links, join_schemes, match, with_one_id_type
from sfumato.released.part import Part, check_no_texts, held, several_parts
from sfumato.released.release_folder import folder_parts
from sfumato.released.spark_raw import raw_part
from sfumato.released.writer import Writer, check_codes, id_kind
from sfumato.schema import Schema
from sfumato.scheme import Scheme
from sfumato.secrets.pseudonyms import Pseudonyms, decoded, hexadecimal, id_text

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Part", "Release"]


class Release:
    """Randomized rows and their scheme; several parts where rows come from parties with different schemes."""

    def __init__(
        self, rows: Any, scheme: Scheme, id: str | None = None, link: str | None = None, order: str | None = None
    ) -> None:
        rows = held(rows)
        present = set(tables.column_names(rows))
        missing = [column for column in scheme.columns if column not in present]
        if missing:
            raise ReleaseError(f"the rows have no column {missing[0]!r}, which the scheme names")
        if id is not None and id not in present:
            raise ReleaseError(f"the rows have no id column {id!r}")
        self.parts: tuple[Part, ...] = (Part(rows, scheme, id, link, order),)

    @classmethod
    def of(cls, parts: Iterable[Part]) -> Release:
        """A release of these parts."""
        release = cls.__new__(cls)
        release.parts = tuple(parts)
        return release

    @classmethod
    def raw(cls, table: Any, schema: Schema, id: str | None = None, link_key: bytes | None = None) -> Release:
        """A party's own rows as they are, under the identity: to be mined, or joined with what others released.

        They stay with their owner: ``save`` refuses them unless it is told ``clear=True``. With the ``link_key`` of
        the others the ids become the same pseudonyms as theirs.
        """
        import pyarrow as pa

        made = None if link_key is None else Pseudonyms.under(None, link_key)
        if is_spark(table):
            return cls.of([raw_part(table, schema, id, made)])
        if id is not None and not tables.is_path(table):
            found = list(tables.batches(table, [*schema.names, id]))  # once: the table may be a stream
            table = pa.Table.from_batches(found) if found else table
        columns: dict[str, Any] = dict(schema.encode(table))
        if id is not None:  # batch by batch: the pseudonyms of all rows may not fit into one column of Arrow's
            ids = [decoded(batch.column(0)) for batch in tables.batches(table, [id], tables.AS_TEXT)]
            ids = ids if made is None else [hexadecimal(made.of(id_text(some))) for some in ids]
            columns[id] = pa.chunked_array(ids) if ids else pa.array([], type=pa.string())
        link = None if id is None or made is None else made.fingerprint
        return cls.of([Part(pa.table(columns), Scheme.identity(schema), id, link, raw=True)])

    # What it holds.

    @property
    def scheme(self) -> Scheme:
        """The scheme, where all rows share one."""
        if len({part.scheme for part in self.parts}) > 1:
            raise ReleaseError("this release has parts under different schemes: see parts")
        return self.parts[0].scheme

    @property
    def schema(self) -> Schema:
        """The attributes of all parts."""
        return self._schema

    @cached_property
    def _schema(self) -> Schema:
        return merged([part.scheme.schema for part in self.parts], "the parts")

    @property
    def whole(self) -> bool:
        """Whether every record was asked about every attribute."""
        return all(len(part.scheme.schema) == len(self.schema) for part in self.parts)

    @property
    def id(self) -> str | None:
        """The name of the id column, if the rows carry one."""
        return self.parts[0].id

    @property
    def id_kind(self) -> str | None:
        """Whether the ids are a "pseudonym" in all rows, or "clear" in some; None where the rows carry no ids."""
        return None if self.id is None else id_kind([part.link for part in self.parts])

    @property
    def order(self) -> str | None:
        """Whether the owners' rows were "shuffled" or kept their order in some part; None where that is not known."""
        orders = {part.order for part in self.parts}
        return "kept" if "kept" in orders else orders.pop() if len(orders) == 1 else None

    def __len__(self) -> int:
        return sum(len(part) for part in self.parts)

    def arrow(self) -> pa.Table:
        """All rows, as codes."""
        import pyarrow as pa

        return pa.concat_tables(
            with_one_id_type([p.arrow() for p in self.parts], self.id), promote_options="permissive"
        )

    def decode(self, rows: int | None = None) -> pa.Table:
        """The rows with values instead of codes, where a column's released values are the attribute's own."""
        import pyarrow as pa

        found, left = [], rows
        for part in self.parts:  # no more of a file is read than the rows need
            some = part.head(left)
            left = None if left is None else left - some.num_rows
            found.append(pa.table({name: self._decoded(name, some.column(name)) for name in some.schema.names}))
        return pa.concat_tables(with_one_id_type(found, self.id), promote_options="permissive")

    def _decoded(self, name: str, column: pa.ChunkedArray) -> Any:
        asked = [part.scheme for part in self.parts if name in part.scheme.schema]
        held = [next((g.channel for g in scheme.groups if name in g.names), None) for scheme in asked]
        if not held or any(channel is None or not channel.releases_values for channel in held):
            return column
        check_codes(name, column.to_numpy(), self.schema[name].size)
        return self.schema[name].decode(column.to_numpy())

    def __repr__(self) -> str:
        parts = f" in {len(self.parts)} parts" * (len(self.parts) > 1)
        what = ("record counted", "records counted") if isinstance(self.parts[0], CountedPart) else ("row",)
        return printable(f"Release({many(len(self), *what)}{parts}; {', '.join(self.schema.names)})")

    def _repr_html_(self) -> str:
        schemes = dict.fromkeys(part.scheme for part in self.parts)
        return f"<p>{escape(repr(self))}</p>{''.join(scheme._repr_html_() for scheme in schemes)}"

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise ReleaseError(
            "a release is no array of numbers, its rows are randomized answers: give it to sf.evidence or to a learner "
            "of sf.learn"
        )

    def select(self, names: Sequence[str]) -> Release:
        """The same records with some attributes only, in this order; those that are randomized together stay together.

        Records that were asked about none of them are left out.
        """
        unknown = [name for name in check_names(ReleaseError, "names", names) if name not in self.schema]
        if unknown or not names:
            wrong = f"there is no attribute {unknown[0]!r}" if unknown else "select takes a list of attributes"
            raise ReleaseError(f"{wrong}; the release has {', '.join(self.schema.names)}")
        return Release.of(part.select(names) for part in self.parts if not set(names).isdisjoint(part.scheme.schema))

    # Numbers under additive noise.

    def noisy_numbers(self, target: str) -> NoisyNumbers:
        """The numbers that carry additive noise, beside the classes of an attribute that carries none."""
        return noisy_numbers(self.parts, self.schema, target)

    def in_intervals(self) -> Release:
        """The same records with every number under additive noise cut into intervals.

        The noise becomes the channel between the bins of the schema and the intervals (x taken as even within a bin),
        so that all that counts or learns from codes can be asked. What two bins have in common under the noise they
        cannot tell apart: unbiased tables of strong noise have wide intervals, models bridge them. A warning says where
        the noise hides the bins, and how many of them it would not.
        """
        warn_of_bins_not_told(self.parts)
        return Release.of(map(in_intervals, self.parts))

    # Parties.

    @classmethod
    def concat(cls, releases: Sequence[Release], *, ids: bool = True) -> Release:
        """One release of records held by different parties, also under different schemes.

        Parties need not have asked the same questions: of those who were not asked about an attribute, estimates take
        it that they are like those who were. ``ids=False`` leaves ids and pseudonyms out: estimates need none.
        """
        if not isinstance(releases, Sequence) or not all(isinstance(one, Release) for one in releases):
            raise ReleaseError("concat takes a list of releases: sf.Release.concat([first, second])")
        if not releases:
            raise ReleaseError("concat needs at least one release")
        check_flags(ReleaseError, ids=ids)
        releases = releases if ids else [cls.of(part.without_id() for part in one.parts) for one in releases]
        first = releases[0]
        for other in releases[1:]:
            check_alike((first.schema, first.id), (other.schema, other.id))
        together = cls.of(part for release in releases for part in release.parts)
        try:
            together.schema  # noqa: B018
        except SchemeError as problem:
            raise ReleaseError(f"the releases cannot be put together: {problem}") from None
        return together

    def join(self, other: Release, on: str | None = None, common: bool = False) -> Release:
        """One release of records whose columns are held by two parties, matched by their ids.

        Both must hold the same records; ``common`` joins those that both hold and leaves the others out.
        """
        check_kind(ReleaseError, "other", other, Release, "a release")
        check_flags(ReleaseError, common=common)
        on = on or self.id or other.id
        if on is None:
            raise ReleaseError(
                "the left release has no id column, nor has the right one: randomize both with id='id' (--id)"
            )
        for side, release in (("left", self), ("right", other)):
            if release.id != on:
                has = "" if release.id is None else f"its id column is {release.id!r}, or "
                raise ReleaseError(
                    f"the {side} release has no id column {on!r}: {has}randomize it with id={on!r} (--id)"
                )
        check_links({part.link for part in (*self.parts, *other.parts)})
        left = [part.arrow() for part in self.parts]
        right = [part.arrow() for part in other.parts]
        check_ids([t.column(on) for t in left], [t.column(on) for t in right], common)
        joined = []
        for mine, part in zip(left, self.parts, strict=True):
            for theirs, their_part in zip(right, other.parts, strict=True):
                scheme = join_schemes(part.scheme, their_part.scheme)
                rows = match(mine, theirs, on)
                if rows.num_rows or (len(left) == 1 and len(right) == 1):
                    raw = part.raw or their_part.raw
                    joined.append(Part(rows, scheme, on, part.link, part.order, raw))
        return Release.of(joined)

    # Files.

    def save(self, path: str | Path, overwrite: bool = False, clear: bool = False) -> Path:
        """Write Parquet that carries its scheme, or CSV with the scheme in a JSON file beside it; tables of counts as
        JSON.

        Raw rows (``Release.raw``, or joined with them) are refused unless ``clear`` says that they may be written.
        """
        path = path_of(ReleaseError, "path", path)
        check_flags(ReleaseError, overwrite=overwrite, clear=clear)
        if any(part.raw for part in self.parts) and not clear:
            raise ReleaseError(
                f"{path}: these rows hold raw records, which would be written as they are; randomize them first, "
                f"or say clear=True"
            )
        if any(isinstance(part, CountedPart) for part in self.parts):
            return write_counts(path, self.parts, overwrite)
        check_matrices({part.scheme.fingerprint: part.scheme for part in self.parts}.values())  # load would refuse it
        schemes, links, raw = zip(*((part.scheme, part.link, part.raw) for part in self.parts), strict=True)
        with Writer(path, schemes, self.id, overwrite, links, self.order, raw) as writer:
            for number, rows in enumerate(with_one_id_type([part.arrow() for part in self.parts], self.id)):
                for batch in rows.to_batches(max_chunksize=tables.BATCH):
                    writer.write(batch, number)
        return path

    @classmethod
    def load(cls, path: str | Path) -> Release:
        """Read a release, from a file or from a folder of them; rows stay on disk until they are counted."""
        path = path_of(ReleaseError, "path", path)
        if path.suffix.lower() == ".json":
            return cls.of(read_counts(path))
        if len(set(names := tables.column_names(path))) < len(names):  # a missing or unreadable file says so here
            raise ReleaseError(f"{path}: two of its columns have the same name, which no release has")
        before = stamp(path)
        entries, identifier, order = read_description(path)
        if path.is_dir():
            return cls.of(folder_parts(path, part_documents(path), entries, identifier, order))._loaded(path, before)
        if len(entries) == 1:
            rows, scheme, link, raw = entries[0]
            if tables.count_rows(path) not in (None, rows):
                raise ReleaseError(f"{path}: the scheme speaks of {rows} rows, the file holds another number")
            made = cls(path, scheme, identifier, link, order)
            return cls.of(part.marked(raw) for part in made.parts)._loaded(path, before)
        return cls.of(several_parts(path, entries, identifier, order))._loaded(path, before)

    def _loaded(self, path: Path, before: Stamp | None) -> Release:
        if stamp(path) != before:
            raise ReleaseError(f"{path} was replaced while it was loaded: load it again")
        check_no_texts(self.parts)
        return self
