"""The page's script and Python give the same answers, bit for bit."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest
from tests.browser.vectors import drawn, keyed

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.errors.DisclosureWarning")

ASSETS = files("sfumato.service").joinpath("pages/assets")
SCRIPTS = [ASSETS.joinpath(f"{name}.js").read_text(encoding="utf-8") for name in ("noise", "channels", "randomize")]

DRAW = """(groups) => groups.map(({plan, cases}) => cases.map(({codes, words}) =>
  Channels.draw(plan, codes.map((code) => Array.isArray(code) ? Uint8Array.from(code) : code), words.map((word) => BigInt('0x' + word)))))"""

RELEASE = """async (studies) => {
  const out = [];
  for (const {questionnaire, secret, cases} of studies) {
    const key = await Randomize.importKey(Randomize.unhex(secret));
    const found = [];
    for (const {id, answers} of cases) {
      const who = {key, person: await Randomize.person(key, id)};
      const form = await Randomize.formOf(questionnaire, who);
      found.push({form, released: await Randomize.release(questionnaire, form, answers, who)});
    }
    out.push(found);
  }
  return out;
}"""


@pytest.fixture(scope="module")
def page(browser):
    opened = browser.new_page()
    opened.route("https://study.test/", lambda route: route.fulfill(body="<!DOCTYPE html><title>study</title>"))
    opened.goto("https://study.test/")  # keys need a page of a secure origin
    for script in SCRIPTS:
        opened.add_script_tag(content=script)
    yield opened
    opened.close()


def test_a_page_draws_what_python_draws(page):
    groups = drawn(seed=16)
    assert sum(len(group["cases"]) for group in groups) >= 10_000
    found = page.evaluate(DRAW, groups)
    for group, answers in zip(groups, found, strict=True):
        expected = [case["released"] for case in group["cases"]]
        if group["rough"]:
            np.testing.assert_allclose(answers, expected, rtol=group["rough"], atol=group["rough"])
        else:
            assert answers == expected, group["channel"]


def test_the_same_key_gives_the_same_answers(page):
    studies = keyed(seed=5, people=150)
    found = page.evaluate(RELEASE, without_tables(studies))
    for study, answers in zip(studies, found, strict=True):
        fresh = _last_draw_is_fresh(study["questionnaire"])
        for case, answer in zip(study["cases"], answers, strict=True):
            assert answer["form"] == case["form"]
            for name, code in case["released"].items():
                classes = fresh.get(name, 1)
                assert answer["released"][name] // classes == code // classes, name


def test_another_key_gives_other_answers(page):
    (study, *_) = keyed(seed=5, people=60)
    (found,) = page.evaluate(RELEASE, without_tables([{**study, "secret": "00" * 32}]))
    same = [
        answer["released"]["town"] == case["released"]["town"]
        for case, answer in zip(study["cases"], found, strict=True)
    ]
    assert sum(same) < 10


def without_tables(studies):
    return [{name: part for name, part in study.items() if name != "table"} for study in studies]


def _last_draw_is_fresh(questionnaire):
    """The columns of longitudinal answers, and the number of classes in which their codes are counted."""
    groups = [group for form in questionnaire["forms"] for group in form["groups"]]
    return {
        group["columns"][0]: group["plan"]["classes"] for group in groups if group["plan"]["kind"] == "longitudinal"
    }
