"""Trees under additive noise on the synthetic functions of Agrawal and Srikant (2000): theirs and ours.

``python -m benchmarks.additive_trees`` prints the table of docs/measured/learn.md. Nine attributes of a loan applicant,
100 000 records to learn from and 5000 clean ones to judge by, half of them in either group. Noise of 100 % privacy has
a 95 % interval as wide as the attribute's range.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence

import numpy as np

import sfumato as sf
from sfumato.arrays import Array
from sfumato.channels.additive import Noise
from sfumato.errors import SfumatoWarning
from sfumato.learn import AdditiveTree, DecisionTree
from sfumato.printable import percentage

RANGES = {
    "salary": (20_000, 150_000),
    "commission": (0, 75_000),
    "age": (20, 80),
    "elevel": (-0.5, 4.5),
    "car": (0.5, 20.5),
    "zipcode": (0.5, 9.5),
    "hvalue": (0, 1_350_000),
    "hyears": (0.5, 30.5),
    "loan": (0, 500_000),
}
NAMES = tuple(RANGES)
BINS = 7  # of our trees; 5 for the five levels of education


def applicants(n: int, rng: np.random.Generator) -> dict[str, Array]:
    """The attributes: Agrawal, Imielinski and Swami (1993), table 1."""
    salary = rng.uniform(20_000, 150_000, n)
    zipcode = rng.integers(1, 10, n).astype(float)
    return {
        "salary": salary,
        "commission": np.where(salary >= 75_000, 0.0, rng.uniform(10_000, 75_000, n)),
        "age": rng.uniform(20, 80, n),
        "elevel": rng.integers(0, 5, n).astype(float),
        "car": rng.integers(1, 21, n).astype(float),
        "zipcode": zipcode,
        "hvalue": rng.uniform(0.5, 1.5, n) * zipcode * 100_000,
        "hyears": rng.integers(1, 31, n).astype(float),
        "loan": rng.uniform(0, 500_000, n),
    }


def _between(values: Array, low: float, high: float) -> Array:
    return np.asarray((values >= low) & (values <= high))


def function(number: int, t: dict[str, Array]) -> Array:
    """Who is in group A, by the functions 1 to 5 of the paper."""
    age, salary, level = t["age"], t["salary"], t["elevel"]
    young, old = age < 40, age >= 60
    middle = ~young & ~old
    low, mean, high = _between(salary, 25e3, 75e3), _between(salary, 50e3, 100e3), _between(salary, 75e3, 125e3)
    if number == 1:
        return np.asarray(young | old)
    if number == 2:
        return np.asarray((young & mean) | (middle & high) | (old & low))
    if number == 3:
        young_in = ((level <= 1) & low) | (_between(level, 2, 3) & mean)
        middle_in = (_between(level, 1, 3) & mean) | ((level == 4) & high)
        old_in = ((level >= 2) & mean) | ((level == 1) & low)
        return np.asarray((young & young_in) | (middle & middle_in) | (old & old_in))
    income = 0.67 * (salary + t["commission"]) - 0.2 * t["loan"]
    if number == 4:
        return np.asarray(income - 20e3 > 0)
    equity = 0.1 * t["hvalue"] * np.maximum(t["hyears"] - 20, 0)
    return np.asarray(income + 0.2 * equity - 10e3 > 0)


def balanced(number: int, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """(x, group): as many records of either group."""
    table = applicants(12 * n, rng)
    group = function(number, table)
    rows = np.concatenate([np.flatnonzero(group == side)[: n // 2] for side in (False, True)])
    rng.shuffle(rows)
    return np.stack([table[name][rows] for name in NAMES], axis=1), group[rows]


def noise_of(kind: str, privacy: float, low: float, high: float) -> Noise:
    """The noise whose 95 % interval is ``privacy`` times as wide as the range."""
    width = privacy * (high - low)
    return sf.channels.uniform(width / 1.9) if kind == "uniform" else sf.channels.gaussian(width / 3.92)


def in_intervals(z: Array, group: Array, noises: Sequence[Noise]) -> sf.Release:
    """The same noisy numbers, cut into intervals."""
    domains = {name: sf.Numeric(*RANGES[name], bins=5 if name == "elevel" else BINS) for name in NAMES}
    schema = sf.Schema({**domains, "group": sf.Categorical((False, True))})
    scheme = sf.Scheme(schema, dict(zip(NAMES, noises, strict=True)), clear=["group"])
    rows = {**dict(zip(NAMES, z.T, strict=True)), "group": group.astype(np.uint8)}
    return sf.Release(rows, scheme).in_intervals()


def study(number: int, kind: str, privacy: float, n: int, seed: int) -> Iterator[tuple[str, float]]:
    """(method, accuracy on clean records) of each method on one draw."""
    rng = np.random.default_rng([seed, number])
    x, group = balanced(number, n, rng)
    test, truth = balanced(number, 5000, rng)
    noises = [noise_of(kind, privacy, *RANGES[name]) for name in NAMES]
    z = np.stack([noise.randomize(x[:, j], rng=rng) for j, noise in enumerate(noises)], axis=1)
    support = list(RANGES.values())
    yield "original", AdditiveTree([None] * len(NAMES), "none").fit(x, group).score(test, truth)
    for way in ("none", "global", "by_class", "local"):
        tree = AdditiveTree(noises, way, support).fit(z, group)
        yield ("randomized" if way == "none" else way), tree.score(test, truth)
    better = AdditiveTree(noises, "by_class", support, method="auto")
    yield "by_class, our density", better.fit(z, group).score(test, truth)
    release = in_intervals(z, group, noises)
    clean = dict(zip(NAMES, test.T, strict=True))
    for counts in ("direct", "model"):
        found = DecisionTree(counts=counts).fit(release, target="group")
        yield f"our tree, {counts}", float(np.mean(found.predict(clean) == truth))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--privacy", type=float, nargs="*", default=[0.5, 1.0, 2.0])
    parser.add_argument("--functions", type=int, nargs="*", default=[1, 2, 3, 4, 5])
    parser.add_argument("--noise", nargs="*", default=["uniform", "gaussian"])
    options = parser.parse_args()
    heads: list[str] | None = None
    warnings.simplefilter("ignore", SfumatoWarning)
    for kind in options.noise:
        for privacy in options.privacy:
            for number in options.functions:
                runs = [dict(study(number, kind, privacy, options.records, seed)) for seed in range(options.runs)]
                if heads is None:
                    heads = list(runs[0])
                    print(f"| noise | privacy | function | {' | '.join(heads)} |\n|{'---|' * (3 + len(heads))}")
                means = [f"{np.mean([run[head] for run in runs]):.3f}" for head in heads]
                print(f"| {kind} | {percentage(privacy)} | {number} | {' | '.join(means)} |", flush=True)


if __name__ == "__main__":
    main()
