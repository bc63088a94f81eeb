"""Ma06 figure 6.3: the distribution of Iris attributes after MGAS, reconstructed from randomized groups.

As in figure 6.2; p = .3. The paper shows histograms only; here each group's estimated share stands beside the true one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sfumato.evidence import evidence
from sfumato.pages.picture import empty_panels, saved
from sfumato.papers.ma06_fig6_2 import NAMES, grouped, release

P = 0.3


def figure(seed: int = 0) -> dict[str, tuple[Any, Any, Any, Any]]:
    """For each attribute: group means, true shares, estimated shares, their standard deviations."""
    data = grouped(seed)
    given = evidence(release(data, P, seed), method="mle")
    out = {}
    for name in NAMES:
        found = given.counts(name)
        true = np.bincount(data.rows[name], minlength=len(found.value)) / found.n
        out[name] = (data.groups[name].means, true, found.value / found.n, found.sd / found.n)
    return out


def draw(path: str | Path, seed: int = 0) -> Any:
    """Four panels: true and reconstructed shares of the groups."""
    drawn, panels = empty_panels(9, 5.4, columns=2, rows=2)
    for axes, (name, (means, true, estimated, sd)) in zip(panels, figure(seed).items(), strict=True):
        at = np.arange(len(means))
        axes.bar(at - 0.2, true, 0.4, color="#a0aec0", label="true")
        axes.bar(at + 0.2, estimated, 0.4, yerr=1.96 * sd, color="#2b6cb0", label="reconstructed", error_kw={"lw": 1})
        axes.set_xticks(at, [f"{mean:.2f}" for mean in means], fontsize=8)
        axes.set_title(name.replace("_", " "), loc="left", fontsize=10)
    drawn.supxlabel("mean of the group, cm", fontsize=9)
    drawn.supylabel("share of records", fontsize=9)
    drawn.legend(*drawn.axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=2, frameon=False)
    return saved(drawn, path)


def report(seed: int = 0) -> str:
    """Shares in words."""
    lines = [f"Ma06 figure 6.3: Iris after MGAS, shares of the groups, true / reconstructed (sd), p = {P}"]
    for name, (means, true, estimated, sd) in figure(seed).items():
        cells = "  ".join(
            f"{m:.2f}: {t:.3f}/{e:.3f} ({s:.3f})" for m, t, e, s in zip(means, true, estimated, sd, strict=True)
        )
        lines.append(f"  {name:13s} {cells}")
    return "\n".join(lines)
