"""How often intervals hold the truth, and how wide they are: ``python -m benchmarks.interval_coverage [--fast]``.

First, for symmetric channels, exact coverage at every count. Then every family of channels by replicates, each row the
worst over four true tables: even, random, all records in one cell, and all in two. Replicates are drawn as released
counts, thousands at a time, and go through the same code as any estimate.

Rows marked * were looked at while the method was chosen. All others, and all their true tables, were not.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import binom

from sfumato import channels as c
from sfumato.arrays import Array
from sfumato.channels.left_inverse import left_inverse
from sfumato.evidence.blocks import blocks
from sfumato.evidence.limits import Records, limits
from sfumato.evidence.record_moments import records
from sfumato.evidence.seen import Seen
from sfumato.evidence.simplex import project

from .interval_settings import Setting, scheme, settings

LEVELS = (0.9, 0.95, 0.99)
#: Numbers of records; the method was chosen at 50, 100, 300 and 400.
RECORDS = (50, 120, 500)
#: Of the table's own counts, and of the shares in the population behind it.
METHODS = (("moment", False), ("project", False), ("mle", False), ("moment", True), ("mle", True))


def truths(setting: Setting, n: int, rng: np.random.Generator) -> Iterator[list[NDArray[np.int64]]]:
    """True tables of each part: even, random, everything in one cell (another one in every part), and in two."""
    views = setting.views
    possible = [np.flatnonzero(shown.full.apply(np.ones(shown.full.cols)) > 0) for shown in views]
    sizes = [round(n * share) for share in setting.shares]
    for kind in ("even", "random", "one", "two"):
        tables = []
        for part, (shown, cells, size) in enumerate(zip(views, possible, sizes, strict=True)):
            shares = np.ones(len(cells)) if kind == "even" else rng.dirichlet(np.full(len(cells), 0.4))
            if kind == "one":
                shares = np.eye(len(cells))[part % len(cells)]
            if kind == "two":
                shares = 0.4 * np.eye(len(cells))[0] + 0.6 * np.eye(len(cells))[len(cells) // 2]
            table = np.zeros(shown.full.rows, dtype=np.int64)
            exact = size * shares / shares.sum()
            table[cells] = exact
            table[cells[np.argsort(table[cells] - exact)[: size - int(table.sum())]]] += 1
            tables.append(table)
        yield tables


def draw(shown: Seen, true: NDArray[np.int64], runs: int, population: bool, rng: np.random.Generator) -> Array:
    """Released counts, a column per replicate."""
    P = shown.full.dense()
    if population:
        q = true @ P
        return rng.multinomial(int(true.sum()), q / q.sum(), runs).T.astype(np.float64)
    drawn = [rng.multinomial(int(count), P[cell] / P[cell].sum(), runs) for cell, count in enumerate(true) if count]
    return np.sum(drawn, axis=0).T.astype(np.float64)


def most_likely(shown: Seen, observed: Array, steps: int = 400) -> Array:
    """Maximum likelihood shares of all cells by EM, a column per replicate."""
    P, n = shown.full.dense(), observed.sum(axis=0)
    possible = P.any(axis=1)
    theta = np.repeat((possible / possible.sum())[:, None], observed.shape[1], axis=1)
    for _ in range(steps):
        theta *= P @ (observed / np.maximum(P.T @ theta, 1e-300)) / n
    return theta


def weighed(pieces: Sequence[Seen], thetas: Sequence[Array], population: bool) -> tuple[Records, Records]:
    """What the records say through the inverses that fit each replicate's maximum likelihood estimate."""
    each = []
    for column in range(thetas[0].shape[1]):
        own = [(piece.holding(piece.counts[:, column]), theta) for piece, theta in zip(pieces, thetas, strict=True)]
        fitted = [piece.weighed(theta[:, column]) if reweighed(piece) else piece for piece, theta in own]
        each.append([one.flat() for one in records(fitted, population)])
    names = ("estimate", "most", "around", "own", "other", "pivot", "tilt")
    below, above = (
        Records(*(np.stack([getattr(pair[side], name) for pair in each], axis=-1) for name in names)) for side in (0, 1)
    )
    return below, above


def reweighed(shown: Seen) -> bool:
    """Whether maximum likelihood weighs the outputs in its own way: more outputs than values, nothing summed out."""
    return shown.full.cols > shown.full.rows and not shown.partial


def best_width(setting: Setting, tables: list[NDArray[np.int64]], level: float, population: bool) -> Array:
    """The mean width of ideal limits: an efficient normal estimate, its variance known, cut at 0 and N."""
    variance, count = 0.0, 0.0
    for shown, true in zip(setting.views, tables, strict=True):
        P, n = shown.full.dense(), true.sum()
        even = P.any(axis=1) / P.any(axis=1).sum()
        released = (true + 1e-6 * even) @ P
        A = shown.placed(shown.summed(left_inverse(P, released)))
        mine = shown.placed(shown.summed(true.astype(float)))
        variance = variance + (A**2) @ released - (mine**2 / n if population else mine)
        count = count + mine
    sd = np.sqrt(np.maximum(variance, 0.0))[:, None]
    n = sum(int(true.sum()) for true in tables)
    centre = np.asarray(count)[:, None] + sd * ndtri((np.arange(400) + 0.5) / 400)
    half = float(ndtri((1 + level) / 2)) * sd
    return np.asarray(np.maximum(np.clip(centre + half, 0, n) - np.clip(centre - half, 0, n), 0).mean(axis=1))


@dataclass
class Found:
    """Coverage of every cell and true table, and widths in units of the best."""

    cover: list[Array]
    width: list[Array]
    best: list[Array]

    @property
    def worst(self) -> float:
        return float(min(each.min() for each in self.cover))

    @property
    def mean(self) -> float:
        return float(np.concatenate(self.cover).mean())

    @property
    def ratio(self) -> float:
        return float(np.concatenate(self.width).sum() / max(np.concatenate(self.best).sum(), 1e-300))


def study(
    setting: Setting, n: int, runs: int, method: str, population: bool, levels: Sequence[float], seed: int
) -> list[Found]:
    """Coverage and width of one setting at each level."""
    rng = np.random.default_rng([seed, n, population])
    found = [Found([], [], []) for _ in levels]
    for tables in truths(setting, n, rng):
        pieces, values, thetas = [], [], []
        for shown, true in zip(setting.views, tables, strict=True):
            observed = draw(shown, true, runs, population, rng)
            piece = shown.holding(observed)
            value = piece.centre
            if method == "project":
                value = project(value, observed.sum(axis=0))
            if method == "mle":
                thetas.append(most_likely(shown, observed))
                value = piece.placed(shown.summed(thetas[-1])) * observed.sum(axis=0)
            pieces.append(piece)
            values.append(value)
        own_weights = thetas and any(reweighed(piece) for piece in pieces)
        told = weighed(pieces, thetas, population) if own_weights else records(pieces, population)
        value = np.sum(values, axis=0)
        truth = np.sum([p.placed(p.summed(true.astype(float))) for p, true in zip(pieces, tables, strict=True)], axis=0)
        # a cell whose count is known for certain says nothing about coverage
        open_ = (told[1].own[0] + told[0].other[0] > 1e-9).any(axis=-1)
        for level, one in zip(levels, found, strict=True):
            low, high = limits(*told, level, population)
            one.width.append((high - low).mean(axis=1)[open_])
            low, high = np.minimum(low, value), np.maximum(high, value)
            hit = (low <= truth[:, None] + 1e-9) & (truth[:, None] <= high + 1e-9)
            one.cover.append(hit.mean(axis=1)[open_])
            one.best.append(best_width(setting, tables, level, population)[open_])
    return found


def exact(k: int, p: float, n: int, level: float, population: bool) -> Array:
    """The coverage of every count from 0 to n under symmetric(k, p), as a finite sum: no replicates."""
    hits = np.arange(n + 1)
    released = np.vstack([hits, np.tile((n - hits) / (k - 1), (k - 1, 1))]).astype(np.float64)
    shown = Seen(("a",), blocks(scheme(a=c.symmetric(k, p)), ("a",)), released)
    low, high = (one[0] for one in limits(*records([shown], population), level, population))
    out = np.zeros(n + 1)
    for count in range(n + 1):
        if population:
            chance = binom.pmf(hits, n, (count * (1 - p) + (n - count) * p / (k - 1)) / n)
        else:
            own = binom.pmf(np.arange(count + 1), count, 1 - p)
            chance = np.convolve(own, binom.pmf(np.arange(n - count + 1), n - count, p / (k - 1)))
        out[count] = chance[(low <= count + 1e-9) & (count <= high + 1e-9)].sum()
    return out


def print_exact() -> None:
    """The least and the mean coverage over all counts, at each level."""
    print("| channel | N | of | .90 | .95 | .99 |\n|---|---|---|---|---|---|")
    for k, p in ((2, 0.45), (2, 0.25), (2, 0.1), (2, 0.01), (2, 0.001), (6, 0.5), (6, 0.05), (40, 0.2)):
        for n, population in ((50, False), (50, True), (200, False)):
            found = [exact(k, p, n, level, population) for level in LEVELS]
            cells = " | ".join(f"{one.min():.3f} / {one.mean():.3f}" for one in found)
            print(f"| symmetric({k}, {p}) | {n} | {'shares' if population else 'counts'} | {cells} |", flush=True)


def print_replicated(fast: bool) -> None:
    """Worst coverage, mean coverage and width over the best possible; at .90 and .99 the worst of all methods."""
    print("| channel | N | moment | project | mle | shares, moment | shares, mle | .90 | .99 |")
    print("|---|---|---|---|---|---|---|---|---|")
    for number, setting in enumerate(settings()):
        for n in RECORDS[:1] if fast else RECORDS:
            cells, others = [], []
            for method, population in METHODS:
                if method == "mle" and (fast or n == RECORDS[-1]):
                    cells.append("")
                    continue
                runs = 400 if fast else 1000 if method == "mle" else 2000
                low, middle, high = study(setting, n, runs, method, population, LEVELS, number)
                cells.append(f"{middle.worst:.3f} / {middle.mean:.3f} / {middle.ratio:.2f}")
                others.append((low.worst, high.worst))
            at = [min(pair[i] for pair in others) for i in (0, 1)]
            print(f"| {setting.name} | {n} | {' | '.join(cells)} | {at[0]:.3f} | {at[1]:.3f} |", flush=True)


def main() -> None:
    """Print the tables of docs/measured/intervals.md."""
    started = time.process_time()
    print_exact()
    print()
    print_replicated("--fast" in sys.argv)
    print(f"\n{time.process_time() - started:.0f} s of processor time")


if __name__ == "__main__":
    main()
