r"""How to ask under one bound on the whole person: split the bound, or ask each record a few questions only.

The error of a table of k cells is told as the expected sum of absolute errors of its shares, all cells equally likely,

    sqrt(2 / pi) sqrt(k tr V / m),        m the number of records that answer it,

with V the covariance of one record's best estimate. A channel that keeps the share r of the sample has
tr V = (1 - 1/k) / r; channels side by side multiply tr V + 1/k; a sum over other attributes adds up their cells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, prod
from typing import Any

import numpy as np

from sfumato.assess.precision import check_n
from sfumato.channels.arguments import bound
from sfumato.channels.cells import of_one
from sfumato.channels.efficiency import even_efficiency
from sfumato.design.requirements import split_gamma
from sfumato.errors import ChannelError, SchemeError, SfumatoError
from sfumato.forms import MOST, Forms
from sfumato.input_checks import check_kind, check_number
from sfumato.pages.display import text_table
from sfumato.schema import Schema
from sfumato.scheme import Scheme

#: Two tables of shares differ by no more: a larger expected error says that nothing is told, and counts as this.
MOST_ERROR = 2.0
#: How many questions every record is asked, and what that is called; None for all of them, under a split bound.
WAYS = {None: "every question, bound split", 1: "one question", 2: "pairs", 3: "triples"}


@dataclass(frozen=True, eq=False)
class Alternative:
    """A way to ask, and the mean expected errors of single attributes and of pairs; inf where no form asks a pair."""

    name: str
    scheme: Scheme | Forms
    single: float
    pair: float
    ask: int | None = None  # questions for each record; None for all of them

    @property
    def forms(self) -> int:
        return len(self.scheme) if isinstance(self.scheme, Forms) else 1

    @property
    def cost(self) -> tuple[float, float]:
        """What ways are compared by, to the printed digits; a pair that no form asks tells nothing, too."""
        return round(min(self.pair, MOST_ERROR), 3), self.single


@dataclass(frozen=True, eq=False)
class RecordDesign:
    """The alternatives side by side, and the one whose pair tables have the least error.

    Where no way tells anything of pairs, it is the one whose single attributes have the least error.
    """

    alternatives: tuple[Alternative, ...]
    chosen: Alternative
    n: int
    target: str | None
    too_large: tuple[str, ...] = ()  # the ways whose channels would not fit into memory

    @property
    def scheme(self) -> Scheme | Forms:
        return self.chosen.scheme

    def rows(self) -> list[dict[str, Any]]:
        """The alternatives as plain numbers."""
        return [
            {
                "design": one.name,
                "forms": one.forms,
                "gamma": one.scheme.gamma,
                "error_of_attribute": one.single,
                "error_of_pair": None if one.pair == math.inf else one.pair,
                "chosen": one is self.chosen,
            }
            for one in self.alternatives
        ]

    @staticmethod
    def _error(error: float) -> str:
        """Two tables of shares differ by 2 at most: an error beyond that says that nothing is told."""
        return "not told" if error == math.inf else "nothing told" if round(error, 3) >= MOST_ERROR else f"{error:.3f}"

    def explain(self) -> str:
        """The alternatives in a table, and which is chosen."""
        about = f" with {self.target}" if self.target else ""
        shown = [
            [
                one.name,
                f"{one.forms:,}",
                f"{one.scheme.gamma:.4g}",
                self._error(one.single),
                self._error(one.pair),
                "chosen" if one is self.chosen else "",
            ]
            for one in self.alternatives
        ]
        heads = [
            "each record answers",
            "forms",
            "gamma of all answers",
            "error of an attribute",
            f"error of a pair{about}",
        ]
        untold = f"No way tells anything of pairs{about}: the attributes decide.\n"
        if self.target:
            untold += f"So {self.target} cannot be foretold from these records: take fewer attributes, or more gamma.\n"
        left_out = f"Left out, for their channels would be too large: {', '.join(self.too_large)}.\n"
        return (
            f"{text_table([*heads, ''], shown)}\n{left_out if self.too_large else ''}"
            f"{untold if self.chosen.cost[0] >= MOST_ERROR else ''}"
            f"Errors are expected sums of absolute errors of the shares of a table, estimated by itself, from "
            f"{self.n:,} records, on average over the tables. Shares differ by {MOST_ERROR:g} at most: where the error "
            f"of a table would be larger, nothing is told of it, and it counts as {MOST_ERROR:g}. All answers of one "
            f"person together: gamma {self.chosen.scheme.gamma:.4g}."
        )


def design_record(schema: Schema, n: int, gamma: float, target: str | None = None) -> RecordDesign:
    """Choose how many questions to ask together under a bound on the whole record, from expected errors.

    With a ``target`` its pairs count only, and its forms are given more often.
    """
    check_kind(SfumatoError, "schema", schema, Schema, "a Schema")
    gamma = check_number(SfumatoError, "gamma", gamma)
    check_n(n)
    gamma = bound(gamma)
    if target is not None and target not in schema:
        raise SfumatoError(f"there is no attribute {target!r} to aim at; the schema has {', '.join(schema.names)}")
    texts = [name for name, domain in schema.items() if not domain.listed]
    if texts:
        raise SfumatoError(
            f"{texts[0]!r} is free text, which makes no table with others: leave it out, or ask each record one "
            f"question, sf.Forms.for_gamma(schema, {gamma:g}, ask=1)"
        )
    if len(schema) < 2:
        raise SfumatoError("a bound on the whole record needs at least two attributes: use gamma for one")
    pairs = [pair for pair in combinations(schema.names, 2) if target is None or target in pair]
    fitting = [ask for ask in WAYS if ask is None or (ask <= len(schema) and comb(len(schema), ask) <= MOST)]
    found, too_large = [], []
    for ask in fitting:
        try:
            found.append(_weighed(ask, way(schema, gamma, ask, target), pairs, n))
        except (ChannelError, SchemeError):
            if ask is None or ask < 2:  # what is too large for single questions has no way at all
                raise
            too_large.append(WAYS[ask])
    chosen = min(found, key=lambda one: one.cost)
    return RecordDesign(tuple(found), chosen, n, target, tuple(too_large))


def way(schema: Schema, gamma: float, ask: int | None, target: str | None = None) -> Scheme | Forms:
    """The scheme or the forms of one way to ask under a bound on the whole record."""
    if ask is None:
        return Scheme.for_gamma(schema, split_gamma(gamma, len(schema)))
    return Forms.for_gamma(schema, gamma, ask, target)


def _weighed(ask: int | None, scheme: Scheme | Forms, pairs: Sequence[tuple[str, ...]], n: int) -> Alternative:
    forms, weights = (scheme.forms, scheme.weights) if isinstance(scheme, Forms) else ((scheme,), (1.0,))
    kept: dict[int, float] = {}  # the share of the sample that each channel keeps: many forms have the same one

    def error(names: tuple[str, ...]) -> float:
        told = [(w, _variance(form, names, kept)) for form, w in zip(forms, weights, strict=True)]
        asked = [(w, v) for w, v in told if v < math.inf]
        if not asked:
            return math.inf
        records = n * sum(w for w, _ in asked)
        mean = sum(w * v for w, v in asked) / sum(w for w, _ in asked)
        cells = prod(scheme.schema.sizes(names))
        return min(math.sqrt(2 / math.pi * cells * mean / records), MOST_ERROR)

    attributes = dict.fromkeys(name for pair in pairs for name in pair)
    single = float(np.mean([error((name,)) for name in attributes]))
    return Alternative(WAYS[ask], scheme, single, float(np.mean([error(pair) for pair in pairs])), ask)


def _variance(form: Scheme, names: tuple[str, ...], kept: dict[int, float]) -> float:
    """tr V of the table of some attributes; inf where the form does not ask them."""
    if any(name not in form.schema for name in names):
        return math.inf
    k, traced = prod(form.schema.sizes(names)), 1.0
    for group in dict.fromkeys(form.group(name) for name in names):
        held = prod(form.schema.sizes([name for name in group.names if name in names]))
        if id(group.channel) not in kept:
            kept[id(group.channel)] = even_efficiency(of_one(group.channel))
        if kept[id(group.channel)] <= 0:
            return math.inf
        traced *= (1 - 1 / held) / kept[id(group.channel)] + 1 / held
    return traced - 1 / k
