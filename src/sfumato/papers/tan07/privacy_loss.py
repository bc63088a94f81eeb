"""Tan07 section 6.1: DAPL of a known density, exactly, and why it is no measure of privacy."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.assess.disclosure import disclosure
from sfumato.assess.resampling import dapl, scott_bandwidth
from sfumato.owner.resample import resample
from sfumato.papers.curves import Curve, legend, lines, panels
from sfumato.papers.figure import DIFFERS, Figure, Found, Row, Setting, beside, claimed

SITES = (1, 4, 20)
WIDTHS = (0.1, 0.3, 1.0, 3.0, 10.0)
N = 1000


def exact(sites: int, n: int = N) -> float:
    """DAPL of the standard normal, n records in all."""
    import scipy.stats

    return dapl(scipy.stats.norm(), n, sites)


def over_width(n: int = N) -> list[tuple[float, float, float]]:
    """(multiple of the bandwidth, DAPL, linkage): one is U-shaped, the other only falls."""
    import scipy.stats

    X = np.random.default_rng(0).normal(size=(n, 1))
    out = []
    for width in WIDTHS:
        linked = disclosure(X, resample(X, bandwidth=width, rng=1), rng=1).linked
        out.append((width, dapl(scipy.stats.norm(), n, bandwidth=width * scott_bandwidth(n)), linked))
    return out


def linkage(sites: int, n: int = N) -> float:
    """The share of released rows whose nearest record is the one they were drawn from."""
    X = np.random.default_rng(0).normal(size=(n, 1))
    return float(disclosure(X, resample(X, sites=sites, rng=1), rng=1).linked)


def measure(fast: bool) -> Found:
    values = [exact(sites) for sites in SITES]
    linked = [linkage(sites) for sites in SITES]
    wide = over_width()
    rises = wide[-1][1] > min(loss for _, loss, _ in wide)
    why = (
        "DAPL is large for narrow kernels, which disclose, and large again for wide ones, which do not. It rises with "
        "the number of sites while fewer rows point at their record."
    )
    rows = (
        claimed(
            "DAPL at 20 sites minus DAPL at 1: it grows with L",
            values[-1] - values[0],
            bool((np.diff(values) > 0).all()),
        ),
        Row(
            "DAPL at ten times Scott's bandwidth minus its smallest value (low DAPL: low privacy loss)",
            wide[-1][1] - min(loss for _, loss, _ in wide),
            None,
            0.0,
            DIFFERS if rises else "",
            why,
        ),
        *(beside(f"DAPL at {sites} sites", value) for sites, value in zip(SITES, values, strict=True)),
        *(
            beside(f"rows linked to their record at {sites} sites", value)
            for sites, value in zip(SITES, linked, strict=True)
        ),
        *(beside(f"{width:g} times Scott's bandwidth: DAPL", loss) for width, loss, _ in wide),
        *(beside(f"{width:g} times Scott's bandwidth: rows linked", link) for width, _, link in wide),
    )
    return Found(rows, (values, linked, wide), 1)


def draw(figure: Any, found: Found) -> None:
    values, linked, wide = found.data
    left, right = panels(figure, 2)
    width, loss, link = (tuple(column) for column in zip(*wide, strict=True))
    for axes, x, one, two in ((left, SITES, values, linked), (right, width, loss, link)):
        curves = [Curve(name, tuple(x), np.array(y)[:, None]) for name, y in (("DAPL", one), ("rows linked", two))]
        lines(axes, curves, log="x")
    left.set(title="sites L", ylim=(0, 1))
    right.set(title="multiples of Scott's bandwidth", ylim=(0, 1))
    legend(figure, left)


SECTION6_1 = Figure(
    "tan07_dapl",
    "section 6.1",
    "DAPL of a known density",
    "DAPL is low when privacy loss is low, and grows with the number of sites.",
    measure,
    draw,
    (Setting("density", "none given", "N(0, 1), 1000 records in all"),),
    size=(7.2, 3.2),
)
