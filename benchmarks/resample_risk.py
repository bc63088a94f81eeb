"""What resampling discloses and costs: `python -m benchmarks.resample_risk [--fast] [NAME ...]`.

Every release is asked for a membership AUC of .55 over all records and .60 over the loneliest tenth, and judged by the
shadow attack on seeds that nothing was chosen on. The sets below the line took no part in any choice.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from sfumato.assess.resample_study import cost, part, risk
from sfumato.printable import percentage

FIRST = 63_000


def scikit(name: str, labels: Callable[[Any], Any] = lambda target: target, only: tuple[int, ...] = ()) -> Any:
    """A table of scikit-learn."""
    from sklearn import datasets

    found = getattr(datasets, f"load_{name}")()
    keep = np.isin(found.target, only) if only else np.full(len(found.target), True)
    return found.data[keep], np.asarray(labels(found.target[keep]))


def star98() -> Any:
    """School districts, of statsmodels: do more pupils score above the national median in mathematics than below?"""
    import statsmodels.api as sm

    data = sm.datasets.star98.load_pandas().data
    return data.iloc[:, 2:14].to_numpy(float), (data.NABOVE > data.NBELOW).to_numpy(int)


def paper(name: str) -> Any:
    """A table of the paper's."""
    from sfumato.papers.tan07.trials import load

    return load(name)


#: name: (how to load, the goal for phi or None, took part in choosing the forms and constants)
TABLES: dict[str, tuple[Callable[[], Any], float | None, bool]] = {
    "Pima": (lambda: paper("pima"), 0.5, True),
    "diabetes, above 140": (lambda: scikit("diabetes", lambda target: (target > 140).astype(int)), 0.6, True),
    "Iris, three kinds": (lambda: scikit("iris"), 1.2, True),
    "breast cancer (scikit-learn)": (lambda: scikit("breast_cancer"), 1.8, True),
    "wine": (lambda: scikit("wine"), 4.0, True),
    "digits 3 and 8": (lambda: scikit("digits", only=(3, 8)), 6.0, True),
    "Ionosphere": (lambda: paper("ionosphere"), 6.5, True),
    "breast cancer (Wisconsin, 9 grades)": (lambda: paper("breast cancer"), None, False),
    "digits 4 and 9": (lambda: scikit("digits", only=(4, 9)), None, False),
    "star98": (star98, None, True),  # the attack was tried out on it
    "svmguide1": (lambda: paper("svmguide1"), None, False),
}


def splits(X: Any, y: Any) -> Callable[[int], tuple[Any, Any, Any, Any]]:
    """Three quarters to train on, a quarter to test on."""

    def split(seed: int) -> tuple[Any, Any, Any, Any]:
        train = part(y, 0.75, np.random.default_rng(seed))
        return X[train], y[train], X[~train], y[~train]

    return split


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="tables; all of them by default")
    parser.add_argument("--fast", action="store_true", help="two splits and one attack each")
    parser.add_argument("--epsilon", type=float, help="the mode with a proof instead, ranges from least to greatest")
    chosen = parser.parse_args(argv)
    say = sys.stdout.write
    say(
        "| data (rows x columns, classes) | AUC | outliers | matched filter | phi | goal |\n|---|---|---|---|---|---|\n"
    )
    for name in chosen.names or TABLES:
        load, goal, _ = TABLES[name]
        if name in ("Pima", "svmguide1") and "SFUMATO_DATA" not in os.environ:
            say(f"| {name} | not bundled: set SFUMATO_DATA | | | | |\n")
            continue
        start = time.process_time()
        X, y = load()
        options: dict[str, Any] = {"max_risk": 0.55}
        if chosen.epsilon:
            low, high = X.min(axis=0), X.max(axis=0)
            options = {"epsilon": chosen.epsilon, "ranges": np.column_stack([low, np.where(high > low, high, low + 1)])}
        found = risk(X, y, range(FIRST, FIRST + (1 if chosen.fast else 2)), **options)
        price = cost(splits(X, y), range(FIRST, FIRST + (2 if chosen.fast else 6)), **options)
        alone = found.attacks.get("matched filter")
        both = "" if alone is None else f"{alone[0]:.3f}, {alone[1]:.3f}"
        say(
            f"| {name} ({len(X)} x {X.shape[1]}, {len(np.unique(y))}) | {found.auc:.3f} ± {found.error:.3f} | "
            f"{found.outliers:.3f} ± {found.outliers_error:.3f} | {both} | {price.phi:+.2f} ± {price.error:.2f} | "
            f"{'' if goal is None else goal} |\n"
        )
        sys.stdout.flush()
        sys.stderr.write(f"{name}: {price.each}, held {percentage(price.held)}, {time.process_time() - start:.0f} s\n")


if __name__ == "__main__":
    main()
