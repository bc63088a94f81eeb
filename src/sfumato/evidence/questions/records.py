r"""Sums over records one by one: where numbers carry additive noise, or records carry weights of their own.

Of z = x + noise with mean 0 and moments μ₂, μ₄, and no skew, the scores of the powers of x are

    x: z      x²: z² - μ₂      x³: z³ - 3 μ₂ z      x⁴: z⁴ - 6 μ₂ z² + 6 μ₂² - μ₄
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np

from sfumato.arrays import Array
from sfumato.channels.additive import Gaussian, Laplace, Uniform
from sfumato.channels.base import Channel
from sfumato.channels.codes import join_codes
from sfumato.channels.noise import Noise
from sfumato.errors import EstimationError
from sfumato.evidence.blocks import blocks
from sfumato.evidence.questions.statistics import PartSums, Statistic, block_scores, product
from sfumato.evidence.seen import columns
from sfumato.released.part import Part

_BLOCK = 1 << 16
#: μ₄ / μ₂² of each noise.
_KURTOSIS = {Uniform: 1.8, Gaussian: 3.0, Laplace: 6.0}


def record_part(rows: Part, statistics: Sequence[Statistic], weights: Array | None) -> PartSums:
    """The statistics from the released records of one part; each record counts as its weight says."""
    names = list(dict.fromkeys(name for one in statistics for name in one))
    noisy = {name: rows.scheme.noises[name] for name in names if name in rows.scheme.noises}
    shown = (
        blocks(rows.scheme, tuple(name for name in names if name not in noisy), inverted=False)
        if len(noisy) < len(names)
        else ()
    )
    table = rows.arrow()
    held = {column: table.column(column).to_numpy() for column in (*columns(shown), *noisy)}
    known: dict[tuple[int, bytes], Array] = {}
    below: dict[tuple[int, bytes], Array] = {}
    k = len(statistics)
    products = [(i, j, product(statistics[i], statistics[j])) for i in range(k) for j in range(i, k)]
    pairs = [(i, j, both) for i, j, both in products if both is not None]
    total, second, own = np.zeros(k), np.zeros((k, k)), np.zeros((k, k))
    for start in range(0, table.num_rows, _BLOCK):
        cut = slice(start, start + _BLOCK)
        codes = [join_codes([held[c][cut] for c in block.columns], block.outputs) for block in shown]
        numbers = {name: held[name][cut] for name in noisy}
        size = len(next(iter(held.values()))[cut])

        def score(one: Statistic, codes: list[Array] = codes, z: Mapping[str, Array] = numbers, m: int = size,
                  lower: bool = False) -> Array:  # fmt: skip
            out = np.ones(m)
            held = block_scores(shown, one, below if lower else known, lower)
            for own_scores, released in zip(held, codes, strict=True):
                out *= own_scores[released]
            for name, values in z.items():
                out *= power_scores(noisy[name], values, int(one.get(name, 0)))
            return out

        weight = np.ones(size) if weights is None else weights[cut]
        G = np.stack([score(one) for one in statistics]) * weight
        total += G.sum(axis=1)
        second += G @ G.T
        for i, j, both in pairs:
            try:
                own[i, j] += float(score(both) @ weight**2)
            except EstimationError:  # squares under a channel for means: the nearest sum below
                own[i, j] += float(score(both, lower=True) @ weight**2)
    own = np.triu(own) + np.triu(own, 1).T
    return PartSums(float(table.num_rows), total, second, own)


def power_scores(noise: Channel, z: Array, power: int) -> Array:
    """The score of a power of the true number."""
    if power == 0:
        return np.ones_like(z)
    if power == 1:
        return z
    if not noise.continuous:
        raise EstimationError("only additive noise has powers")
    m2 = cast(Noise, noise).sd ** 2
    if power == 2:
        return np.asarray(z**2 - m2)
    kurtosis = next((value for kind, value in _KURTOSIS.items() if isinstance(noise, kind)), None)
    if kurtosis is None:
        raise EstimationError(f"the fourth moment of {noise} is not known")
    if power == 3:
        return np.asarray(z**3 - 3 * m2 * z)
    return np.asarray(z**4 - 6 * m2 * z**2 + (6 - kurtosis) * m2**2)
