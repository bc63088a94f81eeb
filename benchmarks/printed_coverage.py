"""How often printed intervals hold that no other study counts: naive Bayes, leaves, weights, cells of three, groups.

``python -m benchmarks.printed_coverage [--runs=100] [--seed=0]``. Records are drawn from one distribution of five
attributes. Shares in a class, leaves and weights speak of that distribution, the other rows of the drawn records.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

import sfumato as sf
from sfumato.arrays import Array
from sfumato.errors import without_warnings
from sfumato.evidence import Evidence

Z = 1.96
SIZES = {"y": 3, "a": 2, "b": 6, "c": 2, "d": 4}
SCHEMA = sf.Schema({n: (sf.Ordinal if n == "b" else sf.Categorical)(tuple(range(size))) for n, size in SIZES.items()})
SETTINGS = ((9.0, 5_000), (19.0, 20_000), (4.0, 20_000))
Records = dict[str, Array]


def records(n: int, seed: int) -> Records:
    """Three classes, two attributes that tell them, one that leans on another, one of chance."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n, p=[0.5, 0.35, 0.15])
    a = (rng.random(n) < np.array([0.2, 0.5, 0.8])[y]).astype(int)
    b = np.minimum(rng.poisson(np.array([1.0, 2.0, 3.0])[y]), 5)
    c = np.where(rng.random(n) < 0.6, a, rng.integers(0, 2, n))
    return {"y": y, "a": a, "b": b, "c": c, "d": rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])}


def shares_by_class(ev: Evidence, everybody: Records) -> Iterator[bool]:
    """Naive Bayes: every share ± 1.96 standard errors, of classes that are surely held."""
    found = sf.learn.NaiveBayes().fit(ev, target="y")
    for name, table in found.tables_.items():
        for k in np.flatnonzero(found.told_classes_):
            own = everybody[name][everybody["y"] == k]
            true = np.bincount(own, minlength=SIZES[name]) / len(own)
            reach = Z * found.standard_errors_[name][:, k]
            yield from np.abs(np.clip(true, 0, 1) - table[:, k]) <= reach


def leaves(ev: Evidence, everybody: Records) -> Iterator[bool]:
    """A tree: the share of the commonest class in each leaf."""
    tree = sf.learn.DecisionTree().fit(ev, target="y")
    for leaf in tree.leaves_:
        inside = np.ones(len(everybody["y"]), dtype=bool)
        for axis, code in leaf.path:
            inside &= everybody[tree.features_[axis]] == code
        best = int(leaf.probabilities.argmax())
        true = float((everybody["y"][inside] == best).mean())
        yield bool(leaf.low is not None and leaf.high is not None and leaf.low[best] <= true <= leaf.high[best])


def answers(ev: Evidence, own: Records) -> dict[str, Array]:
    """Cells of three attributes, shares by a randomized group, a correlation by it."""
    cells = ev.counts(["a", "b", "y"])
    codes = (own["a"] * 6 + own["b"]) * 3 + own["y"]
    groups = [own["y"] == k for k in range(3)]
    share = np.concatenate([np.bincount(own["b"][g], minlength=6) / g.sum() for g in groups])
    r = np.array([np.corrcoef(own["a"][g], own["b"][g])[0, 1] for g in groups])
    asked = {
        "cells of three": (cells, np.bincount(codes, minlength=36)),
        "shares by group": (ev.share("b", by="y"), share),
        "correlation by group": (ev.correlation("a", "b", by="y"), r),
    }
    out = {}
    for name, (found, true) in asked.items():
        low, high = found.interval(0.95)
        out[name] = (low <= true + 1e-6) & (true - 1e-6 <= high)
    return out


def study(gamma: float, n: int, runs: int, seed: int) -> dict[str, list[bool]]:
    everybody = records(400_000, 1)
    held: dict[str, list[bool]] = {}
    for run in range(runs):
        own = records(n, 10_000 * (seed + 1) + run)
        release = sf.randomize(own, sf.Scheme.for_gamma(SCHEMA, gamma), rng=sf.experiment(20_000 * (seed + 1) + run))
        ev = sf.evidence(release)
        held.setdefault("naive Bayes, shares by class", []).extend(shares_by_class(ev, everybody))
        held.setdefault("tree, leaves", []).extend(leaves(ev, everybody))
        for name, inside in answers(ev, own).items():
            held.setdefault(name, []).extend(inside.tolist())
    return held


def main() -> None:
    runs = int(next((a.split("=")[1] for a in sys.argv if a.startswith("--runs=")), 100))
    seed = int(next((a.split("=")[1] for a in sys.argv if a.startswith("--seed=")), 0))
    with without_warnings():
        found = {setting: study(*setting, runs, seed) for setting in SETTINGS}
    print("| interval | " + " | ".join(f"gamma {gamma:g}, {n:,} records" for gamma, n in SETTINGS) + " |")
    print("|---|" + "---|" * len(SETTINGS))
    for name in found[SETTINGS[0]]:
        print(f"| {name} | " + " | ".join(f"{np.mean(one[name]):.3f}" for one in found.values()) + " |")


if __name__ == "__main__":
    main()
