"""sfumato learn tree: a decision tree from randomized records."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli import console, learning
from sfumato.learn.tree import DecisionTree
from sfumato.learn.tree.plot import least_share


def tree(
    files: Annotated[list[Path], typer.Argument(help="One or more releases; several are taken as different records.")],
    target: Annotated[str, typer.Option(help="The attribute to predict.")],
    criterion: Annotated[str, typer.Option(help="entropy, gain_ratio or gini.")] = "entropy",
    counts: Annotated[str, typer.Option(help="model (joint model), direct (noise-tested) or paper (ID3).")] = "model",
    leaves: Annotated[int, typer.Option(help="The most leaves.")] = 1000,
    depth: Annotated[int, typer.Option(help="How many levels to show.")] = 3,
    everything: Annotated[
        bool, typer.Option("--all", help="Print every branch; without it, those of few records are taken together.")
    ] = False,
    columns: learning.Columns = None,
    test: Annotated[Path | None, typer.Option(help="Clean rows to score on, where there are any.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Also draw the tree (.svg, .png or .pdf).")] = None,
    seed: Annotated[int | None, typer.Option(help="For a repeatable split into learned and held-out records.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Grow a decision tree and estimate how often it is right on clean records.

    Examples:

        sfumato learn tree release.parquet --target income

        sfumato learn tree release.parquet --target income --counts paper --test clean.csv --plot tree.svg
    """
    release = learning.load(files, columns, target)
    model, score = learning.learn(
        lambda: DecisionTree(criterion=criterion, counts=counts, max_leaves=leaves), release, target, seed
    )
    tested = learning.test_accuracy(model, test)
    found = model if isinstance(model, DecisionTree) else DecisionTree()
    if plot is not None:
        found.plot(plot, depth=depth)
    if json:
        about = {"leaves": len(found.root_.leaves), "depth": found.root_.depth, "text": found.text()}
        console.emit(learning.document("tree", found, score, tested, **about))
        return
    leaves_found = len(found.root_.leaves)
    if leaves_found > 1:
        console.say(f"{leaves_found} leaves, {found.root_.depth} questions deep, {len(release):,} records")
    else:
        console.say(f"no question: nothing in these {len(release):,} records is sure to tell {target}")
    least = 0.0 if everything else least_share(found, depth)
    console.say(found.text(depth, least, None if everything else 100))
    if least:
        console.note(
            f"branches of less than {least:.1%} of the records are taken together; --all prints each of them, "
            "--depth goes deeper"
        )
    console.say()
    learning.show_score(score, target)
    if tested is not None:
        console.say(f"accuracy on {test}: {tested:.3f}")
