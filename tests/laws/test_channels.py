"""What every channel must obey, whatever its family."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from gallery import CHANNELS
from sfumato import channels as c
from sfumato.channels import Channel
from sfumato.channels.codes import join_codes, split_codes
from sfumato.randomness import ONE, source, words

each = pytest.mark.parametrize("channel", CHANNELS.values(), ids=CHANNELS.keys())
#: A correct sampler fails one of these tests less than once in a million runs.
ONE_IN_A_MILLION = 1e-6 / 100


def misfit(released: np.ndarray, probabilities: np.ndarray) -> float:
    """The p-value of released codes against the distribution they should follow; 0 where one is impossible.

    Rare codes join the next rarest until at least ten records are due: one record where .003 are due is no evidence."""
    counts = np.bincount(released, minlength=len(probabilities)).astype(float)
    if counts[probabilities == 0].any():
        return 0.0
    expected = probabilities * len(released)
    order = np.argsort(expected)
    before = np.cumsum(expected[order]) - expected[order]
    merged = np.unique(before // 20, return_inverse=True)[1]
    seen, due = np.bincount(merged, counts[order]), np.bincount(merged, expected[order])
    seen, due = seen[due > 0], due[due > 0]
    if len(seen) < 2:
        return 1.0
    return float(stats.chi2.sf(((seen - due) ** 2 / due).sum(), len(seen) - 1))


@each
def test_rows_sum_to_one(channel: Channel) -> None:
    P = channel.matrix
    assert P.shape == (channel.k, channel.m)
    assert (P >= 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-12)


@each
def test_published_weights_are_integers_that_sum_to_one(channel: Channel) -> None:
    for piece in getattr(channel, "channels", [channel]):
        assert all(sum(int(w) for w in row) == ONE for row in piece.weights)
        np.testing.assert_allclose(piece.weights / ONE, piece.matrix, rtol=1e-12, atol=1e-18)


@each
def test_gamma_is_the_worst_column_ratio(channel: Channel) -> None:
    P = channel.matrix
    P = P[:, P.max(axis=0) > 0]
    with np.errstate(divide="ignore"):
        worst = (P.max(axis=0) / P.min(axis=0)).max()
    assert channel.gamma == pytest.approx(worst, rel=1e-9)
    assert channel.epsilon == pytest.approx(math.log(worst) if worst < math.inf else math.inf)


@each
def test_sampler_follows_its_matrix(channel: Channel) -> None:
    rng = np.random.default_rng(11)
    for x in range(0, channel.k, max(1, channel.k // 7)):
        released = channel.randomize(np.full(20_000, x), rng)
        assert misfit(released, channel.matrix[x]) > ONE_IN_A_MILLION


@each
def test_sampler_check_rejects_a_wrong_matrix(channel: Channel) -> None:
    """The negative control: the same check must fail against a matrix that is 10 % off."""
    rng = np.random.default_rng(12)
    row = channel.matrix[0]
    wrong = row.copy()
    low, high = np.argsort(row)[[0, -1]]
    moved = max(0.1 * row[high], 0.03)
    wrong[high] -= moved
    wrong[low] += moved
    released = channel.randomize(np.zeros(200_000, dtype=int), rng)
    assert misfit(released, wrong) < ONE_IN_A_MILLION


@each
def test_secure_source_follows_the_matrix_too(channel: Channel) -> None:
    released = channel.randomize(np.full(20_000, channel.k - 1))
    assert misfit(released, channel.matrix[-1]) > ONE_IN_A_MILLION


@pytest.mark.parametrize("channel", [channel for channel in CHANNELS.values() if channel.draws == 1], ids=str)
def test_draw_is_the_exact_inverse_of_the_cumulative_weights(channel: Channel) -> None:
    upper = np.cumsum(np.array(channel.weights.tolist(), dtype=object), axis=1)
    rng = np.random.default_rng(5)
    for x in range(0, channel.k, max(1, channel.k // 5)):
        edges = [int(u) for u in upper[x][:-1]]
        draws = [0, ONE - 1, *edges, *(e - 1 for e in edges if e), *(int(w) for w in words(source(rng), 50))]
        draws = [d for d in draws if d < ONE]
        expected = [next(y for y in range(channel.m) if d < upper[x][y]) for d in draws]
        got = channel.draw(np.full(len(draws), x), np.array(draws, dtype=np.uint64))
        np.testing.assert_array_equal(got, expected)


@each
def test_left_inverse_undoes_the_channel(channel: Channel) -> None:
    assert channel.invertible
    np.testing.assert_allclose(channel.inverse.dense() @ channel.matrix.T, np.eye(channel.k), atol=1e-10)


@each
def test_structured_products_equal_the_dense_twin(channel: Channel) -> None:
    rng = np.random.default_rng(7)
    P, A = channel.matrix, channel.inverse.dense()
    true, released = rng.random((channel.k, 3)), rng.random((channel.m, 3))
    np.testing.assert_allclose(channel.transition.T.apply(true), P.T @ true, atol=1e-12)
    np.testing.assert_allclose(channel.transition.apply(released), P @ released, atol=1e-12)
    np.testing.assert_allclose(channel.inverse.apply(released), A @ released, atol=1e-9)
    np.testing.assert_allclose(channel.inverse.squared().apply(released), A**2 @ released, atol=1e-8)
    twin = np.einsum("xy,xy->x", A**2, P)
    np.testing.assert_allclose(channel.inverse.squared().diagonal_of_product(channel.transition), twin, atol=1e-8)


@each
def test_json_round_trip_is_exact(channel: Channel) -> None:
    again = c.from_dict(json.loads(json.dumps(channel.to_dict())))
    assert again == channel
    assert again.exact_gamma == channel.exact_gamma
    np.testing.assert_array_equal(again.matrix, channel.matrix)


@each
def test_json_of_another_channel_differs(channel: Channel) -> None:
    others = [other for other in CHANNELS.values() if other is not channel]
    assert all(other != channel for other in others)


@each
def test_flat_codes_and_columns_are_the_same_question(channel: Channel) -> None:
    flat = np.arange(channel.k).repeat(3)
    columns = np.column_stack(split_codes(flat, channel.sizes))
    np.testing.assert_array_equal(join_codes(list(columns.T), channel.sizes), flat)
    out_flat = channel.randomize(flat, np.random.default_rng(1))
    out_columns = channel.randomize(columns, np.random.default_rng(1))
    np.testing.assert_array_equal(join_codes(list(out_columns.T), channel.outputs), out_flat)


@each
def test_codes_outside_the_domain_are_refused(channel: Channel) -> None:
    for bad in (-1, channel.k):
        with pytest.raises(c.base.ChannelError, match=rf"codes must lie in \[0, {channel.k - 1}\], 1 of 2 do not$"):
            channel.randomize([0, bad])


@pytest.mark.parametrize("name", ["joint", "mask", "product"])
def test_marginal_channel_equals_the_summed_matrix(name: str) -> None:
    channel = CHANNELS[name]
    n = len(channel.sizes)
    tensor = channel.matrix.reshape(*channel.sizes, *channel.outputs)
    for axes in [(0,), (1,), (0, 2), (1, 2)]:
        dropped = [i for i in range(n) if i not in axes]
        fixed = tensor[tuple(slice(None) if i in axes else 0 for i in range(n))]
        summed = fixed.sum(axis=tuple(len(axes) + i for i in dropped))
        marginal = channel.marginal(axes)
        np.testing.assert_allclose(marginal.matrix, summed.reshape(marginal.k, marginal.m), atol=1e-12)


def test_marginal_of_a_general_joint_matrix_exists_only_where_it_is_a_channel() -> None:
    independent = c.matrix(np.kron(c.binary(0.1, 0.2).matrix, c.symmetric(3, 0.3).matrix), sizes=(2, 3))
    np.testing.assert_allclose(independent.marginal([1]).matrix, c.symmetric(3, 0.3).matrix, atol=1e-12)
    dependent = c.matrix(np.random.default_rng(0).dirichlet(np.ones(6), 6), sizes=(2, 3))
    with pytest.raises(c.base.ChannelError, match="no marginal channel"):
        dependent.marginal([0])


def test_gamma_is_never_above_what_was_asked() -> None:
    for k in (2, 3, 7, 10, 16, 100):
        for gamma in (1.01, 2, 3, 9, 19.5, 1000):
            for channel in (c.symmetric(k, gamma=gamma), c.subset(k, gamma), c.windows(k, gamma)):
                assert Fraction(channel.exact_gamma) <= Fraction(gamma), str(channel)
                assert channel.gamma == pytest.approx(gamma, rel=1e-9)
