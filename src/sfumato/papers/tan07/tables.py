"""Tan07 Tables 1 and 2: the five data sets, and the error of each classifier with the original rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.assess.comparison import errors
from sfumato.pages.chart import ACCENT, SOFT
from sfumato.papers.curves import panels
from sfumato.papers.figure import Figure, Found, Row, Setting, beside, misprint, printed
from sfumato.papers.tan07.trials import MODELS, PRINTED, SIZES, load, missing, split

NOT_SAID = "How the paper's network was built and trained is not said; ours has 8 hidden units."
#: Why a printed error is not ours. Each reading that was tried is named.
WHY = {
    ("iris", "ANN"): NOT_SAID,
    ("iris", "NB"): (
        "No reading of the text gives .123. Two kinds merged, as the paper does: .075; with equal priors: .091; all "
        "three kinds apart: .041; versicolor against the rest: .088. The cause is not known."
    ),
    ("svmguide1", "ANN"): NOT_SAID,
    ("svmguide1", "kNN"): "The split is fixed, so that nothing is random: 149 of 4000 rows are wrong.",
    ("pima", "ANN"): NOT_SAID,
    ("pima", "NB"): (
        "Not explained: with the priors of the data .244, with equal ones .253. The paper does not say how variances "
        "and priors were estimated."
    ),
    ("breast cancer", "ANN"): NOT_SAID,
    ("breast cancer", "kNN"): (
        "Not explained. The patient's number, which the paper counts as a column, changes nothing (.0330 with it, "
        ".0329 without). Nor does k: .0303 with 3 neighbours, .0286 with 5, .0350 with 21."
    ),
    ("ionosphere", "ANN"): NOT_SAID,
    ("ionosphere", "kNN"): "Close, but not the same; the splits are not given.",
}  # fmt: skip
ZERO = "An error of 0 over a hundred splits is not credible: one column is constant, where a density needs a floor."


def table2(name: str, seeds: int) -> dict[str, Array]:
    """The errors as shares, one for each seed."""
    runs = [
        errors(*split(name, seed), seed, tuple(MODELS.values())) for seed in range(1 if name == "svmguide1" else seeds)
    ]
    return {short: np.array([run[long] for run in runs]) / 100 for short, long in MODELS.items()}


def measure_sizes(fast: bool) -> Found:
    rows: list[Row] = []
    for name, (columns, train, test) in SIZES.items():
        told = missing(name)
        if told:
            rows.append(Row(f"{name}: not run", None, None, why=told))
            continue
        X, y, Xt, _ = split(name, 0)
        rows.append(printed(f"{name}: classes", 2, float(len(np.unique(y))), runs=None))
        if name == "breast cancer":
            why = "The tenth column is the patient's number, which says nothing about the patient. Nine are left."
            rows.append(misprint(f"{name}: columns", columns, float(X.shape[1]), why))
        else:
            rows.append(printed(f"{name}: columns", columns, float(X.shape[1]), runs=None))
        rows.append(printed(f"{name}: training rows", train, float(len(X)), runs=None))
        rows.append(printed(f"{name}: testing rows", test, float(len(Xt)), runs=None))
    share = SIZES["iris"][2] / sum(SIZES["iris"][1:])
    rows.append(
        misprint("iris: share of testing rows, where a quarter is announced", 0.25, share, "30 of 150 is a fifth.")
    )
    return Found(tuple(rows))


def draw_sizes(figure: Any, found: Found) -> None:
    (axes,) = panels(figure, 1)
    at = np.arange(len(SIZES))[::-1]
    _, train, test = zip(*SIZES.values(), strict=True)
    axes.barh(at + 0.2, train, 0.4, color=ACCENT, label="training rows")
    axes.barh(at - 0.2, test, 0.4, color=SOFT, label="testing rows")
    axes.set_yticks(at, [f"{name} (d = {SIZES[name][0]})" for name in SIZES])
    axes.set(xscale="log", xlabel="rows")
    axes.legend(frameon=False)


def measure(fast: bool) -> Found:
    seeds = 20 if fast else 100
    rows: list[Row] = []
    shown = []
    for name, paper in PRINTED.items():
        told = missing(name)
        if told:
            rows.append(Row(f"{name}: not run", None, None, why=told))
            continue
        found = table2(name, seeds)
        for short, theirs in zip(MODELS, paper, strict=True):
            label = f"{name}, {short}: P(err)"
            differs = "the network" if short == "ANN" else "9 columns, not 10" if name == "breast cancer" else ""
            if (name, short) == ("svmguide1", "NB"):
                # 278 of 4000: exactly what equal priors give, so that this is what the paper must have done
                differs = "equal priors, which the paper does not name"
                row = printed(label, theirs, equal_priors(), runs=None, why="278 of 4000 expected.", differs=differs)
                rows.append(beside(f"{name}, {short} with the priors of the data: P(err)", found[short]))
            elif (name, short) == ("ionosphere", "NB"):
                row = printed(label, theirs, found[short], runs=None, why=ZERO, differs="a floor under the variances")
            else:
                why = WHY.get((name, short), "The splits are not given.")
                row = printed(label, theirs, found[short], within=5e-5, runs=100, why=why, differs=differs)
            rows.append(row)
            shown.append((f"{name}, {short}", theirs, row.ours))
    return Found(tuple(rows), shown, seeds)


def equal_priors() -> float:
    """The error of naive Bayes on svmguide1 when both classes are taken to be equally frequent."""
    from sklearn.naive_bayes import GaussianNB

    X, y = load("svmguide1")
    model = GaussianNB(priors=[0.5, 0.5]).fit(X[:3089], y[:3089])
    return float((model.predict(X[3089:]) != y[3089:]).mean())


def draw(figure: Any, found: Found) -> None:
    (axes,) = panels(figure, 1)
    names, theirs, ours = zip(*found.data, strict=True)
    at = np.arange(len(names))[::-1]
    axes.plot(theirs, at, "|", color=SOFT, markersize=11, markeredgewidth=2.5, label="paper")
    axes.plot(ours, at, "o", color=ACCENT, markersize=5, label="ours")
    axes.set_yticks(at, names, fontsize=8)
    axes.set(xlabel="P(err) with the original rows")
    axes.legend(frameon=False)


TABLE1 = Figure(
    "tan07_table1",
    "Table 1",
    "the five data sets",
    "Five data sets with two classes each, split into about 75 % training and 25 % testing rows.",
    measure_sizes,
    draw_sizes,
    (Setting("breast cancer", "10 columns", "9: the patient's number is left out"),),
    size=(6.0, 3.0),
)
TABLE2 = Figure(
    "tan07_table2",
    "Table 2",
    "the error with the original rows",
    "The error of a network, of kNN (k = 11) and of naive Bayes, over a hundred random splits.",
    measure,
    draw,
    (
        Setting("splits", "100", "100, or 20 in a fast run; svmguide1 has one"),
        Setting("network", "error backpropagation, no more is said", "8 hidden units, a penalty of .3 on the weights"),
        Setting("naive Bayes", "gaussian", "with a floor under the variances"),
        Setting("breast cancer", "10 columns", "9: the patient's number is left out"),
    ),
    size=(6.4, 4.4),
    heavy=True,
)
