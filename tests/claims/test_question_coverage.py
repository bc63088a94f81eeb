"""The intervals of means, quantiles, differences and correlations hold the truth as often as they say."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.looking_often import EVERY, LAST, paths
from benchmarks.question_coverage import Setting, Z, questions, replies, scheme

import sfumato as sf
from sfumato import channels as c
from sfumato.evidence.critical import critical_value

RUNS = 150


@pytest.mark.parametrize("name", ["mean by group", "difference", "correlation"])
def test_limits_cover(name: str) -> None:
    """At most one in a million correct builds fails. The negative control: limits a third as wide must fail."""
    own = scheme(c.symmetric(3, 0.15), c.windows(20, 15), c.symmetric(5, 0.25))
    setting = Setting("windows 15", (own,), 4000, "skewed")
    covered, narrow = [], []
    for population in (False, True):
        for reply, truth in replies(setting, questions()[name], RUNS, 99, population):
            low, high = reply.limits(Z)
            covered.append(np.mean((low <= truth) & (truth <= high)))
            low, high = reply.limits(Z / 3)
            narrow.append(np.mean((low <= truth) & (truth <= high)))
    assert 0.88 < np.mean(covered) <= 1
    assert np.mean(narrow) < 0.75


@pytest.mark.parametrize("place", [0.02, 0.5, 0.98])
def test_limits_of_quantiles_cover_wherever_values_lie_in_their_bins(place: float) -> None:
    """At least; for the bin is told whole. The negative control: the estimate's part of the limits must fail."""
    own = scheme(c.symmetric(3, 0.15), c.windows(20, 15), c.symmetric(5, 0.25))
    setting = Setting("windows 15", (own,), 4000, "skewed")
    covered, evenly = [], []
    for population in (False, True):
        for reply, truth in replies(setting, questions()["quantiles"], RUNS // 2, 98, population):
            truth = (np.floor(20 * truth) + place) / 20
            low, high = reply.limits(Z)
            covered.append(np.mean((low <= truth) & (truth <= high)))
            evenly.append(np.mean(np.abs(truth - reply.value) <= 0.25 / 20))
    assert np.mean(covered) > 0.93
    assert np.mean(evenly) < 0.75


def test_limits_of_means_hold_where_few_of_a_group_are_in_the_widest_bin() -> None:
    """Noise explained how much lower that bin is, so that it counted as even. The control: limits of the middles alone."""
    edges = (0, 10, 50, 250, 1000, 5000, 10_000, 20_000, 400_000)
    held = {"many": (680, 1042, 1134, 811, 645, 341, 528, 268), "few": (162, 142, 255, 267, 343, 166, 135, 81)}
    rng, ends = np.random.default_rng(5), (*edges[1:-1], 40_000)
    bins = [(low, high, n) for each in held.values() for low, high, n in zip(edges, ends, each, strict=False)]
    x = np.concatenate([rng.uniform(*one) for one in bins])
    group = np.repeat(list(held), [sum(each) for each in held.values()])
    domains = {"group": sf.Categorical(tuple(held)), "x": sf.Numeric(edges=edges)}
    own = sf.Scheme.for_gamma(sf.Schema(domains), gamma=9)
    truth = np.array([x[group == name].mean() for name in held])
    covered, middles = [], []
    for run in range(RUNS // 2):
        released = sf.randomize({"group": group, "x": x}, own, rng=sf.experiment(run))
        found = sf.evidence(released).mean("x", by="group")
        low, high = found.interval()
        covered.append((low <= truth) & (truth <= high))
        low, high = getattr(found.form, "form", found.form).limits(*found._found, Z)
        middles.append((low <= truth) & (truth <= high))
    assert np.mean(covered, axis=0).min() > 0.88
    assert np.mean(middles, axis=0).max() < 0.6


def test_anytime_limits_hold_at_all_looks_and_plain_ones_do_not() -> None:
    off, sd = paths(c.windows(10, 9), np.full(10, 0.1), 150, 5)
    t = np.arange(EVERY, LAST + 1, EVERY)
    often = np.array([critical_value(0.95, n) for n in t])
    late = t >= 300
    assert (np.abs(off) <= often * sd)[:, late].all(axis=1).mean() > 0.87
    assert (np.abs(off) <= Z * sd)[:, late].all(axis=1).mean() < 0.8
