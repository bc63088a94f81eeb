"""gamma-amplification: the worst likelihood ratio that an answer gives an adversary (Evfimievski et al. 2003)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.assess.subject import Attribute, channel_of, noise_of
from sfumato.channels import Channel
from sfumato.channels.base import DENSE_LIMIT
from sfumato.channels.product import Product
from sfumato.channels.ratios import as_float, product
from sfumato.errors import ChannelError
from sfumato.forms import Forms
from sfumato.input_checks import check_kind
from sfumato.scheme import Scheme


def gamma(of: Any, attribute: Attribute = None) -> float:
    r"""The most by which one answer can change the odds between two true values.

        gamma = max over y, x, x' of P[x, y] / P[x', y]

    A *column* ratio, from exact integers (Ma 2006, section 3.1.2; the errata say where rows were taken instead). Of a
    scheme: of a whole record, the product over its groups; of forms, that of the form that tells most. Infinite for
    additive noise.

    >>> gamma([[0.9, 0.1], [0.25, 0.75]])
    7.5
    """
    if noise_of(of, attribute) is not None:
        return math.inf
    return _whole(of, attribute).gamma


def epsilon(of: Any, attribute: Attribute = None) -> float:
    """ln gamma: the local differential privacy of one answer; right also where gamma is too large for a double.

    >>> round(epsilon([[0.75, 0.25], [0.25, 0.75]]), 6)
    1.098612
    """
    if noise_of(of, attribute) is not None:
        return math.inf
    return _whole(of, attribute).epsilon


def _whole(of: Any, attribute: Attribute) -> Channel | Scheme | Forms:
    """What knows its gamma: a scheme or forms as a whole, else the channel that is meant."""
    return of if isinstance(of, Scheme | Forms) and attribute is None else channel_of(of, attribute)


def gamma_by_output(of: Any, attribute: Attribute = None) -> Array:
    """gamma of each released value; nan where no true value leads to it.

    >>> gamma_by_output([[0.5, 0.5, 0.0], [0.25, 0.5, 0.25]])
    array([ 2.,  1., inf])
    """
    return _by_output(channel_of(of, attribute))


def _by_output(channel: Channel) -> Array:
    if channel.m > DENSE_LIMIT:
        raise ChannelError(f"{channel} has too many released values to list: ask for gamma, which is their worst")
    if isinstance(channel, Product):
        out = np.ones(1)
        for part in channel.channels:
            own = _by_output(part)
            out = (out[:, None] * own).reshape(-1)
        return out
    P = channel.matrix
    P = P[P.sum(axis=1) > 0.5]
    low, high = P.min(axis=0), P.max(axis=0)
    out = np.full(P.shape[1], np.nan)
    np.divide(high, low, out=out, where=low > 0)
    out[(low == 0) & (high > 0)] = np.inf
    return out


def joint_gamma(parts: Sequence[Any]) -> float:
    """gamma of answers to *different* questions seen together: the product (joined releases, groups of a scheme).

    >>> joint_gamma([[[0.75, 0.25], [0.25, 0.75]]] * 3)
    27.0
    """
    check_kind(ChannelError, "parts", parts, Iterable, "a list of channels or schemes")
    channels = [g.channel for part in parts if isinstance(part, Scheme) for g in part.groups]
    channels += [channel_of(part) for part in parts if not isinstance(part, Scheme)]
    return product(channel.gamma for channel in channels)


def composed_gamma(parts: Sequence[Any]) -> float:
    r"""gamma of independent answers to the *same* question: the worst pair of true values over all answers.

        gamma = max over x, x' of  prod_i  max over y of P_i[x, y] / P_i[x', y]

    Two answers under one channel square its gamma; under different channels it may be less than the product.

    >>> composed_gamma([[[0.75, 0.25], [0.25, 0.75]]] * 2)
    9.0
    """
    check_kind(ChannelError, "parts", parts, Iterable, "a list of channels")
    channels = [channel_of(part) for part in parts]
    if not channels:
        raise ChannelError("composed_gamma needs at least one channel, got none")
    if len({channel.k for channel in channels}) > 1:
        sizes = ", ".join(str(channel.k) for channel in channels)
        raise ChannelError(f"the channels must take the same true values, got {sizes} of them")
    if len(set(channels)) == 1:
        worst = channels[0].exact_gamma
        return as_float(worst ** len(channels)) if worst < math.inf else math.inf
    total = pair_ratios(channels[0])
    for channel in channels[1:]:
        total = total * pair_ratios(channel)
    return float(total.max())


def pair_ratios(of: Any) -> Array:
    """D[x, x'] = max over y of P[x, y] / P[x', y]: how far one answer can tell each two true values apart."""
    P = channel_of(of).matrix
    P = P[P.sum(axis=1) > 0.5]
    out = np.ones((len(P), len(P)))
    for x, row in enumerate(P):
        ratio = np.divide(row, P, out=np.zeros_like(P), where=P > 0)
        ratio[(P == 0) & (row > 0)] = np.inf
        out[x] = ratio.max(axis=1)
    return out
