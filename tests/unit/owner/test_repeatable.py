"""A partition that is computed again draws nothing new; other rows at its place share no word with the first ones."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato import channels as c
from sfumato.owner import spark
from sfumato.owner.repeatable import Places
from sfumato.reading.spark_rows import unpacked
from sfumato.secrets.pseudonyms import Pseudonyms

SCHEMA = sf.Schema({"a": sf.Categorical((0, 1, 2)), "x": sf.Numeric(0, 1, points=3)})
SCHEME = sf.Scheme(SCHEMA, {"a": c.symmetric(3, 0.4), "x": c.symmetric(3, 0.4)})
ONCE = bytes(range(32))


def rows(n: int = 2000, seed: int = 0) -> pa.RecordBatch:
    rng = np.random.default_rng(seed)
    return pa.RecordBatch.from_pydict({"a": rng.integers(0, 3, n), "x": rng.uniform(0, 1, n)})


def computed(batches: list[pa.RecordBatch], scheme: object = SCHEME, once: bytes = ONCE) -> list[pa.RecordBatch]:
    cells = spark.answer_partition(scheme.to_json(), None, once, None, None, False, iter(batches))
    return [unpacked(cell.column("rows")[0].as_buffer()) for cell in cells]


@pytest.mark.parametrize(
    "scheme", [SCHEME, sf.Forms([SCHEME.select(["a"]), SCHEME.select(["x"])])], ids=["scheme", "forms"]
)
def test_the_same_rows_get_the_same_answers(scheme: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark, "larger", iter)
    batches = [rows(seed=1), rows(seed=2)]
    assert computed(batches, scheme) == computed(batches, scheme)
    assert computed(batches, scheme) != computed(batches, scheme, bytes(32))  # another release draws anew


def test_equal_batches_at_different_places_get_answers_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark, "larger", iter)
    first, second = computed([rows(), rows()])
    assert first != second


def test_other_rows_at_the_same_place_meet_independent_words() -> None:
    """Were the words the same, a value that moved would show: equal words would make most answers equal."""
    n = 20_000
    ones, twos = (pa.RecordBatch.from_pydict({"a": np.full(n, v), "x": np.zeros(n)}) for v in (1, 2))
    mixed = pa.RecordBatch.from_pydict({"a": np.append(np.full(n - 1, 1), 2), "x": np.zeros(n)})
    a, b = (computed([each])[0].column("a").to_numpy() for each in (ones, mixed))
    expected = 0.6**2 + 2 * 0.2**2  # of two independent answers to the same value
    assert abs((a == b).mean() - expected) < 6 * 0.5 / np.sqrt(n)
    assert (computed([twos])[0].column("a").to_numpy() == 2).mean() == pytest.approx(0.6, abs=0.02)


def test_answers_follow_the_matrix() -> None:
    n = 60_000
    found = computed([pa.RecordBatch.from_pydict({"a": np.ones(n, int), "x": np.zeros(n)})])[0]
    share = np.bincount(found.column("a").to_numpy(), minlength=3) / n
    np.testing.assert_allclose(share, [0.2, 0.6, 0.2], atol=6 * 0.5 / np.sqrt(n))


def test_streams_differ_by_partition_batch_purpose_and_content() -> None:
    def bits(partition: int, batches: int, what: bytes, told: list[np.ndarray]) -> bytes:
        places = Places(ONCE, partition)
        for _ in range(batches):
            places.move()
        out = np.empty(16, dtype=np.uint8)
        places.stream(what, told).fill(out)
        return out.tobytes()

    same = [np.arange(3)]
    drawn = [bits(*how) for how in [(0, 0, b"q", same), (1, 0, b"q", same), (0, 1, b"q", same), (0, 0, b"r", same)]]
    drawn += [bits(0, 0, b"q", [np.arange(3, dtype=np.int8)]), bits(0, 0, b"q", [])]
    assert len(set(drawn)) == len(drawn)
    assert bits(0, 0, b"q", same) == drawn[0]


def test_rounds_of_a_longitudinal_channel_are_not_drawn_again() -> None:
    schema = sf.Schema({"mood": sf.Categorical(tuple("abcd"))})
    scheme = sf.Scheme(schema, {"mood": c.longitudinal(4, gamma=3, lifetime=27)})
    key = sf.new_key(study="rounds")
    batch = pa.RecordBatch.from_pydict({"mood": list("abcd") * 200, "id": np.arange(800)})
    made = Pseudonyms.under(key, None)

    def once_more(secret: bytes) -> pa.RecordBatch:
        (cell,) = spark.answer_partition(scheme.to_json(), key, secret, "id", made, False, iter([batch]))
        return unpacked(cell.column("rows")[0].as_buffer())

    assert once_more(ONCE) == once_more(ONCE)
    assert once_more(ONCE) != once_more(bytes(32))
