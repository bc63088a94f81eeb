"""sfumato sample: small files to try everything on."""

from __future__ import annotations

import csv
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from sfumato import channels
from sfumato.cli import console
from sfumato.datasets.patients import CLINIC, LABORATORY, SCHEMA, patients
from sfumato.errors import ReleaseError
from sfumato.owner.randomize import randomize
from sfumato.randomness import GeneratorSource
from sfumato.scheme import Scheme
from sfumato.writing.whole_files import replacing

if TYPE_CHECKING:
    import pyarrow as pa

FILES = {
    "patients.csv": "a raw table as it comes: numbers of patients, dates, units, gaps, remarks",
    "schema.json": "what is publicly known of its columns",
    "scheme.json": "the channels under which they are released, gamma 9 each",
    "north.csv": "raw: the first 2400 patients, one hospital's",
    "south.csv": "raw: the other 1600, another hospital's",
    "north.parquet": "what the first hospital releases",
    "south.parquet": "what the second releases",
    "clinic.csv": "raw: what the clinic knows of every patient",
    "laboratory.csv": "raw: what the laboratory knows of the same patients",
    "clinic.parquet": "what the clinic releases, with ids to join by",
    "laboratory.parquet": "what the laboratory releases, with the same ids",
    "survey.csv": "numbers: x as it was, z after gaussian noise of standard deviation 1",
}
NORTH = 2400  # patients of the first hospital
LINK = b"the link key of clinic and laboratory, which these samples make public"
GAMMA = 9


def sample(
    folder: Annotated[Path, typer.Argument(help="Where the files go; made if it is not there.")],
    overwrite: Annotated[bool, typer.Option(help="Replace files of these names.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Write small sample files: a messy table, its schema and scheme, and the releases of several parties.

    The files are the same every time, so that those that are there already stay. They hold census records with invented
    clinical columns.

        sfumato sample samples

        sfumato sample . --overwrite
    """
    if not overwrite:
        _check_others(folder)
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder)
    if json:
        console.emit({"folder": str(folder), "files": FILES})
        return
    console.table(["file", "what it is"], [[str(folder / name), about] for name, about in FILES.items()])
    console.say(f"\nNext: sfumato estimate {folder / 'north.parquet'} {folder / 'south.parquet'} --columns sex,grade")


def _check_others(folder: Path) -> None:
    """Refuse to replace files of these names that are not these samples."""
    present = [name for name in FILES if (folder / name).exists()]
    if not present:
        return
    with TemporaryDirectory() as fresh:
        _write(Path(fresh))
        others = [name for name in present if not _same(folder / name, Path(fresh) / name)]
    if others:
        raise ReleaseError(
            f"{folder / others[0]} already exists, and is not the sample; choose another folder or give --overwrite"
        )


def _same(path: Path, other: Path) -> bool:
    return path.is_file() and path.read_bytes() == other.read_bytes()


def _write(folder: Path) -> None:
    whole = patients()
    scheme = Scheme.for_gamma(SCHEMA, GAMMA)
    _table(folder / "patients.csv", whole)
    _text(folder / "schema.json", SCHEMA.to_json())
    _text(folder / "scheme.json", scheme.to_json())
    for name, rows in (("north", whole.slice(0, NORTH)), ("south", whole.slice(NORTH))):
        _table(folder / f"{name}.csv", rows)
        _release(folder / f"{name}.parquet", rows, scheme)
    for name, columns in (("clinic", CLINIC), ("laboratory", LABORATORY)):
        rows = whole.select(["patient", *columns])
        _table(folder / f"{name}.csv", rows)
        _release(folder / f"{name}.parquet", rows, scheme.select(columns), id="patient")
    _survey(folder / "survey.csv")


def _release(path: Path, rows: pa.Table, scheme: Scheme, id: str | None = None) -> None:
    rng = GeneratorSource(np.random.default_rng(list(path.name.encode())))  # the rows are public: so may be their draws
    shared = None if id is None else LINK
    randomize(rows, scheme, id=id, link_key=shared, rng=rng).save(path, overwrite=True)


def _survey(path: Path) -> None:
    import pyarrow as pa

    rng = np.random.default_rng(4)
    x = np.where(rng.random(3000) < 0.6, rng.normal(4.0, 0.8, 3000), rng.normal(8.0, 1.2, 3000))
    z = channels.gaussian(1.0).randomize(x, rng)
    _table(path, pa.table({"x": np.round(x, 4), "z": np.round(z, 4)}))


def _table(path: Path, rows: pa.Table) -> None:
    with replacing(path, overwrite=True) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer: Any = csv.writer(file, lineterminator="\n")
        writer.writerow(rows.schema.names)
        writer.writerows(zip(*(rows.column(name).to_pylist() for name in rows.schema.names), strict=True))


def _text(path: Path, text: str) -> None:
    with replacing(path, overwrite=True) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")
