"""Rows of integer weights with a given sum and a given first moment, exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import gcd

from sfumato.arrays import Array
from sfumato.errors import ChannelError


def settled(row: Array | Sequence[Fraction], multiples: Sequence[int], total: int, moment: int) -> list[int]:
    """A row of probabilities as integers w with sum w = total and sum w m = moment.

    What rounding leaves over goes to the largest entries, where it changes the ratios least.

    >>> settled([Fraction(1, 2), Fraction(1, 2)], (-1, 1), 10, 2)
    [4, 6]
    """
    weights = [int(Fraction(share) * total) for share in row]
    return corrected(weights, multiples, total, moment)


def corrected(weights: list[int], multiples: Sequence[int], total: int, moment: int) -> list[int]:
    """The weights with a few parts moved, so that sum and first moment are as they should be."""
    if moment == 0 and weights == weights[::-1]:
        return _evened(weights, total)
    middle = len(weights) // 2
    a = max(range(middle), key=lambda i: weights[i])
    b = max(range(middle, len(weights)), key=lambda i: weights[i])  # far apart: the fewest parts are moved
    apart = multiples[b] - multiples[a]
    out = list(weights)
    # A few parts more on other entries, the heaviest if possible, make the rest divisible by the distance of a and b.
    others = sorted(range(len(weights)), key=lambda i: weights[i])
    divisors = [apart]
    for c in reversed(others):
        divisors.append(gcd(divisors[-1], multiples[c] - multiples[a]))
    # the first moment about entry a that is still wanted
    wanted = moment - total * multiples[a] - sum(w * (m - multiples[a]) for w, m in zip(out, multiples, strict=True))
    for c, divisor in zip(others, divisors[-2::-1], strict=True):
        away = multiples[c] - multiples[a]
        more = _solved(away, wanted, divisor)
        out[c] += more
        wanted -= more * away
    out[b] += wanted // apart
    out[a] += total - sum(out)
    return out


def _solved(factor: int, wanted: int, modulus: int) -> int:
    """The smallest s >= 0 for which wanted - s factor is a multiple of the modulus."""
    common = gcd(factor, modulus)
    if wanted % common:
        raise ChannelError("no integer weights have these sums: the outputs have a common factor that the values lack")
    rest = modulus // common
    return 0 if rest == 1 else (wanted // common) * pow(factor // common, -1, rest) % rest


def _evened(weights: list[int], total: int) -> list[int]:
    """A symmetric row brought to its sum without losing the symmetry."""
    out, last = list(weights), len(weights) - 1
    spare = total - sum(out)
    if spare % 2:  # only where there is a middle entry
        out[last // 2] += 1
        spare -= 1
    place = max(range(len(out) // 2), key=lambda i: out[i])
    out[place] += spare // 2
    out[last - place] += spare // 2
    return out


def mirrored(rows: list[list[int]], count: int) -> list[list[int]]:
    """All rows from those up to the middle: the others are their mirror images."""
    return rows + [row[::-1] for row in rows[: count - len(rows)][::-1]]


def between(
    points: list[list[int]], multiples: Sequence[int], count: int, moment: Callable[[Fraction], int]
) -> list[list[int]]:
    """``count`` rows, equally spaced among those of the points: each a mixture of its two neighbours."""
    gaps, total = len(points) - 1, sum(points[0])
    rows = []
    for i in range((count + 1) // 2):
        first, above = divmod(i * gaps, count - 1)
        low, high = points[first], points[min(first + 1, gaps)]
        mixed = [(a * (count - 1 - above) + b * above) // (count - 1) for a, b in zip(low, high, strict=True)]
        x = Fraction(2 * i, count - 1) - 1
        if x == 0:
            mixed = [(a + b) // 2 for a, b in zip(mixed, mixed[::-1], strict=True)]
        rows.append(corrected(mixed, multiples, total, moment(x)))
    return mirrored(rows, count)
