"""Studies go from draft to open to closed; tokens open what they are for, and nothing else."""

from __future__ import annotations

import json

import pytest

import sfumato as sf
from service_client import SCHEMA, SCHEME

OTHER = sf.Scheme(SCHEMA, {"car": sf.channels.symmetric(2, 0.1), "sex": sf.channels.symmetric(3, 0.3)})

WRONG = [
    ({"id": "A B"}, "malformed"),
    ({"id": "ab"}, "malformed"),
    ({"minimum": 1}, "malformed"),
    ({"minimum": True}, "malformed"),
    ({"access": "all"}, "malformed"),
    ({"ends": "tomorrow"}, "malformed"),
    ({"scheme": None}, "malformed"),
    ({"scheme": {"format": "something"}}, "refused"),
    ({"scheme": {**SCHEME.to_dict(), "channels": []}}, "refused"),
    ({"questions": {"unknown": {"text": "?"}}}, "malformed"),
    ({"questions": {"car": {"words": "?"}}}, "malformed"),
    ({"questions": {"car": {"labels": ["a"]}}}, "malformed"),
    ({"title": "\ud800"}, "malformed"),
    ({"kind": "resampled"}, "malformed"),
    ({"more": 1}, "malformed"),
]


def code(answer):
    return answer.json()["error"]["code"]


def test_the_scheme_is_frozen_once_the_study_is_open(http):
    http.study("draft", opened=False)
    changed = http.ask("PATCH", "/v1/studies/draft", {"scheme": OTHER.to_dict()}).json()
    assert changed["fingerprint"] == OTHER.fingerprint
    http.ask("POST", "/v1/studies/draft/open")
    for fields in (
        {"scheme": SCHEME.to_dict()},
        {"minimum": 3},
        {"access": "invitation"},
        {"questions": {"car": {"text": "?"}}},
    ):
        refused = http.ask("PATCH", "/v1/studies/draft", fields)
        assert (refused.status_code, code(refused)) == (409, "frozen")
    kept = http.ask("PATCH", "/v1/studies/draft", {"title": "New", "ends": "2030-01-01T00:00:00Z"}).json()
    assert (kept["title"], kept["fingerprint"]) == ("New", OTHER.fingerprint)


def test_a_wrong_id_and_an_unknown_question_are_told_in_words(http):
    wrong = http.ask("POST", "/v1/studies", {"id": "Two Words", "scheme": SCHEME.to_dict()}).json()["error"]["message"]
    assert "small letters a to z, digits and hyphens" in wrong and "[" not in wrong
    asked = {"id": "words", "scheme": SCHEME.to_dict(), "questions": {"cra": {"text": "?"}}}
    said = http.ask("POST", "/v1/studies", asked).json()["error"]["message"]
    assert "'cra', which is not in the scheme: it has car, sex" in said


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"words": "?"}, "question 'car' must be an object of text, help and labels"),
        ({"text": 3}, "the words of question 'car' must be text"),
        ({"labels": ["a"]}, "the labels of question 'car' must be an object of values and words"),
    ],
)
def test_the_question_that_is_wrong_is_named(http, entry, said):
    asked = {"id": "words", "scheme": SCHEME.to_dict(), "questions": {"sex": {"text": "?"}, "car": entry}}
    assert said in http.ask("POST", "/v1/studies", asked).json()["error"]["message"]


def test_states_go_one_way(http):
    http.study("draft", opened=False)
    assert code(http.ask("POST", "/v1/studies/draft/close")) == "too_early"
    http.ask("POST", "/v1/studies/draft/open")
    assert http.ask("POST", "/v1/studies/draft/open").json()["state"] == "open"
    assert code(http.ask("DELETE", "/v1/studies/draft")) == "frozen"
    assert http.ask("POST", "/v1/studies/draft/close").json()["state"] == "closed"
    assert code(http.ask("POST", "/v1/studies/draft/open")) == "closed"


def test_the_same_study_again_is_acknowledged_and_another_refused(http):
    fields = {"id": "twice", "scheme": SCHEME.to_dict(), "title": "A"}
    assert [http.ask("POST", "/v1/studies", fields).status_code for _ in range(2)] == [201, 200]
    other = http.ask("POST", "/v1/studies", {**fields, "title": "B"})
    assert (other.status_code, code(other)) == (409, "conflict")


def test_a_study_that_does_not_hold_is_refused(http):
    headers = {"content-type": "application/json", "authorization": f"Bearer {http.admin}"}
    for fields, said in WRONG:
        body = json.dumps({"id": "wrong", "scheme": SCHEME.to_dict(), **fields})
        answer = http.client.post("/v1/studies", content=body, headers=headers)
        assert (answer.status_code, code(answer)) == ({"malformed": 400, "refused": 422}[said], said), fields


def test_a_draft_is_nobodys_business(http):
    http.study("draft", opened=False)
    miner = http.token("miner", "draft")
    assert http.ask("GET", "/v1/studies/draft", token=None).status_code == 404
    assert http.ask("GET", "/v1/studies/draft", token=http.token("miner")).status_code == 404
    assert http.ask("GET", "/v1/studies/draft", token=miner).status_code == 200
    assert http.ask("GET", "/v1/studies/commuting", token=None).json()["fingerprint"] == SCHEME.fingerprint


def test_a_token_of_one_study_opens_nothing_of_another(http):
    http.study("second")
    mine = {role: http.token(role, "second") for role in ("miner", "site", "invitation")}
    for token in mine.values():
        for path in ("progress", "estimates?names=car", "means?name=car", "release", "uploads"):
            assert http.ask("GET", f"/v1/studies/commuting/{path}", token=token).status_code == 403
        for method, path in (("POST", "open"), ("POST", "close"), ("DELETE", ""), ("POST", "uploads")):
            body = {"id": "x" * 16, "digest": "0" * 64, "bytes": 5} if path == "uploads" else None
            answer = http.ask(method, f"/v1/studies/commuting/{path}".rstrip("/"), body, token)
            assert answer.status_code == 403, (method, path)
    assert code(http.respond(token=mine["invitation"])) == "forbidden"
    listed = http.ask("GET", "/v1/studies", token=mine["miner"]).json()["studies"]
    assert [study["id"] for study in listed] == ["second"]


def test_only_an_admin_administers(http):
    for token in (None, http.token("miner"), http.token("site"), http.token("invitation"), "sfa_unknown"):
        for method, path, body in (
            ("POST", "/v1/studies", {"id": "new", "scheme": SCHEME.to_dict()}),
            ("PATCH", "/v1/studies/commuting", {"title": "x"}),
            ("POST", "/v1/studies/commuting/close", None),
            ("POST", "/v1/tokens", {"role": "admin"}),
            ("GET", "/v1/tokens", None),
            ("GET", "/v1/metrics", None),
        ):
            assert http.ask(method, path, body, token).status_code in (401, 403)
    assert http.ask("GET", "/v1/studies/commuting").json()["state"] == "open"


def test_tokens_expire_and_are_revoked(http, clock):
    brief = http.token("miner", expires="2027-01-15T09:00:00Z")
    assert http.ask("GET", "/v1/tokens/self", token=brief).json()["role"] == "miner"
    clock.now += 3600 * 24
    assert code(http.ask("GET", "/v1/tokens/self", token=brief)) == "unauthorized"
    lasting = http.token("site")
    id = http.ask("GET", "/v1/tokens/self", token=lasting).json()["id"]
    assert http.ask("DELETE", f"/v1/tokens/{id}").json()["revoked"] is not None
    assert code(http.ask("GET", "/v1/tokens/self", token=lasting)) == "unauthorized"
    mine = http.ask("GET", "/v1/tokens/self").json()["id"]
    assert code(http.ask("DELETE", f"/v1/tokens/{mine}")) == "conflict"


def test_the_last_good_token_of_an_admin_cannot_be_revoked(http, clock):
    """One that has expired is not another one; one that was revoked may be revoked again."""
    mine = http.ask("GET", "/v1/tokens/self").json()["id"]
    http.ask("POST", "/v1/tokens", {"role": "admin", "expires": "2027-01-15T09:00:00Z"})
    other = http.ask("POST", "/v1/tokens", {"role": "admin"}).json()["tokens"][0]["id"]
    clock.now += 3600 * 24
    for _ in range(2):
        assert http.ask("DELETE", f"/v1/tokens/{other}").json()["revoked"] is not None
    assert code(http.ask("DELETE", f"/v1/tokens/{mine}")) == "conflict"


def test_the_database_holds_no_token(http):
    secrets = [http.admin, http.token("site"), http.token("miner")]
    with http.collection.database.engine.connect() as connection:
        held = str(connection.exec_driver_sql("SELECT * FROM tokens").all())
    assert "commuting" in held and not any(secret in held for secret in secrets)


def test_tokens_of_a_deleted_draft_are_gone(http):
    http.study("draft", opened=False)
    token = http.token("miner", "draft")
    http.ask("DELETE", "/v1/studies/draft")
    http.study("draft", opened=False)
    assert code(http.ask("GET", "/v1/tokens/self", token=token)) == "unauthorized"
