"""Randomize a nominal attribute and estimate its shares: seconds for a million records, and the error at equal epsilon.

The error is n times the mean squared error of a share, from 2000 records that follow Zipf's law. Some peers set shares
below zero to zero and rescale the others, which helps when records are few; so this is done to all alike, ours
included. All peers but pram handle a record at a time. They are timed on as many records as fit the budget; a million
take in proportion. Seconds are of the processor: other work on the machine does not stretch them. numba is loaded and
has compiled before any clock starts, ours and theirs.
"""

from __future__ import annotations

import contextlib
import math
import time
import warnings
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato import channels as c

from .installed import PeerError, ask
from .rows import Row

RECORDS, EPSILON = 1_000_000, 1.0
SIZES = (16, 128, 1 << 14)
SMALL = 2_000  # records of one repetition of theirs
MECHANISMS = {
    "multi-freq-ldpy": ("GRR", "OUE", "OLH", "SS"),
    "pure-ldp": ("GRR", "OUE", "OLH", "HR"),
    "ldp-toolbox": ("GRR", "OUE", "OLH", "SS"),
    "qif": ("GRR",),
    "opendp": ("GRR",),
    "diffprivlib": ("GRR",),
    "pram": ("PRAM",),
}
NOTES = {
    "qif": "maximum likelihood, which cannot be negative",
    "diffprivlib": "its exponential mechanism, which spends half of epsilon",
    "pram": "changes values by its own rule, not epsilon, and estimates nothing",
}
_QUADRATIC = ("diffprivlib", "qif")  # list or hold k^2 numbers, or more: not tried for very many values


def compare(fast: bool = False) -> Iterator[Row]:
    """A row for each peer, its mechanisms and the numbers of values."""
    for k in SIZES[: 2 if fast else 3]:
        values = _values(k, RECORDS, 0)
        seconds, error = ours(k, values, 1 if fast else 5)
        task = f"shares of {k} values"
        by_hand, their_error = plain(k, values, 1 if fast else 5)
        note = "a line of numpy for all records at once: not secure, not shuffled, no intervals"
        yield Row(task, "numpy GRR", seconds, by_hand, error, their_error, note=note)
        for peer, mechanisms in MECHANISMS.items():
            if peer in _QUADRATIC and k > 1000:
                continue
            for mechanism in mechanisms[: 1 if fast else None]:
                yield _theirs(task, peer, mechanism, k, values, seconds, error, 1.0 if fast else 4.0)


def ours(k: int, values: np.ndarray, repeats: int) -> tuple[float, float]:
    """From an Arrow column of values to shares with intervals, and n times the mean squared error of few records."""
    schema = sf.Schema({"x": sf.Categorical(tuple(range(k)))})
    scheme = sf.Scheme(schema, {"x": c.subset(k, math.exp(EPSILON))})
    table, small = pa.table({"x": values}), _values(k, SMALL, 1)
    few, truth = pa.table({"x": small}), np.bincount(small, minlength=k) / SMALL
    times, errors = [], []
    with contextlib.suppress(ImportError):
        import numba  # noqa: F401
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # counts below zero
        for _ in range(repeats + 1):
            start = time.process_time()
            sf.evidence(sf.randomize(table, scheme)).counts(["x"]).interval()
            times.append(time.process_time() - start)
        for _ in range(200 * repeats // 5 + 10):
            one = sf.evidence(sf.randomize(few, scheme)).counts(["x"])
            errors.append(((clipped(np.ravel(one.value) / SMALL) - truth) ** 2).mean())
    return float(np.median(times[1:])), float(np.mean(errors) * SMALL)


def plain(k: int, values: np.ndarray, repeats: int) -> tuple[float, float]:
    """Randomized response in numpy, as one would write it for an experiment."""
    rng, e, small = np.random.default_rng(2), math.exp(EPSILON), _values(k, SMALL, 1)
    truth = np.bincount(small, minlength=k) / SMALL

    def shares(x: np.ndarray) -> np.ndarray:
        kept = rng.random(len(x)) < (e - 1) / (e + k - 1)
        y = np.where(kept, x, rng.integers(0, k, len(x)))
        return (np.bincount(y, minlength=k) / len(x) * (e + k - 1) - 1) / (e - 1)

    times = []
    for _ in range(repeats + 1):
        start = time.process_time()
        shares(values)
        times.append(time.process_time() - start)
    errors = [((clipped(shares(small)) - truth) ** 2).mean() for _ in range(210)]
    return float(np.median(times[1:])), float(np.mean(errors) * SMALL)


def clipped(shares: np.ndarray) -> np.ndarray:
    """No share below zero, and all add up to one."""
    kept = np.maximum(shares, 0)
    return kept / kept.sum()


def _theirs(
    task: str, peer: str, mechanism: str, k: int, values: np.ndarray, seconds: float, error: float, budget: float
) -> Row:
    name = f"{peer} {mechanism}"
    small = _values(k, SMALL, 1)
    try:
        answer = ask(
            peer,
            "shares",
            {"values": values, "small": small},
            k=k,
            epsilon=EPSILON,
            mechanism=mechanism,
            budget=budget,
            repeats=200,
        )
    except PeerError as problem:
        return Row(task, name, ours=seconds, error=error, note=f"fails: {problem}")
    theirs = answer.seconds * len(values) / answer.records
    note = NOTES.get(peer, "")
    if answer.records < len(values):
        note = f"timed on {answer.records:,} records" + (f"; {note}" if note else "")
    if peer == "pram" or not answer.found:
        return Row(task, name, seconds, theirs, error, note=note)
    truth = np.bincount(small, minlength=k) / SMALL
    squares = np.array([((clipped(found) - truth) ** 2).mean() for found in answer.found]) * SMALL
    spread = float(squares.std(ddof=1) / math.sqrt(len(squares))) if len(squares) > 1 else None
    return Row(task, name, seconds, theirs, error, float(squares.mean()), spread, note)


def _values(k: int, n: int, seed: int) -> np.ndarray:
    weights = 1 / np.arange(1, k + 1)
    return np.random.default_rng(seed).choice(k, size=n, p=weights / weights.sum())
