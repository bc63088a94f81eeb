"""sfumato learn: one command per kind of model."""

from __future__ import annotations

import typer

from sfumato.cli import learn_bayesnet

app = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", help="Learn models from randomized records.")
app.command("bayesnet")(learn_bayesnet.bayesnet)


@app.callback()
def _group() -> None:
    """Keeps ``learn`` a group while it has a single command."""
