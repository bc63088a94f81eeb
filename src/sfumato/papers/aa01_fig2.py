"""AA01 Fig. 2: the AS iteration on uniform data in [2, 4] under uniform noise in [-1, 1], N = 500. Paper: 13.29 %."""

from __future__ import annotations

from sfumato.channels.additive import uniform
from sfumato.papers.aa01 import Shifted, line, losses

X, NOISE, N = Shifted(uniform(1), 3.0), uniform(1), 500


def report(seeds: int = 100) -> str:
    """The paper's number, ours in the setting that reproduces it, and the default estimator."""
    some = range(seeds)
    theirs = losses(X, NOISE, N, some, support=(0, 6), bins=60, method="as", stop="chi2:0.01")
    em = losses(X, NOISE, N, some, support=(0, 6), bins=60, method="em", stop="chi2:0.01")
    auto = losses(X, NOISE, N, range(max(2, seeds // 5)))
    return "\n".join(
        (
            "AA01 Fig. 2: information loss in %, uniform x under uniform noise",
            line("AS on [0, 6], K = 60, chi-square rule", "13.29", theirs),
            line(
                "EM, everything equal",
                "",
                em,
                "EM has no edge here: the paper's Fig. 3 differs in support and cells.",
            ),
            line('method "auto", nothing chosen', "", auto),
        )
    )
