"""The page on the command line names every command there is."""

from pathlib import Path

import typer

from sfumato.cli import app

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"


def test_the_page_names_every_command() -> None:
    section = PAGE.read_text().split("## All commands")[1].split("\n## ")[0]
    missing = [name for name in typer.main.get_command(app).commands if f"`sfumato {name}`" not in section]
    assert not missing
