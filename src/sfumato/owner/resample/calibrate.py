"""Find the least noise at which the shadow attack stays within the bounds, and say what it reached."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace

import numpy as np

from sfumato.arrays import Array, Flags, Index, Labels
from sfumato.errors import DisclosureWarning, SfumatoError
from sfumato.membership import SHADOWS, Method, Risk, loneliest, shadow_risk
from sfumato.owner.resample.blur import blurred
from sfumato.owner.resample.choose import mean_error
from sfumato.owner.resample.exposure import IGNORANCE, distances, expected_auc, least_strength
from sfumato.owner.resample.model import FORMS, Form, Model
from sfumato.randomness import Source, permutation
from sfumato.threads import one_thread

#: Records that take part in the games; a larger table discloses less of each, so this errs on the safe side.
RECORDS = 1200
#: Releases by which the forms are compared.
_TRIALS = 8
#: Games that look for the strength after the closed form has given the first.
_GAMES = 5
#: How far below a bound the next game aims.
_AIM = 0.003
#: Tables with fewer records play up to three times as many shadow releases: theirs cost little and tell less.
_PLENTY = 400


@dataclass(frozen=True)
class Setting:
    """The form of the model and the strength t of its noise: all that an attacker needs to repeat a release."""

    form: Form
    strength: float

    @property
    def words(self) -> str:
        """The setting as people read it.

        >>> Setting(FORMS[0], 2.2).words
        'one covariance, noise of strength 2.2'
        """
        return f"{self.form.name}, noise of strength {self.strength:.3g}"

    def release(self, rows: float) -> Method:
        """The way to release at this setting, ``rows`` rows for each record."""

        def method(X: Array, y: Labels, src: Source) -> tuple[Array, Labels]:
            model = blurred(Model.fit(X, y, self.form, src), self.strength, src)
            counts = np.maximum(np.rint(model.sizes * rows), 1).astype(np.int64)
            drawn = [model.draw(label, int(k), src) for label, k in zip(model.labels, counts, strict=True)]
            return np.vstack(drawn), np.repeat(model.labels, counts)

        return method

    def of_rows(self, rows: int) -> Method:
        """The same for so many rows in all."""
        return lambda X, y, src: self.release(rows / len(X))(X, y, src)

    def game(self, rows: float) -> Method:
        r"""The same for half of the records, as hard to attack as a release of all of them would be.

        Half as many records move the means and the covariance twice as far, which is 2 in d^2. Noise of strength 2 t
        and so few rows that 1/2 + n/M doubles take that back: the attack meets the distances that strangers, as many
        as there are records, would let it measure on the whole table.
        """
        return replace(self, strength=2 * self.strength).release(1 / (IGNORANCE + 2 / rows))


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
    warnings.warn(text, DisclosureWarning, stacklevel=4)


@one_thread()
def calibrate(
    X: Array, y: Labels, bound: float, outlier_bound: float, rows: float, src: Source, shadows: int | None = None
) -> tuple[Setting, Risk]:
    """The form and the strength to release with, and what the shadow attack reaches against them.

    The closed form gives a strength for each form; the form on whose rows classifiers do best is taken. Then the shadow
    attack judges: the strength grows until both bounds are held, or is lowered where much was to spare.
    """
    some = _sample(y, RECORDS, src)
    X, y = X[some], y[some]
    lonely = loneliest(X, y)
    most = float(len(X))  # noise beyond the deviation of a class leaves nothing to learn
    model, strength = _best_form(X, y, lonely, bound, outlier_bound, rows, most, src)

    count = round((shadows or SHADOWS) * float(np.clip(_PLENTY / len(X), 1, 3)))

    def play(strength: float) -> Risk:
        risk = shadow_risk(X, y, Setting(model.form, strength).game(rows), src, count)
        return replace(risk, asked=bound, outliers_asked=outlier_bound)

    def next_strength() -> float:
        """Where the closed form, corrected by how far the games so far were from it, meets the bounds."""
        behind = np.mean([_behind(risk, distances(model, t, rows), lonely) for t, risk in games], axis=0)
        last = games[-1][1]
        aims = (_aim(bound - last.error, behind[0]), _aim(outlier_bound - last.outliers_error, behind[1]))
        return least_strength(model, rows, lonely, *aims, most)

    games = [(strength, play(strength))]
    for _ in range(_GAMES):
        held = min((t for t, risk in games if risk.held), default=None)
        failed = max((t for t, risk in games if not risk.held), default=0.0)
        strength = next_strength()
        if held is None:
            if failed >= most:
                break
            strength = min(max(strength, 1.25 * failed, 0.05), most)
        elif strength > 0.9 * held or strength < 1.1 * failed:
            break
        games.append((strength, play(strength)))
    strength, risk = min((one for one in games if one[1].held), key=lambda one: one[0], default=games[-1])
    return Setting(model.form, strength), risk


def _best_form(
    X: Array, y: Labels, lonely: Flags, bound: float, outlier_bound: float, rows: float, most: float, src: Source
) -> tuple[Model, float]:
    """The form on whose rows classifiers do best, and its strength; a later form must be clearly better than the first.

    What the choice tells of the records is which of a handful of forms it was.
    """
    fitted = [Model.fit(X, y, form, src) for form in (FORMS if len(np.unique(y)) > 1 else FORMS[:1])]
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


def _behind(risk: Risk, expected: Array, lonely: Flags) -> tuple[float, float]:
    """How far the attack stays behind the closed form, as ratios of distances, for all records and for the lonely."""
    from scipy.special import ndtri

    pairs = ((risk.auc, expected_auc(expected)), (risk.outliers, expected_auc(expected[lonely])))
    one, two = (ndtri(max(auc, 0.505)) / max(ndtri(min(aim, 1 - 1e-9)), 1e-6) for auc, aim in pairs)
    return float(np.clip(one, 0.3, 3)), float(np.clip(two, 0.3, 3))


def _aim(bound: float, behind: float) -> float:
    """The expected AUC at which an attack that stays so far behind reaches the bound, nearly."""
    from scipy.special import ndtr, ndtri

    return float(ndtr(ndtri(min(max(bound - _AIM, 0.5001), 1 - 1e-9)) / behind))


def _sample(y: Labels, most: int, src: Source) -> Index:
    if len(y) <= most:
        return np.arange(len(y))
    keep = [
        rows[permutation(src, len(rows))[: max(round(most * len(rows) / len(y)), 2)]]
        for rows in (np.flatnonzero(y == label) for label in np.unique(y))
    ]
    return np.sort(np.concatenate(keep))
