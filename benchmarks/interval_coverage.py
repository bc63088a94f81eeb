"""How often intervals hold the truth, and how wide they are: ``python -m benchmarks.interval_coverage [--fast]``.

Every row is the worst over three true tables: even, random, and all records in one cell. Replicates are drawn as
released counts, thousands at a time, and go through the same code as any estimate.

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

import sfumato as sf
from sfumato import channels as c
from sfumato.channels import Channel
from sfumato.channels.base import left_inverse
from sfumato.channels.linear import Dense
from sfumato.evidence.limits import Records, limits
from sfumato.evidence.pieces import Piece, records
from sfumato.evidence.simplex import project
from sfumato.evidence.view import View, view

Array = NDArray[np.float64]
LEVELS = (0.9, 0.95, 0.99)
#: Numbers of records; the method was chosen at 50, 100, 300 and 400.
RECORDS = (50, 120, 500)
WEAK = [[0.5, 0.3, 0.2], [0.4, 0.35, 0.25], [0.3, 0.3, 0.4]]
VALID = [("a", "x"), ("a", "y"), ("b", "y"), ("c", "x")]


@dataclass(frozen=True)
class Setting:
    """Schemes of one or more parts (with their shares of the records), and the attributes that are asked for."""

    name: str
    schemes: Sequence[sf.Scheme]
    asked: tuple[str, ...]
    shares: tuple[float, ...] = (1.0,)

    @property
    def views(self) -> list[View]:
        return [view(scheme, self.asked) for scheme in self.schemes]


def _scheme(**channels: Channel) -> sf.Scheme:
    """A scheme with an attribute for each channel, and one for each axis of a joint channel."""
    domains: dict[str, sf.Categorical] = {}
    assigned: dict[str | tuple[str, ...], Channel] = {}
    for name, channel in channels.items():
        names = [name] if len(channel.sizes) == 1 else [f"{name}{i}" for i in range(len(channel.sizes))]
        domains |= {n: sf.Categorical(tuple(range(size))) for n, size in zip(names, channel.sizes, strict=True)}
        assigned[names[0] if len(names) == 1 else tuple(names)] = channel
    return sf.Scheme(sf.Schema(domains), assigned)


def _one(name: str, channel: Channel) -> Setting:
    scheme = _scheme(a=channel)
    return Setting(name, [scheme], scheme.schema.names)


def _with_zeros(**others: Channel) -> sf.Scheme:
    schema = sf.Schema(
        {"g": sf.Categorical(("a", "b", "c")), "h": sf.Categorical(("x", "y"))}
        | {name: sf.Ordinal(tuple(range(channel.k))) for name, channel in others.items()}
    )
    return sf.Scheme(schema, {("g", "h"): c.symmetric(valid=VALID, p=0.35), **others})


def settings() -> list[Setting]:
    """Every family of channels, joint groups, structural zeros, products, and parts under different schemes."""
    general = np.random.default_rng(17).dirichlet(np.ones(5), 4)
    halves = [_scheme(a=c.symmetric(3, 0.08)), _scheme(a=c.symmetric(3, 0.5))]
    mixed = [_scheme(a=c.subset(6, 4)), _scheme(a=c.windows(6, 3))]
    zeros = _with_zeros()
    clear = _scheme(a=c.symmetric(3, 0.02), b=c.binary(0.01, 0.03))
    return [
        _one("symmetric(2, .45) *", c.symmetric(2, 0.45)),
        _one("symmetric(2, .06)", c.symmetric(2, 0.06)),
        _one("symmetric(4, .35)", c.symmetric(4, 0.35)),
        _one("symmetric(20, .02)", c.symmetric(20, 0.02)),
        _one("binary(.2, .06)", c.binary(0.2, 0.06)),
        _one("binary(.35, 0)", c.binary(0.35, 0.0)),
        _one("ternary(.2, .1)", c.ternary(0.2, 0.1)),
        _one("matrix, weak *", c.matrix(WEAK)),
        _one("matrix, 4 x 5", c.matrix(general)),
        _one("invariant(symmetric(5, .5)) *", c.invariant(c.symmetric(5, 0.5), [0.1, 0.15, 0.2, 0.25, 0.3])),
        _one("invariant(symmetric(3, .3))", c.invariant(c.symmetric(3, 0.3), [0.7, 0.2, 0.1])),
        _one("blocks", c.blocks([c.symmetric(3, 0.4), c.symmetric(2, 0.15)])),
        _one("subset(10, 3)", c.subset(10, 3)),
        _one("subset(13, 2), projective", c.subset(13, 2, design="projective")),
        _one("windows(12, 4)", c.windows(12, 4)),
        _one("windows(6, 15)", c.windows(6, 15)),
        _one("mask(.15), 3 items", c.mask(0.15, items=3)),
        _one("select_a_size, 3 items", c.select_a_size([0.1, 0.2, 0.3, 0.4], 0.2, items=3)),
        _one("symmetric((2, 3), .35)", c.symmetric((2, 3), 0.35)),
        Setting("structural zeros", [zeros], ("g", "h")),
        Setting("structural zeros, summed out", [zeros], ("g",)),
        Setting("structural zeros x windows", [_with_zeros(w=c.windows(4, 5))], ("w", "g", "h")),
        Setting("summed out x windows", [_with_zeros(w=c.windows(4, 5))], ("h", "w")),
        Setting("symmetric x binary", [_scheme(a=c.symmetric(3, 0.25), b=c.binary(0.1, 0.2))], ("b", "a")),
        Setting("symmetric x binary, nearly exact", [clear], ("a", "b")),
        Setting("identity x symmetric", [_scheme(a=c.identity(2), b=c.symmetric(3, 0.4))], ("a", "b")),
        Setting("two parts, symmetric(3, .08 and .5)", halves, ("a",), (0.5, 0.5)),
        Setting("two parts, subset and windows", mixed, ("a",), (0.7, 0.3)),
    ]


def truths(setting: Setting, n: int, rng: np.random.Generator) -> Iterator[list[NDArray[np.int64]]]:
    """True tables of each part: even, random, and everything in one cell (another one in every part)."""
    views = setting.views
    possible = [np.flatnonzero(shown.full.apply(np.ones(shown.full.cols)) > 0) for shown in views]
    sizes = [round(n * share) for share in setting.shares]
    for kind in ("even", "random", "one"):
        tables = []
        for part, (shown, cells, size) in enumerate(zip(views, possible, sizes, strict=True)):
            shares = np.ones(len(cells)) if kind == "even" else rng.dirichlet(np.full(len(cells), 0.4))
            if kind == "one":
                shares = np.eye(len(cells))[part % len(cells)]
            table = np.zeros(shown.full.rows, dtype=np.int64)
            exact = size * shares / shares.sum()
            table[cells] = exact
            table[cells[np.argsort(table[cells] - exact)[: size - int(table.sum())]]] += 1
            tables.append(table)
        yield tables


def draw(shown: View, true: NDArray[np.int64], runs: int, population: bool, rng: np.random.Generator) -> Array:
    """Released counts, a column per replicate."""
    P = shown.full.dense()
    if population:
        q = true @ P
        return rng.multinomial(int(true.sum()), q / q.sum(), runs).T.astype(np.float64)
    drawn = [rng.multinomial(int(count), P[cell] / P[cell].sum(), runs) for cell, count in enumerate(true) if count]
    return np.sum(drawn, axis=0).T.astype(np.float64)


def place(shown: View, asked: tuple[str, ...], schema: sf.Schema) -> NDArray[np.int64]:
    sizes = schema.sizes(shown.axes)
    cells = np.arange(int(np.prod(sizes))).reshape(sizes)
    return np.asarray(cells.transpose([shown.axes.index(name) for name in asked]).reshape(-1))


def most_likely(shown: View, observed: Array, steps: int = 400) -> Array:
    """Maximum likelihood shares of all cells by EM, a column per replicate."""
    P, n = shown.full.dense(), observed.sum(axis=0)
    possible = P.any(axis=1)
    theta = np.repeat((possible / possible.sum())[:, None], observed.shape[1], axis=1)
    for _ in range(steps):
        theta *= P @ (observed / np.maximum(P.T @ theta, 1e-300)) / n
    return theta


def weighed(piece: Piece, theta: Array) -> Records:
    """What the records say through the inverse that fits each replicate's maximum likelihood estimate."""
    shown, P = piece.shown, piece.shown.full.dense()
    even = P.any(axis=1) / P.any(axis=1).sum()
    each = []
    for column in range(theta.shape[1]):
        seen = piece.observed[:, column]
        inverse = Dense(left_inverse(P, P.T @ (theta[:, column] * seen.sum() + even)))
        each.append(records([Piece(inverse, seen, shown, piece.place)], False)[0])
    flat = [one.flat() for one in each]
    names = ("estimate", "most", "own", "other", "pivot", "tilt")
    return Records(*(np.stack([getattr(one, name) for one in flat], axis=-1) for name in names))


def best_width(setting: Setting, tables: list[NDArray[np.int64]], level: float, population: bool) -> Array:
    """The mean width of ideal limits: an efficient normal estimate, its variance known, cut at 0 and N."""
    variance, count = 0.0, 0.0
    for shown, true in zip(setting.views, tables, strict=True):
        at = place(shown, setting.asked, setting.schemes[0].schema)
        P, n = shown.full.dense(), true.sum()
        even = P.any(axis=1) / P.any(axis=1).sum()
        released = (true + 1e-6 * even) @ P
        A = shown.summed(left_inverse(P, released))[at]
        mine = shown.summed(true.astype(float))[at]
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
        pieces, values = [], []
        told = None
        for shown, true in zip(setting.views, tables, strict=True):
            observed = draw(shown, true, runs, population, rng)
            piece = Piece(shown.inverse, observed, shown, place(shown, setting.asked, setting.schemes[0].schema))
            value = piece.centre
            if method == "project":
                value = project(value, observed.sum(axis=0))
            if method == "mle":
                theta = most_likely(shown, observed)
                value = piece.placed(shown.summed(theta)) * observed.sum(axis=0)
                if shown.full.cols > shown.full.rows and not shown.partial and len(tables) == 1:
                    told = (weighed(piece, theta),) * 2
            pieces.append(piece)
            values.append(value)
        told = told or records(pieces, population)
        value = np.sum(values, axis=0)
        truth = np.sum(
            [p.placed(p.shown.summed(true.astype(float))) for p, true in zip(pieces, tables, strict=True)], axis=0
        )
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


def main() -> None:
    """Print the table that stands in docs/intervals.md."""
    fast = "--fast" in sys.argv
    started = time.process_time()
    print("| channel | N | of | method | worst .90 | worst .95 | worst .99 | mean .95 | width / best |")
    print("|---|---|---|---|---|---|---|---|---|")
    for number, setting in enumerate(settings()):
        for n in RECORDS[:1] if fast else RECORDS:
            for method, population in (("moment", False), ("moment", True), ("project", False), ("mle", False)):
                if method in ("project", "mle") and (fast or n == RECORDS[-1]):
                    continue
                runs = 400 if fast else 500 if method == "mle" else 2000
                low, middle, high = study(setting, n, runs, method, population, LEVELS, number)
                of = "shares" if population else "counts"
                worst = " | ".join(f"{found.worst:.3f}" for found in (low, middle, high))
                about = f"{setting.name} | {n} | {of} | {method}"
                print(f"| {about} | {worst} | {middle.mean:.3f} | {middle.ratio:.2f} |", flush=True)
    print(f"\n{time.process_time() - started:.0f} s of processor time")


if __name__ == "__main__":
    main()
