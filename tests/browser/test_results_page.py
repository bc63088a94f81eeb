"""The miner's page: what the server estimates stands on it, and nothing before the study's minimum."""

from __future__ import annotations

import math
import re
import secrets

import numpy as np
import pytest
from playwright.sync_api import expect

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import without_warnings
from sfumato.learn.bayesnet.layout import routed

SCHEME = sf.Scheme(
    sf.Schema(
        {
            "car": sf.Categorical(("no", "yes")),
            "km": sf.Numeric(edges=(0, 5, 1000, 12_000, 40_000)),
            "bus, tram": sf.Categorical(("no", "yes")),
        }
    ),
    {"car": c.symmetric(2, 0.2), "km": c.symmetric(4, 0.2), "bus, tram": c.symmetric(2, 0.2)},
)


@pytest.fixture(scope="module")
def site(serving):
    fields = {"scheme": SCHEME.to_dict(), "questions": {"car": {"text": "By car?", "labels": {"yes": "Yes"}}}}
    least = {"few": 100, "many": 20, "ending": 20}
    with serving({study: {**fields, "minimum": minimum} for study, minimum in least.items()}) as running:
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
            "answers": {"car": i % 2, "km": i // 2 % 4, "bus, tram": (i + (i // 8 % 3 == 0)) % 2},
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


@pytest.fixture(scope="module")
def page(browser, site):
    """The page of a study with 800 answers."""
    send(browser.new_context(base_url=site[0]), "many", 800)
    made = opened(browser, site, "many", tokens(site, "many"))
    made.get_by_role("img", name="Means of km").wait_for()
    yield made
    assert made.problems == []


def test_shares_means_and_the_release_are_there(page, tmp_path):
    assert page.get_by_role("heading", name="By car?").count() == 1
    assert page.get_by_role("img", name="Estimated shares of By car?").get_by_text("50.0 %").count() >= 1
    page.get_by_role("region", name="By car? by km").wait_for()
    with page.expect_download() as download:
        page.locator("#download").click()
    assert download.value.suggested_filename == "many.parquet"
    download.value.save_as(tmp_path / "many.parquet")
    assert len(sf.Release.load(tmp_path / "many.parquet")) == 800


def test_bins_are_written_as_the_command_line_prints_them(page):
    written = page.locator("section", has=page.get_by_role("heading", name="km", exact=True)).first.text_content()
    assert all(f"[{ends}" in written for ends in ("0 to 5)", "5 to 1000)", "1000 to 12,000)", "12,000 to 40,000]"))


@pytest.mark.parametrize("years", [False, True])  # bars, and dots
def test_a_mean_of_which_all_is_possible_is_not_told_nor_drawn(page, years):
    own = page.context.new_page()
    row = {"value": 8.0, "nearest": None, "low": 7.0, "high": 9.0, "sd": 0.5, "false_down": -0.1, "false_up": 3.0}
    rows = [
        {**row, "group": ["no"], "open": False},
        {**row, "group": ["yes"], "value": 77.29, "low": 0.0, "high": 79.0, "open": True},
    ]
    about = {"name": "km", "by": ["car"], "answers": 900, "level": 0.95, "false": 0.01, "years": years, "notes": []}
    own.route("**/means?**", lambda route: route.fulfill(json={**about, "rows": rows}))
    own.goto(page.url)
    section = own.locator("section", has=own.get_by_role("heading", name="Means"))
    section.get_by_text("As a table").click()
    open_one = section.get_by_role("row", name="yes")
    open_one.wait_for()
    cells = open_one.locator("td").all_text_contents()
    assert cells[:2] == ["not told", "0 to 79"] and "77.29" not in section.text_content()
    assert section.locator("svg .share").count() == 1 and section.locator("svg", has_text="not told").count() == 1
    ends = [float(one) for one in section.locator("svg .tick").all_text_contents() if re.fullmatch(r"[\d.]+", one)]
    assert max(ends) <= 15  # of what is drawn: to 80 the mean of 8 and its interval would be a speck
    if years:
        assert "it ends in an arrow" in section.text_content()
    else:  # a line on what false answers could do, up to 11, ends where it ends
        line = section.locator("svg .false").first.get_attribute("d")
        start, end = (float(one) for one in re.findall(r"[MH]([\d.]+)", line))
        assert (end - start) / (start - 170) == pytest.approx((11 - 7.9) / 7.9, rel=0.01)
    own.close()


def test_a_share_of_which_all_is_possible_is_not_told_nor_drawn_alone_and_in_pairs(page):
    own = page.context.new_page()
    moves = {"count": 9.0, "sd": 1.0, "false_down": -0.1, "false_up": 0.1}
    open_one = {**moves, "values": ["no"], "share": 0.3713, "open": True, "low": 0.01, "high": 0.99}
    known = {**moves, "values": ["yes"], "share": 0.6287, "open": False, "low": 0.1, "high": 0.8}

    def fulfil(route):
        released = {"columns": ["car"], "sizes": [2], "counts": [4, 6], "shares": [0.4, 0.6]}
        found = {"answers": 900, "level": 0.95, "false": 0.01, "half_width": 0.49, "needed": None}
        pair = "km" in route.request.url
        cells = [{**one, "values": [*one["values"], "[0, 5)"]} for one in (open_one, known) * 4]
        body = {"names": ["car"], "cells": cells if pair else [open_one, known], "released": None if pair else released}
        route.fulfill(json={**found, **body})

    own.route("**/estimates?**", fulfil)
    own.goto(page.url)
    picture = own.get_by_role("img", name="Estimated shares of By car?")
    picture.wait_for()
    assert "not told" in picture.text_content() and "37.1 %" not in picture.text_content()
    assert [picture.locator(kind).count() for kind in (".share", ".limits", ".false", ".raw")] == [1, 1, 1, 2]
    section = own.locator("section", has=own.get_by_role("heading", name="By car?"))
    section.get_by_text("As a table").click()
    row = section.get_by_role("row", name="no").locator("td").all_text_contents()
    assert row[:3] == ["not told", "1.0 to 99.0 %", "40.0 %"]
    pair = own.get_by_role("region", name="By car? by km")
    pair.wait_for()
    assert "37.1 %" not in pair.text_content() and "not told1.0 to 99.0 %" in pair.text_content()
    own.close()


def test_each_share_has_its_interval_what_arrived_and_what_liars_could_do_in_words(page):
    section = page.locator("section", has=page.get_by_role("heading", name="By car?"))
    section.get_by_text("As a table").click()
    row = section.get_by_role("row", name="Yes").text_content()
    assert "50.0 %" in row and " to " in row and "−1.3 to +1.3" in row  # (0.8 / 0.6 and 1 + 0.2 / 0.6) of 1 %
    assert section.locator(".false").count() == 2 and section.locator("rect.raw").count() == 2
    section.get_by_text("As a table").click()


def test_false_answers_take_no_cell_below_0_and_no_promise_is_made_for_bands(page):
    cells = page.get_by_role("region", name="By car? by ").locator("td.num").all()
    assert cells
    for cell in cells:
        share, down = re.match(r"(-?[\d.]+) %.*−([\d.]+) to \+", cell.text_content()).groups()
        assert float(down) <= max(float(share), 0) + 0.05
    assert "at most" in page.locator("#text").text_content()
    assert "The band of a distribution is no such interval" in page.locator("#text").text_content()


def test_a_tree_without_a_question_says_what_was_tested_and_a_regression_where_to_leave_out(page):
    own = page.context.new_page()
    own.goto(page.url)
    tree = {"answers": 900, "level": 0.95, "target": "car", "classes": ["no", "yes"], "leaves": 1, "depth": 0}
    classes = [{"value": 0.6, "low": 0.0, "high": 1.0}, {"value": 0.4, "low": 0.0, "high": 1.0}]
    root = {"values": [], "share": {"value": 1, "low": 1, "high": 1}, "question": None, "classes": classes}
    tree["root"] = {**root, "false": [{"down": None, "up": None}] * 2, "children": []}
    tree["notes"] = ["the noise hides the 4 bins of 'km' from each other"]
    refusal = {"error": {"code": "not_possible", "message": "the records do not tell it: leave it out", "details": {}}}
    own.route("**/models/tree?**", lambda route: route.fulfill(json=tree))
    own.route("**/models/regression?**", lambda route: route.fulfill(json=refusal, status=422))
    own.get_by_role("button", name="Grow the tree").click()
    own.get_by_text("would not tell By car? better than its commonest answer does").wait_for()
    own.get_by_text("the rules. The noise hides the 4 bins of 'km' from each other.").wait_for()
    picture = own.get_by_role("img", name="A tree that tells By car?")
    assert "share not told" in picture.text_content() and "60.0 %" not in picture.text_content()
    assert [picture.locator(kind).count() for kind in (".limits", ".class0", ".open")] == [0, 0, 1]
    own.get_by_role("button", name="Fit the regression").click()
    own.get_by_text("Untick it at “Questions that models look at”").wait_for()
    own.close()


LONG = "more than half of the days, or nearly every_day_of_the_week"
#: Whether texts of a picture stand beside another one, or beyond its right end.
CROWDED = """(picture) => { const boxes = [...picture.querySelectorAll("text")].map((one) => one.getBBox());
  const meet = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y + 3 < b.y + b.height - 3 && b.y + 3 < a.y + a.height - 3;
  return [boxes.some((one) => one.x + one.width > picture.viewBox.baseVal.width), boxes.some((one, i) => boxes.slice(i + 1).some((other) => meet(one, other)))]; }"""


def beside(texts):
    """The lines of a picture as one text, whose lines end at spaces or after signs."""
    return re.sub(r"\s", "", "".join(texts))


@pytest.mark.parametrize("width", [390, 1280])
def test_pictures_write_out_long_answers(page, width):
    own = page.context.new_page()
    own.set_viewport_size({"width": width, "height": 800})
    told, share = {"value": 0.241, "low": 0.031, "high": 0.634}, {"value": 0.5, "low": 0.4, "high": 0.6}
    leaf = {"values": [LONG], "share": share, "question": None, "children": []}
    leaf |= {"classes": [{**told, "value": 0.759}, told], "false": [{"down": None, "up": None}] * 2}
    root = {**leaf, "values": [], "question": "km", "children": [leaf, leaf]}
    tree = {"answers": 900, "level": 0.95, "target": "car", "classes": [LONG, "no"], "leaves": 2, "depth": 1}
    own.route("**/models/tree?**", lambda route: route.fulfill(json={**tree, "root": root, "notes": []}))
    rule = {"if": [f"km={LONG}", f"car={LONG}"], "then": [f"bus, tram={LONG}"], "confidence": told, "support": told}
    rule |= {"lift": told, "confidence_false": {"down": None, "up": None}, "support_false": {"down": None, "up": None}}
    rules = {"answers": 900, "level": 0.95, "rules": [rule, rule], "found": 2, "hidden": 0, "shortfall": None}
    own.route("**/models/rules?**", lambda route: route.fulfill(json={**rules, "notes": []}))
    cells = [{"values": [value], "count": 450.0, "sd": 9.0, "open": False, "share": 0.5} for value in (LONG, "no")]
    cells = [{**cell, "low": 0.4, "high": 0.6, "false_down": -0.1, "false_up": 0.1} for cell in cells]
    shares = {"answers": 900, "level": 0.95, "false": 0.01, "half_width": 0.1, "needed": None, "names": ["car"]}
    shares |= {"cells": cells, "released": None}
    own.route("**/estimates?**", lambda route: route.fulfill(json=shares))
    own.goto(page.url)
    own.get_by_role("button", name="Grow the tree").click()
    own.get_by_role("button", name="Find rules").click()
    for name, whole in (
        ("A tree that tells By car?", f"{LONG}: 75.9 % (3.1 to 63.4 %)"),
        ("Confidence of the rules", f"km: {LONG} + By car? {LONG} ⇒ bus, tram: {LONG}"),
        ("Estimated shares of By car?", LONG),
    ):
        picture = own.get_by_role("img", name=name)
        picture.wait_for()
        assert beside([whole]) in beside(picture.locator("text").all_text_contents()), name
        assert picture.evaluate(CROWDED) == [False, False], name
    own.close()


def test_an_interval_beyond_the_picture_of_a_regression_ends_in_an_arrow(page):
    """One that reached from -40 to 40 made dots of the others."""
    own = page.context.new_page()
    own.goto(page.url)
    false = {"down": None, "up": None}
    terms = [
        {"term": term, "intercept": term == "Intercept", "sd": 1.0, "false": false, "coefficient": dict(coefficient)}
        for term, *ends in (("Intercept", 9, 8, 10), ("km", 0.5, 0.2, 0.8), ("a/b", 3, -40, 40))
        for coefficient in [zip(("value", "low", "high"), ends, strict=True)]
    ]
    found = {"answers": 900, "target": "car", "family": "logistic", "event": "yes", "converged": True, "notes": []}
    found |= {"terms": terms, "reach": [-1.2, 1.2]}
    own.route("**/models/regression?**", lambda route: route.fulfill(json=found))
    own.get_by_role("button", name="Fit the regression").click()
    picture = own.get_by_role("img", name="What goes along with")
    picture.wait_for()
    assert "40" not in picture.text_content() and picture.locator(".limits").count() == 2
    assert picture.locator("circle").count() == 1  # 3 lies beyond
    own.get_by_text("it ends in an arrow").wait_for()
    assert "−40 to 40" in own.locator("[aria-label='Coefficients'] table").text_content()  # one minus on the whole page
    own.close()


def test_a_refusal_of_the_server_is_a_sentence(page):
    """It stood there as the server writes it, in lower case and without an end."""
    own = page.context.new_page()
    own.goto(page.url)
    refusal = {"error": {"code": "not_possible", "message": "this takes too long: choose fewer", "details": {}}}
    own.route("**/models/**", lambda route: route.fulfill(json=refusal, status=422))
    own.route("**/release", lambda route: route.fulfill(json=refusal, status=422))
    own.get_by_role("button", name="Draw the network").click()
    own.get_by_text("This takes too long: choose fewer.", exact=True).wait_for()
    own.get_by_role("button", name="Download").click()
    own.locator("#downloaded", has_text="This takes too long: choose fewer.").wait_for()
    own.close()


def test_how_many_more_answers_it_takes_follows_the_wish(page):
    section = page.locator("section", has=page.get_by_role("heading", name="By car?"))
    wish, status = section.get_by_role("spinbutton"), section.get_by_role("status")
    said = [status.text_content()]
    for points in ("5", "2", "40"):
        wish.fill(points)
        expect(status).not_to_have_text(said[-1])
        said.append(status.text_content())
    said.pop(0)
    more = [int(text.replace(",", "").split()[1]) for text in said[:2]]
    assert more[1] > 5 * more[0] and said[2] == "reached."


def test_an_answer_that_comes_late_does_not_replace_that_of_a_later_wish(page):
    section = page.locator("section", has=page.get_by_role("heading", name="By car?"))
    wish, status = section.get_by_role("spinbutton"), section.get_by_role("status")
    late = []
    page.route("**/estimates?*wish=0.05*", lambda route: late.append(route))
    with page.expect_request("**/estimates?*wish=0.05*"):
        wish.fill("5")
    wish.fill("40")
    expect(status).to_have_text("reached.")
    with page.expect_response("**/estimates?*wish=0.05*") as answered:
        late[0].continue_()
    answered.value.finished()
    page.wait_for_timeout(100)
    assert status.text_content() == "reached."
    page.unroute("**/estimates?*wish=0.05*")


def test_odds_are_asked_for_where_there_are_some(page):
    """Of a number an empty menu stood there: the layout of its label outdid that it was hidden."""
    explain, odds = page.get_by_role("combobox", name="Explain"), page.get_by_role("combobox", name="The odds of")
    before = explain.input_value()
    explain.select_option("km")
    expect(odds).to_be_hidden()
    explain.select_option("car")
    expect(odds).to_be_visible()
    explain.select_option(before)


MODELS = {
    "Grow the tree": "A tree that tells",
    "Find rules": "Confidence of the rules",
    "Draw the network": "A network of 3 questions",
    "Fit the regression": "What goes along with bus, tram",
    "Draw the distribution": "The distribution of km",
}


def test_models_are_drawn_when_asked_for_and_have_their_numbers_in_a_table(page):
    for button, picture in MODELS.items():
        page.get_by_role("button", name=button).click()
        page.get_by_role("img", name=picture).wait_for(timeout=60000)
        section = page.locator("section", has=page.get_by_role("button", name=button)).last
        assert "Learned from 800 answers." in section.text_content()
        section.get_by_text("As a table").click()
        assert section.get_by_role("row").count() > 1
    network = page.get_by_role("img", name="A network of 3 questions")
    assert "with 1 link" in network.get_attribute("aria-label")


def test_a_table_of_a_network_names_the_parents_one_after_the_other(page):
    own = page.context.new_page()
    cell = {"probability": {"value": 0.5, "low": 0.4, "high": 0.6}, "false": {"down": None, "up": None}, "value": "no"}
    parents = [["km"], ["km", "bus, tram", "km"]]
    nodes = [
        {"name": "car", "place": [i, 0], "parents": given, "table": [{**cell, "given": ["[0, 5)"] * len(given)}]}
        for i, given in enumerate(parents)
    ]
    found = {"answers": 900, "level": 0.95, "notes": [], "nodes": nodes, "links": []}
    own.route("**/models/network?**", lambda route: route.fulfill(json=found))
    own.goto(page.url)
    own.get_by_role("button", name="Draw the network").click()
    heads = own.locator("summary", has_text="given")
    heads.first.wait_for()
    assert heads.all_text_contents() == ["By car?, given km", "By car?, given km, bus, tram and km"]
    own.close()


def test_lines_that_pass_the_rows_of_a_network_take_no_room_of_boxes_and_its_middle_is_seen_first(page):
    own = page.context.new_page()
    own.set_viewport_size({"width": 390, "height": 800})
    cell = {"test": "any", "statistic": 9.0, "df": 1, "p": 0.001, "trend": None}
    nodes = [{"name": name, "place": [0, row], "parents": [], "table": None} for row, name in enumerate(("car", "km"))]
    ways = [[[side * far, row / 9] for row in range(1, 9)] for far in range(1, 9) for side in (-1, 1)]
    links = [{**cell, "parent": "car", "child": "km", "way": way} for way in ways]
    found = {"answers": 900, "level": 0.95, "notes": [], "nodes": nodes, "links": links}
    own.route("**/models/network?**", lambda route: route.fulfill(json=found))
    own.goto(page.url)
    own.get_by_role("button", name="Draw the network").click()
    picture = own.get_by_role("img", name="A network of 2 questions")
    picture.wait_for()
    assert float(picture.get_attribute("width")) < 700  # 16 lines beside two boxes had 2400
    for name in ("By car?", "km"):
        box = picture.locator("text", has_text=name).bounding_box()
        assert box["x"] > 0 and box["x"] + box["width"] < 390
    own.close()


#: Which links come into a box other than their ends, and how far the ends are from theirs.
PASSED = """(picture) => { const [rects, links] = [".node", ".link"].map((kind) => [...picture.querySelectorAll(kind)]);
  const boxes = rects.map((rect) => rect.getBBox());
  return links.map((link) => { const all = link.getTotalLength(), points = [...Array(400).keys()].map((i) => link.getPointAtLength(all * i / 399));
    const inside = (box, p) => p.x > box.x && p.x < box.x + box.width && p.y > box.y + 1 && p.y < box.y + box.height - 1;
    return boxes.some((box) => points.some((point) => inside(box, point))); }); }"""


def test_no_link_of_a_network_passes_behind_a_box(page):
    own = page.context.new_page()
    rng = np.random.default_rng(6)
    names = ["car", *(f"asked about the {i}th day of_the_week" for i in range(10))]
    pairs = [(a, b) for i, b in enumerate(names) for a in names[:i]]
    drawn = [pairs[i] for i in rng.permutation(len(pairs))[:25]]
    parents = {name: [a for a, b in drawn if b == name] for name in names}
    places, ways = routed(parents)
    nodes = [{"name": name, "place": places[name], "parents": parents[name], "table": None} for name in names]
    cell = {"test": "any", "statistic": 9.0, "df": 1, "p": 0.001, "trend": None}
    links = [{**cell, "parent": a, "child": b, "way": ways.get((a, b), [])} for a, b in drawn]
    found = {"answers": 900, "level": 0.95, "notes": [], "nodes": nodes, "links": links}
    own.route("**/models/network?**", lambda route: route.fulfill(json=found))
    own.goto(page.url)
    own.get_by_role("button", name="Draw the network").click()
    picture = own.get_by_role("img", name="A network of 11 questions with 25 links")
    picture.wait_for()
    assert picture.evaluate(PASSED) == [False] * 25
    assert "…" not in picture.text_content() and picture.evaluate(CROWDED) == [False, False]
    own.close()


def test_models_that_are_asked_for_at_once_are_learned_one_after_the_other(browser, site, page):
    """The server learns one at a time and sends away who asks for many: the fifth was told that others are answered."""
    own = opened(browser, site, "many", tokens(site, "many"))
    held = []
    own.route("**/models/**", lambda route: held.append(route))
    own.get_by_role("button", name="Grow the tree").wait_for()
    for button in MODELS:
        own.get_by_role("button", name=button).click()
    waiting = own.get_by_text("Waiting for the model that was asked for before it")
    for asked, picture in enumerate(MODELS.values(), start=1):
        expect(waiting).to_have_count(len(MODELS) - asked)
        expect(own.get_by_text("Learning, which may take up to a minute")).to_be_visible()
        assert all(waiting.nth(i).is_visible() for i in range(len(MODELS) - asked))
        assert len(held) == asked
        held[-1].continue_()
        own.get_by_role("img", name=picture).wait_for(timeout=60000)
    expect(own.get_by_text("Learned from 800 answers.").last).to_be_visible()
    assert own.problems == []


def test_no_two_classes_have_one_colour_but_the_small_ones_that_are_called_others(page):
    assert page.evaluate("Charts.colours([5, 1, 2])") == ["class0", "class1", "class2"]
    many = page.evaluate("Charts.colours([.1, .3, .02, .2, .01, .15, .12, .1])")
    assert many == ["class0", "class1", "others", "class2", "others", "class3", "class4", "others"]


def test_a_limit_that_is_open_is_called_so(page):
    """It was "unknown", as though nobody had looked."""
    written = (
        "Charts.between({low: null, high: 2.5}, Charts.short), Charts.between({low: 0.1, high: 0.2}, Charts.percent)"
    )
    assert page.evaluate(f"[{written}]") == ["open to 2.5", "10.0 to 20.0 %"]


def test_what_nothing_could_move_has_no_sign(page):
    """The page wrote "−0.0 to +4.6"."""
    assert page.evaluate("[Charts.swing('0.0', '4.6'), Charts.swing('1.2', '0')]") == ["0.0 to +4.6", "−1.2 to 0"]


def test_what_was_chosen_opened_and_scrolled_to_stays_when_answers_arrive(browser, site):
    context = browser.new_context(base_url=site[0])
    page = opened(browser, site, "many", tokens(site, "many"))
    page.clock.install()
    page.reload()
    page.get_by_role("img", name="Means of km").wait_for()
    page.get_by_label("By", exact=True).select_option("car")
    section = page.locator("section", has=page.get_by_role("heading", name="By car?"))
    section.get_by_role("spinbutton").fill("7")
    section.get_by_text("As a table").click()
    page.get_by_role("button", name="Grow the tree").focus()
    page.evaluate("window.scrollTo(0, 900)")
    before = page.evaluate("[window.scrollY, document.activeElement.textContent]")
    told = page.locator("main > p").first.text_content()
    send(context, "many", 16)
    page.clock.run_for(11000)
    page.get_by_text("816 single responses").wait_for()
    assert page.locator("main > p").first.text_content() != told
    page.get_by_role("img", name="Means of km").get_by_text("Yes").wait_for()
    assert page.get_by_label("By", exact=True).input_value() == "car"
    assert section.get_by_role("spinbutton").input_value() == "7"
    assert section.get_by_role("row", name="Yes").is_visible()
    after = page.evaluate("[window.scrollY, document.activeElement.textContent]")
    assert abs(after[0] - before[0]) < 5 and after[1] == before[1] == "Grow the tree"
    assert page.problems == []


def test_the_page_says_when_a_study_is_closed_though_no_answer_arrives(browser, site):
    send(browser.new_context(base_url=site[0]), "ending", 40)
    page = opened(browser, site, "ending", tokens(site, "ending"))
    page.clock.install()
    page.reload()
    page.get_by_text("The study is open.").wait_for()
    page.get_by_role("img", name="Means of km").wait_for()
    site[1].writer.now(site[1].studies.close("ending"))
    page.clock.run_for(11000)
    page.get_by_text("The study is closed.").wait_for(timeout=5000)
    assert page.problems == []


ODD = {
    "forms": sf.Forms([SCHEME.select(["car", "km"]), SCHEME.select(["km", "bus, tram"])]),
    "noisy": {"car": c.symmetric(2, 0.2), "km": c.gaussian(3.0), "bus, tram": c.symmetric(2, 0.2)},
    "dated": sf.Schema({"day": sf.Date("2019-01", "2019-12", by="month"), "sex": sf.Categorical(("F", "M"))}),
    "many": sf.Schema({"town": sf.Categorical(tuple(f"t{i}" for i in range(90))), "age": sf.Numeric(0, 90, bins=90)}),
}


SAYS = {
    "forms": "The widest interval reaches",
    "noisy": "The widest interval reaches",
    "dated": "A share below 0 or above 100 % is the work of chance",
    "wide": "The 40 largest of 90 shares",
    "rows": "Resampled rows of all sites",
}


def pushed(route):
    """As if sites had pushed rows."""
    route.fulfill(json={"state": "open", "responses": 0, "uploads": 1, "rows": 50, "minimum": 2, "hours": []})


def test_studies_of_every_kind_have_a_page(browser, serving):
    """Forms, numbers under noise, questions with very many values, and resampled rows."""
    with without_warnings():
        noisy = sf.Scheme(SCHEME.schema, ODD["noisy"])
    dated, wide = (sf.Scheme.for_gamma(ODD[name], 9) for name in ("dated", "many"))
    studies = {"forms": ODD["forms"], "noisy": noisy, "dated": dated, "wide": wide}
    fields = {name: {"scheme": scheme.to_dict(), "minimum": 20} for name, scheme in studies.items()}
    fields["rows"] = {"kind": "resampled", "schema": SCHEME.schema.to_dict(), "minimum": 2}
    sent = {
        "forms": [({"form": i % 2}, {"km": i % 4, "bus, tram" if i % 2 else "car": i // 3 % 2}) for i in range(60)],
        "noisy": [({}, {"car": i % 2, "km": 20 + 7 * math.sin(i), "bus, tram": i // 2 % 2}) for i in range(60)],
        "dated": [({}, {"day": 5, "sex": i % 2}) for i in range(60)],
        "wide": [({}, {name: 7 * i % size for name, size in wide.output_sizes.items()}) for i in range(60)],
    }
    with serving(fields) as site:
        context = browser.new_context(base_url=site[0])
        for study, answers in sent.items():
            known = {"study": study, "fingerprint": studies[study].fingerprint}
            body = [{**known, "id": secrets.token_hex(16), **form, "answers": one} for form, one in answers]
            found = context.request.post("/v1/responses", data={"responses": body}).json()["results"]
            assert {one["status"] for one in found} == {"accepted"}, found[0]
        seen = {}
        for study in fields:
            page = browser.new_context().new_page()
            problems = []
            page.on("pageerror", lambda problem, own=problems: own.append(str(problem)))
            if study == "rows":
                page.route("**/progress", pushed)
            page.goto(f"{site[0]}/results/{study}#token={tokens(site, study)}")
            page.locator("#download").wait_for()
            page.get_by_text(SAYS[study]).first.wait_for()
            seen[study] = page.locator("main").text_content()
            if study == "noisy":
                page.get_by_role("button", name="Draw the distribution").click()
                page.get_by_role("img", name="The distribution of km").wait_for()
                assert page.get_by_text("the numbers as they arrived").is_visible()
            if study == "dated":
                page.get_by_text("Counted in months after 2019-01.").wait_for()
                page.get_by_role("button", name="Draw the distribution").click()
                first = page.get_by_role("img", name="The distribution of day").get_by_text("2019-01")
                first.wait_for()
                assert float(first.get_attribute("x")) > 10  # in the middle of its step, which begins there
                assert page.get_by_text("of the reconstructed distribution").count() == 0  # no mean of places
            assert problems == []
    assert "Not listed by value: km" in seen["noisy"] and "Not listed by value: age" in seen["wide"]
    assert "Models" in seen["forms"] and "Models" not in seen["rows"]


def test_years_and_numbers_in_bins_are_told_as_such_also_on_a_phone(browser, serving):
    """Years had a thousands mark, a bar from 0 and a distribution of places; long questions made the page too wide."""
    numbers = {"km": sf.Numeric(edges=(0, 1, 40), step=1), "built": sf.Numeric(1870, 2010, bins=4)}
    numbers["pay"] = sf.Numeric(edges=(0, 20_000, 50_000, 200_000))
    dates = {"born": sf.Date("1940", "1979", by="year"), "came": sf.Date("2016-Q1", "2017-Q4", by="quarter")}
    schema = sf.Schema(dates | numbers)
    scheme = sf.Scheme(schema, {name: c.symmetric(domain.size, 0.1) for name, domain in schema.items()})
    asked = {"born": {"text": "In which of these years were you born, as far as anybody knows?"}}
    with serving({"years": {"scheme": scheme.to_dict(), "questions": asked, "minimum": 20}}) as site:
        known = {"study": "years", "fingerprint": scheme.fingerprint}
        body = [
            {**known, "id": secrets.token_hex(16), "answers": answers}
            for i in range(400)
            for answers in [{"born": i % 40, "came": i % 7, "km": i // 9 % 2, "built": i % 4, "pay": i % 3}]
        ]
        browser.new_context(base_url=site[0]).request.post("/v1/responses", data={"responses": body})
        page = browser.new_context(viewport={"width": 390, "height": 844}).new_page()
        page.goto(f"{site[0]}/results/years#token={tokens(site, 'years')}")
        picture = page.get_by_role("img", name="Means of In which")
        picture.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert "1,9" not in picture.text_content() and "1959" in picture.text_content()
        page.get_by_label("Mean of").select_option("came")
        picture = page.get_by_role("img", name="Means of came")
        picture.wait_for()
        assert "2016-Q4" in picture.text_content()
        assert "2016-Q4" in page.locator("[aria-label='Means of came'] table").text_content()
        page.get_by_label("Mean of").select_option("km")
        page.get_by_text("Numbers count as the middle of their bin").wait_for()
        page.get_by_role("button", name="Draw the distribution").click()
        page.get_by_role("img", name="The distribution of In which").get_by_text("1940").wait_for()
        assert page.get_by_text("of the reconstructed distribution").count() == 0  # no mean of places
        page.get_by_label("Of", exact=True).select_option("built")
        page.get_by_role("button", name="Draw the distribution").click()
        picture = page.get_by_role("img", name="The distribution of built")
        picture.wait_for()
        assert "1,9" not in picture.text_content() and "1900" in picture.text_content()
        page.get_by_text("These two have no intervals, and may be far off where steps are wide").wait_for()
        page.get_by_label("Of", exact=True).select_option("pay")
        page.get_by_role("button", name="Draw the distribution").click()
        page.get_by_text("The height is the share of each stretch of 10,000.").wait_for()
        heights = page.get_by_role("img", name="The distribution of pay").locator("text", has_text="%")
        assert heights.count() and "0.0 %" not in heights.all_text_contents()  # of a stretch of 1 all were


def test_a_token_of_another_study_opens_nothing(browser, site):
    page = opened(browser, site, "many", tokens(site, "few"))
    page.locator(".callout").wait_for()
    assert page.locator("#download").count() == 0


def test_a_link_that_lost_its_token_says_so_to_people(browser, site):
    """The page said what a program must send: Authorization: Bearer TOKEN."""
    page = browser.new_page()
    page.goto(f"{site[0]}/results/many")
    page.get_by_text("Open the whole link").wait_for()
    assert "Bearer" not in page.content()


def test_contents_lead_to_every_part_and_the_address_keeps_its_token(page):
    """A page of many screens had none, and its link to the text took the token from the address."""
    expect(page.get_by_role("navigation", name="Contents")).to_be_visible(timeout=20_000)
    address = page.url
    names = page.locator("nav.contents a").all_inner_texts()
    assert names[:2] == ["Shares", "By car?"] and names[-1] == "The answers as they arrived" and "A tree" in names
    page.get_by_role("link", name="Means").press("Enter")
    assert page.evaluate("document.activeElement.textContent") == "Means" and page.url == address
    page.get_by_role("link", name="Skip to the text").press("Enter")
    assert page.evaluate("document.activeElement.id") == "text" and page.url == address


def test_letters_of_pictures_stay_readable_on_a_phone(page):
    """Pictures are drawn anew for the narrow screen, one after the other."""
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function(
        """() => [...document.querySelectorAll("svg.chart text")].every((text) => {
          const picture = text.closest("svg"), width = picture.getBoundingClientRect().width;
          return parseFloat(getComputedStyle(text).fontSize) * width / picture.viewBox.baseVal.width >= 12;
        })""",
        timeout=20_000,
    )
