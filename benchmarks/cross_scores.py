"""How often the interval of ``cross_score`` holds the accuracy on clean records, its bias and its width.

    python -m benchmarks.cross_scores [--releases 200] [--chosen] [anes96 ...]

A table is the population: records are drawn from it with replacement and randomized. What is to be covered is the mean
accuracy, on the whole clean table, of the models that were learned without one fold each. Beside it stands one split of
the first 20 releases: a model learned from three quarters of the records and judged by the last quarter. ``--chosen``
runs the settings that the constants of ``cross_score`` were chosen on; nothing was chosen on the others.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

import sfumato as sf
from sfumato.evidence.splits import folds
from sfumato.learn import DecisionTree, LinearClassifier, NaiveBayes, cross_score, hold_out
from sfumato.learn.base import Classifier

from .public_tables import table

SPLITS = 20


def lda() -> Classifier:
    return LinearClassifier(loss="lda")


def tree() -> Classifier:
    return DecisionTree(max_leaves=12)


@dataclass(frozen=True)
class Setting:
    """A table, how many records are drawn from it, the change probability p or a gamma, and a learner."""

    table: str
    records: int
    strength: str
    make: Callable[[], Classifier]

    @property
    def scheme(self) -> sf.Scheme:
        """Every attribute under the same gamma, at p, or at p and 2p in turn ("mixed .15")."""
        schema = table(self.table)[1]
        kind, number = self.strength.split()
        if kind == "gamma":
            return sf.Scheme.for_gamma(schema, gamma=float(number))
        p = [float(number), (1 + (kind == "mixed")) * float(number)]
        return sf.Scheme(
            schema, {name: sf.channels.symmetric(schema[name].size, p[i % 2]) for i, name in enumerate(schema)}
        )

    def __str__(self) -> str:
        learner = {NaiveBayes: "naive Bayes", lda: "linear", tree: "tree"}[self.make]
        return f"{self.table}, {learner} | {self.records} | {self.strength}"


JUDGED = (
    Setting("diabetes", 150, "p .2", NaiveBayes),
    Setting("ljubljana", 200, "p .1", lda),
    Setting("ljubljana", 280, "gamma 9", NaiveBayes),
    Setting("ionosphere", 350, "p .3", tree),
    Setting("breast_cancer", 400, "gamma 5", lda),
    Setting("breast_cancer", 569, "mixed .15", NaiveBayes),
    Setting("digits", 700, "p .3", NaiveBayes),
    Setting("modechoice", 840, "p .1", tree),
    Setting("anes96", 900, "gamma 5", NaiveBayes),
    Setting("anes96", 900, "p .3", lda),
    Setting("fair", 3000, "mixed .1", lda),
    Setting("fair", 5000, "gamma 3", NaiveBayes),
    Setting("randhie", 5000, "gamma 9", NaiveBayes),
)
CHOSEN = (
    Setting("iris", 150, "p .1", NaiveBayes),
    Setting("iris", 150, "p .3", NaiveBayes),
    Setting("iris", 150, "p .4", NaiveBayes),
    Setting("iris", 150, "p .3", tree),
    Setting("wine", 178, "p .1", NaiveBayes),
    Setting("wine", 178, "p .3", NaiveBayes),
    Setting("wisconsin", 683, "p .3", NaiveBayes),
    Setting("adult", 2000, "p .3", NaiveBayes),
    Setting("adult", 2000, "p .4", NaiveBayes),
    Setting("adult", 840, "p .1", tree),
    Setting("adult", 900, "p .3", lda),
    Setting("adult", 900, "gamma 5", NaiveBayes),
    Setting("adult", 2000, "gamma 9", lda),
    Setting("adult", 3000, "mixed .1", lda),
    Setting("adult", 5000, "gamma 3", NaiveBayes),
    Setting("iris", 150, "p .2", lda),
    Setting("wine", 178, "gamma 9", lda),
    Setting("wisconsin", 400, "gamma 5", lda),
)

Row = tuple[float, bool, float, float]  # the error, whether the interval holds the truth, its width, the truth


def one_release(setting: Setting, seed: int) -> tuple[Row, Row | None]:
    """What ``cross_score`` finds, and, for the first releases, what one split finds."""
    clean, _, target = table(setting.table)
    rng = np.random.default_rng([9, seed])
    release = sf.randomize(clean.take(rng.integers(0, len(clean), setting.records)), setting.scheme, rng=rng)
    cut = folds(release, 5, seed)
    true = 0.0
    for held in cut:
        model = setting.make().fit(sf.Release.concat([one for one in cut if one is not held]), target=target)
        true += len(held) / setting.records * _accuracy(model, setting.table)
    found = _row(cross_score(setting.make(), release, target, rng=seed, confusion=False), true)
    if seed >= SPLITS:
        return found, None
    kept, held = hold_out(release, 0.25, seed)
    model = setting.make().fit(kept, target=target)
    return found, _row(model.estimate_score(held), _accuracy(model, setting.table))


def _accuracy(model: Classifier, name: str) -> float:
    """On the whole clean table, by its cells."""
    features, target = list(model.features_), model.target_
    shares = _clean(name, tuple(features), target)
    return float(shares[np.arange(len(shares)), model.decisions(features)].sum())


@cache
def _clean(name: str, features: tuple[str, ...], target: str) -> np.ndarray:
    """The clean table as shares: combinations of the features by class."""
    rows, schema, _ = table(name)
    counts = sf.evidence(rows, schema).counts([*features, target]).value
    return np.asarray(counts / counts.sum()).reshape(-1, schema[target].size)


def _row(score: sf.learn.score.Score, true: float) -> Row:
    low, high = score.interval
    return score.unbiased - true, low <= true <= high, high - low, true


def line(setting: Setting, releases: int) -> str:
    """A line of the table in docs/measured/learn.md."""
    found = [one_release(setting, seed) for seed in range(releases)]
    error, held_it, width, true = np.array([own for own, _ in found], dtype=float).T
    split = np.array([other for _, other in found if other is not None], dtype=float).T
    return (
        f"| {setting} | {true.mean():.3f} | {held_it.mean():.3f} | {error.mean():+.3f} | {np.std(error):.3f} | "
        f"{width.mean():.2f} | {split[1].mean():.2f}, {split[0].mean():+.3f}, {split[2].mean():.2f} |"
    )


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", help="only these tables")
    parser.add_argument("--releases", type=int, default=200)
    parser.add_argument("--chosen", action="store_true", help="the settings that constants were chosen on")
    asked = parser.parse_args(words)
    began = time.process_time()
    print("| table, learner | records | noise | accuracy | cover | bias | sd of error | width | one split |")
    print("|---|---|---|---|---|---|---|---|---|")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for setting in CHOSEN if asked.chosen else JUDGED:
            if not asked.tables or setting.table in asked.tables:
                print(line(setting, asked.releases), flush=True)
    print(f"\n{time.process_time() - began:.0f} s of processor time")


if __name__ == "__main__":
    main()
