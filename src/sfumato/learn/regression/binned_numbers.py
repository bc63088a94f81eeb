"""Numbers that a regression knows by their bins alone, or by the ends of their range.

A number counts as the middle of its bin. Where values heap on one side of wide bins, coefficients of the numbers
themselves differ from those of the middles, and standard errors, which speak of noise and chance, do not tell how much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sfumato.evidence import Evidence
from sfumato.evidence.questions.gather import in_bins
from sfumato.evidence.questions.values import clips, off_by, scale
from sfumato.learn.regression.design_columns import Column


@dataclass(frozen=True)
class BinnedNumbers:
    """How far off the middle of its bin each number may be, at most; those that may have been moved to an end; and what
    is counted where values are no numbers, such as months."""

    off_by: dict[str, float] = field(default_factory=dict)
    clipped: tuple[str, ...] = ()
    units: dict[str, str] = field(default_factory=dict)


def binned_numbers(source: Evidence, columns: Sequence[Column], response: Sequence[str]) -> BinnedNumbers:
    """Of covariates that count by their numbers, not by a dummy for each bin, and of a ``response`` that does."""
    covariates = [name for column in columns if not np.isin(column.table, (0, 1)).all() for name in column.names]
    names = [name for name in dict.fromkeys((*response, *covariates)) if source.schema[name].ordered]
    off = {name: off_by(source.schema[name]) if in_bins(source, name) else 0.0 for name in names}
    clipped = tuple(name for name in names if clips(source.schema[name]))
    units = {name: scale(source.schema[name]).strip(" ()") for name in names}
    told = {name: unit for name, unit in units.items() if unit}
    return BinnedNumbers({name: half for name, half in off.items() if half > 0}, clipped, told)
