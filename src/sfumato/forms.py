"""Forms: every record answers a few questions, chosen at random, so that the bound is on the whole person."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from math import comb, prod
from typing import Any

import numpy as np

from sfumato.arrays import Index, Words
from sfumato.channels import Channel, cells, from_dict, identity, subset, symmetric
from sfumato.channels.arguments import bound, whole
from sfumato.channels.best import best_channel
from sfumato.channels.cells import of_one
from sfumato.channels.efficiency import even_efficiency
from sfumato.channels.size_limits import check_cells
from sfumato.errors import ChannelError, SchemeError, SfumatoError, cause
from sfumato.input_checks import check_kind
from sfumato.pages.display import html_table
from sfumato.printable import printable
from sfumato.randomness import quantize
from sfumato.reading.json_documents import read_json
from sfumato.schema import Schema
from sfumato.scheme import Scheme

FORMAT = "sfumato forms"
VERSION = 1
MOST = 4096  # forms
_TARGET = 3.0  # how many times as often a form with the target is given, where a target is named
_TEXTS = 10  # frequent texts, a tenth of the people each: what the efficiency of free text is told for
_EXACT = 1e-9  # how far the weights may sum from 1


class Forms:
    r"""Schemes over different attributes of one schema, of which every record is given one at random.

        Pr(answer | record) = Σ_f w_f [answer is of form f] Pr_f(answer | record),        gamma = max_f gamma_f

    where w_f is the weight of form f. Which form a record gets is public and says nothing about the record, so a person
    gives away what one form does. A question that is not asked is a channel of gamma 1.

    >>> from sfumato import channels as c
    >>> from sfumato.schema import Categorical, Schema
    >>> schema = Schema({name: Categorical(("no", "yes")) for name in "abc"})
    >>> forms = Forms.for_gamma(schema, gamma=9, ask=2)
    >>> [form.schema.names for form in forms], forms.gamma
    ([('a', 'b'), ('a', 'c'), ('b', 'c')], 9.0)
    """

    def __init__(self, forms: Sequence[Scheme], weights: Sequence[float] | None = None) -> None:
        given = (forms,) if isinstance(forms, Scheme) else tuple(forms) if isinstance(forms, Iterable) else ()
        if not given or len(given) > MOST or not all(isinstance(form, Scheme) for form in given):
            raise SchemeError(f"forms must be a list of 1 to {MOST:,} schemes")
        self.schema = merged([form.schema for form in given], "the forms")
        self.forms = given = tuple(_in_order(form, self.schema) for form in given)
        self.weights = _weights(weights, len(given))
        try:
            check_cells(sum({id(g.channel): g.channel.matrix_cells for f in given for g in f.groups}.values()))
        except ChannelError as problem:
            raise SchemeError(str(problem)) from None
        owner: dict[str, tuple[str, ...]] = {}
        for form in given:
            for group in form.groups:
                for column in group.columns:
                    if owner.setdefault(column, group.names) != group.names:
                        raise SchemeError(f"two forms release different answers in a column {column!r}")

    def __len__(self) -> int:
        return len(self.forms)

    def __iter__(self) -> Any:
        return iter(self.forms)

    def __getitem__(self, number: int) -> Scheme:
        return self.forms[number]

    @property
    def gamma(self) -> float:
        """The worst likelihood ratio of all answers of one person together: that of the worst form."""
        return max(form.gamma for form in self.forms)

    @property
    def epsilon(self) -> float:
        """ln gamma."""
        return max(form.epsilon for form in self.forms)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The released columns of all forms."""
        return tuple(dict.fromkeys(column for form in self.forms for column in form.columns))

    @cached_property
    def ends(self) -> Words:
        """Where the stretch of 63-bit words ends that stands for each form."""
        return np.cumsum(quantize(np.array(self.weights)), dtype=np.uint64)

    def chosen(self, words: Words) -> Index:
        """The form of every record, from a uniform 63-bit word each: the first f with word < w_1 + ... + w_f."""
        return np.searchsorted(self.ends, words, side="right").astype(np.int64)

    def asking(self, names: Sequence[str]) -> list[int]:
        """The forms that ask all of these attributes."""
        return [i for i, form in enumerate(self.forms) if all(name in form.schema for name in names)]

    @classmethod
    def for_gamma(cls, schema: Schema, gamma: float, ask: int = 2, target: str | None = None) -> Forms:
        """A form for every ``ask`` attributes, each with the best channel over their cells under the whole bound.

        Forms with more cells are given more often, so that the errors of all tables are alike; those with the
        ``target``, where one is named, three times as often.
        """
        check_kind(SchemeError, "schema", schema, Schema, "a Schema")
        gamma, ask = bound(gamma), whole("ask", ask, 1)
        if ask > len(schema):
            raise SchemeError(f"ask must be at most {len(schema)}, the number of attributes, got {ask} instead")
        if comb(len(schema), ask) > MOST:
            raise SchemeError(
                f"{ask} of {len(schema)} questions make {comb(len(schema), ask):,} forms, more than {MOST:,}; ask fewer"
            )
        if target is not None:
            schema[target]
        made, often = [], []
        alike: dict[tuple[Any, ...], tuple[Channel, float]] = {}  # forms of the same sizes share one channel
        for names in combinations(schema.names, ask):
            shared = ask > 1 and all(schema[name].listed for name in names)
            key = schema.sizes(names) if shared else names
            if key not in alike:
                channel = joint_channel(schema, names, gamma)
                alike[key] = channel, _often(channel)
            channel, weight = alike[key]
            made.append(Scheme(schema.select(names), {names if ask > 1 else names[0]: channel}))
            often.append(weight * (_TARGET if target in names else 1.0))
        weights = np.array(often) / sum(often)
        return cls(made, [float(w) for w in weights])

    def to_dict(self) -> dict[str, Any]:
        forms = [
            {"weight": weight, "channels": form.to_dict()["channels"]}
            for weight, form in zip(self.weights, self.forms, strict=True)
        ]
        return {"format": FORMAT, "version": VERSION, "schema": self.schema.to_dict(), "forms": forms}

    def to_json(self) -> str:
        """The public document that describes the forms completely."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False)

    @classmethod
    def from_dict(cls, document: Any) -> Forms:
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise SchemeError(f'these are no forms: the document must say "format": "{FORMAT}"')
        if document.get("version") != VERSION:
            found = document.get("version")
            raise SchemeError(f"forms of version {found!r} are unknown: this program reads version {VERSION}")
        try:
            schema = Schema.from_dict(document["schema"])
            made = [_read_form(schema, entry["channels"]) for entry in document["forms"]]
            return cls(made, [entry["weight"] for entry in document["forms"]])
        except SfumatoError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError) as problem:
            raise SchemeError(f"the forms are damaged: {cause(problem)}") from None

    @classmethod
    def from_json(cls, text: str) -> Forms:
        """The forms that ``to_json`` wrote."""
        return cls.from_dict(read_json(text, "the forms", error=SchemeError))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over the weights, in 2^-63 parts, and the fingerprints of the schemes: equal when the forms are."""
        parts = quantize(np.array(self.weights)).tolist()
        meant = [[part, form.fingerprint] for part, form in zip(parts, self.forms, strict=True)]
        return hashlib.sha256(json.dumps(meant, separators=(",", ":")).encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Forms) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        most = max(len(form.schema) for form in self.forms)
        questions = "1 question" if most == 1 else f"at most {most} questions"
        return printable(
            f"Forms({len(self)} forms of {questions} about {', '.join(self.schema.names)}; gamma of all answers of one "
            f"person together: {self.gamma:.6g})"
        )

    def _repr_html_(self) -> str:
        rows: list[list[Any]] = [
            [", ".join(form.schema.names), weight, form.gamma]
            for form, weight in zip(self.forms, self.weights, strict=True)
        ]
        rows.append(["all answers of one person together", "", self.gamma])
        return html_table(f"Forms {self.fingerprint[:16]}", ["form", "weight", "gamma"], rows)


def read_scheme(text: str) -> Scheme | Forms:
    """The scheme, or the forms, that a document describes."""
    document = read_json(text, "the scheme", error=SchemeError)
    if isinstance(document, dict) and document.get("format") == FORMAT:
        return Forms.from_dict(document)
    return Scheme.from_dict(document)


def merged(schemas: Sequence[Schema], whose: str) -> Schema:
    """The attributes of several schemas, each of which must have the same values wherever it occurs."""
    out = dict(schemas[0])
    for schema in schemas[1:]:
        for name, domain in schema.items():
            if out.setdefault(name, domain) != domain:
                raise SchemeError(f"{whose} give {name!r} different values: bring them to one schema")
    return Schema(out)


def joint_channel(schema: Schema, names: Sequence[str], gamma: float) -> Channel:
    """The best channel over the cells of some attributes, under a bound on all of them together."""
    if len(names) == 1:
        return best_channel(names, schema[names[0]], gamma)
    texts = [name for name in names if not schema[name].listed]
    if texts:
        raise SchemeError(f"{texts[0]!r} is free text, which is asked by itself: write its form by hand, or ask=1")
    sizes = schema.sizes(names)
    k = prod(sizes)
    if k == 1 or gamma == math.inf:
        return cells(identity(k), sizes)
    return cells(symmetric(k, gamma=gamma), sizes) if k == 2 else subset(sizes, gamma)


def _often(channel: Channel) -> float:
    """How often to ask for a table, so that the sum of the errors of all tables is least.

    Its error, the sum of the absolute errors of k cells, is about sqrt((k - 1) / (r n w)) with the weight w, where r is
    the share of the sample that the channel keeps. The sum over all tables is least for w in proportion to the cube
    root of (k - 1) / r. Of free text only the frequent ones make a table.
    """
    k = channel.k if channel.listed else _TEXTS
    kept = even_efficiency(of_one(channel))
    return ((k - 1) / kept) ** (1 / 3) if kept > 0 and k > 1 else 1.0


def _weights(given: Sequence[float] | None, count: int) -> tuple[float, ...]:
    if given is None:
        return (1.0 / count,) * count
    try:
        weights = tuple(float(weight) for weight in given)
    except (TypeError, ValueError):
        raise SchemeError("weights must be numbers, one for each form") from None
    if len(weights) != count:
        raise SchemeError(f"weights must be {count}, one for each form, got {len(weights)} instead")
    if not all(0 < weight <= 1 for weight in weights) or abs(math.fsum(weights) - 1) > _EXACT:
        raise SchemeError(
            f"weights must be positive and sum to 1, got a sum of {math.fsum(weights):.10g}: divide them by it"
        )
    return weights


def _in_order(form: Scheme, schema: Schema) -> Scheme:
    """The form with its attributes in the order of all forms, as a document has them: so it keeps its fingerprint."""
    names = [name for name in schema if name in form.schema]
    if list(form.schema.names) == names:
        return form
    return Scheme(schema.select(names), {group.names: group.channel for group in form.groups})


def _read_form(schema: Schema, entries: Sequence[Mapping[str, Any]]) -> Scheme:
    channels: dict[str | tuple[str, ...], Channel] = {
        tuple(entry["attributes"]): from_dict(entry["channel"]) for entry in entries
    }
    if len(channels) != len(entries):
        raise SchemeError("the forms are damaged: a group of attributes is listed twice")
    held = {name for names in channels for name in names}
    return Scheme(schema.select([name for name in schema.names if name in held]), channels)
