"""Where to draw the nodes of a network, and how its links pass between them."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from sfumato.learn.bayesnet.structure import Parents, topological

Place = tuple[float, float]

#: How many nodes may stand side by side, unless told: more make two rows, and the next part begins a band of its own.
ACROSS = 7.0
_FILLED = 0.7  # the part of that which a divided row takes: links to the rows below pass between its nodes
_BOXES, _BESIDE, _LINES = 1.0, 0.58, 0.2  # how near two nodes may stand, a node and a passing link, and two of these


def layout(parents: Parents) -> dict[str, tuple[float, float]]:
    """A place (across, down) for each node: below its parents, near the middle of them, links crossing little.

    >>> layout({"a": (), "b": ("a",)})
    {'a': (0.0, 0.0), 'b': (0.0, 1.0)}
    """
    places, _ = routed(parents)
    return places


def routed(parents: Parents, across: float = ACROSS) -> tuple[dict[str, Place], dict[tuple[str, str], list[Place]]]:
    """The places of the nodes, and for each link that passes other rows the places where it passes them.

    A link that is drawn upright where it passes a row crosses no node: between two rows there is none.
    """
    places: dict[str, Place] = {}
    ways: dict[tuple[str, str], list[Place]] = {}
    edge, widest, band, below = 0.0, 0.0, 0.0, 0.0  # parts that do not hang together stand side by side, in bands
    for component in _components(parents):
        spots, passing = _routed({node: parents[node] for node in component}, across)
        every = [*(x for x, _ in spots.values()), *(x for way in passing.values() for x, _ in way)]
        if edge and edge + max(every) - min(every) > across:
            edge, band = 0.0, below
        shift = edge - min(every)
        places |= {node: (x + shift, y + band) for node, (x, y) in spots.items()}
        ways |= {link: [(x + shift, y + band) for x, y in way] for link, way in passing.items()}
        edge += max(every) - min(every) + 1.0
        widest, below = max(widest, edge), max(below, band + 1 + max(y for _, y in spots.values()))
    middle = (widest - 1.0) / 2
    return (
        {node: (round(x - middle, 6) + 0.0, y) for node, (x, y) in places.items()},
        {link: [(x - middle, y) for x, y in way] for link, way in ways.items()},
    )


def _components(parents: Parents) -> list[list[str]]:
    """Nodes that hang together, the largest group first."""
    group = {node: {node} for node in parents}
    for child, held in parents.items():
        for parent in held:
            both = group[child] | group[parent]
            for node in both:
                group[node] = both
    found = dict.fromkeys(frozenset(nodes) for nodes in group.values())
    order = topological(parents)
    return sorted(([node for node in order if node in nodes] for nodes in found), key=len, reverse=True)


def _routed(parents: Parents, across: float) -> tuple[dict[str, Place], dict[tuple[str, str], list[Place]]]:
    row = _divided(_levels(parents), across)
    ways: dict[tuple[str, str], list[str]] = {}  # a link over several rows gets a nameless stop in each
    near: dict[str, list[str]] = {node: [] for node in row}
    for child, held in parents.items():
        for parent in held:
            stops = [f"{parent}\0{child}\0{level}" for level in range(row[parent] + 1, row[child])]
            ways[parent, child] = stops
            for level, stop in enumerate(stops, row[parent] + 1):
                row[stop] = level
            for one, other in pairwise([parent, *stops, child]):
                near.setdefault(one, []).append(other)
                near.setdefault(other, []).append(one)
    rows = [[node for node in row if row[node] == level] for level in range(max(row.values()) + 1)]
    at = {node: float(i - (len(nodes) - 1) / 2) for nodes in rows for i, node in enumerate(nodes)}
    for sweep in range(40):
        for level in range(len(rows)) if sweep % 2 else reversed(range(len(rows))):
            side = -1 if sweep % 2 else 1  # going down look at the row above, going up at the one below
            wish = {}
            for node in rows[level]:
                seen = [at[other] for other in near[node] if sweep > 30 or row[other] == level + side]
                wish[node] = float(np.mean(seen)) if seen else at[node]
            rows[level].sort(key=lambda node: wish[node])
            _spread(rows[level], wish, at)
    return (
        {node: (at[node], row[node]) for node in parents},
        {link: [(at[stop], row[stop]) for stop in stops] for link, stops in ways.items() if stops},
    )


def _levels(parents: Parents) -> dict[str, int]:
    """The row of each node: one below its lowest parent; a root just above its first child."""
    order = topological(parents)
    row: dict[str, int] = {}
    for node in order:
        row[node] = 1 + max((row[parent] for parent in parents[node]), default=-1)
    for node in order:
        children = [row[child] for child, held in parents.items() if node in held]
        if not parents[node] and children:
            row[node] = min(children) - 1
    return row


def _divided(row: dict[str, int], across: float) -> dict[str, int]:
    """Rows of which none has more nodes than there is room for."""
    out: dict[str, int] = {}
    below = 0
    for level in range(max(row.values()) + 1):
        nodes = [node for node, own in row.items() if own == level]
        parts = 1 if len(nodes) <= across else math.ceil(len(nodes) / max(_FILLED * across, 1.0))
        out |= {node: below + i * parts // len(nodes) for i, node in enumerate(nodes)}
        below += parts
    return {node: out[node] for node in row}


def _spread(nodes: list[str], wish: dict[str, float], across: dict[str, float]) -> None:
    """As near to the wished places as the distances between neighbours allow."""
    at: list[float] = []
    for i, node in enumerate(nodes):
        passing = ("\0" in node) + ("\0" in nodes[i - 1])
        at.append(max(wish[node], at[-1] + (_BOXES, _BESIDE, _LINES)[passing]) if at else wish[node])
    shift = float(np.mean([wish[node] for node in nodes])) - float(np.mean(at))
    for node, place in zip(nodes, at, strict=True):
        across[node] = place + shift
