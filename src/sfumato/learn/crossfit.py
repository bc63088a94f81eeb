r"""The accuracy of a learner by cross-fitting: every record judges a model that was learned without it.

The records are cut at random into K folds. A model is learned from all but one, and the fold left out says how often it
is right on clean records (see ``evidence.model.blend``): the model of the joint table that fills in where the channel
is too noisy comes from the same records as the classifier, never from those that judge. With shares w_k of the records

    accuracy = Σ_k w_k a_k,      variance = Σ_k w_k² v_k + (Σ_k w_k gap_k)² / (2 A)

Given what it was learned from, a fold's error has mean 0, and its noise v_k is that of its own records. So the folds'
noise adds up like that of K separate samples; what the fitted tables may be wrong by is common to all, and does not
shrink. The estimate is of the mean accuracy of the K models on the population; each learned without a K-th of the
records.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sfumato.channels.linear import Array
from sfumato.errors import EstimationError
from sfumato.evidence import Evidence, evidence
from sfumato.evidence.model import JunctionEvidence
from sfumato.evidence.model.blend import blended_mean
from sfumato.evidence.model.loglinear import Design, fit, pairwise
from sfumato.evidence.model.observed import observe
from sfumato.learn.base import Classifier, check_number
from sfumato.learn.drawn import drawn_confusion
from sfumato.learn.score import ALL_CELLS, Score, class_shares, score_names
from sfumato.release import Release
from sfumato.released.part import Part
from sfumato.threads import one_thread

#: A: how many records the fitted table is trusted like. Chosen on few releases of wine at p = .3: 10 varied less, and
#: was more biased.
TRUST = 2.0
#: The penalty of the fitted table. At .3, which is best for learning, it shrinks what it fills in: 7 points on wine.
TAU = 1.0


def folds(release: Release, count: int = 5, rng: np.random.Generator | int | None = None) -> list[Release]:
    """The records of a release cut at random into equal parts."""
    if isinstance(count, bool) or not isinstance(count, int) or count < 2:
        raise EstimationError(f"folds must be a whole number of at least 2, got {count!r} instead")
    if len(release) < 2 * count:
        raise EstimationError(f"{count} folds need at least {2 * count} records, and the release holds {len(release)}")
    generator = np.random.default_rng(rng)
    cut: list[list[Part]] = [[] for _ in range(count)]
    at = 0
    for part in release.parts:
        rows = part.arrow()
        place = (generator.permutation(rows.num_rows) + at) % count
        at += rows.num_rows
        for fold in range(count):
            cut[fold].append(part.with_rows(rows.take(np.flatnonzero(place == fold))))
    return [Release.of(part for part in parts if len(part)) for parts in cut]


@one_thread()
def cross_score(
    model: Classifier,
    release: Release | Evidence,
    target: str | None = None,
    folds: int = 5,
    level: float = 0.95,
    rng: np.random.Generator | int | None = None,
    prepare: Callable[[Release], Evidence] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Score:
    """How often a learner is right on clean records, from randomized ones alone: no record judges what it taught.

    ``model`` says what to learn and how; it is not changed, and need not be fitted. ``progress`` is called with 1 after
    each fold.

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
    if isinstance(release, Evidence):
        prepare, release = prepare or release.refitted, release.release
    if not isinstance(release, Release):
        raise EstimationError(f"cross_score takes a release, got {type(release).__name__} instead")
    cut = _folds(release, folds, rng)
    found = []
    for held in cut:
        kept = Release.concat([one for one in cut if one is not held])
        fresh = type(model)(**model.get_params(deep=False))
        fresh.fit((prepare or evidence)(kept), target=target)
        found.append(_judge(fresh, kept, held, TRUST * len(held) / len(release)))
        if progress is not None:
            progress(1)
    share = np.array([len(held) for held in cut]) / len(release)
    value = np.tensordot(share, np.stack([one[0] for one in found]), 1)
    noise = np.tensordot(share**2, np.stack([one[1] for one in found]), 1)
    gap = np.tensordot(share, np.stack([one[2] for one in found]), 1)
    sd = np.sqrt(np.maximum(noise + gap**2 / (2 * TRUST), 0.0))
    majority = float(np.max(np.tensordot(share, np.stack([one[3] for one in found]), 1)))
    classes = len(fresh.classes_)
    confusion, spread = (each[1:].reshape(classes, classes) for each in (value, sd))
    accuracy = min(max(float(value[0]), 0.0), 1.0)
    return Score(
        accuracy, float(sd[0]), confusion, spread, majority, fresh.classes_, float(len(release)), level, float(value[0])
    )


_folds = folds  # the argument of ``cross_score`` has the same name

Judged = tuple[Array, Array, Array, Array]  # of the accuracy and every cell: value, noise, gap; and the classes' shares


def _judge(model: Classifier, kept: Release, held: Release, trust: float) -> Judged:
    """What one fold says of the model that was learned from the others."""
    names = score_names(model, Evidence(held))
    if names is None:
        return _judge_by_draws(model, kept, held, trust)
    observed = observe(held, names)
    theta = fit(observe(kept, names), Design(observed.sizes, pairwise(len(names))), TAU, tolerance=1e-4).theta
    classes = len(model.classes_)
    answer = np.repeat(model.decisions(names[:-1]), classes)
    truth = np.arange(len(answer)) % classes
    wanted = [truth == answer]
    for i, j in np.ndindex(classes, classes):
        wanted.append((truth == i) & (answer == j) & (classes <= ALL_CELLS or i == j))
    out = np.zeros((3, len(wanted)))
    for place, cells in enumerate(wanted):
        if cells.any():
            one = blended_mean([(observed, theta)], cells.astype(np.float64), trust)
            out[:, place] = one.value, one.noise, one.gap
    if classes > ALL_CELLS:
        out[:, 1:] = np.nan
    return out[0], out[1], out[2], theta.reshape(-1, classes).sum(axis=0)


def _judge_by_draws(model: Classifier, kept: Release, held: Release, trust: float) -> Judged:
    """The same over drawn records, where the table is too large to list."""
    fitted = JunctionEvidence(kept, [*model.used_features, model.target_])
    shares, noise, gap, _ = drawn_confusion(model, Evidence(held), trust, fitted)
    classes = len(model.classes_)
    right = np.eye(classes).reshape(-1) if len(shares) == classes**2 else np.array([0.0, 1.0])
    cells = np.full((3, classes**2), np.nan)
    if len(shares) == classes**2:
        cells = np.stack([shares, np.diag(noise), np.sqrt(np.maximum(np.diag(gap), 0.0))])
    own = np.array([right @ shares, right @ noise @ right, np.sqrt(max(float(right @ gap @ right), 0.0))])
    out = np.concatenate([own[:, None], cells], axis=1)
    return out[0], out[1], out[2], class_shares(kept, model.target_)
