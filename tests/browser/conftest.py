"""The system's Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
from importlib.util import find_spec

import pytest

from conftest import need


@pytest.fixture(scope="session")
def browser():
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    need(found is not None, "Chromium", "apt-get install chromium")
    need(find_spec("playwright") is not None, "Playwright", "pip install 'sfumato[dev]'")
    from playwright import sync_api

    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield opened
        opened.close()
