"""The families of channels. ``p`` is always the probability of changing the value.

>>> symmetric(4, gamma=3), str(binary(0.25, 0.25))
(symmetric(4, p=0.5), 'matrix(2)')
"""

from __future__ import annotations

from typing import Any

from sfumato.channels import additive
from sfumato.channels.additive import empirical, from_scipy, gaussian, laplace, tabulated, uniform
from sfumato.channels.average import Average, average
from sfumato.channels.base import Channel
from sfumato.channels.hyperplanes import Hyperplanes
from sfumato.channels.itemset import Mask, mask
from sfumato.channels.noise import Noise
from sfumato.channels.pram import Blocks, Matrix, binary, blocks, invariant, matrix, ternary
from sfumato.channels.product import Product, product
from sfumato.channels.response import Symmetric, ValidSymmetric, identity, symmetric
from sfumato.channels.select_a_size import SelectASize, select_a_size
from sfumato.channels.subset import Subset, subset
from sfumato.channels.windows import Windows, windows
from sfumato.errors import ChannelError, cause

KINDS: dict[str, type[Channel]] = {
    family.kind: family
    for family in (
        Symmetric,
        ValidSymmetric,
        Matrix,
        Blocks,
        Product,
        Mask,
        SelectASize,
        Subset,
        Hyperplanes,
        Windows,
        Average,
    )
}


def from_dict(document: dict[str, Any]) -> Channel:
    """The finite channel that ``to_dict`` described."""
    kind = document.get("kind") if isinstance(document, dict) else None
    if not isinstance(kind, str) or kind not in KINDS:
        known = sorted([*KINDS, *additive.KINDS])
        raise ChannelError(f"unknown kind of channel {kind!r}: this version knows {', '.join(known)}")
    try:
        return KINDS[kind].from_parameters(document)
    except (KeyError, TypeError, ValueError, IndexError, ArithmeticError, AttributeError, RecursionError) as problem:
        if isinstance(problem, ChannelError):
            raise
        raise ChannelError(f"the description of the {kind} channel is damaged: {cause(problem)}") from None


def any_from_dict(document: dict[str, Any]) -> Channel | Noise:
    """The channel or the additive noise that ``to_dict`` described."""
    if isinstance(document, dict) and document.get("kind") in additive.KINDS:
        return additive.from_dict(document)
    return from_dict(document)


__all__ = [
    "KINDS",
    "Channel",
    "Noise",
    "any_from_dict",
    "average",
    "binary",
    "blocks",
    "empirical",
    "from_dict",
    "from_scipy",
    "gaussian",
    "identity",
    "invariant",
    "laplace",
    "mask",
    "matrix",
    "product",
    "select_a_size",
    "subset",
    "symmetric",
    "tabulated",
    "ternary",
    "uniform",
    "windows",
]
