"""What the ``learn`` commands share: loading, holding out, and showing the estimated accuracy on clean records."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.cli import console
from sfumato.evidence import Evidence, evidence
from sfumato.learn.base import Classifier
from sfumato.learn.score import Score, hold_out
from sfumato.release import Release

HELD_OUT = 0.25


def load(files: list[Path]) -> Release:
    """One release from several files: different records."""
    return Release.concat([Release.load(file) for file in files])


def learn(
    make: Callable[[], Classifier],
    release: Release,
    target: str,
    seed: int | None,
    prepare: Callable[[Release], Evidence] = evidence,
) -> tuple[Classifier, Score]:
    """The model of all records, and the estimated accuracy of one that was kept from a quarter of them."""
    kept, held = hold_out(release, HELD_OUT, np.random.default_rng(seed))
    console.step("estimating the accuracy from held-out records")
    score = make().fit(prepare(kept), target=target).estimate_score(held)
    console.step("fitting to all records")
    return make().fit(prepare(release), target=target), score


def show_score(score: Score, target: str) -> None:
    """The accuracy and the confusion matrix, in words."""
    low, high = score.interval
    console.say(
        f"estimated accuracy on clean records: {score.accuracy:.3f}  "
        f"({score.level:.0%} interval {low:.3f} to {high:.3f}; always saying the most frequent {target}: "
        f"{score.majority:.3f})"
    )
    if np.isnan(score.confusion).any():  # too many classes
        return
    rows = [
        [str(label), *(float(cell) for cell in row)] for label, row in zip(score.classes, score.confusion, strict=True)
    ]
    console.table([f"true {target}", *(f"said {label}" for label in score.classes)], rows)


def test_accuracy(model: Classifier, test: Path | None) -> float | None:
    """The accuracy on a file of clean rows, where there is one."""
    return None if test is None else model.score(test)


def document(kind: str, model: Classifier, score: Score, tested: float | None, **more: Any) -> dict[str, Any]:
    """What --json prints."""
    return {
        "model": kind,
        "target": model.target_,
        "features": list(model.features_),
        "estimated": score.to_dict(),
        "test_accuracy": tested,
        **more,
    }
