"""AA01 Fig. 4: AS on gaussian data (variance 2 / pi e) under gaussian noise (variance 1), N = 500. Paper: 26.5 %."""

from __future__ import annotations

from sfumato.channels.additive import gaussian
from sfumato.papers.aa01 import GAUSSIAN_X, line, losses

NOISE, N, SUPPORT = gaussian(1), 500, (-2.5, 2.5)


def report(seeds: int = 100) -> str:
    """The printed loss needs a thousand iterations, far beyond any stop rule."""
    some = range(seeds)
    late = losses(GAUSSIAN_X, NOISE, N, some, support=SUPPORT, bins=10, method="as", stop=1000)
    rule = losses(GAUSSIAN_X, NOISE, N, some, support=SUPPORT, bins=10, method="as", stop="chi2:0.01")
    return "\n".join(
        (
            "AA01 Fig. 4: information loss in %, gaussian x under gaussian noise",
            line("AS, K = 10, 1000 iterations", "26.50", late),
            line("AS, K = 10, its own chi-square rule", "", rule, "Stopped by its own rule AS does far better."),
        )
    )
