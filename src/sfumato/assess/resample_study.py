"""Risk and cost of a way to resample, on tables that are cut anew for every seed.

Risk: half of the records are released, with whatever setting that half asks for; then the shadow attack is run at this
setting, with all records as its pool. Cost: three quarters are released, classifiers are trained on the rows and on the
records, and tested on the last quarter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array, Labels
from sfumato.assess.comparison import errors
from sfumato.errors import DisclosureWarning, without_warnings
from sfumato.membership import Risk, shadow_risk
from sfumato.owner.resample import Resampled, resample
from sfumato.randomness import source

#: Records of a pool that the attack is run on; a larger table is sampled.
POOL = 2400

#: Training rows, labels, test rows, labels of one seed.
Split = Callable[[int], tuple[Array, Labels, Array, Labels]]


@dataclass(frozen=True)
class Cost:
    """phi in points, its standard error over the seeds, the mean for each classifier, and how often "held" was said."""

    phi: float
    error: float
    each: dict[str, float]
    held: float


def part(y: Labels, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """A random share of each class."""
    out = np.zeros(len(y), dtype=bool)
    for label in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == label))
        out[rows[: max(round(share * len(rows)), 1)]] = True
    return out


def risk(X: Array, y: Labels, seeds: Sequence[int], shadows: int = 160, **options: Any) -> Risk:
    """What the shadow attack reaches on releases of half of the records, averaged over the seeds."""
    found = []
    for seed in seeds:
        rng = np.random.default_rng([seed, 1])
        some = part(y, POOL / len(y), rng) if len(y) > POOL else np.full(len(y), True)
        pool, labels = X[some], y[some]
        half = part(labels, 0.5, rng)
        released = quietly(pool[half], labels[half], source(rng), **options)
        found.append(shadow_risk(pool, labels, released.again, source(rng), shadows))
    means = np.mean([[one.auc, one.outliers] for one in found], axis=0)
    spread = np.sqrt(np.sum([[one.error**2, one.outliers_error**2] for one in found], axis=0)) / len(found)
    alone = {name: np.mean([one.attacks.get(name, (0.5, 0.5)) for one in found], axis=0) for name in found[0].attacks}
    return replace(
        found[0],
        auc=means[0],
        error=spread[0],
        outliers=means[1],
        outliers_error=spread[1],
        attacks={name: (float(whole), float(outer)) for name, (whole, outer) in alone.items()},
    )


def cost(split: Split, seeds: Sequence[int], **options: Any) -> Cost:
    """What training on the release costs, over four classifiers."""
    runs, held = [], []
    for seed in seeds:
        X, y, Xt, yt = split(seed)
        released = quietly(X, y, np.random.default_rng([seed, 2]), **options)
        before = errors(X, y, Xt, yt, seed)
        after = errors(released.X, np.asarray(released.y), Xt, yt, seed)
        runs.append({model: after[model] - before[model] for model in before})
        held.append(released.worst is None or released.worst.held)
    table = np.array([list(run.values()) for run in runs])
    error = table.mean(axis=1).std(ddof=1) / np.sqrt(len(runs)) if len(runs) > 1 else float("nan")
    each = dict(zip(runs[0], table.mean(axis=0).tolist(), strict=True))
    return Cost(float(table.mean()), float(error), each, float(np.mean(held)))


def quietly(X: Array, y: Labels, rng: Any, **options: Any) -> Resampled:
    """A release whose warnings are not of interest: what was reached is measured."""
    with without_warnings(DisclosureWarning):
        return resample(X, y, rng=rng, **options)
