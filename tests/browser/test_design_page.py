"""The design page in a real browser: a design follows the slider, is kept, saved and loaded, and becomes a study."""

from __future__ import annotations

import json
import re

import pytest

import sfumato as sf
from sfumato import channels as c
from sfumato.assess.report.sentences import belief, percent

SCHEME = sf.Scheme(
    sf.Schema({"car": sf.Categorical(("no", "yes")), "km": sf.Numeric(0, 40, bins=4)}),
    {"car": c.symmetric(2, 0.2), "km": c.symmetric(4, 0.2)},
)
SCHEMA = {
    "format": "sfumato schema",
    "version": 1,
    "attributes": {
        "grade": {"kind": "ordinal", "values": [1, 2, 3], "nullable": True, "missing": ["?"]},
        "pay": {"kind": "numeric", "low": 0, "high": 9000, "points": 10, "unit": "EUR"},
        "size": {"kind": "numeric", "edges": [0, 1, 5, 20.5]},
        "when": {"kind": "date", "first": "2026-01", "last": "2026-12", "by": "month", "clip": True},
        "day": {"kind": "date", "by": "weekday"},
        "place": {"kind": "hierarchy", "levels": ["region", "town"], "tree": {"N": ["a", "b"], "S": ["c"]}},
    },
}


@pytest.fixture(scope="module")
def site(serving):
    with serving({}) as running:
        yield running


def settled(page):
    """Wait until what stands there is the answer to the last change."""
    page.evaluate("() => new Promise((done) => { setTimeout(done, 300); })")  # the page's own clock: its pause is over
    page.locator(".result:not([aria-busy])").wait_for(timeout=30_000)
    page.locator("#python").wait_for(timeout=30_000)


def asked(page):
    return [json.loads(body) for method, url, body in page.sent if url.endswith("/v1/design")]


def saved(page, button):
    with page.expect_download() as download:
        page.locator(button).click()
    return json.loads(download.value.path().read_text(encoding="utf-8"))


def load(page, document):
    page.locator("#load > summary").click()
    page.get_by_label("Or its text").fill(json.dumps(document))
    page.locator("#take").click()
    page.locator("#loaded", has_text="Taken").wait_for()


def test_a_design_follows_the_slider_and_the_typed_number(visit, site):
    page = visit("/design")
    settled(page)
    assert page.locator("figure > svg").count() == 3
    assert page.locator("figure figcaption").count() == page.locator("figure > p.about").count() == 3
    assert "In 53 of 100 cases" in page.locator("#odds").text_content()
    before = page.locator("#verdict").text_content()
    slider = page.locator("#slider")
    slider.focus()
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    settled(page)
    assert page.locator("#verdict").text_content() != before
    assert slider.evaluate("one => one === document.activeElement")
    assert slider.get_attribute("aria-valuetext").startswith("plus or minus 4")
    assert asked(page)[-1]["wish"]["half_width"] < 0.05
    assert len(asked(page)) <= 4  # not one for every step
    page.locator("#exact").fill("8,5")
    settled(page)
    assert asked(page)[-1]["wish"] == {"half_width": 0.085}
    assert "±\u00a08.5" in page.locator("#verdict").text_content()
    page.get_by_role("radio", name="How much one answer may tell").check()
    page.locator("#exact").fill("4")
    settled(page)
    page.locator("#by").select_option("content")
    page.get_by_role("columnheader", name="Within a group: How content").wait_for()
    made = saved(page, "#save-scheme")
    schema = sf.Schema.from_dict(made["schema"])
    assert made == sf.design.design(schema, 2000, gamma=4).scheme.to_dict()
    assert "gamma=4)" in page.locator("#python").text_content()
    assert page.locator("#command").text_content() == "sfumato design schema.json --n 2000 --gamma 4 --save scheme.json"
    assert page.problems == []
    assert all(url.startswith((site[0], "blob:")) for _, url, _ in page.sent)


def test_what_is_not_worked_out_yet_can_be_neither_saved_nor_taken_for_the_new_design(visit):
    page = visit("/design")
    settled(page)
    held = []
    page.route("**/v1/design", lambda route: held.append(route))
    page.locator("#exact").fill("9")
    page.locator("#working", has_text="Working out").wait_for()
    assert page.locator("#save-scheme").is_disabled()
    assert all(one.is_disabled() for one in page.locator("#code button").all())
    assert page.locator("#closely, #overview").first.evaluate("one => getComputedStyle(one).opacity < 1")
    page.locator("#working", has_text="3 seconds so far").wait_for(timeout=10_000)
    held.pop().continue_()
    settled(page)
    assert page.locator("#working").is_hidden()
    made = saved(page, "#save-scheme")
    schema = sf.Schema.from_dict(made["schema"])
    assert made == sf.design.design(schema, 2000, half_width=0.09).scheme.to_dict()


def test_bounds_are_rounded_up_and_nothing_short_of_certain_is_100_percent_as_in_the_report(visit):
    page = visit("/design")
    page.locator("#verdict").wait_for()

    def shown(call):
        return page.evaluate(call).replace("\u00a0", " ")

    shares = (0.0, 0.2501, 0.4706, 0.125, 0.0912, 0.989, 0.9901, 0.99991, 0.999999, 1 - 1e-12)
    for share in shares:
        assert shown(f"Page.belief({share}, 50)") == belief(share), share
        if share not in (0.4706, 0.2501, 0.0912, 0.989):  # written with three digits, not to the next percent
            assert shown(f"Page.percent({share})") == percent(share), share
    assert shown("Page.belief(1, 1e18)") == "almost 100 %" and shown("Page.belief(1, null)") == "100 %"
    assert [shown(f"Page.atMost({gamma})") for gamma in (9.0001, 3, "null")] == ["9.01", "3", "∞"]
    assert page.problems == []


def test_what_a_wish_cannot_reach_is_said(visit):
    page = visit("/design")
    settled(page)
    page.locator("#exact").fill("0.5")
    page.locator("#verdict", has_text="cannot be reached with 2,000 answers").wait_for()
    page.locator("#exact").fill("nothing")
    page.locator("#verdict", has_text="The wish is not complete").wait_for()
    page.locator("#exact").fill("5")
    page.get_by_role("button", name="Add a question").click()
    page.locator("#verdict", has_text="The questions are not complete").wait_for()
    assert page.get_by_role("alert").get_by_text("Give it a short name.").count() == 1


def test_a_bound_on_the_person_shows_ways_to_ask(visit):
    page = visit("/design")
    settled(page)
    page.get_by_role("radio", name="How much all answers of one person may tell together").check()
    settled(page)
    page.get_by_role("region", name="How to ask under this bound").wait_for()
    assert "at most 9 times" in page.locator("#verdict").text_content()
    page.locator("#closer").select_option("minutes")
    settled(page)
    assert asked(page)[-1]["attribute"] == "minutes"
    assert sf.Forms.from_dict(saved(page, "#save-scheme")).gamma == pytest.approx(9)


def test_questions_are_edited_moved_and_removed(visit):
    page = visit("/design")
    settled(page)
    page.get_by_role("button", name="Add a question").click()
    card = page.locator(".question").last
    card.get_by_label("Short name").fill("since")
    card.get_by_label("Kind").focus()
    card.get_by_label("Kind").select_option("date")
    assert page.evaluate("document.activeElement.tagName") == "SELECT"
    card.get_by_label("First date").fill("2026-01-01")
    card.get_by_label("Last date").fill("2026-12-31")
    card.get_by_label("The question, as people read it").fill("Since when?")
    card.get_by_role("button", name="Up").click()
    page.locator(".question summary", has_text="How many minutes").click()
    page.get_by_role("button", name="Remove: How many minutes does it take?").click()
    settled(page)
    schema = saved(page, "#save-schema")["attributes"]
    assert list(schema) == ["way", "since", "content"]
    assert schema["since"] == {"kind": "date", "by": "month", "first": "2026-01-01", "last": "2026-12-31"}
    assert saved(page, "#save-questions")["since"] == {"text": "Since when?"}
    assert page.problems == []


def test_it_is_kept_on_the_device_without_the_token(visit, site):
    ((_, admin),) = site[1].writer.now(site[1].tokens.make("admin", None))
    page = visit(f"/design#token={admin}")
    settled(page)
    page.locator("#n").fill("7777")
    settled(page)
    page.locator(".question summary").first.click()
    page.get_by_label("The question, as people read it").first.fill("Kept?")
    settled(page)
    held = page.context.storage_state()
    assert "Kept?" in json.dumps(held) and admin not in json.dumps(held)
    again = visit("/design", storage_state=held)
    settled(again)
    assert again.locator("#n").input_value() == "7777"
    assert again.locator(".question .title").first.text_content() == "Kept?"
    again.once("dialog", lambda dialog: dialog.accept())
    again.locator("#anew").click()
    settled(again)
    assert again.locator("#n").input_value() == "2000"


def test_a_schema_goes_in_and_out_as_it_is(visit):
    page = visit("/design")
    load(page, SCHEMA)
    settled(page)
    assert saved(page, "#save-schema") == SCHEMA
    for wrong in ("{", "[1]", '{"a": 1}'):
        page.get_by_label("Or its text").fill(wrong)
        page.locator("#take").click()
        page.locator("#loaded", has_text="nothing was changed").wait_for()
    assert saved(page, "#save-schema") == SCHEMA


def test_a_scheme_is_shown_as_it_is_until_something_changes(visit, tmp_path):
    page = visit("/design")
    (tmp_path / "scheme.json").write_text(SCHEME.to_json(), encoding="utf-8")
    page.locator("#load > summary").click()
    page.get_by_label("File").set_input_files(tmp_path / "scheme.json")
    page.locator("#loaded", has_text="Taken").wait_for()
    settled(page)
    assert page.get_by_label("The scheme from the file, as it is").is_checked()
    assert saved(page, "#save-scheme") == SCHEME.to_dict()
    assert page.locator("#command").text_content() == "sfumato assess scheme.json --n 2000"
    page.locator(".question summary").first.click()
    page.get_by_label("Answers, one in each line").first.fill("no\nyes\nperhaps")
    settled(page)
    assert page.get_by_label("The scheme from the file, as it is").count() == 0
    assert saved(page, "#save-scheme") != SCHEME.to_dict()


def test_a_design_becomes_a_study_that_people_answer(visit, site):
    ((_, admin),) = site[1].writer.now(site[1].tokens.make("admin", None))
    page = visit(f"/design#token={admin}")
    load(page, {"format": "sfumato schema", "version": 1, "attributes": SCHEME.schema.to_dict()})
    settled(page)
    page.locator(".question summary").first.click()
    page.get_by_label("The question, as people read it").first.fill("Do you come by car?")
    page.get_by_label("Words for them, if others are shown").first.fill("No, never\nYes")
    settled(page)
    page.get_by_label("Title").fill("How do you come?")
    assert page.get_by_label("Short name in links").input_value() == "how-do-you-come"
    page.get_by_label("Minimum of answers").fill("3")
    page.get_by_label("Ends").fill("2031-05-06T07:00")
    page.get_by_label("Who may answer").select_option("invitation")
    page.locator("#draft").click()
    page.get_by_text("This study is a draft").wait_for()
    study = site[1].studies["how-do-you-come"]
    assert (study.state, study.minimum, study.document["access"]) == ("draft", 3, "invitation")
    assert study.document["ends"].startswith("2031-05-0")
    assert study.document["questions"]["car"] == {
        "text": "Do you come by car?",
        "labels": {"no": "No, never", "yes": "Yes"},
    }
    assert study.scheme.to_dict() == saved(page, "#save-scheme")
    page.on("dialog", lambda dialog: dialog.accept())
    page.locator("#exact").fill("6.5")  # once more, with another wish, before that one is worked out
    page.locator("#draft").click()
    page.locator("#python", has_text="half_width=0.065").wait_for()
    page.locator("#draft:enabled").wait_for()
    assert (
        site[1].studies["how-do-you-come"].scheme.to_dict() == saved(page, "#save-scheme") != study.document["scheme"]
    )
    page.locator("#open").click()
    page.get_by_text("This study is open").wait_for()
    page.locator("#made").get_by_label("How many").fill("2")
    page.locator("#make-tokens").click()
    links = page.locator("#tokens").text_content().split("\n")
    assert len(links) == 2 and all(
        re.fullmatch(rf"{site[0]}/answer/how-do-you-come#token=sfi_\S+", one) for one in links
    )
    answering = visit(links[0].removeprefix(site[0]))
    answering.get_by_label("No, never").check()
    answering.locator("input[type=number]").fill("7")
    answering.locator("#blur").click()
    answering.locator("#send").click()
    answering.locator("#receipt").wait_for()
    assert site[1].responses.collected(site[1].studies["how-do-you-come"]).responses == 1
    page.locator("#list-tokens").click()
    page.locator("#made").get_by_text("used").wait_for()
    page.locator("#made").get_by_role("button", name="Revoke").first.click()
    page.locator("#made").get_by_text("revoked").wait_for()
    page.locator("#close").click()
    page.get_by_text("This study is closed.").wait_for()
    assert site[1].studies["how-do-you-come"].state == "closed"
    page.get_by_role("region", name="Studies of this server").get_by_text("closed").wait_for()
    assert [one for one in page.problems if "409 (Conflict)" not in one] == []  # that draft was there already


def test_without_a_token_nothing_is_made(visit, site):
    page = visit("/design")
    settled(page)
    page.get_by_label("Title").fill("Not mine")
    page.locator("#create").click()
    page.get_by_text("This token does not allow that.").wait_for()
    assert [study.id for study in site[1].studies if study.id == "not-mine"] == []


def test_it_speaks_german_and_fits_a_phone(visit):
    page = visit("/design?lang=de", viewport={"width": 390, "height": 800}, color_scheme="dark")
    settled(page)
    assert page.get_by_role("heading", name="Eine Studie entwerfen").count() == 1
    assert page.locator(".slider").text_content() == "vertraulichergenauer"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))
    assert "undefined" not in page.locator("main").text_content()
    assert page.problems == []
    cut = page.evaluate(
        """() => [...document.querySelectorAll("svg.chart text")].filter((text) => {
          const own = text.getBoundingClientRect(), picture = text.closest("svg").getBoundingClientRect();
          return own.width && (own.left < picture.left || own.right > picture.right);
        }).map((text) => text.textContent)"""
    )
    assert cut == []  # "100 %" lost its sign


def test_long_names_break_between_their_words(visit):
    """A phone had "Database_ad ministrator" and "CareerSatisfa ction"."""
    names = ("Database_administrator", "Developer_with_stats_background", "CareerSatisfaction")
    page = visit("/design", viewport={"width": 390, "height": 800})
    load(page, sf.Schema({name: sf.Categorical(("no", "yes")) for name in names}).to_dict())
    settled(page)
    broken = """(places) => places.map((place) => [...(place.querySelector("span") ?? place).childNodes].filter((part) => {
        const range = document.createRange();
        range.selectNodeContents(part);
        return part.nodeName === "#text" && range.getClientRects().length > 1;
    }).map((part) => part.data))"""
    for places in ("b.title", "[aria-label='All questions'] tbody th"):
        assert page.locator(places).all_text_contents() == list(names)
        assert page.locator(places).evaluate_all(broken) == [[], [], []]


def test_the_first_page_leads_there_with_its_token(visit):
    page = visit("/#token=sfa_x")
    page.get_by_role("link", name="Design a study").click()
    page.wait_for_url("**/design#token=sfa_x")
