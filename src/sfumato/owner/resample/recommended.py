"""The recommended resampling of one site: the least mixing that holds a bound on what the release discloses."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np

from sfumato.errors import DisclosureWarning, SfumatoError
from sfumato.owner.resample.blend import Blend
from sfumato.owner.resample.calibrate import Risk, calibrate
from sfumato.owner.resample.envelope import Envelope
from sfumato.owner.resample.intake import Labels
from sfumato.owner.resample.kernel import Array, Index, centres, permutation
from sfumato.owner.resample.relay import models
from sfumato.randomness import Source

#: Records of a class that a model is fitted to; a larger class is sampled and drawn from through its envelope.
FITTED = 4000
#: Released rows per record up to which the games can be played.
MOST_ROWS = 20


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
    """Say that a bound is not held, as an error where that was asked for."""
    where = "" if place is None else f"site {place}: "
    text = (
        f"{where}the bound is not held: {risk}. There are too few records to hide in: pool sites, allow more risk, or "
        f"use channels"
    )
    if strict:
        raise SfumatoError(text)
    warnings.warn(text, DisclosureWarning, stacklevel=4)


@dataclass(frozen=True)
class Site:
    """One site, calibrated: a model of each class, and what its release will disclose."""

    labels: Labels
    models: list[Blend]
    risk: Risk

    @classmethod
    def fit(cls, X: Array, y: Labels, asked: float, outliers: float, src: Source, per_record: float = 1.0) -> Site:
        """Play the games on a sample, ``per_record`` rows released for each, then fit the setting that they chose."""
        if per_record > MOST_ROWS:
            raise SfumatoError(
                f"max_risk can be held for at most {MOST_ROWS} rows per record, got {per_record:.3g}: more would "
                f"show the model itself"
            )
        labels = np.unique(y)
        parts = []
        for label in labels:
            rows = np.flatnonzero(y == label)
            if len(rows) > FITTED:
                rows = np.sort(rows[permutation(src, len(rows))[:FITTED]])
            parts.append(X[rows])
        sampled = np.repeat(labels, [len(part) for part in parts])
        risk = calibrate(np.vstack(parts), sampled, asked, outliers, src, per_record)
        if risk.setting is None:
            raise SfumatoError("the games chose no setting")
        return cls(labels, models(parts, risk.setting, src), risk)

    def draw(self, label: object, X: Array, rows: int, src: Source) -> tuple[Array, Index]:
        """Released rows of one class, and the record behind each (which never leaves the owner)."""
        model = self.models[int(np.flatnonzero(self.labels == label)[0])]
        if len(X) == len(model.Z):
            return model.draw(rows, src)
        envelope = Envelope.fit(model)
        chosen = centres(src, len(X), rows, balanced=True)
        released, order = envelope.draw(X[chosen], src)
        return released, chosen[order]
