"""BIF, the interchange format of Bayesian networks: read with clear errors, at a cost that the file bounds."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.errors import EstimationError, SfumatoError, quoted
from sfumato.reading.json_documents import read_json
from sfumato.schema import Schema

#: The most cells of all tables of a network that is read.
MOST_CELLS = 1 << 24
_MOST_AXES = 64  # of an array

#: Values of the parents (none for a default, None for a whole table), and the numbers given for them.
Row = tuple[list[str] | None, list[float]]

_TOKEN = re.compile(
    r"""(?>(?:\s|//[^\n]*|/\*.*?\*/)*)                  # space and comments, never looked at twice
    (?: "((?:[^"\\]|\\.)*)"                            # a quoted name
      | ((?:(?!//|/\*)[^\s{}()\[\],;|"])+)             # a plain one
      | ([{}()\[\],;|]) | $ )""",
    re.DOTALL | re.VERBOSE,
)


@dataclass(frozen=True, eq=False)
class Document:
    """What a BIF file says: attributes, parents, and tables with the node's own axis last."""

    schema: Schema
    parents: dict[str, tuple[str, ...]]
    tables: dict[str, Array]


def read_bif(text: str, where: str = "the BIF text") -> Document:
    """What a BIF file says."""
    try:
        return _Reader(text).document()
    except (_BifError, SfumatoError) as problem:
        raise EstimationError(f"{where}: {problem}") from None


class _BifError(Exception):
    pass


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, bool]] = []  # the token, and whether it is punctuation
        self.ends: list[int] = []  # where in the text each token ends
        place = 0
        while place < len(text):
            match = _TOKEN.match(text, place)
            if match is None:
                raise _BifError(f"line {self.line(place)}: a quote or a comment is not closed")
            quoted, word, mark = match.groups()
            token = _unquoted(quoted) if quoted is not None else word if word is not None else mark
            if token is not None:
                self.tokens.append((token, mark is not None))
                self.ends.append(match.end())
            place = match.end()
        self.place = 0

    def line(self, place: int) -> int:
        return self.text.count("\n", 0, place) + 1

    def expected(self, what: str) -> _BifError:
        """The complaint about the token just read. It stands by its line: the file may be no BIF at all, but data."""
        said = quoted(self.tokens[self.place - 1][0])
        return _BifError(f"line {self.line(self.ends[self.place - 1])}: expected {what}{said}")

    def document(self) -> Document:
        domains: dict[str, tuple[int, Any]] = {}  # how many values each variable names, and its domain as JSON
        raw: list[tuple[str, tuple[str, ...], list[Row]]] = []
        while self.place < len(self.tokens):
            what = self.word()
            if what == "network":
                self.word()
                self.skip_block()
            elif what == "variable":
                name, values, domain = self.variable()
                if name in domains:
                    raise _BifError(f"variable {name!r} is declared twice")
                domains[name] = values, domain
            elif what == "probability":
                raw.append(self.probability())
            else:
                raise self.expected("network, variable or probability")
        if not domains:
            raise _BifError("declares no variables")
        schema = Schema.from_dict({name: domain for name, (_, domain) in domains.items()})
        for name, (values, _) in domains.items():
            if schema[name].size != values:
                raise _BifError(f"variable {name!r} names {values} values and its domain property another number")
        parents: dict[str, tuple[str, ...]] = {}
        tables = {}
        codes: dict[str, dict[str, int]] = {}
        cells = 0
        for node, held, entries in raw:
            for name in (node, *held):
                if name not in schema:
                    raise _BifError(f"a probability names {name!r}, which is not declared")
            if node in parents:
                raise _BifError(f"the probabilities of {node!r} are given twice")
            parents[node] = held
            cells += prod(schema.sizes((node, *held)))
            if cells > MOST_CELLS or len(held) >= _MOST_AXES:
                raise _BifError(f"the tables up to that of {node!r} have too many cells: at most {MOST_CELLS} in all")
            tables[node] = _table(schema, node, held, entries, codes)
        missing = [name for name in schema.names if name not in parents]
        if missing:
            raise _BifError(f"gives no probabilities for {missing[0]!r}")
        return Document(schema, {name: parents[name] for name in schema.names}, tables)

    def variable(self) -> tuple[str, int, Any]:
        name = self.word()
        self.mark("{")
        labels: list[str] = []
        special = None
        while not self.at("}"):
            what = self.word()
            if what == "type":
                if self.word() != "discrete":
                    raise _BifError(f"variable {name!r} is not discrete")
                self.mark("[")
                said_size = self.word()
                self.mark("]")
                labels = self.listed("{", "}")
                if said_size != str(len(labels)):
                    raise _BifError(f"variable {name!r} names {len(labels)} values and says it has another number")
                self.mark(";")
            elif what == "property":
                said = []
                while not self.at(";"):
                    said.append(self.next()[0])
                self.mark(";")
                if said and said[0].startswith("domain "):
                    special = said[0].removeprefix("domain ")
            else:
                raise self.expected(f"type or property of variable {name!r}")
        self.mark("}")
        if special is None:
            return name, len(labels), {"kind": "categorical", "values": labels}
        return name, len(labels), read_json(special, f"the domain property of variable {name!r}")

    def probability(self) -> tuple[str, tuple[str, ...], list[Row]]:
        self.mark("(")
        node = self.word()
        held: list[str] = []
        if self.at("|"):
            self.mark("|")
            held = [self.word()]
            while self.at(","):
                self.mark(",")
                held.append(self.word())
        self.mark(")")
        self.mark("{")
        entries: list[Row] = []
        while not self.at("}"):
            if self.at("("):
                labels: list[str] | None = self.listed("(", ")")
            else:
                what = self.word()
                if what == "property":
                    while not self.at(";"):
                        self.next()
                    self.mark(";")
                    continue
                if what not in ("table", "default"):
                    raise self.expected(f"table, default or property of {node!r}")
                labels = None if what == "table" else []
            numbers = []
            while not self.at(";"):
                if self.at(","):
                    self.mark(",")
                numbers.append(self.number(node))
            self.mark(";")
            entries.append((labels, numbers))
        self.mark("}")
        return node, tuple(held), entries

    def listed(self, opening: str, closing: str) -> list[str]:
        self.mark(opening)
        out = [self.word()]
        while self.at(","):
            self.mark(",")
            out.append(self.word())
        self.mark(closing)
        return out

    def next(self) -> tuple[str, bool]:
        if self.place >= len(self.tokens):
            raise _BifError("ends in the middle")
        self.place += 1
        return self.tokens[self.place - 1]

    def word(self) -> str:
        token, punctuation = self.next()
        if punctuation:
            raise self.expected("a name")
        return token

    def number(self, node: str) -> float:
        token = self.word()
        try:
            return float(token)
        except ValueError:
            raise self.expected(f"a number among the probabilities of {node!r}") from None

    def mark(self, wanted: str) -> None:
        token, punctuation = self.next()
        if not punctuation or token != wanted:
            raise self.expected(repr(wanted))

    def at(self, wanted: str) -> bool:
        return self.place < len(self.tokens) and self.tokens[self.place] == (wanted, True)

    def skip_block(self) -> None:
        self.mark("{")
        while not self.at("}"):
            self.next()
        self.mark("}")


def _table(
    schema: Schema, node: str, held: tuple[str, ...], entries: list[Row], codes: dict[str, dict[str, int]]
) -> Array:
    """The table of a node; ``codes`` keeps the codes of labels for the tables to come."""
    shape = (*schema.sizes(held), schema[node].size)
    out = np.full(shape, np.nan)
    defaults = [numbers for labels, numbers in entries if labels == []]
    if any(len(numbers) != shape[-1] for numbers in defaults):
        raise _BifError(f"the default of {node!r} must have {shape[-1]} numbers")
    if defaults:
        out[:] = defaults[-1]
    for labels, numbers in (entry for entry in entries if entry[0] != []):  # what is named overrides a default
        if labels is None:
            if len(numbers) != out.size:
                raise _BifError(f"the table of {node!r} must have {out.size} numbers, got {len(numbers)}")
            # BIF lists a whole table with the node's own value slowest
            out[:] = np.moveaxis(np.reshape(numbers, (shape[-1], *shape[:-1])), 0, -1)
            continue
        if len(labels) != len(held) or len(numbers) != shape[-1]:
            raise _BifError(f"the probabilities of {node!r} given some values have the wrong length{quoted(labels)}")
        place = []
        for name, label in zip(held, labels, strict=True):
            if name not in codes:
                codes[name] = {str(value): code for code, value in enumerate(schema[name].labels)}
            if label not in codes[name]:
                raise _BifError(f"the probabilities of {node!r}: {name} has no such value{quoted(label)}")
            place.append(codes[name][label])
        out[tuple(place)] = numbers
    if np.isnan(out).any():
        raise _BifError(f"the probabilities of {node!r} are incomplete")
    return out


def _unquoted(text: str) -> str:
    """What stands between quotes: as JSON writes it, or as it is where others wrote a lone backslash."""
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except json.JSONDecodeError:
        return text
