"""One joint model of all attributes, fitted to randomized records, that learners may ask instead of a deep table."""

from __future__ import annotations

import warnings
from math import prod
from typing import Any

from sfumato.errors import SfumatoWarning
from sfumato.evidence.model.candidates import TAU
from sfumato.evidence.model.evidence import JOINT_CELLS, ModelEvidence
from sfumato.evidence.model.junction import CLIQUE_CELLS, JunctionEvidence
from sfumato.release import Release
from sfumato.threads import one_thread

__all__ = ["JunctionEvidence", "ModelEvidence", "model_evidence"]


class JunctionTreeWarning(SfumatoWarning):
    """A joint table too large to model whole."""


@one_thread()
def model_evidence(release: Release, **options: Any) -> ModelEvidence | JunctionEvidence:
    """The joint model of a release: ``sf.evidence(release, method="model", ...)``; see ``ModelEvidence``.

    Beyond 10^6 cells the junction tree of the dependent pairs takes over, and says so.
    """
    names = list(options.get("names") or release.schema.names)
    cells = prod(release.schema.sizes(names))
    if cells <= JOINT_CELLS:
        return ModelEvidence(release, **options)
    warnings.warn(
        f"the joint table of {len(names)} attributes has {cells} cells, more than {JOINT_CELLS}: they are modelled in "
        f"cliques of at most {CLIQUE_CELLS} cells along a junction tree",
        JunctionTreeWarning,
        stacklevel=3,
    )
    return JunctionEvidence(release, names, options.get("tau") or TAU, target=options.get("target"))
