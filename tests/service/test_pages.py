"""What stands at addresses outside the API."""

from __future__ import annotations

import pytest

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.fixture(params=["sqlite"])
def url(request):
    """Pages know of no database."""
    return None


@pytest.mark.parametrize("path", ["/nothing", "/answer", "/results/", "/answer/commuting/more", "/assets/none.js"])
def test_a_browser_at_an_unknown_address_is_shown_a_page(http, path):
    found = http.ask("GET", path, token=None, headers={"accept": BROWSER})
    assert (found.status_code, found.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "There is no such page" in found.text and "integrity=" in found.text
    assert "content-security-policy" in found.headers


@pytest.mark.parametrize(
    "path, accept",
    [("/nothing", "*/*"), ("/nothing", "application/json"), ("/nothing", "application/json, text/html;q=0.5")]
    + [("/assets/none.js", "*/*"), ("/v1/nothing", BROWSER), ("/v1/studies/unknown", BROWSER)],
)
def test_programs_are_answered_in_json(http, path, accept):
    found = http.ask("GET", path, headers={"accept": accept})
    assert found.status_code == 404 and found.json()["error"]["code"] in {"not_found", "unknown_study"}


@pytest.mark.parametrize("path", ["/", "/design", "/answer/commuting", "/assets/style.css"])
def test_pages_have_a_head_for_who_asks_for_it_alone(http, path):
    found, whole = (http.ask(method, path, token=None) for method in ("HEAD", "GET"))
    assert (found.status_code, found.content) == (200, b"")
    assert found.headers["content-length"] == str(len(whole.content))
