"""The process that learns a model: ``python -m sfumato.service.models.worker``.

It is given what was asked and the study's tables of counts in one ``npz``, and where these do not tell it, the name of
a file with the rows. It answers with the model as JSON, or with the reason why there is none.
"""

from __future__ import annotations

import io
import json
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sfumato.errors import SfumatoError, kept_warnings
from sfumato.evidence import Evidence, evidence
from sfumato.release import Release
from sfumato.released.counted import CountedPart
from sfumato.released.part import Part
from sfumato.scheme import Scheme
from sfumato.service import own_process
from sfumato.service.models.distribution import distribution
from sfumato.service.models.network import network
from sfumato.service.models.notes import notes
from sfumato.service.models.regression import regression
from sfumato.service.models.rules import rules
from sfumato.service.models.tree import tree

Asked = dict[str, Any]

#: What can be learned, by its name in the address.
KINDS: dict[str, Callable[[Evidence, Asked], dict[str, Any]]] = {
    "tree": tree,
    "rules": rules,
    "network": network,
    "regression": regression,
    "distribution": distribution,
}
#: Of a processor, that a model may take.
SECONDS = 60
#: Those that take numbers under additive noise as they are. For the others they are cut into the bins of the schema.
NUMBERS = ("regression", "distribution")


def packed(asked: Asked, tables: Sequence[Part], rows: str | None) -> bytes:
    """A request as bytes; tables of attributes that nobody asked about stay behind."""
    held = [part for part in tables if isinstance(part, CountedPart)]
    names = [[name for name in asked["names"] if name in part.scheme.schema] for part in held]
    parts = [part.select(own) for part, own in zip(held, names, strict=True) if own]
    about = [
        {"scheme": part.scheme.to_dict(), "records": part.records, "tables": [list(columns) for columns in part.tables]}
        for part in parts
    ]
    arrays = {f"{i}.{j}": table for i, part in enumerate(parts) for j, table in enumerate(part.tables.values())}
    buffer = io.BytesIO()
    request = json.dumps({"asked": asked, "parts": about, "rows": rows})
    np.savez(buffer, request=np.array(request), **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def unpacked(given: bytes) -> tuple[Asked, list[CountedPart], str | None]:
    """What ``packed`` packed."""
    with np.load(io.BytesIO(given), allow_pickle=False) as held:
        request = json.loads(str(held["request"]))
        parts = []
        for i, one in enumerate(request["parts"]):
            tables = {tuple(columns): held[f"{i}.{j}"] for j, columns in enumerate(one["tables"])}
            scheme = Scheme.from_dict(one["scheme"])
            parts.append(CountedPart(tables, scheme, order="shuffled", records=one["records"]))
    return request["asked"], parts, request["rows"]


def answered(given: bytes) -> dict[str, Any]:
    """The model, or why there is none."""
    try:
        with kept_warnings() as kept, np.errstate(all="ignore"):
            asked, counted, rows = unpacked(given)
            parts: list[Part] = [*counted, *(() if rows is None else Release.load(rows).parts)]
            model = KINDS[asked["kind"]](_evidence(parts, asked), asked)
            return {"model": {**model, "notes": notes(model, kept)}}
    except SfumatoError as problem:
        return {"refused": str(problem)}
    except MemoryError:
        return {"refused": "this takes more memory than a server gives it: choose fewer questions"}


def _evidence(parts: Sequence[Part], asked: Asked) -> Evidence:
    """Of the asked attributes, from every part that asked some of them."""
    release = Release.of(parts).select(asked["names"])
    noisy = any(part.scheme.noises for part in release.parts)
    if noisy and asked["kind"] not in NUMBERS:
        release = release.in_intervals()
    return evidence(release, names=asked["names"])


def main() -> None:
    """Read a request on standard input, answer on standard output."""
    warnings.simplefilter("ignore")  # those of other packages, which nobody reads here
    given = sys.stdin.buffer.read()
    own_process.limit_memory()
    own_process.limit_time(SECONDS)
    sys.stdout.write(json.dumps(answered(given)))


if __name__ == "__main__":
    main()
