"""What a study's answers say so far, as JSON: shares and means, with intervals that hold however often one looks."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from sfumato.errors import SfumatoError
from sfumato.evidence.direct import DirectEvidence
from sfumato.release import Release
from sfumato.released.part import Part
from sfumato.service.refusals import RefusalError
from sfumato.service.study import Study

#: The most cells of a table that is sent.
MOST_CELLS = 1 << 14
T = TypeVar("T")


class Estimates:
    """Questions to the answers of one study, as they stand now."""

    def __init__(self, study: Study, parts: Iterable[Part]) -> None:
        self._study, self._parts = study, tuple(part for part in parts if len(part))

    def shares(self, names: Sequence[str], level: float) -> dict[str, Any]:
        """Shares and counts of every combination of some attributes, and the released counts beside them."""
        parts = self._asking(names, level)
        if math.prod(self._study.schema.sizes(names)) > MOST_CELLS:
            raise RefusalError(
                "not_possible", f"their table has more than {MOST_CELLS:,} cells: ask for fewer attributes"
            )
        found = _answered(lambda: DirectEvidence(Release.of(self._parts)).counts(names, quiet=True))
        shares = found.population()
        low, high = _answered(lambda: shares.interval(level, anytime=True))
        columns = zip(found.labels(), shares.value, low, high, found.value, found.sd, strict=True)
        cells = [
            {
                "values": [None if value is None else str(value) for value in values],
                "share": _number(share),
                "low": _number(below),
                "high": _number(above),
                "count": _number(count),
                "sd": _number(sd),
            }
            for values, share, below, above, count, sd in columns
        ]
        return {
            "names": list(names),
            "answers": sum(len(part) for part in parts),
            "level": level,
            "cells": cells,
            "released": self._released(names, parts),
        }

    def means(self, name: str, by: Sequence[str], level: float) -> dict[str, Any]:
        """The mean of an ordered attribute, by group if asked."""
        parts = self._asking([*by, name], level)
        found = _answered(lambda: DirectEvidence(Release.of(self._parts)).mean(name, by=list(by) or None).population())
        low, high = _answered(lambda: found.interval(level, anytime=True))
        columns = zip(found.labels(), found.value, low, high, found.sd, strict=True)
        rows = [
            {
                "group": [None if value is None else str(value) for value in group],
                "value": _number(value),
                "low": _number(below),
                "high": _number(above),
                "sd": _number(sd),
            }
            for group, value, below, above, sd in columns
        ]
        answers = sum(len(part) for part in parts)
        return {"name": name, "by": list(by), "answers": answers, "level": level, "rows": rows}

    def check_enough(self, names: Sequence[str] = ()) -> list[Part]:
        """The parts that asked these attributes, if enough people answered them."""
        asked = [part for part in self._parts if all(name in part.scheme.schema for name in names)]
        answers = sum(len(part) for part in asked)
        if answers < self._study.minimum:
            raise RefusalError(
                "too_few",
                f"{answers:,} answers so far: nothing is shown below {self._study.minimum:,}",
                answers=answers,
                minimum=self._study.minimum,
            )
        return asked

    def _asking(self, names: Sequence[str], level: float) -> list[Part]:
        if not 0.5 <= level < 1:
            raise RefusalError("malformed", "level must lie in [0.5, 1)", where="level")
        if not names or len(set(names)) != len(names):
            raise RefusalError("malformed", "name each attribute once, and at least one", where="names")
        if any(name not in self._study.schema for name in names):
            has = ", ".join(self._study.schema.names[:20])
            raise RefusalError("malformed", f"there is no such attribute; the study has {has}", where="names")
        return self.check_enough(names)

    def _released(self, names: Sequence[str], parts: Sequence[Part]) -> dict[str, Any] | None:
        """The counts of the released codes themselves, where all parts have one scheme and there are not too many."""
        schemes = {part.scheme for part in parts}
        if len(schemes) > 1:
            return None
        (scheme,) = schemes
        columns = [c for group in scheme.groups if not set(group.names).isdisjoint(names) for c in group.columns]
        sizes = [scheme.output_sizes[column] for column in columns]
        if math.prod(sizes) > MOST_CELLS:
            return None
        counts = DirectEvidence(Release.of(parts)).released_counts(names)
        return {"columns": columns, "sizes": sizes, "counts": np.asarray(counts).tolist()}


def _answered(ask: Callable[[], T]) -> T:
    """The answer, or the reason why there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ask()
    except RefusalError:
        raise
    except SfumatoError as problem:
        raise RefusalError("not_possible", str(problem)) from None


def _number(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None
