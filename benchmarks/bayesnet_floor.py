r"""The fewest wrong links that any method can have: a floor from the Neyman-Pearson lemma.

Run it:  python -m benchmarks.bayesnet_floor

For each true link an oracle knows the whole network, the order, and that this one link is there with the probabilities
it has or not there with the probabilities that make the released records look most alike. Nothing else is
uncertain, so no method does better:

    δ² = 2 N KL(Q₁ || Q₀),        log likelihood ratio ~ N(± δ²/2, δ²)

with Q the law of one *released* record. Its error is weighed by the share π of pairs that are linked:
missing + extra per true link = β + (1 - π)/π α at the threshold log (1 - π)/π, which is the least possible sum.
"test" is a looser oracle that does not know the probabilities of this one link: noncentral chi-square with the
link's degrees of freedom, at the level, common to all pairs of the network, that serves it best.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import log, prod, sqrt

import numpy as np
from scipy.optimize import minimize
from scipy.special import chdtri, log_softmax, ndtr
from scipy.stats import ncx2

from sfumato.evidence.seen import each_axis
from sfumato.learn.bayesnet import BayesianNetwork

from .bayesnet_links import NS, PS, networks

Array = np.ndarray
LEVELS = np.geomspace(1e-6, 0.5, 60)


def joint(net: BayesianNetwork, tables: dict[str, Array], parents: dict[str, tuple[str, ...]]) -> Array:
    """The law of a true record, an axis per node."""
    names = net.schema_.names
    out = np.ones([1] * len(names))
    for node, held in parents.items():
        axes = (*held, node)
        own = tables[node].transpose(np.argsort([names.index(name) for name in axes]))
        out = out * own.reshape([net.schema_[name].size if name in axes else 1 for name in names])
    return np.asarray(out)


def divergence(net: BayesianNetwork, p: float, parent: str, child: str, evaluations: int) -> float:
    """KL(Q₁ || Q₀) of one released record, Q₀ the closest found without the link (closer ones only raise the floor)."""
    names = net.schema_.names
    maps = [(1 - p) * np.eye(k) + p / (k - 1) * (1 - np.eye(k)) for k in net.schema_.sizes(names)]
    less = {n: tuple(h for h in held if (h, n) != (parent, child)) for n, held in net.parents_.items()}
    true = joint(net, {n: cpt.values for n, cpt in net.cpts_.items()}, net.parents_)
    target = each_axis(true, maps)
    shapes = {n: (*net.schema_.sizes(held), net.schema_[n].size) for n, held in less.items()}

    def counts(weight: Array, node: str) -> Array:
        axes = [names.index(name) for name in (*less[node], node)]
        rest = tuple(i for i in range(len(names)) if i not in axes)
        summed = weight.sum(axis=rest)
        return summed.transpose([sorted(axes).index(axis) for axis in axes])

    def unpack(x: Array) -> dict[str, Array]:
        out, at = {}, 0
        for node, shape in shapes.items():
            size = int(np.prod(shape))
            out[node] = log_softmax(x[at : at + size].reshape(shape), axis=-1)
            at += size
        return out

    def loss(x: Array) -> tuple[float, Array]:
        logs = unpack(x)
        law = joint(net, {n: np.exp(v) for n, v in logs.items()}, less)
        released = np.maximum(each_axis(law, maps), 1e-300)
        ratio = target / released
        value = float((target * np.log(np.maximum(ratio, 1e-300))).sum())
        posterior = law * each_axis(ratio, maps)  # symmetric channels: P = Pᵀ
        slope = []
        for node in shapes:
            mine = counts(posterior, node)
            slope.append((mine - mine.sum(-1, keepdims=True) * np.exp(logs[node])).reshape(-1))
        return value, -np.concatenate(slope)

    start = np.concatenate([np.log(np.maximum(counts(true, n), 1e-12)).reshape(-1) for n in shapes])
    first = loss(start)[0]
    if p == 0 or first < 1e-14:
        return first
    scaled = minimize(
        lambda x: tuple(part / first for part in loss(x)), start, jac=True, method="L-BFGS-B",
        options={"maxfun": evaluations, "maxiter": evaluations, "ftol": 1e-7},
    )  # fmt: skip
    return first * min(1.0, max(float(scaled.fun), 0.0))


def floors(kls: Sequence[float], dfs: Sequence[int], pairs: int, n: int) -> tuple[float, float]:
    """Wrong links of the oracle that knows everything, and of the one that tests."""
    odds = (pairs - len(kls)) / len(kls)
    threshold = log(odds) if odds > 0 else -np.inf
    knowing = 0.0
    for kl in kls:
        d2 = max(2 * n * kl, 1e-12)
        if odds > 0:
            missed, extra = (ndtr((sign * threshold - d2 / 2) / sqrt(d2)) for sign in (1, -1))
            knowing += min(float(missed + odds * extra), 1.0, odds)
    tests = np.zeros(len(LEVELS))
    for kl, df in zip(kls, dfs, strict=True):
        tests += ncx2.cdf(chdtri(df, LEVELS), df, max(2 * n * kl, 1e-12))
    return knowing, float((tests + LEVELS * (pairs - len(kls))).min())


def main() -> None:
    """Print one line per network, then both floors by N and p."""
    found: dict[tuple[int, float], list[tuple[float, float]]] = defaultdict(list)
    for name, net in networks().items():
        links = [(held, node) for node, parents in net.parents_.items() for held in parents]
        pairs = len(net.parents_) * (len(net.parents_) - 1) // 2
        size = prod(net.schema_.sizes(net.schema_.names))
        dfs = [(net.schema_[a].size - 1) * (net.schema_[b].size - 1) for a, b in links]
        line = []
        for p in PS:
            kls = [divergence(net, p, a, b, 300 if size < 10_000 else 12) for a, b in links]
            for n in NS:
                found[n, p].append(floors(kls, dfs, pairs, n))
            line.append(f"{p}: {found[10_000, p][-1][0]:.2f} {found[10_000, p][-1][1]:.2f}")
        print(f"{name} ({len(links)} links), N = 10 000, p: knowing, test: {'; '.join(line)}", flush=True)
    for k, what in enumerate(("knowing", "test")):
        print(f"\n| floor, {what} | all | {' | '.join(f'p = {p}' for p in PS)} |\n|---|" + "---|" * (len(PS) + 1))
        for n in NS:
            cells = [float(np.mean([pair[k] for pair in found[n, p]])) for p in PS]
            print(f"| N = {n:,} | {np.mean(cells):.2f} | {' | '.join(f'{cell:.2f}' for cell in cells)} |")
        print(f"all: {np.mean([pair[k] for pairs in found.values() for pair in pairs]):.2f}")


if __name__ == "__main__":
    main()
