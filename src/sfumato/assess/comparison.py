"""All methods at equal risk: what each costs a classifier once none discloses more than the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sfumato.arrays import Array, Labels
from sfumato.errors import MissingPartError
from sfumato.membership import Method, Progress, Risk, auc, shadow_risk
from sfumato.owner import baselines as project
from sfumato.owner.resample import resample
from sfumato.owner.resample.calibrate import calibrate, check_bounds, sample
from sfumato.owner.resample.kernel import deviation
from sfumato.owner.resample.request import ROWS_PER_RECORD
from sfumato.randomness import Rng, Source, permutation, source
from sfumato.threads import one_thread

Tuned = Callable[[float], Method]

#: Shadow releases by which the other methods are judged: enough to compare them.
_SHADOWS = 48
#: Settings of a knob that are tried after the largest.
_TURNS = 5
#: The membership AUC at which methods are compared where none was asked for.
BOUND = 0.55


@dataclass(frozen=True)
class Row:
    """One method at its setting: the risk it runs, and phi of each classifier in points, the mean with its error.

    The risks have standard errors over the shadow releases, where there were any.
    """

    method: str
    setting: str
    risk: float
    outliers: float
    phi: dict[str, float] = field(default_factory=dict)
    note: str = ""
    error: float = float("nan")
    risk_error: float = float("nan")
    outliers_error: float = float("nan")

    @property
    def mean(self) -> float:
        """phi averaged over the classifiers."""
        return float(np.mean(list(self.phi.values()))) if self.phi else float("nan")


#: Neighbours that kNN asks, and so the fewest records to train on.
NEIGHBOURS = 11


def classifiers(seed: int = 0) -> dict[str, Any]:
    """kNN (11), naive Bayes with a floor under its variances, a small network and a random forest.

    The floor is there because a constant column leaves naive Bayes without a density (see the errata).
    """
    try:
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.naive_bayes import GaussianNB
        from sklearn.neighbors import KNeighborsClassifier
        from sklearn.neural_network import MLPClassifier
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import MinMaxScaler, StandardScaler
    except ImportError:
        raise MissingPartError.named("a comparison of classifiers", "scikit-learn", "sklearn") from None
    network = MLPClassifier((8,), solver="lbfgs", alpha=0.3, max_iter=2000, random_state=seed)
    return {
        "kNN": make_pipeline(MinMaxScaler((-1, 1)), KNeighborsClassifier(NEIGHBOURS)),
        "naive Bayes": make_pipeline(MinMaxScaler((-1, 1)), GaussianNB(var_smoothing=1e-3)),
        "network": make_pipeline(StandardScaler(), network),
        "forest": RandomForestClassifier(60, min_samples_leaf=2, random_state=seed, n_jobs=1),
    }


def errors(X: Array, y: Labels, Xt: Array, yt: Labels, seed: int = 0, names: Sequence[str] = ()) -> dict[str, float]:
    """The error of each classifier on test rows, in percent."""
    return {name: float(missed.mean()) for name, missed in misses(X, y, Xt, yt, seed, names).items()}


def misses(X: Array, y: Labels, Xt: Array, yt: Labels, seed: int = 0, names: Sequence[str] = ()) -> dict[str, Array]:
    """100 where a classifier is wrong on a test row, else 0."""
    models = classifiers(seed)
    return {name: 100.0 * (models[name].fit(X, y).predict(Xt) != yt) for name in (names or models)}


@one_thread()
def compare(
    X: Array,
    y: Labels,
    Xt: Array,
    yt: Labels,
    asked: float = BOUND,
    repeats: int = 3,
    *,
    outliers_asked: float | None = None,
    rng: Rng = None,
    progress: Progress | None = None,
) -> list[Row]:
    """Every method, brought to the same membership AUC where it has a knob to turn, and what is left of accuracy.

    The blurred model, which comes first, is held to that of the outliers as well.

    All are judged by the shadow attack on the same records, a random part of a large table, which discloses less of
    each than its part does; those beside the blurred model on releases of half of them. Methods without a knob stand at
    their own risk. Rotation and projection are judged by an attacker who knows as many rows as there are columns, and
    one more. phi is averaged over ``repeats`` releases; its error is that over the test rows, each of which every
    classifier gets right or wrong before and after. ``progress`` is called with shadow releases of the methods beside
    the blurred model as they are attacked, ``ATTACKED`` in all.
    """
    src = source(rng)
    base = misses(X, y, Xt, yt)

    def cost(found: Sequence[dict[str, Array]]) -> tuple[dict[str, float], float]:
        gaps = {name: np.mean([one[name] for one in found], axis=0) - missed for name, missed in base.items()}
        paired = np.mean(list(gaps.values()), axis=0)
        return {name: float(gap.mean()) for name, gap in gaps.items()}, float(paired.std(ddof=1) / np.sqrt(len(yt)))

    def row(name: str, setting: str, risk: Risk, method: Method, note: str = "") -> Row:
        phi, error = cost([misses(*method(X, y, src), Xt, yt) for _ in range(repeats)])
        return Row(name, setting, risk.auc, risk.outliers, phi, note, error, risk.error, risk.outliers_error)

    some = sample(y, src)
    games = X[some], y[some]
    setting, held = calibrate(*games, *check_bounds(asked, outliers_asked), ROWS_PER_RECORD, src)
    note = "" if held.held else "the bound is out of reach"
    rows = [row("blurred model", setting.words, held, setting.release(ROWS_PER_RECORD), note)]
    for name, tuned, low, high in _KNOBS:
        level, risk = _turn(*games, tuned, low, high, asked, src, progress)
        note = "" if risk.auc <= asked else "the bound is out of reach"
        rows.append(row(name, f"{level:.2f}", risk, tuned(level), note))
    for name, method in _FIXED:
        rows.append(row(name, "nothing to set", shadow_risk(*games, method, src, _SHADOWS, progress), method))
    k, sd = max(X.shape[1] // 2, 1), deviation(X)
    unit = np.where(sd > 0, sd, 1.0)  # else the column with the largest numbers would drown the others
    for name, (R, M) in (
        ("random rotation", project.rotation(X / unit, rng=src)),
        (f"random projection to {k}", project.projection(X / unit, k, rng=src)),
    ):
        found = known_rows(X / unit, M, src)
        phi, error = cost([misses(R, y, Xt / unit @ M.T, yt)])  # the centre turns its test rows, too
        rows.append(Row(name, "nothing to set", found, found, phi, "by known rows", error))
    return rows


def known_rows(X: Array, M: Array, src: Source) -> float:
    """The membership AUC of an attacker who knows d + 1 of the records behind a linear release x M', one half of X.

    Least squares on the known pairs gives M; every other record is then looked up among the released rows.
    """
    from scipy.spatial import cKDTree

    order = permutation(src, len(X))
    members, strangers = X[order[::2]], X[order[1::2]]
    released = members @ M.T
    known = min(X.shape[1] + 1, len(members) - 1)
    found = np.linalg.lstsq(members[:known], released[:known], rcond=None)[0]
    tree = cKDTree(released)
    scores = [-np.asarray(tree.query(part @ found)[0]) for part in (members[known:], strangers)]
    # Rounding aside, a record that maps onto a released row was there.
    inside, outside = (np.where(score > -1e-6 * float(np.abs(released).max()), 0.0, score) for score in scores)
    return auc(inside, outside)


def _turn(
    X: Array, y: Labels, tuned: Tuned, low: float, high: float, asked: float, src: Source, progress: Progress | None
) -> tuple[float, Risk]:
    """The smallest knob, on a logarithmic scale, at which the attack holds the bound; the largest where none does."""

    def at(level: float) -> Risk:
        return shadow_risk(X, y, tuned(level), src, _SHADOWS, progress)

    best = at(high)
    if best.auc > asked:
        if progress is not None:
            progress(_TURNS * _SHADOWS)
        return high, best
    for _ in range(_TURNS):
        middle = float(np.sqrt(low * high))
        risk = at(middle)
        if risk.auc <= asked:
            high, best = middle, risk
        else:
            low = middle
    return high, best


def _noise(level: float) -> Method:
    return lambda X, y, src: (project.additive_noise(X, level, rng=src), y)


def _kernel(shrink: bool) -> Tuned:
    def tuned(level: float) -> Method:
        def method(X: Array, y: Labels, src: Source) -> tuple[Array, Labels]:
            out = resample(X, y, bandwidth=level, shrink=shrink, rng=src)
            return out.X, np.asarray(out.y)

        return method

    return tuned


def _gaussian(X: Array, y: Labels, src: Source) -> tuple[Array, Labels]:
    return project.gaussian_model(X, y, rng=src)


def _bootstrap(X: Array, y: Labels, src: Source) -> tuple[Array, Labels]:
    return project.bootstrap(X, y, rng=src)


_KNOBS: tuple[tuple[str, Tuned, float, float], ...] = (
    ("kernel, widened", _kernel(False), 0.5, 16.0),
    ("kernel, widened and shrunk", _kernel(True), 0.5, 16.0),
    ("additive noise", _noise, 0.1, 16.0),
)
_FIXED: tuple[tuple[str, Method], ...] = (("normal model per class", _gaussian), ("plain bootstrap", _bootstrap))
#: Shadow releases of the methods beside the blurred model.
ATTACKED = _SHADOWS * ((1 + _TURNS) * len(_KNOBS) + len(_FIXED))
