"""Questions of every kind on the survey page: free text, additive noise, answers that come in rounds, groups of answers."""

from __future__ import annotations

import hashlib
import json

import pytest

import sfumato as sf
from sfumato import channels as c
from sfumato.assess.report.sentences import rounded_up
from sfumato.service.questionnaire import questionnaire

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.errors.DisclosureWarning")  # noise and an answer in the clear
YES = sf.Categorical(("no", "yes"))
SCHEMA = sf.Schema(
    {
        "illness": sf.Text(12, nullable=True),
        "sugar": sf.Numeric(0, 20, bins=4),
        "mood": sf.Categorical(tuple(f"m{i}" for i in range(20))),
        "pay": sf.Numeric(0, 1000, points=5),
        "wine": YES,
        "beer": YES,
        "sex": sf.Categorical(("F", "M")),
    }
)
CHANNELS = {
    "illness": c.prefixes(SCHEMA["illness"], 20),
    "sugar": c.gaussian(2.0),
    "mood": c.longitudinal(20, 3, 81),
    "pay": c.average(5, 3),
    ("wine", "beer"): c.product([c.symmetric(2, 0.1), c.symmetric(2, 0.4)]),
    "sex": c.identity(2),
}
#: Its message has 512 letters with a code of one digit.
EDGE = "e" * (512 - len('{"id":"","fingerprint":"","answers":{"":0}}') - 36 - 64)
#: Who answers yes is changed in 30 of 100 cases, who answers no never: what is sent as "yes" is true.
LOOSE = sf.Scheme(sf.Schema({"wine": YES}), {"wine": c.binary(0, 0.3)})
BOUNDED = sf.Scheme(sf.Schema({"wine": YES}), {"wine": c.binary(0.3, 0.3)})
MOOD = sf.Scheme(SCHEMA.select(["mood"]), {"mood": c.longitudinal(20, 3, 81)})


@pytest.fixture(scope="module")
def site(serving):
    scheme = sf.Scheme(SCHEMA, CHANNELS)
    fields = {"scheme": scheme.to_dict(), "minimum": 2, "questions": {"illness": {"text": "What is it?"}}}
    rounds = {"scheme": MOOD.to_dict(), "minimum": 2}
    edge = sf.Scheme(sf.Schema({EDGE: sf.Ordinal(tuple(range(11)))}), {EDGE: c.identity(11)})
    schemes = {"loose": LOOSE, "bounded": BOUNDED, "edge": edge}
    told = {name: {"scheme": scheme.to_dict(), "minimum": 2} for name, scheme in schemes.items()}
    with serving({"kinds": fields, "first": rounds, "second": rounds, **told}) as running:
        yield running


@pytest.fixture
def page(browser, site):
    context = browser.new_context(locale="en-GB")
    context.set_default_timeout(10_000)
    opened = context.new_page()
    opened.problems = []
    opened.on("pageerror", lambda problem: opened.problems.append(str(problem)))
    yield opened
    context.close()


def shown(page):
    page.locator("#send").wait_for()
    return json.loads(page.locator("#message").text_content())["answers"]


def fill(page):
    page.get_by_label("At most 12 of these letters").fill("Flu")
    page.get_by_label("A number from 0 to 20").fill("5.5")
    page.get_by_label("mood").select_option(index=3)
    page.get_by_label("A number from 0 to 1000").fill("333")
    page.get_by_role("group", name="wine").get_by_label("yes").check()
    page.get_by_role("group", name="beer").get_by_label("no").check()
    page.get_by_label("F", exact=True).check()
    page.locator("#blur").click()


def test_every_kind_of_answer_is_sent_received_and_its_receipt_computed_again(site, page):
    page.goto(f"{site[0]}/answer/kinds")
    fill(page)
    sent = shown(page)
    assert type(sent["sugar"]) is float and sent["sugar"] != 5.5
    assert 0 <= sent["illness"] < CHANNELS["illness"].m
    page.locator("#send").click()
    page.locator("#receipt").wait_for()
    assert "nothing was changed" in page.locator("#receipt").text_content()
    assert page.get_by_role("columnheader", name="What was sent").count() == 1
    line = page.locator("#line").text_content().split("'")[1]
    assert hashlib.sha256(line.encode()).hexdigest() in page.content()
    page.locator("#check").click()
    page.get_by_text("unchanged").wait_for()
    held = site[1].responses.collected(site[1].studies["kinds"])
    assert held.responses == 1
    page.locator("#withdraw").click()
    page.get_by_text("were taken back").wait_for()
    assert held.responses == 0
    page.reload()
    page.get_by_text("were taken back").wait_for()
    assert page.problems == []


def test_stretches_of_whole_numbers_end_with_the_last_of_them(site, page):
    """[4, 6) was "From 4 to 6" beside years "From 1962 to 1965", of which the last one is meant."""
    page.goto(f"{site[0]}/answer/kinds")
    page.locator("#blur").wait_for()
    for step, words in (
        (1, ["0", "From 1 to 3", "From 4 to 5", "From 6 to 14"]),
        (None, ["From 0 to 1", "From 1 to 4"]),
    ):
        children = sf.Scheme.for_gamma(sf.Schema({"n": sf.Numeric(edges=(0, 1, 4, 6, 15), step=step)}), 9)
        asked = questionnaire(children)["attributes"]["n"]
        said = page.evaluate("asked => asked.ends.map((_, code) => Questions.labelOf(asked, code))", asked)
        assert said[: len(words)] == words


def test_whole_numbers_are_asked_for_as_such(site, page):
    page.goto(f"{site[0]}/answer/kinds")
    page.locator("#blur").wait_for()
    for step, label, fits, wrong in (
        (1, "A whole number from 0 to 89", [0, 27], "This must be a whole number from 0 to 89."),
        (0.5, "A multiple of 0.5 from 0 to 89.5", [27.5], "This must be a multiple of 0.5 from 0 to 89.5."),
        (None, "A number from 0 to 90", [27.5, 27.25], "This must be a number from 0 to 90."),
    ):
        scheme = sf.Scheme.for_gamma(sf.Schema({"age": sf.Numeric(0, 90, bins=18, step=step)}), 9)
        asked = {**questionnaire(scheme)["attributes"]["age"], "text": "Age?", "help": "", "words": {}}
        assert label in page.evaluate("asked => Questions.question(asked, 'age', 90).textContent", asked)
        said = page.evaluate("([asked, numbers]) => numbers.map((one) => Questions.problem(asked, one))", [asked, fits])
        assert said == [""] * len(fits)
        for number in [91] if step is None else [90, 27.25]:
            assert page.evaluate("([asked, one]) => Questions.problem(asked, one)", [asked, number]) == wrong


def test_what_holds_at_most_is_rounded_up_as_in_the_report(site, page):
    """The page said at most 2,540,000,000,000 times, where 9^13 is 2,541,865,828,329."""
    page.goto(f"{site[0]}/answer/kinds")
    page.locator("#blur").wait_for()
    for value in (1.0, 3.0, 9.000000000000002, 7.4305, 99.91, 1234.0, 9.0**13, 1e21, 2.5e30):
        assert page.evaluate("value => Explain.roundedUp(value)", value) == rounded_up(value)
    said = page.evaluate("value => Explain.label({gamma: value}, {fingerprint: ''}, [])[2].textContent", 9.0**13)
    assert "at most 2,550,000,000,000 times" in said


def test_every_field_asks_the_browser_not_to_keep_it(site, page):
    page.goto(f"{site[0]}/answer/kinds")
    page.locator("#blur").wait_for()
    assert page.locator("form :is(input, select)").count() == 11
    assert page.locator("form :is(input, select):not([autocomplete=off])").count() == 0


def test_odds_are_said_for_each_channel(site, page):
    page.goto(f"{site[0]}/answer/kinds")
    page.locator("#blur").wait_for()
    said = {
        name: page.get_by_role("group", name=name).inner_text() for name in ("sugar", "wine", "beer", "sex", "mood")
    }
    assert "between -3.29 and 3.29" in said["sugar"] and "no bound" in said["sugar"]
    assert "In 90 of 100 cases" in said["wine"] and "In 60 of 100 cases" in said["beer"]
    assert "sent as it is" in said["sex"]
    stay = round(100 * float(CHANNELS["mood"]._stay))
    assert f"In {stay} of 100 cases your own class" in said["mood"]
    inside = round(100 * CHANNELS["illness"].channel.inside)
    assert "many texts" not in page.locator("main").inner_text()  # there may be six in all
    assert f"In {inside} of 100 cases your own text" in page.get_by_role("group", name="What is it?").inner_text()
    label = page.locator("table").first.inner_text()
    assert "except where it says below" in label and "Nobody can tell" not in label
    assert "no bound" in page.locator("main").inner_text()


def test_nobody_can_tell_is_said_only_where_nobody_can(site, page):
    labels = {}
    for study in ("loose", "bounded"):
        page.goto(f"{site[0]}/answer/{study}")
        page.locator("#blur").wait_for()
        labels[study] = page.locator("table").first.inner_text()
    assert "Nobody can tell" not in labels["loose"] and "can give an answer away" in labels["loose"]
    assert "Nobody can tell for certain" in labels["bounded"] and "give an answer away" not in labels["bounded"]


def test_that_rows_can_be_read_is_said_before_and_after(site, page):
    page.goto(f"{site[0]}/answer/bounded")
    page.locator("#blur").wait_for()
    assert "a row for each person" in page.locator("table").first.inner_text()
    page.get_by_label("yes").check()
    page.locator("#blur").click()
    page.locator("#send").click()
    page.locator("#withdraw").click()
    page.get_by_text("What somebody read before cannot be taken back").wait_for()


@pytest.mark.parametrize("code", [0, 10])
def test_a_message_is_as_long_with_short_codes_as_with_long_ones(site, page, code):
    sent = []
    page.on("request", lambda request: sent.append(request.post_data) if request.method == "POST" else None)
    page.goto(f"{site[0]}/answer/edge")
    page.get_by_label(EDGE).select_option(index=code + 1)
    page.locator("#blur").click()
    page.locator("#send").click()
    page.locator("#receipt").wait_for()
    (message,) = sent
    assert json.loads(message)["answers"] == {EDGE: code}
    assert len(message) == 1024


def test_a_text_that_does_not_fit_is_said(site, page):
    page.goto(f"{site[0]}/answer/kinds")
    page.get_by_label("At most 12 of these letters").fill("hay-fever")
    page.locator("#blur").click()
    assert "at most 12 of these letters" in page.locator("#p0").text_content()
    page.get_by_label("I would rather not say").check()
    page.locator("#blur").click()
    assert page.locator("#p0").text_content() == ""


def test_looking_again_draws_nothing_again(site, page):
    page.goto(f"{site[0]}/answer/kinds")
    fill(page)
    first = shown(page)
    for _ in range(6):  # a round of the longitudinal answer drawn anew would differ sooner or later
        page.locator("#back").click()
        page.locator("#blur").click()
        assert shown(page) == first
    page.reload()
    fill(page)
    assert shown(page) == first


def test_a_question_that_comes_again_in_another_study_has_the_same_permanent_answer(site, page):
    """The hash function is the person's own for ever: two studies with the same question see the same one."""
    found = []
    for study in ("first", "second"):
        page.goto(f"{site[0]}/answer/{study}")
        page.get_by_label("mood").select_option(index=3)
        page.locator("#blur").click()
        found.append(shown(page)["mood"] // CHANNELS["mood"].classes)
        page.locator("#send").click()
        page.locator("#receipt").wait_for()
    assert CHANNELS["mood"].hashes > 10 and found[0] == found[1]


def test_another_language_keeps_what_was_typed(site, page):
    page.goto(f"{site[0]}/answer/kinds")
    page.get_by_label("A number from 0 to 20").fill("5.5")
    page.get_by_label("Language").select_option("de")
    page.get_by_text("Wer was sehen kann").wait_for()
    assert page.get_by_label("0 bis 20").input_value() == "5.5"
