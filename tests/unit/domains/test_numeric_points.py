"""Numeric attributes that are rounded at random to points."""

from __future__ import annotations

import hashlib
import json
import warnings
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from command_line import run
from sfumato import channels as c
from sfumato.errors import DisclosureWarning, OutsideDomainError, SchemaError, SchemeError
from sfumato.randomness import ONE, source, words

DOSE = sf.Numeric(0, 40, points=5)


def codes(release: sf.Release, name: str = "x") -> np.ndarray:
    return np.asarray(release.parts[0].rows.column(name))


def in_order(table: object, scheme: sf.Scheme, **options: object) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisclosureWarning)
        return codes(sf.randomize(table, scheme, order="keep", **options))  # type: ignore[arg-type]


def test_a_value_goes_to_one_of_its_two_points_and_keeps_its_mean() -> None:
    draws = words(source(1), 200_000)
    for value in (0.0, 3.0, 10.0, 19.99, 31.25, 40.0):
        found = DOSE.midpoints[DOSE.rounded(np.full(len(draws), value), draws)]
        assert set(np.unique(found)) <= {10 * np.floor(value / 10), 10 * np.ceil(value / 10)}
        assert abs(found.mean() - value) < 5 * 5 / np.sqrt(len(draws))
    nearest = DOSE.midpoints[DOSE.encode(np.full(100, 3.0))]
    assert abs(nearest.mean() - 3.0) > 1  # the negative control


def test_the_chance_is_exact_in_parts() -> None:
    threshold = ONE // 4  # 2.5 lies a quarter of the way from 0 to 10
    found = DOSE.rounded(np.array([2.5, 2.5, 40.0, 0.0]), np.array([threshold - 1, threshold, ONE - 1, 0], np.uint64))
    assert found.tolist() == [1, 0, 4, 0]


def test_points_in_documents() -> None:
    schema = sf.Schema({"x": sf.Numeric(-1, 1, points=3, nullable=True, clip=True, unit="mg", missing=("?",))})
    again = sf.Schema.from_json(schema.to_json())
    assert again == schema
    assert again["x"].labels == ("-1", "0", "1", None)
    assert again["x"].to_dict()["points"] == 3
    assert schema != sf.Schema({"x": sf.Numeric(-1, 1, bins=3, nullable=True)})
    assert sf.Schema({"x": DOSE})["x"].decode([0, 4]).to_pylist() == [0.0, 40.0]
    by_hand = '{"x": {"kind": "numeric", "low": 0, "high": 40, "points": 5}}'
    assert sf.Schema.from_json(by_hand)["x"] == DOSE


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        ({"points": 1}, "points must be a whole number of at least 2"),
        ({"points": 2.5}, "points must be a whole number of at least 2"),
        ({"points": "many"}, "points must be a whole number of at least 2"),
        ({"points": 1 << 30}, "points must be at most"),
        ({"points": 5, "bins": 4}, "either points or bins"),
        ({"points": 5, "edges": (0, 1, 40)}, "either points or bins"),
    ],
)
def test_bad_points_get_one_line(wrong: dict[str, object], line: str) -> None:
    with pytest.raises(SchemaError, match=line):
        sf.Numeric(0, 40, **wrong)  # type: ignore[arg-type]


def test_nulls_clip_and_values_outside() -> None:
    table = {"x": ["3 mg", "?", "99 mg", None]}
    dose = sf.Numeric(0, 40, points=5, nullable=True, clip=True, unit="mg", missing=("?",))
    scheme = sf.Scheme(sf.Schema({"x": dose}), clear=["x"])
    with pytest.warns(sf.errors.OutsideDomainWarning, match="1 value outside"):
        found = in_order(table, scheme)
    assert found[0] in (0, 1)
    assert found[1:].tolist() == [5, 4, 5]
    bare = sf.Scheme(sf.Schema({"x": DOSE}), clear=["x"])
    with pytest.raises(OutsideDomainError, match="1 row is null"):
        sf.randomize({"x": [3.0, None]}, bare)
    with pytest.raises(OutsideDomainError, match="above the range"):
        sf.randomize({"x": [3.0, 50.0]}, bare)


def test_the_same_value_repeats_its_rounding_and_another_does_not() -> None:
    n, key = 4000, sf.new_key()
    scheme = sf.Scheme(sf.Schema({"x": DOSE}), clear=["x"])
    ids = [f"p{i}" for i in range(n)]
    first = in_order({"x": np.full(n, 15.0), "id": ids}, scheme, key=key, id="id")
    again = in_order({"x": np.full(n, 15.0)[::-1], "id": ids}, scheme, key=key, id="id")
    near = in_order({"x": np.full(n, 15.0 + 1e-9), "id": ids}, scheme, key=key, id="id")
    assert first.tolist() == again.tolist()
    assert set(first) == {1, 2}
    agreement = float((first == near).mean())
    assert abs(agreement - 0.5) < 5 * 0.5 / np.sqrt(n)  # independent words: half of them agree by chance


def test_files_and_batches_round_as_one_table_does(tmp_path: Path) -> None:
    n, key = 3000, sf.new_key()
    scheme = sf.Scheme(sf.Schema({"x": DOSE}), {"x": c.average(5, 3)})
    table = {"x": np.linspace(0, 40, n), "id": [str(i) for i in range(n)]}
    whole = sf.randomize(table, scheme, key=key, id="id")
    path = tmp_path / "release.parquet"
    sf.randomize_file(table, path, scheme, key=key, id="id")
    written = pq.read_table(path)
    assert whole.parts[0].rows.sort_by("id").to_pydict() == written.sort_by("id").to_pydict()


def test_a_program_written_from_the_description_rounds_alike() -> None:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    from sfumato.question import question

    key = sf.new_key()
    k = hashlib.sha256(b"sfumato keyed answers 2\n" + key[-32:]).digest()

    def cbc(message: bytes) -> bytes:
        cipher = Cipher(algorithms.AES256(k), modes.CBC(bytes(16))).encryptor()
        return (cipher.update(message) + cipher.finalize())[-16:]

    def code(id: str, x: float, asked: bytes) -> int:
        text = id.encode() + b"\1"
        text += bytes(-len(text) % 16)
        person = cbc(hashlib.sha256(b"person|%d" % (len(text) // 16)).digest()[:16] + text)
        tail = np.float64(x).tobytes() + bytes(4) + (2**31).to_bytes(4, "little")
        word = int.from_bytes(
            cbc(hashlib.sha256(b"answer|" + asked + b"|1").digest()[:16] + person + tail)[:8], "little"
        )
        p = (x - 0) / 40 * 4
        i = min(int(p), 3)
        return i + ((word >> 1) < int((p - i) * 2**63))

    scheme = sf.Scheme(sf.Schema({"x": DOSE}), clear=["x"])
    values, ids = np.random.default_rng(2).uniform(0, 40, 50), [f"id {i}" for i in range(50)]
    asked = question(scheme, ("x",))
    expected = [code(id, x, asked) for id, x in zip(ids, values, strict=True)]
    assert in_order({"x": values, "id": ids}, scheme, key=key, id="id").tolist() == expected


def test_groups_round_each_attribute_by_a_word_of_its_own() -> None:
    n = 20_000
    schema = sf.Schema({"x": DOSE, "y": DOSE, "sex": sf.Categorical(("F", "M"))})
    scheme = sf.Scheme(schema, {("x", "y", "sex"): c.identity((5, 5, 2))})
    table = {"x": np.full(n, 5.0), "y": np.full(n, 5.0), "sex": ["F"] * n, "id": [str(i) for i in range(n)]}
    with pytest.warns(DisclosureWarning):
        release = sf.randomize(table, scheme, key=sf.new_key(), id="id", order="keep")
    x, y = codes(release, "x"), codes(release, "y")
    assert abs(np.corrcoef(x, y)[0, 1]) < 5 / np.sqrt(n)


def test_valid_combinations_take_no_points() -> None:
    schema = sf.Schema({"x": DOSE, "sex": sf.Categorical(("F", "M"))})
    with pytest.raises(SchemeError, match="rounding would break them"):
        sf.Scheme(schema, {("x", "sex"): c.symmetric(valid=[(0, "F"), (10, "M")], p=0.2)})


def test_the_schema_command_takes_points(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("income,sex\n" + "".join(f"{i * 7 % 1000}.5,{'FM'[i % 2]}\n" for i in range(200)))
    draft = tmp_path / "draft.json"
    asked = run(f"schema {table} --range income=0:2000 --points income=11 --save {draft}")
    assert asked.code == 0, asked.error
    document = json.loads(draft.read_text())["attributes"]["income"]
    assert (document["low"], document["high"], document["points"]) == (0, 2000, 11)
    assert "rounded at random to 11 points" in document["why"]
    assert sf.Schema.from_json(draft.read_text())["income"].rounds
    for wrong in ("--points income=many", "--points sex=3", "--points income=5 --bins income=4", "--points income=1"):
        failed = run(f"schema {table} {wrong}")
        assert failed.code != 0
        assert "Traceback" not in failed.error
        assert len(failed.error.strip().splitlines()) == 1


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_spark_rounds_as_one_table_does(spark_session: object) -> None:
    dose = sf.Numeric(0, 40, points=5, nullable=True)
    scheme = sf.Scheme(sf.Schema({"x": dose}), {"x": c.average(5, 3, nullable=True)})
    rows = [(None if i % 9 == 0 else 0.37 * i % 40, f"p{i}") for i in range(200)]
    frame = spark_session.createDataFrame(rows, "x double, id string")  # type: ignore[attr-defined]
    table = {"x": [x for x, _ in rows], "id": [id for _, id in rows]}
    key = sf.new_key()

    def answers(given: object) -> list[tuple[object, object]]:
        found = sf.randomize(given, scheme, key=key, id="id").arrow().to_pydict()
        return sorted(zip(found["id"], found["x"], strict=True))

    assert answers(frame) == answers(table)
    assert len(sf.randomize(frame, scheme)) == 200
