"""Do the intervals of regression coefficients hold? ``python -m benchmarks.regression_coverage``

Released counts are drawn from the multinomial that population and channels give, the regression is fitted to them, and
its coefficients are held against those of the population itself. Printed: for each setting the least and the largest
coverage of 95 % intervals over the coefficients, the largest bias in units of a standard error, and the ratio of the
mean standard error told to the standard deviation found.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import sfumato as sf
from sfumato import channels as c
from sfumato.channels import Channel
from sfumato.domains import Domain
from sfumato.errors import SfumatoError, SfumatoWarning
from sfumato.evidence.blocks import blocks
from sfumato.evidence.seen import Seen
from sfumato.learn import Regression
from sfumato.learn.regression.design_columns import columns_of, matrix
from sfumato.learn.regression.families import Family, Gaussian, Logistic, Ordinal
from sfumato.learn.regression.newton import solve

Array = NDArray[np.float64]
Make = Callable[[int], Channel]


@dataclass(frozen=True)
class Setting:
    """A population of covariates and response, the channels of each part, and what is asked."""

    name: str
    family: str
    sizes: tuple[int, ...]  # of the covariates: two values make a category, more a number
    classes: int  # of the response
    slopes: tuple[float, ...]  # of the covariates, each from 0 to 1
    constant: float
    schemes: tuple[tuple[Make, ...], ...]  # channels of every part, the response's last
    records: tuple[int, ...]  # of every part
    terms: tuple[str, ...] = ()  # all covariates unless told
    through: str = "auto"
    most_runs: int = 1000  # where a run takes long
    grouped: bool = False  # whether the last covariate and the response are randomized together

    @property
    def schema(self) -> sf.Schema:
        held: dict[str, Domain] = {f"x{i}": _domain(k) for i, k in enumerate(self.sizes)}
        kind = sf.Categorical if self.family == "logistic" else sf.Ordinal
        held["y"] = sf.Numeric(0, 10, bins=self.classes) if self.family == "gaussian" else kind(_labels(self.classes))
        return sf.Schema(held)

    def population(self) -> Array:
        """The shares of all cells: covariates that lean on each other, and a response that follows them."""
        shape = (*self.sizes, self.classes)
        codes = np.indices(self.sizes)
        scaled = [code / max(k - 1, 1) for code, k in zip(codes, self.sizes, strict=True)]
        lean = sum(0.8 * one * other for one, other in pairwise(scaled)) if codes.size else 0.0
        x = np.exp(lean - 0.3 * sum(scaled))
        mean = self.constant + sum(b * own for b, own in zip(self.slopes, scaled, strict=True))
        mean = mean + (1.5 * scaled[0] * scaled[1] if any(":" in term for term in self.terms) else 0.0)
        if self.family == "gaussian":
            y = np.exp(-0.5 * ((np.arange(self.classes) - mean[..., None] * (self.classes - 1)) / 1.3) ** 2)
        elif self.family == "logistic":
            y = np.stack([np.ones_like(mean), np.exp(mean)], axis=-1)
        else:
            limits = np.linspace(-1, 1.5, self.classes - 1)
            below = 1 / (1 + np.exp(-(limits - mean[..., None])))
            edge = np.zeros((*mean.shape, 1))
            y = np.diff(np.concatenate([edge, below, edge + 1], axis=-1), axis=-1)
        joint = (x / x.sum())[..., None] * (y / y.sum(axis=-1, keepdims=True))
        return np.asarray(joint.reshape(prod(shape)))

    def scheme(self, makers: Sequence[Make]) -> sf.Scheme:
        names, sizes = self.schema.names, (*self.sizes, self.classes)
        if not self.grouped:
            return sf.Scheme(self.schema, {n: make(k) for n, k, make in zip(names, sizes, makers, strict=True)})
        own = {n: make(k) for n, k, make in zip(names[:-2], sizes[:-2], makers[:-2], strict=True)}
        return sf.Scheme(self.schema, own | {names[-2:]: c.symmetric(sizes[-2:], 0.3)})


def _labels(k: int) -> tuple[str, ...]:
    return tuple("abcdefgh"[:k])


def _domain(k: int) -> Domain:
    return sf.Categorical(_labels(k)) if k == 2 else sf.Numeric(0, 1, points=k)


def symmetric(gamma: float) -> Make:
    return lambda k: c.symmetric(k, gamma=gamma)


def windows(gamma: float) -> Make:
    return lambda k: c.windows(k, gamma)


def subset(gamma: float) -> Make:
    return lambda k: c.subset(k, gamma)


def settings() -> list[Setting]:
    """Few and many records, weak and strong channels, mixes, groups, parts, rare events, many covariates."""
    s, w, u, clear = symmetric, windows, subset, c.identity
    two, slopes = (5, 2), (1.5, 0.7)
    out = [
        Setting("response only, gamma 9", "logistic", two, 2, slopes, -1, ((clear, clear, s(9)),), (300,)),
        Setting("all, gamma 19", "logistic", two, 2, slopes, -1, ((s(19), s(19), s(19)),), (1500,)),
        Setting("all, gamma 9", "logistic", two, 2, slopes, -1, ((s(9), s(9), s(9)),), (3000,)),
        Setting("all, gamma 5", "logistic", two, 2, slopes, -1, ((s(5), s(5), s(5)),), (12_000,)),
        Setting("two categories, gamma 3", "logistic", (2, 2), 2, (0.8, 0.7), -1, ((s(3), s(3), s(3)),), (30_000,)),
        Setting("windows, subset", "logistic", (6, 2), 2, slopes, -1, ((w(9), s(9), s(9)),), (5000,)),
        Setting("rare event", "logistic", two, 2, slopes, -4, ((s(19), s(19), s(39)),), (10_000,)),
        Setting("interaction", "logistic", (5, 2), 2, (0.5, -0.5), -0.5, ((s(9), s(9), s(9)),), (10_000,), ("x0*x1",)),
        Setting("a group", "logistic", two, 2, slopes, -1, ((s(9), s(9), s(9)),), (3000,), grouped=True),
        Setting("two parts", "logistic", two, 2, slopes, -1, ((s(5),) * 3, (s(19),) * 3), (6000, 1500)),
        Setting("five covariates", "logistic", (2,) * 5, 2, (0.8,) * 5, -2, ((s(19),) * 6,), (6000,)),
        Setting("response only, gamma 9", "gaussian", two, 6, (0.3, 0.2), 0.2, ((clear, clear, s(9)),), (300,)),
        Setting("all, gamma 19", "gaussian", two, 6, (0.3, 0.2), 0.2, ((s(19), s(19), s(19)),), (1500,)),
        Setting("all, gamma 9", "gaussian", two, 6, (0.3, 0.2), 0.2, ((s(9), s(9), s(9)),), (3000,)),
        Setting("all, gamma 5", "gaussian", two, 6, (0.3, 0.2), 0.2, ((s(5), s(5), s(5)),), (12_000,)),
        Setting("two categories, gamma 3", "gaussian", (2, 2), 6, (0.3, 0.2), 0.2, ((s(3), s(3), s(3)),), (30_000,)),
        Setting("windows, subset", "gaussian", (6, 2), 8, (0.3, 0.2), 0.2, ((w(9), s(9), u(9)),), (5000,)),
        Setting("interaction", "gaussian", (5, 2), 6, (0.2, -0.1), 0.3, ((s(9), s(9), s(9)),), (10_000,), ("x0*x1",)),
        Setting("two parts", "gaussian", two, 6, (0.3, 0.2), 0.2, ((s(5),) * 3, (s(19),) * 3), (6000, 1500)),
        Setting("eight covariates", "gaussian", (2,) * 8, 4, (0.1,) * 8, 0.1, ((s(9),) * 9,), (5000,)),
        Setting("all, gamma 9", "ordinal", two, 4, slopes, 0, ((s(9), s(9), s(9)),), (3000,)),
        Setting("windows, subset", "ordinal", (6, 2), 4, slopes, 0, ((w(9), s(9), w(9)),), (5000,)),
    ]
    eight = ((s(9),) * 9,)
    through = [
        Setting("joint model", "logistic", two, 2, slopes, -1, ((s(9), s(9), s(9)),), (3000,), through="model"),
        Setting("joint model, eight", "logistic", (2,) * 8, 2, (0.6,) * 8, -2, eight, (6000,), through="model"),
        Setting("joint model, eight", "gaussian", (2,) * 8, 4, (0.1,) * 8, 0.1, eight, (5000,), through="model"),
    ]
    slopes = (0.8, 0.5, -0.5, *[0.0] * 14)
    many = Setting("seventeen", "logistic", (2,) * 17, 2, slopes, -0.5, ((s(19),) * 18,), (4000,), most_runs=200)
    three, slopes = (6, 4, 2), (1.5, 0.7, 0.5)
    ordinal = [
        Setting("joint model", "ordinal", three, 4, slopes, 0, ((w(9), w(9), s(9), w(9)),), (5000,), through="model"),
        Setting(
            "joint, gamma 3", "ordinal", three, 4, slopes, 0, ((w(3), w(3), s(3), w(3)),), (9000,), through="model"
        ),
    ]
    return [*out, *through, many, *ordinal]


def truth(setting: Setting, terms: Sequence[str]) -> Array:
    """The coefficients of the population."""
    weights = setting.population()
    codes = np.unravel_index(np.arange(len(weights)), (*setting.sizes, setting.classes))
    columns = columns_of(terms, setting.schema)
    y = codes[-1].astype(np.float64)
    family: Family = Logistic()
    if setting.family == "gaussian":
        family, y = Gaussian(), setting.schema["y"].midpoints[codes[-1]]
    if setting.family == "ordinal":
        family, columns = Ordinal(setting.classes), columns[1:]
    X = matrix(columns, dict(zip(setting.schema.names, codes, strict=True)), len(y))

    def equations(beta: Array) -> tuple[Array, Array] | None:
        score = family.score(beta, X, y)
        return None if score is None else (weights @ score, family.information(beta, X, y, weights))

    return solve(equations, family.start(X, y, weights)).beta


@dataclass
class Found:
    """What the runs of one setting gave."""

    cover: Array
    bias: Array
    ratio: Array
    refused: int
    otherwise: int  # runs in which the joint model was asked though it was not wanted


def study(setting: Setting, runs: int, seed: int) -> Found:
    """Draw, fit, compare."""
    rng = np.random.default_rng(seed)
    names = setting.schema.names
    theta = setting.population()
    terms = setting.terms or names[:-1]
    true = truth(setting, terms)
    parts = []
    for makers in setting.schemes:
        scheme = setting.scheme(makers)
        seen = Seen(names, blocks(scheme, names), np.zeros(0))
        columns = [column for block in seen.blocks for column in block.columns]
        outputs = [size for block in seen.blocks for size in block.outputs]
        parts.append((scheme, seen.forward(theta), columns, outputs))
    values, errors, inside = [], [], []
    refused = otherwise = 0
    for _ in range(runs):
        releases = []
        for (scheme, q, columns, outputs), n in zip(parts, setting.records, strict=True):
            counts = rng.multinomial(n, np.maximum(q, 0) / np.maximum(q, 0).sum())
            codes = np.unravel_index(np.repeat(np.arange(len(q)), counts), outputs)
            releases.append(sf.Release(pa.table(dict(zip(columns, codes, strict=True))), scheme))
        release = releases[0] if len(releases) == 1 else sf.Release.concat(releases)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SfumatoWarning)
                found = Regression(setting.family, through=setting.through).fit(release, target="y", names=terms)
        except SfumatoError:
            refused += 1
            continue
        otherwise += found.method_.startswith("cells") and setting.through == "auto"
        low, high = found.interval(0.95)
        values.append(found.coef_)
        errors.append(found.sd_)
        inside.append((low <= true) & (true <= high))
    spread = np.std(values, axis=0)
    bias = (np.mean(values, axis=0) - true) / spread
    return Found(np.mean(inside, axis=0), bias, np.mean(errors, axis=0) / spread, refused, otherwise)


def main() -> None:
    """Print the table of docs/measured/regression.md."""
    parser = argparse.ArgumentParser(prog="benchmarks.regression_coverage")
    parser.add_argument("settings", nargs="*", help="numbers of settings; all when left out")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    started = time.process_time()
    print("| family | setting | N | coverage | bias / sd | told / found | refused | by model |")
    print("|---|---|---|---|---|---|---|---|")
    for number, setting in enumerate(settings()):
        if options.settings and str(number) not in options.settings:
            continue
        found = study(setting, min(options.runs, setting.most_runs), 1000 * options.seed + number)
        records = " + ".join(f"{n:,}" for n in setting.records)
        cover, ratio = (f"{one.min():.{d}f} to {one.max():.{d}f}" for one, d in ((found.cover, 3), (found.ratio, 2)))
        worst = found.bias[np.abs(found.bias).argmax()]
        row = [setting.family, setting.name, records, cover, f"{worst:+.2f}", ratio, found.refused, found.otherwise]
        print("| " + " | ".join(map(str, row)) + " |", flush=True)
    print(f"\n{options.runs} runs each, {time.process_time() - started:.0f} s of processor time")


if __name__ == "__main__":
    main()
