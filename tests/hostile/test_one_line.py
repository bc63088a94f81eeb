"""Failures that used to end in a traceback: each is one line."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.command_line import run
from tests.hostile.guard import refused

import sfumato as sf
from sfumato import channels as c
from sfumato.learn.bayesnet.structure import read_structure
from sfumato.reading.json_documents import read_json

SCHEMA = sf.Schema({"a": sf.Categorical(("x", "y", "z"))})
SCHEME = sf.Scheme(SCHEMA, {"a": c.symmetric(3, gamma=3)})


def document(**changed) -> str:
    return json.dumps({**SCHEME.to_dict(), **changed})


def saved(folder, change) -> object:
    """A release whose description was changed."""
    path = folder / "r.parquet"
    sf.randomize({"a": ["x", "y"] * 5}, SCHEME).save(path)
    rows, about = pq.read_table(path), pq.read_metadata(path).metadata[b"sfumato"].decode()
    with pq.ParquetWriter(path, rows.schema.remove_metadata()) as sink:
        sink.write_table(rows.replace_schema_metadata(None))
        sink.add_key_value_metadata({"sfumato": change(about)})
    return path


@pytest.mark.parametrize("code", [3, 200, -1])
def test_codes_outside_the_scheme_are_not_decoded(code) -> None:
    rows = pa.table({"a": pa.array([0, code], type=pa.int64())})
    assert f"holds {code}, outside the codes 0 .. 2" in refused(lambda: sf.Release(rows, SCHEME).decode())
    gaps = pa.table({"a": pa.array([0, None], type=pa.uint8())})
    assert "without gaps" in refused(lambda: sf.Release(gaps, SCHEME).decode())
    assert "codes" in refused(lambda: SCHEMA["a"].decode([code]))


@pytest.mark.parametrize(
    "text, said",
    [
        ('{"a": ' + "9" * 5000 + "}", "too many digits"),
        ('{"a": NaN}', "NaN"),
        ('{"a": -Infinity}', "-Infinity"),
        ('{"a": "\\ud800"}', "surrogate"),
        ('{"\\udfff": 1}', "surrogate"),
        ("[" * 100_000, "nested too deeply"),
        (b'{"a": "\xff"}', "not UTF-8"),
        ("", "is empty"),
        (7, "must be text"),
    ],
)
def test_documents_that_are_no_json(text, said) -> None:
    assert said in refused(lambda: read_json(text, "it"))


@pytest.mark.parametrize("bad", ["9" * 5000, "NaN", "Infinity", '"\\ud800"', "[" * 50_000])
def test_they_are_refused_wherever_documents_are_read(tmp_path, bad) -> None:
    def change(text: str) -> str:
        return text.replace('"version": ', f'"x": {bad}, "version": ', 1)

    assert refused(lambda: sf.Scheme.from_json(change(SCHEME.to_json())))
    assert refused(lambda: sf.Schema.from_json(change(SCHEMA.to_json())))
    assert refused(lambda: sf.Release.load(saved(tmp_path, change)))
    (tmp_path / "net.json").write_text(f'{{"a": {bad}}}')
    assert refused(lambda: read_structure(tmp_path / "net.json"))


@pytest.mark.parametrize("rows", [-1, -(10**30), 10**30, 1.5, "10", None, True, [10]])
def test_numbers_of_rows_that_cannot_be(tmp_path, rows) -> None:
    def change(text: str) -> str:
        about = json.loads(text)
        about["parts"][0]["rows"] = rows
        about["parts"] *= 2
        return json.dumps(about)

    assert "rows" in refused(lambda: sf.Release.load(saved(tmp_path, change)))


def test_names_and_values_are_whole_characters() -> None:
    assert "surrogate" in refused(lambda: sf.Schema({"\ud800": SCHEMA["a"]}))
    assert "surrogate" in refused(lambda: sf.Categorical(("x", "\udfff")))


def test_headers_that_are_not_utf_8(tmp_path) -> None:
    for name, text in (("raw.csv", b"a\xff\xfe,b\n1,2\n"), ("other.csv", b"\xff\xfea\x00,\x00b\x00\n\x00")):
        (tmp_path / name).write_bytes(text)
        ran = run(f"randomize {tmp_path}/{name} {tmp_path}/r.parquet --gamma 3 --columns a")
        assert ran.code == 1 and "Traceback" not in ran.error
        assert refused(lambda path=tmp_path / name: sf.randomize(path, SCHEME))


def test_a_ratio_or_noise_that_is_no_number() -> None:
    for channel in (
        {"kind": "subset", "values": 3, "gamma": "1e999999999", "design": "sets", "size": 1},
        {"kind": "select_a_size", "keep": [str(1 << 63)], "noise": "-5", "items": 1},
        {"kind": "gaussian", "sd": 10**400},
        {"kind": "uniform", "half_width": "9" * 5000},
        {"kind": "symmetric", "sizes": [10**400], "other": "1"},
    ):
        entries = [{"attributes": ["a"], "channel": channel}]
        assert refused(lambda entries=entries: sf.Scheme.from_json(document(channels=entries)))


def test_an_unforeseen_failure_is_one_line_too(tmp_path, monkeypatch) -> None:
    def fail(*_, **__):
        raise RuntimeError("secret value 4711")

    monkeypatch.setattr("sfumato.cli.inspect.Release.load", fail)
    (tmp_path / "r.parquet").touch()
    ran = run(f"inspect {tmp_path / 'r.parquet'}")
    assert ran.code == 70 and "4711" not in ran.error and "Traceback" not in ran.error
    assert "RuntimeError" in ran.error
    np.testing.assert_equal(ran.out, "")
