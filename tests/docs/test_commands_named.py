"""The README names every command there is."""

from pathlib import Path

import typer

from sfumato.cli import app

README = Path(__file__).parents[2] / "README.md"


def test_the_readme_names_every_command() -> None:
    section = README.read_text().split("## All commands")[1].split("\n## ")[0]
    missing = [name for name in typer.main.get_command(app).commands if f"`sfumato {name}`" not in section]
    assert not missing
