"""The published JSON Schema accepts what the program writes, and refuses what it would refuse."""

from __future__ import annotations

import copy
import hashlib
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


@pytest.fixture
def server(tmp_path: Path):  # type: ignore[no-untyped-def]
    """A server, and what it answers to a response."""
    testclient = pytest.importorskip("starlette.testclient")
    from sfumato.service.app import create_app
    from sfumato.service.collection import open_collection
    from sfumato.service.settings import Settings

    held = open_collection(tmp_path, None, Settings(per_address=0, per_token=0, read_apart=False))
    with testclient.TestClient(create_app(held)) as client:

        def respond(study: str, asked: sf.Scheme | sf.Forms, body: Any) -> Any:
            if study not in held.studies:
                held.writer.now(held.studies.create(study, {"scheme": asked.to_dict()}))
                held.writer.now(held.studies.open(study))
            return client.post(f"/v1/studies/{study}/responses", json=body)

        yield respond
    held.close()


NUMBERS = sf.Schema({"car": sf.Categorical(("no", "yes")), "pay": sf.Numeric(0, 9, bins=3)})
FORMS = sf.Forms.for_gamma(sf.Schema({name: sf.Categorical(("no", "yes")) for name in "xyz"}), 9, ask=2)


@pytest.mark.filterwarnings("ignore::sfumato.errors.DisclosureWarning")
def test_responses_that_are_taken_and_their_receipts_are_accepted(server) -> None:  # type: ignore[no-untyped-def]
    noisy = sf.Scheme(NUMBERS, {"car": sf.channels.symmetric(2, 0.25), "pay": sf.channels.gaussian(1.0)})
    few = dict.fromkeys(FORMS[1].columns, 1)
    for study, asked, form, answers in (
        ("numbers", noisy, {}, {"car": 1, "pay": 3.5}),
        ("none", noisy, {"form": None}, {"car": 0, "pay": -1}),
        ("forms", FORMS, {"form": 1}, few),
    ):
        body = {"id": "a-response-of-ours", "fingerprint": asked.fingerprint, **form, "answers": answers}
        for status in ("accepted", "replayed"):
            answer = server(study, asked, body)
            assert answer.is_success and answer.json()["status"] == status, answer.text
            assert accepts(body, "response") and accepts(answer.json(), "receipt"), study
        codes = ",".join(str(code) for code in answers.values())
        if "pay" not in answers:  # how numbers under noise are spelled stands in the page of the HTTP API
            told = f"sfumato response 1|{study}|{body['id']}|{asked.fingerprint}|{form['form']}|{codes}"
            assert answer.json()["receipt"] == hashlib.sha256(told.encode()).hexdigest()


@pytest.mark.parametrize(
    "wrong", [{"id": "short"}, {"fingerprint": "00"}, {"form": "1"}, {"answers": {"car": "yes"}}, {"name": "Smith"}]
)
def test_responses_that_are_refused_are_not_accepted(server, wrong) -> None:  # type: ignore[no-untyped-def]
    asked = sf.Scheme(NUMBERS.select(["car"]), {"car": sf.channels.symmetric(2, 0.25)})
    body = {"id": "a-response-of-ours", "fingerprint": asked.fingerprint, "answers": {"car": 1}}
    assert server("plain", asked, body).is_success and accepts(body, "response")
    assert server("plain", asked, {**body, **wrong}).is_client_error and not accepts({**body, **wrong}, "response")
