"""Mutations of documents and files: of their bytes, and of what they say."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

EXTREME = [
    0, 1, -1, 2, 3, 255, 256, 65_536, 10**6, 10**9, 10**18, 2**63, 2**64, -(10**18), 10**400, 0.5, -0.5, 1e-300, 1e308,
    True, False, None, "", "0", "-1", "9" * 5000, "1/0", "1e999999999", "nan", "inf", "\ud800", "\x1b[31m", "a" * 100_000, [], {},
    [[]], [None], {"kind": "mask", "p": 0.1, "items": 10**9}, {"a": {"a": {}}}, "identity", "symmetric", "projective",
]  # fmt: skip


def paths(document: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a document."""
    inside = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    return [here, *(path for key, value in inside for path in paths(value, (*here, key)))]


def mutate_json(text: str, rng: random.Random) -> str:
    """A document with a few of its values changed, dropped, doubled, swapped or nested."""
    document = json.loads(text)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        places = [path for path in paths(document) if path]
        if not places:
            break
        path, other = rng.choice(places), rng.choice(places)
        holder, value = _at(document, path[:-1]), _at(document, path)
        act = rng.randrange(8)
        if act == 0:
            del holder[path[-1]]
        elif act == 1:
            holder[path[-1]] = copy.deepcopy(_at(document, other))
        elif act == 2 and isinstance(value, int | float) and not isinstance(value, bool):
            holder[path[-1]] = rng.choice(
                (
                    -value,
                    value + 1,
                    value - 1,
                    value * 1000,
                    value * 10**15,
                    value / 3 if isinstance(value, float) else value // 3,
                    str(value),
                )
            )
        elif act == 3 and isinstance(value, list):
            holder[path[-1]] = value * rng.choice((0, 2, 50))
        elif act == 4 and isinstance(holder, dict):
            holder[rng.choice(("x", "kind", "nullable", "", "\u202e", "__index__"))] = holder.pop(path[-1])
        elif act == 5:
            holder[path[-1]] = [value] if rng.random() < 0.5 else {"kind": value}
        else:
            holder[path[-1]] = copy.deepcopy(rng.choice(EXTREME))
    out = json.dumps(document)
    if rng.random() < 0.1:
        out = out.replace(
            rng.choice(("1", "0", "true", "null")), rng.choice(("NaN", "Infinity", "-Infinity", "9" * 5000, "1e999")), 1
        )
    if rng.random() < 0.02:
        out = "[" * 50_000 + out
    return out


def _at(document: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        document = document[key]
    return document


def mutate_bytes(data: bytes, rng: random.Random) -> bytes:
    """A file with bytes flipped, cut, doubled or swapped."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        if not out:
            break
        place, act = rng.randrange(len(out)), rng.randrange(6)
        if act == 0:
            out[place] = rng.randrange(256)
        elif act == 1:
            out[place] ^= 1 << rng.randrange(8)
        elif act == 2:
            del out[place : place + rng.choice((1, 2, 7, len(out)))]
        elif act == 3:
            out[place:place] = out[place : place + rng.choice((1, 8, 100))] * rng.choice((1, 3))
        elif act == 4:
            out[place : place + 8] = rng.choice(
                (b"\xff" * 8, b"\0" * 8, b"\x7f" * 8, b'"', b"\n", b",,,", b"{", b"\xed\xa0\x80")
            )
        else:
            out[place : place + 4] = rng.randbytes(4)
    return bytes(out)
