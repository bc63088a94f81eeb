"""sfumato learn naive-bayes: naive Bayes or TAN from randomized records."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from sfumato.cli import console, learning
from sfumato.learn.naive_bayes import NaiveBayes
from sfumato.learn.tan import TAN
from sfumato.learn.telling import telling
from sfumato.pages.display import settled
from sfumato.printable import label_text


def naive_bayes(
    files: Annotated[list[Path], typer.Argument(help="One or more releases; several are taken as different records.")],
    target: Annotated[str, typer.Option(help="The attribute to predict.")],
    augmented: Annotated[bool, typer.Option("--tan", help="Tree-augmented: attributes may lean on one other.")] = False,
    columns: learning.Columns = None,
    test: Annotated[Path | None, typer.Option(help="Clean rows to score on, where there are any.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Also draw the probabilities (.svg, .png or .pdf).")] = None,
    accuracy: learning.Accuracy = True,
    seed: Annotated[int | None, typer.Option(help="For a repeatable split into learned and held-out records.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Print every row, however many there are.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Learn naive Bayes and estimate how often it is right on clean records.

    Examples:

        sfumato learn naive-bayes release.parquet --target income

        sfumato learn naive-bayes release.parquet --target income --tan --json
    """
    release = learning.load(files, columns, target)

    def make() -> NaiveBayes | TAN:
        return TAN() if augmented else NaiveBayes()

    model, score = learning.learn(make, learning.named(release, columns, target), target, seed, accuracy=accuracy)
    tested = learning.test_accuracy(model, test)
    if plot is not None:
        model.plot(plot)
    if json:
        tables, errors = (
            {name: table.tolist() for name, table in getattr(model, which, {}).items()}
            for which in ("tables_", "standard_errors_")
        )
        more = {"tables": tables, "standard_errors": errors, "parents": getattr(model, "parents_", None)}
        console.emit(learning.document("naive bayes", model, score, tested, **more))
        return
    if accuracy:
        learning.show_score(score, target)
    if isinstance(model, TAN):
        console.table(["attribute", "leans on"], [[name, up or ""] for name, up in model.parents_.items()])
    else:
        heads, told = ["value"], model.told_classes_
        for label in model.classes_[told]:
            heads += [f"if {label_text(label)}", "±"]
        rows: list[list[Any]] = []
        for name, table in model.tables_.items():
            found = zip(table[:, told], model.standard_errors_[name][:, told], strict=True)
            for label, (row, errors) in zip(model.schema_[name].labels, found, strict=True):
                pairs = [(settled(float(share), float(sd)), float(sd)) for share, sd in zip(row, errors, strict=True)]
                rows.append([f"{name} = {label_text(label)}", *(cell for pair in pairs for cell in pair)])
        console.say("the share of every value in each class; ± one standard error")
        learning.note_rare(model)
        shares, sds = (np.array([row[first::2] for row in rows], dtype=float) for first in (1, 2))
        learning.show_rows(heads, rows, telling(shares, sds), everything)
    if tested is not None:
        console.say(f"accuracy on {test}: {tested:.3f}")
