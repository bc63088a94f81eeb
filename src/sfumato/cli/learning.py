"""What the ``learn`` commands share: loading, cross-fitting, and showing the estimated accuracy on clean records."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, TypeVar

import numpy as np
import typer

from sfumato.arrays import Array
from sfumato.cli import console
from sfumato.cli.forecast import PATIENCE, duration
from sfumato.cli.release_files import load_together
from sfumato.errors import without_warnings
from sfumato.evidence import Evidence, evidence
from sfumato.learn.base import Classifier
from sfumato.learn.crossfit import cross_score, steps
from sfumato.learn.linear import LinearClassifier
from sfumato.learn.naive_bayes import NaiveBayes
from sfumato.learn.score import ALL_CELLS, Score
from sfumato.printable import label_text, level_text
from sfumato.reading.name_lists import listed
from sfumato.release import Release
from sfumato.released.counted import CountedPart

FOLDS = 5
MOST_ROWS = 60  # of a table that is printed unasked
NEAREST_ROWS = 10  # of one of which no row is told
_MOST_UNSURE = 0.05  # the standard error of a cell of a confusion matrix that is still worth printing


Columns = Annotated[
    str | None, typer.Option(help="Learn from these attributes only, comma-separated (the target among them or not).")
]
Accuracy = Annotated[
    bool, typer.Option("--accuracy/--no-accuracy", help="Refit five times, to estimate how often it is right.")
]


def load(files: list[Path], columns: str | None = None, target: str | None = None, numbers: bool = False) -> Release:
    """One release from several files, different records, with all attributes or those that are named and the target.

    Numbers under additive noise are cut into the bins of their schema, unless ``numbers`` are asked for.
    """
    release = load_together(files)
    if columns is not None:
        names = listed(columns, release.schema)
        release = release.select([*names, *([target] if target is not None and target not in names else [])])
    return release if numbers else cut_numbers(release)


def named(release: Release, columns: str | None, target: str | None = None) -> Release | Evidence:
    """What is learned from: the release, or of attributes that are randomized together those alone that are named."""
    if columns is None:
        return release
    names = list(dict.fromkeys([*listed(columns), *([target] if target is not None else [])]))
    return release if set(names) == set(release.schema) else evidence(release, names=names)


def cut_numbers(release: Release) -> Release:
    """Numbers under additive noise cut into the bins of their schema, and a line that says so."""
    noisy = [name for name in release.schema if any(name in part.scheme.noises for part in release.parts)]
    if not noisy:
        return release
    console.note(f"numbers under additive noise are cut into the bins of the schema: {', '.join(noisy)}")
    return release.in_intervals()


Model = TypeVar("Model", bound=Classifier)


def learn(
    make: Callable[[], Model],
    source: Release | Evidence,
    target: str,
    seed: int | None,
    *,
    spent: float = 0.0,
    refits: Callable[[Model], int] | None = None,
    accuracy: bool = True,
) -> tuple[Model, Score | None]:
    """The model of all records, and its accuracy where that is asked for and can be told: see ``fit`` and ``judge``.

    ``spent`` are the seconds that went into the source and will go into that of every fold; ``refits`` says how many
    more fits follow that of a model.
    """
    model, each = fit(make, source, target)
    more = 0 if refits is None else refits(model)
    if accuracy:
        return model, judge(make, source, target, seed, each=spent + each, refits=more)
    foretell(each, 0, more)
    return model, None


def fit(make: Callable[[], Model], source: Release | Evidence, target: str) -> tuple[Model, float]:
    """The model of all records, and the seconds that it took."""
    console.step("fitting to all records")
    began = monotonic()
    model = make().fit(source, target=target)
    return model, monotonic() - began


def judge(
    make: Callable[[], Model],
    source: Release | Evidence,
    target: str,
    seed: int | None,
    *,
    each: float,
    refits: int = 0,
) -> Score | None:
    """The accuracy of models that were each kept from a fifth of the records; tables of counts have none to keep.

    ``each`` are the seconds that a fit takes; ``refits`` is how many more follow.
    """
    release = source if isinstance(source, Release) else source.release
    if any(isinstance(part, CountedPart) for part in release.parts):
        return None
    total = steps(release.schema[target].size, FOLDS)
    foretell(each, FOLDS, refits, total - 2 * FOLDS)
    silent = without_warnings()  # what a warning would say of four fifths of the records it said of all of them
    with silent, console.progress("steps of learning and judging", total) as advance:
        return cross_score(make(), source, target, FOLDS, rng=seed, progress=_foretelling(advance, total))


def foretell(each: float, folds: int = 0, refits: int = 0, cells: int = 0) -> None:
    """A line beforehand where the fits that follow will try somebody's patience; ``each`` is in seconds.

    How long it takes to judge them, and to estimate the ``cells`` of the confusion matrix, is not known yet.
    """
    total = each * (folds + refits)
    if total < PATIENCE:
        return
    wanted = [f"{folds} for the accuracy (--no-accuracy leaves these out)"] if folds else []
    wanted += [f"{refits} for the errors of the weights (--no-errors leaves these out)"] if refits else []
    said = f"one fit took {each:.1f} s; more follow, {' and '.join(wanted)}: about {duration(total)}"
    if not folds:
        console.note(said)
        return
    matrix = f" and the {cells} cells of the confusion matrix" if cells else ""
    console.note(f"{said} for the fits alone. Judging them{matrix} comes on top, and may take longer than the fits")


def _foretelling(advance: Callable[[int], None], total: int) -> Callable[[int], None]:
    """The same progress, with a line once the first fold, or the first cell of the confusion matrix, took long."""
    times: list[float] = []
    whole = {FOLDS: (FOLDS, "folds"), 2 * FOLDS: (total - 2 * FOLDS, "cells of the confusion matrix")}

    def step(some: int) -> None:
        times.append(monotonic())
        many, what = whole.get(len(times) - 1, (0, ""))
        each = times[-1] - times[-2] if many else 0.0
        if some == 1 and each * (many - 1) >= PATIENCE:
            told = duration(each * (many - 1))
            console.note(f"one of {many} {what} was judged in {each:.1f} s: about {told} more for the others")
        advance(some)

    return step


def show_score(score: Score | None, target: str) -> None:
    """The accuracy and the confusion matrix, in words."""
    if score is None:
        console.say("tables of counts hold no records to judge a model by: its accuracy needs clean rows (--test)")
        return
    low, high = score.interval
    console.say(
        f"estimated accuracy on clean records: {score.accuracy:.3f}  "
        f"({level_text(score.level)} interval {low:.3f} to {high:.3f}; always saying the most frequent {target}: "
        f"{score.majority:.3f})"
    )
    if score.caution is not None:
        console.say(score.caution)
    if score.narrower is not None:
        console.note(score.narrower)
    if np.isnan(score.confusion).any():
        if len(score.classes) <= ALL_CELLS:
            console.note("right and wrong answers by class are too uncertain to show; fewer --columns may tell them")
        return
    worst = float(np.max(score.confusion_sd))
    if worst > _MOST_UNSURE:
        console.note(f"right and wrong answers by class are too uncertain to show (standard errors up to {worst:.2f})")
        return
    told = list(zip(score.classes, score.confusion, score.confusion_sd, strict=True))
    rows = [[label_text(label), *map(_with_error, row, errors)] for label, row, errors in told]
    console.say("shares of all records in percent, ± one standard error:")
    console.table([f"true {target}", *(f"said {label_text(label)}" for label in score.classes)], rows)


def _with_error(share: float, sd: float) -> str:
    """A share with its standard error, in percent, on one line.

    >>> _with_error(0.10143, 0.0123).replace("\u00a0", " "), _with_error(-1e-8, 0.0).replace("\u00a0", " ")
    ('10.14 ± 1.23', '0.00 ± 0.00')
    """
    return f"{100 * max(float(share), 0.0):.2f}\u00a0±\u00a0{100 * float(sd):.2f}"


def show_rows(heads: list[str], rows: list[list[Any]], telling: Array, everything: bool) -> None:
    """A table; of very many rows those that surely tell the classes apart, unless all are asked for.

    ``telling`` is above 0 for these, and the larger the more a row tells.
    """
    if everything or len(rows) <= MOST_ROWS:
        console.table(heads, rows)
        return
    sure = int((telling > 0).sum())
    kept = sorted(np.argsort(-telling, kind="stable")[: min(sure or NEAREST_ROWS, MOST_ROWS)])
    if not sure:
        console.say(
            f"none of the {len(rows):,} rows tells the classes apart by more than chance does: that takes more records "
            f"or a larger gamma. The {len(kept)} that come nearest:"
        )
    console.table(heads, [rows[place] for place in kept])
    which = f"tell the classes apart {'most' if sure > MOST_ROWS else 'by more than chance does'}"
    first = f"the {len(kept)} of {len(rows):,} rows that {which}; " if sure else ""
    console.note(f"{first}--all prints all rows")


def test_accuracy(model: Classifier, test: Path | None) -> float | None:
    """The accuracy on a file of clean rows, where there is one."""
    return None if test is None else model.score(test)


def document(kind: str, model: Classifier, score: Score | None, tested: float | None, **more: Any) -> dict[str, Any]:
    """What --json prints."""
    return {
        "model": kind,
        "target": model.target_,
        "features": list(model.features_),
        "estimated": None if score is None else score.to_dict(),
        "test_accuracy": tested,
        **more,
    }


def note_rare(model: NaiveBayes | LinearClassifier) -> None:
    """Which classes are not shown, or perhaps held by nobody where both share their weights."""
    rare = [label_text(label) for label in model.classes_[~model.told_classes_]]
    if rare and isinstance(model, LinearClassifier) and len(model.classes_) == 2:
        console.note(f"perhaps no record is of this class: {console.some(rare, 12)}")
    elif rare:
        console.note(f"not shown, since perhaps no record is of that class: {console.some(rare, 12)}")
