"""Small inputs that used to eat the machine: each is refused in one line, or read without building its matrices."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.hostile.guard import guarded, refused

import sfumato as sf
from sfumato import channels as c
from sfumato.channels.select_a_size import SelectASize
from sfumato.channels.size_limits import MOST_CELLS
from sfumato.errors import SfumatoError
from sfumato.evidence.counting import counter
from sfumato.learn.bayesnet import BayesianNetwork
from sfumato.randomness import ONE
from sfumato.scheme import VERSION
from sfumato.writing.described_file import content, sidecar


def document(sizes: dict[str, int], channels: list[tuple[list[str], dict]]) -> str:
    schema = {
        name: {"kind": "numeric", "edges": list(range(size + 1)), "nullable": False} for name, size in sizes.items()
    }
    entries = [{"attributes": names, "channel": channel} for names, channel in channels]
    return json.dumps({"format": "sfumato scheme", "version": VERSION, "schema": schema, "channels": entries})


def test_a_mask_over_a_billion_items_is_refused() -> None:
    text = document({"a": 2}, [(["a"], {"kind": "mask", "p": 0.1, "items": 10**9})])
    assert len(text) < 300
    assert "at most 100000 attributes" in refused(lambda: sf.Scheme.from_json(text))
    many = document({"a": 2}, [(["a"], {"kind": "mask", "p": 0.1, "items": 99_999})] * 3000)
    assert refused(lambda: sf.Scheme.from_json(many))
    nested = {"kind": "product", "channels": [{"kind": "mask", "p": 0.1, "items": 99_999}] * 2000}
    assert "attributes together" in refused(lambda: sf.Scheme.from_json(document({"a": 2}, [(["a"], nested)])))


def test_many_large_subset_channels_are_refused_before_any_is_built() -> None:
    names = [f"a{i}" for i in range(100)]
    one = {"kind": "subset", "values": 5700, "gamma": "3", "design": "sets", "size": 1}
    entries = [([name], {**one, "gamma": str(3 + i)}) for i, name in enumerate(names)]
    text = document(dict.fromkeys(names[:3], 5700), entries[:3])
    assert f"more than {MOST_CELLS}" in refused(lambda: sf.Scheme.from_json(text))
    with guarded(memory=1 << 28):
        channels = [c.from_dict(one) for _ in names]
        assert all(round(channel.gamma, 9) == 3 for channel in channels)


def test_many_large_windows_are_read_without_their_matrices() -> None:
    names = [f"a{i}" for i in range(50)]
    one = {"kind": "windows", "values": 2000, "gamma": "3", "widths": [1, 2, 4, 8]}
    text = document(
        dict.fromkeys(names, 2000), [([name], {**one, "gamma": str(3 + i)}) for i, name in enumerate(names)]
    )
    assert len(text) < 1_000_000
    with guarded(seconds=1, memory=300 << 20):
        assert len(sf.Scheme.from_json(text).groups) == 50


@pytest.mark.parametrize(
    "channel", [c.subset(20, 3), c.subset(64, 3), c.subset(7, 1.5), c.windows(30, 3), c.windows(9, 2)]
)
def test_gamma_and_outputs_without_the_matrix_are_those_of_the_matrix(channel) -> None:
    exact = max(channel.exact_gammas())
    assert channel.weights.shape == (channel.k, channel.m)
    assert exact <= channel.exact_gamma <= channel.bound
    assert float(channel.exact_gamma) == pytest.approx(float(exact), rel=1e-15)


def test_a_duplicate_among_many_categories_is_found_at_once() -> None:
    values = [str(i) for i in range(100_000)]
    assert "distinct" in refused(lambda: sf.Categorical((*values, "99999")))
    schema = {"a": {"kind": "categorical", "values": [*values, "99999"], "nullable": False}}
    text = json.dumps({"format": "sfumato scheme", "version": VERSION, "schema": schema, "channels": []})
    assert "distinct" in refused(lambda: sf.Scheme.from_json(text))


def test_select_a_size_over_300_items_knows_its_gamma() -> None:
    with guarded():
        channel = c.select_a_size([0.2, 0.3, 0.5], noise=0.3, items=300)
        assert channel.gamma == np.inf or channel.epsilon > 0
        wide = c.select_a_size(np.full(301, 1 / 301), noise=0.4, items=300)
        assert 1 < wide.epsilon < np.inf
    assert "at most 1000" in refused(lambda: c.select_a_size([0.5, 0.5], noise=0.3, items=2000))
    weights = {"keep": [str(ONE)], "noise": "1", "items": 10**9}
    assert "at most 1000" in refused(lambda: SelectASize.from_parameters(weights))


@pytest.mark.parametrize("noise", [0.0, 0.2, 0.5])
@pytest.mark.parametrize("keep", [[0.1, 0.3, 0.6], [0.2] * 5, [0.0, 1.0], [1.0]])
def test_select_a_size_has_the_gamma_of_every_pair_of_sizes(keep, noise) -> None:
    n = 6
    channel = c.select_a_size(keep, noise, items=n)
    worst = []
    for released in range(n + 1):
        column = [
            channel._probability(size, common, released)
            for size in range(n + 1)
            for common in range(max(0, size + released - n), min(size, released) + 1)
        ]
        if max(column) > 0:
            worst.append(max(column) / min(column) if min(column) > 0 else np.inf)
    assert float(channel.exact_gamma) == pytest.approx(float(max(worst)), rel=1e-12)
    assert channel.exact_gamma >= max(worst)
    assert [float(g) for g in channel.exact_gammas()] == pytest.approx([float(g) for g in worst], rel=1e-12)


def test_a_bif_default_over_eight_ten_valued_parents_is_refused() -> None:
    values = ", ".join(map(str, range(10)))
    lines = [f"variable v{i} {{ type discrete [ 10 ] {{ {values} }}; }}" for i in range(9)]
    tenth = ", ".join(["0.1"] * 10)
    lines += [f"probability ( v{i} ) {{ table {tenth}; }}" for i in range(1, 9)]
    lines.append(f"probability ( v0 | {', '.join(f'v{i}' for i in range(1, 9))} ) {{ default {tenth}; }}")
    assert "too many cells" in refused(lambda: BayesianNetwork.from_bif("\n".join(lines)))
    many = [f"variable v{i} {{ type discrete [ 1 ] {{ a }}; }}" for i in range(80)]
    many.append(f"probability ( v0 | {', '.join(f'v{i}' for i in range(1, 80))} ) {{ default 1; }}")
    assert "too many cells" in refused(lambda: BayesianNetwork.from_bif("\n".join(many)))


def alike(path, parts: list[int], values=None, ids: str | None = None) -> None:
    """A release of parts whose rows are all alike: run lengths make a few bytes of them."""
    schema = sf.Schema({"a": sf.Categorical(("x", "y"))})
    schemes = [sf.Scheme(schema, {"a": c.symmetric(2, gamma=2 + i)}) for i in range(len(parts))]
    named = {} if ids is None else {"id": "id", "link_key": bytes(32)}
    raw = [{"a": ["x"], "id": [f"n{i}"]} for i in range(len(parts))]
    sf.Release.concat([sf.randomize(row, s, **named) for row, s in zip(raw, schemes, strict=True)]).save(
        path, overwrite=True
    )
    about = json.loads(pq.read_metadata(path).metadata[b"sfumato"])
    for part, rows in zip(about["parts"], parts, strict=True):
        part["rows"] = rows
    size = min(sum(parts), 1 << 20)
    columns = {"a": np.zeros(size, dtype=np.uint8) if values is None else values[:size]}
    if ids is not None:
        columns["id"] = pa.DictionaryArray.from_arrays(np.zeros(size, dtype=np.int32), [ids])
    batch = pa.record_batch(columns)
    with pq.ParquetWriter(path, batch.schema, compression="zstd", store_schema=False) as sink:
        for _ in range(sum(parts) // size):
            sink.write_batch(batch)
        sink.add_key_value_metadata({"sfumato": json.dumps(about)})
    assert path.stat().st_size < 1_000_000


@pytest.mark.parametrize("values", [np.zeros(1 << 20), np.zeros(1 << 20, dtype=np.int64)])
def test_many_rows_of_a_small_file_stay_in_the_file(tmp_path, values) -> None:
    path = tmp_path / "r.parquet"
    alike(path, [9 << 20, 9 << 20], values)
    with guarded(seconds=1, memory=100 << 20):
        release = sf.Release.load(path)
        assert len(release) == 18 << 20
    assert "MB of memory" in refused(release.arrow)
    assert "MB of memory" in refused(lambda: release.save(tmp_path / "again.parquet"))


def test_rows_that_stay_in_the_file_are_counted_part_by_part(tmp_path, monkeypatch) -> None:
    path = tmp_path / "r.parquet"
    schema = sf.Schema({"a": sf.Categorical(("x", "y"))})
    rng = np.random.default_rng(1)
    parts = [
        sf.randomize(
            {"a": np.array(["x", "y"])[rng.integers(0, 2, n)]}, sf.Scheme(schema, {"a": c.symmetric(2, gamma=g)})
        )
        for n, g in ((70, 2), (1, 3), (40, 4))
    ]
    sf.Release.concat(parts).save(path)
    held = sf.Release.load(path)
    monkeypatch.setattr("sfumato.reading.memory_limit.most_unpacked", lambda size: 100)
    left = sf.Release.load(path)
    assert [part.span for part in left.parts] == [(0, 70), (70, 1), (71, 40)]
    assert [len(part) for part in left.parts] == [len(part) for part in held.parts] == [70, 1, 40]
    for mine, theirs in zip(left.parts, held.parts, strict=True):
        assert counter(mine).counts(["a"]).tolist() == counter(theirs).counts(["a"]).tolist()
    assert left.decode(8).num_rows == 8


@pytest.mark.parametrize("parts", [[1 << 18], [1 << 17, 1 << 17]])
def test_one_long_id_in_every_row_is_measured_before_it_is_read(tmp_path, parts) -> None:
    path = tmp_path / "r.parquet"
    alike(path, parts, ids="i" * 10_000)
    with guarded(seconds=1, memory=300 << 20):
        release = sf.Release.load(path)
        release.decode(3)
    assert "MB of memory" in refused(release.arrow)


def test_a_compressed_text_file_of_very_many_rows_is_refused(tmp_path) -> None:
    path = tmp_path / "r.csv.gz"
    alike(tmp_path / "r.parquet", [1, 1])
    about = json.loads(pq.read_metadata(tmp_path / "r.parquet").metadata[b"sfumato"])
    with gzip.open(path, "wb") as file:
        file.write(b"a\n")
        for _ in range(34):
            file.write(b"0\n" * (1 << 20))
    for rows in (17 << 20, 5):  # as many as there are, and fewer
        said = {**about, "parts": [{**part, "rows": rows} for part in about["parts"]]}
        sidecar(path).write_text(json.dumps({**said, **content(path)}))
        with guarded(seconds=2, memory=400 << 20), pytest.raises(SfumatoError, match="MB of memory|speaks of"):
            sf.Release.load(path)


def test_the_first_rows_of_a_file_are_shown_without_reading_the_rest(tmp_path) -> None:
    path = tmp_path / "r.parquet"
    alike(path, [18 << 20], np.zeros(1 << 20, dtype=np.int64))
    with guarded(memory=1 << 28):
        assert sf.Release.load(path).decode(5).num_rows == 5
    assert "MB of memory" in refused(lambda: sf.Release.load(path).arrow())


def test_bins_by_number_have_a_limit_over_the_whole_schema() -> None:
    assert "bins" in refused(lambda: sf.Numeric(0, 1, bins=10**9))
    entry = {"kind": "numeric", "low": 0, "high": 1, "bins": 1_000_000}
    assert "bins in all" in refused(lambda: sf.Schema.from_dict({f"a{i}": entry for i in range(1000)}))


def test_a_large_prime_is_not_looked_for() -> None:
    one = {"kind": "subset", "values": 5, "gamma": "3", "design": "projective", "size": (1 << 89) - 1}
    assert "prime" in refused(lambda: c.from_dict(one))


def test_the_limits_leave_ordinary_schemes_alone() -> None:
    schema = sf.Schema({f"a{i}": sf.Numeric(0, 1, bins=100) for i in range(200)})
    assert len(sf.Scheme.for_gamma(schema, 3).groups) == 200
    with pytest.raises(SfumatoError):
        sf.Scheme(schema, {"a0": c.mask(0.1)})


def test_attributes_treated_alike_share_one_matrix() -> None:
    schema = sf.Schema({f"a{i}": sf.Numeric(0, 1, bins=500) for i in range(100)})
    for scheme in (
        sf.Scheme(schema, dict.fromkeys(schema.names, c.windows(500, 3))),
        sf.Scheme(schema, {name: c.windows(500, 3) for name in schema.names}),
    ):
        read = sf.Scheme.from_json(scheme.to_json())
        assert len({id(group.channel) for group in read.groups}) == 1
        with guarded(memory=512 << 20):
            assert len(sf.randomize({name: np.full(3, 0.5) for name in schema.names}, read)) == 3


def test_thousands_of_dates_are_read_at_once() -> None:
    entry = {"kind": "date", "first": "1800-01-01", "last": "2069-12-31", "by": "day"}
    with guarded(seconds=2):
        assert len(sf.Schema.from_dict({f"d{i}": entry for i in range(5500)}).sizes()) == 5500


def described(path, schemes: list[dict], rows: pa.Table) -> None:
    """A release of one row under each scheme."""
    parts = [{"rows": 1, "link": None, "scheme": scheme} for scheme in schemes]
    about = {"format": "sfumato release", "version": VERSION, "id": None, "order": "shuffled", "parts": parts}
    with pq.ParquetWriter(path, rows.schema) as sink:
        sink.write_table(rows)
        sink.add_key_value_metadata({"sfumato": json.dumps(about)})
    assert path.stat().st_size < 1_000_000


def test_bins_have_a_limit_over_all_parts_of_a_release(tmp_path) -> None:
    path = tmp_path / "r.parquet"
    schemes = []
    for i in range(40):
        scheme = json.loads(document({}, [(["a"], {"kind": "symmetric", "sizes": [1_000_000], "other": str(i + 1)})]))
        scheme["schema"] = {"a": {"kind": "numeric", "low": 0, "high": 1, "bins": 1_000_000}}
        schemes.append(scheme)
    described(path, schemes, pa.table({"a": pa.array(range(40), pa.uint32())}))
    assert "bins in all" in refused(lambda: sf.Release.load(path))
    described(path, schemes[:1] * 1000, pa.table({"a": pa.array(range(1000), pa.uint32())}))
    with guarded(memory=300 << 20):  # the same scheme is read once
        assert len(sf.Release.load(path).parts) == 1000


def test_matrices_have_a_limit_over_all_parts_of_a_release(tmp_path) -> None:
    path = tmp_path / "r.parquet"
    one = {"kind": "subset", "values": 5700, "design": "sets", "size": 1}
    schemes = [json.loads(document({"a": 5700}, [(["a"], {**one, "gamma": str(i + 2)})])) for i in range(3)]
    described(path, schemes, pa.table({"a": pa.array([0] * 3, pa.uint16())}))
    assert f"more than {MOST_CELLS}" in refused(lambda: sf.Release.load(path))
    rows = pa.table({"a": pa.array([0], pa.uint16())})
    parts = [sf.Release(rows, sf.Scheme.from_dict(scheme)) for scheme in schemes]
    together = sf.Release.concat(parts)
    assert f"more than {MOST_CELLS}" in refused(lambda: together.save(tmp_path / "s.parquet"))
    sf.Release.concat(parts[:1] * 3).save(tmp_path / "s.parquet")
    assert len(sf.Release.load(tmp_path / "s.parquet")) == 3
