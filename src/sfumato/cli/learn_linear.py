"""sfumato learn linear: a linear classifier from randomized records."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli import console, learning
from sfumato.learn.linear import LinearClassifier


def linear(
    files: Annotated[list[Path], typer.Argument(help="One or more releases; several are taken as different records.")],
    target: Annotated[str, typer.Option(help="The attribute to predict.")],
    loss: Annotated[str, typer.Option(help="pocket, perceptron, logistic, hinge, least_squares or lda.")] = "pocket",
    test: Annotated[Path | None, typer.Option(help="Clean rows to score on, where there are any.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Also draw the weights (.svg, .png or .pdf).")] = None,
    seed: Annotated[int | None, typer.Option(help="For a repeatable split into learned and held-out records.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Learn a linear classifier and estimate how often it is right on clean records.

    Examples:

        sfumato learn linear release.parquet --target income

        sfumato learn linear release.parquet --target income --loss lda --plot weights.svg
    """
    release = learning.load(files)
    model, score = learning.learn(lambda: LinearClassifier(loss=loss, rng=seed), release, target, seed)
    tested = learning.test_accuracy(model, test)
    found = model if isinstance(model, LinearClassifier) else LinearClassifier()
    if plot is not None:
        found.plot(plot)
    columns = [*found.encoding_.columns, "constant"]
    if json:
        weights = {str(label): row.tolist() for label, row in zip(found.classes_, found.coef_, strict=True)}
        console.emit(learning.document("linear", found, score, tested, columns=columns, weights=weights))
        return
    shown = found.coef_ if len(found.classes_) > 2 else found.coef_[1:] - found.coef_[:1]
    names = [str(label) for label in (found.classes_ if len(found.classes_) > 2 else found.classes_[1:])]
    console.table(
        ["feature", *(f"weight for {name}" for name in names)],
        [[column, *(float(row[i]) for row in shown)] for i, column in enumerate(columns)],
    )
    learning.show_score(score, target)
    if tested is not None:
        console.say(f"accuracy on {test}: {tested:.3f}")
