"""Every page, in light and dark and on a phone, as axe sees it: nothing that keeps somebody from reading or using it."""

from __future__ import annotations

from importlib.resources import files
from importlib.util import find_spec

import pytest
from tests.browser import test_results_page
from tests.browser.test_answer_page import QUESTIONS, SCHEME, answer

from conftest import need
from sfumato.service.routes.pages import ADDRESSES

BUTTONS = ("Grow the tree", "Find rules", "Draw the network", "Fit the regression", "Draw the distribution")


@pytest.fixture(scope="module")
def site(serving):
    asked = {"scheme": SCHEME.to_dict(), "title": "Health at work", "questions": QUESTIONS, "minimum": 100}
    known = {"scheme": test_results_page.SCHEME.to_dict(), "title": "How people come to work", "minimum": 100}
    with serving({"health": asked, "known": known}) as running:
        yield running


@pytest.fixture(scope="module")
def miner(browser, site):
    """Tokens of a study with answers, and of one without."""
    test_results_page.send(browser.new_context(base_url=site[0]), "known", 800)
    return {study: test_results_page.tokens(site, study) for study in ("health", "known")}


def missing(page, site, miner):
    page.goto(f"{site[0]}/nothing")
    page.get_by_role("heading", name="There is no such page").wait_for()
    yield "an unknown address"


def index(page, site, miner):
    page.goto(f"{site[0]}/")
    yield "index"


def answering(page, site, miner):
    page.goto(f"{site[0]}/answer/health")
    page.locator("#blur").wait_for()
    yield "questions"
    page.locator("#blur").click()
    yield "questions with problems"
    answer(page)
    yield "what will be sent"
    page.locator("#send").click()
    page.get_by_text("Received. Thank you.").wait_for()
    yield "receipt"
    page.goto(f"{site[0]}/answer/nowhere")
    page.get_by_text("There is no study at this address.").wait_for()
    yield "no such study"


def results(page, site, miner):
    page.goto(f"{site[0]}/results/health#token={miner['health']}")
    page.locator(".callout").wait_for()
    yield "too few answers"
    page.goto(f"{site[0]}/results/known#token={miner['known']}")
    page.get_by_role("img", name="Means of").wait_for()
    for button in BUTTONS:
        page.get_by_role("button", name=button).click()
    page.get_by_role("img", name="The distribution of").wait_for(timeout=60000)
    for summary in page.locator("summary:visible").all():
        summary.click()
    yield "results"


def design(page, site, miner):
    ((_, admin),) = site[1].writer.now(site[1].tokens.make("admin", None))
    page.goto(f"{site[0]}/design#token={admin}")
    page.locator("#python").wait_for()
    for summary in page.locator("summary:visible").all():
        summary.click()
    page.get_by_role("button", name="Add a question").click()
    page.get_by_text("Give it a short name.").wait_for()
    yield "design with a problem"
    page.get_by_role("button", name="Remove: New question").click()
    page.get_by_role("radio", name="How much all answers of one person").check()
    page.get_by_role("region", name="How to ask under this bound").wait_for()
    yield "design of forms"
    page.get_by_role("region", name="Studies of this server").get_by_role("button").first.click()
    page.locator("#make-tokens").click()
    page.locator("#tokens").wait_for()
    yield "a study and its tokens"


#: How each page is looked at, by its address.
VISITS = {
    "/": index,
    "/answer/{study}": answering,
    "/results/{study}": results,
    "/design": design,
    "/nothing": missing,
}


def test_every_page_is_looked_at():
    folder = files("sfumato.service").joinpath("pages")
    there = {address for address, name in ADDRESSES.items() if folder.joinpath(name).is_file()}
    assert there <= set(VISITS)


def violations(page):
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']} ({one['impact']}): {one['help']}: {[node['target'] for node in one['nodes'][:4]]}"
        for one in found
    ]


@pytest.mark.parametrize("scheme, width", [("light", 1280), ("dark", 390)])
@pytest.mark.parametrize("address", VISITS)
def test_axe_finds_nothing(browser, site, miner, address, scheme, width):
    need(find_spec("axe_playwright_python") is not None, "axe", "pip install 'sfumato[dev]'")
    context = browser.new_context(locale="en-GB", color_scheme=scheme, viewport={"width": width, "height": 900})
    page = context.new_page()
    for step in VISITS[address](page, site, miner):
        assert violations(page) == [], step
        assert page.evaluate("document.documentElement.scrollWidth") <= width, step
    context.close()


def test_axe_sees_what_is_wrong(browser):
    need(find_spec("axe_playwright_python") is not None, "axe", "pip install 'sfumato[dev]'")
    page = browser.new_context().new_page()
    page.set_content("<title>x</title><main><h1>x</h1><img src='x.png'><input></main>")
    assert {line.split()[0] for line in violations(page)} >= {"image-alt", "label", "html-has-lang"}
