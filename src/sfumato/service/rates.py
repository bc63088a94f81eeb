"""How often one address or one token may ask: a bucket each, which fills at a steady rate.

Addresses are not kept: the bucket's name is a keyed hash, under a key that lives as long as the process.
"""

from __future__ import annotations

import hashlib
import ipaddress
import os
import time
from collections.abc import Callable

_MOST = 100_000  # buckets that are remembered


class Rates:
    """Buckets of ``rate`` requests a second that hold ``rate * burst``; a rate of 0 means no limit."""

    def __init__(self, rate: float, burst: float, now: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._most, self._now = rate, max(rate * burst, 1.0), now
        self._key = os.urandom(16)
        self._held: dict[bytes, tuple[float, float]] = {}

    def wait(self, who: str, cost: float = 1.0) -> float:
        """0 if the request is granted, and otherwise the seconds until it would be.

        >>> now = [0.0]
        >>> rates = Rates(2.0, 1.0, lambda: now[0])
        >>> [rates.wait("a") for _ in range(3)], rates.wait("b")
        ([0.0, 0.0, 0.5], 0.0)
        """
        if self._rate <= 0:
            return 0.0
        name = hashlib.blake2b(who.encode("utf-8", "surrogateescape"), key=self._key, digest_size=16).digest()
        now = self._now()
        level, before = self._held.get(name, (self._most, now))
        level, cost = min(self._most, level + (now - before) * self._rate), min(cost, self._most)
        if level < cost:
            return (cost - level) / self._rate
        if len(self._held) >= _MOST:
            self._forget(now)
        self._held[name] = (level - cost, now)
        return 0.0

    def _forget(self, now: float) -> None:
        """Drop the buckets that are full again; if none is, all: limits are then late, memory is not."""
        self._held = {
            name: (level, before)
            for name, (level, before) in self._held.items()
            if level + (now - before) * self._rate < self._most
        }
        if len(self._held) >= _MOST:
            self._held.clear()


def network(address: str) -> str:
    """Whose bucket an address takes from: its own, or of IPv6 that of its /64, all of which one customer has.

    >>> network("192.0.2.7"), network("2001:db8::1:2:3"), network("::ffff:192.0.2.7")
    ('192.0.2.7', '2001:db8::/64', '192.0.2.7')
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    return str(found.ipv4_mapped or ipaddress.ip_network((found, 64), strict=False))
