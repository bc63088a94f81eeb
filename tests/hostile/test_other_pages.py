"""Pages of strangers, and messages to other sites, against the collection server."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.hostile.test_collection_server import released, served

import sfumato as sf
from service_client import SCHEME
from sfumato.service import reader
from sfumato.service.study import new_study


def test_a_strange_name_that_leads_to_this_machine_is_refused() -> None:
    """A page can have its own name point to 127.0.0.1, and then read and send what only this machine may."""
    for http in served(hosts=("localhost", "127.0.0.1", "[::1]")):
        for host in ("localhost", "localhost:8000", "127.0.0.1:8000", "LOCALHOST", "[::1]:8000"):
            assert http.client.get("/v1/health", headers={"host": host}).status_code == 200
        for host in ("evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example"):
            found = http.client.get("/v1/studies/commuting", headers={"host": host})
            assert found.status_code == 403 and "--behind-proxy" in found.text


def test_a_server_that_others_reach_has_any_name() -> None:
    for http in served():
        assert http.client.get("/v1/health", headers={"host": "collect.example.org"}).status_code == 200


@pytest.mark.parametrize("what", ["others", "join"])
def test_messages_do_not_name_the_files_of_others(tmp_path: Path, what: str) -> None:
    """A path of the server has the digest of what another site pushed."""
    link, here = sf.new_link_key(), tmp_path / "mine.parquet"
    half = SCHEME.select(["car"])
    released(here, scheme=half, id="person", link_key=link)
    mark = sf.Release.load(here).parts[0].link
    other = tmp_path / ("0" * 64 + ".parquet")
    other.write_bytes(b"PAR1 damaged")
    study = new_study("commuting", {"scheme": SCHEME.to_dict()}, 0)
    names = ["car"] if what == "others" else list(SCHEME.schema.names)  # files are joined once all columns are there
    held = {
        "id": "x",
        "file": str(other),
        "attributes": names,
        "link": mark,
        "counted": False,
        "share": None,
        "rows": 5,
    }
    request = {"study": study.id, "document": dict(study.document), "counts": str(tmp_path / "counts")}
    asked = {"file": str(here), "others": [held]} if what == "others" else {"join": [held]}
    message = reader.answered({**request, **asked})["refused"]["message"]
    assert str(tmp_path) not in message and "0" * 64 not in message and "another upload" in message
