"""The widths that windows take where none are given, and how often each of them is drawn."""

from __future__ import annotations

import math

#: From so many values on their distribution is smoothed, and the widths are chosen for that.
MANY = 32
_PARTS = 1_000_000  # of those who get the narrow or the wide windows


def widths_for(k: int, gamma: float) -> tuple[tuple[int, ...], tuple[int, ...]]:
    r"""The widths for k values, and how often each is drawn; () stands for equally often.

    1, 2, 4, ... if the values are few; else a half and twice the width of the square wave. The square wave (Li et al.
    2020) has windows of width 2 b, in parts of the range, with epsilon = ln gamma and

        b = (epsilon gamma - gamma + 1) / (2 gamma (gamma - 1 - epsilon))

    A width between two whole numbers is drawn as either, so often that it is their mean: narrow windows that jump from
    two values to one at once would tell less of means under a looser bound.

    >>> widths_for(20, 3.0), widths_for(100, 3.0)
    (((1, 2, 4, 8, 16), ()), ((23, 24, 95, 96), (39965, 960035, 159860, 840140)))
    """
    if k < MANY:
        return tuple(1 << i for i in range(max(1, (k - 1).bit_length()))), ()
    epsilon = math.log(gamma)
    small = epsilon < 1e-3  # where the formula cancels, and tends to 1/2
    b = 0.5 if small else (epsilon * gamma - gamma + 1) / (2 * gamma * (gamma - 1 - epsilon))
    often: dict[int, int] = {}
    for share in (0.5, 2.0):
        width = min(max(share * 2 * b * k, 1.0), float(k))
        below = math.floor(width)
        above = round(_PARTS * (width - below))
        for whole, parts in ((below, _PARTS - above), (below + 1, above)):
            if parts:
                often[whole] = often.get(whole, 0) + parts
    widths = tuple(sorted(often))
    mix = tuple(often[width] for width in widths)
    return widths, mix if len(set(mix)) > 1 else ()
