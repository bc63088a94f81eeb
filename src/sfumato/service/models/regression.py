"""A regression as JSON: coefficients with their limits."""

from __future__ import annotations

from typing import Any

from sfumato.evidence import Evidence
from sfumato.learn.regression import Regression, family_of
from sfumato.service.models.numbers import limited, number, often, text


def regression(source: Evidence, asked: dict[str, Any]) -> dict[str, Any]:
    """What goes along with ``target``."""
    domain, event = source.schema[asked["target"]], asked["event"]
    family = asked["family"] or family_of(domain, event is not None)
    if event is not None:
        event = next((label for label in domain.labels if label is not None and str(label) == event), event)
    found = Regression(family, event=event).fit(source, target=asked["target"])
    low, high = found.interval(often(asked["level"], source.n))
    columns = zip(found.terms_, found.coef_, found.sd_, low, high, strict=True)
    return {
        "target": asked["target"],
        "family": family,
        "event": text(found.classes_[1]) if family == "logistic" else None,
        "terms": [
            {"term": term, "coefficient": limited(value, below, above), "sd": number(sd)}
            for term, value, sd, below, above in columns
        ],
        "method": found.method_,
        "covariance": found.covariance_,
        "converged": found.converged_,
    }
