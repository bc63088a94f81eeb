"""The regret of each rule against early-stopped EM with the best iteration count in hindsight.

    python -m benchmarks.density_regret [--repeats 8,4,2] [--bins 80] [--pairs]

Regret is information loss minus the oracle's, in points, averaged over repeats. Two oracles: EM on the range of z (what
a user without further knowledge runs), and EM on the very cells that auto ended on, which hands the oracle auto's own
choice of support as well.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import defaultdict

import numpy as np

from sfumato.arrays import Array
from sfumato.errors import SfumatoWarning
from sfumato.evidence.density import Density, density

from .density_battery import DEVELOPMENT, HELD_OUT, Mixture, Pair, information_loss

SIZES = (500, 20_000, 1_000_000)
RULES = {
    "auto": {},
    "em, 5-fold cv, one standard error": {"method": "em", "stop": "cv:5"},
    "em, gain in log-likelihood < .3": {"method": "em", "stop": "loglik:0.3"},
    "em, chi-square": {"method": "em", "stop": "chi2:0.01"},
    "as, chi-square": {"method": "as", "stop": "chi2:0.01"},
}
MARKS = np.unique(np.rint(np.geomspace(1, 4000, 90)).astype(int))


def released(pair: Pair, n: int, seed: int) -> Array:
    rng = np.random.default_rng([seed, n, sum(map(ord, pair.name))])
    return pair.noise.randomize(pair.x.sample(n, rng), rng)


def oracle(pair: Pair, edges: Array, z_edges: Array, counts: Array) -> float:
    """The smallest loss along the EM path on these cells."""
    held = counts > 0
    A, c = np.ascontiguousarray(pair.noise.interval_matrix(edges, z_edges).T[held]), counts[held]
    mass = np.full(edges.size - 1, 1 / (edges.size - 1))
    best, at = 1.0, 0
    for step in range(1, int(MARKS[-1]) + 1):
        mass = mass * ((c / np.maximum(A @ mass, 1e-290)) @ A) / c.sum()
        if step in MARKS:
            loss = information_loss(pair.x, edges, mass)
            best, at = (loss, step) if loss < best else (best, at)
            if step > 6 * at + 50:
                break
    return best


def coverage(x: Mixture, d: Density, level: float = 0.9) -> tuple[float, float]:
    """The share of cells, and of the mass, whose true mean density lies in the band."""
    mass = np.diff(x.cdf(d.edges))
    low, high = d.band(level)
    inside = (mass / np.diff(d.edges) >= low) & (mass / np.diff(d.edges) <= high)
    return float(inside.mean()), float(mass @ inside / mass.sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", default="8,4,2")
    parser.add_argument("--bins", type=int, default=80)
    parser.add_argument("--pairs", action="store_true", help="one line a pair as well")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", SfumatoWarning)
    regret: dict[tuple[str, int, str], list[float]] = defaultdict(list)
    covered: dict[int, list[tuple[float, float]]] = defaultdict(list)
    seconds: dict[int, list[float]] = defaultdict(list)
    for pair in DEVELOPMENT + HELD_OUT:
        for n, repeats in zip(SIZES, map(int, chosen.repeats.split(",")), strict=True):
            found: dict[str, list[float]] = defaultdict(list)
            for seed in range(repeats):
                z = released(pair, n, seed)
                plain = density(z, pair.noise, bins=chosen.bins, method="em", stop=1)
                best = oracle(pair, plain.edges, plain.z_edges, plain.z_counts)
                for rule, how in RULES.items():
                    start = time.process_time()
                    d = density(z, pair.noise, bins=chosen.bins, rng=seed, **how)
                    loss = information_loss(pair.x, d.edges, d.mass)
                    found[rule].append(100 * (loss - best))
                    if rule == "auto":
                        seconds[n].append(time.process_time() - start)
                        covered[n].append(coverage(pair.x, d))
                        same = oracle(pair, d.edges, d.z_edges, d.z_counts)
                        found["auto, oracle on auto's cells"].append(100 * (loss - same))
            for rule, values in found.items():
                regret[rule, n, pair.name].append(float(np.mean(values)))
            if chosen.pairs:
                auto, same = np.mean(found["auto"]), np.mean(found["auto, oracle on auto's cells"])
                print(f"  N={n:8d} {pair.name:28s} {auto:7.2f} {same:7.2f}", flush=True)
    names = {"development": [p.name for p in DEVELOPMENT], "held out": [p.name for p in HELD_OUT]}
    print("\n| rule | pairs | " + " | ".join(f"N = {n:,}" for n in SIZES) + " |\n|---|---|" + "---|" * len(SIZES))
    for rule in dict.fromkeys(rule for rule, _, _ in regret):
        for part, members in names.items():
            cells = []
            for n in SIZES:
                values = np.array([regret[rule, n, name][0] for name in members])
                cells.append(f"{values.mean():.1f} ({values.max():.1f}; median {np.median(values):.1f})")
            print(f"| {rule} | {part} | " + " | ".join(cells) + " |")
    print("\n| auto | " + " | ".join(f"N = {n:,}" for n in SIZES) + " |\n|---|" + "---|" * len(SIZES))
    print("| seconds (cpu) | " + " | ".join(f"{np.mean(seconds[n]):.2f}" for n in SIZES) + " |")
    for index, what in enumerate(("cells", "mass")):
        shares = [f"{100 * np.mean([c[index] for c in covered[n]]):.0f} %" for n in SIZES]
        print(f"| 90 % band covers, share of {what} | " + " | ".join(shares) + " |")


if __name__ == "__main__":
    main()
