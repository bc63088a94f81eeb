"""sfumato randomize: the owner's verb."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato.assess.report.summary import factor
from sfumato.cli import console, scheme_files
from sfumato.cli.choices import one_of
from sfumato.cli.keyfile import keys
from sfumato.errors import ReleaseError, SchemeError
from sfumato.forms import Forms
from sfumato.owner.ledger import EVERYBODY, Ledger
from sfumato.owner.many_files import randomize_folder
from sfumato.owner.randomize import randomize_file
from sfumato.owner.spark_files import randomize_on_spark
from sfumato.printable import many
from sfumato.reading import tables
from sfumato.reading.file_stamp import Stamp, stamp
from sfumato.reading.name_lists import listed
from sfumato.release import Release
from sfumato.schema import Schema
from sfumato.scheme import Scheme
from sfumato.writing.described_file import sidecar
from sfumato.writing.whole_files import check_distinct, replacing


def randomize(
    source: Annotated[
        Path, typer.Argument(help="The raw table: .parquet, .csv or .tsv, of any size, or a folder of Parquet files.")
    ],
    target: Annotated[
        Path,
        typer.Argument(help="The release: .parquet, .csv with a .json beside it, or a folder of Parquet (no ending)."),
    ],
    scheme: Annotated[Path | None, typer.Option(help="The public scheme, or forms, as JSON.")] = None,
    gamma: Annotated[
        float | None,
        typer.Option(
            help="Without a scheme: the bound for every attribute; design may choose other channels under it."
        ),
    ] = None,
    schema: Annotated[Path | None, typer.Option(help="With --gamma: the public schema, as JSON.")] = None,
    columns: Annotated[str | None, typer.Option(help="Release only these attributes (a,b,c).")] = None,
    save_scheme: Annotated[Path | None, typer.Option(help="With --gamma: also write the scheme here.")] = None,
    id: Annotated[
        str | None, typer.Option(help="The column that tells records apart; it leaves as a pseudonym.")
    ] = None,
    key_file: Annotated[
        Path | None,
        typer.Option(help="The owner's secret key, made if missing: a record keeps its answer while its value stays."),
    ] = None,
    link_key_file: Annotated[
        Path | None, typer.Option(help="The key of the pseudonyms, made if missing: share it to join releases.")
    ] = None,
    study: Annotated[
        str | None,
        typer.Option(help="With --key-file: the study's name; a key belongs to one study, else to one scheme."),
    ] = None,
    clear_ids: Annotated[bool, typer.Option("--clear-ids", help="Release the ids themselves.")] = False,
    order: Annotated[
        str,
        typer.Option(
            help="Of the rows: shuffle, or keep, which tells how they were sorted.",
            autocompletion=one_of("shuffle", "keep"),
        ),
    ] = "shuffle",
    ledger: Annotated[
        Path | None, typer.Option(help="The owner's account of releases: refuses a second fresh answer.")
    ] = None,
    new_ledger: Annotated[bool, typer.Option("--new-ledger", help="Begin the ledger: there is none yet.")] = False,
    population: Annotated[str, typer.Option(help="With --ledger: whose records these are.")] = EVERYBODY,
    limit: Annotated[
        float, typer.Option(help="With --ledger: the gamma that one person's answers about an attribute may add up to.")
    ] = math.inf,
    person_limit: Annotated[
        float,
        typer.Option(help="With --ledger: the gamma that all answers of one person may add up to, over all rounds."),
    ] = math.inf,
    same: Annotated[
        list[str] | None, typer.Option(help="With --ledger: new=old, an attribute that has a new name.")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Release once more although the ledger objects.")] = False,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Into a folder: how many processes; as many as processors by default.")
    ] = None,
    engine: Annotated[
        str | None, typer.Option(help="Into a folder, on a Spark: local[2], spark://host:7077 or sc://host:15002.")
    ] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace the target if it exists.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Randomize a table under a public scheme. Raw values never leave this machine.

    Under a scheme that was agreed on:

        sfumato randomize patients.csv release.parquet --scheme scheme.json

    Under a bound, with the best channels for a schema that is publicly known:

        sfumato randomize patients.csv release.parquet --schema schema.json --gamma 3 --save-scheme scheme.json

    Without one, the best channels under a bound (the schema is then read off the data, which is itself a disclosure):

        sfumato randomize patients.csv release.parquet --gamma 3 --columns sex,age --save-scheme scheme.json

    The same record always gets the same answer, so that releasing twice discloses nothing new:

        sfumato randomize patients.csv release.parquet --scheme scheme.json --id patient --key-file secret.key

    Parties that hold different columns of the same records share a link key, so that their releases can be joined:

        sfumato randomize clinic.csv clinic.parquet --scheme scheme.json --id patient --link-key-file link.key

    With an account of what was released, so that nobody is asked the same question twice by mistake:

        sfumato randomize patients.csv release.parquet --scheme scheme.json --ledger releases.sqlite --new-ledger

    More rows than memory holds: a folder of Parquet files into another, by all processors. After an interrupt the same
    command goes on where it was:

        sfumato randomize sales/ released --scheme scheme.json

    The same on a Spark cluster, which must see both folders:

        sfumato randomize /data/sales /data/released --scheme scheme.json --engine spark://host:7077

    Each week of a study, with a bound on what a person gives away in all of them (design --lifetime makes the scheme):

        sfumato randomize week7.csv week7.parquet --scheme weekly.json --id patient --key-file secret.key
        --ledger releases.sqlite --person-limit 81
    """
    limits = limit < math.inf or person_limit < math.inf
    if ledger is None and (new_ledger or same or again or limits or population != EVERYBODY):
        speaking = "--new-ledger, --population, --limit, --person-limit, --same and --again"
        raise SchemeError(f"{speaking} speak of a ledger: name its file with --ledger")
    _check_ids(id, key_file, link_key_file, clear_ids, study)
    if order not in ("shuffle", "keep"):
        raise SchemeError(f"--order must be shuffle or keep, got {order} instead")
    if not target.name:
        raise ReleaseError(f"{str(target)!r} names no file and no folder of its own: choose a name")
    into_folder = engine is not None or target.suffix == ""
    if not into_folder:
        tables.suffix(target)  # a name that no release can have says so here
        if jobs is not None:
            raise SchemeError("--jobs is for a release in a folder: give the target a name without an ending")
    reads = {"the source": source, "--scheme": scheme, "--schema": schema, "--key-file": key_file}
    writes = {"the target": target, "the target's description": sidecar(target), "--save-scheme": save_scheme}
    check_distinct(reads, {**writes, "--link-key-file": link_key_file, "--ledger": ledger})
    for path in (target, save_scheme):
        if path is not None and path.exists() and not overwrite:
            raise ReleaseError(f"{path} already exists; choose another name or give --overwrite")
    chosen = _scheme(source, scheme, gamma, schema, columns, id)
    watched: dict[Path, Stamp | None] = {target: stamp(target)}
    with (
        keys(key_file, link_key_file, watched, study or chosen.fingerprint) as (key, link_key),
        _ledger(ledger, population, new_ledger, limit, person_limit, same or [], watched) as account,
        console.progress("randomizing", tables.count_rows(source)) as advance,
    ):
        asked: dict[str, Any] = {
            "key": key,
            "id": id,
            "link_key": link_key,
            "clear_ids": clear_ids,
            "overwrite": overwrite,
            "study": study,
            "ledger": account,
            "again": again,
        }
        if engine is not None:
            release = randomize_on_spark(engine, source, target, chosen, order=order, **asked)
        elif into_folder:
            release = randomize_folder(source, target, chosen, order=order, jobs=jobs, progress=advance, **asked)
        else:
            release = randomize_file(source, target, chosen, order=order, progress=advance, **asked)
    if save_scheme is not None:
        with replacing(save_scheme, overwrite) as temporary:
            temporary.write_text(chosen.to_json(), encoding="utf-8")
    _say(target, release, chosen, account, json)
    if id is not None and key is None and link_key is None and not clear_ids:
        console.note(
            "the pseudonyms join no other release: their key was thrown away; give --link-key-file to join releases"
        )


def _check_ids(
    id: str | None, key_file: Path | None, link_key_file: Path | None, clear_ids: bool, study: str | None
) -> None:
    """Refuse options about ids and their keys that do not go together."""
    if study is not None and key_file is None:
        raise SchemeError("--study goes with --key-file: it says which study the key belongs to")
    needs_id = {"--key-file": key_file, "--link-key-file": link_key_file, "--clear-ids": clear_ids or None}
    for option, given in needs_id.items():
        if given is not None and id is None:
            raise SchemeError(f"{option} needs --id, the column that tells records apart")
    if clear_ids and link_key_file is not None:
        raise SchemeError("--clear-ids and --link-key-file exclude each other: a link key makes pseudonyms")


def _say(target: Path, release: Release, chosen: Scheme | Forms, account: Ledger | None, json: bool) -> None:
    """What was released, and what all answers of one person come to."""
    about: dict[str, Any] = {
        "target": str(target),
        "rows": len(release),
        "fingerprint": chosen.fingerprint,
        "gamma": chosen.gamma,
        "epsilon": chosen.epsilon,
    }
    if account is not None:
        about["person_total"] = account.total()
    if json:
        console.emit(about)
    else:
        console.say(f"{many(len(release), 'record')} randomized into {target}")
        kind = "forms" if isinstance(chosen, Forms) else "scheme"
        console.say(f"gamma of a whole record {factor(chosen.epsilon, 4)}; {kind} {chosen.fingerprint[:16]}")
        if account is not None:
            bound = f", of at most {_gamma(account.person_limit)}" if account.person_limit < math.inf else ""
            spent = _gamma(about["person_total"])
            console.say(f"all answers of one person in the ledger add up to a gamma of {spent}{bound}")


def _gamma(gamma: float) -> str:
    """A bound as that of a whole record is written."""
    return factor(math.log(gamma), 4)


@contextmanager
def _ledger(
    path: Path | None,
    population: str,
    new: bool,
    limit: float,
    person_limit: float,
    same: list[str],
    watched: dict[Path, Stamp | None],
) -> Iterator[Ledger | None]:
    """The ledger, where one is named. A new one is taken away if the block fails before anything is booked in it."""
    if path is None:
        yield None
        return
    ledger = Ledger(path, population, new=new, limit=limit, person_limit=person_limit)
    watched[path] = stamp(path)
    try:
        for pair in same:
            name, equals, attribute = pair.partition("=")
            if not equals or not name or not attribute:
                raise SchemeError(f"--same must look like new_name=old_name, got {pair!r} instead")
            ledger.same(name, attribute)
        watched[path] = stamp(path)
        yield ledger
    except BaseException:
        if new and stamp(path) == watched[path]:
            path.unlink(missing_ok=True)
            watched[path] = None
        raise


def _scheme(
    source: Path, path: Path | None, gamma: float | None, schema: Path | None, columns: str | None, id: str | None
) -> Scheme | Forms:
    if (path is None) == (gamma is None):
        raise SchemeError("give either --scheme FILE or --gamma BOUND")
    if path is not None:
        if schema is not None:
            raise SchemeError("--schema goes with --gamma: a scheme has its own schema")
        whole = scheme_files.read_scheme_or_forms(path)
        return whole if columns is None else _part(whole, listed(columns, whole.schema))
    if schema is not None:
        known = scheme_files.read_schema(schema)
        return Scheme.for_gamma(known if columns is None else known.select(listed(columns, known)), gamma or 0)
    present = tables.column_names(source)
    names = [n for n in present if n != id] if columns is None else listed(columns, present)
    return Scheme.for_gamma(Schema.infer(source, columns=names), gamma or 0)


def _part(scheme: Scheme | Forms, names: list[str]) -> Scheme:
    """The scheme of the named attributes and of no other."""
    if isinstance(scheme, Forms):
        raise SchemeError("--columns cannot choose from forms: each form asks its own questions")
    unknown = [name for name in names if name not in scheme.schema]
    if unknown:
        raise SchemeError(f"the scheme has no attribute {unknown[0]!r}; it has {', '.join(scheme.schema.names)}")
    part = scheme.select(names)
    more = [name for name in part.schema.names if name not in names]
    if more:
        raise SchemeError(f"{more[0]!r} is randomized together with a column of --columns: name it there, too")
    return part
