"""The walk of the README, literally: its commands, and three people who answer on a phone."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
BLOCK = re.search(r"test_readme_walk\.py.*?-->\n```sh\n(.*?)```", README, re.DOTALL)[1]


@pytest.fixture
def terminal(tmp_path):
    """Runs lines of a shell in a folder of its own, against a server on a port of its own."""
    place = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    place.pop("SFUMATO_TOKEN", None)
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "sfumato"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m sfumato "$@"\n')
    program.chmod(0o755)
    folder = tmp_path / "work"
    folder.mkdir()
    servers = []

    def run(line: str) -> str:
        if line.endswith("&"):
            server = subprocess.Popen(
                [*shlex.split(line.rstrip("& ")), "--port", "0"],
                cwd=folder,
                env=place,
                stderr=subprocess.PIPE,
                text=True,
            )
            servers.append(server)
            found = next(filter(None, (re.search(r"http://localhost:\d+", text) for text in server.stderr)))
            place["SFUMATO_SERVER"] = found[0]
            return found[0]
        done = subprocess.run(line, shell=True, cwd=folder, env=place, capture_output=True, text=True)
        assert done.returncode == 0, (line, done.stderr)
        return done.stdout + done.stderr

    yield run
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
