"""From randomized rows to counts and densities with their uncertainty."""

from sfumato.evidence.estimate import Estimate
from sfumato.evidence.table import Evidence, evidence

__all__ = ["Estimate", "Evidence", "evidence"]
