"""PRAM with any transition matrix: general, binary, ternary, grouped and invariant (Ma 2006, chapter 2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Array, Words
from sfumato.channels.arguments import check_finite, real
from sfumato.channels.base import Channel, from_dict
from sfumato.channels.linear import BlockDiagonal, Operator
from sfumato.channels.ratios import Ratio
from sfumato.channels.response import check_sizes
from sfumato.channels.size_limits import check_items
from sfumato.errors import ChannelError
from sfumato.input_checks import check_kind, given
from sfumato.randomness import ONE, quantize

_SUM_TOLERANCE = 1e-9
_MOST_AXES = 63  # of a channel whose values form a group of categories


@dataclass(frozen=True, eq=False, repr=False)
class Matrix(Channel):
    r"""Any transition matrix, P[x, y] >= 0 with rows that sum to 1; more outputs than inputs are welcome.

    >>> matrix([[0.9, 0.1], [0.25, 0.75]]).gamma
    7.5
    """

    table: Words
    shape: tuple[int, ...]
    released: tuple[int, ...]

    kind = "matrix"

    @property
    def weights(self) -> Words:
        return self.table

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.shape

    @property
    def outputs(self) -> tuple[int, ...]:
        return self.released

    @property
    def releases_values(self) -> bool:
        return self.released == self.shape

    def parameters(self) -> dict[str, Any]:
        rows = [[str(int(weight)) for weight in row] for row in self.weights]
        return {"sizes": list(self.sizes), "outputs": list(self.outputs), "weights": rows}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Matrix:
        sizes, outputs = (check_sizes(parameters[name], name) for name in ("sizes", "outputs"))
        k, m = prod(sizes), prod(outputs)
        rows = [[int(weight) for weight in row] for row in parameters["weights"]]
        if len(rows) != k or any(len(row) != m for row in rows):
            raise ChannelError(f"weights must have {k} rows of {m} entries")
        for x, row in enumerate(rows):
            if min(row) < 0 or sum(row) != ONE:
                raise ChannelError(f"row {x} of weights must be non-negative and sum to 2^63, got {sum(row)} instead")
        return cls(np.array(rows, dtype=np.uint64), sizes, outputs)


def matrix(P: ArrayLike, sizes: Sequence[int] | None = None, outputs: Sequence[int] | None = None) -> Matrix:
    """A channel from its transition matrix; ``sizes`` names the attributes of a joint one (first slowest)."""
    try:
        values = np.asarray(P, dtype=np.float64)
    except (TypeError, ValueError):
        raise ChannelError("a transition matrix must hold numbers, as many in every row") from None
    if values.ndim != 2 or not values.size:
        raise ChannelError(f"a transition matrix has rows and columns, got an array of shape {values.shape} instead")
    if not np.isfinite(values).all():
        x, y = np.argwhere(~np.isfinite(values))[0]
        raise ChannelError(f"P[{x}, {y}] must be a probability, got {values[x, y]} instead")
    if (values < 0).any():
        x, y = np.argwhere(values < 0)[0]
        raise ChannelError(f"P[{x}, {y}] must not be negative, got {values[x, y]:.6g} instead")
    sums = values.sum(axis=1)
    worst = int(np.abs(sums - 1).argmax())
    if abs(sums[worst] - 1) > _SUM_TOLERANCE:
        raise ChannelError(f"row {worst} of P must sum to 1, got {sums[worst]:.9g}: P[x, y] is Pr(released y | true x)")
    ins = (values.shape[0],) if sizes is None else check_sizes(sizes, "sizes")
    same = ins if prod(ins) == values.shape[1] else (values.shape[1],)
    outs = same if outputs is None else check_sizes(outputs, "outputs")
    if prod(ins) != values.shape[0] or prod(outs) != values.shape[1]:
        raise ChannelError(f"sizes {ins} and outputs {outs} do not fit a matrix of shape {values.shape}")
    return Matrix(quantize(values), ins, outs)


def binary(p1: float, p2: float) -> Matrix:
    """Change the first value with probability p1 and the second with p2 (Ma 2006, figure 2.1a).

    >>> binary(0.25, 0.25).gamma, binary(0.1, 0.25).gamma
    (3.0, 7.5)
    """
    p1, p2 = real("p1", p1), real("p2", p2)
    for name, p in (("p1", p1), ("p2", p2)):
        if not 0 <= p <= 1:
            raise ChannelError(f"{name} must lie in [0, 1], got {p} instead")
    if p1 + p2 >= 1:
        raise ChannelError(f"p1 + p2 must lie in [0, 1), got {p1 + p2:.6g}: at 1 the output ignores the input")
    return matrix([[1 - p1, p1], [p2, 1 - p2]])


def ternary(p1: float, p2: float) -> Matrix:
    """Move one value on (cyclically) with probability p1, two values on with p2 (Ma 2006, figure 2.1b).

    >>> round(ternary(0.15, 0.15).gamma, 4)
    4.6667
    """
    p1, p2 = real("p1", p1), real("p2", p2)
    keep = 1 - p1 - p2
    if not (p1 >= 0 and p2 >= 0 and keep >= 0):
        raise ChannelError(f"p1 and p2 must not be negative and sum to at most 1, got {p1} and {p2} instead")
    if not keep > max(p1, p2) * (1 + 1e-12):  # 1/3 is not exact in doubles
        raise ChannelError(
            f"1 - p1 - p2 must exceed p1 and p2, got {keep:.6g}, {p1} and {p2}: at 1/3 each the output says nothing"
        )
    return matrix([[keep, p1, p2], [p2, keep, p1], [p1, p2, keep]])


@dataclass(frozen=True, eq=False, repr=False)
class Blocks(Channel):
    r"""Grouped PRAM: a value changes only within its own group, each group under its own channel.

        P = diag(P_1, ..., P_G),       gamma = inf between groups,  max over g of gamma(P_g) within

    >>> grouped = blocks([Matrix.from_parameters(binary(.3, .3).parameters())] * 2)
    >>> grouped.gamma, round(grouped.gamma_within, 4)
    (inf, 2.3333)
    """

    channels: tuple[Channel, ...]

    kind = "blocks"

    @property
    def sizes(self) -> tuple[int, ...]:
        return (sum(channel.k for channel in self.channels),)

    @property
    def outputs(self) -> tuple[int, ...]:
        return (sum(channel.m for channel in self.channels),)

    @cached_property
    def weights(self) -> Words:
        out = np.zeros((self.k, self.m), dtype=np.uint64)
        x = y = 0
        for channel in self.channels:
            out[x : x + channel.k, y : y + channel.m] = channel.weights
            x, y = x + channel.k, y + channel.m
        return out

    @property
    def releases_values(self) -> bool:
        return all(channel.releases_values for channel in self.channels)

    @cached_property
    def transition(self) -> Operator:
        return BlockDiagonal(tuple(channel.transition for channel in self.channels))

    @cached_property
    def inverse(self) -> Operator:
        return BlockDiagonal(tuple(channel.inverse for channel in self.channels))

    @cached_property
    def invertible(self) -> bool:
        return all(channel.invertible for channel in self.channels)

    def exact_gammas(self) -> list[Ratio]:
        if len(self.channels) == 1:
            return self.channels[0].exact_gammas()
        return [math.inf for channel in self.channels for _ in channel.exact_gammas()]

    @property
    def exact_gamma(self) -> Ratio:
        return self.channels[0].exact_gamma if len(self.channels) == 1 else math.inf

    @property
    def gamma_within(self) -> float:
        """The worst ratio between two values of the same group; across groups it is infinite."""
        return max(channel.gamma for channel in self.channels)

    def parameters(self) -> dict[str, Any]:
        return {"channels": [channel.to_dict() for channel in self.channels]}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Blocks:
        return blocks([from_dict(document) for document in parameters["channels"]])


def blocks(channels: Sequence[Channel]) -> Blocks:
    """A channel for each group of neighbouring categories, in the order of the codes."""
    given = check_finite(channels, "blocks")
    check_items(max(channel.arity for channel in given), _MOST_AXES)
    return Blocks(given)


def invariant(channel: Channel, prior: ArrayLike) -> Matrix:
    """The channel followed by a draw from its own posterior: the marginal stays the prior in expectation.

        R[x, z] = Σ_y P[x, y] Pr(z | y),       Pr(z | y) = prior_z P[z, y] / Σ_x prior_x P[x, y],       Rᵀ prior = prior

    Gouweleeuw, Kooiman, Willenborg, de Wolf (1998).

    >>> invariant(binary(.2, .2), [.9, .1]).matrix.T @ [.9, .1]
    array([0.9, 0.1])
    """
    check_kind(ChannelError, "channel", channel, Channel, "a channel")
    pi = check_distribution(prior, channel.k)
    P = channel.matrix
    released = pi @ P
    posterior = np.divide(pi[:, None] * P, released, out=np.zeros_like(P), where=released > 0)
    R = P @ posterior.T
    if (R.sum(axis=1) < 0.5).any():
        x = int(R.sum(axis=1).argmin())
        raise ChannelError(f"the prior rules out all that value {x} can be released as: give it some probability")
    return matrix(R / R.sum(axis=1, keepdims=True), sizes=channel.sizes)


def check_distribution(values: ArrayLike, size: int, name: str = "prior") -> Array:
    """A probability vector of the right length that sums to 1, or one clear line."""
    try:
        out = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ChannelError(f"{name} must be a list of {size} probabilities, got {given(values)} instead") from None
    if out.shape != (size,):
        raise ChannelError(f"{name} must have {size} entries, got {out.shape} instead")
    wrong = out[~((out >= 0) & (out < np.inf))]
    if wrong.size:
        raise ChannelError(f"{name} must hold probabilities, got an entry of {wrong[0]} instead")
    if abs(out.sum() - 1) > _SUM_TOLERANCE:
        raise ChannelError(f"{name} must sum to 1, got {out.sum():.9g} instead")
    return out
