"""Do the intervals of curves hold where a covariate carries additive noise? ``python -m benchmarks.regression_noise``

Each replicate is a table with a number x in [0, 100] and a group of two, and a response that follows both. x is
released with noise, group and response are randomized; the regression is fitted and held against the coefficients that
made the response. Printed as in ``regression_coverage``.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import sfumato as sf
from sfumato import channels as c
from sfumato.arrays import Array
from sfumato.channels.noise import Noise
from sfumato.errors import SfumatoError, SfumatoWarning
from sfumato.learn import Regression


@dataclass(frozen=True)
class Setting:
    """A noise, a family, how x is spread, and the slopes of x and of the group."""

    noise: Noise
    family: str
    shape: str
    records: int
    slope: float = 0.04
    group: float = 0.7

    @property
    def limits(self) -> Array:
        """Where the classes of the response part."""
        return np.array([2.0] if self.family == "logistic" else [1.0, 2.5])


def settings() -> Iterator[Setting]:
    for noise in (c.gaussian(15), c.laplace(10), c.uniform(40)):
        yield Setting(noise, "logistic", "skewed", 1000)
        yield Setting(noise, "logistic", "skewed", 4000)
        yield Setting(noise, "logistic", "two humps", 4000, 0.06)
        yield Setting(noise, "ordinal", "skewed", 4000)
    yield Setting(c.gaussian(30), "logistic", "skewed", 4000)
    yield Setting(c.gaussian(30), "ordinal", "two humps", 4000)


def numbers(shape: str, n: int, rng: np.random.Generator) -> Array:
    if shape == "skewed":
        return np.asarray(100 * rng.beta(2, 4, n))
    return np.asarray(np.clip(rng.normal(np.where(rng.random(n) < 0.5, 30, 68), 9, n), 0.1, 99.9))


def study(one: Setting, runs: int, seed: int) -> tuple[Array, Array, Array, int]:
    """Coverage, bias and told / found of the slopes of x and of the group, and how many runs were refused."""
    values = ("no", "yes") if one.family == "logistic" else ("low", "middle", "high")
    schema = sf.Schema({"x": sf.Numeric(0, 100, bins=10), "g": sf.Categorical(("a", "b")), "y": sf.Ordinal(values)})
    scheme = sf.Scheme(schema, {"x": one.noise, "g": c.symmetric(2, 0.1), "y": c.symmetric(len(values), 0.1)})
    true, rng = np.array([one.slope, one.group]), np.random.default_rng(seed)
    found, told, inside = [], [], []
    for _ in range(runs):
        x = numbers(one.shape, one.records, rng)
        g = rng.random(one.records) < 0.3 + 0.004 * x
        hidden = one.slope * x + one.group * g + rng.logistic(size=one.records)
        y = np.array(values)[(hidden[:, None] > one.limits).sum(axis=1)]
        table = {"x": x, "g": np.where(g, "b", "a"), "y": y}
        release = sf.randomize(table, scheme, rng=sf.experiment(int(rng.integers(1 << 30))))
        try:
            fitted = Regression(one.family).fit(release, target="y", names=["x", "g"])
        except SfumatoError:
            continue
        at = [fitted.terms_.index("x"), fitted.terms_.index("g=b")]
        low, high = fitted.interval()
        found.append(fitted.coef_[at])
        told.append(fitted.sd_[at])
        inside.append((low[at] <= true) & (true <= high[at]))
    spread = np.std(found, axis=0)
    bias = (np.mean(found, axis=0) - true) / spread
    return np.mean(inside, axis=0), bias, np.mean(told, axis=0) / spread, runs - len(found)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.regression_noise")
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("settings", nargs="*", type=int, help="numbers of settings; all when left out")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", SfumatoWarning)
    heads = ["noise", "family", "values", "records", "coverage: x", "group", "bias / sd: x", "group"]
    print("| " + " | ".join([*heads, "told / found: x", "group", "refused"]) + " |\n|" + "---|" * 11)
    for number, one in enumerate(settings()):
        if asked.settings and number not in asked.settings:
            continue
        cover, bias, ratio, refused = study(one, asked.runs, 1000 * asked.seed + number)
        cells = [*(f"{v:.3f}" for v in cover), *(f"{v:+.2f}" for v in bias), *(f"{v:.2f}" for v in ratio), str(refused)]
        row = [f"{one.noise.kind}, sd {one.noise.sd:.0f}", one.family, one.shape, f"{one.records:,}", *cells]
        print("| " + " | ".join(row) + " |", flush=True)
    print(f"\n{asked.runs} runs each")


if __name__ == "__main__":
    main()
