"""A bound on the whole person: Adult, eight attributes, under whole-record epsilon 1, 2 and 4.

    python -m benchmarks.forms_study [--grain fine|coarse] [--draws 10] [--first 0]

For each epsilon, means over the draws of

- the mean L1 error of the 28 pair tables (sum of absolute errors of shares): by one joint model of all forms, where
  every record answers a pair of questions, or three of them; pair by pair (moved to the simplex); and of two others
  under the same bound: the budget split over the attributes, with the joint model, and a baseline after CALM;
- the coverage of the pair tables' 95 % intervals, pair by pair and of the model: the mean over all cells;
- the accuracy of the income classifier, a tree learned from the pairs: on all 48 842 records, whose answers it was
  learned from, and on the 16 281 of the test split, learned from the answers of the other 32 561.

The baseline is CALM (Zhang et al. 2018) for all pairs, a little stronger than published: every pair is a group of its
own that answers by generalised randomized response or unary encoding, whichever has the smaller variance; the tables
are moved to the simplex and made to agree on what they share, twenty times in turn, where the paper does it once. The
paper also weighs how many attributes a table should have; here it is given the pairs that are asked for.

"coarse" has the values of ``datasets.discretized`` (3 888 cells), "fine" more of them (20 480 cells).
"""

from __future__ import annotations

import argparse
import math
import warnings
from itertools import combinations
from typing import Any

import numpy as np

import sfumato as sf
from sfumato.datasets import discretized, load
from sfumato.evidence.simplex import project

NAMES = ("age", "education", "marital", "occupation", "sex", "relationship", "hours", "income")
PAIRS = list(combinations(NAMES, 2))
COLUMNS = (
    "pairs, model",
    "triples, model",
    "pairs alone",
    "split, model",
    "CALM-like",
    "coverage alone",
    "coverage model",
    "income, all",
    "income, test",
)

FINE = sf.Schema(
    {
        "age": sf.Ordinal(("to 24", "25-34", "35-44", "45-54", "over 54")),
        "education": sf.Ordinal(("less", "school", "college", "degree")),
        "marital": sf.Categorical(("married", "never", "divorced", "other")),
        "occupation": sf.Categorical(("managing", "office", "manual", "other")),
        "sex": sf.Categorical(("female", "male")),
        "relationship": sf.Categorical(("spouse", "child", "none", "other")),
        "hours": sf.Ordinal(("to 34", "35-40", "41-49", "over 49")),
        "income": sf.Categorical(("<=50K", ">50K")),
    }
)
_OFFICE = ("Tech-support", "Sales", "Adm-clerical")
_MANUAL = ("Craft-repair", "Transport-moving", "Machine-op-inspct", "Handlers-cleaners", "Farming-fishing")


def fine(split: str | None = None) -> Any:
    """Adult with the values of ``FINE``."""
    raw = load("adult", split=split)

    def told(name: str, *groups: tuple[str, ...]) -> Any:
        column = np.array(raw.column(name).to_pylist(), dtype=object)
        return np.select([np.isin(column, own) for own in groups], range(len(groups)), default=len(groups))

    def cut(name: str, *at: int) -> Any:
        return np.digitize(np.asarray(raw.column(name).to_numpy(), dtype=float), at)

    codes = {
        "age": cut("age", 25, 35, 45, 55),
        "education": cut("education-num", 9, 10, 13),
        "marital": told(
            "marital-status",
            ("Married-civ-spouse", "Married-AF-spouse"),
            ("Never-married",),
            ("Divorced", "Separated"),
        ),
        "occupation": told("occupation", ("Exec-managerial", "Prof-specialty"), _OFFICE, _MANUAL),
        "sex": told("sex", ("Female",)),
        "relationship": told("relationship", ("Husband", "Wife"), ("Own-child",), ("Not-in-family",)),
        "hours": cut("hours-per-week", 35, 41, 50),
        "income": told("income", ("<=50K",)),
    }
    return FINE.decode(codes)


def coarse(split: str | None = None) -> Any:
    """Adult as ``datasets.discretized`` has it."""
    return discretized.adult(split).select(list(NAMES))


GRAINS = {"fine": (FINE, fine), "coarse": (discretized.ADULT.select(NAMES), coarse)}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--grain", choices=GRAINS, default="fine")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args(arguments)
    schema, read = GRAINS[options.grain]
    whole, train, test = read(), read("train"), read("test")
    n, exact = whole.num_rows, sf.evidence(whole, schema)
    truth = {pair: exact.counts(pair).value / n for pair in PAIRS}
    codes = schema.encode(whole)
    print("| epsilon | draws | " + " | ".join(COLUMNS) + " |")
    print("|---|---|" + "---|" * len(COLUMNS))
    for epsilon in (1, 2, 4):
        rows = []
        for draw in range(options.first, options.first + options.draws):
            errors = study(whole, schema, truth, codes, epsilon, draw)
            rows.append([*errors, held_out(train, test, schema, epsilon, draw)])
            print(f"<!-- {epsilon} {draw}: " + " ".join(f"{value:.4f}" for value in rows[-1]) + " -->", flush=True)
        means = " | ".join(f"{value:.4f}" for value in np.mean(rows, axis=0))
        print(f"| {epsilon} | {options.draws} | {means} |", flush=True)


def modelled(table: Any, schema: Any, gamma: float, ask: int, draw: int) -> tuple[Any, Any]:
    """A release of forms, and its joint model."""
    release = sf.randomize(table, sf.Forms.for_gamma(schema, gamma, ask), rng=sf.experiment(9000 + draw))
    return release, sf.evidence(release, method="model", target="income")


def study(table: Any, schema: Any, truth: Any, codes: Any, epsilon: float, draw: int) -> list[float]:
    n, gamma = table.num_rows, math.exp(epsilon)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release, model = modelled(table, schema, gamma, 2, draw)
        alone, triples = sf.evidence(release), modelled(table, schema, gamma, 3, draw)[1]
        split = sf.Scheme.for_gamma(schema, gamma ** (1 / len(schema)))
        other = sf.evidence(sf.randomize(table, split, rng=sf.experiment(9000 + draw)), method="model")
        income = sf.learn.DecisionTree().fit(model, target="income").score(table)
    own = {pair: alone.counts(pair, quiet=True) for pair in PAIRS}
    told = {pair: model.counts(pair) for pair in PAIRS}
    return [
        _error({pair: one.value / n for pair, one in told.items()}, truth),
        _error({pair: triples.shares(pair) for pair in PAIRS}, truth),
        _error({pair: project(one.value / n, 1.0) for pair, one in own.items()}, truth),
        _error({pair: other.shares(pair) for pair in PAIRS}, truth),
        _error(calm(codes, schema, gamma, np.random.default_rng([9000, draw])), truth),
        _coverage(own, truth, n),
        _coverage(told, truth, n),
        float(income),
    ]


def held_out(train: Any, test: Any, schema: Any, epsilon: float, draw: int) -> float:
    """The accuracy of a tree on records that it was not learned from."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = modelled(train, schema, math.exp(epsilon), 2, 500 + draw)[1]
        return float(sf.learn.DecisionTree().fit(model, target="income").score(test))


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
