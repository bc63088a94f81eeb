"""Ma06 figure 3.3: the odds ratio of two independent binary variables, 10 000 records plain and randomized."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.assess.odds_ratio import odds_ratio_spread
from sfumato.channels import identity, product, symmetric
from sfumato.pages.chart import ACCENT
from sfumato.papers.curves import panels
from sfumato.papers.figure import Figure, Found, Setting, beside, claimed

N, P, RUNS = 10_000, 0.4, 2000


def simulate(runs: int = RUNS, rng: int = 33) -> tuple[Array, Array]:
    """Sample odds ratios from plain counts and from estimated ones; nan where an estimated count is not positive."""
    generator = np.random.default_rng(rng)
    channel = product([symmetric(2, P)] * 2)
    truth = generator.multinomial(N, np.full(4, 0.25), size=runs)
    rows = channel.matrix
    released = sum(generator.multinomial(truth[:, x], rows[x]) for x in range(4))
    estimated = np.asarray(released, dtype=np.float64) @ np.asarray(channel.inverse.dense()).T
    return _ratio(truth.astype(np.float64)), _ratio(estimated)


def _ratio(counts: Array) -> Array:
    good = (counts > 0).all(axis=1)
    out = np.full(len(counts), np.nan)
    kept = counts[good]
    out[good] = kept[:, 0] * kept[:, 3] / (kept[:, 1] * kept[:, 2])
    return out


def measure(fast: bool) -> Found:
    """The spread of both histograms beside the delta method's."""
    plain, randomized = simulate()
    expected = odds_ratio_spread(identity(2), identity(2), N), odds_ratio_spread(symmetric(2, P), symmetric(2, P), N)
    logs = [np.log(values[np.isfinite(values)]) for values in (plain, randomized)]
    sds = [float(one.std(ddof=1)) for one in logs]
    # a randomized ratio beyond what 95 of 100 plain ones reach would be judged dependence
    judged = float((np.abs(logs[1]) > 1.96 * expected[0].log_sd).mean())
    lost = float(np.isnan(randomized).mean())
    rows = (
        claimed("sd of log r, randomized over plain", sds[1] / sds[0], sds[1] > sds[0]),
        claimed("share of randomized tables judged dependent at 5 %", judged, judged > 0.5),
        beside("sd of log r, plain", sds[0]),
        beside("sd of log r, plain, by the delta method", expected[0].log_sd),
        beside("sd of log r, randomized", sds[1]),
        beside("sd of log r, randomized, by the delta method", expected[1].log_sd),
        beside("share of randomized tables without a ratio (a count that is not positive)", lost),
    )
    return Found(rows, (plain, randomized), RUNS)


def draw(figure: Any, found: Found) -> None:
    for axes, values, name in zip(panels(figure, 2), found.data, ("(a) plain", "(b) randomized"), strict=True):
        axes.hist(values[np.isfinite(values) & (values < 8)], bins=60, color=ACCENT)
        axes.set(title=name, xlabel="odds ratio", ylabel="runs")


FIGURE3_3 = Figure(
    "ma06_fig3_3",
    "figure 3.3",
    "odds ratios of independent variables",
    "From randomized data the odds ratio spreads more widely, so that independent variables are judged dependent.",
    measure,
    draw,
    (
        Setting("records", "10 000, repeated 2000 times"),
        Setting("randomization", "binary symmetric, p = .4"),
        Setting("probabilities of the two variables", "not printed", "1/2 each"),
    ),
    size=(7.2, 3.0),
)
