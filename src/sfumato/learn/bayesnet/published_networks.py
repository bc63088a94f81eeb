"""Published networks, small enough to read: Asia, Cancer, Earthquake, Survey and Sachs; and random ones.

Asia is Lauritzen and Spiegelhalter (1988), Cancer Korb and Nicholson (2010), Earthquake Pearl (1988) after Korb and
Nicholson, Survey Scutari and Denis (2014), Sachs the protein network of Sachs et al. (2005) with the probabilities
that Scutari fitted, here to four digits. Each entry: values, parents, probabilities with the node's own value fastest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.errors import EstimationError
from sfumato.learn.bayesnet.network import BayesianNetwork
from sfumato.schema import Categorical, Schema

_YES_NO = ("yes", "no")
_TRUE_FALSE = ("True", "False")
_LEVELS = ("LOW", "AVG", "HIGH")

Entry = tuple[tuple[str, ...], tuple[str, ...], list[float]]

NETWORKS: dict[str, dict[str, Entry]] = {
    "asia": {
        "asia": (_YES_NO, (), [0.01, 0.99]),
        "tub": (_YES_NO, ("asia",), [0.05, 0.95, 0.01, 0.99]),
        "smoke": (_YES_NO, (), [0.5, 0.5]),
        "lung": (_YES_NO, ("smoke",), [0.1, 0.9, 0.01, 0.99]),
        "bronc": (_YES_NO, ("smoke",), [0.6, 0.4, 0.3, 0.7]),
        "either": (_YES_NO, ("lung", "tub"), [1, 0, 1, 0, 1, 0, 0, 1]),
        "xray": (_YES_NO, ("either",), [0.98, 0.02, 0.05, 0.95]),
        "dysp": (_YES_NO, ("bronc", "either"), [0.9, 0.1, 0.8, 0.2, 0.7, 0.3, 0.1, 0.9]),
    },
    "cancer": {
        "Pollution": (("low", "high"), (), [0.9, 0.1]),
        "Smoker": (_TRUE_FALSE, (), [0.3, 0.7]),
        "Cancer": (_TRUE_FALSE, ("Pollution", "Smoker"), [0.03, 0.97, 0.001, 0.999, 0.05, 0.95, 0.02, 0.98]),
        "Xray": (("positive", "negative"), ("Cancer",), [0.9, 0.1, 0.2, 0.8]),
        "Dyspnoea": (_TRUE_FALSE, ("Cancer",), [0.65, 0.35, 0.3, 0.7]),
    },
    "earthquake": {
        "Burglary": (_TRUE_FALSE, (), [0.01, 0.99]),
        "Earthquake": (_TRUE_FALSE, (), [0.02, 0.98]),
        "Alarm": (_TRUE_FALSE, ("Burglary", "Earthquake"), [0.95, 0.05, 0.94, 0.06, 0.29, 0.71, 0.001, 0.999]),
        "JohnCalls": (_TRUE_FALSE, ("Alarm",), [0.9, 0.1, 0.05, 0.95]),
        "MaryCalls": (_TRUE_FALSE, ("Alarm",), [0.7, 0.3, 0.01, 0.99]),
    },
    "survey": {
        "A": (("young", "adult", "old"), (), [0.3, 0.5, 0.2]),
        "S": (("M", "F"), (), [0.6, 0.4]),
        "E": (
            ("high", "uni"),
            ("A", "S"),
            [0.75, 0.25, 0.64, 0.36, 0.72, 0.28, 0.7, 0.3, 0.88, 0.12, 0.9, 0.1],
        ),
        "O": (("emp", "self"), ("E",), [0.96, 0.04, 0.92, 0.08]),
        "R": (("small", "big"), ("E",), [0.25, 0.75, 0.2, 0.8]),
        "T": (
            ("car", "train", "other"),
            ("O", "R"),
            [0.48, 0.42, 0.1, 0.58, 0.24, 0.18, 0.56, 0.36, 0.08, 0.7, 0.21, 0.09],
        ),
    },
    "sachs": {
        "PKC": (_LEVELS, (), [0.4231, 0.4816, 0.0953]),
        "Plcg": (_LEVELS, (), [0.8121, 0.0834, 0.1045]),
        "PKA": (
            _LEVELS,
            ("PKC",),
            [0.3864, 0.3794, 0.2342, 0.0604, 0.9226, 0.017, 0.0158, 0.9587, 0.0255],
        ),
        "PIP3": (
            _LEVELS,
            ("Plcg",),
            [0.2184, 0.4473, 0.3343, 0.078, 0.2112, 0.7108, 0.4237, 0.4397, 0.1366],
        ),
        "PIP2": (
            _LEVELS,
            ("Plcg", "PIP3"),
            [
                0.9968, 0.0032, 0.0, 0.9867, 0.0133, 0.0, 0.8724, 0.1201, 0.0075,
                0.9979, 0.0011, 0.0011, 0.9572, 0.0424, 0.0004, 0.5218, 0.4625, 0.0157,
                0.2218, 0.4936, 0.2845, 0.0767, 0.3911, 0.5322, 0.0264, 0.0524, 0.9212,
            ],
        ),
        "Raf": (
            _LEVELS,
            ("PKC", "PKA"),
            [
                0.0623, 0.1472, 0.7904, 0.4475, 0.3126, 0.2399, 0.8429, 0.1271, 0.03,
                0.3694, 0.3312, 0.2994, 0.5508, 0.3929, 0.0563, 0.749, 0.1595, 0.0915,
                0.8676, 0.1279, 0.0046, 0.8843, 0.1157, 0.0001, 0.8418, 0.1554, 0.0028,
            ],
        ),
        "Jnk": (
            _LEVELS,
            ("PKC", "PKA"),
            [
                0.2899, 0.2458, 0.4643, 0.5767, 0.4233, 0.0, 0.9961, 0.0038, 0.0001,
                0.5794, 0.4203, 0.0002, 0.6129, 0.3871, 0.0, 0.8623, 0.1369, 0.0008,
                0.0046, 0.9909, 0.0046, 0.0447, 0.935, 0.0204, 0.1554, 0.8418, 0.0028,
            ],
        ),
        "P38": (
            _LEVELS,
            ("PKC", "PKA"),
            [
                0.3069, 0.0646, 0.6285, 0.9192, 0.0785, 0.0023, 0.8074, 0.0916, 0.101,
                0.6558, 0.3439, 0.0002, 0.815, 0.185, 0.0, 0.3862, 0.1595, 0.4542,
                0.8676, 0.1279, 0.0046, 0.8031, 0.1927, 0.0041, 0.7655, 0.2316, 0.0028,
            ],
        ),
        "Mek": (
            _LEVELS,
            ("PKC", "PKA", "Raf"),
            [
                0.7452, 0.2546, 0.0002, 0.3846, 0.1231, 0.4923, 0.2622, 0.0015, 0.7364,
                0.7577, 0.2423, 0.0, 0.3432, 0.6494, 0.0074, 0.8653, 0.101, 0.0337,
                0.9977, 0.0022, 0.0, 0.9996, 0.0002, 0.0002, 0.9361, 0.0008, 0.0631,
                0.7067, 0.2931, 0.0002, 0.2693, 0.7305, 0.0002, 0.8507, 0.1066, 0.0428,
                0.7148, 0.2852, 0.0, 0.2747, 0.72, 0.0053, 0.2815, 0.5851, 0.1334,
                0.969, 0.0306, 0.0004, 0.8544, 0.1439, 0.0018, 0.4985, 0.4985, 0.0031,
                0.8544, 0.1439, 0.0018, 0.0119, 0.9762, 0.0119, 0.3333, 0.3333, 0.3333,
                0.8256, 0.1743, 0.0, 0.1054, 0.8944, 0.0002, 0.3333, 0.3333, 0.3333,
                0.726, 0.2729, 0.0011, 0.0061, 0.9879, 0.0061, 0.3333, 0.3333, 0.3333,
            ],
        ),
        "Erk": (
            _LEVELS,
            ("PKA", "Mek"),
            [
                0.8505, 0.1387, 0.0108, 0.387, 0.4837, 0.1293, 0.0087, 0.188, 0.8034,
                0.1177, 0.6919, 0.1904, 0.049, 0.7282, 0.2228, 0.0012, 0.7486, 0.2503,
                0.0741, 0.7004, 0.2255, 0.0037, 0.1026, 0.8938, 0.0333, 0.0333, 0.9333,
            ],
        ),
        "Akt": (
            _LEVELS,
            ("PKA", "Erk"),
            [
                0.6721, 0.3278, 0.0001, 0.335, 0.6649, 0.0002, 0.0001, 0.1183, 0.8816,
                0.6204, 0.3795, 0.0001, 0.8214, 0.1782, 0.0004, 0.1771, 0.8137, 0.0092,
                0.9751, 0.0241, 0.0009, 0.9484, 0.0515, 0.0001, 0.1703, 0.8294, 0.0003,
            ],
        ),
    },
}  # fmt: skip


def gallery(name: str) -> BayesianNetwork:
    """A published network by name.

    >>> gallery("asia").parents_["either"]
    ('lung', 'tub')
    """
    if name not in NETWORKS:
        raise EstimationError(f"there is no network {name!r}; the gallery has {', '.join(NETWORKS)}")
    entries = NETWORKS[name]
    schema = Schema({node: Categorical(values) for node, (values, _, _) in entries.items()})
    parents = {node: held for node, (_, held, _) in entries.items()}
    tables: dict[str, Any] = {}
    for node, (_, held, flat) in entries.items():
        table = np.array(flat, dtype=np.float64).reshape(*schema.sizes(held), schema[node].size)
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
