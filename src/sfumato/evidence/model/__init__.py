"""One joint model of all attributes, fitted to randomized records, that learners may ask instead of a deep table."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import prod
from typing import Any

from sfumato.errors import EstimationError, SfumatoWarning
from sfumato.evidence.model.candidates import TAU
from sfumato.evidence.model.evidence import JOINT_CELLS, ModelEvidence
from sfumato.evidence.model.junction import CLIQUE_CELLS, JunctionEvidence
from sfumato.release import Release
from sfumato.threads import one_thread

__all__ = ["JunctionEvidence", "ModelEvidence", "model_evidence"]


class JunctionTreeWarning(SfumatoWarning):
    """A joint table too large to model whole."""


#: What ``ModelEvidence`` takes besides the release and the names.
OPTIONS = ("tau", "order", "target", "rng")


@one_thread()
def model_evidence(
    release: Release, names: Sequence[str] | None = None, **options: Any
) -> ModelEvidence | JunctionEvidence:
    """The joint model of a release: ``sf.evidence(release, method="model", ...)``; see ``ModelEvidence``.

    Beyond 10^6 cells the junction tree of the dependent pairs takes over, and says so.
    """
    for option in options:
        if option not in OPTIONS:
            raise EstimationError(f"method 'model' takes no option {option!r}: it takes names, {', '.join(OPTIONS)}")
    if isinstance(names, str):
        raise EstimationError(f"names must be a list of attributes, got {names!r} instead")
    names = list(release.schema.names if names is None else names)
    cells = prod(release.schema.sizes(names))
    if cells <= JOINT_CELLS:
        return ModelEvidence(release, names, **options)
    if options.get("order", 2) != 2:
        raise EstimationError(
            f"order must be 2 beyond {JOINT_CELLS} cells, where cliques are modelled by their pairs, got "
            f"{options['order']!r} instead: model fewer attributes, or leave order out"
        )
    warnings.warn(
        f"the joint table of {len(names)} attributes has {cells} cells, more than {JOINT_CELLS}: they are modelled in "
        f"cliques of at most {CLIQUE_CELLS} cells along a junction tree",
        JunctionTreeWarning,
        stacklevel=3,
    )
    tau = options.get("tau")
    return JunctionEvidence(release, names, TAU if tau is None else tau, target=options.get("target"))
