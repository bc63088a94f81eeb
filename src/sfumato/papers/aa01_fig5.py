"""AA01 Fig. 5: EM on gaussian data (variance 2 / pi e) under gaussian noise (variance 1), N = 500. Paper: 17.9 %."""

from __future__ import annotations

from sfumato.papers.aa01 import GAUSSIAN_X, line, losses
from sfumato.papers.aa01_fig4 import NOISE, SUPPORT, N


def report(seeds: int = 100) -> str:
    """EM with the change-in-theta rule, AS with the same rule, and the default."""
    some = range(seeds)
    em = losses(GAUSSIAN_X, NOISE, N, some, support=SUPPORT, bins=10, method="em", stop="theta:1e-3")
    as_ = losses(GAUSSIAN_X, NOISE, N, some, support=SUPPORT, bins=10, method="as", stop="theta:1e-3")
    auto = losses(GAUSSIAN_X, NOISE, N, range(max(2, seeds // 5)))
    return "\n".join(
        (
            "AA01 Fig. 5: information loss in %, gaussian x under gaussian noise",
            line("EM, K = 10, sum |change| < 1e-3", "17.90", em),
            line(
                "AS, everything equal",
                "",
                as_,
                "The gap to Fig. 4 is the number of iterations, not the algorithm.",
            ),
            line('method "auto", nothing chosen', "", auto),
        )
    )
