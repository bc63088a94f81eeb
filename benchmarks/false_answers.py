"""What false answers do to estimates, and what removes them: ``python -m benchmarks.false_answers [--fast]``.

The shares are those of education (16 values) and occupation (14 values) in Adult. Attacks: *random* sends any answer;
*maximal gain* sends the answers that raise one value most; *adaptive* draws answers that look honest, through the
channel from random shares. Errors are mean squared errors of a share, in millionths, over draws of the data and of
the attack.

LDPRecover (Sun et al. 2024) is written down here from its paper: the false answers' own estimate is taken to be spread
evenly over the values with a positive estimate, removed, and the rest projected. It is told the true share of liars.
"""

from __future__ import annotations

import sys

import numpy as np

from sfumato import channels as c
from sfumato import datasets
from sfumato.arrays import Array
from sfumato.assess.robust import robust
from sfumato.channels import Channel
from sfumato.evidence.simplex import project
from sfumato.printable import percentage

RECORDS = 50_000
ATTACKS = ("random", "maximal gain", "adaptive")


def shares(name: str) -> Array:
    """The shares of an attribute in Adult, those who did not answer left out, the commonest value first."""
    counted = datasets.load("adult", split="train").column(name).drop_null().value_counts()
    found = np.sort(np.array([entry["counts"].as_py() for entry in counted], dtype=np.float64))[::-1]
    return np.asarray(found / found.sum())


def false_answers(
    attack: str, channel: Channel, count: int, rng: np.random.Generator, target: int | None = None
) -> Array:
    """How many of the false answers are which; ``target`` is the value to raise, any unless told."""
    P, A = channel.matrix, channel.inverse.dense()
    if attack == "random":
        sent = np.full(channel.m, 1 / channel.m)
    elif attack == "maximal gain":
        best = A[rng.integers(channel.k) if target is None else target]
        sent = best >= best.max() - 1e-9
        sent = sent / sent.sum()
    else:
        sent = rng.dirichlet(np.ones(channel.k)) @ P
    return rng.multinomial(count, sent / sent.sum()).astype(np.float64)


def ldp_recover(channel: Channel, counts: Array, share: float) -> Array:
    """The estimate of LDPRecover without knowledge of the targets."""
    poisoned = channel.inverse.apply(counts) / counts.sum()
    positive = poisoned > 0
    removed = positive / positive.sum()
    eta = share / (1 - share)
    return project((1 + eta) * poisoned - eta * removed, 1.0)


def measured(
    channel: Channel, theta: Array, attack: str, share: float, runs: int, seed: int, target: int | None = None
) -> list[float]:
    """Mean squared errors of plain, projected, LDPRecover and robust, and how often the robust range holds a share."""
    rng, errors, held = np.random.default_rng(seed), np.zeros(4), 0.0
    for _ in range(runs):
        lies = round(RECORDS * share)
        honest = rng.multinomial(RECORDS - lies, theta @ channel.matrix).astype(np.float64)
        counts = honest + false_answers(attack, channel, lies, rng, target)
        plain = channel.inverse.apply(counts) / RECORDS
        ours = robust(counts, share, channel)
        guesses = (plain, project(plain, 1.0), ldp_recover(channel, counts, share), ours.value)
        errors += [float(np.mean((guess - theta) ** 2)) for guess in guesses]
        held += float(np.mean((ours.low <= theta) & (theta <= ours.high)))
    return [*(errors / runs), held / runs]


def main(fast: bool = False) -> None:
    """Print the table."""
    runs = 3 if fast else 12
    cases = {
        "education, symmetric, gamma 9": ("education", c.symmetric(16, gamma=9)),
        "education, subset, gamma 9": ("education", c.subset(16, 9)),
        "occupation, symmetric, gamma 5": ("occupation", c.symmetric(14, gamma=5)),
    }
    print("| channel | attack | false | plain | projected | LDPRecover | robust | range holds |")
    print("|---|---|---|---|---|---|---|---|")
    for name, (attribute, channel) in cases.items():
        for attack in ATTACKS:
            for share in (0.01, 0.05, 0.1):
                *errors, held = measured(channel, shares(attribute), attack, share, runs, seed=90417)
                cells = " | ".join(f"{1e6 * error:.1f}" for error in errors)
                print(f"| {name} | {attack} | {percentage(share)} | {cells} | {held:.3f} |", flush=True)


if __name__ == "__main__":
    main("--fast" in sys.argv)
