"""How often intervals of conditional probabilities cover the truth, also at rare parents.

Run it:  python -m benchmarks.bayesnet_coverage [replications]

Every line is one setting; each of its probabilities is a cell, and the least and the greatest coverage of a cell are
shown for each kind of interval, beside the mean. A cell of 2000 replications is known to +- .005.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato import channels as c
from sfumato.channels import Channel
from sfumato.errors import SfumatoWarning
from sfumato.learn.bayesnet.parameters import fit_cpt
from sfumato.randomness import GeneratorSource

METHODS = ("delta", "fieller", "score")
#: Four configurations of two binary parents, the rarest with 3 % of the records; three values.
RARE = np.array([[0.03, 0.07], [0.3, 0.6]])[..., None] * np.array(
    [[[0.05, 0.25, 0.7], [0.3, 0.3, 0.4]], [[0.5, 0.1, 0.4], [0.9, 0.08, 0.02]]]
)
#: One parent of three values, the rarest with 4 %; two values.
TERNARY = np.array([0.04, 0.36, 0.6])[:, None] * np.array([[0.2, 0.8], [0.55, 0.45], [0.93, 0.07]])

Group = tuple[tuple[str, ...], Channel]


def settings() -> Iterator[tuple[str, np.ndarray, list[Group], int, str]]:
    """What is tried: a name, the true joint table (node last), the channels, N, and the prior."""
    for p in (0.0, 0.1, 0.2, 0.3):
        for n in (2000, 10_000, 50_000):
            yield f"rare parents, p = {p}", RARE, _apart(RARE, p), n, "ml"
    for n in (2000, 10_000):
        yield "three-valued parent, p = 0.2", TERNARY, _apart(TERNARY, 0.2), n, "ml"
        yield "three-valued parent, p = 0.2, MAP (bdeu)", TERNARY, _apart(TERNARY, 0.2), n, "bdeu"
        skew = c.matrix(np.array([[0.9, 0.1, 0.0], [0.25, 0.7, 0.05], [0.05, 0.2, 0.75]]))
        yield "asymmetric channels", TERNARY, [(("x0",), skew), (("y",), c.binary(0.05, 0.3))], n, "ml"
        together: list[Group] = [(("x0", "y"), c.symmetric((3, 2), 0.4))]
        yield "parent and node together, p = 0.4", TERNARY, together, n, "ml"
        yield "only the parent randomized, p = 0.2", TERNARY, [(("x0",), c.symmetric(3, 0.2))], n, "ml"


def _apart(joint: np.ndarray, p: float) -> list[Group]:
    return [((name,), c.symmetric(size, p)) for name, size in zip(_names(joint), joint.shape, strict=True)]


def _names(joint: np.ndarray) -> list[str]:
    return [*(f"x{i}" for i in range(joint.ndim - 1)), "y"]


def coverage(
    joint: np.ndarray, groups: Sequence[Group], n: int, prior: str, runs: int, seed: int = 1
) -> dict[str, np.ndarray]:
    """The share of replications in which each probability lies within its limits."""
    rng = np.random.default_rng(seed)
    names = _names(joint)
    schema = sf.Schema({name: sf.Categorical(tuple(range(k))) for name, k in zip(names, joint.shape, strict=True)})
    scheme = sf.Scheme(schema, {who[0] if len(who) == 1 else who: channel for who, channel in groups})
    truth = joint / joint.sum(-1, keepdims=True)
    hits = {method: np.zeros(joint.shape) for method in METHODS}
    for _ in range(runs):
        cells = np.unravel_index(rng.choice(joint.size, n, p=joint.reshape(-1) / joint.sum()), joint.shape)
        rows = pa.table(dict(zip(names, cells, strict=True)))
        found = sf.evidence(sf.randomize(rows, scheme, rng=GeneratorSource(rng)))
        cpt = fit_cpt(found.counts(names, quiet=True), prior)
        for method in METHODS:
            low, high = cpt.interval(method=method)
            hits[method] += (low <= truth) & (truth <= high)
    return {method: found / runs for method, found in hits.items()}


def main(runs: int = 2000) -> None:
    """Print the table."""
    warnings.simplefilter("ignore", SfumatoWarning)
    print(f"{runs} replications; least - greatest cell (mean)")
    print(f"{'':42s} {'N':>6s}" + "".join(f"{method:>22s}" for method in METHODS))
    for name, joint, groups, n, prior in settings():
        found = coverage(joint, groups, n, prior, runs)
        cells = (f" {v.min():.3f} - {v.max():.3f} ({v.mean():.3f})" for v in found.values())
        print(f"{name:42s} {n:6d}" + "".join(f"{cell:>22s}" for cell in cells), flush=True)


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:2]))
