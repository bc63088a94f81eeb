"""sfumato learn tree: a decision tree from randomized records."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli import console, learning
from sfumato.cli.choices import one_of
from sfumato.learn.tree import AdditiveTree, DecisionTree
from sfumato.learn.tree.additive import RECONSTRUCTIONS
from sfumato.learn.tree.classifier import COUNTS
from sfumato.learn.tree.grow import CRITERIA
from sfumato.learn.tree.plot import least_share
from sfumato.printable import many, percentage
from sfumato.release import Release


def tree(
    files: Annotated[list[Path], typer.Argument(help="One or more releases; several are taken as different records.")],
    target: Annotated[str, typer.Option(help="The attribute to predict.")],
    criterion: Annotated[
        str, typer.Option(help="entropy, gain_ratio or gini.", autocompletion=one_of(*CRITERIA))
    ] = "entropy",
    counts: Annotated[
        str,
        typer.Option(help="model (joint model), direct (noise-tested) or paper (ID3).", autocompletion=one_of(*COUNTS)),
    ] = "model",
    reconstruct: Annotated[
        str | None,
        typer.Option(
            help="Of numbers under additive noise: by_class, local, global or none (Agrawal and Srikant 2000); without "
            "it they are cut into the bins of the schema.",
            autocompletion=one_of(*RECONSTRUCTIONS),
        ),
    ] = None,
    leaves: Annotated[int, typer.Option(help="The most leaves.")] = 1000,
    depth: Annotated[int, typer.Option(min=1, help="How many levels to show.")] = 3,
    everything: Annotated[
        bool, typer.Option("--all", help="Print every branch; without it, those of few records are taken together.")
    ] = False,
    columns: learning.Columns = None,
    test: Annotated[Path | None, typer.Option(help="Clean rows to score on, where there are any.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Also draw the tree (.svg, .png or .pdf).")] = None,
    accuracy: learning.Accuracy = True,
    seed: Annotated[int | None, typer.Option(help="For a repeatable split into learned and held-out records.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Grow a decision tree and estimate how often it is right on clean records.

    Examples:

        sfumato learn tree release.parquet --target income

        sfumato learn tree release.parquet --target income --counts paper --test clean.csv --plot tree.svg

        sfumato learn tree noisy.parquet --target group --reconstruct by_class --test clean.csv
    """
    if reconstruct is not None:
        _by_reconstruction(
            learning.load(files, columns, target, numbers=True), target, reconstruct, depth, test, plot, json
        )
        return
    release = learning.load(files, columns, target)
    source = learning.named(release, columns, target)

    def make() -> DecisionTree:
        return DecisionTree(criterion=criterion, counts=counts, max_leaves=leaves)

    found, each = learning.fit(make, source, target)
    tested = learning.test_accuracy(found, test)
    if plot is not None:
        found.plot(plot, depth=depth)
    if not json:
        _show(found, len(release), depth, everything)
    score = learning.judge(make, source, target, seed, each=each) if accuracy else None
    if json:
        about = {"leaves": len(found.root_.leaves), "depth": found.root_.depth, "text": found.text(level=0.95)}
        console.emit(learning.document("tree", found, score, tested, **about))
        return
    if accuracy:
        console.say()
        learning.show_score(score, target)
    if tested is not None:
        console.say(f"accuracy on {test}: {tested:.3f}")


def _show(found: DecisionTree, records: int, depth: int, everything: bool) -> None:
    """The tree in words."""
    leaves = len(found.root_.leaves)
    if leaves > 1:
        console.say(_size(leaves, found.root_.depth, records))
    else:
        console.say(
            f"no question: a tree would not tell {found.target_} better than its commonest answer does, by all that"
        )
        console.say(f"these {records:,} records show; single links are found by learn bayesnet and learn rules")
    least = 0.0 if everything else least_share(found, depth)
    console.say(found.text(depth, least, None if everything else 100, level=0.95))
    console.note(
        "the answer's share among the records that a branch leads to, and the share of all records that these are, "
        "with their 95 % intervals by unbiased counts"
    )
    if least:
        console.note(
            f"branches of less than {percentage(least, 1)} of the records are taken together; --all prints each of "
            "them, --depth goes deeper"
        )


def _size(leaves: int, depth: int, records: int) -> str:
    return f"{many(leaves, 'leaf', 'leaves')}, {many(depth, 'question')} deep, {many(records, 'record')}"


def _by_reconstruction(
    release: Release, target: str, how: str, depth: int, test: Path | None, plot: Path | None, json: bool
) -> None:
    """A tree from numbers under additive noise, as Agrawal and Srikant grow it."""
    numbers = release.noisy_numbers(target)
    model = AdditiveTree(numbers.noises, how, numbers.support, names=numbers.names, target=target)
    model.fit(numbers.z, numbers.classes)
    tested = None if test is None else model.score(*numbers.clean(test))
    if plot is not None:
        model.plot(plot, depth=depth)
    about = {"leaves": len(model.root_.leaves), "depth": model.root_.depth}
    if json:
        console.emit(
            {"model": "tree", "target": target, "features": list(numbers.names), "reconstruct": how}
            | {"test_accuracy": tested, **about, "text": model.text()}
        )
        return
    console.say(_size(about["leaves"], about["depth"], len(release)))
    console.say(model.text(depth))
    console.note("shares of a class have no errors in trees by reconstruction: they are as good as the densities are")
    if tested is None:
        console.note("how often it is right is not estimated for trees by reconstruction: give clean rows with --test")
    else:
        console.say(f"accuracy on {test}: {tested:.3f}")
