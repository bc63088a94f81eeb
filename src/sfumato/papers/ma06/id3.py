"""Ma06 figures 7.6 and 7.7: the tennis tree, and the worked example of a split in a randomized table."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.channels import symmetric
from sfumato.evidence import evidence
from sfumato.learn.tree import DecisionTree, Node
from sfumato.learn.tree.grow import gain
from sfumato.owner import randomize
from sfumato.pages.chart import ACCENT, INK, PAPER, SOFT
from sfumato.papers.figure import Figure, Found, Row, Setting, beside, claimed, lost, misprint, printed
from sfumato.randomness import experiment
from sfumato.schema import Categorical, Schema
from sfumato.scheme import Scheme

#: The fourteen Saturday mornings of Quinlan (1986): outlook, temperature, humidity, windy, play.
MORNINGS = """sunny hot high no N; sunny hot high yes N; overcast hot high no P; rain mild high no P;
rain cool normal no P; rain cool normal yes N; overcast cool normal yes P; sunny mild high no N;
sunny cool normal no P; rain mild normal no P; sunny mild normal yes P; overcast mild high yes P;
overcast hot normal no P; rain mild high yes N"""
TENNIS = Schema(
    {
        "outlook": Categorical(("sunny", "overcast", "rain")),
        "temperature": Categorical(("hot", "mild", "cool")),
        "humidity": Categorical(("high", "normal")),
        "windy": Categorical(("yes", "no")),
        "play": Categorical(("P", "N")),
    }
)
#: Quinlan's gains in bits.
GAINS = {"outlook": 0.246, "temperature": 0.029, "humidity": 0.151, "windy": 0.048}


def mornings() -> dict[str, list[str]]:
    records = [record.split() for record in MORNINGS.replace("\n", " ").split(";")]
    return {name: [record[i] for record in records] for i, name in enumerate(TENNIS)}


def tennis_tree() -> DecisionTree:
    """ID3 as the paper lists it."""
    return DecisionTree(counts="paper").fit(evidence(mornings(), TENNIS), target="play")


def xor_accuracy() -> float:
    """ID3 on a balanced exclusive or, where no attribute alone gains anything."""
    schema = Schema({name: Categorical(("0", "1")) for name in ("a", "b", "y")})
    table = {"a": ["0", "0", "1", "1"] * 25, "b": ["0", "1", "0", "1"] * 25, "y": ["0", "1", "1", "0"] * 25}
    return DecisionTree(counts="paper").fit(evidence(table, schema), target="y").score(table)


def measure(fast: bool) -> Found:
    tree = tennis_tree()
    shape = TENNIS.sizes()
    names = list(TENNIS)
    codes = [[TENNIS[name].labels.index(value) for value in column] for name, column in mornings().items()]
    table = np.zeros(shape)
    np.add.at(table, tuple(map(np.array, codes)), 1)
    gains = {
        name: float(gain(table.sum(axis=tuple(j for j in range(4) if j != i)), "entropy"))
        for i, name in enumerate(names[:4])
    }
    exact = xor_accuracy()
    rows = (
        lost(
            "the drawn tree",
            "The drawing is lost. Its source, Quinlan's Saturday mornings, is known: the tree is his.",
            float(len(tree.root_.leaves)),
        ),
        claimed("leaves of the tree that ID3 grows", float(len(tree.root_.leaves)), len(tree.root_.leaves) == 5),
        claimed(
            "share of the 14 mornings that it classifies rightly", tree.score(mornings()), tree.score(mornings()) == 1
        ),
        claimed("accuracy on a balanced exclusive or: a gain of zero does not stop ID3 as listed", exact, exact == 1),
        *(beside(f"gain of {name}, bits (Quinlan: {GAINS[name]:g})", value) for name, value in gains.items()),
    )
    return Found(rows, tree)


def draw(figure: Any, found: Found) -> None:
    tree: DecisionTree = found.data
    axes = figure.subplots()
    leaves = iter(range(100))

    def place(node: Node) -> float:
        y = -float(len(node.path))
        if node.attribute is None:
            x = float(next(leaves))
            word = str(tree.classes_[int(node.counts.argmax())])
        else:
            below = [place(child) for child in node.children]
            x = float(np.mean(below))
            word = tree.features_[node.attribute]
            for at, label in zip(below, tree.branch_labels(node), strict=True):
                axes.plot([x, at], [y, y - 1], color=SOFT, linewidth=1, zorder=1)
                axes.text(
                    (x + at) / 2,
                    y - 0.5,
                    label,
                    fontsize=8,
                    ha="center",
                    color=SOFT,
                    bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 1},
                    zorder=2,
                )
        axes.text(
            x,
            y,
            word,
            ha="center",
            va="center",
            fontsize=9,
            color=INK,
            zorder=3,
            bbox={"boxstyle": "round,pad=0.3", "facecolor": PAPER, "edgecolor": ACCENT},
        )
        return x

    place(tree.root_)
    axes.set(xlim=(-0.6, len(tree.root_.leaves) - 0.4), ylim=(-2.4, 0.4))
    axes.axis("off")


K1, K2, K3, M = 3, 2, 3, 2
P_CHANGE = 0.2


def index(path: tuple[int, ...], sizes: tuple[int, ...], j: int) -> int:
    """The place (from 1) of a configuration and class j in the vector of counts, the class fastest."""
    return int(np.ravel_multi_index((*(k - 1 for k in path), j - 1), (*sizes, M))) + 1


def as_printed(path: tuple[int, ...], sizes: tuple[int, ...], j: int) -> int:
    """The printed formula: Σ_i (k_i - 1)(m ∏_{q=1}^{l-1} K_q) + j."""
    return sum((k - 1) * M * int(np.prod(sizes[:-1])) for k in path) + j


def estimated_gains(seed: int = 77, n: int = 20_000) -> tuple[float, float]:
    """The gain of a3 below a1 = 3, a2 = 1: by the printed places in P⁻ᵀ T̃, and by our learner's table of the node."""
    rng = np.random.default_rng(seed)
    true = rng.dirichlet(np.ones(K1 * K2 * K3 * M)).reshape(K1, K2, K3, M)
    schema = Schema(
        {name: Categorical(tuple(map(str, range(k)))) for name, k in zip("abcy", (K1, K2, K3, M), strict=True)}
    )
    cells = np.unravel_index(rng.choice(true.size, n, p=true.reshape(-1)), true.shape)
    table = {name: np.asarray(code).astype(str) for name, code in zip("abcy", cells, strict=True)}
    scheme = Scheme(schema, {name: symmetric(schema[name].size, P_CHANGE) for name in schema})
    seen = evidence(randomize(table, scheme, rng=experiment(seed)))
    return _by_places(np.asarray(seen.released_counts(list("abcy")))), float(
        gain(seen.within({"a": 2, "b": 0}, ["c"], "y")[0], "entropy")
    )


def _by_places(released: Array) -> float:
    P: Any = np.ones((1, 1))
    for k in (K1, K2, K3, M):
        P = np.kron(P, symmetric(k, P_CHANGE).matrix)
    T = np.linalg.solve(P.T, released.reshape(-1))
    split = np.array([[T[index((3, 1, k), (K1, K2, K3), j) - 1] for j in (1, 2)] for k in range(1, K3 + 1)])
    return float(gain(split, "entropy"))


def measure_split(fast: bool) -> Found:
    places: list[Row] = [
        printed(f"place of class {j} at a1 = 3, a2 = 1", 8 + j, float(index((3, 1), (K1, K2), j)), runs=None)
        for j in (1, 2)
    ]
    places += [
        printed(
            f"place of class {j} at a1 = 3, a2 = 1, a3 = {k}",
            24 + 2 * (k - 1) + j,
            float(index((3, 1, k), (K1, K2, K3), j)),
            runs=None,
        )
        for k in (1, 2, 3)
        for j in (1, 2)
    ]
    by_hand, learner = estimated_gains()
    rows = [
        *places,
        misprint(
            "the general formula at a1 = 3, a2 = 1, class 1",
            float(as_printed((3, 1), (K1, K2), 1)),
            float(index((3, 1), (K1, K2), 1)),
            "The product must run over the attributes after the i-th, q > i, not over the first l - 1.",
        ),
        claimed(
            "gain of a3 by the printed places minus by our learner, bits",
            abs(by_hand - learner),
            abs(by_hand - learner) < 1e-9,
        ),
    ]
    return Found(tuple(rows))


def draw_split(figure: Any, found: Found) -> None:
    axes = figure.subplots()
    words = {
        (1.0, 0.0): "a1",
        (0.0, -1.0): "1",
        (1.0, -1.0): "2",
        (2.0, -1.0): "a2",
        (1.6, -2.0): "a3 ?",
        (2.6, -2.0): "2",
    }
    links: list[tuple[tuple[float, float], tuple[float, float], str]] = [
        ((1, 0), (0, -1), "1"),
        ((1, 0), (1, -1), "2"),
        ((1, 0), (2, -1), "3"),
        ((2, -1), (1.6, -2), "1"),
        ((2, -1), (2.6, -2), "2"),
    ]
    for (x, y), (u, v), label in links:
        axes.plot([x, u], [y, v], color=SOFT, linewidth=1, zorder=1)
        axes.text(
            (x + u) / 2,
            (y + v) / 2,
            label,
            fontsize=8,
            color=SOFT,
            zorder=2,
            bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 1},
        )
    for (x, y), word in words.items():
        inner = word.startswith("a")
        axes.text(
            x,
            y,
            word if inner else "…",
            ha="center",
            va="center",
            fontsize=9,
            color=INK,
            zorder=3,
            bbox={"boxstyle": "round,pad=0.3", "facecolor": PAPER, "edgecolor": ACCENT if inner else SOFT},
        )
    axes.annotate("counts 25 … 30 of 36 decide", (0.02, 0.02), xycoords="axes fraction", fontsize=8, color=SOFT)
    axes.set(xlim=(-0.4, 3), ylim=(-2.4, 0.4))
    axes.axis("off")


FIGURE7_6 = Figure(
    "ma06_fig7_6",
    "figure 7.6",
    "a decision tree for Saturday mornings",
    "The tree classifies Saturday mornings according to whether they are suitable for playing tennis.",
    measure,
    draw,
    (Setting("data", "Quinlan's, not printed", "his fourteen mornings"),),
    size=(5.6, 3.4),
)
FIGURE7_7 = Figure(
    "ma06_fig7_7",
    "figure 7.7",
    "a split in a partially built tree",
    "Below a1 = 3 and a2 = 1 the counts in places 9 and 10, and with a3 in places 25 to 30, give the gain of a3.",
    measure_split,
    draw_split,
    (
        Setting("cardinalities", "3, 2, 3 and two classes"),
        Setting("counts", "any", "a random table, 20 000 records, p = .2"),
    ),
    size=(4.6, 3.2),
)
