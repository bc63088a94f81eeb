"""Windows without their matrix, against the matrix; and the widths that are chosen."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import pytest

import sfumato as sf
from sfumato import channels as c
from sfumato.channels import from_dict, window_sums
from sfumato.channels.base import left_inverse
from sfumato.channels.efficiency import even_efficiency
from sfumato.channels.lookup import Lookup
from sfumato.channels.window_sums import WindowInverse
from sfumato.channels.window_widths import widths_for
from sfumato.channels.windows import Windows
from sfumato.errors import ChannelError
from sfumato.randomness import ONE, source, words

SMALL = [
    c.windows(10, 3),
    c.windows(10, 3, nullable=True),
    c.windows(12, 2.5, [3, 12]),
    c.windows(12, 2.5, [3, 12], nullable=True),
    c.windows(7, 1.001, [7], nullable=True),
    c.windows(9, 100, (2, 5, 9), nullable=True),
    c.windows(40, 3, nullable=True),
    c.windows(11, 4, (3, 4, 9), nullable=True, mix=(5, 2, 8)),
]
each = pytest.mark.parametrize("channel", SMALL, ids=str)


@pytest.fixture
def arithmetic(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small channels answer as large ones do, without a table."""
    monkeypatch.setattr(sys.modules["sfumato.channels.windows"], "_LISTED", 0)


@each
@pytest.mark.usefixtures("arithmetic")
def test_arithmetic_draws_what_the_matrix_says(channel: Windows) -> None:
    table = Lookup(channel.weights)
    x = np.random.default_rng(1).integers(0, channel.k, 3000)
    draws = words(source(2), len(x))
    np.testing.assert_array_equal(channel.draw(x, draws), table.exact(x, draws))
    for value in {0, 1, channel.k // 2, channel.k - 2, channel.k - 1}:
        ends = table.upper[value][:-1]
        edge = np.concatenate([ends - np.uint64(1), ends, [np.uint64(0), np.uint64(ONE - 1)]])
        same = np.full(len(edge), value)
        np.testing.assert_array_equal(channel.draw(same, edge), table.exact(same, edge))


@each
def test_products_and_gammas_need_no_matrix(channel: Windows) -> None:
    P, rng = channel.weights / ONE, np.random.default_rng(3)
    weights = rng.random(channel.m)
    np.testing.assert_allclose(channel.transition.gram(weights), (P * weights) @ P.T, atol=1e-12)
    columns = [(int(column.max()), int(column.min())) for column in channel.weights.T]
    assert channel.exact_gammas() == [Fraction(most, least) for most, least in columns]
    assert channel.exact_gamma == max(channel.exact_gammas())
    assert channel.common == Fraction(sum(least for _, least in columns), ONE)
    A = left_inverse(P, P.mean(axis=0))
    scale = np.abs(A).max()
    np.testing.assert_allclose(channel.inverse.dense() / scale, A / scale, atol=1e-7)
    true = rng.random((channel.k, 2))
    np.testing.assert_allclose(channel.inverse.T.apply(true) / scale, A.T @ true / scale, atol=1e-7)


def test_step_by_step_solves_the_same_equations(monkeypatch: pytest.MonkeyPatch) -> None:
    for channel in (c.windows(300, 3), c.windows(300, 3, [1 << i for i in range(9)]), c.windows(200, 5, nullable=True)):
        counts = np.bincount(channel.randomize(np.arange(channel.k).repeat(20), rng=4), minlength=channel.m)
        factored = channel.inverse.apply(counts)
        monkeypatch.setattr("sfumato.channels.window_sums._FACTORED", 10)
        stepwise = WindowInverse(channel.transition).apply(counts)
        monkeypatch.undo()
        np.testing.assert_allclose(stepwise, factored, atol=1e-6 * np.abs(factored).max())


def test_ten_thousand_values_are_randomized_and_counted() -> None:
    channel = c.windows(10_000, 3, nullable=True)
    truth = np.random.default_rng(5).integers(3000, 6000, 50_000)
    truth[::10] = 10_000
    released = channel.randomize(truth, rng=6)
    counts = channel.inverse.apply(np.bincount(released, minlength=channel.m))
    assert counts.sum() == pytest.approx(50_000, rel=1e-9)
    assert abs(counts[-1] - 5000) < 5 * 300
    assert channel.exact_gamma <= 3
    assert from_dict(channel.to_dict()) == channel
    with pytest.raises(ChannelError, match="too many"):
        _ = channel.weights
    with pytest.raises(ChannelError, match="distribution, or use wider bins"):
        channel.inverse.squared()


def test_widths_are_chosen_for_the_number_of_values() -> None:
    assert c.windows(20, 3).widths == (1, 2, 4, 8, 16)
    assert c.windows(31, 3).widths == (1, 2, 4, 8, 16)
    for k in (100, 1000):
        widths, mix = widths_for(k, 3)
        narrow, wide = (np.average(widths[i : i + 2], weights=mix[i : i + 2]) for i in (0, 2))
        assert wide == pytest.approx(4 * narrow, rel=1e-5)
    assert widths_for(100, 1.0000001) == ((50, 100), ())
    assert widths_for(32, 1e6) == ((1,), ())
    assert str(c.windows(100, 3)) == "windows(100, gamma=3)"
    assert str(c.windows(100, 3, [2, 50])) == "windows(100, gamma=3, widths=[2, 50])"
    assert str(c.windows(100, 3, [2, 50], mix=[1, 3])) == "windows(100, gamma=3, widths=[2, 50], mix=[1, 3])"


@pytest.mark.parametrize(("k", "nullable"), [(32, False), (32, True), (48, False), (100, False), (600, False)])
def test_means_never_lose_precision_as_gamma_grows(k: int, nullable: bool) -> None:
    """Widths that jump from two values to one told a seventh less of a mean of 32 values."""
    gammas = [1.5, 3, 3.1, 9, 9.5, 15, 15.5, *range(28, 33), 41, 42, 60, 77, 79, 110, 140, 200, 500, 2000]
    kept = [even_efficiency(c.windows(k, gamma, nullable=nullable), "mean", nullable) for gamma in gammas]
    assert np.diff(kept).min() > 0
    if k == 32 and not nullable:  # a negative control: the same widths, rounded
        jump = [even_efficiency(c.windows(k, gamma, widths), "mean") for gamma, widths in ((30, [2, 6]), (31, [1, 6]))]
        assert jump[1] < jump[0] - 0.05


@pytest.mark.parametrize("mix", [[1], [1, 0], [1, 1, 1], "12", [1, 1 << 60]])
def test_strange_mixes_get_one_line(mix: object) -> None:
    with pytest.raises(ChannelError, match="mix must be"):
        c.windows(100, 3, [5, 20], mix=mix)  # type: ignore[arg-type]
    with pytest.raises(ChannelError, match="give widths, too"):
        c.windows(100, 3, mix=[1, 2])


@pytest.mark.parametrize("widths", [[], [0], [1, 1], [101], "12", 5, [1.5]])
def test_strange_widths_get_one_line(widths: object) -> None:
    with pytest.raises(ChannelError, match="widths must be"):
        c.windows(100, 3, widths)  # type: ignore[arg-type]


def test_many_ordered_values_keep_windows_with_and_without_missing_answers() -> None:
    for k in (32, 100, 1000, 10_000):
        for nullable in (False, True):
            schema = sf.Schema({"x": sf.Numeric(0, 1, bins=k, nullable=nullable)})
            scheme = sf.Scheme.for_gamma(schema, 3)
            assert scheme["x"] == c.windows(k, 3, nullable=nullable)
            assert sf.Scheme.from_json(scheme.to_json()) == scheme
    with pytest.raises(ChannelError, match="at most 65536 values"):
        c.windows(1 << 20, 3)


def test_words_for_windows_need_no_matrix() -> None:
    from sfumato.released.in_words import in_words

    schema = sf.Schema({"x": sf.Numeric(0, 10_000, bins=10_000, nullable=True)})
    scheme = sf.Scheme(schema, {"x": c.windows(10_000, 3, [1, 3], nullable=True)})
    last = scheme["x"].m - 1
    found = in_words(scheme, "x", [0, 10_000, 10_001, 10_002, last])
    assert found == ["[0, 1)", "[0, 1)", "[0, 2)", "[0, 3)", "no answer"]
    whole = sf.Scheme(schema, {"x": c.windows(10_000, 3, [10_000], nullable=True)})
    assert in_words(whole, "x", [9_999]) == ["any"]


@pytest.mark.parametrize("nullable", [False, True])
def test_running_sums_equal_the_matrix_that_few_values_are_multiplied_by(monkeypatch, nullable):
    """Few values take a plain matrix, which is up to twenty times as fast; the sums must stay tested on them."""
    rng = np.random.default_rng(2)
    for k in (3, 7, 20):
        forward = sf.channels.windows(k, 9, nullable=nullable).transition
        for operator in (forward, forward.T):
            x = rng.normal(size=(3, operator.cols, 4))
            matrix = operator.apply_middle(x)
            monkeypatch.setattr(window_sums, "_AS_MATRIX", 0)
            np.testing.assert_allclose(operator.apply_middle(x), matrix, atol=1e-12)
            monkeypatch.undo()
