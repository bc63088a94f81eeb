"""What the joint model and the tree of cliques share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import inf
from typing import Any

from sfumato.errors import EstimationError
from sfumato.evidence.base import ReleaseEvidence
from sfumato.evidence.direct import DirectEvidence
from sfumato.evidence.model.effective_records import left_to_learn_from
from sfumato.evidence.model.goodness_of_fit import LEVEL, Disagreement, disagreements
from sfumato.release import Release


class ModelOfRelease(ReleaseEvidence):
    """A model of all attributes that was fitted to a release."""

    method = "model"
    smoothed = True
    _kind = "model"

    def __init__(self, release: Release, names: Sequence[str] | None, tau: Any, target: str | None) -> None:
        super().__init__(release, names)
        good = tau is None or (isinstance(tau, int | float) and not isinstance(tau, bool) and 0 < tau < inf)
        if not good:
            raise EstimationError(f"tau must be a positive number, got {tau!r} instead")
        if target is not None and target not in self.names:
            raise EstimationError(f"the target {target!r} is not among the modelled attributes {', '.join(self.names)}")
        self.target = target
        self._said: tuple[str, ...] = ()

    def said(self, names: Sequence[str]) -> tuple[str, ...]:
        """What to know of the model's answers about these attributes together."""
        return self._said

    @property
    def effective_records(self) -> float:
        """N · a_class² · median(a_j²): roughly how many clean records the randomized ones are worth for learning."""
        return left_to_learn_from(self.release, self.names, self.target)

    def disagreement(self, level: float = LEVEL) -> tuple[Disagreement, ...]:
        """Tables on which the model and the unbiased estimate differ by more than their noise, worst first."""
        return disagreements(self._moment, self, level)

    @cached_property
    def _moment(self) -> DirectEvidence:
        return DirectEvidence(self.release, "moment", self.names)
