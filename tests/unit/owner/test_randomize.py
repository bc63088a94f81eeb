"""Randomizing at the owner: keyed and fresh answers, streaming, and files that are whole or not there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from gallery import rest_clear
from sfumato import channels as c
from sfumato.errors import SfumatoError
from sfumato.reading import tables
from sfumato.secrets.keyed_answers import KeyedSource
from sfumato.secrets.keys import HEADER

KEY = HEADER + bytes(range(32))
OTHER_KEY = HEADER + bytes(32)
SCHEMA = sf.Schema({"a": sf.Categorical((0, 1, 2)), "b": sf.Categorical((0, 1)), "c": sf.Categorical((0, 1))})
SCHEME = sf.Scheme(SCHEMA, {"a": c.symmetric(3, 0.4), ("b", "c"): c.product([c.binary(0.3, 0.2), c.symmetric(2, 0.4)])})


def records(n: int = 500) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {"id": np.arange(n), "a": rng.integers(0, 3, n), "b": rng.integers(0, 2, n), "c": rng.integers(0, 2, n)}
    )


def answers(release: sf.Release) -> dict[str, tuple]:
    rows = release.arrow()
    columns = [rows.column(name).to_pylist() for name in ("a", "b", "c")]
    return dict(zip(map(str, rows.column("id").to_pylist()), zip(*columns, strict=True), strict=True))


def test_keyed_answers_do_not_depend_on_order_or_pieces(tmp_path: Path) -> None:
    table = records()
    once = answers(sf.randomize(table, SCHEME, key=KEY, id="id"))
    assert answers(sf.randomize(table.sample(frac=1, random_state=2), SCHEME, key=KEY, id="id")) == once
    some = answers(sf.randomize(table.iloc[100:103], SCHEME, key=KEY, id="id"))
    assert len(some) == 3
    assert some == {name: once[name] for name in some}
    table.to_csv(tmp_path / "raw.csv", index=False)
    pq.write_table(pa.table(dict(table.items())), tmp_path / "raw.parquet", row_group_size=37)
    for name in ("raw.csv", "raw.parquet"):
        release = sf.randomize_file(tmp_path / name, tmp_path / "out.parquet", SCHEME, KEY, "id", overwrite=True)
        assert answers(release) == once


def test_keyed_answers_depend_on_key_record_attribute_and_channel() -> None:
    n = 4000
    table = {"id": np.arange(n), "a": np.zeros(n, int), "b": np.zeros(n, int), "c": np.zeros(n, int)}
    same = rest_clear(SCHEMA, {name: c.binary(0.4, 0.4) for name in ("b", "c")})
    rows = sf.randomize(table, same, key=KEY, id="id").arrow()
    other_key = sf.randomize(table, same, key=OTHER_KEY, id="id").arrow()
    other_p = sf.randomize(table, rest_clear(SCHEMA, {"b": c.binary(0.4, 0.41)}), key=KEY, id="id").arrow()
    b = rows.column("b").to_numpy()
    for other in (rows.column("c"), other_key.column("b"), other_p.column("b")):
        agreement = (b == other.to_numpy()).mean()
        assert abs(agreement - (0.6**2 + 0.4**2)) < 5 * 0.5 / np.sqrt(n)  # independent, not equal


def test_keyed_answers_survive_a_larger_scheme() -> None:
    """Adding an attribute must not give the others a second, independent answer."""
    table = records()
    small = sf.Scheme(SCHEMA.select(["a"]), {"a": c.symmetric(3, 0.4)})
    large = rest_clear(SCHEMA, {"a": c.symmetric(3, 0.4), "b": c.binary(0.2, 0.2)})
    one, two = (sf.randomize(table, s, key=KEY, id="id").arrow().column("a") for s in (small, large))
    assert one.to_pylist() == two.to_pylist()


def test_keyed_answers_follow_the_matrix() -> None:
    n = 40_000
    schema = sf.Schema({"a": sf.Categorical((0, 1, 2))})
    scheme = sf.Scheme(schema, {"a": c.symmetric(3, 0.4)})
    released = sf.randomize({"id": np.arange(n), "a": np.ones(n, int)}, scheme, key=KEY, id="id").arrow().column("a")
    share = np.bincount(released.to_numpy(), minlength=3) / n
    np.testing.assert_allclose(share, [0.2, 0.6, 0.2], atol=6 * 0.5 / np.sqrt(n))


def test_keyed_words_tell_long_and_short_ids_apart() -> None:
    ids = np.array([b"a" * n for n in range(1, 70)] + [b"person-%d" % i for i in range(1000)])
    source = KeyedSource.of_answers(KEY)

    def words(some: np.ndarray) -> np.ndarray:
        return source.words(b"test", source.people(some), [np.zeros(len(some), dtype=np.uint8)])(0)

    drawn = words(ids)
    assert len(set(drawn.tolist())) == len(ids)
    alone = np.concatenate([words(ids[i : i + 1]) for i in range(0, len(ids), 50)])
    np.testing.assert_array_equal(drawn[::50], alone)


def test_fresh_answers_differ_and_seeded_ones_repeat() -> None:
    table = records()
    first, second = (sf.randomize(table, SCHEME).arrow() for _ in range(2))
    assert first != second
    assert (
        sf.randomize(table, SCHEME, rng=5).arrow() == sf.randomize(table, SCHEME, rng=np.random.default_rng(5)).arrow()
    )


def test_seeded_answers_do_not_depend_on_the_chunks_of_a_frame() -> None:
    """A text file read by polars comes in chunks, more on a machine of more processors, and had other answers."""
    whole = pa.Table.from_pandas(records().drop(columns="id"), preserve_index=False)
    cut = pa.concat_tables([whole.slice(0, 7), whole.slice(7, 0), whole.slice(7)])
    assert cut.column("a").num_chunks == 3
    first, second = (sf.randomize(table, SCHEME, rng=sf.experiment(7)).arrow() for table in (whole, cut))
    assert first.equals(second)


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_spark_frames_are_randomized_where_they_are(spark_session: object) -> None:
    table = records(300)
    frame = spark_session.createDataFrame(
        [tuple(map(int, row)) for row in table.itertuples(index=False)], list(table.columns)
    )
    keyed = sf.randomize(frame, SCHEME, key=KEY, id="id")
    assert answers(keyed) == answers(sf.randomize(table, SCHEME, key=KEY, id="id"))
    pseudonyms = keyed.arrow().column("id").to_pylist()
    assert pseudonyms == sorted(pseudonyms)
    with pytest.raises(SfumatoError, match="1 id occurs more than once"):
        sf.randomize(frame.union(frame.limit(1)), SCHEME, key=KEY, id="id")
    fresh = sf.randomize(frame, SCHEME)
    first = sf.evidence(fresh).released_counts(["a", "b", "c"])
    assert first.sum() == 300
    again = sf.evidence(sf.Release(fresh.parts[0].rows, SCHEME)).released_counts(["a", "b", "c"])
    assert (first == again).all()  # drawn once: counting twice is not a second release


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_spark_gives_every_record_the_form_it_gets_elsewhere(spark_session: object) -> None:
    table = records(300)
    frame = spark_session.createDataFrame(
        [tuple(map(int, row)) for row in table.itertuples(index=False)], list(table.columns)
    )
    forms = sf.Forms.for_gamma(SCHEMA, 9)
    keyed, here = (sf.randomize(each, forms, key=KEY, id="id") for each in (frame, table))
    assert [part.scheme for part in keyed.parts] == list(forms)
    for mine, theirs in zip(keyed.parts, here.parts, strict=True):
        assert mine.arrow().to_pylist() == theirs.arrow().to_pylist()
    fresh = sf.randomize(frame, forms)
    sizes = [len(part) for part in fresh.parts]
    assert sum(sizes) == 300
    assert [len(part) for part in fresh.parts] == sizes  # drawn once
    both = sf.Release.concat([fresh, sf.randomize(table, forms)])
    assert sf.evidence(both).counts(["a", "b"], quiet=True).value.sum() == pytest.approx(600)


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda t: sf.randomize(t, SCHEME, key=KEY), "key needs id"),
        (lambda t: sf.randomize(t, SCHEME, key=b"short", id="id"), "key is not a whole key"),
        (lambda t: sf.randomize(t, SCHEME, key=KEY, id="id", rng=1), "key and rng exclude each other"),
        (lambda t: sf.randomize(t, SCHEME, id="a"), "the id column 'a' is also an attribute"),
        (lambda t: sf.randomize(t, SCHEME, id="nope"), "the table has no column 'nope'"),
        (lambda t: sf.randomize(t.assign(id=None), SCHEME, key=KEY, id="id"), "the id column holds 500 nulls"),
        (lambda t: sf.randomize(t.assign(id=0.5), SCHEME, key=KEY, id="id"), "fractions"),
        (lambda t: sf.randomize(t.assign(id=2.0**60), SCHEME, key=KEY, id="id"), "holds doubles, which do not keep"),
        (lambda t: sf.randomize(t.iloc[:0], SCHEME), "the table is empty"),
        (lambda t: sf.randomize(t.drop(columns="b"), SCHEME), "the table has no column 'b'"),
        (lambda t: sf.randomize(t, SCHEME, rng="seed"), "rng must be None"),
    ],
)
def test_bad_requests_get_one_line(call: object, line: str) -> None:
    with pytest.raises(SfumatoError, match=line):
        call(records())


def test_streams_from_any_file_to_any_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BATCH", 64)
    table = records()
    table.to_csv(tmp_path / "raw.csv", index=False)
    seen: list[int] = []
    for target in ("out.parquet", "out.csv"):
        release = sf.randomize_file(tmp_path / "raw.csv", tmp_path / target, SCHEME, progress=seen.append)
        assert len(release) == 500
        assert release.scheme == SCHEME
    assert sum(seen) == 1000


def test_a_bad_row_midway_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BATCH", 64)
    table = records()
    table.loc[400, "a"] = 9
    pq.write_table(pa.table(dict(table.items())), tmp_path / "raw.parquet")
    for name in ("out.parquet", "out.csv"):
        (tmp_path / name).write_text("the old file")
        with pytest.raises(
            SfumatoError, match=r"column 'a': 1 row holds a value that is not in its domain \(0, 1, 2\)"
        ):
            sf.randomize_file(tmp_path / "raw.parquet", tmp_path / name, SCHEME, overwrite=True)
        assert (tmp_path / name).read_text() == "the old file"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.csv", "out.parquet", "raw.parquet"]


def test_an_empty_file_leaves_no_release(tmp_path: Path) -> None:
    (tmp_path / "raw.csv").write_text("a,b,c\n")
    with pytest.raises(SfumatoError, match="empty table"):
        sf.randomize_file(tmp_path / "raw.csv", tmp_path / "out.parquet", SCHEME)
    (tmp_path / "nothing.csv").write_text("")
    with pytest.raises(SfumatoError, match="the file is empty"):
        sf.randomize_file(tmp_path / "nothing.csv", tmp_path / "out.parquet", SCHEME)
    assert not (tmp_path / "out.parquet").exists()


def test_a_full_disk_is_said_and_leaves_the_old_file(tmp_path: Path) -> None:
    """A file size limit makes the write fail as a full disk does."""
    big = records(300_000)
    pq.write_table(pa.table(dict(big.items())), tmp_path / "raw.parquet")
    (tmp_path / "scheme.json").write_text(SCHEME.to_json())
    (tmp_path / "out.parquet").write_text("the old file")
    code = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096));"
        "from sfumato.cli import main;"
        "sys.argv = ['sfumato', 'randomize', 'raw.parquet', 'out.parquet', '--scheme', 'scheme.json', '--overwrite']; main()"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, env=environment())
    assert run.returncode == 1
    assert run.stderr.count("\n") == 1
    assert "out.parquet: cannot be written" in run.stderr or "disk is full" in run.stderr
    assert (tmp_path / "out.parquet").read_text() == "the old file"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.parquet", "raw.parquet", "scheme.json"]


@pytest.mark.parametrize(
    ("how", "order", "said"),
    [
        (signal.SIGINT, "keep", "interrupted"),
        (signal.SIGTERM, "shuffle", "terminated"),
        (signal.SIGHUP, "keep", "the terminal was closed"),
    ],
)
def test_an_interrupt_midway_leaves_no_half_file(tmp_path: Path, how: signal.Signals, order: str, said: str) -> None:
    (tmp_path / "raw.csv").write_text("a,b,c\n")
    (tmp_path / "scheme.json").write_text(SCHEME.to_json())
    (tmp_path / "out.parquet").write_text("the old file")
    code = (
        "import signal, sys; from sfumato.cli import busy, main; import sfumato.cli.randomize as r; import time\n"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"  # a test run under nohup passes on that it is ignored
        "from sfumato.reading import tables\n"
        "from sfumato.owner import shuffle\n"
        "import pyarrow as pa\n"
        "shuffle.HELD_ROWS = 5000\n"
        "def endless(*_):\n"  # the command is certainly midway
        "    for i in range(10 ** 6):\n"
        "        if i == 20: print('midway', flush=True)\n"
        "        yield pa.RecordBatch.from_pydict({'a': [0] * 999, 'b': [1] * 999, 'c': [1] * 999}); time.sleep(0.01)\n"
        "tables.batches = endless\n"
        "tables.count_rows = lambda _: None\n"
        "sys.argv = 'sfumato randomize raw.csv out.parquet --scheme scheme.json --overwrite --order'.split()\n"
        f"sys.argv.append('{order}'); main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    assert process.stdout.readline() == "midway\n"
    assert len([p for p in tmp_path.iterdir() if p.suffix == ".part"]) == (order == "keep")
    process.send_signal(how)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 128 + how
    lines = [line for line in stderr.splitlines() if "keep their order" not in line]
    assert lines == [f"error: {said}; nothing was left half-written"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.parquet", "raw.csv", "scheme.json"]
    assert (tmp_path / "out.parquet").read_text() == "the old file"


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(sf.__file__).parents[1]), "COLUMNS": "500"}


def test_keyed_answers_tell_awkward_ids_apart() -> None:
    """Trailing zero bytes, long ids, other alphabets: every id has its own answer, and one long id costs no memory."""
    ids = (
        ["z" + "\0" * i for i in range(50)]
        + ["x" * n for n in range(90, 140)]
        + [f"\u017e{i}" for i in range(50)]
        + ["-7", "7", "07"]
    )
    n = len(ids)
    schema = sf.Schema({"a": sf.Categorical(tuple(range(256)))})
    scheme = sf.Scheme(schema, {"a": c.symmetric(256, 0.99)})
    table = pa.table({"id": ids, "a": np.zeros(n, int)})
    once = sf.randomize(table, scheme, key=KEY, id="id").arrow().to_pydict()
    assert len(set(once["a"])) > 90  # of 256 answers, 153 draws hit about 115
    assert len(set(once["id"])) == n
    answer = dict(zip(once["id"], once["a"], strict=True))
    for i in range(0, n, 10):
        single = sf.randomize(table.slice(i, 1), scheme, key=KEY, id="id").arrow().to_pydict()
        assert answer[single["id"][0]] == single["a"][0]
