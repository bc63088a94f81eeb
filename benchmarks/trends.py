"""How often a trend is found, and how often one is that is not there.

``python -m benchmarks.trends [--runs 500] [--seed 1] [--only "sex, age"]``.

Two attributes depend on each other by a linear-by-linear term (or not at all), both are randomized, and the tests look
at the release. The baseline is what an analyst would do: the z-test of the difference between two means, of y where x
is high and where it is low (the chi-square test of equal means where x has no order). It knows the direction of the
trend, and nothing else.

z is the baseline, "general" the Wald test of all contrasts, which knows no order, "ours" the p-value of an edge. Then
the edges that structure search takes, without order and with it. The last columns have the same false alarms: the
twentieth part of the releases without a trend, whatever threshold that takes.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.special import chdtrc

import sfumato as sf
from sfumato import channels as c
from sfumato.channels import Channel
from sfumato.errors import SfumatoWarning
from sfumato.evidence.independence import ODDS, association
from sfumato.evidence.questions.values import numbers

SHAPES = {
    "even": lambda k: np.ones(k),
    "falling": lambda k: np.exp(-3 * np.arange(k) / k),
    "bell": lambda k: np.exp(-0.5 * ((np.arange(k) - (k - 1) / 2) / (k / 4.5)) ** 2),
    "heaped": lambda k: 1 + 2.0 * (np.arange(k) % 4 == 1),
}
AGE, STEPS = sf.Numeric(0, 120, bins=12), sf.Numeric(0, 100, points=11)
INCOME = sf.Numeric(edges=(0, 10, 20, 30, 50, 80, 150, 400))
OPINION = sf.Ordinal(("never", "seldom", "sometimes", "often", "always"))
MONTH = sf.Date("2024-01", "2024-12", "month")


@dataclass(frozen=True)
class Setting:
    """Two attributes with their shapes and channels, the records and the strength of the trend."""

    name: str
    x: sf.Domain
    y: sf.Domain
    shapes: tuple[str, str]
    channels: tuple[Callable[[int], Channel], Callable[[int], Channel]]
    n: int
    strength: float
    bent: bool = False  # the middle of y goes with the upper end of x, its ends with the lower: no trend
    given: bool = False  # both depend on a third attribute, and are tested given it


def strict(gamma: float) -> Callable[[int], Channel]:
    return partial(c.symmetric, gamma=gamma)


def windows(gamma: float) -> Callable[[int], Channel]:
    return partial(c.windows, gamma=gamma)


SEX = sf.Categorical(("F", "M"))
TOWN = sf.Categorical(("a", "b", "c", "d"))
LITTLE, SOME, MORE = (partial(c.symmetric, p=p) for p in (0.2, 0.3, 0.4))
SETTINGS = (
    Setting("sex, age", SEX, AGE, ("even", "even"), (LITTLE, MORE), 3000, 0.135),
    Setting("sex, income", SEX, INCOME, ("even", "falling"), (LITTLE, MORE), 3000, 0.22),
    Setting("sex, age by windows", SEX, AGE, ("even", "heaped"), (strict(3), windows(3)), 6000, 0.21),
    Setting("sex, steps", SEX, STEPS, ("even", "bell"), (strict(9), partial(c.subset, gamma=9)), 2000, 0.19),
    Setting("opinion, age", OPINION, AGE, ("bell", "falling"), (SOME, MORE), 4000, 0.15),
    Setting("opinion, opinion", OPINION, OPINION, ("even", "falling"), (strict(5), strict(5)), 4000, 0.2),
    Setting("age, income by windows", AGE, INCOME, ("bell", "falling"), (windows(5), windows(5)), 4000, 0.28),
    Setting("month, opinion", MONTH, OPINION, ("even", "bell"), (windows(9), LITTLE), 2000, 0.17),
    Setting("town, income", TOWN, INCOME, ("even", "falling"), (LITTLE, MORE), 3000, 0.2),
    Setting("opinion, income, raw", OPINION, INCOME, ("even", "bell"), (c.identity, c.identity), 400, 0.13),
)
#: What is no plain trend: nothing is compared with z, whose place this is not.
OTHERS = (
    Setting("sex, age, bent", SEX, AGE, ("even", "even"), (LITTLE, MORE), 3000, 0.22, bent=True),
    Setting("opinion, income, bent", OPINION, INCOME, ("even", "bell"), (LITTLE, LITTLE), 2000, 0.2, bent=True),
    Setting("opinion, age given region", OPINION, AGE, ("even", "even"), (LITTLE, LITTLE), 6000, 0.09, given=True),
    Setting("sex, opinion given region", SEX, OPINION, ("even", "falling"), (LITTLE, MORE), 8000, 0.25, given=True),
)


def joint(one: Setting) -> np.ndarray:
    """Shares with the margins of the shapes and odds ratios that grow with the product of the scores."""
    sides = []
    for domain, shape in zip((one.x, one.y), one.shapes, strict=True):
        p = SHAPES[shape](domain.size)
        p = p / p.sum()
        u = np.arange(domain.size) - p @ np.arange(domain.size)
        sides.append((p, u / np.sqrt(p @ u**2)))
    (p, u), (q, v) = sides
    if one.bent:
        v = v**2 - q @ v**2
        v = v / np.sqrt(q @ v**2)
    out = np.outer(p, q) * np.exp(one.strength * np.outer(u, v))
    for _ in range(60):
        out *= (p / out.sum(1))[:, None]
        out *= q / out.sum(0)
    return np.asarray(out / out.sum())


def by_means(seen: sf.Evidence, one: Setting) -> float:
    """The p-value of the baseline: means of y in the groups of x, their differences and their covariance."""
    kx, ky = one.x.size, one.y.size
    groups = np.eye(kx) if not one.x.ordered else np.stack([np.arange(kx) < kx / 2, np.arange(kx) >= kx / 2])
    cells = seen.counts(["x", "y"], quiet=True).population()
    sums, sizes = np.kron(groups, numbers(one.y)), np.kron(groups, np.ones(ky))
    means = sums @ cells.value / (sizes @ cells.value)
    slopes = (sums - means[:, None] * sizes) / (sizes @ cells.value)[:, None]
    differences = slopes[1:] - slopes[:1]
    T, V = means[1:] - means[0], differences @ cells.cov @ differences.T
    return float(chdtrc(len(T), T @ np.linalg.solve(V, T)))


def records(one: Setting, theta: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Codes of x and y; where they are tested given a region, it moves both up or down by a place."""
    x, y = np.unravel_index(rng.choice(theta.size, one.n, p=theta.reshape(-1)), theta.shape)
    if not one.given:
        return {"x": x, "y": y}
    region = rng.integers(0, 3, one.n)
    moved = [np.clip(codes + region - 1, 0, size - 1) for codes, size in zip((x, y), theta.shape, strict=True)]
    return {"x": moved[0], "y": moved[1], "region": region}


def releases(one: Setting, runs: int, seed: int) -> np.ndarray:
    """Of each release the p-values of the baseline, the general test and ours, and what an edge gains without and with
    order."""
    rng = np.random.default_rng(seed)
    theta = joint(one)
    domains = {"x": one.x, "y": one.y} | ({"region": sf.Categorical((0, 1, 2))} if one.given else {})
    makers = (*one.channels, partial(c.symmetric, p=0.1))
    scheme = sf.Scheme(
        sf.Schema(domains), {name: make(d.size) for (name, d), make in zip(domains.items(), makers, strict=False)}
    )
    out = []
    for run in range(runs):
        table = scheme.schema.decode(records(one, theta, rng))
        seen = sf.evidence(sf.randomize(table, scheme, rng=sf.experiment(100_000 * seed + run)))
        found = association(seen, "x", "y", ["region"] if one.given else [])
        general = replace(found, trend=None, bend=None)
        baseline = 1.0 if one.given or one.bent else by_means(seen, one)
        out.append((baseline, general.p_value, found.p_value, general.evidence - ODDS, found.evidence - ODDS))
    return np.array(out)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="settings whose name starts with this")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", SfumatoWarning)
    tests = "z | general | ours"
    print(f"| attributes | false at .05: {tests} | found at .05: {tests} ", end="")
    print(f"| edges without order: false | found | edges: false | found | found at equal false alarms: {tests} |")
    print("|---|" + "---|" * 13)
    for number, one in enumerate(SETTINGS):
        if not one.name.startswith(asked.only):
            continue
        none = releases(replace(one, strength=0.0), asked.runs, 100 * asked.seed + number)
        some = releases(one, asked.runs, 100 * asked.seed + 50 + number)
        cells = [(each[:, i] < 0.05).mean() for each in (none, some) for i in range(3)]
        cells += [(each[:, i] > 0).mean() for i in (3, 4) for each in (none, some)]
        cells += [(some[:, i] < np.quantile(none[:, i], 0.05)).mean() for i in (0, 1)]
        cells += [(some[:, 4] > np.quantile(none[:, 4], 0.95)).mean()]
        print(f"| {one.name} | {' | '.join(f'{cell:.3f}' for cell in cells)} |", flush=True)
    print("\n| attributes | false at .05: general | ours | found at .05: general | ours ", end="")
    print("| edges without order: false | found | edges: false | found |\n|---|" + "---|" * 8)
    for number, one in enumerate(OTHERS):
        if not one.name.startswith(asked.only):
            continue
        none = releases(replace(one, strength=0.0), asked.runs, 100 * asked.seed + 25 + number)
        some = releases(one, asked.runs, 100 * asked.seed + 75 + number)
        cells = [(each[:, i] < 0.05).mean() for each in (none, some) for i in (1, 2)]
        cells += [(each[:, i] > 0).mean() for i in (3, 4) for each in (none, some)]
        print(f"| {one.name} | {' | '.join(f'{cell:.3f}' for cell in cells)} |", flush=True)
    print(f"\n{asked.runs} releases without and as many with the trend")


if __name__ == "__main__":
    main()
