"""The published JSON Schema accepts what the program writes, and refuses what it would refuse."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import sfumato as sf
from gallery import CHANNELS, CONTINUOUS
from sfumato.cli import app

jsonschema_rs = pytest.importorskip("jsonschema_rs")
PUBLISHED = json.loads((Path(__file__).parents[2] / "docs" / "formats" / "sfumato.schema.json").read_text())


def accepts(document: Any, part: str | None = None) -> bool:
    """Whether the schema, or a part of it, takes the document."""
    asked = PUBLISHED if part is None else {"$ref": f"#/$defs/{part}", "$defs": PUBLISHED["$defs"]}
    return bool(jsonschema_rs.validator_for(asked).is_valid(document))


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("formats")
    for line in (
        ["sample", str(folder)],
        ["counts", str(folder / "clinic.parquet"), "-o", str(folder / "clinic.json")],
        ["split", str(folder / "clinic.json"), "--sites", "3", "--site", "1", "-o", str(folder / "shares")],
        ["schema", str(folder / "patients.csv"), "--save", str(folder / "draft.json")],
    ):
        done = CliRunner().invoke(app, line)
        assert done.exit_code == 0, done.output
    return folder


def release_document(path: Path) -> Any:
    import pyarrow.parquet as pq

    return json.loads(pq.read_metadata(path).metadata[b"sfumato"])


def test_files_of_every_kind_are_accepted(samples: Path) -> None:
    found = {
        "schema": json.loads((samples / "schema.json").read_text()),
        "scheme": json.loads((samples / "scheme.json").read_text()),
        "release": release_document(samples / "clinic.parquet"),
        "counts": json.loads((samples / "clinic.json").read_text()),
        "share": json.loads((samples / "shares" / "from-1-to-2.json").read_text()),
        "forms": sf.Forms.for_gamma(sf.Schema({n: sf.Categorical(("a", "b")) for n in "xyz"}), 9).to_dict(),
    }
    assert accepts(json.loads((samples / "draft.json").read_text()), "schema")
    for part, document in found.items():
        assert accepts(document) and accepts(document, part), part
        other = "schema" if part != "schema" else "scheme"
        assert not accepts(document, other), part
        damaged = copy.deepcopy(document)
        damaged["version"] = 99
        assert not accepts(damaged), part


@pytest.mark.parametrize("name", [*CHANNELS, *CONTINUOUS])
def test_every_channel_is_accepted(name: str) -> None:
    document = {**CHANNELS, **CONTINUOUS}[name].to_dict()
    assert accepts(document, "channel")
    assert not accepts({**document, "strange": 1}, "channel")
    assert not accepts({"kind": document["kind"]}, "channel")


def test_every_kind_of_channel_and_attribute_is_described() -> None:
    from sfumato.channels.base import FAMILIES
    from sfumato.domains.document import KEYS

    def kinds(part: str) -> set[str]:
        return {entry["properties"]["kind"]["const"] for entry in PUBLISHED["$defs"][part]["oneOf"]}

    assert kinds("channel") == set(FAMILIES)
    assert kinds("domain") == set(KEYS)
    for entry in PUBLISHED["$defs"]["domain"]["oneOf"]:
        kind = entry["properties"]["kind"]["const"]
        assert set(entry["properties"]) - {"kind", "why", "discloses", "note"} == KEYS[kind], kind


def test_free_text_and_groups_are_accepted() -> None:
    text = sf.Scheme.for_gamma(sf.Schema({"why": sf.Text(10)}), gamma=50).to_dict()
    pairs = sf.Forms.for_gamma(sf.Schema({n: sf.Ordinal(("a", "b", "c")) for n in "xy"}), 9).to_dict()
    assert accepts(text) and accepts(pairs)


def test_the_schema_document_of_the_docs_is_accepted() -> None:
    page = (Path(__file__).parents[2] / "docs" / "schema.md").read_text()
    block = page.split("```json\n")[1].split("```")[0]
    assert accepts(json.loads(block), "schema")
