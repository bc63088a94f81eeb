"""How often the test of honest answers refuses honest and false ones: ``python -m benchmarks.honest_answers [--fast]``.

The false answers are all the one that raises the first value most.
"""

from __future__ import annotations

import sys

import numpy as np

from sfumato import channels as c
from sfumato.arrays import Array
from sfumato.assess.goodness_of_fit import goodness_of_fit
from sfumato.channels import Channel

CHANNELS = {
    "symmetric, 5 values, gamma 3": c.symmetric(5, gamma=3),
    "symmetric, 16 values, gamma 3": c.symmetric(16, gamma=3),
    "subset, 8 values, gamma 2": c.subset(8, 2),
    "windows, 12 values, gamma 3": c.windows(12, 3),
    "binary, .3 and 0": c.binary(0.3, 0.0),
}


def refused(channel: Channel, shares: Array, false: float, n: int, runs: int, rng: np.random.Generator) -> float:
    """How often p is at most 5 %."""
    lie = np.eye(channel.m, dtype=int)[int(channel.inverse.dense()[0].argmax())]
    honest = rng.multinomial(n - round(n * false), shares @ channel.matrix, runs)
    return float(np.mean([goodness_of_fit(one + round(n * false) * lie, channel, rng=rng).p <= 0.05 for one in honest]))


def main(honest: int = 300, lies: int = 40) -> None:
    """Print the table."""
    rng = np.random.default_rng(31337)
    print("| channel | true shares | records | honest refused at 5 % | refused with 10 % like lies |")
    print("|---|---|---|---|---|")
    for name, channel in CHANNELS.items():
        falling = 1 / np.arange(1, channel.k + 1)
        kinds = {"even": np.ones(channel.k), "1/rank": falling, "one value": np.eye(channel.k)[0]}
        for kind, shares in kinds.items():
            for n in (300, 6000):
                shares = shares / shares.sum()
                level = refused(channel, shares, 0.0, n, honest, rng)
                power = refused(channel, shares, 0.1, n, lies, rng)
                print(f"| {name} | {kind} | {n:,} | {level:.3f} | {power:.2f} |", flush=True)


if __name__ == "__main__":
    main(*((50, 10) if "--fast" in sys.argv else ()))
