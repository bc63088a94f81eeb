"""Tan07 section 6.1: DAPL of a known density, exactly, and why it is no measure of privacy."""

from __future__ import annotations

import numpy as np

from sfumato.assess.disclosure import disclosure
from sfumato.assess.resampling import dapl, scott_bandwidth
from sfumato.owner.resample import resample

REFERENCE = {1: 0.039, 4: 0.070, 20: 0.127}
WIDTHS = (0.1, 0.3, 1.0, 3.0, 10.0)


def exact(sites: int, n: int = 1000) -> float:
    """DAPL of the standard normal, n records in all."""
    import scipy.stats

    return dapl(scipy.stats.norm(), n, sites)


def over_width(n: int = 1000) -> list[tuple[float, float, float]]:
    """(multiple of the bandwidth, DAPL, linkage): one is U-shaped, the other only falls."""
    import scipy.stats

    X = np.random.default_rng(0).normal(size=(n, 1))
    out = []
    for width in WIDTHS:
        linked = disclosure(X, resample(X, bandwidth=width, rng=1), rng=1).linked
        out.append((width, dapl(scipy.stats.norm(), n, bandwidth=width * scott_bandwidth(n)), linked))
    return out


def report() -> str:
    """DAPL over the number of sites and over the bandwidth, with linkage beside it."""
    rows = ["Tan07 section 6.1: DAPL of N(0, 1), 1000 records in all"]
    rows += [f"  L = {L:2d}   {exact(L):.3f}   (reference {value:.3f})" for L, value in REFERENCE.items()]
    rows.append("  L = 1, over the bandwidth:   DAPL   linkage")
    rows += [f"    {width:5.1f} times Scott's       {loss:.3f}   {linked:.3f}" for width, loss, linked in over_width()]
    rows.append(
        "DAPL is large for narrow kernels, which disclose, and for wide ones, which do not: not a privacy measure."
    )
    return "\n".join(rows)
