"""A retry never counts twice; what does not fit is refused and leaves nothing behind."""

from __future__ import annotations

import hashlib
import json

from starlette.testclient import TestClient

from service_client import SCHEME, new_id

PATH = "/v1/studies/commuting/responses"
WRONG = [
    ({"car": 2}, 422, "outside_codes"),
    ({"car": -1}, 422, "outside_codes"),
    ({"car": 1.0}, 422, "outside_codes"),
    ({"car": True}, 400, "malformed"),
    ({"car": "1"}, 400, "malformed"),
    ({"answers": {"car": 1}}, 422, "outside_codes"),
    ({"answers": {"car": 1, "sex": 0, "name": 3}}, 422, "outside_codes"),
    ({"fingerprint": "0" * 64}, 409, "wrong_fingerprint"),
    ({"form": 1}, 422, "outside_codes"),
    ({"form": -1}, 422, "outside_codes"),
    ({"id": "short"}, 400, "malformed"),
    ({"id": "x" * 65}, 400, "malformed"),
    ({"more": 1}, 400, "malformed"),
    ({"study": "unknown"}, 404, "unknown_study"),
]


def code(answer) -> str:
    return answer.json()["error"]["code"]


def test_the_same_response_counts_once(http):
    id = new_id()
    first, again = http.respond(id), http.respond(id)
    assert (first.status_code, again.status_code) == (201, 200)
    assert (first.json()["status"], again.json()["status"]) == ("accepted", "replayed")
    assert first.json()["receipt"] == again.json()["receipt"]
    assert http.count() == 1


def test_the_same_id_with_other_answers_is_refused(http):
    id = new_id()
    http.respond(id, car=1)
    other = http.respond(id, car=0)
    assert (other.status_code, code(other), http.count()) == (409, "conflict", 1)


def test_the_receipt_can_be_computed_by_whoever_sent_the_answer(http):
    id = new_id()
    line = f"sfumato response 1|commuting|{id}|{SCHEME.fingerprint}|0|1,2"
    assert http.respond(id).json()["receipt"] == hashlib.sha256(line.encode()).hexdigest()


def test_what_does_not_fit_is_refused_and_leaves_no_row(http):
    for change, status, said in WRONG:
        answer = http.respond(**change)
        assert (answer.status_code, code(answer)) == (status, said), change
    assert http.count() == 0


def test_the_fast_lane_answers_as_the_documented_route_does(http):
    """Both on the same requests; the application without the lane stands behind the guard."""
    routed = http.client.app._app._app
    id = new_id()
    known = {"id": id, "fingerprint": SCHEME.fingerprint, "answers": {"car": 0, "sex": 1}}
    bodies = [json.dumps(known), json.dumps({**known, "answers": {"car": 1, "sex": 1}}), "{", "[]", "null", '"x"', ""]
    bodies += [json.dumps({**known, "id": "x"}), json.dumps({**known, "form": "0"}), json.dumps({**known, "more": 1})]
    bodies += [
        json.dumps({**known, "answers": {"car": value, "sex": 1}}) for value in (7, 1.5, "1", None, True, [], 1e400)
    ]
    http.respond(id, car=0, sex=1)
    with TestClient(routed) as plain:
        escaped = PATH.replace("commuting", "%252563ommuting")  # decoded twice on the way by the client of the tests
        for path in (PATH, escaped, "/v1/studies/unknown/responses"):
            for body in bodies:
                for token in (None, "Bearer x", "Basic x"):
                    headers = {"content-type": "application/json"} | ({"authorization": token} if token else {})
                    fast, slow = (c.post(path, content=body, headers=headers) for c in (http.client, plain))
                    assert (fast.status_code, code_or_none(fast)) == (slow.status_code, code_or_none(slow)), (
                        body,
                        token,
                    )


def code_or_none(answer):
    return answer.json().get("error", {}).get("code")


def test_a_study_takes_answers_only_while_it_is_open(http, clock):
    http.study("later", opened=False, ends="2027-01-15T10:00:00Z")
    assert code(http.respond(study="later", token=http.token("invitation", "later"))) == "too_early"
    for token in (None, http.token("invitation")):
        assert code(http.respond(study="later", token=token)) == "unknown_study"
    http.ask("POST", "/v1/studies/later/open")
    assert http.respond(study="later").status_code == 201
    clock.now += 3600 * 24 * 365
    assert code(http.respond(study="later")) == "closed"
    http.ask("POST", "/v1/studies/commuting/close")
    assert code(http.respond()) == "closed"


def test_a_retry_after_the_close_is_still_acknowledged(http):
    """Whoever heard no answer must be able to learn that the response is there."""
    id = new_id()
    http.respond(id)
    http.ask("POST", "/v1/studies/commuting/close")
    assert http.ask("GET", f"{PATH}/{id}", token=None).json()["status"] == "accepted"


def test_an_invitation_lets_one_response_in_and_its_retry(http):
    http.study("invited", access="invitation")
    mine, id = http.token("invitation", "invited"), new_id()
    assert code(http.respond(study="invited")) == "unauthorized"
    assert http.respond(id, study="invited", token=mine).status_code == 201
    assert http.respond(id, study="invited", token=mine).json()["status"] == "replayed"
    other = http.respond(study="invited", token=mine)
    assert (other.status_code, code(other)) == (403, "invitation_used")
    assert http.count("invited") == 1


def test_what_is_kept_of_an_invitation_does_not_name_its_response(http):
    http.study("invited", access="invitation")
    mine, id = http.token("invitation", "invited"), new_id()
    http.respond(id, study="invited", token=mine)
    used = next(t.used for t in http.collection.tokens if t.role == "invitation")
    assert used and id not in used and used != hashlib.sha256(id.encode()).hexdigest()


def test_a_deleted_response_leaves_the_counts_and_does_not_come_back(http):
    id = new_id()
    http.respond(id)
    http.respond()
    assert http.ask("DELETE", f"{PATH}/{id}", token=None).json() == {"status": "deleted", "id": id}
    held = http.collection.responses.collected(http.collection.studies["commuting"])
    assert (held.responses, held.counts(0, ["car"]).tolist()) == (1, [0, 1])
    for again in (http.respond(id), http.ask("GET", f"{PATH}/{id}", token=None)):
        assert (again.status_code, code(again)) == (410, "deleted")
    assert http.ask("DELETE", f"{PATH}/{id}", token=None).status_code == 200
    assert held.responses == 1


def test_nothing_on_the_disk_tells_what_a_deleted_response_said(http):
    """A receipt is a digest of few possible answers: kept, it would give them away."""
    id = new_id()
    kept = http.respond(id).json()["receipt"]
    http.ask("DELETE", f"{PATH}/{id}", token=None)
    with http.collection.database.engine.connect() as connection:
        row = connection.exec_driver_sql("SELECT codes, receipt FROM responses").one()
    assert row.codes is None and bytes(row.receipt).hex() != kept and not row.receipt


def test_times_are_kept_to_the_hour(http, clock):
    http.respond()
    with http.collection.database.engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT hour FROM responses").scalar() == clock.now // 3600 * 3600


def test_a_batch_answers_for_each_report(http):
    http.study("later", opened=False)
    good, fingerprint = new_id(), SCHEME.fingerprint
    http.respond(good)

    def report(study="commuting", id=None, fingerprint=fingerprint, car=1):
        return {"study": study, "id": id or new_id(), "fingerprint": fingerprint, "answers": {"car": car, "sex": 2}}

    twice = report()
    sent = [
        report(),
        report(id=good),
        report("later"),
        report("unknown"),
        report(fingerprint="f" * 64),
        report(car=5),
        report(id=good, car=0),
        report(id="short"),
        twice,
        twice,
    ]
    answer = http.ask("POST", "/v1/responses", {"responses": sent}, token=None)
    assert answer.status_code == 200
    assert [one["status"] for one in answer.json()["results"]] == [
        "accepted",
        "replayed",
        "unknown_study",
        "unknown_study",
        "wrong_fingerprint",
        "outside_codes",
        "conflict",
        "malformed",
        "accepted",
        "replayed",
    ]
    assert http.count() == 3
    assert http.ask("POST", "/v1/responses", {"responses": []}, token=None).status_code == 400


def test_an_id_that_cannot_be_sent_back_does_not_hide_what_became_of_the_others(http) -> None:
    good = {"study": "commuting", "id": new_id(), "fingerprint": SCHEME.fingerprint, "answers": {"car": 1, "sex": 2}}
    body = json.dumps({"responses": [good, good | {"id": "\ud800"}]})
    answer = http.client.post("/v1/responses", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 200
    assert [one["status"] for one in answer.json()["results"]] == ["accepted", "malformed"]
