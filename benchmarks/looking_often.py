"""How often limits hold the truth at all times, for pages that are watched: ``python -m benchmarks.looking_often``.

Records come in one by one; after every 50th of them somebody looks. A path fails if the truth lies outside at any look.
The control is the interval for one look, which must fail often.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from sfumato import channels as c
from sfumato.channels import Channel
from sfumato.channels.scores import scores
from sfumato.evidence.critical import critical_value

VALUES = 10
LAST, EVERY = 20_000, 50
FIRST = (100, 300, 1000)


def paths(channel: Channel, shares: np.ndarray, runs: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The mean of the scores after every look of each path, less the truth, and its standard deviation."""
    rng = np.random.default_rng(seed)
    values = np.arange(VALUES) / (VALUES - 1)
    g = scores(channel, values)
    q = shares @ channel.matrix
    counts = rng.multinomial(EVERY, q / q.sum(), (runs, LAST // EVERY)).cumsum(axis=1)
    t = np.arange(EVERY, LAST + 1, EVERY)
    mean = counts @ g / t
    variance = np.maximum(counts @ g**2 / t - mean**2, 0.0)
    return mean - shares @ values, np.sqrt(variance / t)


def main(runs: int = 400) -> None:
    x = np.arange(VALUES)
    shapes = {
        "even": np.ones(VALUES),
        "skewed": np.exp(-0.6 * x),
        "rare": np.where(x == 9, 0.02, np.where(x == 0, 0.98, 0)),
    }
    channels = {
        "symmetric .3": c.symmetric(VALUES, 0.3),
        "windows 9": c.windows(VALUES, 9),
        "identity": c.identity(VALUES),
    }
    t = np.arange(EVERY, LAST + 1, EVERY)
    often = np.array([critical_value(0.95, n) for n in t])
    print("| channel | values | " + " | ".join(f"from {n} on" for n in FIRST) + " | one look, from 300 on |")
    print("|---|---|" + "---|" * (len(FIRST) + 1))
    for number, (name, channel) in enumerate(channels.items()):
        for shape, shares in shapes.items():
            off, sd = paths(channel, shares / shares.sum(), runs, number)
            inside = np.abs(off) <= often * sd
            once = np.abs(off) <= float(ndtri(0.975)) * sd
            cells = [f"{inside[:, t >= first].all(axis=1).mean():.3f}" for first in FIRST]
            print(f"| {name} | {shape} | {' | '.join(cells)} | {once[:, t >= 300].all(axis=1).mean():.3f} |")
    print(f"\n{runs} paths of {LAST:,} records, a look after every {EVERY}")


if __name__ == "__main__":
    main()
