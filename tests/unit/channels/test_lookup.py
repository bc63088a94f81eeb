"""The sampler's fast paths: every one gives the answer of the exact integer comparison, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from gallery import CHANNELS
from sfumato import channels as c
from sfumato.channels import lookup
from sfumato.channels.lookup import Lookup
from sfumato.randomness import ONE, GeneratorSource, SecureSource, quantize, words

SINGLE = {name: channel for name, channel in CHANNELS.items() if channel.draws == 1 and channel.k <= 256}


class Recorded:
    """A source that remembers every byte it gave."""

    def __init__(self, seed: int) -> None:
        self._inner = GeneratorSource(np.random.default_rng(seed))
        self.given: list[np.ndarray] = []

    def fill(self, buffer: np.ndarray) -> None:
        self._inner.fill(buffer)
        self.given.append(buffer.copy())


@pytest.mark.parametrize("channel", SINGLE.values(), ids=SINGLE.keys())
def test_numba_and_numpy_give_the_same_answers(channel: c.Channel, monkeypatch: pytest.MonkeyPatch) -> None:
    codes = np.random.default_rng(0).integers(0, channel.k, 300_000).astype(np.uint8)
    sampler = Lookup(channel.weights)
    plain = sampler.sample(codes, Recorded(1))
    monkeypatch.setattr(lookup, "_WORTH_COMPILING", 0)
    assert lookup._compiled() is not None
    np.testing.assert_array_equal(sampler.sample(codes, Recorded(1)), plain)


def test_many_outputs_are_told_apart_by_two_whole_bytes() -> None:
    channel = c.subset(16, 3)
    sampler, source = Lookup(channel.weights), Recorded(4)
    assert (channel.m, sampler.bits) == (1820, 16)
    sampler.sample(np.zeros(100_000, dtype=np.uint8), source)
    assert len(source.given[1]) < 8 * 5_000  # few are left for the bisection


@pytest.mark.parametrize("channel", [*SINGLE.values(), c.subset(16, 3)], ids=[*SINGLE, "subset of 16"])
def test_the_leading_bits_settle_only_what_all_their_draws_agree_on(channel: c.Channel) -> None:
    codes = np.random.default_rng(0).integers(0, channel.k, 20_000).astype(np.uint8)
    sampler, source = Lookup(channel.weights), Recorded(2)
    out = sampler.sample(codes, source)
    lead = source.given[0] if sampler.bits == 8 else source.given[0].view(np.uint16) >> np.uint16(16 - sampler.bits)
    shift = np.uint64(63 - sampler.bits)
    low = lead.astype(np.uint64) << shift
    high = low + (np.uint64(1) << shift) - np.uint64(1)
    first, last = sampler.exact(codes, low), sampler.exact(codes, high)
    assert (first <= out).all()
    assert (out <= last).all()
    settled = first == last
    np.testing.assert_array_equal(out[settled], first[settled])
    rest = source.given[1].view(np.uint64) if len(source.given) > 1 else np.zeros(0, np.uint64)
    assert len(rest) == (~settled).sum()
    mask = (np.uint64(1) << shift) - np.uint64(1)
    np.testing.assert_array_equal(out[~settled], sampler.exact(codes[~settled], low[~settled] | (rest & mask)))


class Limits:
    """A source whose draws are the limits between outputs themselves: first their leading bits, then the others."""

    def __init__(self, sampler: Lookup, codes: np.ndarray, draws: np.ndarray) -> None:
        shift = np.uint64(63 - sampler.bits)
        leading = draws >> shift
        open_ = sampler._table[(codes.astype(np.int64) << sampler.bits) | leading.astype(np.int64)] == sampler.outputs
        whole = leading if sampler.bits == 8 else (leading << np.uint64(16 - sampler.bits)).astype(np.uint16)
        self._next = [
            whole.astype(np.uint8) if sampler.bits == 8 else whole.view(np.uint8),
            draws[open_].view(np.uint8),
        ]

    def fill(self, buffer: np.ndarray) -> None:
        buffer[:] = self._next.pop(0)


@pytest.mark.parametrize("compiled", [False, True], ids=["numpy", "numba"])
@pytest.mark.parametrize("channel", [*SINGLE.values(), c.subset(16, 3)], ids=[*SINGLE, "subset of 16"])
def test_a_draw_at_the_very_limit_belongs_to_the_next_output(
    channel: c.Channel, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No number of random draws would ever meet one, and the published integers say where it belongs."""
    monkeypatch.setattr(lookup, "_WORTH_COMPILING", 0 if compiled else 1 << 40)
    sampler = Lookup(channel.weights)
    cells = [(x, int(upper) + move) for x, row in enumerate(sampler.upper[:20]) for upper in row for move in (-1, 0)]
    codes, draws = (np.array(column) for column in zip(*((x, d) for x, d in cells if 0 <= d < ONE), strict=True))
    codes, draws = codes.astype(np.uint8)[: lookup._BLOCK], draws.astype(np.uint64)[: lookup._BLOCK]
    expected = [int((sampler.upper[x] <= draw).sum()) for x, draw in zip(codes, draws, strict=True)]
    np.testing.assert_array_equal(sampler.sample(codes, Limits(sampler, codes, draws)), expected)


def test_rare_outputs_appear_as_often_as_they_should() -> None:
    """A probability of 2^-20 lies far below what one leading byte can tell."""
    channel = c.matrix([[1 - 2.0**-20, 2.0**-20], [0.5, 0.5]])
    n = 1 << 24
    seen = int(channel.randomize(np.zeros(n, dtype=np.uint8), 3).sum())
    assert abs(seen - 16) < 6 * 4


def test_quantized_rows_are_exact() -> None:
    rng = np.random.default_rng(4)
    for _ in range(200):
        row = rng.dirichlet(np.full(rng.integers(2, 40), 0.05))
        row[(rng.random(len(row)) < 0.2) & (row < row.max())] = 0
        row = row / row.sum()
        weights = quantize(row)
        assert sum(int(w) for w in weights) == ONE
        assert ((weights > 0) == (row > 0)).all()
        np.testing.assert_allclose(weights / ONE, row, atol=1e-15)


def test_secure_bytes_are_balanced_and_never_repeat() -> None:
    one, two = np.empty(1 << 16, np.uint8), np.empty(1 << 16, np.uint8)
    source = SecureSource()
    source.fill(one)
    source.fill(two)
    assert not np.array_equal(one, two)
    ones = int(np.unpackbits(one).sum())
    assert abs(ones - one.size * 4) < 6 * np.sqrt(one.size * 2)
    drawn = words(SecureSource(), 1000)
    assert int(drawn.max()) < ONE
    assert len(set(drawn.tolist())) == 1000
