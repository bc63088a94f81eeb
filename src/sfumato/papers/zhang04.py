"""The operators of Zhang et al. (2004), shared by its example and its bound."""

from __future__ import annotations

from sfumato.channels import Channel, binary, matrix

#: Example 1: R1 keeps the value with probability .7; R2 reports 0 except for one in a hundred of the ones.
R1: Channel = binary(0.3, 0.3)
R2: Channel = matrix([[1.0, 0.0], [0.99, 0.01]])
