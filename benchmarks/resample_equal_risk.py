"""Every method at a membership AUC of .55, and what that costs a classifier on the data of Tan and Ng (2007)."""

from __future__ import annotations

import warnings

import numpy as np

from sfumato.assess.comparison import Row, compare
from sfumato.errors import DisclosureWarning
from sfumato.papers.tan07.trials import split

NAMES = ("iris", "pima", "breast cancer", "ionosphere", "svmguide1")
#: Training rows that take part: the games compare all pairs, so svmguide1 is sampled.
MOST = 800


def measure(name: str, seeds: int, asked: float = 0.55) -> list[tuple[str, float, float, float, float]]:
    """(method, risk, outliers, phi, its standard error), averaged over splits."""
    runs: dict[str, list[Row]] = {}
    for seed in range(seeds):
        with warnings.catch_warnings(action="ignore", category=DisclosureWarning):
            X, y, Xt, yt = split(name, seed)
            some = np.random.default_rng(seed).permutation(len(X))[:MOST]
            for row in compare(X[some], y[some], Xt, yt, asked, repeats=1, rng=np.random.default_rng([seed, 3])):
                runs.setdefault(row.method, []).append(row)
    out = []
    for method, rows in runs.items():
        phi = np.array([row.mean for row in rows])
        error = float(phi.std(ddof=1) / np.sqrt(len(phi))) if len(phi) > 1 else float("nan")
        risk, outliers = (float(np.mean([getattr(row, side) for row in rows])) for side in ("risk", "outliers"))
        out.append((method, risk, outliers, float(phi.mean()), error))
    return out


def report(seeds: int = 10, names: tuple[str, ...] = NAMES) -> str:
    """One table for each data set."""
    rows = []
    for name in names:
        rows.append(f"{name}: all methods at a membership AUC of .55 where they can be, {seeds} splits")
        rows += [
            f"  {method:28s} AUC {risk:.3f}  outliers {outliers:.3f}  phi {phi:+6.2f} ± {error:.2f}"
            for method, risk, outliers, phi, error in measure(name, seeds)
        ]
    return "\n".join(rows)


if __name__ == "__main__":
    print(report())
