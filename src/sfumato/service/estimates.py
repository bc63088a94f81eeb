"""What a study's answers say so far, as JSON: shares and means, with intervals that hold however often one looks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from sfumato.assess.poisoned_ratio import poisoned_mean
from sfumato.assess.poisoning import poisoning
from sfumato.errors import SfumatoError, without_warnings
from sfumato.evidence.direct import DirectEvidence
from sfumato.evidence.questions.answer import ALL_POSSIBLE
from sfumato.evidence.questions.values import at_places
from sfumato.printable import many
from sfumato.release import Release
from sfumato.released.part import Part
from sfumato.service.arrived import arrived
from sfumato.service.json_values import number, texts
from sfumato.service.refusals import RefusalError
from sfumato.service.study import Study
from sfumato.service.tallies import told
from sfumato.service.wished_width import answers_for

#: The most cells of a table that is sent.
MOST_CELLS = 1 << 14
#: The share of false answers that is asked about unless told.
FALSE = 0.01
T = TypeVar("T")


class Estimates:
    """Questions to the answers of one study, as they stand now; ``counted`` are tables that sites pushed."""

    def __init__(self, study: Study, parts: Iterable[Part], counted: Iterable[Part] = ()) -> None:
        self._study, self._parts = study, tuple(part for part in parts if len(part))
        self._counted = tuple(part for part in counted if len(part))

    def shares(
        self, names: Sequence[str], level: float, wish: float | None = None, false: float = FALSE
    ) -> dict[str, Any]:
        """Shares and counts of every combination of some attributes, and the released counts beside them.

        ``wish`` is half the width that the intervals should have, ``false`` the share of false answers that might have
        moved the numbers.
        """
        parts = self._asking(names, level)
        if math.prod(self._study.schema.sizes(names)) > MOST_CELLS:
            raise RefusalError(
                "not_possible", f"their table has more than {MOST_CELLS:,} cells: ask for fewer attributes"
            )
        found = answered(lambda: DirectEvidence(Release.of(self._telling(names))).counts(names, quiet=True))
        shares = found.population()
        low, high = answered(lambda: shares.interval(level, anytime=True))
        moved = _if_told(lambda: poisoning(shares, false))
        down, up = (None, None) if moved is None else (moved.down, moved.up)
        answers = sum(len(part) for part in parts)
        # Limits hold an estimate that no share can be; what they say of the true share ends at 0 and 1.
        reach = np.clip(high, 0, 1) - np.clip(low, 0, 1)
        cells = [
            {
                "values": texts(values),
                "share": number(shares.value[i]),
                "open": bool(reach[i] >= ALL_POSSIBLE),
                "low": number(low[i]),
                "high": number(high[i]),
                "count": number(found.value[i]),
                "sd": number(found.sd[i]),
                "false_down": None if down is None else number(down[i]),
                "false_up": None if up is None else number(up[i]),
            }
            for i, values in enumerate(found.labels())
        ]
        half = float(np.max(reach)) / 2
        return {
            "names": list(names),
            "answers": answers,
            "level": level,
            "false": false,
            "cells": cells,
            "released": arrived(names, parts, MOST_CELLS),
            "half_width": number(half),
            "needed": None if wish is None else answers_for(wish, half, float(np.max(shares.sd)), found.n, level),
        }

    def means(self, name: str, by: Sequence[str], level: float, false: float = FALSE) -> dict[str, Any]:
        """The mean of an ordered attribute, by group if asked."""
        parts = self._asking([*by, name], level)
        evidence = DirectEvidence(Release.of(self._telling([*by, name])))
        found = answered(lambda: evidence.mean(name, by=list(by) or None).population())
        low, high = answered(lambda: found.interval(level, anytime=True))
        is_open = found.open(level, anytime=True)
        moved = _if_told(lambda: poisoned_mean(evidence, false, name, list(by) or None))
        down, up = (None, None) if moved is None else (moved.down, moved.up)
        nearest = at_places(found.value, found.named) if found.named else [None] * len(found.value)
        rows = [
            {
                "group": texts(group),
                "value": number(found.value[i]),
                "nearest": nearest[i],
                "open": bool(is_open[i]),
                "low": number(low[i]),
                "high": number(high[i]),
                "sd": number(found.sd[i]),
                "false_down": None if down is None else number(down[i]),
                "false_up": None if up is None else number(up[i]),
            }
            for i, group in enumerate(found.labels())
        ]
        answers = sum(len(part) for part in parts)
        notes = [note.partition(" (smooth=")[0] for note in found.said]  # who reads a page cannot turn that
        silent = float(np.sum(found.beside.get("no_answer", 0.0)))
        if silent > 0:
            notes.insert(0, f"left out: {many(silent, 'record')} without an answer, as estimated")
        told = {"years": found.of_years, "notes": notes}
        return {"name": name, "by": list(by), "answers": answers, "level": level, "false": false, **told, "rows": rows}

    def about(self, names: Sequence[str]) -> tuple[Part, ...]:
        """All that was asked about some of these attributes.

        Enough people must have answered each of them, and whatever any form asks of them together: a model may rest on
        that table alone.
        """
        self._check_names(names)
        parts = tuple(part for part in self._telling(names) if not set(names).isdisjoint(part.scheme.schema))
        together = [tuple(name for name in names if name in part.scheme.schema) for part in parts]
        for asked in dict.fromkeys([*((name,) for name in names), *together]):
            self._enough(parts, asked)
        return parts

    def check_enough(self, names: Sequence[str] = ()) -> list[Part]:
        """The parts that asked these attributes, if enough people answered them."""
        return self._enough(self._telling(names), names)

    def _telling(self, names: Sequence[str]) -> list[Part]:
        """All parts but tables of sites that do not tell these attributes together: they shall not stop the others."""
        telling = [*self._parts, *(part for part in self._counted if told(part, names))]
        return telling if _asking_all(telling, names) else [*self._parts, *self._counted]

    def _enough(self, parts: Iterable[Part], names: Sequence[str]) -> list[Part]:
        asked = _asking_all(parts, names)
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
        self._check_names(names)
        return self.check_enough(names)

    def _check_names(self, names: Sequence[str]) -> None:
        if not names or len(set(names)) != len(names):
            raise RefusalError("malformed", "name each attribute once, and at least one", where="names")
        if any(name not in self._study.schema for name in names):
            has = ", ".join(self._study.schema.names[:20])
            raise RefusalError("malformed", f"there is no such attribute; the study has {has}", where="names")


def _asking_all(parts: Iterable[Part], names: Sequence[str]) -> list[Part]:
    return [part for part in parts if all(name in part.scheme.schema for name in names)]


def answered(ask: Callable[[], T]) -> T:
    """The answer, or the reason why there is none."""
    try:
        with without_warnings(), np.errstate(all="ignore"):
            return ask()
    except RefusalError:
        raise
    except SfumatoError as problem:
        raise RefusalError("not_possible", str(problem)) from None


def _if_told(ask: Callable[[], T]) -> T | None:
    """The answer, or nothing: an estimate stands without it."""
    try:
        return answered(ask)
    except RefusalError:
        return None
