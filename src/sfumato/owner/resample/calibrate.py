"""Find the least noise at which the shadow attack stays within the bounds, and say what it reached."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace

import numpy as np

from sfumato.draws import Array, Index, permutation
from sfumato.errors import DisclosureWarning, SfumatoError
from sfumato.membership import SHADOWS, Labels, Mask, Method, Risk, loneliest, shadow_risk
from sfumato.owner.resample.choose import mean_error
from sfumato.owner.resample.exposure import IGNORANCE, distances, expected_auc, least_strength
from sfumato.owner.resample.model import FORMS, Form, Model
from sfumato.randomness import Source
from sfumato.threads import one_thread

#: Records that take part in the games; a larger table discloses less of each, so this errs on the safe side.
RECORDS = 1200
#: Releases by which the forms are compared.
_TRIALS = 8
#: Games that look for the strength after the closed form has given the first.
_GAMES = 5
#: What a game must leave free below both bounds before a weaker noise is tried.
_SPARE = 0.012
#: How far below a bound the next game aims.
_AIM = 0.008


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
            model = Model.fit(X, y, self.form, src).blurred(self.strength, src)
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

    def play(strength: float) -> Risk:
        risk = shadow_risk(X, y, Setting(model.form, strength).game(rows), src, shadows or SHADOWS)
        return replace(risk, asked=bound, outliers_asked=outlier_bound)

    def next_after(strength: float, risk: Risk) -> float:
        expected = distances(model, strength, rows)
        aims = (
            _aim(bound - risk.error, risk.auc, expected_auc(expected)),
            _aim(outlier_bound - risk.outliers_error, risk.outliers, expected_auc(expected[lonely])),
        )
        return least_strength(model, rows, lonely, *aims, most)

    risk = play(strength)
    failed = 0.0
    held = (strength, risk) if risk.held else None
    for _ in range(_GAMES):
        if held is None:
            failed = strength
            if strength >= most:
                break
            strength = min(max(next_after(strength, risk), 1.4 * strength, 0.05), most)
        else:
            strength, risk = held
            spare = min(bound - risk.auc - risk.error, outlier_bound - risk.outliers - risk.outliers_error)
            weaker = float(np.sqrt(failed * strength)) if failed else next_after(strength, risk)
            if spare < _SPARE or weaker > 0.85 * strength:
                break
            strength = weaker
        risk = play(strength)
        if risk.held:
            held = strength, risk
        elif held is not None:
            failed = strength
    strength, risk = held or (strength, risk)
    return Setting(model.form, strength), risk


def _best_form(
    X: Array, y: Labels, lonely: Mask, bound: float, outlier_bound: float, rows: float, most: float, src: Source
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
        [[_error(model.blurred(t, src), counts, X, y, src) for _ in range(_TRIALS)] for model, t in found]
    )
    gain = errors[0].mean() - errors.mean(axis=1)
    doubt = np.sqrt((errors[0].var(ddof=1) + errors.var(axis=1, ddof=1)) / _TRIALS)
    return found[int(np.argmax(np.where(gain > doubt, gain, 0.0)))]


def _error(model: Model, counts: Index, X: Array, y: Labels, src: Source) -> float:
    rows = [model.draw(label, int(k), src) for label, k in zip(model.labels, counts, strict=True)]
    return mean_error(np.vstack(rows), np.repeat(model.labels, counts), X, y)


def _aim(bound: float, measured: float, expected: float) -> float:
    """The expected AUC at which the attack, if it stays as far from it as it was, reaches the bound."""
    from scipy.special import ndtr, ndtri

    behind = ndtri(max(measured, 0.501)) / max(ndtri(min(expected, 1 - 1e-9)), 1e-6)
    return float(ndtr(ndtri(min(max(bound - _AIM, 0.5001), 1 - 1e-9)) / max(behind, 0.2)))


def _sample(y: Labels, most: int, src: Source) -> Index:
    if len(y) <= most:
        return np.arange(len(y))
    keep = [
        rows[permutation(src, len(rows))[: max(round(most * len(rows) / len(y)), 2)]]
        for rows in (np.flatnonzero(y == label) for label in np.unique(y))
    ]
    return np.sort(np.concatenate(keep))
