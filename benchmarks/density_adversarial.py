"""Shapes that wide gaussian noise hides: blocks, gaps, combs and spikes, few values. Loss, regret, and the warning.

    python -m benchmarks.density_adversarial [--seeds 2] [--tuned] [--cases]

Regret is information loss minus that of early-stopped EM with the best iteration count in hindsight, in points. A fit
is warned of when the data cannot tell it from two separate blocks, or when the noise swamps the data. A hit is a
warning where regret exceeds 5 points. The constants of the warning were set on TUNED_ON; JUDGED came afterwards.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass

import numpy as np
import scipy.stats as st

from sfumato.channels.additive import gaussian
from sfumato.errors import UnrecoverableWarning
from sfumato.evidence.density import density

from .density_battery import Mixture, N, Pair, flat, information_loss, mix, one
from .density_regret import oracle


@dataclass(frozen=True)
class Shape:
    """A density and the width of its support, of which the noise is a part."""

    name: str
    x: Mixture
    width: float


TUNED_ON = (
    Shape("two blocks", mix((0.5, flat(0, 1)), (0.5, flat(3, 4))), 4),
    Shape("far blocks", mix((0.5, flat(0, 1)), (0.5, flat(9, 10))), 10),
    Shape("uneven blocks", mix((0.8, flat(0, 2)), (0.2, flat(3, 4))), 4),
    Shape("comb of four", mix(*((0.25, flat(2 * i, 2 * i + 1)) for i in range(4))), 7),
    Shape("spike on a slab", mix((0.7, flat(0, 10)), (0.3, N(3, 0.1))), 10),
    Shape("two spikes", mix((0.5, N(0, 0.05)), (0.5, N(1, 0.05))), 1.2),
    Shape("slab", one(flat(0, 1)), 1),
)
JUDGED = (
    Shape("blocks, narrow gap", mix((0.5, flat(0, 2)), (0.5, flat(3, 5))), 5),
    Shape("blocks, wide gap", mix((0.5, flat(0, 1)), (0.5, flat(5, 6))), 6),
    Shape("blocks, one to two", mix((1 / 3, flat(0, 1)), (2 / 3, flat(3, 5))), 5),
    Shape("three blocks", mix(*((1 / 3, flat(3 * i, 3 * i + 1)) for i in range(3))), 7),
    Shape("slab with a gap", mix((0.4, flat(0, 2)), (0.6, flat(2.5, 5))), 5),
    Shape("comb of six", mix(*((1 / 6, flat(2 * i, 2 * i + 1)) for i in range(6))), 11),
    Shape("spike beside a slab", mix((0.6, flat(0, 4)), (0.4, N(6, 0.1))), 6.2),
    Shape("three spikes", mix(*((1 / 3, N(i, 0.05)) for i in range(3))), 2.2),
    Shape("two triangles", mix((0.5, st.triang(0.5, 0, 1)), (0.5, st.triang(0.5, 2, 1))), 3),
    Shape("bell", one(st.truncnorm(-2.5, 2.5)), 5),
    Shape("ramp", one(st.triang(1.0, 0, 1)), 1),
)
SIZES = (300, 700, 2000)
PARTS = (0.25, 0.4, 0.5, 0.75, 1.0)  # the sd of the noise, of the width of the support


def case(shape: Shape, part: float, n: int, seed: int) -> tuple[float, float, bool]:
    """Loss and regret in points, and whether the fit was warned of."""
    noise = gaussian(part * shape.width)
    rng = np.random.default_rng([seed, n, round(100 * part), sum(map(ord, shape.name))])
    z = noise.randomize(shape.x.sample(n, rng), rng)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        found = density(z, noise)
    warned = any(issubclass(w.category, UnrecoverableWarning) for w in seen)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnrecoverableWarning)
        plain = density(z, noise, method="em", stop=1)
    best = oracle(Pair(shape.name, shape.x, noise), plain.edges, plain.z_edges, plain.z_counts)
    loss = information_loss(shape.x, found.edges, found.mass)
    return 100 * loss, 100 * (loss - best), warned


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--tuned", action="store_true", help="the shapes that the constants were set on")
    parser.add_argument("--cases", action="store_true", help="one line a case as well")
    chosen = parser.parse_args()
    rows = []
    for shape in TUNED_ON if chosen.tuned else JUDGED:
        for part in PARTS:
            for n in SIZES:
                for seed in range(chosen.seeds):
                    loss, regret, warned = case(shape, part, n, seed)
                    rows.append((part, loss, regret, warned))
                    if chosen.cases:
                        print(f"{shape.name:22s} {part:5.2f} {n:5d} {loss:6.1f} {regret:6.1f} {warned}", flush=True)
    print(
        "| noise / width | cases | regret: mean (worst) | over 5 points | warned: of those / of the others | ", end=""
    )
    print("loss: warned / not |\n|---|---|---|---|---|---|")
    for part in (*PARTS, None):
        some = np.array([row[1:] for row in rows if part is None or row[0] == part])
        loss, regret, warned = some[:, 0], some[:, 1], some[:, 2] > 0
        bad = regret > 5
        print(
            f"| {'all' if part is None else part} | {len(some)} | {regret.mean():.1f} ({regret.max():.0f}) | "
            f"{100 * bad.mean():.0f} % | {_percent(warned[bad])} / {_percent(warned[~bad])} | "
            f"{_mean(loss[warned])} / {_mean(loss[~warned])} |"
        )


def _percent(values: np.ndarray) -> str:
    return f"{100 * values.mean():.0f} %" if values.size else "none"


def _mean(values: np.ndarray) -> str:
    return f"{values.mean():.0f}" if values.size else "none"


if __name__ == "__main__":
    main()
