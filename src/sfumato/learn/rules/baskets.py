"""Basket files: a transaction a line, its items separated by commas, semicolons, tabs or blanks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.errors import SchemaError, quoted
from sfumato.schema import Categorical, Schema

PRESENCE = ("absent", "present")


def read_baskets(
    source: str | Path | Iterable[Iterable[str]], items: Sequence[str] | None = None
) -> tuple[Any, Schema]:
    """A table with a present/absent column per item, and its schema; ``items`` fixes the vocabulary.

    >>> table, schema = read_baskets([["bread", "milk"], ["milk"]])
    >>> schema.names, table["bread"].to_pylist()
    (('bread', 'milk'), ['present', 'absent'])
    """
    if isinstance(source, str | Path):
        try:
            text = Path(source).read_text(encoding="utf-8-sig")
        except OSError as problem:
            raise SchemaError(f"{source}: cannot be read as a basket file: {problem.strerror}") from None
        except ValueError:  # not UTF-8, or a path with a zero in it
            raise SchemaError(f"{source}: cannot be read as a basket file: it is not text in UTF-8") from None
        baskets = [_split(line) for line in text.splitlines() if line.strip()]
    else:
        baskets = [[str(item) for item in basket] for basket in source]
    if not baskets:
        raise SchemaError("a basket file needs at least one transaction, got none")
    known = list(items) if items is not None else sorted({item for basket in baskets for item in basket})
    place = {item: i for i, item in enumerate(known)}
    present = np.zeros((len(known), len(baskets)), dtype=np.int64)
    for row, basket in enumerate(baskets):
        for item in basket:
            if item not in place:
                said = quoted(item)
                raise SchemaError(f"transaction {row + 1} holds an item that is not among the {len(known)} known{said}")
            present[place[item], row] = 1
    schema = Schema({item: Categorical(PRESENCE) for item in known})
    return schema.decode(dict(zip(known, present, strict=True))), schema


def _split(line: str) -> list[str]:
    parts = re.split(r"[,;\t]", line) if re.search(r"[,;\t]", line) else line.split()
    return [part.strip() for part in parts if part.strip()]
