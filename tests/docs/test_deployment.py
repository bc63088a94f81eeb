"""The container file and the systemd unit name files, commands and options that there are."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from command_line import run

ROOT = Path(__file__).parents[2]
CONTAINER = (ROOT / "Containerfile").read_text()
UNIT = re.search(r"```text\n(\[Unit\].*?)```", (ROOT / "docs" / "serve.md").read_text(), re.DOTALL)[1]


def options(words: list[str]) -> list[str]:
    return [word for word in words if word.startswith("--")]


def test_the_container_is_built_from_files_that_there_are():
    kept = {line.removeprefix("!") for line in (ROOT / ".dockerignore").read_text().splitlines() if line[0] == "!"}
    copied = [
        word for line in re.findall(r"^COPY (?!--from)(.+)", CONTAINER, re.MULTILINE) for word in line.split()[:-1]
    ]
    assert copied and all((ROOT / name).exists() and name in kept for name in copied)
    extra = re.search(r'"\.\[(\w+)\]"', CONTAINER)[1]
    assert f"\n{extra} = [" in (ROOT / "pyproject.toml").read_text()


@pytest.mark.parametrize(
    "command",
    [
        json.loads(re.search(r"^CMD (.+)", CONTAINER, re.MULTILINE)[1]),
        shlex.split(re.search(r"ExecStart=(.+)", UNIT)[1])[1:],
    ],
    ids=["container", "systemd"],
)
def test_what_is_started_is_a_command_with_its_options(command):
    assert command[0] == "serve"
    helped = run("serve --help").out
    assert [option for option in options(command) if option not in helped] == []


def test_the_container_has_no_root_and_asks_for_the_health_of_the_server():
    assert CONTAINER.index("USER sfumato") < CONTAINER.index("ENTRYPOINT")
    assert "/v1/health" in CONTAINER


def test_the_unit_keeps_to_itself():
    for line in ("User=sfumato", "NoNewPrivileges=yes", "ProtectSystem=strict", "UMask=0077"):
        assert line in UNIT.splitlines()
