"""What the order of the released rows tells about the order of the raw ones: nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.command_line import run

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import DisclosureWarning, SfumatoError
from sfumato.owner import shuffle
from sfumato.owner.many_files import randomize_folder
from sfumato.randomness import SecureSource
from sfumato.reading import tables

pytestmark = pytest.mark.filterwarnings("ignore:.*project:sfumato.errors.SfumatoWarning")

N, BINS = 20_000, 4
SCHEMA = sf.Schema({"income": sf.Ordinal(tuple(range(BINS)))})
SCHEME = sf.Scheme(SCHEMA, {"income": c.symmetric(BINS, gamma=1.5)})
SORTED = {"id": np.arange(N), "income": np.sort(np.random.default_rng(0).integers(0, BINS, N))}


def guessed(release: sf.Release) -> float:
    """The attack: a row's place in the file is its rank, and the estimated shares turn ranks into bins."""
    shares = np.cumsum(sf.evidence(release, method="project").counts("income").value) / N
    bins = np.searchsorted(shares, (np.arange(N) + 0.5) / N).clip(0, BINS - 1)
    return float(np.mean(bins == SORTED["income"]))


def correlation(release: sf.Release) -> float:
    released = release.arrow().column("income").to_numpy().astype(float)
    return float(np.corrcoef(released, np.arange(len(released)))[0, 1])


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few rows are enough to go through the buckets on disk."""
    monkeypatch.setattr(tables, "BATCH", 1000)
    monkeypatch.setattr(shuffle, "HELD_ROWS", 3000)


@pytest.mark.parametrize("id", [None, "id"])
@pytest.mark.usefixtures("small")
def test_a_sorted_file_is_not_read_off_its_release(tmp_path: Path, id: str | None) -> None:
    pq.write_table(pa.table(SORTED), tmp_path / "sorted.parquet", row_group_size=1000)
    kept = tmp_path / "kept.parquet"
    with pytest.warns(DisclosureWarning, match="the rows keep their order"):
        leaking = sf.randomize_file(tmp_path / "sorted.parquet", kept, SCHEME, id=id, order="keep")
    assert guessed(leaking) > 0.75  # the negative control: in order, nearly every bin is known
    assert correlation(leaking) > 6 / np.sqrt(N)
    for release in (
        sf.randomize(SORTED, SCHEME, id=id),
        sf.randomize_file(tmp_path / "sorted.parquet", tmp_path / "out.parquet", SCHEME, id=id),
        sf.randomize_file(tmp_path / "sorted.parquet", tmp_path / "out.csv", SCHEME, id=id),
    ):
        assert len(release) == N
        assert abs(correlation(release)) < 5 / np.sqrt(N)
    assert sorted(p.suffix for p in tmp_path.iterdir()) == [".csv", ".json", ".parquet", ".parquet", ".parquet"]


@pytest.mark.usefixtures("small")
def test_rows_of_many_bytes_are_not_read_off_either(tmp_path: Path) -> None:
    """Rows of more than eight bytes are not moved as numbers, but by a way of their own."""
    names = ["income", *(f"other{i}" for i in range(8))]
    scheme = sf.Scheme.for_gamma(sf.Schema(dict.fromkeys(names, SCHEMA["income"])), 1.5)
    path = tmp_path / "sorted.parquet"
    pq.write_table(pa.table(dict.fromkeys(names, SORTED["income"])), path, row_group_size=1000)
    for release in (
        sf.randomize(dict.fromkeys(names, SORTED["income"]), scheme),
        sf.randomize_file(path, tmp_path / "out.parquet", scheme),
    ):
        assert abs(correlation(release)) < 5 / np.sqrt(N)
    with pytest.warns(DisclosureWarning, match="the rows keep their order"):
        assert correlation(sf.randomize_file(path, tmp_path / "kept.parquet", scheme, order="keep")) > 6 / np.sqrt(N)


@pytest.mark.usefixtures("small")
def test_every_row_arrives_once_and_anywhere(tmp_path: Path) -> None:
    """Under the identity: each row arrives, and its place in the file is uniform, whatever bucket or batch it was in."""
    n = 12_000
    schema = sf.Schema({"x": sf.Categorical(tuple(range(n)))})
    release = sf.randomize_file({"x": np.arange(n)}, tmp_path / "out.parquet", sf.Scheme(schema, {"x": c.identity(n)}))
    x = release.arrow().column("x").to_numpy().astype(int)
    assert sorted(x.tolist()) == list(range(n))
    cells = np.bincount(10 * (x * 10 // n) + np.arange(n) * 10 // n, minlength=100)
    expected = n / 100
    assert ((cells - expected) ** 2 / expected).sum() < 81 + 6 * np.sqrt(2 * 81)
    assert (np.diff(x) == 1).mean() < 0.002  # neighbours are parted


@pytest.mark.usefixtures("small")
def test_repeated_ids_meet_in_their_bucket(tmp_path: Path) -> None:
    twice = {**SORTED, "id": np.where(SORTED["id"] == N - 1, 5, SORTED["id"])}
    for order in ("shuffle", "keep"):
        with pytest.raises(SfumatoError, match="1 id occurs more than once"):
            if order == "keep":
                with pytest.warns(DisclosureWarning):
                    sf.randomize_file(twice, tmp_path / "out.parquet", SCHEME, id="id", order=order)
            else:
                sf.randomize_file(twice, tmp_path / "out.parquet", SCHEME, id="id")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("keys", [{}, {"key": sf.new_key()}], ids=["fresh", "keyed"])
def test_a_person_in_two_rows_is_found_out_in_a_folder_of_forms(tmp_path: Path, keys: dict) -> None:
    """Fresh forms are drawn row by row: the two rows mostly stand in different files."""
    schema = sf.Schema({name: sf.Categorical(("no", "yes")) for name in "abcd"})
    rows = {**{name: ["no"] * 41 for name in "abcd"}, "id": [*map(str, range(40)), "7"]}
    pq.write_table(pa.table(rows), tmp_path / "raw.parquet")
    forms = sf.Forms.for_gamma(schema, 9, ask=1)
    for attempt in range(5):
        with pytest.raises(SfumatoError, match="1 id occurs more than once"):
            randomize_folder(tmp_path / "raw.parquet", tmp_path / f"out{attempt}", forms, id="id", jobs=1, **keys)
        assert not (tmp_path / f"out{attempt}").exists()


@pytest.mark.parametrize("id", [None, "id"])
def test_a_sorted_file_is_not_read_off_a_release_in_a_folder(tmp_path: Path, id: str | None) -> None:
    pq.write_table(pa.table(SORTED), tmp_path / "raw.parquet", row_group_size=3000)
    release = randomize_folder(tmp_path / "raw.parquet", tmp_path / "out", SCHEME, id=id, jobs=1)
    assert len(release) == N and abs(correlation(release)) < 5 / np.sqrt(N)
    hidden = [path for path in tmp_path.rglob("*") if path.name.startswith(".")]
    assert hidden == [] and not any(path.suffix == ".draft" for path in tmp_path.rglob("*"))


def test_a_seed_gives_the_same_order_and_the_secure_source_another(tmp_path: Path) -> None:
    one, two = (sf.randomize(SORTED, SCHEME, id="id", rng=sf.experiment(5)).arrow() for _ in range(2))
    assert one == two
    unnamed = {"income": SORTED["income"]}
    assert (
        sf.randomize(unnamed, SCHEME, rng=sf.experiment(5)).arrow()
        == sf.randomize(unnamed, SCHEME, rng=sf.experiment(5)).arrow()
    )
    assert sf.randomize(unnamed, SCHEME).arrow() != sf.randomize(unnamed, SCHEME).arrow()


def test_another_order_is_refused() -> None:
    with pytest.raises(SfumatoError, match="order must be one of shuffle, keep, got 'sorted'"):
        sf.randomize(SORTED, SCHEME, order="sorted")


def test_a_kept_order_is_said_by_inspect_and_assess(tmp_path: Path) -> None:
    with pytest.warns(DisclosureWarning):
        sf.randomize_file(SORTED, tmp_path / "kept.csv", SCHEME, order="keep")
    sf.randomize(SORTED, SCHEME).save(tmp_path / "shuffled.csv")
    for name, said in (("kept.csv", True), ("shuffled.csv", False)):
        assert ("the rows keep their owner's order" in run(f"inspect {tmp_path / name}").error) == said
        assert ("The rows keep their order" in run(f"assess {tmp_path / name}").out) == said


def test_shuffled_rows_are_not_held_against_the_truth_one_by_one() -> None:
    with pytest.raises(SfumatoError, match="the rows of the release were shuffled"):
        sf.attacks.bayes(sf.randomize(SORTED, SCHEME), attribute="income", truth=SORTED)


def test_rows_whose_first_bits_are_equal_are_told_apart_by_the_others() -> None:
    """Half of 1000 tags share their first eight bytes, two pairs share all sixteen."""
    rng = np.random.default_rng(5)
    tags = rng.integers(0, 256, (1000, 16), dtype=np.uint8)
    tags[::2, :8] = 7
    with shuffle.Shuffle(None, SecureSource(), tagged=True) as mixed:
        mixed.add(pa.RecordBatch.from_arrays([shuffle.tag_column(tags)], [shuffle.TAG]))
        (batch,) = mixed.rows()
    assert batch.column(shuffle.TAG).to_pylist() == sorted(tag.tobytes() for tag in tags)
    tags[[10, 20]] = tags[[500, 501]]
    with (
        shuffle.Shuffle(None, SecureSource(), tagged=True) as mixed,
        pytest.raises(SfumatoError, match="2 ids occur more than once"),
    ):
        mixed.add(pa.RecordBatch.from_arrays([shuffle.tag_column(tags)], [shuffle.TAG]))
        list(mixed.rows())


def test_equal_random_words_do_not_keep_the_order() -> None:
    """A source that gives the same bits for every row, and others for those that it could not tell apart."""

    class Stuck:
        def __init__(self) -> None:
            self.times = 0

        def fill(self, buffer: np.ndarray) -> None:
            self.times += 1
            buffer[:] = 1 if self.times == 1 else np.random.default_rng(6).integers(0, 256, buffer.size, dtype=np.uint8)

    with shuffle.Shuffle(None, Stuck(), tagged=False) as mixed:
        mixed.add(pa.RecordBatch.from_pydict({"a": np.arange(1000)}))
        (batch,) = mixed.rows()
    found = batch.column("a").to_numpy()
    assert sorted(found) == list(range(1000)) and abs(np.corrcoef(found, np.arange(1000))[0, 1]) < 0.15
