"""Nine shapes on [0, 1], their support and cells given: the mass that each method puts into wrong cells.

    python -m benchmarks.density_given_cells [--seeds 1] [--cases]

Regret is misplaced mass minus that of early-stopped EM with the best iteration count in hindsight, in points.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import scipy.stats as st

from sfumato.arrays import Array
from sfumato.channels.additive import Noise, gaussian, laplace, uniform
from sfumato.errors import SfumatoWarning
from sfumato.evidence.density import Density, density

from .density_battery import Mixture, N, flat, mix, one

SHAPES = {
    "normal": one(N(0.5, 0.12)),
    "two wide humps": mix((0.4, N(0.32, 0.1)), (0.6, N(0.68, 0.1))),
    "two narrow humps": mix((0.4, N(0.3, 0.06)), (0.6, N(0.7, 0.08))),
    "uniform": one(flat(0.2, 0.8)),
    "triangle": one(st.triang(0.3, 0.1, 0.8)),
    "blocks": mix((0.5, flat(0.1, 0.35)), (0.5, flat(0.6, 0.9))),
    "skewed": one(st.beta(2, 8)),
    "spike and slab": mix((0.7, flat(0, 1)), (0.3, N(0.6, 0.02))),
    "high at the edge": one(st.truncexpon(4, 0, 0.25)),
}
NOISES = {
    "gaussian": gaussian,
    "uniform": lambda sd: uniform(sd * 3**0.5),
    "laplace": lambda sd: laplace(sd / 2**0.5),
}
SDS, SIZES, CELLS = (0.02, 0.1, 0.25, 0.5), (300, 2000, 20_000), (20, 60)
METHODS = {
    "auto": {},
    "em, chi-square": {"method": "em"},
    "em, 5-fold cv": {"method": "em", "stop": "cv:5"},
}
MARKS = np.unique(np.rint(np.geomspace(1, 4000, 90)).astype(int))


def misplaced(x: Mixture, edges: Array, mass: Array) -> float:
    """Half the distance between true and estimated masses of the cells, in points."""
    return 50 * float(np.abs(np.diff(x.cdf(edges)) - mass).sum())


def oracle(x: Mixture, noise: Noise, plain: Density) -> float:
    """The least mass that is misplaced along the path of EM."""
    held = plain.z_counts > 0
    A, counts = np.ascontiguousarray(noise.interval_matrix(plain.edges, plain.z_edges).T[held]), plain.z_counts[held]
    mass, best, at = np.diff(plain.edges), 100.0, 0
    for step in range(1, int(MARKS[-1]) + 1):
        mass = mass * ((counts / np.maximum(A @ mass, 1e-290)) @ A) / counts.sum()
        if step in MARKS:
            loss = misplaced(x, plain.edges, mass)
            best, at = (loss, step) if loss < best else (best, at)
            if step > 6 * at + 50:
                break
    return best


def case(x: Mixture, noise: Noise, n: int, cells: int, seed: list[int]) -> tuple[float, dict[str, float], float]:
    """The oracle's misplaced mass, the regret of each method, and the share of mass that auto's 90 % band covers."""
    rng = np.random.default_rng(seed)
    z = noise.randomize(np.clip(x.sample(n, rng), 0, 1), rng)
    best = oracle(x, noise, density(z, noise, support=(0, 1), bins=cells, method="em", stop=1))
    regret, covered = {}, 0.0
    for name, how in METHODS.items():
        found = density(z, noise, support=(0, 1), bins=cells, rng=seed[0], **how)
        regret[name] = misplaced(x, found.edges, found.mass) - best
        if name == "auto":
            true = np.diff(x.cdf(found.edges))
            low, high = found.band(0.9)
            height = true / np.diff(found.edges)
            covered = float(true @ ((height >= low) & (height <= high)) / true.sum())
    return best, regret, covered


def cases(seeds: int) -> Iterator[tuple[str, str, float, int, int, list[int]]]:
    for shape in SHAPES:
        for noise in NOISES:
            for sd in SDS:
                for n in SIZES:
                    for cells in CELLS:
                        for seed in range(seeds):
                            yield shape, noise, sd, n, cells, [seed, n, cells, sum(map(ord, shape + noise))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--cases", action="store_true", help="one line a case as well")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", SfumatoWarning)
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for shape, noise, sd, n, cells, seed in cases(chosen.seeds):
        best, regret, covered = case(SHAPES[shape], NOISES[noise](sd), n, cells, seed)
        for group in (shape, f"{noise} noise", f"sd {sd:g}", f"N = {n:,}", f"{cells} cells", "all"):
            for name, value in regret.items():
                found[name, group].append(value)
            found["best", group].append(best)
            found["covered", group].append(covered)
        if chosen.cases:
            values = " ".join(f"{value:7.2f}" for value in regret.values())
            print(f"{shape:18s} {noise:9s} {sd:5.2f} {n:6d} {cells:3d} {best:6.2f} {values} {covered:.2f}", flush=True)
    print("| | the oracle | " + " | ".join(METHODS) + " | 90 % band covers, share of mass |")
    print("|---|---|" + "---|" * (len(METHODS) + 1))
    for group in dict.fromkeys(group for _, group in found):
        row = [f"{np.mean(found['best', group]):.1f}"]
        row += [f"{np.mean(found[name, group]):.1f} ({np.max(found[name, group]):.0f})" for name in METHODS]
        print(f"| {group} | " + " | ".join(row) + f" | {100 * np.mean(found['covered', group]):.0f} % |")


if __name__ == "__main__":
    main()
