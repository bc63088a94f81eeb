"""sfumato learn: one command per kind of model."""

from __future__ import annotations

import typer

from sfumato.cli import learn_bayesnet, learn_linear, learn_model, learn_naive_bayes, learn_rules, learn_tree

app = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", help="Learn models from randomized records.")
app.command("bayesnet")(learn_bayesnet.bayesnet)

app.command("model")(learn_model.model)
app.command("tree")(learn_tree.tree)
app.command("rules")(learn_rules.rules)
app.command("linear")(learn_linear.linear)
app.command("naive-bayes")(learn_naive_bayes.naive_bayes)
