"""The system's Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

import pytest

from conftest import need
from sfumato.service.collection import Collection, open_collection
from sfumato.service.running import server
from sfumato.service.settings import Settings


@pytest.fixture(scope="session")
def chromium():
    """The path of the program."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    need(found is not None, "Chromium", "apt-get install chromium")
    return found


@pytest.fixture(scope="module")  # while it is open, its event loop is in the way of other tests
def browser(chromium):
    need(find_spec("playwright") is not None, "Playwright", "pip install 'sfumato[dev]'")
    from playwright import sync_api

    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def serving(tmp_path_factory):
    """Open studies, each with its fields, at a server that runs: its address, and what it holds."""

    @contextmanager
    def started(studies: dict[str, dict]) -> Iterator[tuple[str, Collection]]:
        held = open_collection(
            tmp_path_factory.mktemp("site"), None, Settings(per_address=0, per_token=0, read_apart=False)
        )
        for study, fields in studies.items():
            held.writer.now(held.studies.create(study, fields))
            held.writer.now(held.studies.open(study))
        ready, found = threading.Event(), []
        running = server(held, "127.0.0.1", 0, ready=lambda port: (found.append(port), ready.set()))
        thread = threading.Thread(target=running.run, daemon=True)
        thread.start()
        assert ready.wait(20)
        yield f"http://127.0.0.1:{found[0]}", held
        running.should_exit = True
        thread.join(20)
        held.close()

    return started


@pytest.fixture
def visit(browser, site):
    """Open a page of the module's site as a new device; what it sends, and what goes wrong in it, is written down."""
    contexts = []

    def opened(path, **options):
        context = browser.new_context(locale="en-GB", **options)
        contexts.append(context)
        page = context.new_page()
        page.sent, page.problems = [], []
        page.on("request", lambda request: page.sent.append((request.method, request.url, request.post_data)))
        page.on("pageerror", lambda problem: page.problems.append(str(problem)))
        page.on("console", lambda line: page.problems.append(line.text) if line.type == "error" else None)
        page.goto(site[0] + path)
        return page

    yield opened
    for context in contexts:
        context.close()
