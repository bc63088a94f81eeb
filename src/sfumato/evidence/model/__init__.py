"""One joint model of all attributes, fitted to randomized records, that learners may ask instead of a deep table."""

from __future__ import annotations

from typing import Any

from sfumato.evidence.model.evidence import ModelEvidence
from sfumato.release import Release

__all__ = ["ModelEvidence", "model_evidence"]


def model_evidence(release: Release, **options: Any) -> ModelEvidence:
    """The joint model of a release: ``sf.evidence(release, method="model", ...)``; see ``ModelEvidence``."""
    return ModelEvidence(release, **options)
