"""The randomization operators of Zhang et al. (2004), and others that their bound is tried on."""

from __future__ import annotations

import numpy as np

from sfumato.channels import Channel, binary, matrix, subset, symmetric, windows

#: Example 1: R1 keeps the value with probability .7; R2 reports 0 except for one in a hundred of the ones.
R1: Channel = binary(0.3, 0.3)
R2: Channel = matrix([[1.0, 0.0], [0.99, 0.01]])


def erasure(k: int, keep: float) -> Channel:
    """Report the value, or nothing at all: the one operator that meets the bound."""
    return matrix(np.hstack((keep * np.eye(k), np.full((k, 1), 1 - keep))))


OPERATORS: dict[str, Channel] = {
    "Warner, keep .9": binary(0.1, 0.1),
    "Warner, keep .7 (R1)": R1,
    "Warner, keep .6": binary(0.4, 0.4),
    "R2 of Example 1": R2,
    "erasure, keep .4": erasure(2, 0.4),
    "erasure of 6, keep .4": erasure(6, 0.4),
    "symmetric 6, p = .3": symmetric(6, 0.3),
    "symmetric 6, gamma 3": symmetric(6, gamma=3),
    "subset 6, gamma 3": subset(6, 3),
    "windows 6, gamma 3": windows(6, 3),
}
