"""Learning: the joint model's fit, rules over a million transactions, and the pocket collapsed to cells."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import Any

import numpy as np

import sfumato as sf
from sfumato.datasets import discretized as dd
from sfumato.evidence.model.joint import ModelEvidence
from sfumato.learn.linear.pocket import expand, pocket
from sfumato.learn.rules import AssociationRules
from sfumato.learn.weighted_cells import Encoding
from sfumato.papers.ma06 import lenses

from .harness import Case, benchmark


@benchmark
def model() -> Iterator[Case]:
    """The joint model of Adult's eleven attributes, 46 656 cells, one copy and thirty."""
    import pyarrow as pa

    schema = dd.ADULT
    scheme = sf.Scheme(schema, {name: sf.channels.symmetric(schema[name].size, 0.3) for name in schema})
    one = sf.randomize(dd.adult("train"), scheme, rng=sf.experiment(1))
    rows = pa.concat_tables([dd.adult("train")] * 30).combine_chunks()
    many = sf.randomize(rows, scheme, rng=sf.experiment(1))
    for release in (one, many):
        sf.evidence(release).released_counts(list(schema.names))  # counting is not what is timed
    yield Case("joint model, 11 attributes, N = 32 561", lambda: ModelEvidence(one, tau=0.3), goal=1.5, repeat=3)
    yield Case(
        "joint model, 11 attributes, N = 976 830",
        ours=lambda: ModelEvidence(many, tau=0.3),
        reference=lambda: ModelEvidence(one, tau=0.3),
        against="N = 32 561",
        goal=2,
        repeat=3,
    )


@benchmark
def rules() -> Iterator[Case]:
    """A million randomized transactions of thirty items, against mlxtend's apriori on the raw table."""
    rng = np.random.default_rng(1)
    n, names = 1_000_000, [f"i{k:02d}" for k in range(30)]
    kind = rng.integers(0, 6, n)
    raw = {name: rng.random(n) < np.where(kind == k % 6, 0.6, 0.08 + 0.004 * k) for k, name in enumerate(names)}
    schema = sf.Schema({name: sf.Categorical(("absent", "present")) for name in names})
    scheme = sf.Scheme(schema, {tuple(names): sf.channels.mask(0.1)})
    release = sf.randomize(schema.decode({k: v.astype(int) for k, v in raw.items()}), scheme, rng=sf.experiment(1))

    def ours() -> Any:
        return AssociationRules(min_support=0.03).fit(release).itemsets_

    if importlib.util.find_spec("mlxtend") is None:
        yield Case("rules, 10^6 transactions, 30 items (mlxtend is missing)", ours, goal=10, repeat=1)
        return
    import pandas as pd
    from mlxtend.frequent_patterns import apriori

    frame = pd.DataFrame(raw)
    yield Case(
        "rules, 10^6 randomized transactions, 30 items",
        ours=ours,
        reference=lambda: apriori(frame, min_support=0.03),
        against="mlxtend on raw",
        goal=1,
        repeat=1,
    )


@benchmark
def collapsed() -> Iterator[Case]:
    """The pocket on L weighted cells against the paper's N·L posterior-weighted samples (Lenses, N = 6000, L = 48).

    A hundred passes over the cells against ten over the samples, after which both have the same cost.
    """
    release = sf.randomize(lenses.sample(0), lenses.scheme(0.2), rng=sf.experiment(1))
    found = ModelEvidence(release, tau=1.0)
    P = np.ones((1, 1))
    for name in found.names:
        P = np.kron(P, release.scheme[name].matrix)
    posterior = found.theta[:, None] * P / (found.theta @ P)
    codes = np.ravel_multi_index([release.arrow().column(n).to_numpy() for n in found.names], found.joint.shape)
    grid = np.stack(np.unravel_index(np.arange(found.theta.size), found.joint.shape), axis=1)[:, :-1]
    X = np.c_[Encoding(found.schema, found.names[:-1])(list(grid.T)), np.ones(found.theta.size)]
    sign = np.where(np.arange(found.theta.size) % 2 == 1, 1.0, -1.0)
    weights = found.posterior_counts()

    def small() -> float:
        w = pocket(X, sign, weights, np.random.default_rng(1), steps=100 * len(X))
        return float(weights[(X @ w > 0) != (sign > 0)].sum())

    def paper() -> float:
        big, which, heavy = expand(codes, posterior, X)
        w = pocket(big, sign[which], heavy, np.random.default_rng(1), steps=10 * len(big))
        return float(weights[(X @ w > 0) != (sign > 0)].sum())

    yield Case(
        "pocket, collapsed to cells",
        ours=small,
        reference=paper,
        against="N·L samples",
        goal=1 / 500,
        repeat=1,
    )
