"""A bound on the whole person: Adult, eight attributes, under whole-record epsilon 1, 2 and 4.

    python -m benchmarks.forms_study [--draws 3] [--first 0]

For each epsilon: the mean L1 error of the 28 pair tables (sum of absolute errors of shares) by one joint model of all
forms, pair by pair (moved to the simplex), and of two others under the same bound: the budget split over the
attributes, with the joint model, and a baseline after CALM (Zhang et al. 2018): every pair is a group of its own that
answers by generalised randomized response or unary encoding, whichever has the smaller variance, and the tables are
moved to the simplex and made to agree on what they share. Then the coverage of the pair tables' 95 % intervals and the
accuracy of the income classifier (a tree) on all records.
"""

from __future__ import annotations

import argparse
import math
import warnings
from itertools import combinations
from typing import Any

import numpy as np

import sfumato as sf
from sfumato.datasets import discretized
from sfumato.evidence.simplex import project

NAMES = ("age", "education", "marital", "occupation", "sex", "relationship", "hours", "income")
PAIRS = list(combinations(NAMES, 2))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args(arguments)
    schema, table = discretized.ADULT.select(NAMES), discretized.adult().select(list(NAMES))
    n = table.num_rows
    exact = sf.evidence(table, schema)
    truth = {pair: exact.counts(pair).value / n for pair in PAIRS}
    codes = schema.encode(table)
    print("epsilon  draw  forms+model  forms alone  split+model  CALM-like  coverage alone  coverage model  income")
    for epsilon in (1, 2, 4):
        for draw in range(options.first, options.first + options.draws):
            row = study(table, schema, truth, codes, epsilon, draw)
            print(f"{epsilon:7d}  {draw:4d}  " + "  ".join(f"{value:11.4f}" for value in row), flush=True)


def study(table: Any, schema: Any, truth: Any, codes: Any, epsilon: float, draw: int) -> list[float]:
    n, gamma = table.num_rows, math.exp(epsilon)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        forms = sf.Forms.for_gamma(schema, gamma, ask=2)
        release = sf.randomize(table, forms, rng=sf.experiment(9000 + draw))
        alone, model = sf.evidence(release), sf.evidence(release, method="model", target="income")
        split = sf.Scheme.for_gamma(schema, gamma ** (1 / len(schema)))
        other = sf.evidence(sf.randomize(table, split, rng=sf.experiment(9000 + draw)), method="model")
        tree = sf.learn.DecisionTree().fit(model, target="income")
        income = tree.score(table.drop_columns(["income"]), table.column("income").to_pylist())
    own = {pair: alone.counts(pair, quiet=True) for pair in PAIRS}
    modelled = {pair: model.counts(pair) for pair in PAIRS}
    baseline = calm(codes, schema, gamma, np.random.default_rng([9000, draw]))
    return [
        _error({pair: one.value / n for pair, one in modelled.items()}, truth),
        _error({pair: project(one.value / n, 1.0) for pair, one in own.items()}, truth),
        _error({pair: other.shares(pair) for pair in PAIRS}, truth),
        _error(baseline, truth),
        _coverage(own, truth, n),
        _coverage(modelled, truth, n),
        float(income),
    ]


def _error(found: dict[Any, Any], truth: dict[Any, Any]) -> float:
    return float(np.mean([np.abs(found[pair] - truth[pair]).sum() for pair in truth]))


def _coverage(found: dict[Any, Any], truth: dict[Any, Any], n: int) -> float:
    held = []
    for pair, estimate in found.items():
        low, high = estimate.interval()
        held.append(((low <= truth[pair] * n) & (truth[pair] * n <= high)).mean())
    return float(np.mean(held))


def calm(codes: Any, schema: Any, gamma: float, rng: np.random.Generator) -> dict[Any, Any]:
    """Pair tables from groups of users, each by the better of two frequency oracles, made consistent."""
    n = len(codes[NAMES[0]])
    group = rng.integers(0, len(PAIRS), n)
    tables = {}
    for number, pair in enumerate(PAIRS):
        own = group == number
        sizes = schema.sizes(pair)
        k, m = sizes[0] * sizes[1], int(own.sum())
        x = codes[pair[0]][own].astype(int) * sizes[1] + codes[pair[1]][own].astype(int)
        tables[pair] = project(_oracle(x, k, m, gamma, rng), 1.0).reshape(sizes)
    for _ in range(20):
        for name in NAMES:
            held = [pair for pair in PAIRS if name in pair]
            margins = [tables[pair].sum(axis=1 - pair.index(name)) for pair in held]
            weights = [1 / tables[pair].shape[1 - pair.index(name)] for pair in held]
            mean = np.average(margins, axis=0, weights=weights)
            for pair, margin in zip(held, margins, strict=True):
                axis = pair.index(name)
                change = (mean - margin) / tables[pair].shape[1 - axis]
                tables[pair] = tables[pair] + (change[:, None] if axis == 0 else change[None, :])
        tables = {pair: project(one.reshape(-1), 1.0).reshape(one.shape) for pair, one in tables.items()}
    return {pair: one.reshape(-1) for pair, one in tables.items()}


def _oracle(x: Any, k: int, m: int, gamma: float, rng: np.random.Generator) -> Any:
    """Generalised randomized response where k - 2 < 3 gamma, else optimal unary encoding (Wang et al. 2017)."""
    if k - 2 < 3 * gamma:
        p = gamma / (gamma + k - 1)
        lie = rng.random(m) >= p
        y = np.where(lie, (x + rng.integers(1, k, m)) % k, x)
        q = (1 - p) / (k - 1)
        return (np.bincount(y, minlength=k) / m - q) / (p - q)
    q = 1 / (gamma + 1)
    held = np.bincount(x, minlength=k)
    counts = rng.binomial(held, 0.5) + rng.binomial(m - held, q)
    return (counts / m - q) / (0.5 - q)


if __name__ == "__main__":
    main()
