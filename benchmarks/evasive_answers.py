"""How often limits hold the sensitive and the evasive share: ``python -m benchmarks.evasive_answers [--fast]``."""

from __future__ import annotations

import sys

import numpy as np

from sfumato import channels as c
from sfumato.assess.evasive import evasive
from sfumato.channels import Channel

DEVICES = {
    "unrelated (.7, .5) and (.5, .7)": [c.unrelated(0.7, 0.5), c.unrelated(0.5, 0.7)],
    "crosswise .2 and .35": [c.crosswise(0.2), c.crosswise(0.35)],
    "unrelated (.75, .33) and (.5, .9)": [c.unrelated(0.75, 0.33), c.unrelated(0.5, 0.9)],
}


def coverage(
    channels: list[Channel], share: float, cheating: float, n: int, runs: int, rng: np.random.Generator
) -> tuple[float, float]:
    """How often the 95 % limits of both hold, n people in groups of equal size."""
    each, held = n // len(channels), np.zeros(2)
    yes = (1 - cheating) * np.array([np.array([1 - share, share]) @ one.matrix[:, 1] for one in channels])
    for told in rng.binomial(each, yes, (runs, len(channels))):
        found = evasive(np.column_stack([each - told, told]), channels)
        pairs = ((found.share_interval, share), (found.cheating_interval, cheating))
        held += [low <= true <= high for (low, high), true in pairs]
    return float(held[0] / runs), float(held[1] / runs)


def main(runs: int = 400) -> None:
    """Print the table."""
    rng = np.random.default_rng(5150)
    print("| devices | people | yes | evasive | yes held | evasive held |")
    print("|---|---|---|---|---|---|")
    for name, channels in DEVICES.items():
        for n in (1000, 5000):
            for share, cheating in ((0.15, 0.05), (0.25, 0.1), (0.25, 0.2)):
                found = coverage(channels, share, cheating, n, runs, rng)
                print(f"| {name} | {n:,} | {share} | {cheating} | {found[0]:.3f} | {found[1]:.3f} |", flush=True)


if __name__ == "__main__":
    main(50 if "--fast" in sys.argv else 400)
