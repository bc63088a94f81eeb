"""What liars can do: how far false answers move an estimate, told from the channel alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.arrays import Array
from sfumato.assess.released_counts import cell_labels
from sfumato.assess.shares import given_shares
from sfumato.assess.subject import Attribute, channel_of
from sfumato.channels.geometry import Incidence
from sfumato.channels.linear import Kronecker, Operator, UniformPlus
from sfumato.errors import SchemeError, SfumatoError
from sfumato.evidence import Estimate
from sfumato.evidence.blocks import blocks
from sfumato.evidence.seen import Seen
from sfumato.input_checks import check_names
from sfumato.pages.display import MOST
from sfumato.pages.shown_table import ShownTable
from sfumato.scheme import Scheme

#: The most entries of a left inverse that is looked through in full.
_ENTRIES = 1 << 24


@dataclass(frozen=True, eq=False, repr=False)
class Poisoning(ShownTable):
    r"""How far a share of false answers can move the estimated share of each value.

    The moment estimate of the share of x is the mean of A[x, y] over the released answers y, where A is the left
    inverse of the channel. An honest answer of someone with value x' adds 1[x = x'] on average. A false answer adds
    whatever it likes:

        down[x] = s (min_y A[x, y] - h[x]),      up[x] = s (max_y A[x, y] - h[x])

    where s is the share of false answers and h[x] what their senders would have added honestly: anything from 0 to 1,
    or the shares of the values where these are given. Someone who lies about the value but lets the channel randomize
    moves a share by no more than s.
    """

    share: float
    labels: tuple[str, ...]
    down: Array
    up: Array

    @property
    def worst(self) -> float:
        """The farthest that any share can be moved."""
        return float(max(-self.down.min(), self.up.max()))

    @property
    def factor(self) -> float:
        """How many times more than an ordinary lie, one that goes through the channel, the worst false answer moves."""
        return self.worst / self.share

    @property
    def _title(self) -> str:
        return f"{100 * self.share:g} % false answers move a share by at most {self.worst:.3g}"

    def _shown(self) -> tuple[list[str], list[list[Any]], int]:
        return ["value", "down", "up"], *moved_rows(self.labels, self.down, self.up)


def moved_rows(labels: tuple[str, ...], down: Array, up: Array) -> tuple[list[list[Any]], int]:
    """The first rows of how far something moves, and how many there are besides."""
    rows: list[list[Any]] = [
        [label, float(f"{low:.4g}"), float(f"{high:.4g}")]
        for label, low, high in zip(labels[:MOST], down, up, strict=False)
    ]
    return rows, len(labels) - len(rows)


def poisoning(of: Any, share: float, attribute: Attribute = None, *, shares: ArrayLike | None = None) -> Poisoning:
    """How far a share of false answers can move the estimated share of each value, or combination of values.

    ``of`` is a scheme with the ``attribute`` named (or several, as a tuple), a channel, a matrix, or an Estimate.
    ``shares`` are those of the values among the senders, where they are known. The bound is exact: it is reached when
    all false answers are the same one. In a release of several schemes they stand where they move the estimate most.

    >>> from sfumato import channels as c
    >>> poisoning(c.symmetric(4, gamma=3), 0.01).up
    array([0.025, 0.025, 0.025, 0.025])
    """
    share = checked_share(share)
    if isinstance(of, Estimate):
        parts = _parts(of)
        labels = cell_labels(of.schema, of.codes)
    elif isinstance(of, Scheme):
        names = _names(of, attribute)
        parts = [_Part.of(Seen(names, blocks(of, names), np.zeros(0), scheme=of), 1.0, 1.0)]
        labels = cell_labels(of.schema.select(names))
    else:
        channel = channel_of(of, attribute)
        low, high = extremes(channel.inverse)
        parts = [_Part(low, high, channel.transition.apply(np.ones(channel.m)) > 0, 1.0, 1.0)]
        labels = tuple(str(x) for x in range(channel.k))
    known = None if shares is None else given_shares(shares, len(labels), labels)
    down = [part.pull * (part.low - (part.possible if known is None else known)) for part in parts]
    up = [part.pull * (part.high - (0.0 if known is None else known)) for part in parts]
    sizes = np.array([part.size for part in parts])
    return Poisoning(share, labels, -_filled(-np.array(down), sizes, share), _filled(np.array(up), sizes, share))


@dataclass(frozen=True)
class _Part:
    """Of one scheme, what an answer adds at least and at most to each cell, and which cells can hold somebody."""

    low: Array
    high: Array
    possible: NDArray[np.bool_]
    pull: float  # how many times more than in a plain mean of all answers one of these counts
    size: float  # the share of all answers

    @classmethod
    def of(cls, piece: Seen, pull: float, size: float) -> _Part:
        low, high = (piece.placed(side) for side in extremes(piece.inverse))
        return cls(low, high, piece.placed(piece.transition.apply(np.ones(piece.transition.cols))) > 0, pull, size)


def _parts(estimate: Estimate) -> list[_Part]:
    """The schemes behind an estimate. In shares of a population an answer of a precise part counts more."""
    totals = np.array([piece.total for piece in estimate.seen])
    pulls = np.ones(len(totals))
    if estimate.pooled is not None:
        totals, pulls = estimate.pooled.sizes, estimate.pooled.weights * estimate.n / estimate.pooled.sizes
    found = zip(estimate.seen, pulls, totals / totals.sum(), strict=True)
    return [_Part.of(piece, float(pull), float(size)) for piece, pull, size in found]


def _filled(gains: Array, sizes: Array, share: float) -> Array:
    """The most that a share of false answers gains: all in the part where each gains most, as far as it has answers."""
    order = np.argsort(-gains, axis=0, kind="stable")
    room = sizes[order]
    taken = np.clip(share - (np.cumsum(room, axis=0) - room), 0.0, room)
    return np.asarray((taken * np.take_along_axis(gains, order, axis=0)).sum(axis=0))


def extremes(operator: Operator) -> tuple[Array, Array]:
    """The least and the greatest entry of each row."""
    if isinstance(operator, UniformPlus):
        both = np.array([operator.a + operator.b, operator.b] if operator.k > 1 else [operator.a + operator.b])
        return np.full(operator.k, both.min()), np.full(operator.k, both.max())
    if isinstance(operator, Kronecker):
        return _products([extremes(factor) for factor in operator.factors])
    if isinstance(operator, Incidence) and not operator.turned and operator.rows * operator.cols > _ENTRIES:
        both = np.array([np.min(operator.off), np.max(operator.off), np.min(operator.on), np.max(operator.on)])
        return np.full(operator.rows, both.min()), np.full(operator.rows, both.max())
    if operator.rows * operator.cols > _ENTRIES:
        raise SfumatoError(
            f"{operator.rows:,} values are too many to look through every answer: ask for an attribute with fewer"
        )
    matrix = operator.dense()
    return matrix.min(axis=1), matrix.max(axis=1)


def checked_share(share: float) -> float:
    """A share of the answers: above 0 and below 1."""
    if not (isinstance(share, int | float | np.floating) and 0 < share < 1):
        raise SfumatoError(f"share must lie between 0 and 1, got {share!r} instead: write .01 for 1 %")
    return float(share)


def _products(parts: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """The extremes of a Kronecker product: those of the products of the factors' extremes."""
    low, high = np.ones(1), np.ones(1)
    for least, most in parts:
        corners = [np.multiply.outer(a, b).reshape(-1) for a in (low, high) for b in (least, most)]
        low, high = np.min(corners, axis=0), np.max(corners, axis=0)
    return low, high


def _names(scheme: Scheme, attribute: Attribute) -> tuple[str, ...]:
    """The attributes that are asked about; the only one where none is named."""
    if attribute is None:
        if len(scheme.schema) > 1:
            raise SchemeError(f"name an attribute: the scheme has {', '.join(scheme.schema.names)}")
        return scheme.schema.names
    names = (attribute,) if isinstance(attribute, str) else check_names(SchemeError, "attribute", attribute)
    for name in names:
        if name in scheme.noises:
            raise SchemeError(f"{name!r} has additive noise: an answer can be any number, and no bound holds")
    return names
