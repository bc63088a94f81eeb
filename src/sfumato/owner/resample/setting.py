"""A setting of the measured mode, and the releases that it makes: all that an attacker needs to repeat them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sfumato.arrays import Array, Labels
from sfumato.owner.resample.blur import blurred
from sfumato.owner.resample.exposure import IGNORANCE
from sfumato.owner.resample.matched_filter import MatchedFilter
from sfumato.owner.resample.model import Form, Model
from sfumato.randomness import Source


@dataclass(frozen=True)
class Setting:
    """The form of the model and the strength t of its noise.

    >>> Setting(Form("one covariance"), 2.2).words
    'one covariance, noise of strength 2.2'
    >>> Setting(Form("one covariance"), 0.0).words
    'one covariance, no noise: drawing the rows is enough'
    """

    form: Form
    strength: float

    @property
    def words(self) -> str:
        """The setting as people read it."""
        noise = f"noise of strength {self.strength:.3g}" if self.strength else "no noise: drawing the rows is enough"
        return f"{self.form.name}, {noise}"

    def release(self, rows: float) -> Blurring:
        """The way to release at this setting, ``rows`` rows for each record."""
        return Blurring(self, per_record=rows)

    def of_rows(self, rows: int) -> Blurring:
        """The same for so many rows in all."""
        return Blurring(self, in_all=rows)

    def game(self, rows: float) -> Blurring:
        r"""The same for half of the records, as hard to attack as a release of all of them would be.

        Half as many records move the means and the covariance twice as far, which is 2 in d^2. Noise of strength 2 t
        and so few rows that 1/2 + n/M doubles take that back: the attack meets the distances that strangers, as many
        as there are records, would let it measure on the whole table.
        """
        return replace(self, strength=2 * self.strength).release(1 / (IGNORANCE + 2 / rows))


@dataclass(frozen=True)
class Blurring:
    """A way to release: a function of records, labels and source that knows the best filter against itself."""

    setting: Setting
    per_record: float | None = None
    in_all: int | None = None

    def __call__(self, X: Array, y: Labels, src: Source) -> tuple[Array, Labels]:
        """Fit, blur, and draw."""
        model = blurred(Model.fit(X, y, self.setting.form, src), self.setting.strength, src)
        counts = np.maximum(np.rint(model.sizes * self._rows(len(X))), 1).astype(np.int64)
        drawn = [model.draw(label, int(k), src) for label, k in zip(model.labels, counts, strict=True)]
        return np.vstack(drawn), np.repeat(model.labels, counts)

    def matched_filter(self, X: Array, y: Labels, src: Source) -> MatchedFilter:
        """What to look for among candidates, half of whom are members."""
        model = Model.fit(X, y, self.setting.form, src)
        return MatchedFilter(model, self.setting.strength, self._rows(max(len(X) // 2, 1)))

    def _rows(self, records: int) -> float:
        return self.per_record if self.per_record is not None else (self.in_all or records) / records
