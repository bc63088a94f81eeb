"""sfumato learn: one command per kind of model."""

from __future__ import annotations

import typer

from sfumato.cli import (
    learn_bayesnet,
    learn_linear,
    learn_model,
    learn_naive_bayes,
    learn_regression,
    learn_rules,
    learn_tree,
)
from sfumato.cli.command import Command
from sfumato.cli.preparation import prepared

app = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", help="Learn models from randomized records.")
app.command("bayesnet", cls=Command)(prepared(learn_bayesnet.bayesnet, "learning a network"))
app.command("model", cls=Command)(prepared(learn_model.model, "fitting the joint model", also=("sample",)))
app.command("tree", cls=Command)(prepared(learn_tree.tree, "growing a tree"))
app.command("rules", cls=Command)(prepared(learn_rules.rules, "finding rules"))
app.command("linear", cls=Command)(prepared(learn_linear.linear, "fitting a linear classifier"))
app.command("naive-bayes", cls=Command)(prepared(learn_naive_bayes.naive_bayes, "fitting naive Bayes"))
app.command("regression", cls=Command)(prepared(learn_regression.regression, "fitting a regression"))
