"""How often a register names the right person, scheme by scheme: ``python -m benchmarks.linking``.

The first 5,000 people of Adult who answered everything; the register has age in years, sex, race, marital status and
education of the same people.
"""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc

import sfumato as sf
from sfumato import datasets

KNOWN = ("age", "sex", "race", "marital-status", "education")


def main() -> None:
    """Print the table."""
    table = datasets.load("adult", split="train").drop_null().slice(0, 5000)
    names = [name if name in table.column_names else name.replace("-", "_") for name in KNOWN]
    table = table.select(names)
    schema = sf.Schema(
        {
            name: sf.Numeric(17, 91, bins=74)
            if name == "age"
            else sf.Categorical(tuple(sorted(pc.unique(table[name]).to_pylist())))
            for name in names
        }
    )
    print("| scheme | right links, of 5,000 |")
    print("|---|---|")
    schemes = {"all in the clear": sf.Scheme(schema, clear=list(schema))}
    schemes |= {f"gamma {g} an attribute": sf.Scheme.for_gamma(schema, gamma=g) for g in (99, 19, 9, 3)}
    for name, scheme in schemes.items():
        found = np.mean([sf.attacks.link(scheme, table, rng=run).details["linked"] for run in range(3)])
        print(f"| {name} | {5000 * found:.0f} |", flush=True)


if __name__ == "__main__":
    main()
