"""How often the intervals of means, quantiles, differences and correlations hold the truth.

``python -m benchmarks.question_coverage [--fast] [--asked="quantiles,median by group"]``. Replicates are drawn as
released counts and go through the same code as any answer. A row of the table is a setting. The first number of each
pair is the coverage of the table's own answer (finite population), the second that of the distribution behind it. Means
are those of the middles of bins, without what bins leave open. Quantiles are covered wherever in their bin they lie.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

import sfumato as sf
from sfumato import channels as c
from sfumato.arrays import Array
from sfumato.evidence.blocks import blocks
from sfumato.evidence.questions.answer import Answer
from sfumato.evidence.questions.cell_scores import means_only, own_of_means, own_scores, released_scores
from sfumato.evidence.questions.combinations import contrast, ratio
from sfumato.evidence.questions.correlations import Correlations
from sfumato.evidence.questions.forms import Ratios
from sfumato.evidence.questions.part_sums import PartSums
from sfumato.evidence.questions.quantiles import Quantiles
from sfumato.evidence.questions.statistics import Statistic, Sums, weights
from sfumato.evidence.seen import Seen

Z = float(ndtri(0.975))
K, GROUPS = 20, 3
Question = tuple[tuple[str, ...], list[Statistic], Callable[[Sums], Any]]

MEANS = ("mean", "mean by group", "difference", "ratio")  # what a channel for means tells
SHAPES = ("skewed", "heaped", "even")


@dataclass(frozen=True, eq=False)
class Setting:
    """Channels of a group and of two numbers, part by part, and how many records there are in all."""

    name: str
    schemes: tuple[sf.Scheme, ...]
    n: int
    shape: str
    parts: tuple[float, ...] = (1.0,)


def scheme(group: Any, x: Any, y: Any) -> sf.Scheme:
    schema = sf.Schema(
        {
            "g": sf.Categorical(tuple(range(GROUPS))),
            "x": sf.Numeric(0, 1, bins=K),
            "y": sf.Numeric(0, 1, bins=5),
        }
    )
    return sf.Scheme(schema, {"g": group, "x": x, "y": y})


def settings(fast: bool) -> Iterator[Setting]:
    """Channels by numbers of records by shapes."""
    families = {
        "symmetric .3": scheme(c.symmetric(GROUPS, 0.2), c.symmetric(K, 0.3), c.symmetric(5, 0.2)),
        "symmetric .02": scheme(c.symmetric(GROUPS, 0.02), c.symmetric(K, 0.02), c.symmetric(5, 0.02)),
        "windows 9": scheme(c.symmetric(GROUPS, gamma=9), c.windows(K, 9), c.windows(5, 9)),
        "windows 30": scheme(c.identity(GROUPS), c.windows(K, 30), c.windows(5, 30)),
        "subset 9": scheme(c.symmetric(GROUPS, gamma=9), c.subset(K, 9), c.subset(5, 9)),
        "average 9": scheme(c.identity(GROUPS), c.average(K, 9), c.windows(5, 9)),
        "identity": scheme(c.symmetric(GROUPS, 0.2), c.identity(K), c.identity(5)),
    }
    for shape in SHAPES:
        for n in (300, 2_000, 50_000):
            for name, own in families.items():
                yield Setting(name, (own,), n, shape)
            both = families["symmetric .3"], families["symmetric .02"]
            yield Setting("two parts", both, n, shape, (0.7, 0.3))
        if fast:
            return


def shares(shape: str) -> Array:
    """The joint distribution of group, x and y: the mean of x rises with the group and with y."""
    edges = np.linspace(0, 1, K + 1)
    out = np.zeros((GROUPS, K, 5))
    for g in range(GROUPS):
        for y in range(5):
            middle = (edges[1:] + edges[:-1]) / 2
            if shape == "skewed":
                own = np.exp(-middle * (9 - 1.5 * y - g))
            elif shape == "heaped":
                own = np.where(np.arange(K) % 5 == 0, 12.0, 0.4) * np.exp(-(((middle - 0.3 - 0.1 * y) / 0.3) ** 2))
            else:
                own = 1 + (middle - 0.5) * (y - 2) / 2.5
            out[g, :, y] = own / own.sum() * (0.5, 0.3, 0.2)[g] / 5
    return np.asarray(out / out.sum())


def integers(probabilities: Array, n: int) -> NDArray[np.int64]:
    """A table of n records as near to the shares as can be."""
    exact = n * probabilities.ravel()
    table = exact.astype(np.int64)
    table[np.argsort(table - exact, kind="stable")[: n - int(table.sum())]] += 1
    return table


@lru_cache(maxsize=4)
def drawn(
    setting: Setting, names: tuple[str, ...], runs: int, seed: int
) -> list[tuple[Seen, NDArray[np.int64], Array, Array, Array]]:
    """Of each part: its maps, the true table and shares, and released counts given the table and given the shares."""
    rng = np.random.default_rng([seed, len(names), *map(ord, "".join(names))])
    true = shares(setting.shape)
    gone = tuple(i for i, name in enumerate(("g", "x", "y")) if name not in names)
    flat = true.sum(axis=gone).ravel()
    out = []
    for own, share in zip(setting.schemes, setting.parts, strict=True):
        n = round(setting.n * share)
        shown = Seen(names, blocks(own, names, inverted=False), np.zeros(0))
        table = integers(flat, n)
        P = shown.transition.dense()
        finite = np.zeros((runs, P.shape[1]))
        for cell, count in enumerate(table):
            if count:
                finite += rng.multinomial(int(count), P[cell] / P[cell].sum(), runs)
        q = flat @ P
        out.append((shown, table, flat, finite, rng.multinomial(n, q / q.sum(), runs).astype(np.float64)))
    return out


class Replicates:
    """Sums of many released tables at once: all of them are linear in the released counts."""

    def __init__(self, setting: Setting, names: tuple[str, ...], statistics: list[Statistic], runs: int, seed: int):
        self.parts: list[tuple[int, Array, Array, Array]] = []
        self.of_population: list[tuple[int, Array, Array, Array]] = []
        self.truth, self.expected = np.zeros(len(statistics)), np.zeros(len(statistics))
        for shown, table, true, finite, sampled in drawn(setting, names, runs, seed):
            n = int(table.sum())
            G, W = released_scores(shown, statistics), weights(statistics, names, shown.shape)
            for into, counts in ((self.parts, finite), (self.of_population, sampled)):
                into.append((n, counts @ G.T, *self._seconds(shown, statistics, counts, G, W)))
            self.truth += W @ table
            self.expected += W @ true * n

    @staticmethod
    def _seconds(shown: Seen, statistics: list[Statistic], counts: Array, G: Array, W: Array) -> tuple[Array, Array]:
        k = len(G)
        pairs = (G[:, None, :] * G[None, :, :]).reshape(k * k, -1)
        if any(means_only(block) for block in shown.blocks):
            own = own_of_means(list(own_scores(shown, statistics)), counts, counts @ G.T)
            return (counts @ pairs.T).reshape(-1, k, k), own
        A = shown.inverse.dense()
        cells = (W[:, None, :] * W[None, :, :]).reshape(k * k, -1)
        return (counts @ pairs.T).reshape(-1, k, k), (counts @ A.T @ cells.T).reshape(-1, k, k)

    def sums(self, run: int, population: bool) -> Sums:
        held = self.of_population if population else self.parts
        return Sums(tuple(PartSums(float(n), t[run], s[run], o[run]) for n, t, s, o in held))


def questions() -> dict[str, Question]:
    """What is asked: the attributes, the sums and the answer."""
    x, y = (np.arange(K) + 0.5) / K, (np.arange(5) + 0.5) / 5
    one = np.eye(GROUPS)
    mean: list[Statistic] = [{"x": x}, {}]
    by: list[Statistic] = [{"g": one[g], **each} for g in range(GROUPS) for each in mean]
    run: list[Statistic] = [{"x": row} for row in np.tri(K)]
    run_by: list[Statistic] = [{"g": one[g], **each} for g in range(GROUPS) for each in run]
    pair: list[Statistic] = [{"x": x**i, "y": y**j} for i, j in [(0, 0), (1, 0), (0, 1), (2, 0), (0, 2), (1, 1)]]
    at, groups = np.array([0]), 2 * np.arange(GROUPS)
    ends = np.linspace(0, 1, K + 1)
    ratios = Ratios(groups, groups + 1, np.zeros(GROUPS), np.ones(GROUPS))
    keys = {"g": list(range(GROUPS))}
    deciles = np.array([3, 7, 11])
    some = Ratios(deciles, 0 * deciles + K - 1, np.zeros(3), np.ones(3))
    return {
        "mean": (("x",), mean, lambda s: Answer(s, Ratios(at, at + 1, np.zeros(1), np.ones(1)), "", {})),
        "mean by group": (("g", "x"), by, lambda s: Answer(s, ratios, "", keys)),
        "difference": (("g", "x"), by, lambda s: contrast(Answer(s, ratios, "", keys), 2, 0)),
        "ratio": (("g", "x"), by, lambda s: ratio(Answer(s, ratios, "", keys), 2, 0)),
        "cdf": (
            ("x",),
            run,
            lambda s: Answer(s, some, "", {}),
        ),
        "quantiles": (
            ("x",),
            run,
            lambda s: Answer(s, Quantiles((0.25, 0.5, 0.75), at, K, ends, True, ends[:-1], ends[1:]), "", {}),
        ),
        "median by group": (
            ("g", "x"),
            run_by,
            lambda s: Answer(s, Quantiles((0.5,), K * np.arange(GROUPS), K, ends, True, ends[:-1], ends[1:]), "", {}),
        ),
        "correlation": (("x", "y"), pair, lambda s: Answer(s, Correlations(1), "", {})),
    }


def replies(
    setting: Setting, question: Question, runs: int, seed: int, population: bool
) -> Iterator[tuple[Any, Array]]:
    """The answers from many releases, and the truth."""
    names, statistics, answer = question
    found = Replicates(setting, names, statistics, runs, seed)
    total = found.expected if population else found.truth
    none = np.zeros((len(total),) * 2)
    truth = answer(Sums((PartSums(float(setting.n), total, none, none),))).value
    for run in range(runs):
        reply = answer(found.sums(run, population))
        yield (reply.population() if population else reply), truth


def study(setting: Setting, runs: int, seed: int, asked: list[str]) -> dict[str, tuple[float, float]]:
    """The coverage of every question, of the finite population and of the population; the mean over its rows."""
    out = {}
    for name, question in ((name, questions()[name]) for name in asked):
        if setting.name.startswith("average") and name not in MEANS:
            continue
        covered = []
        for population in (False, True):
            inside = []
            for reply, truth in replies(setting, question, runs, seed, population):
                low, high = reply.limits(Z)
                inside.append((low <= truth + 1e-9) & (truth - 1e-9 <= high))
            covered.append(float(np.mean(inside)))
        out[name] = (covered[0], covered[1])
    return out


def main() -> None:
    fast = "--fast" in sys.argv
    runs = int(next((a.split("=")[1] for a in sys.argv if a.startswith("--runs=")), 200 if fast else 2000))
    only = next((a.split("=")[1] for a in sys.argv if a.startswith("--only=")), "")
    seed = int(next((a.split("=")[1] for a in sys.argv if a.startswith("--seed=")), 0))
    started = time.time()
    given = next((a.split("=")[1] for a in sys.argv if a.startswith("--asked=")), "")
    names = given.split(",") if given else list(questions())
    print("| setting | records | values | " + " | ".join(names) + " |")
    print("|---|---|---|" + "---|" * len(names))
    every: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for number, setting in enumerate(settings(fast)):
        if only not in f"{setting.name} {setting.n} {setting.shape}":
            continue
        found = study(setting, runs, 1000 * seed + number, names)
        for name, pair in found.items():
            if setting.name != "identity" or name in ("mean by group", "difference", "ratio", "median by group"):
                every[name].append(pair)
        cells = " | ".join("{:.3f} {:.3f}".format(*found[name]) if name in found else "" for name in names)
        print(f"| {setting.name} | {setting.n:,} | {setting.shape} | {cells} |", flush=True)
    print("\n| question | settings | within .935 to .965 | least | most |\n|---|---|---|---|---|")
    for name, pairs in every.items():
        held = [one for pair in pairs for one in pair]
        within = sum(0.935 <= one <= 0.965 for one in held)
        print(f"| {name} | {len(held)} | {within} | {min(held):.3f} | {max(held):.3f} |")
    for which, at in (("finite population", 0), ("population", 1)):
        summary = " | ".join(f"{min(r[at] for r in rs):.3f} {max(r[at] for r in rs):.3f}" for rs in every.values())
        print(f"| {which}: least and most | | | {summary} |")
    print(f"\n{runs} releases a setting; {time.time() - started:.0f} s")


if __name__ == "__main__":
    main()
