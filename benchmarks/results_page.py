"""What the miner's page shows: how long it takes from ten million answers, and whether limits hold for who looks often.

python -m benchmarks.results_page [studies]
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import sfumato as sf
from sfumato import channels as c
from sfumato.service.estimates import Estimates
from sfumato.service.models import worker
from sfumato.service.study import new_study
from sfumato.service.tallies import Tally

LEVEL = 0.95
ROWS = 10_000_000
LIVES = sf.Scheme(
    sf.Schema(
        {
            "sex": sf.Categorical(("F", "M")),
            "age": sf.Numeric(0, 100, bins=10),
            "school": sf.Ordinal(("primary", "secondary", "university")),
            "way": sf.Categorical(("car", "bus", "bike", "walk")),
            "smokes": sf.Categorical(("no", "yes")),
        }
    ),
    {
        "sex": c.symmetric(2, 0.1),
        "age": c.windows(10, gamma=20),
        "school": c.symmetric(3, 0.1),
        "way": c.subset(4, 12),
        "smokes": c.symmetric(2, 0.1),
    },
)
MODELS: dict[str, dict[str, Any]] = {
    "tree": {"target": "smokes"},
    "rules": {"support": 0.05, "confidence": 0.5, "target": None},
    "network": {},
    "regression": {"target": "smokes", "family": None, "event": None},
    "distribution": {"target": "age"},
}
LOOKS = (200, 300, 450, 700, 1000, 1500, 2200, 3300, 5000)
BETA = np.array([-0.5, 1.0, 0.5, -0.5])
ODDS = sf.Scheme(
    sf.Schema(
        {"a": sf.Categorical(("no", "yes")), "b": sf.Categorical(tuple("xyz")), "y": sf.Categorical(("no", "yes"))}
    ),
    {"a": c.symmetric(2, 0.2), "b": c.symmetric(3, 0.3), "y": c.symmetric(2, 0.2)},
)


def learned(kind: str, tally: Tally, more: dict[str, Any]) -> dict[str, Any]:
    asked = {"kind": kind, "names": list(tally.scheme.schema), "level": LEVEL, **more}
    return worker.answered(worker.packed(asked, [tally.part()], None))


def timed(what: str, work: Callable[[], Any]) -> None:
    began = time.process_time()
    work()
    print(f"{what}: {time.process_time() - began:.2f} s of a processor")


def quickness() -> None:
    rng = np.random.default_rng(0)
    tally = Tally(LIVES)
    tally.add({name: rng.integers(0, size, ROWS) for name, size in LIVES.output_sizes.items()}, ROWS)
    found = Estimates(new_study("lives", {"scheme": LIVES.to_dict()}, 0), [tally.part()])
    timed("shares of five questions", lambda: [found.shares([name], LEVEL, 0.02) for name in LIVES.schema])
    timed("two questions together", lambda: found.shares(["sex", "age"], LEVEL))
    timed("means by group", lambda: found.means("age", ["sex"], LEVEL))
    for kind, more in MODELS.items():
        timed(kind, lambda kind=kind, more=more: learned(kind, tally, more))  # type: ignore[misc]


def looking_often(studies: int, seed: int = 11) -> None:
    """How often a coefficient lies outside its limits at some look, by the page's and by ordinary limits."""
    rng, missed = np.random.default_rng(seed), np.zeros((2, len(BETA)))
    for _ in range(studies):
        a, b = (rng.random(LOOKS[-1]) < 0.4).astype(int), rng.choice(3, LOOKS[-1], p=[0.5, 0.3, 0.2])
        y = rng.random(len(a)) < 1 / (1 + np.exp(-(BETA[0] + BETA[1] * a + BETA[2] * (b == 1) + BETA[3] * (b == 2))))
        true = {"a": a, "b": b, "y": y.astype(int)}
        codes = {
            name: (ODDS[name].matrix[own].cumsum(1) < rng.random(len(own))[:, None]).sum(1)
            for name, own in true.items()
        }
        outside = np.zeros((2, len(BETA)), dtype=bool)
        for n in LOOKS:
            tally = Tally(ODDS)
            tally.add({name: own[:n] for name, own in codes.items()}, n)
            for i, one in enumerate(
                learned("regression", tally, MODELS["regression"] | {"target": "y"}).get("model", {}).get("terms", ())
            ):
                found = one["coefficient"]
                outside[0, i] |= not found["low"] <= BETA[i] <= found["high"]
                outside[1, i] |= abs(found["value"] - BETA[i]) > 1.96 * one["sd"]
        missed += outside
    print(f"outside at some of {len(LOOKS)} looks, {studies} studies, a number for each coefficient")
    print("limits of the page:", (missed[0] / studies).tolist(), "ordinary limits:", (missed[1] / studies).tolist())


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    quickness()
    looking_often(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
