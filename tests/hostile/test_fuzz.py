"""Mutated files: whatever they hold, reading ends in a result or in one line, within five seconds and a gigabyte.

SFUMATO_FUZZ_CASES sets the number of cases (2000), SFUMATO_FUZZ_SEED the first seed.
"""

from __future__ import annotations

import json
import os
import random
import sqlite3
import warnings
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.hostile.guard import guarded
from tests.hostile.mutations import EXTREME, mutate_bytes, mutate_json

import sfumato as sf
from sfumato import channels as c
from sfumato.cli.keyfile import read_key, read_link_key
from sfumato.cli.scheme_files import read_schema, read_text
from sfumato.cli.shares import read_shares
from sfumato.errors import SfumatoError
from sfumato.forms import read_scheme
from sfumato.learn.bayesnet import BayesianNetwork
from sfumato.learn.bayesnet.published_networks import gallery
from sfumato.learn.bayesnet.structure import read_structure
from sfumato.owner.many_files import randomize_folder
from sfumato.released.shares import Share

CASES = int(os.environ.get("SFUMATO_FUZZ_CASES", "2000"))
SEED = int(os.environ.get("SFUMATO_FUZZ_SEED", "1"))

YES = sf.Categorical(("no", "yes"))
SCHEMA = sf.Schema(
    {
        "sex": sf.Categorical(("F", "M"), nullable=True),
        "age": sf.Numeric(0, 100, bins=6),
        "grade": sf.Ordinal((1, 2, 3, 4, 5)),
        "seen": sf.Date("2023-01", "2023-06", by="month"),
        "item": YES, "other": YES, "third": YES, "a": YES, "b": YES, "x": YES, "y": YES, "z": sf.Numeric(0, 1, bins=4),
    }
)  # fmt: skip


def scheme() -> sf.Scheme:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sf.Scheme(
            SCHEMA,
            {
                "sex": c.matrix([[0.7, 0.2, 0.1], [0.2, 0.7, 0.1], [0.15, 0.15, 0.7]]),
                "age": c.windows(6, 3),
                "grade": c.subset(5, 3),
                "seen": c.blocks([c.symmetric(3, 0.3), c.symmetric(3, 0.2)]),
                ("item", "other"): c.mask(0.2),
                "third": c.product([c.symmetric(2, 0.2)]),
                ("a", "b"): c.symmetric(valid=[("no", "no"), ("no", "yes"), ("yes", "yes")], p=0.3),
                ("x", "y"): c.select_a_size([0.2, 0.3, 0.5], 0.2),
                "z": c.uniform(0.5),
            },
        )


def table() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    out = {name: np.array([v for v in d.labels if v is not None])[rng.integers(0, 2, 40)] for name, d in SCHEMA.items()}
    out["age"], out["z"] = rng.uniform(0, 100, 40), rng.uniform(0, 1, 40)
    out["b"] = np.where(out["a"] == "yes", "yes", out["b"])
    return out


def use(release: sf.Release) -> None:
    """What somebody who was sent a release does with it first."""
    _ = len(release), release.parts[0].scheme.epsilon, repr(release)
    release.decode(3)
    sf.evidence(release).counts([release.schema.names[0]]).interval()


def use_counts(release: sf.Release) -> None:
    _ = len(release), repr(release), sf.evidence(release).counts(["grade"]).interval()


def more_channels() -> sf.Scheme:
    """Channels for means, texts, rounds and combinations."""
    schema = sf.Schema(
        {
            "mean": sf.Numeric(0, 1, points=7),
            "text": sf.Text(8),
            "weekly": sf.Ordinal(tuple(range(20))),
            "many": sf.Numeric(0, 1, bins=5000),
            "far": sf.Numeric(0, 1, bins=300, nullable=True),
            "a": YES,
            "b": sf.Categorical(("x", "y", "z")),
        }
    )
    return sf.Scheme(
        schema,
        {
            "mean": c.average(7, 3),
            "text": c.prefixes(schema["text"], 9),
            "weekly": c.longitudinal(20, gamma=2, lifetime=81),
            "many": c.subset(5000, 3, design="hyperplanes"),
            "far": c.windows(300, 3, nullable=True),
            ("a", "b"): c.subset((2, 3), 3),
        },
    )


def use_scheme(scheme: sf.Scheme) -> None:
    _ = scheme.gamma, scheme.epsilon, scheme.fingerprint, repr(scheme), scheme.columns


class Files:
    """The whole files that are mutated, and how each mutant is read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.made = made = scheme()
        release = sf.randomize(table(), made, rng=np.random.default_rng(1))
        release.save(folder / "whole.parquet")
        release.save(folder / "whole.csv")
        sf.Release.concat([release, release]).save(folder / "two.parquet")
        self.scheme, self.schema = made.to_json(), SCHEMA.to_json()
        self.bif = gallery("asia").to_bif()
        self.key = sf.new_key()
        self.more = more_channels().to_json()
        self.forms = sf.Forms.for_gamma(SCHEMA.select(["item", "grade", "age"]), 9, ask=2)
        sf.randomize(table(), self.forms, rng=np.random.default_rng(1)).save(folder / "forms.parquet")
        self.forms_rows, self.forms_about = pq.read_table(folder / "forms.parquet"), _about(folder / "forms.parquet")
        pq.write_table(pa.table(table()), folder / "raw.parquet")
        randomize_folder(folder / "raw.parquet", folder / "folder", self.forms, jobs=1)
        self.folder_about = (folder / "folder" / "_release.json").read_text()
        counted = sf.counted(release.select(["grade", "item", "other"]), [("grade",), ("item", "other")])
        counted.save(folder / "counts.json")
        self.counts = (folder / "counts.json").read_text()
        for site, share in enumerate([sf.split_counts(counted, 3, site)[0] for site in (1, 2, 3)], 1):
            share.save(folder / f"share-{site}.json")
        self.shares = [(folder / f"share-{site}.json").read_text() for site in (1, 2, 3)]
        with (
            closing(sqlite3.connect(sf.Ledger(folder / "whole.sqlite", new=True, limit=81).path)) as database,
            database,
        ):
            database.execute("insert into aliases values ('thing', 'item')")
        few = sf.Scheme.for_gamma(SCHEMA.select(["item"]), 3)
        rows = {"item": ["no", "yes"] * 20, "id": [str(i) for i in range(40)]}
        sf.randomize(rows, few, self.key, "id", ledger=folder / "whole.sqlite")
        self.ledger = (folder / "whole.sqlite").read_bytes()
        self.parquet = (folder / "whole.parquet").read_bytes()
        self.csv, self.sidecar = (folder / "whole.csv").read_bytes(), (folder / "whole.csv.json").read_text()
        self.rows = [pq.read_table(folder / name) for name in ("whole.parquet", "two.parquet")]
        self.about = [
            rows.schema.metadata[b"sfumato"].decode() if rows.schema.metadata else _about(folder / name)
            for rows, name in zip(self.rows, ("whole.parquet", "two.parquet"), strict=True)
        ]

    def scheme_document(self, rng: random.Random) -> Callable[[], None]:
        text = mutate_json(self.scheme, rng)
        return lambda: use_scheme(sf.Scheme.from_json(text))

    def scheme_bytes(self, rng: random.Random) -> Callable[[], None]:
        path = self.folder / "s.json"
        path.write_bytes(mutate_bytes(self.scheme.encode(), rng))
        return lambda: use_scheme(sf.Scheme.from_json(read_text(path)))

    def schema_document(self, rng: random.Random) -> Callable[[], None]:
        text = mutate_json(self.schema, rng)
        return lambda: repr(sf.Scheme.for_gamma(sf.Schema.from_json(text), 3).gamma)

    def parquet_bytes(self, rng: random.Random) -> Callable[[], None]:
        path = self.folder / "m.parquet"
        path.write_bytes(mutate_bytes(self.parquet, rng))
        return lambda: use(sf.Release.load(path))

    def parquet_description(self, rng: random.Random) -> Callable[[], None]:
        path, which = self.folder / "d.parquet", rng.randrange(2)
        text = mutate_json(self.about[which], rng)
        rows = self.rows[which].replace_schema_metadata({})
        with pq.ParquetWriter(path, rows.schema) as sink:
            sink.write_table(rows)
            sink.add_key_value_metadata({"sfumato": text})
        return lambda: use(sf.Release.load(path))

    def csv_bytes(self, rng: random.Random) -> Callable[[], None]:
        path = self.folder / "m.csv"
        path.write_bytes(mutate_bytes(self.csv, rng))
        about = json.loads(self.sidecar)
        from sfumato.writing.described_file import content, sidecar

        sidecar(path).write_text(json.dumps({**about, **content(path)}))
        return lambda: use(sf.Release.load(path))

    def csv_description(self, rng: random.Random) -> Callable[[], None]:
        path = self.folder / "s.csv"
        path.write_bytes(self.csv)
        path.with_name("s.csv.json").write_text(mutate_json(self.sidecar, rng))
        return lambda: use(sf.Release.load(path))

    def bif_text(self, rng: random.Random) -> Callable[[], None]:
        path = self.folder / "m.bif"
        data = mutate_bytes(self.bif.encode(), rng)
        if rng.random() < 0.5:
            data = data.replace(
                rng.choice((b"2", b"0.5", b"yes", b"|", b";", b"table")),
                rng.choice((b"1e999", b"nan", b"-1", b"10000000", b"(", b'"', b"yes, yes", b"default")),
                rng.choice((1, 5, 1000)),
            )
        path.write_bytes(data)
        return lambda: repr((BayesianNetwork.from_bif(path), read_structure(path)))

    def more_channels(self, rng: random.Random) -> Callable[[], None]:
        text = mutate_json(self.more, rng)
        return lambda: use_scheme(sf.Scheme.from_json(text))

    def forms_document(self, rng: random.Random) -> Callable[[], None]:
        text = mutate_json(self.forms.to_json(), rng)

        def read() -> None:
            forms = read_scheme(text)
            _ = forms.gamma, forms.epsilon, forms.fingerprint, repr(forms), forms.columns

        return read

    def forms_release(self, rng: random.Random) -> Callable[[], None]:
        path = self.folder / "f.parquet"
        rows = self.forms_rows.replace_schema_metadata({})
        with pq.ParquetWriter(path, rows.schema) as sink:
            sink.write_table(rows)
            sink.add_key_value_metadata({"sfumato": mutate_json(self.forms_about, rng)})
        return lambda: use(sf.Release.load(path))

    def folder_description(self, rng: random.Random) -> Callable[[], None]:
        path = self.folder / "folder"
        (path / "_release.json").write_text(mutate_json(self.folder_about, rng))
        return lambda: use(sf.Release.load(path))

    def counts_document(self, rng: random.Random) -> Callable[[], None]:
        path = self.folder / "m-counts.json"
        path.write_text(mutate_json(self.counts, rng))
        return lambda: use_counts(sf.Release.load(path))

    def share_document(self, rng: random.Random) -> Callable[[], None]:
        path = self.folder / "m-share.json"
        path.write_text(mutate_json(self.shares[0], rng))

        def read() -> None:
            others = [Share.load(self.folder / f"share-{i}.json") for i in (2, 3)]
            repr(sf.add_shares([Share.load(path), *others]))

        return read

    def raw_table(self, rng: random.Random) -> Callable[[], None]:
        path = self.folder / "raw.csv"
        path.write_bytes(mutate_bytes(b"item,other\n" + b"no,yes\nyes,no\n" * 20, rng))
        few = sf.Scheme.for_gamma(SCHEMA.select(["item", "other"]), 3)
        return lambda: repr(sf.randomize(path, few))

    def schema_bytes(self, rng: random.Random) -> Callable[[], None]:
        path = self.folder / "schema.json"
        path.write_bytes(mutate_bytes(self.schema.encode(), rng))
        return lambda: repr(sf.Scheme.for_gamma(read_schema(path), 3).gamma)

    def key_bytes(self, rng: random.Random) -> Callable[[], None]:
        path, link = self.folder / "key", rng.random() < 0.5
        path.write_bytes(mutate_bytes(sf.new_link_key() if link else sf.new_key(), rng))

        def read() -> None:
            key = read_link_key(path, {}) if link else read_key(path, {}, "study")
            few = sf.Scheme.for_gamma(SCHEMA.select(["item"]), 3)
            rows = {"item": ["no", "yes"], "id": [1, 2]}
            sf.randomize(rows, few, **({"link_key": key} if link else {"key": key}), id="id")

        return read

    def shares_document(self, rng: random.Random) -> Callable[[], None]:
        path, name = self.folder / "shares.json", rng.choice(("sex", "item+other"))
        text = '{"sex": {"F": 0.5, "M": 0.3, "no answer": 0.2}, "item+other": [0.25, 0.25, 0.25, 0.25]}'
        path.write_text(mutate_json(text, rng))
        names = tuple(name.split("+"))
        return lambda: repr(sf.attacks.repeated(self.made, 2, read_shares(str(path), name), attribute=names))

    def ledger_bytes(self, rng: random.Random) -> Callable[[], None]:
        path = self.folder / "bytes.sqlite"
        path.write_bytes(mutate_bytes(self.ledger, rng))
        return lambda: self.use_ledger(path)

    def ledger_values(self, rng: random.Random) -> Callable[[], None]:
        path = self.folder / "values.sqlite"
        path.write_bytes(self.ledger)
        with closing(sqlite3.connect(path)) as database, database:
            for _ in range(rng.choice((1, 1, 2, 3))):
                table = rng.choice(("releases", "answers", "people", "aliases", "secret", "bound"))
                column = rng.choice([row[1] for row in database.execute(f"pragma table_info({table})")])
                value = rng.choice([None, b"", b"\0" * 16, "1/3", "1e99999999", *EXTREME[:30]])
                with suppress(sqlite3.Error, OverflowError, UnicodeError):
                    database.execute(f"update {table} set {column} = ?", (value,))
        return lambda: self.use_ledger(path)

    def use_ledger(self, path: Path) -> None:
        few = sf.Scheme.for_gamma(SCHEMA.select(["item"]), 3)
        ledger = sf.Ledger(path)
        _ = ledger.spent(), ledger.composed(few), ledger.entries()
        sf.randomize({"item": ["no", "yes"], "id": ["1", "2"]}, few, self.key, "id", ledger=ledger, again=True)


KINDS = ["scheme_document", "scheme_document", "scheme_bytes", "schema_document", "parquet_bytes", "parquet_description", "csv_bytes", "csv_description", "bif_text", "raw_table", "schema_bytes", "key_bytes", "shares_document", "ledger_bytes", "ledger_values", "more_channels", "forms_document", "forms_release", "counts_document", "share_document", "folder_description"]  # fmt: skip


def _about(path: Path) -> str:
    return pq.read_metadata(path).metadata[b"sfumato"].decode()


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Files:
    return Files(tmp_path_factory.mktemp("fuzz"))


@pytest.mark.parametrize("kind", sorted(set(KINDS)))
def test_mutants_end_in_a_result_or_in_one_line(files, kind) -> None:
    share = KINDS.count(kind) / len(KINDS)
    read, failed = 0, []
    for case in range(round(CASES * share)):
        rng = random.Random(f"{SEED} {kind} {case}")
        act = getattr(files, kind)(rng)
        try:
            with guarded(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                act()
            read += 1
        except SfumatoError as problem:
            assert str(problem).isprintable() or "\xa0" in str(problem), (kind, case)
        except BaseException as problem:
            if isinstance(problem, KeyboardInterrupt):
                raise
            failed.append((case, repr(problem)[:200]))
    assert not failed, failed[:10]
    assert read or CASES < 1000  # mutants that all fail at the door would test nothing behind it


def test_whole_files_are_read(files) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("whole.parquet", "two.parquet", "whole.csv"):
            use(sf.Release.load(files.folder / name))
        use_scheme(sf.Scheme.from_json(files.scheme))
        BayesianNetwork.from_bif(files.bif)
        sf.Schema.from_json(files.schema)
        files.use_ledger(files.folder / "whole.sqlite")
