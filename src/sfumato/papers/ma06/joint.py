"""Ma06 table 2.1 and figure 2.2: counts of two 5-valued attributes, by moments and by maximum likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.channels import symmetric
from sfumato.evidence import evidence
from sfumato.owner import randomize
from sfumato.pages.chart import ACCENT, SOFT, WARM
from sfumato.papers.curves import panels
from sfumato.papers.figure import DIFFERS, REPRODUCED, Figure, Found, Row, Setting, beside, claimed, misprint, printed
from sfumato.randomness import GeneratorSource
from sfumato.schema import Categorical, Schema
from sfumato.scheme import Scheme

#: As printed: the sum is .95.
PRINTED = np.array(
    [
        [1 / 40, 3 / 10, 0, 1 / 60, 0],
        [3 / 40, 0, 1 / 30, 1 / 20, 1 / 20],
        [0, 1 / 10, 1 / 30, 0, 0],
        [1 / 20, 0, 0, 1 / 60, 1 / 10],
        [1 / 20, 0, 1 / 30, 1 / 60, 0],
    ]
)
#: The missing 1/20 is put in the last cell.
TABLE = PRINTED + np.diag([0, 0, 0, 0, 1 / 20])
N = 5000
SCHEMA = Schema({"x1": Categorical((1, 2, 3, 4, 5)), "x2": Categorical((1, 2, 3, 4, 5))})
SCHEME = Scheme(SCHEMA, {"x1": symmetric(5, 0.5), "x2": symmetric(5, 0.5)})
METHODS = ("moment", "clipped", "project", "mle")
CELL55 = "cell (5, 5) is 1/20, where 0 is printed"


@dataclass(frozen=True)
class Counts:
    """The true counts and the estimates of one run, 25 cells each, and the claimed sd of the moment estimates."""

    true: Array
    estimates: dict[str, Array]
    sd: Array

    def distance(self, method: str) -> float:
        return float(np.abs(self.estimates[method] - self.true).sum() / self.true.sum())


def once(seed: int, n: int = N) -> Counts:
    """One run: sample, randomize, estimate."""
    rng = np.random.default_rng(seed)
    cells = rng.choice(25, n, p=TABLE.reshape(-1))
    release = randomize({"x1": cells // 5 + 1, "x2": cells % 5 + 1}, SCHEME, rng=GeneratorSource(rng))
    found = {m: evidence(release, method=m).counts(["x1", "x2"], quiet=True) for m in ("moment", "project", "mle")}
    values = {m: np.asarray(one.value).reshape(-1) for m, one in found.items()}
    positive = np.maximum(values["moment"], 0)
    values["clipped"] = positive * n / positive.sum()
    return Counts(
        np.bincount(cells, minlength=25).astype(np.float64), values, np.asarray(found["moment"].sd).reshape(-1)
    )


def measure_table(fast: bool) -> Found:
    """All 25 probabilities, and their sum."""
    rows = [
        misprint(
            "sum of the 25 probabilities",
            float(PRINTED.sum()),
            float(TABLE.sum()),
            "A distribution sums to 1: 1/20 is missing.",
        ),
        misprint(
            "cell (5, 5)",
            0.0,
            float(TABLE[4, 4]),
            "We put the missing 1/20 here: it leaves every printed fraction as it is.",
        ),
    ]
    rows += [
        printed(f"cell ({i + 1}, {j + 1})", float(PRINTED[i, j]), float(TABLE[i, j]), runs=None)
        for i, j in np.ndindex(5, 5)
        if (i, j) != (4, 4)
    ]
    return Found(tuple(rows), TABLE)


def draw_table(figure: Any, found: Found) -> None:
    axes = figure.subplots()
    axes.imshow(TABLE, cmap="Blues", vmin=0, vmax=0.35)
    for i, j in np.ndindex(5, 5):
        axes.text(
            j,
            i,
            f"{TABLE[i, j]:.3f}",
            ha="center",
            va="center",
            fontsize=9,
            color="#fefefe" if TABLE[i, j] > 0.2 else "#12303f",
        )
    axes.set_xticks(range(5), range(1, 6))
    axes.set_yticks(range(5), range(1, 6))
    axes.set(xlabel="X2", ylabel="X1")
    axes.annotate("added", (4, 4.38), ha="center", fontsize=9, color="#12303f")


def measure(fast: bool) -> Found:
    """All 25 counts by both estimators, and how far each is from the truth."""
    runs = [once(seed) for seed in range(20 if fast else 200)]
    negative = np.array([float((one.estimates["moment"] < 0).any()) for one in runs])
    far = {method: np.array([one.distance(method) for one in runs]) for method in METHODS}
    why = (
        "Unbiased, but not accurate: at 5000 records almost a third of them stand in the wrong cell. More records or "
        "intervals are needed."
    )
    rows: list[Row] = [
        claimed("moment: sum of |estimate - count| / N", far["moment"], bool(far["moment"].mean() < 0.05), why),
        claimed("maximum likelihood: sum of |estimate - count| / N", far["mle"], bool(far["mle"].mean() < 0.05), why),
        beside("moment, clipped at zero: the same distance", far["clipped"]),
        beside("moment, projected on the simplex: the same distance", far["project"]),
        claimed("share of runs with a negative moment estimate", negative, bool(negative.mean() > 0)),
    ]
    for cell in range(25):
        expected = float(N * TABLE.reshape(-1)[cell])
        got = np.array([one.estimates["moment"][cell] - one.true[cell] for one in runs])
        near = abs(got.mean()) < 4 * got.std(ddof=1) / np.sqrt(len(got))
        name = f"cell ({cell // 5 + 1}, {cell % 5 + 1})"
        mean = np.array([one.estimates["moment"][cell] for one in runs])
        rows.append(
            Row(
                f"{name}: count by moments (paper: N times the printed share)",
                float(mean.mean()),
                expected,
                float(mean.std(ddof=1) / np.sqrt(len(mean))),
                REPRODUCED if near else DIFFERS,
                "" if near else "The estimate is biased.",
                CELL55 if cell == 24 else "",
            )
        )
        rows.append(beside(f"{name}: count by maximum likelihood", [one.estimates["mle"][cell] for one in runs]))
    return Found(tuple(rows), runs[0], len(runs))


def draw(figure: Any, found: Found) -> None:
    shown: Counts = found.data
    (axes,) = panels(figure, 1)
    at = np.arange(1, 26)
    axes.bar(at, shown.true, 0.8, color=SOFT, alpha=0.4, label="true counts")
    axes.errorbar(
        at - 0.15,
        shown.estimates["moment"],
        1.96 * shown.sd,
        fmt="o",
        color=ACCENT,
        markersize=3.5,
        elinewidth=0.8,
        label="moment, with 95 % intervals",
    )
    axes.plot(at + 0.2, shown.estimates["mle"], "s", color=WARM, markersize=3.5, label="maximum likelihood")
    axes.set(xlabel="joint category", ylabel="frequency count")
    axes.set_xticks(range(1, 26, 2))
    axes.legend(frameon=False)


_SETTINGS = (
    Setting("records", "5000"),
    Setting("joint distribution", "table 2.1", "table 2.1 with the missing 1/20 in cell (5, 5)"),
    Setting("randomization", "each attribute, p = .5, p/4 to each other value"),
    Setting("runs", "1", "see below"),
)
TABLE2_1 = Figure(
    "ma06_table2_1",
    "table 2.1",
    "the joint distribution of two attributes",
    "A joint distribution of two attributes with five categories each.",
    measure_table,
    draw_table,
    size=(4.2, 3.8),
)
FIGURE2_2 = Figure(
    "ma06_fig2_2",
    "figure 2.2",
    "25 counts, two estimators",
    "Both estimators estimate the counts accurately; moment estimates may be negative.",
    measure,
    draw,
    _SETTINGS,
    size=(7.2, 3.8),
)
