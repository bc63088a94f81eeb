"""BIF, the interchange format of Bayesian networks, written so that others read it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

import numpy as np

from sfumato.arrays import Array
from sfumato.learn.bayesnet.structure import Parents
from sfumato.schema import Schema

_WORD = re.compile(r"[A-Za-z0-9_.+-]+$")


def write_bif(schema: Schema, parents: Parents, tables: Mapping[str, Array], name: str = "sfumato") -> str:
    """The text of a BIF file. Domains that BIF cannot say exactly stand in a property line as JSON."""
    lines = [f"network {_word(name)} {{", "}"]
    for node, domain in schema.items():
        labels = ", ".join(_word(str(label)) for label in domain.labels)
        lines += [f"variable {_word(node)} {{", f"  type discrete [ {domain.size} ] {{ {labels} }};"]
        if domain.kind != "categorical" or domain.nullable or not all(isinstance(v, str) for v in domain.labels):
            lines.append(f"  property {json.dumps('domain ' + json.dumps(domain.to_dict()))} ;")
        lines.append("}")
    for node, held in parents.items():
        table = np.asarray(tables[node])
        head = f"{_word(node)} | {', '.join(map(_word, held))}" if held else _word(node)
        lines.append(f"probability ( {head} ) {{")
        if not held:
            lines.append(f"  table {_numbers(table)};")
        for place in np.ndindex(*table.shape[:-1]) if held else ():
            labels = ", ".join(_word(str(schema[p].labels[code])) for p, code in zip(held, place, strict=True))
            lines.append(f"  ({labels}) {_numbers(table[place])};")
        lines.append("}")
    return "\n".join(lines) + "\n"


def _word(text: str) -> str:
    return text if _WORD.match(text) else json.dumps(text, ensure_ascii=False)


def _numbers(values: Array) -> str:
    return ", ".join(repr(float(value)) for value in values)
