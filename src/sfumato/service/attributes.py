"""The attributes of a study as its results are read: their wording, their values, and what can be asked of them."""

from __future__ import annotations

from typing import Any

from sfumato.evidence.questions.values import scale
from sfumato.forms import Forms
from sfumato.service.json_values import texts
from sfumato.service.study import Study

#: The most values that are listed.
LISTED = 200


def asked_attributes(study: Study) -> list[dict[str, Any]]:
    """A description of every attribute."""
    scheme = study.scheme
    forms = () if scheme is None else tuple(scheme) if isinstance(scheme, Forms) else (scheme,)
    noisy = {name for form in forms for name in form.noises}
    out = []
    for name, domain in study.schema.items():
        words = study.document["questions"].get(name, {})
        few = domain.listed and domain.size <= LISTED
        out.append(
            {
                "name": name,
                "text": words.get("text") or name,
                "kind": domain.kind,
                "ordered": domain.ordered,
                "noise": name in noisy,
                "unit": scale(domain).strip(" ()") if domain.ordered else "",
                "size": domain.size if domain.listed else None,
                "values": texts(domain.labels) if few else None,
                "words": words.get("labels", {}),
            }
        )
    return out
