"""A Bayesian network as JSON: where its nodes stand, its links, and its probabilities with their limits."""

from __future__ import annotations

from math import isnan, prod
from typing import Any

import numpy as np

from sfumato.evidence import Evidence
from sfumato.evidence.critical import wider_level
from sfumato.learn.bayesnet import BayesianNetwork
from sfumato.learn.bayesnet.layout import routed
from sfumato.service.json_values import number, texts
from sfumato.service.models.numbers import limited, moved

#: The most rows of one table of probabilities that is sent.
ROWS = 200


def network(source: Evidence, asked: dict[str, Any]) -> dict[str, Any]:
    """The network of the attributes."""
    net = BayesianNetwork().fit(source)
    level = wider_level(asked["level"], source.n)
    places, ways = routed(net.parents_)
    return {
        "nodes": [
            {
                "name": name,
                "place": list(places[name]),
                "parents": list(parents),
                "table": _table(net, source, name, level),
            }
            for name, parents in net.parents_.items()
        ],
        "links": [
            {
                "parent": edge.parent,
                "child": edge.child,
                "way": [list(place) for place in ways.get((edge.parent, edge.child), [])],
                "test": edge.test,
                "statistic": number(edge.statistic),
                "df": edge.df,
                "p": number(edge.p_value),
                "trend": None if isnan(edge.trend) else edge.trend,
            }
            for edge in net.edges_
        ],
    }


def _table(net: BayesianNetwork, source: Evidence, node: str, level: float) -> list[dict[str, Any]] | None:
    """Pr(node | parents), a row per combination; None where they are too many."""
    cpt = net.cpt(node)
    if prod(cpt.shape) > ROWS:
        return None
    low, high = cpt.interval(level)
    labels = [texts(domain.labels) for domain in cpt.schema.values()]
    out = []
    for cell in np.ndindex(*cpt.shape):
        *given, value = (own[code] for own, code in zip(labels, cell, strict=True))
        found = float(cpt.values[cell])
        out.append(
            {
                "given": given,
                "value": value,
                "probability": limited(found, min(low[cell], found), max(high[cell], found)),
                "false": moved(source, {node: cell[-1]}, dict(zip(cpt.parents, cell[:-1], strict=True))),
            }
        )
    return out
