"""A respondent at a real server with a real browser: only released codes leave the device, and they count once."""

from __future__ import annotations

import json

import pytest

import sfumato as sf
from service_client import new_id
from sfumato import channels as c

SCHEMA = sf.Schema(
    {
        "smokes": sf.Categorical(("no", "yes"), nullable=True),
        "way": sf.Categorical(("walk", "bicycle", "bus", "train", "car", "other")),
        "age": sf.Numeric(16, 96, bins=8),
        "month": sf.Date("2025-01-01", "2025-12-31", by="month"),
        "pay": sf.Numeric(0, 9000, points=10, nullable=True),
    }
)
SCHEME = sf.Scheme(
    SCHEMA,
    {
        "smokes": c.symmetric(3, gamma=3),
        "way": c.subset(6, gamma=3),
        "age": c.windows(8, gamma=3),
        "month": c.symmetric(12, gamma=4),
        "pay": c.symmetric(11, gamma=4),
    },
)
QUESTIONS = {
    "smokes": {"text": "Do you smoke?", "labels": {"yes": "Yes", "no": "No"}},
    "way": {"text": "How do you come to work?", "help": "The way that takes most of the time."},
    "age": {"text": "How old are you?"},
    "month": {"text": "When did you last see a doctor?"},
    "pay": {"text": "What do you earn in a month?"},
}

#: Names that every object of a page's script has without being told.
ODD = sf.Scheme.for_gamma(
    sf.Schema({"__proto__": sf.Categorical(("toString", "valueOf")), "constructor": sf.Categorical(("a", "b"))}), 3
)


@pytest.fixture(scope="module")
def site(serving):
    fields = {"scheme": SCHEME.to_dict(), "title": "Health at work", "questions": QUESTIONS, "minimum": 2}
    odd = {"scheme": ODD.to_dict(), "minimum": 2}
    with serving(
        {**dict.fromkeys(("health", "offline", "refused", "windows", "length"), fields), "odd": odd}
    ) as running:
        yield running


def answer(page, smokes="Yes", pay="1234.5"):
    page.get_by_label(smokes, exact=True).check()
    page.get_by_label("train", exact=True).check()
    page.get_by_label("A number from 16 to 96").fill("41")
    page.get_by_label("When did you last see a doctor?").select_option(index=5)
    page.get_by_label("A number from 0 to 9000").fill(pay)
    page.locator("#blur").click()
    page.locator("#send").wait_for()


def collected(site, study):
    held = site[1]
    return held.responses.collected(held.studies[study]).responses


def test_only_released_codes_leave_the_device(site, visit):
    page = visit("/answer/health", viewport={"width": 390, "height": 844})
    page.locator("#blur").wait_for()
    answer(page)
    assert [url for method, url, _ in page.sent if method != "GET"] == []
    shown = json.loads(page.locator("#message").text_content())
    page.locator("#send").click()
    page.locator("#receipt").wait_for()
    assert "nothing was changed" in page.locator("#receipt").text_content()
    bodies = [json.loads(body) for method, _, body in page.sent if method == "POST"]
    assert bodies == [shown]
    assert set(shown) == {"id", "fingerprint", "answers"}
    assert set(shown["answers"]) == set(SCHEME.columns)
    assert all(type(code) is int and 0 <= code < SCHEME.output_sizes[name] for name, code in shown["answers"].items())
    assert not any("1234.5" in (body or "") + url for _, url, body in page.sent)
    kept = page.evaluate("JSON.stringify(localStorage)")
    assert "1234.5" not in kept and page.problems == []
    assert collected(site, "health") == 1
    page.reload()
    page.locator("#receipt").wait_for()
    assert collected(site, "health") == 1


def test_names_that_every_object_has_are_names_like_others(site, visit):
    page = visit("/answer/odd")
    page.get_by_label("toString", exact=True).check()
    page.get_by_label("b", exact=True).check()
    page.locator("#blur").click()
    page.locator("#send").click()
    page.locator("#receipt").wait_for()
    assert collected(site, "odd") == 1 and page.problems == []
    assert "native code" not in page.locator("main").text_content()


def test_the_same_answers_are_changed_in_the_same_way_again(site, visit):
    page = visit("/answer/refused")
    page.locator("#blur").wait_for()
    answer(page)
    first = json.loads(page.locator("#message").text_content())["answers"]
    page.locator("#back").click()
    page.locator("#blur").click()
    page.locator("#send").wait_for()
    assert json.loads(page.locator("#message").text_content())["answers"] == first
    page.reload()
    page.locator("#blur").wait_for()
    answer(page)
    assert json.loads(page.locator("#message").text_content())["answers"] == first


def test_offline_at_the_moment_of_sending_then_online_is_one_response(site, visit):
    page = visit("/answer/offline")
    page.locator("#blur").wait_for()
    answer(page)
    shown = json.loads(page.locator("#message").text_content())
    page.context.set_offline(True)
    page.locator("#send").click()
    page.locator("#waiting").wait_for()
    assert collected(site, "offline") == 0
    page.context.set_offline(False)
    page.locator("#receipt").wait_for()
    assert collected(site, "offline") == 1
    bodies = [json.loads(body) for method, _, body in page.sent if method == "POST"]
    assert bodies and all(body == shown for body in bodies)


def test_two_windows_of_a_device_send_one_response(site, visit):
    """The second replaced the first on the device, which could not be withdrawn any more, and both counted."""
    first = visit("/answer/windows")
    second = first.context.new_page()
    second.goto(site[0] + "/answer/windows")
    answer(first)
    answer(second, smokes="No")
    for page in (first, second):
        page.locator("#send").click()
        page.locator("#receipt").wait_for()
    assert collected(site, "windows") == 1
    assert first.locator("#message").text_content() == second.locator("#message").text_content()


def test_the_length_of_a_message_tells_nothing_of_its_codes(site, visit):
    page = visit("/answer/length")
    page.locator("#blur").wait_for()
    answer(page)
    page.locator("#send").click()
    page.locator("#receipt").wait_for()
    (body,) = [body for method, _, body in page.sent if method == "POST"]
    assert len(body) % 512 == 0


def test_what_is_missing_is_said_where_it_is_missing(visit):
    page = visit("/answer/refused")
    page.locator("#blur").click()
    assert page.locator("#p0").text_content() == "Please answer this question."
    page.get_by_label("A number from 16 to 96").fill("7")
    page.locator("#blur").click()
    assert page.locator("#p2").text_content() == "This must be a number from 16 to 96."


def test_a_page_speaks_other_languages(visit):
    page = visit("/answer/refused?lang=de")
    page.locator("#blur").wait_for()
    assert page.evaluate("document.documentElement.lang") == "de"
    assert "Wer was sehen kann" in page.content()
    page = visit("/answer/refused?lang=constructor")  # a name that every object has
    page.locator("#blur").wait_for()
    assert page.evaluate("document.documentElement.lang") == "en"


def test_an_unknown_study_is_said(visit):
    page = visit(f"/answer/{new_id()}")
    page.locator(".callout").wait_for()
    assert "no study" in page.locator(".callout").text_content()


def test_the_browser_writes_no_true_answer_to_its_own_files(browser, chromium, site, tmp_path):
    """Browsers keep what stands in fields, so that a tab can be opened again; a form can ask them not to."""
    kept = browser.browser_type.launch_persistent_context(
        tmp_path, executable_path=chromium, args=["--no-sandbox", "--headless=new"], locale="en-GB"
    )
    page = kept.new_page()
    page.goto(site[0] + "/answer/health")
    answer(page, pay="8642.5")
    page.locator("#back").click()
    page.goto("about:blank")  # which writes down what is left
    kept.close()
    files = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    assert any("/answer/health".encode(code) in file for file in files for code in ("utf-8", "utf-16-le"))
    fields = ("8642.5", "radio", "number")
    assert not [word for word in fields for file in files if word.encode("utf-16-le") in file]
