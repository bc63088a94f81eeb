"""Frequent words that nobody listed: how many are found, how many are false, and whether their intervals hold.

    python -m benchmarks.free_text [--runs 5] [--n 1000000] [--first 0]

Every run draws 10 000 words of up to 16 letters anew, and n people with shares 1 / rank. Three kinds of words: letters
at random, letters at random and always 16 of them, and words made of syllables, which share their beginnings.
"""

from __future__ import annotations

import argparse
import string
import time
from collections import defaultdict
from math import exp

import numpy as np

import sfumato as sf
from sfumato.channels.text_noise import rarest, text_noise
from sfumato.errors import EstimationError

WORDS, LONGEST = 10_000, 16
#: epsilon, how many of the top, of how many
GOALS = [(4.0, 25, 30), (2.0, 7, 10)]
KINDS = ("random", "long", "syllables")
_LETTERS = np.array(list(string.ascii_lowercase))


def vocabulary(kind: str, rng: np.random.Generator) -> list[str]:
    """Distinct words, the most frequent first."""
    syllables = ["".join(row) for row in rng.choice(_LETTERS, (60, 3))]
    found: dict[str, None] = {}
    while len(found) < WORDS:
        if kind == "syllables":
            word = "".join(rng.choice(syllables, rng.integers(1, 6)))[:LONGEST]
        else:
            word = "".join(rng.choice(_LETTERS, LONGEST if kind == "long" else rng.integers(3, LONGEST + 1)))
        found[word] = None
    return list(found)


def one_run(epsilon: float, kind: str, n: int, seed: int) -> dict[str, object]:
    """What one release tells of its own table."""
    rng = np.random.default_rng(seed)
    words = vocabulary(kind, rng)
    shares = 1 / np.arange(1, WORDS + 1)
    drawn = rng.choice(WORDS, n, p=shares / shares.sum())
    scheme = sf.Scheme.for_gamma(sf.Schema({"word": sf.Text(LONGEST)}), exp(epsilon))
    release = sf.randomize({"word": np.array(words)[drawn]}, scheme, rng=sf.experiment(seed))
    start = time.process_time()
    try:
        top = sf.evidence(release).top("word", 100)
    except EstimationError:
        return {"found": [], "false": 0, "covered": True, "counts": np.bincount(drawn), "seconds": 0.0, "width": 0.0}
    seconds = time.process_time() - start
    rank = {word: place for place, word in enumerate(words)}
    found = [rank.get(word, -1) for (word,) in top.labels()]
    counts = np.bincount(drawn, minlength=WORDS)
    truth = np.array([counts[place] if place >= 0 else 0 for place in found])
    low, high = top.interval()
    return {
        "found": found,
        "false": found.count(-1),
        "covered": bool(((low <= truth) & (truth <= high)).all()),
        "counts": counts,
        "seconds": seconds,
        "width": float((high - low).mean() / 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.free_text", description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    print(
        "| epsilon | words | runs | of the top | found, least | found, mean | false, most | all intervals hold | "
        "half-width | CPU seconds |\n" + "|---" * 10 + "|"
    )
    by_size: dict[int, list[bool]] = defaultdict(list)
    for epsilon, goal, of in GOALS:
        channel = sf.channels.prefixes(sf.Text(LONGEST), exp(epsilon))
        noise = text_noise(channel, options.n * min(channel.shares))
        for kind in KINDS:
            runs = [one_run(epsilon, kind, options.n, options.first + seed) for seed in range(options.runs)]
            hits = [sum(0 <= place < of for place in run["found"]) for run in runs]
            for run in runs:
                for place in range(60):
                    size = run["counts"][place] / options.n / noise
                    by_size[min(int(2 * size), 16)].append(place in run["found"])
            held = sum(run["covered"] for run in runs)
            print(
                f"| {epsilon:g} | {kind} | {len(runs)} | {of} (goal {goal}) | {min(hits)} | {np.mean(hits):.1f} | "
                f"{max(run['false'] for run in runs)} | {held} of {len(runs)} | "
                f"{np.mean([run['width'] for run in runs]):,.0f} | {np.mean([run['seconds'] for run in runs]):.0f} |",
                flush=True,
            )
        print(
            f"\nepsilon {epsilon:g}: a share of {rarest(channel, options.n):.2g} should be found nine times in ten.\n"
        )
    print("| share, in standard deviations of one question | words | found |\n|---|---|---|")
    for step in sorted(by_size):
        least = f"{step / 2:g} to {(step + 1) / 2:g}" if step < 16 else "8 and more"
        print(f"| {least} | {len(by_size[step])} | {np.mean(by_size[step]):.2f} |")


if __name__ == "__main__":
    main()
