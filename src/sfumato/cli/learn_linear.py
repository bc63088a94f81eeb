"""sfumato learn linear: a linear classifier from randomized records."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from sfumato.arrays import Array
from sfumato.cli import console, learning
from sfumato.cli.choices import one_of
from sfumato.learn.linear import LinearClassifier
from sfumato.learn.linear.classifier import GROUPS, LOSSES, NOT_TOLD
from sfumato.learn.linear.weight_errors import UNTOLD
from sfumato.learn.telling import telling
from sfumato.printable import label_text


def linear(
    files: Annotated[list[Path], typer.Argument(help="One or more releases; several are taken as different records.")],
    target: Annotated[str, typer.Option(help="The attribute to predict.")],
    loss: Annotated[
        str,
        typer.Option(
            help="pocket, perceptron, logistic, hinge, least_squares, lda; auto: logistic.",
            autocompletion=one_of(*LOSSES),
        ),
    ] = "auto",
    columns: learning.Columns = None,
    test: Annotated[Path | None, typer.Option(help="Clean rows to score on, where there are any.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Also draw the weights (.svg, .png or .pdf).")] = None,
    accuracy: learning.Accuracy = True,
    seed: Annotated[int | None, typer.Option(help="For a repeatable split into learned and held-out records.")] = None,
    errors_asked: Annotated[
        bool, typer.Option("--errors/--no-errors", help="Refit ten times, for the errors of the weights.")
    ] = True,
    everything: Annotated[bool, typer.Option("--all", help="Print every row, however many there are.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Learn a linear classifier and estimate how often it is right on clean records.

    Examples:

        sfumato learn linear release.parquet --target income

        sfumato learn linear release.parquet --target income --loss lda --plot weights.svg
    """
    source = learning.named(learning.load(files, columns, target), columns, target)

    def refits(model: LinearClassifier) -> int:
        return GROUPS if errors_asked and model.only_class is None and model.errors_told != UNTOLD else 0

    found, score = learning.learn(
        lambda: LinearClassifier(loss=loss, rng=seed), source, target, seed, refits=refits, accuracy=accuracy
    )
    tested = learning.test_accuracy(found, test)
    errors = None
    if refits(found):
        with console.progress("fits for the errors of the weights", GROUPS) as advance:
            errors = found.standard_errors(source, GROUPS, progress=advance)
    elif errors_asked and found.only_class is None:
        errors = found.standard_errors(source)
    if plot is not None:
        found.plot(plot, errors)
    names = [*found.encoding_.columns, "constant"]
    if json:
        weights = {label_text(label): row.tolist() for label, row in zip(found.classes_, found.coef_, strict=True)}
        limits = {} if errors is None else {"sd_of_scaled": found.errors_told}
        scaled = _scaled(found, errors)
        unclear = [column for column, told in zip(found.encoding_.columns, found.told_, strict=True) if not told]
        told = {"columns": names, "weights": weights, "not_told": unclear, "compared_with": found.compared_with_}
        console.emit(learning.document("linear", found, score, tested, **told, scaled=scaled, **limits))
        return
    if accuracy:
        learning.show_score(score, target)
    if found.only_class is None:
        _show_weights(found, errors, everything)
    else:
        console.say(f"no feature has a weight: {target} = {found.only_class} is said of every record")
    if tested is not None:
        console.say(f"accuracy on {test}: {tested:.3f}")


def _show_weights(found: LinearClassifier, errors: Any, everything: bool) -> None:
    """A row for each feature, a weight for each class and its standard error."""
    heads = ["feature"]
    shown = np.flatnonzero(found.told_columns).tolist()
    learning.note_rare(found)
    for name in (found.weighed_classes[j] for j in shown):
        heads += [f"weight for {name}", *(["±"] if errors is not None else [])]
    rows = []
    for i, (column, weights) in enumerate(zip(found.encoding_.columns, found.weights_, strict=True)):
        row: list[Any] = [column]
        for j in shown:
            said = float(weights[j]) if found.told_[i] else "not told"
            error = [] if errors is None else [float(errors[i, j]) if found.told_[i] else ""]
            row += [said, *error]
        rows.append(row)
    if found.comparison is not None:
        console.say(found.comparison)
    if not found.told_.all():
        console.note(f"features that are not told have no weight: {NOT_TOLD}")
    console.say(
        "how far one standard deviation of a feature moves the score"
        + (", all weights together of length 1" if found.scale_free else "")
        + (", against the mean of these classes" if found.compares_classes else "")
        + ("" if errors is None else f"; ± one standard error, {found.errors_told}")
    )
    if errors is not None and found.errors_told != UNTOLD:
        _note_untold(found.weights_[found.told_][:, shown], errors[found.told_][:, shown])
    told = telling(found.weights_[:, shown], None if errors is None else errors[:, shown])
    learning.show_rows(heads, rows, np.where(found.told_, told, -np.inf), everything)


def _note_untold(weights: Array, errors: Array) -> None:
    """What the errors leave open of all weights, or altogether of some."""
    if not np.isfinite(errors).all():
        console.note("± ∞: the records do not tell how large such a weight is: one without end may fit them as well")
    if (np.abs(weights) <= 1.96 * errors).all():
        console.note(
            "no weight differs from 0 beyond its error: the records do not tell which features speak for a class; more "
            "records, a weaker channel or fewer --columns may"
        )


def _scaled(model: LinearClassifier, errors: Any) -> list[dict[str, Any]]:
    """The weights per standard deviation of each feature that is told, with their standard errors unless declined."""
    return [
        {"feature": column, "class": label, "weight": float(model.weights_[i, j])}
        | ({} if errors is None else {"sd": float(errors[i, j])})
        for i, column in enumerate(model.encoding_.columns)
        if model.told_[i]
        for j, label in enumerate(model.weighed_classes)
    ]
