"""How precisely the share of a text is known, and how rare a text can be to be found at all."""

from __future__ import annotations

import math

from sfumato.channels.efficiency import even_efficiency
from sfumato.channels.prefixes import Prefixes

#: A text is found in about nine of ten releases if its share is so many standard deviations of the least asked question
#: (measured by ``python -m benchmarks.free_text``).
FOUND = 5.8


def text_noise(channel: Prefixes, n: float) -> float:
    """The standard deviation of the share of a rare text, from n answers to one question."""
    k, kept = channel.channel.k, even_efficiency(channel.channel)
    return math.sqrt((1 - 1 / k) / k / kept / n) if kept > 0 else math.inf


def rarest(channel: Prefixes, n: float) -> float:
    """The share of a text that is found in about nine of ten releases of n records."""
    return min(FOUND * text_noise(channel, max(n * min(channel.shares), 1e-9)), 1.0)
