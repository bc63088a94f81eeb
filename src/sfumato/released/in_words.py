"""What a released code means, in words: a value, a set of values, or a stretch of neighbouring ones."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product as combinations
from typing import Any

import numpy as np

from sfumato.channels import Channel
from sfumato.channels.prefixes import Prefixes
from sfumato.channels.windows import Windows
from sfumato.domains import Domain
from sfumato.printable import NO_ANSWER, label_text, stretch
from sfumato.scheme import Scheme

#: A table of chances with more entries is not looked through to find words.
MOST_ENTRIES = 1 << 22
#: The values of a set that are named, unless more are asked for.
_MOST_VALUES = 6


def in_words(scheme: Scheme, column: str, codes: Sequence[Any], most: int = _MOST_VALUES) -> list[str]:
    """The words for the released codes of one column; what has no words (an id, a noisy number) stays as it is.

    Of a set of values the first ``most`` are named.
    """
    for names, channel in (part for group in scheme.groups for part in group.channel.factors(group.names)):
        columns = channel.columns(names)
        if column not in columns:
            continue
        if channel.continuous:
            break
        domains = [scheme.schema[name] for name in names]
        if channel.releases_values and len(columns) == len(names):
            labels = domains[columns.index(column)].labels
            return [label_text(labels[int(code)]) for code in codes]
        if isinstance(channel, Prefixes):
            level, said = channel.split(np.asarray(codes))
            return [f"first {channel.lengths[a]} letters: set {b}" for a, b in zip(level, said, strict=True)]
        if isinstance(channel, Windows):
            return _stretches(channel, domains[0], codes)
        if len(columns) > 1 or channel.k * channel.m > MOST_ENTRIES:
            break
        words = {code: _meant(channel, domains, int(code), most) for code in set(codes)}
        return [words[code] for code in codes]
    return ["" if code is None else f"{code:.12g}" if isinstance(code, float) else str(code) for code in codes]


def _stretches(channel: Windows, domain: Domain, codes: Sequence[Any]) -> list[str]:
    """The first and the last value of each window."""
    names = [label_text(label) for label in domain.labels]
    starts, out = channel.starts, []
    for code in map(int, codes):
        if code == len(starts):
            out.append(NO_ANSWER)
            continue
        start, width = starts[code].tolist()
        first, last = max(start, 0), min(start + width, channel.values) - 1
        whole = last - first + 1 == channel.values
        out.append("any" if whole else names[first] if first == last else stretch(names[first], names[last]))
    return out


def _meant(channel: Channel, domains: Sequence[Domain], code: int, most: int) -> str:
    """The values that one answer names: those under which it is likelier than under the others."""
    chances = channel.matrix[:, code]
    low, high = float(chances.min()), float(chances.max())
    members = np.flatnonzero(chances > (low + high) / 2) if high > low else np.arange(channel.k)
    names = ["/".join(map(label_text, row)) for row in combinations(*(domain.labels for domain in domains))]
    if len(members) == channel.k:
        return "any"
    inside = [int(x) for x in members if names[x] != NO_ANSWER]
    in_order = len(domains) == 1 and domains[0].ordered and len(inside) > 1
    if in_order and inside[-1] - inside[0] == len(inside) - 1:
        words = [stretch(names[inside[0]], names[inside[-1]])]
    else:
        words = [names[x] for x in inside]
    if len(inside) < len(members):
        words.append(NO_ANSWER)
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return " | ".join(words[:most]) + more
