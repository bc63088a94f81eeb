"""A regression as JSON: coefficients with their limits."""

from __future__ import annotations

from typing import Any

from sfumato.assess.poisoned_regression import poisoned_coefficients
from sfumato.errors import SfumatoError
from sfumato.evidence import Evidence
from sfumato.evidence.critical import wider_level
from sfumato.learn.plot import reach
from sfumato.learn.regression import Regression, family_of
from sfumato.learn.regression.summary import about_records
from sfumato.service.estimates import FALSE
from sfumato.service.json_values import number, text
from sfumato.service.models.numbers import limited

#: Heads of notes that can be left out.
_BY_THEMSELVES = ("", "Bins", "Clipped")


def regression(source: Evidence, asked: dict[str, Any]) -> dict[str, Any]:
    """What goes along with ``target``."""
    domain, event = source.schema[asked["target"]], asked["event"]
    family = asked["family"] or family_of(domain, event is not None)
    if event is not None:
        event = next((label for label in domain.labels if label is not None and str(label) == event), event)
    found = Regression(family, event=event).fit(source, target=asked["target"])
    level = wider_level(asked["level"], source.n)
    low, high = found.interval(level)
    moved = _moved(source, found)
    notes = [
        said if head in _BY_THEMSELVES else f"{head.lower()}: {said}" for head, said in about_records(found, level)
    ]
    drawn = [not own for own in found.intercepts]
    columns = zip(found.terms_, found.intercepts, found.coef_, found.sd_, low, high, moved, strict=True)
    return {
        "target": asked["target"],
        "family": family,
        "event": text(found.classes_[1]) if family == "logistic" else None,
        "terms": [
            {
                "term": term,
                "intercept": own,
                "coefficient": limited(value, below, above),
                "sd": number(sd),
                "false": false,
            }
            for term, own, value, sd, below, above, false in columns
        ],
        "reach": list(reach(low[drawn], high[drawn])),
        "method": found.method_,
        "covariance": found.covariance_,
        "converged": found.converged_,
        "notes": notes,
    }


def _moved(source: Evidence, found: Regression) -> list[dict[str, float | None]]:
    """How far false answers could move each coefficient; nothing where that is not told."""
    try:
        down, up = poisoned_coefficients(source, FALSE, found)
    except SfumatoError:
        return [{"down": None, "up": None} for _ in found.coef_]
    return [{"down": number(below), "up": number(above)} for below, above in zip(down, up, strict=True)]
