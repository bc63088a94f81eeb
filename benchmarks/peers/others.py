"""Ordered values, means, pair tables, deconvolution, item sets, networks and classifiers beside their peers."""

from __future__ import annotations

import math
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import sfumato as sf
from sfumato import channels as c

from .. import channels_by_target, ordered_values, square_wave
from ..harness import measure
from . import pair_tables
from .installed import PeerError, ask
from .rows import Row

_GAMMA = math.e


def compare(fast: bool = False) -> Iterator[Row]:
    for part in (ordered, means, pairs, deconvolution, item_sets, classifiers):
        yield from part(fast)
    if not fast:
        yield network()


def ordered(fast: bool) -> Iterator[Row]:
    """The square wave with smoothed EM, written here from its paper: the Wasserstein distance."""
    for k in (32, 100):
        found = [
            ordered_values.compare(k, _GAMMA, truth, 2 if fast else 8, [7, k, number])
            for number, truth in enumerate(ordered_values.shapes(k).values())
        ]
        theirs, ours = (math.exp(statistics.mean(math.log(one[side][0]) for one in found)) for side in (0, 1))
        counts = np.bincount(c.windows(k, _GAMMA).randomize(np.arange(10_000) % k), minlength=c.windows(k, _GAMMA).m)
        P, channel = square_wave.matrix(k, _GAMMA), c.windows(k, _GAMMA)
        seen = np.random.default_rng(0).multinomial(10_000, P.mean(axis=0))
        yield Row(
            f"{k} ordered values, 10,000 records",
            "square wave + EMS",
            ours=_median(lambda counts=counts, channel=channel: ordered_values.smooth(counts, channel)),
            theirs=_median(lambda seen=seen, P=P: square_wave.smoothed_em(P, seen, _GAMMA)),
            error=1000 * ours,
            their_error=1000 * theirs,
            note="error: Wasserstein, thousandths of the range; time: estimating",
        )


def means(fast: bool) -> Iterator[Row]:
    """The noise variance of the worst value of a number in [-1, 1]."""
    x = np.linspace(-1, 1, 2001)
    for epsilon in (0.5, 1.0, 2.0, 4.0):
        ours = float(channels_by_target.average(epsilon, x).max())
        for way in (channels_by_target.duchi, channels_by_target.piecewise, channels_by_target.hybrid):
            theirs = float(way(epsilon, x).max())
            yield Row(f"a mean at epsilon {epsilon:g}, worst value", way.__name__, error=ours, their_error=theirs)


def pairs(fast: bool) -> Iterator[Row]:
    """All tables of two attributes at one epsilon for the whole person, after CALM (Zhang et al. 2018)."""
    ours, theirs, spread = pair_tables.compare(runs=3 if fast else 12)
    yield Row(
        "all 28 tables of two of eight attributes, epsilon 1",
        "CALM-like",
        error=ours,
        their_error=theirs,
        their_spread=spread,
        note="error: mean total variation, 100,000 records; every person answers one pair",
    )


def deconvolution(fast: bool) -> Iterator[Row]:
    """Two humps under gaussian noise, 20 000 records, 60 cells: how much mass is misplaced."""
    rng, sd, cells = np.random.default_rng(5), 0.1, 60
    n = 20_000
    x = np.clip(np.where(rng.random(n) < 0.4, rng.normal(0.3, 0.06, n), rng.normal(0.7, 0.08, n)), 0, 1)
    z = x + rng.normal(0, sd, n)
    noise = c.gaussian(sd)
    edges = np.linspace(0, 1, cells + 1)
    truth = np.histogram(x, edges)[0] / n

    def misplaced(mass: np.ndarray) -> float:
        return float(np.abs(mass - truth).sum() / 2)

    def once() -> np.ndarray:
        return sf.density(z, noise, support=(0, 1), bins=cells).mass

    seconds, error = _median(once), misplaced(once())
    far = 4 * sd
    outer = np.linspace(-far, 1 + far, cells + 2 * round(far * cells) + 1)
    counts = np.histogram(z, outer)[0].astype(float)
    matrix = noise.discretize(edges, np.concatenate(([-np.inf], outer[1:-1], [np.inf])))
    middles = np.arange(-round(far * cells), round(far * cells) + 1) / cells
    kernel = np.exp(-0.5 * (middles / sd) ** 2)
    for peer in ("scikit-image", "PyUnfold"):
        task = "a density under gaussian noise, 20,000 records"
        try:
            given = {"counts": counts, "matrix": np.asarray(matrix.matrix), "kernel": kernel / kernel.sum()}
            answer = ask(peer, "unfold", given)
        except PeerError as problem:
            yield Row(task, peer, ours=seconds, error=error, note=f"fails: {problem}")
            continue
        (found,) = answer.found
        inside = found[round(far * cells) :][:cells] if len(found) > cells else found
        note = "error: misplaced mass; ours has a band and finds its own smoothness"
        yield Row(task, peer, seconds, answer.seconds, error, misplaced(inside / inside.sum()), note=note)


def item_sets(fast: bool) -> Iterator[Row]:
    """Ours from randomized baskets, theirs from the raw ones."""
    rng, n, items = np.random.default_rng(1), 100_000, 30
    kind = rng.integers(0, 6, n)
    raw = np.stack([rng.random(n) < np.where(kind == k % 6, 0.6, 0.08 + 0.004 * k) for k in range(items)], axis=1)
    names = [f"i{k:02d}" for k in range(items)]
    schema = sf.Schema({name: sf.Categorical(("absent", "present")) for name in names})
    release = sf.randomize(
        schema.decode({name: raw[:, k].astype(int) for k, name in enumerate(names)}),
        sf.Scheme(schema, {tuple(names): c.mask(0.1)}),
    )
    seconds = _median(lambda: sf.learn.AssociationRules(min_support=0.03).fit(release).itemsets_)
    task = "item sets of 100,000 baskets of 30 items"
    try:
        answer = ask("efficient-apriori", "itemsets", {"items": raw[: 10_000 if fast else n]}, support=0.03)
        scale = n / answer.records
        yield Row(task, "efficient-apriori", seconds, answer.seconds * scale, note="theirs on raw baskets")
    except PeerError as problem:
        yield Row(task, "efficient-apriori", seconds, note=f"fails: {problem}")
    try:
        import pandas as pd
        from mlxtend.frequent_patterns import apriori
    except ImportError:
        return
    frame = pd.DataFrame(raw, columns=names)
    yield Row(
        task, "mlxtend", seconds, _median(lambda: apriori(frame, min_support=0.03), 1), note="theirs on raw baskets"
    )


def classifiers(fast: bool) -> Iterator[Row]:
    """Ours on exact and on randomized counts of Adult, scikit-learn's on the raw rows: error rate on the test rows."""
    import pandas as pd
    from sklearn.linear_model import LogisticRegression
    from sklearn.tree import DecisionTreeClassifier

    from sfumato.datasets import discretized as dd

    train, test = dd.adult("train"), dd.adult("test")
    frames = [pd.get_dummies(part.to_pandas().drop(columns="income")) for part in (train, test)]
    y, told = (part.column("income").to_pylist() for part in (train, test))
    scheme = sf.Scheme(dd.ADULT, {name: c.symmetric(dd.ADULT[name].size, 0.2) for name in dd.ADULT})
    release = sf.randomize(train, scheme)
    made: dict[str, tuple[Any, Any]] = {
        "DecisionTree": (sf.learn.DecisionTree, lambda: DecisionTreeClassifier(min_samples_leaf=50)),
        "LinearClassifier": (
            lambda: sf.learn.LinearClassifier(loss="logistic"),
            lambda: LogisticRegression(max_iter=500),
        ),
    }
    for name, (ours, theirs) in made.items():
        fitted = theirs().fit(frames[0], y)
        wrong = 1 - float(fitted.score(frames[1].reindex(columns=frames[0].columns, fill_value=False), told))
        their_seconds = _median(lambda theirs=theirs: theirs().fit(frames[0], y), 3)
        for source, evidence in (("raw", sf.evidence(train, dd.ADULT)), ("p = .2", sf.evidence(release))):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                seconds = _median(lambda ours=ours, evidence=evidence: ours().fit(evidence, target="income"), 1)
                error = 1 - float(ours().fit(evidence, target="income").score(test, told))
            yield Row(
                f"{name} of Adult, 32,561 records",
                f"scikit-learn, ours {source}",
                seconds,
                their_seconds,
                error,
                wrong,
                note="error rate on the test rows",
            )


def network() -> Row:
    """The hill-climb of ``benchmarks.bayesnet``, against pgmpy."""
    from .. import bayesnet

    result = measure("bayesnet.structure", next(iter(bayesnet.structure())))
    task = "a network of 37 attributes, 10^6 records"
    return Row(task, "pgmpy", result.ours, result.reference, note="theirs on raw rows")


def _median(action: Callable[[], object], repeats: int = 3) -> float:
    times = []
    for _ in range(repeats):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return statistics.median(times)
