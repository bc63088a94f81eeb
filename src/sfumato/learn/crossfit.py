r"""The accuracy of a learner by cross-fitting: every record judges a model that was learned without it.

The records are cut at random into K folds. A model is learned from all but one, and the fold left out says how often it
is right on clean records: see ``influence``. The model of the joint table that fills in where the channel is too noisy
comes from the same records as the classifier, never from those that judge. With shares w_k of the records

    accuracy = Σ_k w_k T_k,      variance = Σ_i (d_i - mean d)² + |Σ_k w_k hidden_k|² + |Σ_k w_k left_out_k|²

A record i of fold j moves the accuracy by d_i = w_j h_j / n_j, and by w_k b_k through the joint table of every other
fold k. So the variance knows that the folds share their records. ``influence.mutual_noise`` is added: the models of the
folds follow the noise of each other's records. The estimate is of the mean accuracy of the K models on the population;
each learned without a K-th of the records.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.errors import EstimationError, NotAskedError
from sfumato.evidence import Evidence
from sfumato.evidence.kinds import as_evidence, cliques_of
from sfumato.evidence.splits import cross_fits
from sfumato.input_checks import check_kind, check_progress
from sfumato.learn.arguments import check_number
from sfumato.learn.base import Classifier
from sfumato.learn.influence import Judge, Judged, mean_over_folds
from sfumato.learn.score import ALL_CELLS, Score, asked_by_some, majority_share, score_names
from sfumato.learn.score_by_draws import drawn_confusion
from sfumato.threads import one_thread

#: A: how many records the joint table is trusted like. Chosen among 2, 3, 5, 6, 10 and 20 on releases of Iris, wine,
#: Wisconsin and Adult: fewer vary more, more are biased more.
TRUST = 6.0
#: The same where the table is too large to list.
DRAWN_TRUST = 2.0
#: There, how many times the noise of the weights counts, because the models that fill in follow the same records; and
#: how many records such a model's error is worth. Chosen on releases of Adult and of a made table of ten attributes.
DRAWN_NOISE, DRAWN_WORTH = 3.0, 40.0
#: A released table of more cells takes long to weigh, and its confusion matrix takes many times as long.
LARGE = 1 << 16
#: The standard error of an accuracy beside which the cells of the confusion matrix are known well enough to show.
TELLING = 0.02


@one_thread()
def cross_score(
    model: Classifier,
    source: Any,
    target: str | None = None,
    folds: int = 5,
    level: float = 0.95,
    rng: np.random.Generator | int | None = None,
    progress: Callable[[int], None] | None = None,
    confusion: bool = True,
) -> Score:
    """How often a learner is right on clean records, from randomized ones alone: no record judges what it taught.

    ``model`` says what to learn and how; it is not changed, and need not be fitted. ``source`` is a release, or the
    kind of evidence to learn from. ``progress`` is called with 1 when a fold's model is learned, when it is judged, and
    for every cell of the confusion matrix; see ``steps``. ``confusion=False`` leaves out the confusion matrix, which
    takes most of the time. It is left out, too, where the table is large and it would be too uncertain to be of use.

    >>> import sfumato as sf
    >>> from sfumato.datasets import discretized
    >>> schema = discretized.WISCONSIN.select(["clump_thickness", "bare_nuclei", "mitoses", "class"])
    >>> scheme = sf.Scheme(schema, {name: sf.channels.symmetric(schema[name].size, .1) for name in schema})
    >>> release = sf.randomize(discretized.wisconsin(), scheme, rng=sf.experiment(1))
    >>> found = cross_score(sf.learn.NaiveBayes(), release, target="class", rng=1)
    >>> found.interval[0] < .95 < found.interval[1]
    True
    """
    check_number("level", level, above=0, below=1)
    check_progress(EstimationError, progress)
    check_kind(EstimationError, "model", model, Classifier, "a learner of classes, such as sf.learn.DecisionTree()")
    given = as_evidence(source, "cross_score takes a release or evidence")
    done: list[int] = []

    def advance(some: int) -> None:
        done.append(some)
        if progress is not None:
            progress(some)

    fits: list[_Fold] = []
    for kept, held in cross_fits(given, folds, rng):
        fresh = type(model)(**model.get_params(deep=False)).fit(kept, target=target)
        if not fits:
            _check_asked(fresh, given)
        fits.append(_Fold(fresh, kept, held, held.n / given.n))
        advance(1)
    names = score_names([one.model for one in fits], given)
    if names is None:
        value, sd = _by_draws(fits, advance)
    else:
        value, sd = _by_cells(fits, names, TRUST / given.n, confusion, advance)
    labels, majority = fits[0].model.classes_, majority_share(given, fits[0].model.target_)
    if left := steps(len(labels), folds, confusion) - sum(done):
        advance(left)
    cells, spread = (each[1:].reshape(len(labels), len(labels)) for each in (value, sd))
    accuracy = min(max(float(value[0]), 0.0), 1.0)
    found, n, drawn = float(value[0]), float(given.n), names is None
    apart = names is not None and not asked_by_some(given, names)
    return Score(accuracy, float(sd[0]), cells, spread, majority, labels, n, level, found, drawn, apart)


def _check_asked(model: Classifier, source: Evidence) -> None:
    """Refuse what no record could judge before more is learned: of large tables it must have been asked all."""
    names = [*model.used_features, model.target_]
    if score_names([model], source) is None and not asked_by_some(source, names):
        raise NotAskedError(
            f"no form asks all {len(names)} attributes that the model looks at, so that no record tells how often it "
            f"is right: learn from fewer attributes, or leave the accuracy out (--no-accuracy)"
        )


def steps(classes: int, folds: int, confusion: bool = True) -> int:
    """How many steps ``cross_score`` reports: folds learned, folds judged, and cells of the confusion matrix."""
    return 2 * folds + (classes**2 if confusion and classes <= ALL_CELLS else 0)


Found = tuple[Array, Array]  # of the accuracy and every cell: value and standard error


@dataclass(frozen=True, eq=False)
class _Fold:
    """A model, the records that it was learned from, those that judge it, and their share of all."""

    model: Classifier
    kept: Evidence
    held: Evidence
    share: float


def _by_cells(
    fits: Sequence[_Fold], names: list[str], ridge: float, confusion: bool, judged: Callable[[int], None]
) -> Found:
    """Over all cells of the table of the named attributes, the class last."""
    classes = len(fits[0].model.classes_)
    answers = [np.repeat(one.model.decisions(names[:-1]), classes) for one in fits]
    truth = np.arange(len(answers[0])) % classes
    value, sd = np.full((2, 1 + classes**2), np.nan)
    judges: list[Judge] = []
    right: list[Judged] = []
    for one, said in zip(fits, answers, strict=True):
        judges.append(Judge(one.kept, one.held, names, ridge, judges[0] if judges else None))
        right.append(judges[-1].share((truth == said).astype(np.float64)))
        judged(1)
    value[0], variance = mean_over_folds(judges, right)
    sd[0] = np.sqrt(variance)
    useful = sd[0] <= TELLING or max(judge.cells for judge in judges) <= LARGE
    told = confusion and classes <= ALL_CELLS and useful
    for place, cell in enumerate(np.ndindex(classes, classes) if told else (), 1):
        wanted = [(truth == cell[0]) & (said == cell[1]) for said in answers]
        found = [judge.share(cells.astype(np.float64)) for judge, cells in zip(judges, wanted, strict=True)]
        value[place], variance = mean_over_folds(judges, found)
        sd[place] = np.sqrt(variance)
        judged(1)
    return value, sd


def _by_draws(fits: Sequence[_Fold], judged: Callable[[int], None]) -> Found:
    """Over drawn records, where the table is too large to list. What is left to the drawn table is common to all."""
    share = np.array([one.share for one in fits])
    parts = []
    for one in fits:
        parts.append(_judge_by_draws(one.model, one.kept, one.held, DRAWN_TRUST * one.share))
        judged(1)
    value, noise, gap = (np.stack(each) for each in zip(*parts, strict=True))
    variance = DRAWN_NOISE * (share**2 @ noise) + (share @ gap) ** 2 / DRAWN_WORTH
    return share @ value, np.sqrt(np.maximum(variance, 0.0))


def _judge_by_draws(model: Classifier, kept: Evidence, held: Evidence, trust: float) -> tuple[Array, Array, Array]:
    """Of the accuracy and every cell: value, noise, gap."""
    fitted = cliques_of(kept, [*model.used_features, model.target_])
    shares, noise, gap, _ = drawn_confusion(model, held, trust, fitted)
    classes = len(model.classes_)
    right = np.eye(classes).reshape(-1) if len(shares) == classes**2 else np.array([0.0, 1.0])
    cells = np.full((3, classes**2), np.nan)
    if len(shares) == classes**2:
        cells = np.stack([shares, np.diag(noise), np.sqrt(np.maximum(np.diag(gap), 0.0))])
    own = np.array([right @ shares, right @ noise @ right, np.sqrt(max(float(right @ gap @ right), 0.0))])
    out = np.concatenate([own[:, None], cells], axis=1)
    return out[0], out[1], out[2]
