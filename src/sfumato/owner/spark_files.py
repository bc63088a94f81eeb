"""Partitioned Parquet to partitioned Parquet on a Spark: the release is a folder, with its scheme beside the files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.errors import SchemaError
from sfumato.forms import Forms
from sfumato.owner.randomize import randomize
from sfumato.reading import tables
from sfumato.reading.parquet_folder import check_alike
from sfumato.reading.spark_session import in_one_line, spark_session
from sfumato.release import Release
from sfumato.released.release_folder import describe_folder
from sfumato.scheme import Scheme
from sfumato.writing.whole_files import check_distinct
from sfumato.writing.whole_folders import check_folder, replacing_folder


def randomize_on_spark(
    engine: str,
    source: str | Path,
    target: str | Path,
    scheme: Scheme | Forms,
    *,
    overwrite: bool = False,
    config: Mapping[str, str] | None = None,
    **how: Any,
) -> Release:
    """Randomize Parquet, a file or a folder of files, on a Spark into a folder; it is whole or not there.

    ``engine`` is ``local[2]``, ``spark://host:7077`` or ``sc://host:15002``. The files must stand where this machine
    and all workers see them. ``how`` is as ``sf.randomize`` has it.
    """
    origin, path = Path(source), Path(target)
    kind = tables.suffix(origin)
    if kind in tables.CSV:
        raise SchemaError(f"{origin}: with an engine the table is Parquet, a file or a folder of files")
    check_distinct({"the source": origin}, {"the target": path, "the ledger": how.get("ledger")})
    check_folder(path, origin, overwrite)
    wanted = [*scheme.schema.names, *([how["id"]] if how.get("id") is not None else [])]
    tables.check_has(origin, wanted)
    if kind == tables.FOLDER:
        check_alike(origin, wanted)
    session = spark_session(engine, config)
    frame = session.read.parquet(str(origin.resolve()))
    release = randomize(frame, scheme, **how)
    with replacing_folder(path, origin, overwrite) as folder, in_one_line():
        several = len(release.parts) > 1
        places = [f"form={number}" if several else "." for number in range(len(release.parts))]
        for part, place in zip(release.parts, places, strict=True):
            part.rows.write.mode("append").parquet(str((folder / place).resolve()))
        links = [part.link for part in release.parts]
        describe_folder(folder, [part.scheme for part in release.parts], links, release.id, release.order, places)
    return Release.load(path)
