"""Channels for rounds: exact bounds on one round and on a life, and estimates from hashed answers."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from sfumato import channels as c
from sfumato.channels import from_dict
from sfumato.errors import ChannelError
from sfumato.schema import Categorical, Numeric, Schema
from sfumato.scheme import Scheme


@pytest.mark.parametrize(("k", "gamma", "lifetime", "classes"), [(10, 3, 81, 2), (100, 2, 81, None), (7, 1.5, 200, 7)])
def test_both_bounds_are_kept_in_integers(k: int, gamma: float, lifetime: float, classes: int | None) -> None:
    channel = c.longitudinal(k, gamma, lifetime, classes)
    assert channel.exact_gamma <= Fraction(gamma)
    assert channel.lifetime <= Fraction(lifetime)
    assert channel.gamma == pytest.approx(gamma, rel=1e-9)
    assert float(channel.lifetime) == pytest.approx(lifetime, rel=1e-9)


def test_no_sequence_of_rounds_tells_more_than_the_lifetime() -> None:
    """All answers of six rounds, by enumeration: trajectories that change at the same times differ by at most lifetime.

    One class a person keeps is bounded by the permanent answer alone, however many rounds there are.
    """
    channel = c.longitudinal(6, 1.8, 16, classes=2)
    Q1, Q2 = channel.permanent.matrix, channel.repeated.matrix

    def likelihood(classes: tuple[int, ...], seen: tuple[int, ...]) -> float:
        total = 0.0
        for table in product(range(2), repeat=2):  # the permanent answer to each class
            chance = np.prod([Q1[x, table[x]] for x in range(2)])
            total += chance * np.prod([Q2[table[x], z] for x, z in zip(classes, seen, strict=True)])
        return float(total)

    stay, change = [], []
    for seen in product(range(2), repeat=6):
        stay.append(likelihood((0,) * 6, seen) / likelihood((1,) * 6, seen))
        change.append(likelihood((0, 0, 1, 1, 0, 1), seen) / likelihood((1, 1, 0, 0, 1, 0), seen))
    assert max(stay) < 4 < max(stay) * 2  # below the permanent ratio of 4, and not by far
    assert max(stay) < max(change) < 16


def test_every_two_values_share_a_class_under_equally_many_hashes() -> None:
    channel = c.longitudinal(20, 2, 30, classes=3)
    found = np.array([channel.hashed(np.arange(20), np.full(20, h, dtype=np.uint64))[1] for h in range(channel.hashes)])
    together = (found[:, :, None] == found[:, None, :]).mean(axis=0)
    off = together[~np.eye(20, dtype=bool)]
    assert np.allclose(off, float(channel.shared))
    assert channel.outputs == (3 * channel.hashes,)


def test_very_many_values_need_no_matrix() -> None:
    channel = c.longitudinal(100_000, 3, 100)
    codes = np.random.default_rng(1).zipf(1.5, 60_000) % 100_000
    released = channel.randomize(codes, np.random.default_rng(2))
    found = channel.inverse.apply(np.bincount(released, minlength=channel.m).astype(float)[:, None])[:, 0]
    sd = np.sqrt(60_000 * channel.share_variance)
    assert abs(found[1] - (codes == 1).sum()) < 6 * sd
    assert found.sum() == pytest.approx(60_000)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: c.longitudinal(10, 3, 9), r"lifetime must exceed gamma\^2 = 9, got 9"),
        (lambda: c.longitudinal(10, 3, 20, classes=3), r"lifetime must exceed gamma\^classes = 27, got 20"),
        (lambda: c.longitudinal(10, 3, 2000, classes=4), "classes must be a prime of at most 10, got 4"),
        (lambda: c.longitudinal(10, 3, 1e9, classes=11), "classes must be a prime of at most 10, got 11"),
        (lambda: c.longitudinal(1, 3, 20), "k must be at least 2, got 1"),
        (lambda: c.longitudinal(10, 1, 20), "gamma must lie in"),
        (lambda: c.longitudinal(10, 3, float("inf")), "lifetime must be a finite number, got inf"),
        (lambda: c.longitudinal(1 << 25, 3, 20), "needs 2 to 16777216 values"),
        (lambda: c.product([c.longitudinal(4, 2, 20), c.binary(0.1, 0.1)]), "product takes no longitudinal channel"),
        (lambda: c.cells(c.longitudinal(4, 2, 20), (2, 2)), "cells takes no longitudinal channel"),
        (
            lambda: from_dict({"kind": "longitudinal", "values": 4, "classes": 2, "permanent": "0", "repeated": "9"}),
            "the weight of another class must lie in",
        ),
        (lambda: from_dict({"kind": "longitudinal", "values": 4, "classes": 2}), "is damaged"),
    ],
)
def test_bad_arguments_are_one_line(call, says: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ChannelError, match=says):
        call()


def test_it_fits_one_attribute_and_no_points() -> None:
    schema = Schema({"a": Categorical(("x", "y", "z", "w")), "m": Numeric(0, 10, points=4)})
    with pytest.raises(Exception, match="takes values or bins, not points"):
        Scheme(schema.select(["m"]), {"m": c.longitudinal(4, 2, 20)})
    scheme = Scheme(schema.select(["a"]), {"a": c.longitudinal(4, 2, 20)})
    assert Scheme.from_json(scheme.to_json()) == scheme
