"""How often the answers of whole releases hold the truth: joined, under additive noise, from forms, by the joint model.

``python -m benchmarks.question_coverage_released [--runs=150] [--only=joined]``. Where ``question_coverage`` draws
released counts, here every replicate is a table that is randomized, joined or concatenated where the setting says so,
and asked. The truth is that of the distribution behind the tables; it is known from a table of two million records.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import sfumato as sf
from sfumato import channels as c
from sfumato.arrays import Array
from sfumato.errors import SfumatoWarning

Z = 1.959963984540054
LARGE = 2_000_000
SHAPES = ("skewed", "two humps")
#: Intervals do not depend on whether estimates are smoothed, which takes time.
QUESTIONS: dict[str, Callable[[Any], Any]] = {
    "mean": lambda ev: ev.mean("x", smooth=False),
    "mean by group": lambda ev: ev.mean("x", by="g", smooth=False),
    "difference": lambda ev: ev.mean("x", by="g", smooth=False).contrast("b", "a"),
    "quartiles": lambda ev: ev.quantile("x", [0.25, 0.5, 0.75], smooth=False),
    "running shares": lambda ev: ev.cdf("x", smooth=False),
    "correlation": lambda ev: ev.correlation("x", "y"),
}


def people(n: int, shape: str, rng: np.random.Generator) -> dict[str, Array]:
    """A number x in [0, 100], a number y in [0, 10] that goes with it, and a group of two."""
    group = rng.random(n) < 0.4
    if shape == "skewed":
        x = 100 * rng.beta(2, 5 - 1.5 * group)
    else:
        x = np.clip(np.where(rng.random(n) < 0.5 + 0.2 * group, rng.normal(30, 8, n), rng.normal(68, 10, n)), 0.1, 99.9)
    y = np.clip(x / 20 + rng.normal(2, 1.5, n), 0.01, 9.99)
    return {"id": np.arange(n), "g": np.where(group, "b", "a"), "x": x, "y": y}


def schema(bins: int = 20) -> sf.Schema:
    return sf.Schema(
        {"g": sf.Categorical(("a", "b")), "x": sf.Numeric(0, 100, bins=bins), "y": sf.Numeric(0, 10, bins=5)}
    )


@cache
def truth(shape: str, noisy: bool, question: str) -> Array:
    """What the distribution answers; under additive noise x is not binned, so that very narrow bins stand for it."""
    ev = sf.evidence(people(LARGE, shape, np.random.default_rng(1)), schema(1000 if noisy else 20))
    return np.asarray(QUESTIONS[question](ev).value)


@dataclass(frozen=True)
class Setting:
    """How one replicate is made and asked."""

    name: str
    n: int
    shape: str
    release: Callable[[dict[str, Array], np.random.Generator], sf.Release]
    method: str = "moment"
    noisy: bool = False


def scheme(x: Any, **more: Any) -> sf.Scheme:
    own = schema()
    return sf.Scheme(own, {"g": c.symmetric(2, 0.15), "y": c.windows(5, 9), **more, "x": x})


def joined(table: dict[str, Array], rng: np.random.Generator) -> sf.Release:
    """One party holds x, another the group and y; of other people two more parties do so, under other channels."""
    own, half = schema(), len(table["id"]) // 2
    parts = []
    for rows, gamma in ((slice(0, half), 9), (slice(half, None), 20)):
        held = {name: values[rows] for name, values in table.items()}
        left = sf.Scheme(own.select(["x"]), {"x": c.windows(20, gamma)})
        right = sf.Scheme(own.select(["g", "y"]), {"g": c.symmetric(2, 0.15), "y": c.windows(5, gamma)})
        one, other = (
            sf.randomize(held, s, id="id", clear_ids=True, rng=sf.experiment(int(rng.integers(1 << 30))))
            for s in (left, right)
        )
        parts.append(one.join(other))
    return sf.Release.concat(parts)


def plain(own: sf.Scheme) -> Callable[[dict[str, Array], np.random.Generator], sf.Release]:
    return lambda table, rng: sf.randomize(table, own, rng=sf.experiment(int(rng.integers(1 << 30))))


def formed(table: dict[str, Array], rng: np.random.Generator) -> sf.Release:
    forms = sf.Forms.for_gamma(schema(), gamma=20, ask=2)
    return sf.randomize(table, forms, rng=sf.experiment(int(rng.integers(1 << 30))))


def settings() -> Iterator[Setting]:
    warnings.simplefilter("ignore", SfumatoWarning)
    clear = c.identity(2)
    for shape in SHAPES:
        for n in (500, 5000):
            yield Setting("joined", n, shape, joined)
            yield Setting("forms of two", n, shape, formed)
            for name, noise in (("uniform 40", c.uniform(40)), ("laplace 10", c.laplace(10))):
                yield Setting(f"{name}, groups clear", n, shape, plain(scheme(noise, g=clear)), noisy=True)
            yield Setting("gaussian 15, groups randomized", n, shape, plain(scheme(c.gaussian(15))), noisy=True)
            yield Setting("joint model", n, shape, plain(scheme(c.windows(20, 9))), method="model")


def study(setting: Setting, runs: int, seed: int) -> dict[str, float | str]:
    """The share of 95 % intervals that hold the truth, for every question; the mean over its rows."""
    inside: dict[str, list[float]] = {}
    refused: dict[str, str] = {}
    rng = np.random.default_rng([seed, *map(ord, f"{setting.name} {setting.n} {setting.shape}")])
    for _ in range(runs):
        release = setting.release(people(setting.n, setting.shape, rng), rng)
        ev = sf.evidence(release, method=setting.method)
        for name, ask in QUESTIONS.items():
            if name in refused:
                continue
            try:
                answer = ask(ev).population()
            except sf.errors.SfumatoError as problem:
                refused[name] = str(problem)
                continue
            low, high = answer.limits(Z)
            wanted = _at(setting, name, answer)
            inside.setdefault(name, []).append(float(np.mean((low <= wanted) & (wanted <= high))))
    return {name: float(np.mean(held)) for name, held in inside.items()} | dict.fromkeys(refused, "refused")


def _at(setting: Setting, name: str, answer: Any) -> Array:
    """The truth at the places of the answer's rows."""
    found = truth(setting.shape, setting.noisy, name)
    if name != "running shares" or not setting.noisy:
        return found
    ends = np.array(answer.keys["up_to"])
    return np.interp(ends, np.linspace(0, 100, 1001), np.append(0.0, found))


def main() -> None:
    runs = int(next((a.split("=")[1] for a in sys.argv if a.startswith("--runs=")), 150))
    only = next((a.split("=")[1] for a in sys.argv if a.startswith("--only=")), "")
    seed = int(next((a.split("=")[1] for a in sys.argv if a.startswith("--seed=")), 0))
    started = time.time()
    print(f"| setting | records | values | {' | '.join(QUESTIONS)} |\n|---|---|---|{'---|' * len(QUESTIONS)}")
    for setting in settings():
        if only not in f"{setting.name} {setting.n} {setting.shape}":
            continue
        found = study(setting, runs, seed)
        cells = (found.get(name, "") for name in QUESTIONS)
        shown = " | ".join(f"{cell:.3f}".lstrip("0") if isinstance(cell, float) else cell for cell in cells)
        print(f"| {setting.name} | {setting.n:,} | {setting.shape} | {shown} |", flush=True)
    print(f"\n{runs} releases a setting; {time.time() - started:.0f} s")


if __name__ == "__main__":
    main()
