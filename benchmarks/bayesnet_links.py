"""Wrong links of each rule over many networks, levels of randomization and sizes.

Run it:  python -m benchmarks.bayesnet_links [--runs 2] [--search k2|climb] [--set reported|development]

Each rule is one rule for all settings: the fixed penalties C* of the BIC, the paper's eta (which varies with p as the
paper has it), and the Wald score. K2 is given the true order; at most 3 parents. The networks of the set
"development" are those on which constants may be chosen; the reported numbers come from the others.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Callable

import numpy as np

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import SfumatoWarning
from sfumato.learn.bayesnet import BayesianNetwork
from sfumato.learn.bayesnet.published_networks import NETWORKS, gallery, random_network
from sfumato.learn.bayesnet.scores import Bayes, Bic, StructureScore, Wald
from sfumato.learn.bayesnet.search import hill_climb, k2
from sfumato.learn.bayesnet.structure import wrong_links
from sfumato.papers.ma06.experiment4 import variable_eta

PS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35)
NS = (2000, 10_000, 50_000)
RULES: dict[str, Callable[[sf.Evidence, float], StructureScore]] = {
    "C* = 1": lambda seen, p: Bic(seen, 1.0),
    "C* = 4": lambda seen, p: Bic(seen, 4.0),
    "C* = 8": lambda seen, p: Bic(seen, 8.0),
    "variable eta": lambda seen, p: Bayes(seen, variable_eta(p)),
    "wald": lambda seen, p: Wald(seen),
}


def networks(which: str = "reported") -> dict[str, BayesianNetwork]:
    """The published networks and twelve random ones; or other random ones to choose constants on."""
    at = {"reported": 9000, "development": 4000}[which]
    out = {name: gallery(name) for name in NETWORKS} if which == "reported" else {}
    out |= {f"binary {i}": random_network(6, at + i) for i in range(4)}
    out |= {f"binary, 9 nodes, {i}": random_network(9, at + 100 + i, links=1.5) for i in range(2)}
    out |= {f"2 to 4 values {i}": random_network(6, at + 200 + i, (2, 4)) for i in range(4)}
    out |= {f"3 values, 8 nodes, {i}": random_network(8, at + 300 + i, (3, 3), links=1.3) for i in range(2)}
    return out


def families(net: BayesianNetwork, p: float, n: int, seed: int) -> sf.Evidence:
    """The tables of n records, every attribute under the symmetric channel with p."""
    scheme = sf.Scheme(net.schema_, {name: c.symmetric(domain.size, p) for name, domain in net.schema_.items()})
    return sf.evidence(sf.randomize(net.sample(n, rng=seed), scheme, rng=sf.experiment(seed + 1)))


def main() -> None:
    """Print one line per network, then the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--search", choices=("k2", "climb"), default="k2")
    parser.add_argument("--set", choices=("reported", "development"), default="reported")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", SfumatoWarning)
    found: dict[str, dict[tuple[int, float], list[tuple[int, int]]]] = defaultdict(lambda: defaultdict(list))
    for i, (name, net) in enumerate(networks(asked.set).items()):
        order = net.schema_.names
        for n in NS:
            for p in PS:
                for run in range(asked.runs):
                    seen = families(net, p, n, 100_000 * i + 1000 * run + int(100 * p))
                    for rule, make in RULES.items():
                        score = make(seen, p)
                        held = k2(score, order, 3) if asked.search == "k2" else hill_climb(score, order, 3)
                        found[rule][n, p].append(wrong_links(held, net.parents_))
        print(f"{name}: " + ", ".join(f"{rule} {_mean(cells):.2f}" for rule, cells in found.items()), flush=True)
    _table("N", NS, found, lambda key, n: key[0] == n)
    _table("p", PS, found, lambda key, p: key[1] == p)
    for n in NS:
        part = {rule: {key: pairs for key, pairs in cells.items() if key[0] == n} for rule, cells in found.items()}
        _table(f"N = {n:,}, p", PS, part, lambda key, p: key[1] == p)


Found = dict[str, dict[tuple[int, float], list[tuple[int, int]]]]


def _mean(cells: dict[tuple[int, float], list[tuple[int, int]]]) -> float:
    return float(np.mean([sum(pair) for pairs in cells.values() for pair in pairs]))


def _table(
    what: str, values: tuple[float, ...], found: Found, belongs: Callable[[tuple[int, float], float], bool]
) -> None:
    print(f"\n| {what} | all | {' | '.join(f'{value:,}' for value in values)} |")
    print("|---|" + "---|" * (len(values) + 1))
    for rule, cells in found.items():
        every = np.mean([pair for pairs in cells.values() for pair in pairs], axis=0)
        row = [f"{every[0]:.2f} + {every[1]:.2f} = {every.sum():.2f}"]
        for value in values:
            mine = [pair for key, pairs in cells.items() if belongs(key, value) for pair in pairs]
            row.append(f"{np.mean(mine, axis=0).sum():.2f}")
        print(f"| {rule} | {' | '.join(row)} |")


if __name__ == "__main__":
    main()
