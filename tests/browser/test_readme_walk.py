"""The walk of the README, literally: its commands, and three people who answer on a phone."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import run

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
BLOCK = re.search(r"test_readme_walk\.py.*?-->\n```sh\n(.*?)```", README, re.DOTALL)[1]


@pytest.fixture
def terminal(tmp_path, monkeypatch):
    """Runs commands in a folder of its own, against a server on a port of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SFUMATO_TOKEN", raising=False)
    servers = []

    def said(line: str) -> str:
        program, *words = shlex.split(line.rstrip("& "))
        assert program == "sfumato"
        if not line.endswith("&"):
            done = run(shlex.join(words))
            assert done.code == 0, (line, done.error)
            return done.out + done.error
        command = [sys.executable, "-m", "sfumato", *words, "--port", "0"]
        servers.append(subprocess.Popen(command, stderr=subprocess.PIPE, text=True))
        found = next(filter(None, (re.search(r"http://localhost:\d+", text) for text in servers[-1].stderr)))
        monkeypatch.setenv("SFUMATO_SERVER", found[0])
        return found[0]

    yield said
    for server in servers:
        server.terminate()
        server.wait()
        server.stderr.close()


def test_from_nothing_to_three_answers_a_pushed_file_and_results(terminal, browser):
    said = {line: terminal(line) for line in BLOCK.splitlines()}
    (survey,) = re.findall(
        r"http://\S+/answer/\S+", next(text for line, text in said.items() if "study create" in line)
    )
    (results,) = re.findall(r"http://\S+/results/\S+", next(text for line, text in said.items() if "miner" in line))
    for person in range(3):
        context = browser.new_context(
            viewport={"width": 390, "height": 844}, locale="en-GB", is_mobile=True, has_touch=True
        )
        context.set_default_timeout(15_000)
        page = context.new_page()
        page.goto(survey)
        page.get_by_label("FM"[person % 2], exact=True).check()
        page.get_by_label("A number from 15 to 95").fill(str(30 + person))
        page.get_by_role("group", name="smoker").get_by_label("no", exact=True).check()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.locator("#blur").click()
        page.locator("#send").click()
        page.locator("#receipt").wait_for()
        context.close()
    context = browser.new_context()
    context.set_default_timeout(15_000)
    page = context.new_page()
    page.goto(results)
    page.get_by_text("3 single responses, 2,400 rows from 1 upload").wait_for()
    page.locator(".limits").first.wait_for()
    context.close()
