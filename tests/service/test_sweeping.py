"""Uploads that nobody finishes, and what a killed server left behind, do not stay for ever."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

import sfumato as sf
from service_client import SCHEME, new_id
from sfumato.service.collection import open_collection
from sfumato.service.sweeping import UNFINISHED

PATH = "/v1/studies/commuting/uploads"


@pytest.fixture
def url():
    return None  # what is swept are files


def announced(http, data: bytes, token: str, sent: int) -> str:
    id = new_id()
    http.ask("POST", PATH, {"id": id, "digest": hashlib.sha256(data).hexdigest(), "bytes": len(data)}, token)
    headers = {"content-type": "application/octet-stream", "upload-offset": "0"}
    http.ask("PATCH", f"{PATH}/{id}", token=token, content=data[:sent], headers=headers)
    return id


def files(http) -> list[Path]:
    return [path for path in (http.collection.database.folder / "uploads").rglob("*") if path.is_file()]


def test_an_upload_that_is_not_finished_in_a_week_is_forgotten(http, clock, tmp_path):
    site = http.token("site")
    old = announced(http, b"PAR1" + bytes(500), site, 100)
    clock.now += UNFINISHED - 3600
    young = announced(http, b"PAR1" + bytes(600), site, 100)
    assert len(files(http)) == 2
    clock.now += 2 * 3600
    last = announced(http, b"PAR1" + bytes(700), site, 100)  # the next one sweeps
    listed = [one["id"] for one in http.ask("GET", PATH, token=site).json()["uploads"]]
    assert sorted(listed) == sorted([young, last]) and len(files(http)) == 2
    assert http.ask("GET", f"{PATH}/{old}", token=site).status_code == 404


def test_unfinished_uploads_of_long_ago_do_not_stop_new_ones(http, clock):
    site = http.token("site")
    most = http.collection.settings.most_uploads
    for number in range(most):
        announced(http, b"PAR1" + bytes(10 + number), site, 1)
    full = http.ask("POST", PATH, {"id": new_id(), "digest": "0" * 64, "bytes": 5}, site)
    assert full.status_code == 429
    clock.now += UNFINISHED + 3600
    assert http.ask("POST", PATH, {"id": new_id(), "digest": "0" * 64, "bytes": 5}, site).status_code == 201


def test_files_of_no_upload_are_deleted_at_the_start_and_all_others_stay(folder, clock, tmp_path):
    from starlette.testclient import TestClient

    from service_client import Http
    from sfumato.service.app import create_app
    from sfumato.service.settings import Settings

    settings = Settings(per_address=0, per_token=0, read_apart=False)

    def opened():
        return open_collection(folder, None, settings, clock)

    held = opened()
    ((_, admin),) = held.writer.now(held.tokens.make("admin", None))
    with TestClient(create_app(held)) as client:
        http = Http(client, held, clock, admin)
        http.study("commuting")
        site = http.token("site")
        file = sf.randomize({"car": ["no", "yes"] * 30, "sex": ["F", "M"] * 30}, SCHEME).save(tmp_path / "a.parquet")
        data = file.read_bytes()
        whole = announced(http, data, site, len(data))
        assert http.ask("POST", f"{PATH}/{whole}/commit", token=site).status_code == 201
        announced(http, b"PAR1" + bytes(500), site, 100)
    kept = set(files(http))
    held.close()
    study = folder / "uploads" / "commuting"
    left = [study / f"{new_id()}.arriving", study / f"{'0' * 64}.parquet", study / f"{new_id()}.arriving.json"]
    (folder / "exports").mkdir(exist_ok=True)
    for path in [*left, folder / "exports" / "commuting-0.parquet"]:
        path.write_bytes(b"left behind")
    again = opened()
    assert set(files(http)) == kept and len(kept) == 2
    assert list((folder / "exports").iterdir()) == []
    assert again.uploads.progress("commuting")["rows"] == 60
    again.close()
