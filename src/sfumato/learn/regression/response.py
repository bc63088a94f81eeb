"""The response of a regression: which of its values count, and as what."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.domains import Domain
from sfumato.errors import EstimationError
from sfumato.evidence.estimate import Estimate
from sfumato.learn.regression.design_columns import numbers
from sfumato.learn.regression.families import Ordinal

_CLEAR = 2.0  # standard errors by which a class must exceed nobody


@dataclass(frozen=True, eq=False)
class Response:
    """What each code of the target is worth: a number (gaussian) or the place of its class; codes not kept count for
    nothing."""

    name: str
    values: Array
    kept: NDArray[np.bool_]  # False for no answer, and for classes that nobody holds
    labels: NDArray[Any]  # of the classes

    def refuse_one_class(self, family: str, held: Estimate) -> None:
        """Of two classes, one that may well be nobody's: its odds would be noise divided by noise."""
        for place, label in enumerate(self.labels if family == "logistic" else ()):
            own = (self.kept & (self.values == place)).astype(np.float64)
            if float(own @ held.value) < _CLEAR * np.sqrt(max(held.covariance(own, own), 0.0)):
                raise EstimationError(
                    f"the records do not tell whether anybody holds {str(label)!r} of {self.name!r}: there is nothing "
                    f"to learn without more records, or a weaker channel"
                )


def response(name: str, domain: Domain, family: str, event: Any = None) -> Response:
    """The response as the family takes it."""
    kept = np.array([label is not None for label in domain.labels])
    labels = [label for label in domain.labels if label is not None]
    if len(labels) < 2:
        raise EstimationError(f"the target {name!r} has one class, {labels[0]!r}: nothing to learn")
    values = np.arange(domain.size, dtype=np.float64)
    if event is not None and family != "logistic":
        raise EstimationError(f"event is for the logistic family, not for {family}")
    if family == "gaussian":
        worth = numbers(domain) if domain.ordered else np.arange(2.0) if len(labels) == 2 else None
        if worth is None:
            raise EstimationError(
                f"the target {name!r} has unordered values, which have no mean: "
                f'use family="logistic" with event=..., or declare it ordinal'
            )
        values[kept] = worth
    elif family == "ordinal":
        if not domain.ordered and len(labels) > 2:
            raise EstimationError(f"the target {name!r} has unordered values: declare it ordinal, or use logistic")
    else:
        if event is None and len(labels) > 2:
            raise EstimationError(
                f"the target {name!r} has {len(labels)} values, and the logistic family takes two: name one of them "
                f'by event=..., or use family="ordinal"'
            )
        if event is not None and event not in labels:
            raise EstimationError(f"event must be a value of the target {name!r}, got {event!r} instead")
        chosen = labels[1] if event is None else event
        values = np.array([float(label == chosen) for label in domain.labels])
        other = next(label for label in labels if label != chosen)
        labels = [other if len(labels) == 2 else f"not {chosen}", chosen]
    return Response(name, values, kept, np.array(labels))


def occupied(found: Response, counts: Array) -> tuple[Response, Ordinal]:
    """Only the classes that somebody holds: no limit can be drawn around the others."""
    kept = found.kept & (counts > 0)
    values = np.where(kept, np.cumsum(kept) - 1, 0).astype(np.float64)
    labels = np.asarray(found.labels)[kept[found.kept]]
    return replace(found, kept=kept, values=values, labels=labels), Ordinal(int(kept.sum()))


def told_responses(name: str, domain: Domain, family: str, event: Any, classes: NDArray[Any]) -> NDArray[Any]:
    """What each code of the target is told as: a number, a class, or nothing where it is no answer."""
    found = response(name, domain, family, event)
    if family == "gaussian":
        return np.where(found.kept, found.values, np.nan)
    said = [classes[int(value)] for value in found.values] if family == "logistic" else list(domain.labels)
    return np.array([label if kept else None for label, kept in zip(said, found.kept, strict=True)])
