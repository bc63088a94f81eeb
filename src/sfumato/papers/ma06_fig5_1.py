"""Ma06 Fig. 5.1: the approximate density of an estimated probability, for several p and several N."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato import channels as c
from sfumato.evidence import evidence
from sfumato.learn.bayesnet.parameters import CPT, fit_cpt
from sfumato.pages.picture import empty_panels, saved
from sfumato.release import Release
from sfumato.schema import Categorical, Schema
from sfumato.scheme import Scheme

PS, NS = (0.1, 0.2, 0.25, 0.3, 0.35), (2000, 4000, 8000, 16000)


def table(p: float, n: int) -> CPT:
    """Pr(X₁ | X₂) when all four true counts are n / 4 and the released counts are what they are expected to be."""
    schema = Schema({"X2": Categorical(("1", "2")), "X1": Categorical(("1", "2"))})
    scheme = Scheme(schema, {name: c.symmetric(2, p) for name in schema})
    codes = np.arange(n) % 4
    release = Release(pa.table({"X2": (codes // 2).astype(np.uint8), "X1": (codes % 2).astype(np.uint8)}), scheme)
    return fit_cpt(evidence(release).counts(["X2", "X1"], quiet=True))


def report() -> str:
    """Standard deviations given the table and unconditional; the paper's section 5.4.3 asks for N = 8000, p = .25."""
    lines = ["Ma06 Fig. 5.1: sd of the estimate of a probability of 0.5", "   p      N   given D   unconditional"]
    for p, n in [*((p, 8000) for p in PS), *((0.25, n) for n in NS)]:
        cpt = table(p, n)
        given, free = float(cpt.sd(population=False)[0, 0]), float(cpt.sd()[0, 0])
        lines.append(f"{p:4.2f}  {n:5d}   {given:.5f}       {free:.5f}")
    return "\n".join(lines)


def draw(path: str | Path) -> Any:
    """The figure."""
    figure, (left, right) = empty_panels(9, 3.6, 2)
    w = np.linspace(0.38, 0.62, 600)
    for axes, settings, title in (
        (left, [(p, 8000) for p in PS], "N = 8000"),
        (right, [(0.25, n) for n in NS], "p = 0.25"),
    ):
        for i, (p, n) in enumerate(settings):
            label = f"p = {p}" if axes is left else f"N = {n}"
            shade = 0.95 - 0.65 * i / (len(settings) - 1)
            axes.plot(
                w, table(p, n).density((0, 0), population=False).pdf(w), color=(0.17, 0.42, 0.69, shade), label=label
            )
        axes.set_title(title, loc="left", fontsize=10)
        axes.set_xlabel("estimate of θ = 0.5")
        axes.set_ylabel("density" if axes is left else "")
        axes.legend(frameon=False, fontsize=8)
    return saved(figure, path)
