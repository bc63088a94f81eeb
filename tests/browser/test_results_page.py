"""The miner's page: what the server estimates stands on it, and nothing before the study's minimum."""

from __future__ import annotations

import secrets

import pytest

import sfumato as sf
from sfumato import channels as c

SCHEME = sf.Scheme(
    sf.Schema({"car": sf.Categorical(("no", "yes")), "km": sf.Numeric(0, 40, bins=4)}),
    {"car": c.symmetric(2, 0.2), "km": c.symmetric(4, 0.2)},
)


@pytest.fixture(scope="module")
def site(serving):
    fields = {"scheme": SCHEME.to_dict(), "questions": {"car": {"text": "By car?", "labels": {"yes": "Yes"}}}}
    with serving({"few": {**fields, "minimum": 100}, "many": {**fields, "minimum": 20}}) as running:
        yield running


def opened(browser, site, study, token):
    page = browser.new_context(accept_downloads=True).new_page()
    page.problems = []
    page.on("pageerror", lambda problem: page.problems.append(str(problem)))
    page.goto(f"{site[0]}/results/{study}#token={token}")
    return page


def tokens(site, study):
    ((_, miner),) = site[1].writer.now(site[1].tokens.make("miner", study))
    return miner


def send(page, study, rows):
    body = [
        {
            "study": study,
            "id": secrets.token_hex(16),
            "fingerprint": SCHEME.fingerprint,
            "answers": {"car": i % 2, "km": i % 4},
        }
        for i in range(rows)
    ]
    answer = page.request.post("/v1/responses", data={"responses": body})
    assert {result["status"] for result in answer.json()["results"]} == {"accepted"}


def test_nothing_is_estimated_before_the_minimum(browser, site):
    context = browser.new_context(base_url=site[0])
    send(context, "few", 40)
    page = opened(browser, site, "few", tokens(site, "few"))
    page.locator(".callout").wait_for()
    assert "60 are missing" in page.locator(".callout").text_content()
    assert page.locator(".limits").count() == 0


def test_shares_means_and_the_release_are_there(browser, site, tmp_path):
    context = browser.new_context(base_url=site[0])
    send(context, "many", 400)
    page = opened(browser, site, "many", tokens(site, "many"))
    page.locator("#download").wait_for()
    assert page.get_by_role("heading", name="By car?").count() == 1
    assert page.get_by_role("img", name="Estimated shares of By car?").get_by_text("50.0 %").count() >= 1
    page.get_by_role("img", name="Means of km").wait_for()
    page.get_by_role("region", name="By car? by km").wait_for()
    with page.expect_download() as download:
        page.locator("#download").click()
    assert download.value.suggested_filename == "many.parquet"
    download.value.save_as(tmp_path / "many.parquet")
    assert len(sf.Release.load(tmp_path / "many.parquet")) == 400
    assert page.problems == []


def test_a_token_of_another_study_opens_nothing(browser, site):
    page = opened(browser, site, "many", tokens(site, "few"))
    page.locator(".callout").wait_for()
    assert page.locator("#download").count() == 0
