"""The kinds of evidence, by what is asked of them: the only place that chooses between them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.errors import EstimationError, SfumatoWarning, warn
from sfumato.evidence import asked_parts
from sfumato.evidence.blocks import blocks
from sfumato.evidence.direct import DirectEvidence
from sfumato.evidence.model.tuning import TAU
from sfumato.evidence.protocol import Evidence
from sfumato.evidence.survey_weights import column_of
from sfumato.input_checks import check_kind, check_names
from sfumato.printable import many
from sfumato.release import Release
from sfumato.schema import Schema
from sfumato.threads import one_thread

if TYPE_CHECKING:
    from sfumato.evidence.model.cliques import JunctionEvidence
    from sfumato.evidence.model.joint import ModelEvidence
    from sfumato.evidence.model.likelihood import Likelihood

#: What ``method="model"`` takes besides the release and the names.
OPTIONS = ("tau", "order", "target", "rng")

#: Pairs that did not fit into a model that are named.
_PAIRS = 3


class JunctionTreeWarning(SfumatoWarning):
    """A joint table too large to model whole."""


def evidence(
    source: Any,
    schema: Schema | None = None,
    method: str = "moment",
    names: Sequence[str] | None = None,
    *,
    weights: Any = None,
    **options: Any,
) -> Evidence:
    """Evidence from a release, or, with a schema, exactly from a raw table.

    ``method`` is "moment" (unbiased, may be negative), "mle" (maximum likelihood, never negative), "project" (moment
    moved to the nearest possible counts: quick, but it biases ordered attributes) or "model" (one joint model of all
    attributes, which takes the options of ``ModelEvidence``). ``names`` keeps to some of the attributes. ``weights``
    are survey weights, for means and other questions: a column in the clear, or a number for each row.
    """
    if isinstance(source, Release):
        if schema is not None:
            raise EstimationError("a release carries its own schema: give schema only with a raw table")
        release = source
    elif schema is None and isinstance(source, str | Path):
        raise EstimationError(
            f"{source}: evidence takes no path alone: load the release, sf.evidence(sf.Release.load(path)); or give "
            f"the schema of a raw table, sf.evidence(path, schema)"
        )
    elif schema is None:
        raise EstimationError("a raw table needs its schema: sfumato.evidence(table, schema)")
    else:
        check_kind(EstimationError, "schema", schema, Schema, "a Schema")
        release = Release.raw(source, schema)
        if isinstance(weights, str) and weights not in schema:
            weights = column_of(source, weights)
    check_kind(EstimationError, "method", method, str, "a word")
    if method == "model" and weights is not None:
        raise EstimationError("a joint model takes no survey weights: use another method")
    if method == "model":
        return model_evidence(release, names=names, **options)
    if options:
        raise EstimationError(f"method {method!r} takes no option {next(iter(options))!r}")
    return DirectEvidence(release, method, names, weights)


@one_thread()
def model_evidence(
    release: Release, names: Sequence[str] | None = None, **options: Any
) -> ModelEvidence | JunctionEvidence:
    """The joint model of a release: ``sf.evidence(release, method="model", ...)``; see ``ModelEvidence``.

    Beyond 10^6 cells the junction tree of the dependent pairs takes over, and says so.
    """
    from sfumato.evidence.model.cliques import CLIQUE_CELLS, JunctionEvidence
    from sfumato.evidence.model.joint import JOINT_CELLS, ModelEvidence

    for option in options:
        if option not in OPTIONS:
            raise EstimationError(f"method 'model' takes no option {option!r}: it takes names, {', '.join(OPTIONS)}")
    names = list(release.schema.names if names is None else check_names(EstimationError, "names", names))
    for name, size in zip(names, release.schema.sizes(names), strict=True):
        if size > CLIQUE_CELLS:
            raise EstimationError(
                f"{name!r} has {size:,} values, and a joint model takes at most {CLIQUE_CELLS:,}: leave it out "
                "(names=[...], or --columns), or group its values"
            )
    cells = prod(release.schema.sizes(names))
    if cells <= JOINT_CELLS:
        return ModelEvidence(release, names, **options)
    if options.get("order", 2) != 2:
        raise EstimationError(
            f"order must be 2 beyond {JOINT_CELLS} cells, where cliques are modelled by their pairs, got "
            f"{options['order']!r} instead: model fewer attributes, or leave order out"
        )
    warn(
        f"the joint table of {len(names)} attributes has more than {JOINT_CELLS:,} cells: they are modelled in cliques "
        f"of at most {CLIQUE_CELLS:,} cells along a junction tree",
        JunctionTreeWarning,
        stacklevel=3,
    )
    made = JunctionEvidence(release, names, options.get("tau"), target=options.get("target"))
    if made.dropped:
        pairs = "; ".join(f"{a} and {b}" for a, b in made.dropped[:_PAIRS])
        more = len(made.dropped) - _PAIRS
        warn(
            f"no clique has room for {many(len(made.dropped), 'pair')} of attributes that depend on each other: {pairs}"
            f"{f'; and {more} more' if more > 0 else ''}. The model knows of their dependence only what follows from "
            "others; fewer attributes leave more room",
            JunctionTreeWarning,
            stacklevel=3,
        )
    return made


def as_evidence(source: Any, who: str = "fit takes evidence or a release") -> Evidence:
    """Evidence from what a learner was given."""
    if isinstance(source, Release):
        return evidence(source)
    if isinstance(source, Evidence):
        if getattr(source, "weights", None) is not None:
            raise EstimationError("learners take every record once: leave the survey weights out of the evidence")
        return source
    raise EstimationError(
        f"{who}, got {type(source).__name__} instead: sfumato.evidence(table, schema) makes evidence of a raw table"
    )


def by_method(source: Evidence, method: str) -> Evidence:
    """The same records by another method; "model" is the pairwise model whose penalty nobody questions."""
    from sfumato.evidence.model.joint import ModelEvidence

    if method == "model":
        return ModelEvidence(source.release, source.names, tau=TAU)
    return DirectEvidence(source.release, method, source.names)


def model_about(source: Evidence, target: str) -> Evidence:
    """What to ask about a target: the evidence itself where it is a model, else one fitted to its records."""
    if source.smoothed:
        return source.about(target)
    return model_evidence(source.release, source.names, target=target).about(target)


def asked_together(source: Evidence, names: Sequence[str]) -> bool:
    """Whether some form asks all of these attributes."""
    return asked_parts.asked_together(source.release, names)


def asked_by_part(source: Evidence) -> list[tuple[str, ...]]:
    """The attributes that the records of each part were asked about."""
    return [part.scheme.schema.names for part in source.release.parts]


def tells_records(source: Evidence, names: Sequence[str]) -> bool:
    """Whether every record was asked all of these attributes, through channels that have an inverse."""
    if not all(set(names) <= set(asked) for asked in asked_by_part(source)):
        return False
    try:
        for part in source.release.parts:
            blocks(part.scheme, tuple(names))
    except EstimationError:
        return False
    return True


def told_together(source: Evidence, names: Sequence[str]) -> Evidence:
    """Where no form asks these attributes together: one joint model of all forms, which answers for them."""
    if source.smoothed or asked_together(source, names):
        return source
    return model_evidence(source.release, source.names)


def model_of(source: Evidence, names: Sequence[str], tau: float) -> Evidence:
    """One joint model of some attributes, from the same records; of very many cells a tree of cliques."""
    return model_evidence(source.release, names, tau=tau)


def cliques_of(source: Evidence, names: Sequence[str]) -> Evidence:
    """A tree of cliques of some attributes, from the same records."""
    from sfumato.evidence.model.cliques import JunctionEvidence

    return JunctionEvidence(source.release, names)


def likelihood_of(source: Evidence, names: Sequence[str]) -> Likelihood:
    """The likelihood of distributions of some attributes, from the same records."""
    from sfumato.evidence.model.likelihood import likelihood

    return likelihood(source.release, names)
