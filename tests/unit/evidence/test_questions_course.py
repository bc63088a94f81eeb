"""The picture of running shares holds the truth also between the values at which they are told."""

from __future__ import annotations

from typing import Any

import numpy as np

import sfumato as sf
from sfumato.arrays import Array

N, RELEASES = 1500, 60


def incomes() -> Array:
    """Heaped at the upper ends of their bins, where a straight line between the ends is far off."""
    rng = np.random.default_rng(4)
    return np.concatenate([rng.choice([9_000, 24_000, 49_000, 99_000], N // 2), rng.uniform(0, 200_000, N - N // 2)])


def held(domain: sf.Numeric, values: Array, spots: Array, truth: Array, seed: int) -> Array:
    """Whether the band of one release, as it is drawn, holds the true running share at each spot."""
    scheme = sf.Scheme.for_gamma(sf.Schema({"x": domain}), 9)
    release = sf.randomize({"x": values}, scheme, rng=sf.experiment(seed))
    (drawn,) = sf.evidence(release).cdf("x").plot().axes[0].collections
    (outline,) = drawn.get_paths()
    points = np.stack([spots, np.clip(truth, 1e-6, 1 - 1e-6)], axis=1)  # an edge of an outline is not in it
    return np.asarray(outline.contains_points(points))


def often_enough(inside: Array) -> bool:
    """At no spot so seldom as happens once in a million times where 19 of 20 hold, and on the whole so often."""
    from scipy.stats import binom

    return bool(inside.sum(0).min() > binom.ppf(1e-6, len(inside), 0.95) and inside.mean() > 0.94)


def test_inside_wide_bins_the_band_holds_the_truth_as_often_as_at_their_ends() -> None:
    values = incomes()
    spots = np.array([300, 5_000, 9_500, 12_000, 23_000, 26_000, 45_000, 52_000, 98_000, 110_000, 190_000.0])
    truth = (values < spots[:, None]).mean(1)
    domain = sf.Numeric(edges=(0, 10_000, 25_000, 50_000, 100_000, 200_000))
    assert often_enough(np.array([held(domain, values, spots, truth, seed) for seed in range(RELEASES)]))
    straight = np.interp(spots, domain.edge_array, (values < domain.edge_array[:, None]).mean(1))
    off = np.array([held(domain, values, spots, straight + 0.3, seed) for seed in range(3)])
    assert not often_enough(off)  # the negative control


def test_between_whole_numbers_running_shares_stay_where_they_are() -> None:
    rng = np.random.default_rng(6)
    values = rng.choice([1, 2, 5, 8], N, p=[0.4, 0.2, 0.3, 0.1])
    spots = np.array([0.9, 1.9, 2.9, 4.9, 5.1, 7.9])
    truth = (values <= spots[:, None]).mean(1)
    domain = sf.Numeric(0, 10, bins=10, step=1)
    assert often_enough(np.array([held(domain, values, spots, truth, seed) for seed in range(RELEASES)]))


def line_of(table: Any, domain: Any) -> tuple[list[float], list[float]]:
    (line,) = sf.evidence({"x": table}, sf.Schema({"x": domain})).cdf("x").plot().axes[0].lines
    return line.get_xdata().tolist(), line.get_ydata().round(9).tolist()


def test_the_line_is_a_step_at_each_value_and_rises_inside_a_bin() -> None:
    grades = line_of(["low"] * 3 + ["high"], sf.Ordinal(("low", "high")))
    assert grades == ([0, 0, 1, 1], [0, 0.75, 0.75, 1])
    falling = line_of([4] * 3 + [1], sf.Ordinal((4, 1)))
    assert falling == grades, "values in an order of their own stand in it"
    assert line_of([1, 12, 13, 19], sf.Numeric(0, 20, bins=2, step=1)) == ([0, 9, 10, 19], [0, 0.25, 0.25, 1])
    assert line_of([1, 12, 13, 19], sf.Numeric(0, 20, bins=2)) == ([0, 10, 10, 20], [0, 0.25, 0.25, 1])
    assert line_of([0, 5, 5, 10], sf.Numeric(0, 10, points=3)) == (
        [0, 2.5, 2.5, 7.5, 7.5, 10],
        [0, 0.25, 0.25, 0.75, 0.75, 1],
    )


def test_the_legend_names_the_groups_before_the_truth() -> None:
    table = {"g": ["a", "b"] * 4, "x": [1, 2, 3, 4] * 2}
    schema = sf.Schema({"g": sf.Categorical(("a", "b")), "x": sf.Numeric(0, 5, bins=5, step=1)})
    found = sf.evidence(table, schema).cdf("x", by="g")
    (legend,) = found.plot(truth=found.value).legends
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b", "truth"]
