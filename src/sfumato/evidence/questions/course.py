"""The course of a running share between the values at which it is told.

A code stands for values from the least to the greatest behind it. The share up to a value x is no less than that of the
codes of which nothing is greater than x, and no more than that of those of which something is as small. Inside a bin it
may take any course between the two; between single values it stays where it is.
"""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Array


def band(least: Array, greatest: Array, low: Array, high: Array) -> tuple[Array, Array, Array]:
    """Where the limits of the course change, and what they are from there on.

    ``low`` and ``high`` are the limits of the running share of each code. Of two bins from 0 to 10 and from 10 to 20:

    >>> ends = np.array([0.0, 10.0]), np.array([10.0, 20.0])
    >>> x, lower, upper = band(*ends, np.array([0.3, 1.0]), np.array([0.5, 1.0]))
    >>> x, lower, upper
    (array([ 0., 10., 20.]), array([0. , 0.3, 1. ]), array([0.5, 1. , 1. ]))

    Of the values 1 and 4, each by itself:

    >>> band(np.array([1, 4]), np.array([1, 4]), np.array([0.3, 1.0]), np.array([0.5, 1.0]))
    (array([1, 4]), array([0.3, 1. ]), array([0.5, 1. ]))
    """
    x = np.unique(np.concatenate([least, greatest]))
    low, high = np.append(0.0, low), np.append(0.0, high)  # below the first value there is nobody
    first = np.searchsorted(greatest, x, side="right")
    last = np.searchsorted(least, x, side="right")
    stretches = [slice(a, b + 1) for a, b in zip(first, last, strict=True)]
    lower, upper = ([limit(of[stretch]) for stretch in stretches] for of, limit in ((low, np.min), (high, np.max)))
    return x, np.array(lower), np.array(upper)


def line(least: Array, greatest: Array, value: Array) -> tuple[Array, Array]:
    """The course of the estimate: values are taken to lie evenly between the ends of their bin, and single ones jump.

    >>> line(np.array([0.0, 10.0]), np.array([9.0, 19.0]), np.array([0.4, 1.0]))
    (array([ 0.,  9., 10., 19.]), array([0. , 0.4, 0.4, 1. ]))
    """
    meet = (greatest[:-1] + least[1:]) / 2  # rounded at random, the values behind two points overlap
    start = np.append(least[:1], np.maximum(least[1:], meet))
    end = np.append(np.minimum(greatest[:-1], meet), greatest[-1:])
    before = np.append(0.0, value[:-1])
    return np.stack([start, end], axis=1).ravel(), np.stack([before, value], axis=1).ravel()
