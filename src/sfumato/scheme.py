"""The scheme: which channel treats which attribute or group of attributes. Public, as JSON with a fingerprint."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sfumato.channels import Channel, from_dict, identity
from sfumato.channels.average import Average
from sfumato.channels.best import best_channel
from sfumato.channels.prefixes import Prefixes
from sfumato.channels.ratios import product
from sfumato.channels.size_limits import check_cells
from sfumato.channels.subset import Subset
from sfumato.channels.windows import Windows
from sfumato.errors import ChannelError, DisclosureWarning, SchemeError, SfumatoError, cause, warn
from sfumato.input_checks import check_kind, check_names
from sfumato.pages.display import html_table
from sfumato.printable import nor_others, printable
from sfumato.reading.json_documents import read_json
from sfumato.schema import Schema

VERSION = 2


@dataclass(frozen=True)
class Group:
    """Attributes that one channel treats together; most groups hold a single attribute."""

    names: tuple[str, ...]
    channel: Channel

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The released columns."""
        return tuple(self.channel.columns(self.names))


class Scheme:
    """A schema and a channel for each attribute or group. Nothing passes in the clear unsaid: an attribute without a
    channel is refused; one that shall pass unchanged is given ``identity``, or named in ``clear``.

    >>> from sfumato import channels as c
    >>> from sfumato.schema import Categorical, Schema
    >>> schema = Schema({name: Categorical(("no", "yes")) for name in "abc"})
    >>> scheme = Scheme(schema, {"a": c.binary(.25, .25), ("b", "c"): c.symmetric((2, 2), .3)})
    >>> [group.names for group in scheme.groups], round(scheme.gamma, 6)
    ([('a',), ('b', 'c')], 21.0)
    """

    def __init__(
        self,
        schema: Schema,
        channels: Mapping[str | tuple[str, ...], Channel] | None = None,
        clear: Sequence[str] = (),
    ) -> None:
        check_kind(SchemeError, "schema", schema, Schema, "a Schema")
        self.schema, shared = schema, dict[Channel, Channel]()
        treated: dict[str, Group] = {}
        if channels is not None and not isinstance(channels, Mapping):
            raise SchemeError(f'channels are given as {{"sex": channel}}, got {type(channels).__name__} instead')
        if isinstance(clear, str):
            raise SchemeError(f"clear takes a list of attributes: clear=[{clear!r}]")
        clear = check_names(SchemeError, "clear", clear)
        passing: dict[str | tuple[str, ...], Channel] = {name: _in_the_clear(schema, name) for name in clear}
        for key, channel in [*(channels or {}).items(), *passing.items()]:
            names = (key,) if isinstance(key, str) else tuple(key)
            if isinstance(channel, Average | Prefixes | Subset | Windows):
                channel = shared.setdefault(channel, channel)  # attributes treated alike share one matrix
            group = _group(schema, names, channel)
            for name in group.names:
                if name in treated:
                    raise SchemeError(f"attribute {name!r} is treated by two channels; one must go")
                treated[name] = group
        if bare := [name for name in schema.names if name not in treated]:
            size = schema[bare[0]].size if schema[bare[0]].listed else None
            way = "prefixes(domain, gamma)" if size is None else f"or say that it passes in the clear: identity({size})"
            raise SchemeError(f"{bare[0]!r} has no channel{nor_others(len(bare) - 1)}: give it one, {way}")
        self._group_of = treated
        in_order = {id(treated[name]): treated[name] for name in schema.names}.values()
        self.groups: tuple[Group, ...] = tuple(sorted(in_order, key=lambda group: group.channel.continuous))
        try:
            check_cells(sum({id(g.channel): g.channel.matrix_cells for g in self.groups}.values()))
        except ChannelError as problem:
            raise SchemeError(str(problem)) from None
        if (twice := first_repeated(self.columns)) is not None:
            raise SchemeError(f"two released columns would both be called {twice!r}: rename an attribute")

    def group(self, name: str) -> Group:
        """The group that holds an attribute whose codes can be counted."""
        found = self._holding(name)
        if found.channel.continuous:
            raise SchemeError(
                f"{name!r} is released as a number with additive noise: estimate its density, or cut the numbers into "
                "intervals (release.in_intervals())"
            )
        if not found.channel.listed:
            raise SchemeError(f"{name!r} is free text, whose values nobody can list: ask for its top values instead")
        return found

    def _holding(self, name: str) -> Group:
        if name not in self._group_of:
            raise SchemeError(f"there is no attribute {name!r}; the scheme has {', '.join(self.schema.names)}")
        return self._group_of[name]

    def __getitem__(self, name: str | tuple[str, ...]) -> Channel:
        """The channel of an attribute or of a group."""
        names = (name,) if isinstance(name, str) else tuple(name)
        group = self._holding(names[0])
        if group.names == names:
            return group.channel
        if not set(names) <= set(group.names):
            raise SchemeError(f"{', '.join(names)} are not treated together: ask for one group at a time")
        return group.channel.marginal([group.names.index(other) for other in names])

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The released columns, in order."""
        return tuple(column for group in self.groups for column in group.columns)

    @cached_property
    def noises(self) -> dict[str, Channel]:
        """The attributes that are released as numbers, each with the noise that is added to it."""
        return {group.names[0]: group.channel for group in self.groups if group.channel.continuous}

    @cached_property
    def output_sizes(self) -> dict[str, int]:
        """How many released values each column of codes has."""
        return {
            column: size
            for group in self.groups
            if not group.channel.continuous
            for column, size in zip(group.columns, group.channel.outputs, strict=True)
        }

    @cached_property
    def gamma(self) -> float:
        """The worst likelihood ratio of a whole record: the product over the groups, inf beyond the largest double."""
        return product(group.channel.gamma for group in self.groups)

    @cached_property
    def epsilon(self) -> float:
        """ln gamma of a whole record: the sum over the groups, right also where gamma is too large for a double."""
        return math.fsum(group.channel.epsilon for group in self.groups)

    def join(self, other: Scheme) -> Scheme:
        """The scheme of records whose columns come from two parties."""
        twice = [name for name in self.schema.names if name in other.schema]
        if twice:
            raise SchemeError(f"both schemes treat attribute {twice[0]!r}; rename or drop one of them")
        schema = Schema({**self.schema, **other.schema})
        return Scheme(schema, {**self._channels(), **other._channels()})

    def select(self, names: Sequence[str]) -> Scheme:
        """The scheme of some attributes, groups taken whole. It is the same in whatever order they are named."""
        wanted: dict[str | tuple[str, ...], Channel] = {
            group.names: group.channel for group in map(self._group_of.get, names) if group is not None
        }
        kept = {name for key in wanted for name in key}
        in_order = kept if len(kept) == 1 else [name for name in self.schema if name in kept]
        return Scheme(self.schema.select(tuple(in_order)), wanted)

    def in_order(self, names: Sequence[str]) -> Scheme:
        """The same with these attributes first, in this order; those of a group stay together."""
        groups = dict.fromkeys(map(self._holding, [*names, *self.schema.names]))
        in_order = [name for group in groups for name in group.names]
        return Scheme(self.schema.select(in_order), self._channels())

    def _channels(self) -> dict[str | tuple[str, ...], Channel]:
        return {group.names: group.channel for group in self.groups}

    @classmethod
    def identity(cls, schema: Schema) -> Scheme:
        """Every attribute in the clear: the scheme of raw rows, for exact baselines and a party's own columns."""
        return cls(schema, clear=schema.names)

    @classmethod
    def for_gamma(cls, schema: Schema, gamma: float) -> Scheme:
        """The best channel of each kind under a bound on every attribute's gamma.

        Of the symmetric channel, subset selection and (for ordered attributes) windows, the one that keeps the largest
        share of the sample: of shares where the values have no order, of running shares where they have one, of the
        mean where they are so many that their distribution is smoothed. Where an attribute has too many values for the
        better families, a warning says what is left and what would serve. An attribute with points gets the channel
        for means.
        """
        check_kind(SchemeError, "schema", schema, Schema, "a Schema, such as sf.Schema.from_json(text)")
        alike: dict[tuple[Any, ...], list[str]] = {}
        for name, d in schema.items():
            key = (d.size, d.ordered, d.nullable, d.rounds) if d.listed else (name,)  # texts differ in more than number
            alike.setdefault(key, []).append(name)
        channels: dict[str | tuple[str, ...], Channel] = {}
        for names in alike.values():
            channels |= dict.fromkeys(names, best_channel(names, schema[names[0]], gamma))
        return cls(schema, channels)

    def to_dict(self) -> dict[str, Any]:
        return {
            "format": "sfumato scheme",
            "version": VERSION,
            "schema": self.schema.to_dict(),
            "channels": [{"attributes": list(k), "channel": c.to_dict()} for k, c in self._channels().items()],
        }

    def to_json(self) -> str:
        """The public document that describes the scheme completely."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False)

    @classmethod
    def from_dict(cls, document: Any) -> Scheme:
        if not isinstance(document, dict) or document.get("format") != "sfumato scheme":
            raise SchemeError('this is not a scheme: the document must say "format": "sfumato scheme"')
        if document.get("version") == 1:
            raise SchemeError(
                "the scheme is of version 1, under which keyed answers gave both values away when a value changed; "
                "write it again with this version, and count what is released under it as fresh answers"
            )
        if document.get("version") != VERSION:
            raise SchemeError(
                f"scheme version {document.get('version')!r} is unknown: this program reads version {VERSION}"
            )
        try:
            schema = Schema.from_dict(document["schema"])
            entries = [(tuple(entry["attributes"]), from_dict(entry["channel"])) for entry in document["channels"]]
            if len(dict(entries)) != len(entries):
                raise SchemeError("the scheme is damaged: a group of attributes is listed twice")
            return cls(schema, dict(entries))
        except SfumatoError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError) as problem:
            raise SchemeError(f"the scheme is damaged: {cause(problem)}") from None

    @classmethod
    def from_json(cls, text: str) -> Scheme:
        """The scheme that ``to_json`` wrote."""
        return cls.from_dict(read_json(text, "the scheme", error=SchemeError))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the scheme's canonical JSON: equal exactly when the schemes are."""
        meant = {**self.to_dict(), "schema": self.schema.meaning()}
        text = json.dumps(meant, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scheme) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        inside = ", ".join(f"{' + '.join(names)}: {channel}" for names, channel in self._channels().items())
        return printable(f"Scheme({inside})")

    def _repr_html_(self) -> str:
        rows: list[list[Any]] = []
        for names, channel in self._channels().items():
            values = channel.k if channel.listed and not channel.continuous else ""
            rows.append([" + ".join(names), values, str(channel), channel.gamma])
        rows.append(["all answers together", "", "", self.gamma])
        return html_table(f"Scheme {self.fingerprint[:16]}", ["attribute", "values", "channel", "gamma"], rows)


def first_repeated(names: Sequence[str]) -> str | None:
    """The first name that occurs twice."""
    return next((name for name, times in Counter(names).items() if times > 1), None)


def _in_the_clear(schema: Schema, name: str) -> Channel:
    if not schema[name].listed:
        raise SchemeError(f"{name!r} is free text, which cannot pass in the clear: leave it out, or list its values")
    return identity(schema[name].size)


def _group(schema: Schema, names: tuple[str, ...], channel: Channel) -> Group:
    if not isinstance(channel, Channel):
        raise SchemeError(f"{' + '.join(names)} must be given a channel, got {type(channel).__name__} instead")
    if len(set(names)) != len(names):
        raise SchemeError(f"a group must name each attribute once, got {names}")
    domains = [schema[name] for name in names]
    if channel.listed and not all(domain.listed for domain in domains):
        raise SchemeError(f"{' + '.join(names)}: free text is treated by itself, by prefixes(domain, gamma)")
    try:
        bound = channel.bind(domains)
    except SfumatoError as problem:
        raise SchemeError(f"{' + '.join(names)}: {problem}") from None
    if bound.continuous:
        warn(
            f"{names[0]!r} is released with additive noise, whose gamma is infinite: continuous noise bounds no "
            f"adversary; a numeric attribute under windows(k, gamma) is private",
            DisclosureWarning,
            stacklevel=3,
        )
    return Group(names, bound)
