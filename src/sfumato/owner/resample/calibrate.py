"""Find the least noise at which the shadow attack stays within the bounds, and say what it reached."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from sfumato.arrays import Array, Flags, Index, Labels
from sfumato.errors import DisclosureWarning, SfumatoError, warn
from sfumato.membership import ERRORS, SHADOWS, Risk, loneliest, shadow_risk
from sfumato.owner.resample.blur import blurred
from sfumato.owner.resample.choose import mean_error
from sfumato.owner.resample.exposure import distances, expected_auc, least_strength
from sfumato.owner.resample.model import FORMS, Model
from sfumato.owner.resample.setting import Setting
from sfumato.randomness import Source, permutation
from sfumato.threads import one_thread

#: Records that take part in the games; a larger table discloses less of each, so this errs on the safe side.
RECORDS = 1200
#: Releases by which the forms are compared.
_TRIALS = 8
#: Games that look for the strength, at most; and games that judge what was found, each with shadows of its own.
_SEARCHES, _JUDGED = 2, 4
#: Shadow releases of a game that judges, in those of one that looks.
_CARE = 1.5
#: How far below a bound a game aims, beside the standard errors that "held" asks for.
_AIM = 0.002
#: A strength within this factor (as a logarithm) of one that was played needs no further search.
_NEAR = 0.3
#: What fails is tried again with at least so many times the noise.
_MORE = 1.15
#: Tables with fewer records play up to three times as many shadow releases: theirs cost little and tell less.
_PLENTY = 400


def check_bounds(max_risk: float, max_outlier_risk: float | None) -> tuple[float, float]:
    """Both bounds as AUCs; the outliers' is .05 above by default."""
    for name, value in (("max_risk", max_risk), ("max_outlier_risk", max_outlier_risk)):
        number = isinstance(value, float | int | np.integer | np.floating) and not isinstance(value, bool)
        if value is not None and not (number and math.isfinite(value) and 0.5 < value <= 1):
            raise SfumatoError(
                f"{name} is a membership AUC and must lie in (0.5, 1], got {value}: 0.5 ignores the data"
            )
    return float(max_risk), min(round(max_risk + 0.05, 6), 1.0) if max_outlier_risk is None else float(max_outlier_risk)


def refuse_or_warn(place: object, risk: Risk, strict: bool = False) -> None:
    """Say that a bound is not held, and which is, as an error where that was asked for."""
    where = "" if place is None else f"site {place}: "
    whole, outer = risk.nearest
    text = (
        f"{where}the bound is not held: {risk}. Bounds that are held: max_risk {whole:g}, outliers {outer:g}. There "
        f"are too few records to hide in: allow that much, pool sites, leave columns out, or use channels"
    )
    if strict:
        raise SfumatoError(text)
    warn(text, DisclosureWarning, stacklevel=4)


@one_thread()
def calibrate(
    X: Array, y: Labels, bound: float, outlier_bound: float, rows: float, src: Source, shadows: int | None = None
) -> tuple[Setting, Risk]:
    """The form and the strength to release with, and what the shadow attack reaches against them.

    The closed form gives a strength for each form; the form on whose rows classifiers do best is taken. Shadow games
    then say how far the attack stays behind the closed form, which gives the strength that just holds both bounds. It
    is judged in a game of its own: no shadow release by which it was chosen. Where it fails, more noise is judged.
    """
    some = sample(y, src)
    X, y = X[some], y[some]
    lonely = loneliest(X, y)
    most = float(len(X))  # noise beyond the deviation of a class leaves nothing to learn
    model, strength = _best_form(X, y, lonely, bound, outlier_bound, rows, most, src)
    count = round((shadows or SHADOWS) * float(np.clip(_PLENTY / len(X), 1, 3)))
    games: list[tuple[float, Risk]] = []

    def play(strength: float, count: int) -> Risk:
        risk = shadow_risk(X, y, Setting(model.form, strength).game(rows), src, count)
        games.append((strength, risk))
        return replace(risk, asked=bound, outliers_asked=outlier_bound)

    def next_strength() -> float:
        """Where the closed form, corrected by how far the attack was from it in all games, meets the bounds."""
        behind = _behind(model, games, rows, lonely)
        last = games[-1][1]
        errors = np.array([last.error, last.outliers_error]) * np.sqrt(last.shadows / (_CARE * count))
        aims = [
            _aim(asked - ERRORS * error, b)
            for asked, error, b in zip((bound, outlier_bound), errors, behind, strict=True)
        ]
        return least_strength(model, rows, lonely, aims[0], aims[1], most)

    for _ in range(_SEARCHES):
        play(strength, count)
        found, strength = strength, next_strength()
        if abs(np.log(max(strength, 0.05) / max(found, 0.05))) < _NEAR:
            break
    for _ in range(_JUDGED):
        risk = play(strength, round(_CARE * count))
        if risk.held or strength >= most:
            break
        strength = min(max(next_strength(), _MORE * strength, 0.05), most)
    return Setting(model.form, games[-1][0]), risk


def _best_form(
    X: Array, y: Labels, lonely: Flags, bound: float, outlier_bound: float, rows: float, most: float, src: Source
) -> tuple[Model, float]:
    """The form on whose rows classifiers do best, and its strength; a later form must be clearly better than the first.

    One unit is for columns that are alike: beside prices, a number of rooms would drown in the noise, and classifiers
    that look at prices alone would not mind. What the choice tells of the records is which of a handful of forms it
    was.
    """
    first = Model.fit(X, y, FORMS[0], src)
    others = [form for form in FORMS[1:] if first.columns.alike or not form.one_unit]
    fitted = [first, *(Model.fit(X, y, form, src) for form in (others if len(first.labels) > 1 else ()))]
    found = [(model, least_strength(model, rows, lonely, bound, outlier_bound, most)) for model in fitted]
    if len(found) == 1:
        return found[0]
    counts = np.maximum(np.rint(fitted[0].sizes * min(rows, 4 * RECORDS / len(X))), 1).astype(np.int64)
    errors = np.array(
        [[_error(blurred(model, t, src), counts, X, y, src) for _ in range(_TRIALS)] for model, t in found]
    )
    gain = errors[0].mean() - errors.mean(axis=1)
    doubt = np.sqrt((errors[0].var(ddof=1) + errors.var(axis=1, ddof=1)) / _TRIALS)
    return found[int(np.argmax(np.where(gain > doubt, gain, 0.0)))]


def _error(model: Model, counts: Index, X: Array, y: Labels, src: Source) -> float:
    rows = [model.draw(label, int(k), src) for label, k in zip(model.labels, counts, strict=True)]
    return mean_error(np.vstack(rows), np.repeat(model.labels, counts), X, y)


def _behind(model: Model, games: list[tuple[float, Risk]], rows: float, lonely: Flags) -> Array:
    """How far the attack stays behind the closed form, as ratios of distances, for all records and for the lonely.

    Games weigh by their shadow releases, and more the nearer they were to the last one in strength.
    """
    from scipy.special import ndtri

    ratios, weights = [], []
    for strength, risk in games:
        squared = distances(model, strength, rows)
        pairs = ((risk.auc, expected_auc(squared)), (risk.outliers, expected_auc(squared[lonely])))
        ratios.append([ndtri(max(auc, 0.505)) / max(ndtri(min(aim, 1 - 1e-9)), 1e-6) for auc, aim in pairs])
        away = np.log(max(strength, 0.05) / max(games[-1][0], 0.05))
        weights.append(risk.shadows * np.exp(-2 * abs(away)))
    return np.clip(np.average(ratios, axis=0, weights=weights), 0.3, 3)


def _aim(bound: float, behind: float) -> float:
    """The expected AUC at which an attack that stays so far behind reaches the bound, nearly."""
    from scipy.special import ndtr, ndtri

    return float(ndtr(ndtri(min(max(bound - _AIM, 0.5001), 1 - 1e-9)) / behind))


def sample(y: Labels, src: Source) -> Index:
    """The records that take part in games: all, or a random part of each class of a larger table."""
    if len(y) <= RECORDS:
        return np.arange(len(y))
    keep = [
        rows[permutation(src, len(rows))[: max(round(RECORDS * len(rows) / len(y)), 2)]]
        for rows in (np.flatnonzero(y == label) for label in np.unique(y))
    ]
    return np.sort(np.concatenate(keep))
