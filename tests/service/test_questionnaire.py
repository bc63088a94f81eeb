"""What a survey page is sent, and what it is not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import sfumato as sf
from service_client import new_id
from sfumato import channels as c
from sfumato.service.questionnaire import drawing, questionnaire


def test_a_page_reads_the_questions_of_an_open_study(http):
    http.study("trams", questions={"car": {"text": "By car?", "labels": {"yes": "Yes, by car"}}})
    found = http.ask("GET", "/v1/studies/trams/questionnaire", token=None).json()
    assert found["attributes"]["car"]["text"] == "By car?"
    assert found["attributes"]["car"]["words"] == {"yes": "Yes, by car"}
    assert [group["columns"] for group in found["forms"][0]["groups"]] == [["car"], ["sex"]]


def test_a_draft_is_not_shown(http):
    http.study("later", opened=False)
    assert http.ask("GET", "/v1/studies/later/questionnaire", token=None).json()["error"]["code"] == "unknown_study"


@pytest.mark.filterwarnings("ignore:.*additive noise")
def test_what_no_page_can_draw_is_said(http):
    noisy = sf.Scheme(sf.Schema({"age": sf.Numeric(0, 100, bins=4)}), {"age": c.from_scipy(stats.t(4))})
    http.study("noise", scheme=noisy)
    error = http.ask("GET", "/v1/studies/noise/questionnaire", token=None).json()["error"]
    assert error["code"] == "not_possible" and "take uniform, gaussian or laplace noise" in error["message"]


@pytest.mark.filterwarnings("ignore:.*additive noise")
def test_every_channel_is_sent_with_its_own_bound():
    """The page says odds that are true for this very channel, not for the whole record."""
    schema = sf.Schema({"a": sf.Categorical(("x", "y")), "b": sf.Ordinal((1, 2, 3)), "c": sf.Numeric(0, 1, bins=2)})
    scheme = sf.Scheme(schema, {"a": c.symmetric(2, gamma=2), "b": c.symmetric(3, gamma=5), "c": c.laplace(1.0)})
    plans = {group["names"][0]: group["plan"] for group in questionnaire(scheme)["forms"][0]["groups"]}
    assert plans["a"]["gamma"] == pytest.approx(2) and plans["b"]["gamma"] == pytest.approx(5)
    assert plans["c"]["gamma"] is None and plans["c"]["likely"] == pytest.approx([-2.302585, 2.302585])


def test_odds_of_a_large_table_are_sent_with_it():
    """The page looks at small tables itself; of large ones it is told how often an answer stays."""
    wide, plain = drawing(c.windows(300, 3)), drawing(c.matrix(0.1 * np.eye(600) + 0.9 / 600))
    assert plain["inside"] == {"least": pytest.approx(0.1015), "most": pytest.approx(0.1015), "values": True}
    assert 0 < wide["inside"]["least"] <= wide["inside"]["most"] < 1 and not wide["inside"]["values"]
    assert "inside" not in drawing(c.binary(0.1, 0.3))


def test_free_text_and_noise_are_stored_exported_and_asked_about(http, tmp_path):
    """What has no table of counts is told so, and is in the release all the same."""
    word = sf.Text(8)
    scheme = sf.Scheme(
        sf.Schema({"word": word, "car": sf.Categorical(("no", "yes"))}),
        {"word": c.prefixes(word, 9), "car": c.symmetric(2, 0.2)},
    )
    http.study("words", scheme)
    released = sf.randomize({"word": ["flu", "cold"] * 20, "car": ["no", "yes"] * 20}, scheme).arrow().to_pylist()
    for row in released:
        body = {"id": new_id(), "fingerprint": scheme.fingerprint, "answers": row}
        assert http.ask("POST", "/v1/studies/words/responses", body, None).status_code == 201
    assert http.ask("GET", "/v1/studies/words/estimates?names=car").json()["answers"] == 40
    refused = http.ask("GET", "/v1/studies/words/estimates?names=word")
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "not_possible")
    file = tmp_path / "words.parquet"
    file.write_bytes(http.ask("GET", "/v1/studies/words/release").content)
    back = sf.Release.load(file).arrow().to_pylist()
    assert sorted(map(str, back)) == sorted(map(str, released))


def test_a_channel_that_is_too_large_is_refused_with_its_attribute():
    scheme = sf.Scheme(
        sf.Schema({"x": sf.Categorical(tuple(map(str, range(3000))))}), {"x": c.subset(3000, 2, "projective")}
    )
    with pytest.raises(sf.errors.SchemeError, match="x: .*group its values first"):
        questionnaire(scheme)
