"""From randomized rows to counts and densities with their uncertainty."""

from sfumato.evidence.estimate import Estimate
from sfumato.evidence.kinds import evidence
from sfumato.evidence.protocol import Evidence

__all__ = ["Estimate", "Evidence", "evidence"]
