"""Studies behind docs/measured/learn.md: trees against the majority class, and how often estimated scores cover.

python -m benchmarks.learn_studies accuracy wisconsin equal .3 20
python -m benchmarks.learn_studies scores mushroom unequal .3 60
python -m benchmarks.learn_studies counts 20

``counts`` takes the tables of ``public_tables`` that nothing was set on: how far counts of one and two attributes are
from the table's own, by the joint model with one penalty and with one for each pair, and by unbiased counts.

Data: adult, wisconsin, mushroom, or network-K-N (a random network with seed K, N records). Schemes: equal (every
attribute at p), unequal (each between .05 and p), asymmetric (random matrices with up to p off the diagonal), joint
(two attributes together), class (an attribute and the class together).
"""

from __future__ import annotations

import sys
import warnings
from itertools import combinations
from typing import Any

import numpy as np

import sfumato as sf
from benchmarks import public_tables
from sfumato.datasets import discretized as dd
from sfumato.learn import DecisionTree
from sfumato.learn.bayesnet.published_networks import random_network

c = sf.channels
HELD_OUT = 4  # a quarter
KINDS: dict[str, dict[str, Any]] = {
    "one penalty": {"method": "model", "tau": 0.3},
    "a penalty for each pair": {"method": "model"},
    "unbiased": {"method": "moment"},
}


def data(name: str) -> tuple[Any, Any, sf.Schema, str]:
    """Records to learn from, clean records to test on, schema and target."""
    if name == "adult":
        return dd.adult("train"), dd.adult("test"), dd.ADULT, "income"
    if name in ("wisconsin", "mushroom"):
        rows = getattr(dd, name)()
        return rows, rows, dd.WISCONSIN if name == "wisconsin" else dd.MUSHROOM, "class"
    seed, records = (int(part) for part in name.split("-")[1:])
    net = random_network(int(np.random.default_rng([7, seed]).integers(6, 10)), rng=seed)
    target = max(net.schema_.names, key=lambda node: len(net.parents_[node]))
    return net.sample(records, rng=seed + 1), net.sample(20_000, rng=seed + 2), net.schema_, target


def scheme(schema: sf.Schema, kind: str, p: float, seed: int, target: str) -> sf.Scheme:
    """A scheme of the named kind."""
    rng = np.random.default_rng(seed)
    channels: dict[Any, Any] = {
        name: c.symmetric(schema[name].size, float(rng.uniform(0.05, p)) if kind == "unequal" else p) for name in schema
    }
    if kind == "asymmetric":
        channels = {name: c.matrix(_matrix(schema[name].size, p, rng)) for name in schema}
    if kind in ("joint", "class"):
        others = [name for name in schema if name != target]
        drawn = rng.permutation(others)[:2]
        pair = tuple(sorted((drawn[0], target if kind == "class" else drawn[1]), key=schema.names.index))
        channels = {name: channel for name, channel in channels.items() if name not in pair}
        channels[pair] = c.symmetric(tuple(schema[name].size for name in pair), p)
    return sf.Scheme(schema, channels)


def _matrix(size: int, p: float, rng: np.random.Generator) -> Any:
    P = np.zeros((size, size))
    for row in range(size):
        changed = rng.uniform(0.02, p)
        P[row] = np.insert(rng.dirichlet(np.ones(size - 1)) * changed, row, 1 - changed)
    return P


def accuracy(name: str, kind: str, p: float, runs: int) -> str:
    """The default tree on clean test records, over runs."""
    train, test, schema, target = data(name)
    truth = np.array(test.column(target).to_pylist())
    majority = max(float(np.mean(truth == label)) for label in set(truth))
    found, alone = [], 0
    for seed in range(runs):
        release = sf.randomize(train, scheme(schema, kind, p, seed, target), rng=sf.experiment(5000 + seed))
        tree = DecisionTree().fit(release, target=target)
        alone += getattr(tree.evidence_, "apart", False)
        found.append(tree.score(test))
    return (
        f"{name} {kind} p={p:g}: mean {np.mean(found):.4f}, worst {min(found):.4f}, majority {majority:.4f}, "
        f"below it {np.mean(np.array(found) < majority - 1e-9):.2f}, nothing foretold {alone} of {runs}"
    )


def scores(name: str, kind: str, p: float, runs: int) -> str:
    """Estimated scores of a tree on a randomized quarter of the records, against its accuracy on all clean ones."""
    train, _, schema, target = data(name)
    error, sd = [], []
    for seed in range(runs):
        order = np.random.default_rng([9, seed]).permutation(len(train))
        cut = len(train) // HELD_OUT
        used = scheme(schema, kind, p, seed, target)
        kept, held = train.take(order[cut:]), train.take(order[:cut])
        tree = DecisionTree().fit(sf.randomize(kept, used, rng=sf.experiment(seed + 5)), target=target)
        found = tree.estimate_score(sf.randomize(held, used, rng=sf.experiment(seed + 900)))
        error.append(found.accuracy - tree.score(train))
        sd.append(found.sd)
    z = np.array(error) / np.array(sd)
    return (
        f"{name} {kind} p={p:g}: {np.mean(np.abs(z) < 1.96):.3f} of {runs} intervals cover, "
        f"bias {np.mean(error):+.4f}, root mean square error {np.sqrt(np.mean(np.square(error))):.4f}, "
        f"mean standard error {np.mean(sd):.4f}"
    )


def counts(runs: int) -> str:
    """Root mean square errors of counts, over all tables of one attribute, and of two; a row for each gamma."""
    rows = []
    for name in (name for name in public_tables.TABLES if name not in public_tables.CHOSEN_ON):
        records, schema, _ = public_tables.table(name)
        exact = sf.evidence(records, schema)
        asked = [*combinations(schema, 1), *combinations(schema, 2)]
        truth = {each: exact.counts(each).value for each in asked}
        for gamma in (3, 9, 30):
            squares: dict[tuple[str, int], list[float]] = {}
            for seed in range(runs):
                release = sf.randomize(records, sf.Scheme.for_gamma(schema, gamma), rng=sf.experiment(seed))
                for kind, options in KINDS.items():
                    model = sf.evidence(release, **options)
                    for each in asked:
                        off = model.counts(each, quiet=True).value - truth[each]
                        squares.setdefault((kind, len(each)), []).append(float(np.mean(off**2)))
            found = (f"{np.sqrt(np.mean(squares[kind, size])):.1f}" for size in (1, 2) for kind in KINDS)
            rows.append(f"| {name}, {exact.n:,} | {gamma} | " + " | ".join(found) + " |")
            print(rows[-1], flush=True)
    return f"{len(rows)} rows"


def main(words: list[str]) -> int:
    """Run one study and print a line."""
    studies = {"accuracy": accuracy, "scores": scores}
    of_counts = len(words) == 2 and words[0] == "counts"
    if not of_counts and (len(words) != 5 or words[0] not in studies):
        sys.stderr.write(__doc__ or "")
        return 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if of_counts:
            sys.stdout.write(counts(int(words[1])) + "\n")
            return 0
        sys.stdout.write(studies[words[0]](words[1], words[2], float(words[3]), int(words[4])) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
