"""Blocks of a scheme: products fall into their factors, each with its own columns."""

from __future__ import annotations

import numpy as np

import sfumato as sf
from sfumato import channels as c
from sfumato.evidence.blocks import blocks

SCHEMA = sf.Schema({name: sf.Categorical(tuple(range(size))) for name, size in zip("abcd", (2, 3, 2, 4), strict=True)})
#: The first factor releases one column for two attributes.
JOINT = c.matrix(0.7 * np.eye(6) + 0.05, sizes=(2, 3), outputs=(6,))
SCHEME = sf.Scheme(SCHEMA, {("a", "b", "c"): c.product([JOINT, c.binary(0.1, 0.2)]), "d": c.symmetric(4, 0.3)})


def test_a_product_falls_into_blocks_with_their_own_columns() -> None:
    found = blocks(SCHEME, ("d", "c", "a", "b"))
    assert [block.names for block in found] == [("d",), ("a", "b"), ("c",)]
    assert [block.columns for block in found] == [("d",), ("a+b",), ("c",)]
    for block in found:
        np.testing.assert_allclose(block.A @ block.P.T, np.eye(len(block.P)), atol=1e-12)


def test_one_attribute_of_a_product_is_counted_in_its_own_column() -> None:
    """Also where an earlier factor has fewer columns than attributes."""
    rng = np.random.default_rng(1)
    table = {name: rng.integers(0, SCHEMA[name].size, 4000) for name in SCHEMA}
    found = sf.evidence(sf.randomize(table, SCHEME, rng=sf.experiment(2)))
    for names in (["c"], ["c", "d"], ["a"], ["c", "b"]):
        counts = found.counts(names)
        true = np.zeros(counts.shape)
        np.add.at(true, tuple(table[name] for name in names), 1)
        assert (np.abs(counts.table - true) < 6 * counts.sd.reshape(counts.shape) + 1e-9).all()


def test_an_attribute_without_a_marginal_channel_is_summed_from_the_whole() -> None:
    (block,) = blocks(SCHEME, ("a",))
    assert block.full.names == ("a", "b") and block.into.tolist() == [0, 0, 0, 1, 1, 1]
    np.testing.assert_allclose(block.A, block.full.A.reshape(2, 3, 6).sum(axis=1))
