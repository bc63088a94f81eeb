"""Ma06 Fig. 5.10: K2 with the BIC/MDL score on randomized data, three penalties C*, beside the Wald score."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from sfumato.papers.ma06_exp4 import rule, table

PS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)


def report(runs: int = 10, ps: Sequence[float] = PS) -> str:
    """Extra + missing links and the distance. The paper: extra links grow with p, a larger C* helps."""
    rules = {f"C* {penalty}": rule("bic", penalty=penalty) for penalty in (1.0, 4.0, 8.0)} | {"wald": rule("wald")}
    return table("Ma06 Fig. 5.10: BIC/MDL score, our stand-in network, N = 10 000", rules, runs, ps)


if __name__ == "__main__":
    sys.stdout.write(report() + "\n")
