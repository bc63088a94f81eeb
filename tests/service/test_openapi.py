"""Traffic made from the API's own description: no 5xx, no undocumented answer. SFUMATO_CASES=500 sends more of it."""

from __future__ import annotations

import os
import tempfile

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.testclient import TestClient

from service_client import SCHEME
from sfumato.service.app import create_app
from sfumato.service.collection import open_collection
from sfumato.service.settings import Settings

CASES = int(os.environ.get("SFUMATO_CASES", "2"))
ROLES = ("admin", "miner", "site", "invitation", "nobody")
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.fixture(scope="module")
def server():
    """An application with an open study and a draft, and tokens of every role."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        held = open_collection(folder, None, Settings(per_address=0, per_token=0))
        write = held.writer.now
        for id in ("commuting", "draft"):
            write(held.studies.create(id, {"scheme": SCHEME.to_dict(), "minimum": 2}))
        write(held.studies.open("commuting"))
        tokens = {"admin": write(held.tokens.make("admin", None))[0][1], "nobody": None}
        for role in ("miner", "site", "invitation"):
            tokens[role] = write(held.tokens.make(role, "commuting"))[0][1]
        yield create_app(held), tokens
        held.close()


def test_documents_have_names_of_their_own(server):
    """Of two of one name, the description would name the modules that they stand in."""
    documents = TestClient(server[0]).get("/v1/openapi.json").json()["components"]["schemas"]
    assert len(documents) > 20 and not [name for name in documents if "__" in name]


def test_no_request_meets_an_undocumented_answer(server):
    app, tokens = server
    schema = schemathesis.openapi.from_asgi("/v1/openapi.json", app)
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) >= 24
    for operation in operations:
        may_be_wrong = [GenerationMode.NEGATIVE] if operation.body or operation.query else []
        for mode in (GenerationMode.POSITIVE, *may_be_wrong):
            for role in ROLES if CASES > 10 else ("admin",):
                send(operation, mode, tokens[role])


def send(operation, mode, token):
    @settings(
        max_examples=CASES,
        database=None,
        derandomize=CASES < 100,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def run(case):
        if "study" in (case.path_parameters or {}) and mode is GenerationMode.POSITIVE:
            case.path_parameters["study"] = "commuting" if len(case.path_parameters["study"]) % 2 else "draft"
        headers = {"authorization": f"Bearer {token}"} if token else {}
        case.call_and_validate(headers=headers, checks=CHECKS)

    try:
        run()
    except Unsatisfiable:
        assert mode is GenerationMode.NEGATIVE  # nothing can be wrong about a request without parameters
