"""A year of rounds while values change: intervals, what a person gives away, and who is recognised.

python -m benchmarks.rounds [--draws 20]
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

import sfumato as sf
from sfumato import channels as c
from sfumato.channels import Channel
from sfumato.channels.longitudinal import Longitudinal

PEOPLE = 2000
ROUNDS = 52
CHANGING = 0.2  # of the people, in each round


def settings() -> dict[str, Channel]:
    """Channels of the same gamma in one round."""
    return {
        "longitudinal, 10 values, gamma 3, lifetime 81": c.longitudinal(10, 3, 81),
        "subset with a key, 10 values, gamma 3": c.subset(10, 3),
        "longitudinal, 100 values, gamma 3, lifetime 81": c.longitudinal(100, 3, 81),
        "subset with a key, 100 values, gamma 3": c.subset(100, 3),
        "longitudinal, 30 values, gamma 2, lifetime 16": c.longitudinal(30, 2, 16),
        "subset with a key, 30 values, gamma 2": c.subset(30, 2),
    }


def year(channel: Channel, rng: np.random.Generator) -> tuple[float, float, float]:
    """One year of one study: how many intervals held, ln of the most that a person gave away, who is found again."""
    k = channel.k
    names = [str(i) for i in range(k)]
    scheme = sf.Scheme(sf.Schema({"v": sf.Categorical(tuple(names))}), {"v": channel})
    shares = rng.dirichlet(np.ones(k))
    codes, key = rng.choice(k, PEOPLE, p=shares), sf.new_key()
    visited = [set[int]() for _ in range(PEOPLE)]
    held: list[float] = []
    releases = []
    for week in range(ROUNDS):
        if week % 13 == 0 or week == ROUNDS - 1:
            table = {"id": list(range(PEOPLE)), "v": [names[code] for code in codes]}
            release = sf.randomize(table, scheme, key=key, id="id", order="keep")
            releases.append(release)
            low, high = sf.evidence(release).counts("v").interval(0.95)
            truth = np.bincount(codes, minlength=k)
            held.append(float(np.mean((low <= truth) & (truth <= high))))
            hashes = np.array(release.arrow()["v"]) // channel.classes if isinstance(channel, Longitudinal) else None
        if isinstance(channel, Longitudinal) and hashes is not None:
            kept = channel.hashed(codes, hashes.astype(np.uint64))[1]
        else:
            kept = codes
        for person, value in enumerate(kept):
            visited[person].add(int(value))
        moved = rng.random(PEOPLE) < CHANGING
        codes = np.where(moved, rng.choice(k, PEOPLE, p=shares), codes)
    each = channel.permanent.epsilon if isinstance(channel, Longitudinal) else channel.epsilon
    found = sf.attacks.track(releases[0], releases[1]).details["found_again"]
    return float(np.mean(held)), each * max(len(values) for values in visited), float(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20)
    draws = parser.parse_args().draws
    warnings.simplefilter("ignore")
    heads = ("channel", "intervals held", "most of a person, gamma", "changes ever seen", "found again after 13 weeks")
    print(f"| {' | '.join(heads)} |")
    print("|---|---|---|---|---|")
    for place, (name, channel) in enumerate(settings().items()):
        found = [year(channel, np.random.default_rng([place, draw])) for draw in range(draws)]
        held, spent, tracked = (float(np.mean(column)) for column in zip(*found, strict=True))
        shown = sf.privacy.changes(channel)
        print(f"| {name} | {held:.3f} | {np.exp(spent):,.3g} | {shown.ever:.2f} | {tracked:.3f} |", flush=True)


if __name__ == "__main__":
    main()
