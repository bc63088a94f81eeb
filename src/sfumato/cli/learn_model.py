"""sfumato learn model: the joint model behind the other learners."""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import Annotated

import typer

from sfumato.cli import console, learning
from sfumato.errors import SfumatoError
from sfumato.evidence.kinds import as_evidence, model_evidence
from sfumato.evidence.model.cliques import JunctionEvidence
from sfumato.evidence.model.tuning import SURE
from sfumato.evidence.plot import plot_shares
from sfumato.learn.score import Score
from sfumato.learn.tree import DecisionTree
from sfumato.printable import many
from sfumato.writing.whole_files import replacing

#: Cells of cliques that are gone through for the likelihood of all records: about a minute.
_LIKELIHOOD_CELLS = 1 << 32


def model(
    files: Annotated[list[Path], typer.Argument(help="One or more releases; several are taken as different records.")],
    target: Annotated[str | None, typer.Option(help="The class that learners will ask about.")] = None,
    tau: Annotated[float | None, typer.Option(help="The penalty; left out, held-out records choose.")] = None,
    order: Annotated[int, typer.Option(help="The highest interaction.")] = 2,
    sample: Annotated[Path | None, typer.Option(help="Write synthetic records drawn from the model (.csv).")] = None,
    rows: Annotated[int, typer.Option(help="How many of them.")] = 1000,
    columns: learning.Columns = None,
    test: Annotated[Path | None, typer.Option(help="Clean rows to score the model's own answer on.")] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Also draw the shares, of the target or of all (.svg, .png or .pdf).")
    ] = None,
    accuracy: learning.Accuracy = True,
    seed: Annotated[int | None, typer.Option(help="For a repeatable choice.")] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace the table of --sample if it exists.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Fit one joint model to randomized records: what was chosen, and where it disagrees with unbiased estimates.

    Examples:

        sfumato learn model release.parquet --target income

        sfumato learn model release.parquet --sample synthetic.csv --rows 5000
    """
    if test is not None and target is None:
        raise SfumatoError("--test needs --target: the class whose answers are held against the clean rows")
    if sample is not None and sample.suffix.lower() != ".csv":
        raise SfumatoError(f"{sample}: synthetic records are written as .csv; choose such a name")
    began = monotonic()
    source = as_evidence(learning.named(learning.load(files, columns, target), columns, target))
    found = model_evidence(source.release, source.names, tau=tau, order=order, target=target, rng=seed)
    spent = monotonic() - began
    if sample is not None:
        from pyarrow import csv

        with replacing(sample, overwrite) as temporary:
            csv.write_csv(found.sample(rows, rng=seed), str(temporary))
    if plot is not None:
        names = found.names if target is None else [target]
        whose = "each attribute" if target is None else target
        plot_shares([found.counts(name) for name in names], plot, f"Shares of {whose}, from the joint model")
    score = tested = None
    if target is not None and (accuracy or test is not None):
        leaves = 200 if isinstance(found, JunctionEvidence) else None
        tree, score = learning.learn(
            lambda: DecisionTree(max_leaves=leaves), found, target, seed, spent=spent, accuracy=accuracy
        )
        tested = learning.test_accuracy(tree, test)
    if isinstance(found, JunctionEvidence):
        _show_junction(found, score, target, tested, json)
        return
    differing = found.disagreement()
    if json:
        console.emit(
            {
                "model": found.chosen,
                "attributes": list(found.names),
                "n": found.n,
                "effective_records": found.effective_records,
                "log_likelihood": found.log_likelihood(),
                "candidates": [vars(candidate) for candidate in found.candidates],
                "disagreements": [vars(one) for one in differing],
                "estimated": None if score is None else score.to_dict(),
                "test_accuracy": tested,
            }
        )
        return
    learned = "how two attributes go together" if target is None else f"how {target} goes with another attribute"
    learned = learned if len(found.names) > 1 else f"about {found.names[0]}"
    clean = f"worth about {found.effective_records:,.0f} clean ones for learning {learned}"
    console.say(f"{found.chosen}; {many(found.n, 'record')}, {clean}")
    if found.candidates:
        console.table(
            ["candidate", "held-out gain", "noise", "chosen"],
            [[c.name, c.gain, c.noise, "yes" if c.chosen else ""] for c in found.candidates],
        )
        better = f"it surely gains, by more than {SURE:g} times its noise{' and for the target, too' if target else ''}"
        console.note(
            f"gain: in log-likelihood per held-out record, over the first; another is chosen where {better} "
            "(independent attributes: where they gain at all)"
        )
    for one in differing[:5]:
        console.say(f"differs from the unbiased estimate: {one}")
    if score is not None and target is not None:
        learning.show_score(score, target)
    if tested is not None:
        console.say(f"accuracy on {test}: {tested:.3f}")


def _show_junction(
    found: JunctionEvidence, score: Score | None, target: str | None, tested: float | None, json: bool
) -> None:
    """What a model of cliques says of itself."""
    if json:
        slow = found.likelihood_cost > _LIKELIHOOD_CELLS
        console.emit(
            {
                "model": "junction tree",
                "attributes": list(found.names),
                "n": found.n,
                "cliques": found.cliques,
                "dropped": found.dropped,
                "effective_records": found.effective_records,
                "log_likelihood": None if slow else found.log_likelihood(),
                "skipped": ["log_likelihood: it would go through every clique for every record"] if slow else [],
                "disagreements": [vars(one) for one in found.disagreement()],
                "estimated": None if score is None else score.to_dict(),
                "test_accuracy": tested,
            }
        )
        return
    console.say(str(found))
    console.table(["clique"], [[", ".join(clique)] for clique in found.cliques])
    if score is not None and target is not None:
        learning.show_score(score, target)
    if tested is not None:
        console.say(f"accuracy on the clean rows: {tested:.3f}")
