"""Ma06 Fig. 3.3: the odds ratio of two independent binary variables, 10,000 records plain and randomized (p = .4)."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.assess.odds_ratio import odds_ratio_spread
from sfumato.channels import identity, product, symmetric
from sfumato.pages.picture import empty_panels, saved

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


def draw(path: Any) -> None:
    """The two histograms."""
    plain, randomized = simulate()
    drawing, panels = empty_panels(8.4, 3.0, 2)
    for axes, values, name in zip(panels, (plain, randomized), ("plain", "randomized"), strict=True):
        shown = values[np.isfinite(values) & (values < 8)]
        axes.hist(shown, bins=60, color="#2d6a8e")
        axes.set(title=name, xlabel="odds ratio", ylabel="runs")
    saved(drawing, path)


def report(runs: int = RUNS) -> str:
    """The thesis shows histograms; here are their spreads beside the delta method's."""
    plain, randomized = simulate(runs)
    expected = odds_ratio_spread(identity(2), identity(2), N), odds_ratio_spread(symmetric(2, P), symmetric(2, P), N)
    lost = int(np.isnan(randomized).sum())
    rows = [f"Ma06 Fig. 3.3: log odds ratio of independent variables, {N} records, p = {P}, {runs} runs"]
    for name, values, known in (("plain", plain, expected[0]), ("randomized", randomized, expected[1])):
        logs = np.log(values[np.isfinite(values)])
        rows.append(f"{name:12s} sd of log r {logs.std(ddof=1):.4f}   delta method {known.log_sd:.4f}")
    rows.append(f"{lost} of {runs} randomized tables have a count that is not positive, so that no ratio exists")
    return "\n".join(rows)
