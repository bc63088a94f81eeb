"""Find the least mixing that holds a bound on risk, by playing the membership game on the site's own records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from sfumato.owner.resample.blend import Setting
from sfumato.owner.resample.closeness import Insider, auc, blend_insider, closeness
from sfumato.owner.resample.intake import Labels
from sfumato.owner.resample.kernel import Array, Index, deviation, permutation
from sfumato.owner.resample.margins import large
from sfumato.owner.resample.relay import models
from sfumato.randomness import Source
from sfumato.threads import one_thread

#: Records that take part in the games; a larger table discloses less of each, so this errs on the safe side.
RECORDS = 1200
#: The most rows that are released in a game: where more rows than records are asked for, fewer records take part.
RELEASED = 2400
FOLDS = 5
#: Records left out in all games of the search, and of the one that confirms what it found; few records play often.
SEARCHED, CONFIRMED = 600, 1500
#: What a setting must keep free below the bounds, over sqrt(n), lest luck in the games pass for safety.
SPARE = 0.15
#: More columns than this are reduced to factors where the rows are few.
MANY = 10
#: Steps of the ladder on which the columns are given their shape, if that stays clear of the bounds.
SHAPED = 3

#: A way to release: (records, labels, source) to (rows, labels).
Method = Callable[[Array, Labels, Source], tuple[Array, Labels]]


@dataclass(frozen=True)
class Risk:
    """The AUC of the strongest attack on membership, over all records and over the outliers among them."""

    achieved: float
    outliers: float
    attack: str
    outlier_attack: str
    asked: float | None = None
    outliers_asked: float | None = None
    attacks: dict[str, tuple[float, float]] = field(default_factory=dict)
    setting: Setting | None = None

    @property
    def held(self) -> bool:
        """Whether what was achieved is within what was asked."""
        whole = self.asked is None or self.achieved <= self.asked
        return whole and (self.outliers_asked is None or self.outliers <= self.outliers_asked)

    def __str__(self) -> str:
        asked = "" if self.asked is None else f" (asked {self.asked:.3f})"
        outer = "" if self.outliers_asked is None else f" (asked {self.outliers_asked:.3f})"
        return (
            f"membership AUC {self.achieved:.3f}{asked} by {self.attack}; "
            f"outliers {self.outliers:.3f}{outer} by {self.outlier_attack}"
        )


def play(
    X: Array,
    y: Labels,
    method: Method,
    insider: Insider | None,
    src: Source,
    *,
    folds: int = FOLDS,
    rounds: int = 1,
    share: float = 0.1,
) -> Risk:
    """Leave each fold out of a release in turn and ask every attack who was left out.

    Every record is once a stranger and otherwise a member, so both sides of an AUC are the same records: what differs
    is membership alone. ``share`` of the records, the loneliest of their classes, are the outliers.
    """
    outer = loneliest(X, y, share)
    inside: dict[str, list[Array]] = {}
    outside: dict[str, list[Array]] = {}
    marks: list[tuple[Array, Array]] = []
    for _ in range(rounds):
        fold = _folds(y, folds, src)
        for left in range(folds):
            member = fold != left
            R, r = method(X[member], y[member], src)
            for name, score in closeness(R, r, X, y, insider).items():
                inside.setdefault(name, []).append(score[member])
                outside.setdefault(name, []).append(score[~member])
            marks.append((outer[member], outer[~member]))
    ins, outs = (np.concatenate([pair[side] for pair in marks]) for side in (0, 1))
    attacks = {}
    for name in inside:
        a, b = np.concatenate(inside[name]), np.concatenate(outside[name])
        attacks[name] = auc(a, b), auc(a[ins], b[outs])
    return _strongest(attacks)


def loneliest(X: Array, y: Labels, share: float = 0.1) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """The records that lie farthest from their five nearest in their class, relative to what is usual there.

    A record that has no five others in its class is as lonely as can be.
    """
    from scipy.spatial import cKDTree

    sd = deviation(X)
    scaled = X / np.where(sd > 0, sd, 1.0)
    alone = np.full(len(X), np.inf)
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        if len(rows) > 5:
            gaps = np.asarray(cKDTree(scaled[rows]).query(scaled[rows], k=6)[0])[:, 1:].mean(axis=1)
            alone[rows] = gaps / max(float(np.median(gaps)), 1e-12)
    return np.asarray(alone >= np.quantile(alone, 1 - share, method="higher"))


def ladder(y: Labels, d: int) -> list[Setting]:
    """Settings from the mildest to the strongest: ever more plausible sources, then the model alone, then ever fewer
    parameters, at last parameters that are ever more blurred."""
    sizes = np.unique(y, return_counts=True)[1]
    smallest, largest = int(sizes.min()), int(sizes.max())
    factors = max(2, smallest // 16)
    kept = factors if d > MANY and factors < d and smallest < 8 * d else None
    counts = [round(2.0 ** (i / 2), 1) for i in range(4, 24) if 2 ** (i / 2) < 0.7 * largest]
    mixed = [Setting(k, factors=kept) for k in counts]
    relayed = [Setting(np.inf, np.inf, relay=1 / share) for share in (2, 4, 8, 16)]
    if kept is None:
        return mixed + [Setting(np.inf, tie) for tie in (1.0, 4.0, 16.0, np.inf)] + relayed
    fewer = sorted({q for q in (kept, 4, 3, 2) if q <= kept}, reverse=True)
    return mixed + [Setting(np.inf, 1.0, q) for q in fewer] + [Setting(np.inf, np.inf, fewer[-1])] + relayed


@one_thread()
def calibrate(X: Array, y: Labels, asked: float, outliers: float, src: Source, per_record: float = 1.0) -> Risk:
    """The mildest setting found whose games stay clear of both bounds; the strongest one where none does.

    ``per_record`` rows are released for each. The risk that is stated comes from games of its own, not from
    those by which the setting was chosen; a setting that does not stand them gives way to the next stronger one.
    Columns are given their shape where that, and the setting without it, stay clear; the factors of many columns and a
    relay are there to show less of the columns, and keep theirs.
    """
    some = _sample(y, min(RECORDS, int(RELEASED / per_record)), src)
    X, y = X[some], y[some]
    steps = ladder(y, X.shape[1])
    spare = SPARE / np.sqrt(len(X))

    def at(step: int, left: int, margins: bool = False) -> Risk:
        setting = replace(steps[step], margins=margins)
        # A game releases all folds but one: as many sources there would be a larger share of them.
        smaller = replace(setting, sources=setting.sources * (1 - 1 / FOLDS))
        rounds = int(np.clip(left / len(X) / max(per_record, 1), 1, 15))
        risk = play(X, y, blend_method(smaller, per_record), blend_insider(smaller), src, rounds=rounds)
        return replace(risk, asked=asked, outliers_asked=outliers, setting=setting)

    def clear(risk: Risk) -> bool:
        return bool(risk.achieved <= asked - spare and risk.outliers <= outliers - spare)

    low, high = 0, len(steps) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if clear(at(middle, SEARCHED)) else (middle + 1, high)
    best = at(low, CONFIRMED)
    if clear(best):  # the search may have been unlucky: try milder settings, as long as they stand
        while low and clear(milder := at(low - 1, CONFIRMED)):
            low, best = low - 1, milder
    while not best.held and low < len(steps) - 1:
        low += 1
        best = at(low, CONFIRMED)
    if best.held and large(int(np.unique(y, return_counts=True)[1].max())):
        for step in range(low, min(low + SHAPED, len(steps))):
            if steps[step].relay == 1 and steps[step].factors is None:
                plain = best if step == low else at(step, CONFIRMED)
                both = _stronger(plain, at(step, CONFIRMED, margins=True))
                if clear(both):
                    return both
    return best


def _stronger(plain: Risk, shaped: Risk) -> Risk:
    """The attacks on shaped rows and on the rows before: who sees the latter needs to undo nothing."""
    before = {f"{name}, unshaped rows": found for name, found in plain.attacks.items()}
    found = _strongest({**before, **shaped.attacks})
    return replace(found, asked=plain.asked, outliers_asked=plain.outliers_asked, setting=shaped.setting)


def _strongest(attacks: dict[str, tuple[float, float]]) -> Risk:
    whole = max(attacks, key=lambda name: attacks[name][0])
    tail = max(attacks, key=lambda name: attacks[name][1])
    return Risk(attacks[whole][0], attacks[tail][1], whole, tail, attacks=attacks)


def blend_method(setting: Setting, per_record: float = 1.0) -> Method:
    """The recommended method at a setting, as a way to release so many rows for every record."""

    def release(X: Array, y: Labels, src: Source) -> tuple[Array, Labels]:
        labels = np.unique(y)
        classes = [X[y == label] for label in labels]
        sizes = [max(round(len(part) * per_record), 1) for part in classes]
        drawn = [model.draw(n, src)[0] for model, n in zip(models(classes, setting, src), sizes, strict=True)]
        return np.vstack(drawn), np.repeat(labels, sizes)

    return release


def _folds(y: Labels, folds: int, src: Source) -> Index:
    """A fold for every record, as even as can be within each class."""
    out = np.empty(len(y), dtype=np.int64)
    start = 0
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        out[rows[permutation(src, len(rows))]] = (np.arange(len(rows)) + start) % folds
        start += len(rows)
    return out


def _sample(y: Labels, most: int, src: Source) -> Index:
    if len(y) <= most:
        return np.arange(len(y))
    keep = [
        rows[permutation(src, len(rows))[: max(round(most * len(rows) / len(y)), 2)]]
        for rows in (np.flatnonzero(y == label) for label in np.unique(y))
    ]
    return np.sort(np.concatenate(keep))
