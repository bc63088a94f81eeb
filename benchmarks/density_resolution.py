"""Whether hills show as far apart as a density's ``resolution`` says, and how often they show when they are nearer.

    python -m benchmarks.density_resolution [--seeds 1]

Two to four hills of equal weight at distance 1: blocks and triangles a third of that wide, and narrow normals. The
noise is so wide that the resolution is a given part of the distance. A gap shows where the estimate falls below three
quarters of the lower hill beside it.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator

import numpy as np

from sfumato.arrays import Array
from sfumato.channels.additive import Noise, gaussian, laplace
from sfumato.errors import UnrecoverableWarning
from sfumato.evidence.density import density
from sfumato.evidence.density.resolution import resolution

Draws = Callable[[np.random.Generator, int], Array]
HILLS: dict[str, Draws] = {
    "blocks": lambda rng, n: (rng.random(n) - 0.5) / 3,
    "triangles": lambda rng, n: (rng.random(n) - rng.random(n)) / 6,
    "normals": lambda rng, n: 0.1 * rng.standard_normal(n),
}
NOISES: dict[str, Callable[[float], Noise]] = {"gaussian": gaussian, "laplace": laplace}
PARTS = (1.6, 1.25, 1.0, 0.8, 0.6)  # the resolution, of the distance
SIZES = (300, 2_000, 20_000)


def shown(hills: Draws, pieces: int, noise: Noise, n: int, rng: np.random.Generator) -> float:
    """The share of the gaps that show."""
    x = rng.integers(0, pieces, n) + hills(rng, n)
    found = density(noise.randomize(x, rng), noise)

    def mass(middle: float) -> float:
        return float(np.diff(found.cdf([middle - 1 / 6, middle + 1 / 6]))[0])

    tops = [mass(i) for i in range(pieces)]
    return float(np.mean([mass(i + 0.5) < 0.75 * min(tops[i], tops[i + 1]) for i in range(pieces - 1)]))


Row = tuple[str, str, int, int, float]


def rows(part: float, seeds: int) -> Iterator[Row]:
    for name, hills in HILLS.items():
        for pieces in (2, 3, 4):
            for kind, make in NOISES.items():
                for n in SIZES:
                    noise = make(part / resolution(make(1.0), n))
                    for seed in range(seeds):
                        rng = np.random.default_rng([seed, n, pieces, round(100 * part), len(name), len(kind)])
                        yield name, kind, pieces, n, shown(hills, pieces, noise, n, rng)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    seeds = parser.parse_args().seeds
    warnings.simplefilter("ignore", UnrecoverableWarning)
    taken = [*HILLS, *NOISES, 2, 3, 4, *SIZES]
    names = [f"{one:,} {'hills' if one < 10 else 'values'}" if isinstance(one, int) else one for one in taken]
    print("| resolution / distance | all | " + " | ".join(names) + " |\n" + "|---" * (len(taken) + 2) + "|")
    for part in PARTS:
        found = list(rows(part, seeds))
        cells = [np.mean([row[-1] for row in found if one is None or one in row[:-1]]) for one in (None, *taken)]
        print(f"| {part:g} | " + " | ".join(f"{100 * cell:.0f} %" for cell in cells) + " |", flush=True)


if __name__ == "__main__":
    main()
