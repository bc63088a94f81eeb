"""What a survey page is sent, and what it is not."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato import channels as c
from sfumato.service.questionnaire import questionnaire


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
    noisy = sf.Scheme(sf.Schema({"age": sf.Numeric(0, 100, bins=4)}), {"age": c.gaussian(5)})
    http.study("noise", scheme=noisy)
    error = http.ask("GET", "/v1/studies/noise/questionnaire", token=None).json()["error"]
    assert error["code"] == "not_possible" and "cut the numbers into bins" in error["message"]


def test_a_channel_that_is_too_large_is_refused_with_its_attribute():
    scheme = sf.Scheme(
        sf.Schema({"x": sf.Categorical(tuple(map(str, range(3000))))}), {"x": c.subset(3000, 2, "projective")}
    )
    with pytest.raises(sf.errors.SchemeError, match="x: .*group its values first"):
        questionnaire(scheme)
