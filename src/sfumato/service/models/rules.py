"""Association rules as JSON, first those whose confidence is sure to be highest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sfumato.evidence import Evidence
from sfumato.evidence.critical import wider_level
from sfumato.learn.rules import AssociationRules
from sfumato.learn.rules.items import universe
from sfumato.service.models.numbers import limited, moved

#: The most rules that are sent, and the most items of a set.
MOST, ITEMS = 40, 4
#: Said where there may be larger sets.
LONGEST = f"no sets of more than {ITEMS} items are looked for"


def rules(source: Evidence, asked: dict[str, Any]) -> dict[str, Any]:
    """The rules, of all attributes or only those that conclude ``target``."""
    level = wider_level(asked["level"], source.n)
    found = AssociationRules(asked["support"], asked["confidence"], max_items=ITEMS, level=level)
    found.fit(source, target=asked["target"])
    held = [rule for rule in found.rules_ if rule.tells_more]
    items = {item.label: item for item in universe(source.schema, found.items, found.exclusive).items}

    def codes(labels: Sequence[str]) -> dict[str, int]:
        return {items[label].attribute: items[label].code for label in labels}

    return {
        "target": asked["target"],
        "looked_at": found.looked_at_,
        "sets": len(found.itemsets_),
        "found": len(held),
        "hidden": len(found.rules_) - len(held),
        "shortfall": found.shortfall_,
        "notes": [LONGEST] if any(len(one.items) == ITEMS for one in found.itemsets_) else [],
        "rules": [
            {
                "if": list(rule.antecedent),
                "then": list(rule.consequent),
                "support": limited(rule.support, rule.support_low, rule.support_high),
                "support_false": moved(source, codes([*rule.antecedent, *rule.consequent]), {}),
                "confidence": limited(rule.confidence, rule.confidence_low, rule.confidence_high),
                "confidence_false": moved(source, codes(rule.consequent), codes(rule.antecedent)),
                "lift": limited(rule.lift, rule.lift_low, rule.lift_high),
            }
            for rule in held[:MOST]
        ],
    }
