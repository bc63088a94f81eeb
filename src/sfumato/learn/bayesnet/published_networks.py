"""Published networks, small enough to read: Asia, Cancer, Earthquake, Survey and Sachs; and random ones.

Asia is Lauritzen and Spiegelhalter (1988), Cancer Korb and Nicholson (2010), Earthquake Pearl (1988) after Korb and
Nicholson, Survey Scutari and Denis (2014), Sachs the protein network of Sachs et al. (2005) with the probabilities
that Scutari fitted, here to four digits.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import numpy as np

from sfumato.errors import EstimationError
from sfumato.learn.bayesnet.network import BayesianNetwork
from sfumato.schema import Categorical, Schema

#: By network and node: its values, its parents, and its probabilities with the node's own value fastest.
NETWORKS: dict[str, dict[str, dict[str, Any]]] = json.loads(
    (files("sfumato.learn.bayesnet") / "published_networks.json").read_text(encoding="utf-8")
)


def gallery(name: str) -> BayesianNetwork:
    """A published network by name.

    >>> gallery("asia").parents_["either"]
    ('lung', 'tub')
    """
    if name not in NETWORKS:
        raise EstimationError(f"there is no network {name!r}; the gallery has {', '.join(NETWORKS)}")
    entries = NETWORKS[name]
    schema = Schema({node: Categorical(tuple(entry["values"])) for node, entry in entries.items()})
    parents = {node: tuple(entry["parents"]) for node, entry in entries.items()}
    tables: dict[str, Any] = {}
    for node, held in parents.items():
        flat = np.array(entries[node]["probabilities"], dtype=np.float64)
        table = flat.reshape(*schema.sizes(held), schema[node].size)
        tables[node] = table / table.sum(axis=-1, keepdims=True)  # four digits do not sum to 1 exactly
    return BayesianNetwork.of(schema, parents, tables)


def random_network(
    nodes: int,
    rng: np.random.Generator | int,
    values: tuple[int, int] = (2, 2),
    links: float | None = None,
    max_parents: int = 3,
) -> BayesianNetwork:
    """A network with random links and probabilities drawn evenly from the simplex.

    Each node has between ``values[0]`` and ``values[1]`` values and, before the bound, ``links`` parents on average
    (by default one parent in three of those before it).

    >>> random_network(4, 1).schema_.names
    ('v0', 'v1', 'v2', 'v3')
    """
    draw = np.random.default_rng(rng)
    names = [f"v{i}" for i in range(nodes)]
    sizes = draw.integers(values[0], values[1] + 1, nodes)
    schema = Schema(
        {name: Categorical(tuple(f"s{k}" for k in range(size))) for name, size in zip(names, sizes, strict=True)}
    )
    parents, tables = {}, {}
    for i, name in enumerate(names):
        wanted = draw.binomial(i, 1 / 3 if links is None else min(1.0, links / max(i, 1)))
        held = sorted(draw.choice(i, min(wanted, max_parents), replace=False).tolist()) if i else []
        parents[name] = tuple(names[j] for j in held)
        tables[name] = draw.dirichlet(np.ones(sizes[i]), tuple(int(sizes[j]) for j in held))
    return BayesianNetwork.of(schema, parents, tables)
