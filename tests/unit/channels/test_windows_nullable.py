"""Windows over ordered values and "no answer": the same gamma, almost the precision of windows alone."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

import sfumato as sf
from sfumato import channels as c
from sfumato.channels import Channel, from_dict
from sfumato.channels.efficiency import best_covariance, even_efficiency, even_prior, target_map
from sfumato.design import design
from sfumato.errors import ChannelError, SchemeError
from sfumato.randomness import ONE

AGE = sf.Numeric(0, 100, bins=20, nullable=True)


def sd_of_mean(channel: Channel, nulls: float, k: int = 20) -> float:
    """The standard deviation, times sqrt(n), of the mean code of those who answer."""
    x = np.arange(k)
    shares = np.exp(-0.5 * ((x - 7) / 3) ** 2) + 0.002
    shares *= (1 - nulls) / shares.sum()
    prior = np.append(shares, nulls)[: channel.k]
    prior /= prior.sum()
    slope = (x - shares @ x / (1 - nulls)) / (1 - nulls)
    slope = np.append(slope, 0.0)[: channel.k]
    return float(np.sqrt(slope @ best_covariance(channel.matrix, prior) @ slope))


@pytest.mark.parametrize("k", [2, 3, 5, 20, 100])
@pytest.mark.parametrize("gamma", [1.001, 1.5, 3, 9.25, 1e6])
def test_gamma_is_kept_in_integers(k: int, gamma: float) -> None:
    channel = c.windows(k, gamma, nullable=True)
    assert (channel.weights.astype(object).sum(axis=1) == ONE).all()
    assert Fraction(gamma) * (1 - Fraction(1, 10**9)) < channel.exact_gamma <= Fraction(gamma)
    assert channel.sizes == (k + 1,)
    assert channel.m == len(channel.starts) + 1


def test_missing_answers_cost_little_where_they_doubled_the_error() -> None:
    for nulls, least in ((0.0, 1.7), (0.05, 1.7), (0.2, 1.7)):
        for gamma in (2, 3, 9):
            now = sd_of_mean(c.windows(20, gamma, nullable=True), nulls)
            assert sd_of_mean(c.subset(21, gamma), nulls) > least * now  # what such attributes got before
            alone = sd_of_mean(c.windows(20, gamma), 0.0) / np.sqrt(1 - nulls)
            assert now < 1.25 * alone


def test_the_scheme_keeps_windows_for_nullable_ordered_attributes() -> None:
    schema = sf.Schema(
        {"age": AGE, "grade": sf.Ordinal(tuple("abcdefg"), nullable=True), "two": sf.Ordinal((0, 1), True)}
    )
    for gamma in (2, 3):
        scheme = sf.Scheme.for_gamma(schema, gamma)
        assert [group.channel.kind for group in scheme.groups] == ["windows", "windows", "symmetric"]
        assert all(group.channel.gamma <= gamma for group in scheme.groups)
        assert design(schema, 1000, gamma=gamma).scheme == scheme
        assert sf.Scheme.from_json(scheme.to_json()) == scheme


def test_json_round_trip_and_old_schemes_are_the_same() -> None:
    channel = c.windows(7, 2.5, nullable=True)
    assert from_dict(json.loads(json.dumps(channel.to_dict()))) == channel
    assert channel != c.windows(7, 2.5)
    assert "nullable" not in c.windows(7, 2.5).to_dict()  # fingerprints of schemes without nulls stay
    with pytest.raises(ChannelError, match="nullable must be true or false"):
        from_dict(channel.to_dict() | {"nullable": "yes"})


def test_counts_of_values_and_of_missing_answers_are_unbiased() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(40, 12, 30_000).clip(0, 99.9)
    missing = rng.random(30_000) < 0.2
    table = {"age": [None if gone else float(v) for v, gone in zip(values, missing, strict=True)]}
    release = sf.randomize(table, sf.Scheme.for_gamma(sf.Schema({"age": AGE}), 6), rng=2)
    found = sf.evidence(release, method="mle").counts("age")
    assert abs(found.value[-1] - missing.sum()) < 5 * found.sd[-1]
    middle = found.value[:-1] @ (np.arange(20) * 5 + 2.5) / found.value[:-1].sum()
    assert middle == pytest.approx(values[~missing].mean(), abs=1.5)


def test_a_channel_without_room_for_missing_answers_says_what_to_use() -> None:
    with pytest.raises(SchemeError, match=r"age: .* use windows\(\.\.\., nullable=True\)"):
        sf.Scheme(sf.Schema({"age": AGE}), {"age": c.windows(20, 3)})


def test_missing_answers_are_not_one_more_equally_likely_value() -> None:
    assert even_prior(4, nullable=True).tolist() == [1 / 3, 1 / 3, 1 / 3, 0]
    np.testing.assert_allclose(target_map(even_prior(4, True), "cdf", True)[-1], 0, atol=1e-12)  # all who answer
    asked = sf.Schema({"age": sf.Numeric(0, 100, bins=20)})
    free = design(sf.Schema({"age": AGE}), 5000, gamma=3)
    strict = design(asked, 5000, gamma=3)
    assert free.tradeoff("age").unrandomized == pytest.approx(strict.tradeoff("age").unrandomized)
    ratio = free.choices[0].pick.half_width / strict.choices[0].pick.half_width
    assert 1 < ratio < 1.1
    windows = c.windows(20, 3, nullable=True)
    kept = even_efficiency(windows, "cdf", nullable=True) / even_efficiency(c.windows(20, 3), "cdf")
    assert 0.85 < kept < 1
