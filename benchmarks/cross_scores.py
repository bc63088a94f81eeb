"""How often the interval of ``cross_score`` holds the accuracy on clean records, its bias and its width.

python -m benchmarks.cross_scores wine .3 100
python -m benchmarks.cross_scores iris gamma3 100

Data: wine, iris, wisconsin, mushroom, adult. The table is the population: records are drawn from it with replacement
and randomized, each attribute with change probability p or under a gamma. What is to be covered is the mean accuracy,
on the whole clean table, of the models that were learned without one fold each. Beside it stands one split of the
first releases: a model learned from three quarters of the records and judged by the last quarter.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np

import sfumato as sf
from sfumato.datasets import discretized as dd
from sfumato.learn import DecisionTree, NaiveBayes, cross_score, hold_out
from sfumato.learn.crossfit import folds

RECORDS = {"wine": 178, "iris": 150, "wisconsin": 683, "mushroom": 1500, "adult": 2000}
ADULT = ["education", "marital", "occupation", "sex", "gain", "income"]
SPLITS = 40
WINE = [0, 6, 9, 10, 11, 12]


def data(name: str) -> tuple[Any, sf.Schema, str]:
    """The clean table, its schema and the class."""
    if name in ("wine", "iris"):
        from sklearn import datasets

        found = getattr(datasets, f"load_{name}")()
        values = found.data[:, WINE] if name == "wine" else found.data
        columns = {
            f"x{i}": np.searchsorted(np.quantile(column, [1 / 3, 2 / 3]), column) for i, column in enumerate(values.T)
        }
        schema = sf.Schema({each: sf.Categorical((0, 1, 2)) for each in (*columns, "class")})
        return schema.decode({**columns, "class": found.target}), schema, "class"
    if name == "adult":
        return dd.adult("train").select(ADULT), dd.ADULT.select(ADULT), "income"
    return getattr(dd, name)(), dd.WISCONSIN if name == "wisconsin" else dd.MUSHROOM, "class"


def scheme(schema: sf.Schema, strength: str) -> sf.Scheme:
    """Every attribute at change probability p, or under ``gamma3``."""
    if strength.startswith("gamma"):
        return sf.Scheme.for_gamma(schema, gamma=float(strength[5:]))
    p = float(strength)
    return sf.Scheme(schema, {name: sf.channels.symmetric(schema[name].size, p) for name in schema})


def study(name: str, strength: str, runs: int) -> str:
    """A line of the table in docs/learn.md."""
    table, schema, target = data(name)
    n, used = RECORDS[name], scheme(schema, strength)
    make = DecisionTree if name == "mushroom" else NaiveBayes
    found, old = [], []
    begin = time.process_time()
    for seed in range(runs):
        rng = np.random.default_rng([8, seed])
        release = sf.randomize(table.take(rng.integers(0, len(table), n)), used, rng=rng)
        score = cross_score(make(), release, target, rng=seed)
        cut = folds(release, 5, seed)
        true = 0.0
        for held in cut:
            kept = sf.Release.concat([one for one in cut if one is not held])
            true += len(held) / n * make().fit(kept, target=target).score(table)
        low, high = score.interval
        found.append((score.unbiased - true, score.sd, low <= true <= high, high - low, true))
        if seed >= SPLITS:  # enough to compare with
            continue
        kept, held = hold_out(release, 0.25, seed)
        model = make().fit(kept, target=target)
        before, true = model.estimate_score(held), model.score(table)
        low, high = before.interval
        old.append((before.unbiased - true, before.sd, low <= true <= high, high - low, true))
    lines = []
    for what, rows in (("cross_score", found), ("one split", old)):
        error, _, held_it, width, true_one = np.array(rows, dtype=float).T
        lines.append(
            f"{name} {n} {strength} {what}: {held_it.mean():.3f} of {len(rows)} cover, bias {error.mean():+.3f}, "
            f"rms error {np.sqrt(np.mean(error**2)):.3f}, mean width {width.mean():.2f}, accuracy {true_one.mean():.3f}"
        )
    return "\n".join([*lines, f"{time.process_time() - begin:.0f} s"])


def main(words: list[str]) -> int:
    """Run one study and print its lines."""
    if len(words) != 3 or words[0] not in RECORDS:
        sys.stderr.write(__doc__ or "")
        return 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sys.stdout.write(study(words[0], words[1], int(words[2])) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
