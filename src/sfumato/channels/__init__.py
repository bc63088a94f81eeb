"""The families of channels. ``p`` is always the probability of changing the value.

>>> symmetric(4, gamma=3), str(binary(0.25, 0.25))
(symmetric(4, p=0.5), 'matrix(2)')
"""

from __future__ import annotations

from sfumato.channels.additive import empirical, from_scipy, gaussian, laplace, tabulated, uniform
from sfumato.channels.average import average
from sfumato.channels.base import Channel, from_dict
from sfumato.channels.cells import cells
from sfumato.channels.itemset import mask
from sfumato.channels.longitudinal import longitudinal
from sfumato.channels.noise import Noise
from sfumato.channels.pram import binary, blocks, invariant, matrix, ternary
from sfumato.channels.prefixes import prefixes
from sfumato.channels.product import product
from sfumato.channels.response import identity
from sfumato.channels.select_a_size import select_a_size
from sfumato.channels.subset import subset
from sfumato.channels.tree_levels import tree_levels
from sfumato.channels.two_questions import crosswise, unrelated
from sfumato.channels.valid import symmetric
from sfumato.channels.windows import windows

__all__ = [
    "Channel",
    "Noise",
    "average",
    "binary",
    "blocks",
    "cells",
    "crosswise",
    "empirical",
    "from_dict",
    "from_scipy",
    "gaussian",
    "identity",
    "invariant",
    "laplace",
    "longitudinal",
    "mask",
    "matrix",
    "prefixes",
    "product",
    "select_a_size",
    "subset",
    "symmetric",
    "tabulated",
    "ternary",
    "tree_levels",
    "uniform",
    "unrelated",
    "windows",
]
