"""Tables of every two attributes under one epsilon for the whole person: ours beside a baseline after CALM.

The baseline (Zhang et al. 2018, for views of two attributes) asks every person about one pair, as one value of their
product, by the best of randomized response and optimized unary encoding; it estimates each table, makes tables that
share an attribute agree on it by weighted means, and takes what is below zero away.
"""

from __future__ import annotations

import math
import warnings
from itertools import combinations

import numpy as np

import sfumato as sf

SIZES = (2, 3, 4, 2, 3, 4, 2, 3)
RECORDS, EPSILON = 100_000, 1.0


def compare(runs: int) -> tuple[float, float, float]:
    """The mean total variation of all tables: ours, the baseline's, and the standard error of the difference."""
    rng = np.random.default_rng(11)
    ours, theirs = [], []
    for _ in range(runs):
        columns = _correlated(rng)
        truth = {pair: _table(columns, pair) for pair in combinations(range(len(SIZES)), 2)}
        ours.append(_distance(_ours(columns), truth))
        theirs.append(_distance(_baseline(columns, rng), truth))
    spread = float(np.std(np.subtract(ours, theirs), ddof=1) / math.sqrt(runs))
    return float(np.mean(ours)), float(np.mean(theirs)), spread


def _correlated(rng: np.random.Generator) -> list[np.ndarray]:
    """Attributes cut from normal scores that share a common part."""
    common = rng.normal(size=RECORDS)
    scores = [0.6 * common + 0.8 * rng.normal(size=RECORDS) for _ in SIZES]
    return [np.searchsorted(np.array([-0.5, 0.3, 1.1])[: k - 1], s) for k, s in zip(SIZES, scores, strict=True)]


def _table(columns: list[np.ndarray], pair: tuple[int, int]) -> np.ndarray:
    a, b = pair
    counts = np.bincount(columns[a] * SIZES[b] + columns[b], minlength=SIZES[a] * SIZES[b])
    return (counts / counts.sum()).reshape(SIZES[a], SIZES[b])


def _distance(found: dict[tuple[int, int], np.ndarray], truth: dict[tuple[int, int], np.ndarray]) -> float:
    return float(np.mean([np.abs(found[pair] - truth[pair]).sum() / 2 for pair in truth]))


def _ours(columns: list[np.ndarray]) -> dict[tuple[int, int], np.ndarray]:
    names = [f"a{i}" for i in range(len(SIZES))]
    schema = sf.Schema({name: sf.Categorical(tuple(range(k))) for name, k in zip(names, SIZES, strict=True)})
    forms = sf.Forms.for_gamma(schema, gamma=math.exp(EPSILON), ask=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = sf.randomize(schema.decode(dict(zip(names, columns, strict=True))), forms)
        evidence = sf.evidence(release, method="model")
        found = {}
        for a, b in combinations(range(len(SIZES)), 2):
            table = np.asarray(evidence.counts([names[a], names[b]]).value)
            found[a, b] = (table / table.sum()).reshape(SIZES[a], SIZES[b])
    return found


def _baseline(columns: list[np.ndarray], rng: np.random.Generator) -> dict[tuple[int, int], np.ndarray]:
    pairs = list(combinations(range(len(SIZES)), 2))
    asked = rng.integers(0, len(pairs), RECORDS)
    found, weight = {}, {}
    for number, (a, b) in enumerate(pairs):
        own = asked == number
        cells = SIZES[a] * SIZES[b]
        values = columns[a][own] * SIZES[b] + columns[b][own]
        found[a, b] = _estimate(values, cells, rng).reshape(SIZES[a], SIZES[b])
        weight[a, b] = own.sum() / cells
    for _ in range(10):
        _agree(found, weight)
        found = {pair: np.maximum(table, 0) / np.maximum(table, 0).sum() for pair, table in found.items()}
    return found


def _estimate(values: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """Shares by randomized response where k < 3 e^epsilon + 2, else by optimized unary encoding."""
    e, n = math.exp(EPSILON), len(values)
    if k < 3 * e + 2:
        keep = rng.random(n) < (e - 1) / (e + k - 1)
        out = np.where(keep, values, rng.integers(0, k, n))
        return (np.bincount(out, minlength=k) / n * (e + k - 1) - 1) / (e - 1)
    true = np.bincount(values, minlength=k)
    ones = rng.binomial(true, 0.5) + rng.binomial(n - true, 1 / (e + 1))
    return (ones / n - 1 / (e + 1)) / (0.5 - 1 / (e + 1))


def _agree(found: dict[tuple[int, int], np.ndarray], weight: dict[tuple[int, int], float]) -> None:
    for attribute, size in enumerate(SIZES):
        held = [pair for pair in found if attribute in pair]
        margins = {pair: found[pair].sum(axis=1 - pair.index(attribute)) for pair in held}
        total = sum(weight[pair] for pair in held)
        mean = sum((weight[pair] / total * margins[pair] for pair in held), np.zeros(size))
        for pair in held:
            shift = (mean - margins[pair]) / found[pair].shape[1 - pair.index(attribute)]
            found[pair] = found[pair] + (shift[:, None] if pair.index(attribute) == 0 else shift)
