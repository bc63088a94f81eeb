"""Means by design: exact integers, unbiased scores, and less noise than the published mechanisms."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest

import sfumato as sf
from sfumato import channels as c
from sfumato.channels import Channel, from_dict
from sfumato.channels.average import Average
from sfumato.channels.least_variance import MOST_POINTS, least_variance
from sfumato.channels.scores import mean_variance, scores
from sfumato.design import design
from sfumato.errors import ChannelError
from sfumato.randomness import ONE


def hybrid(epsilon: float) -> float:
    """The worst noise variance of the best of Duchi's, the piecewise and the hybrid mechanism (Wang et al. 2019)."""
    e, half = math.exp(epsilon), math.exp(epsilon / 2)
    duchi = ((e + 1) / (e - 1)) ** 2
    piecewise = 1 / (half - 1) + (half + 3) / (3 * (half - 1) ** 2)
    mixed = (half + 3) / (3 * half * (half - 1)) + (e + 1) ** 2 / (half * (e - 1) ** 2) if epsilon > 0.61 else duchi
    return min(duchi, piecewise, mixed)


def worst_between_points(channel: Average) -> float:
    """The largest noise variance of any number in [-1, 1] that is rounded at random to the points first."""
    x = np.linspace(-1, 1, 2001)
    second = np.interp(x, np.linspace(-1, 1, channel.values), channel.matrix @ channel.scores**2)
    return float((second - x**2).max())


@pytest.mark.parametrize(("epsilon", "most"), [(0.5, 1.0), (1.0, 1.0), (2.0, 0.9), (4.0, 0.75)])
def test_the_worst_noise_is_below_the_published_mechanisms(epsilon: float, most: float) -> None:
    channel = c.average(11, math.exp(epsilon))
    assert worst_between_points(channel) <= most * hybrid(epsilon)
    assert channel.noise_variance <= worst_between_points(channel)
    assert channel.noise_variance == pytest.approx(least_variance(11, math.exp(epsilon)).variance, rel=1e-6)


def test_two_values_are_bound_by_warner() -> None:
    """No unbiased score of two values has less noise than randomized response: the programme must not find one."""
    for gamma in (1.5, 3.0, 20.0):
        least = ((gamma + 1) / (gamma - 1)) ** 2 - 1
        assert least * (1 - 1e-6) <= c.average(2, gamma).noise_variance <= 1.01 * least


@pytest.mark.parametrize("gamma", [1.0005, 1.5, 5, 9.25, 1e6])
@pytest.mark.parametrize("k", [2, 6, 11, 40])
@pytest.mark.parametrize("nullable", [False, True])
def test_gamma_and_means_hold_in_integers(k: int, gamma: float, nullable: bool) -> None:
    channel = c.average(k, gamma, nullable)
    assert Fraction(gamma) * (1 - Fraction(1, 10**3)) < channel.exact_gamma <= Fraction(gamma)
    weights = [[int(w) for w in row] for row in channel.weights]
    assert all(sum(row) == ONE for row in weights)
    none = weights[0][-1] if nullable else 0
    for i, row in enumerate(weights[:k]):
        moment = sum(w * m for w, m in zip(row, channel.multiples, strict=False)) * channel.step
        wanted = (Fraction(2 * i, k - 1) - 1) * (ONE - none)
        assert moment == wanted if k <= MOST_POINTS else abs(moment - wanted) <= channel.step / 2
    if nullable:
        assert sum(w * m for w, m in zip(weights[-1], channel.multiples, strict=False)) == 0
        np.testing.assert_allclose(channel.matrix @ channel.answered, [1.0] * k + [0.0], atol=1e-9)


def test_json_carries_the_matrix_itself() -> None:
    for channel in (c.average(7, 3), c.average(30, 2.5), c.average(4, 3, nullable=True)):
        document = json.loads(json.dumps(channel.to_dict()))
        again = from_dict(document)
        assert again == channel
        assert again.weights.tolist() == channel.weights.tolist()
        assert len(document["weights"]) <= MOST_POINTS + 1


def broken(channel: Channel, **changes: object) -> dict[str, object]:
    return {**json.loads(json.dumps(channel.to_dict())), **changes}


def test_a_document_that_does_not_keep_its_promises_is_refused() -> None:
    channel = c.average(5, 3)
    rows = channel.to_dict()["weights"]
    moved = [list(row) for row in rows]
    moved[0][0], moved[0][1] = str(int(rows[0][0]) - 1), str(int(rows[0][1]) + 1)
    moved[4][-1], moved[4][-2] = str(int(rows[4][-1]) - 1), str(int(rows[4][-2]) + 1)
    for document, line in (
        (broken(channel, gamma="2"), "exceeds the promised gamma"),
        (broken(channel, weights=moved), "must have the value as their mean"),
        (broken(channel, weights=rows[:4]), "must have 5 rows"),
        (broken(channel, weights=[rows[0], *rows[:4]]), "symmetric"),
        (broken(channel, multiples=[1, 2]), "symmetric about 0"),
        (broken(channel, step="0"), "step be positive"),
        (broken(channel, nullable="no"), "nullable must be true or false"),
        (broken(channel, values=1 << 40), "must have 11 rows"),
    ):
        with pytest.raises(ChannelError, match=line):
            from_dict(document)  # type: ignore[arg-type]


def test_bad_numbers_get_one_line() -> None:
    for k, gamma, line in ((1, 3, "k must be at least 2"), (5, 1, "gamma must lie in"), (1 << 20, 3, "at most 16384")):
        with pytest.raises(ChannelError, match=line):
            c.average(k, gamma)


def test_a_bound_so_near_1_that_there_is_none_gets_one_line() -> None:
    with pytest.raises(ChannelError, match="no channel for the mean of 4 values"):
        c.average(4, 1.0000001)


def test_the_mean_of_a_release_is_unbiased_with_the_stated_noise() -> None:
    """And the negative control: the same scores read through another gamma are off."""
    schema = sf.Schema({"x": sf.Numeric(0, 10, points=11)})
    channel = c.average(11, 4)
    scheme = sf.Scheme(schema, {"x": channel})
    n, runs = 2000, 60
    values = np.random.default_rng(3).beta(1, 4, n) * 10
    found = []
    for seed in range(runs):
        release = sf.randomize({"x": values}, scheme, rng=sf.experiment(seed))
        codes = np.asarray(release.parts[0].rows.column("x"))
        found.append(5 + 5 * channel.scores[codes].mean())
    sd = 5 * math.sqrt(channel.noise_variance / n)
    assert abs(np.mean(found) - values.mean()) < 5 * sd / math.sqrt(runs)
    assert np.std(found) < 1.35 * sd
    shrunk = [5 + 0.8 * (one - 5) for one in found]
    assert abs(np.mean(shrunk) - values.mean()) > 5 * sd / math.sqrt(runs)


def test_design_offers_it_where_the_wish_is_a_mean() -> None:
    schema = sf.Schema({
        "x": sf.Numeric(0, 10, points=11),
        "age": sf.Numeric(0, 100, bins=20, nullable=True),
        "pain": sf.Ordinal(("none", "some", "much")),
        "sex": sf.Categorical(("F", "M", "other")),
    })  # fmt: skip
    plain = design(schema, 5000, gamma=3)
    assert [c.pick.family for c in plain.choices] == ["average", "windows", "symmetric", "symmetric"]
    wanted = design(schema, 5000, gamma=3, target="mean")
    assert [c.pick.family for c in wanted.choices] == ["average", "average", "symmetric", "symmetric"]
    assert [c.pick.target for c in wanted.choices] == ["mean", "mean", "cdf", "shares"]
    assert "mean, of the range" in wanted.explain()
    assert wanted.scheme.gamma <= 3**4 * (1 + 1e-9)
    pick = wanted.choices[0].pick
    worst = math.sqrt(float((pick.channel.matrix @ pick.channel.scores**2).max()) / 4 / 5000)  # type: ignore[attr-defined]
    assert pick.half_width == pytest.approx(1.96 * worst, rel=0.02)
    assert sf.Scheme.for_gamma(schema, 3)["x"] == pick.channel
    assert plain.tradeoff("x").target == "mean"


def test_precision_by_design_is_kept_by_the_records() -> None:
    """The expected half-width of the mean of a nullable attribute, against replications."""
    channel = c.average(6, 5, nullable=True)
    shares = np.array([0.3, 0.2, 0.1, 0.1, 0.05, 0.05, 0.2])
    n, rng = 4000, np.random.default_rng(8)
    value, answer = scores(channel, [0, 0.2, 0.4, 0.6, 0.8, 1, 0]), scores(channel, [1, 1, 1, 1, 1, 1, 0])
    found = []
    for _ in range(300):
        seen = rng.multinomial(n, shares @ channel.matrix)
        found.append((seen @ value) / (seen @ answer))
    sd = math.sqrt(mean_variance(channel, shares, nullable=True) / n)
    truth = shares[:6] @ np.linspace(0, 1, 6) / 0.8
    assert abs(np.mean(found) - truth) < 5 * sd / math.sqrt(300)
    assert np.std(found) == pytest.approx(sd, rel=0.2)
    everybody = np.append(shares[:6] / 0.8, 0.0)
    assert mean_variance(channel, nullable=True) > mean_variance(channel, everybody, nullable=True)


def test_the_report_speaks_of_the_mean() -> None:
    schema = sf.Schema({"x": sf.Numeric(0, 10, points=30, nullable=True)})
    told = sf.report(sf.Scheme.for_gamma(schema, 3), n=4000)
    text = " ".join(told.text().split())
    assert "a score is reported" in text
    assert "as much about the mean of those who answer as about" in text
    assert "of the range (95 % confidence)" in text
    assert "cannot be estimated" not in text
