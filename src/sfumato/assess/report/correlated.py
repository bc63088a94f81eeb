"""What answers to several attributes tell together, where the attributes go together in the population."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.assess.shares import estimated_shares, given_shares, pair_shares
from sfumato.channels import Channel
from sfumato.channels.pram import check_distribution
from sfumato.errors import ChannelError, EstimationError, SchemeError, SfumatoError
from sfumato.evidence import Evidence
from sfumato.evidence.independence import association
from sfumato.forms import Forms
from sfumato.scheme import Scheme

_ENTRIES = 1 << 22  # of a joint table of two values and two answers
_CELLS = 400  # of a table of two attributes that is estimated
_ATTRIBUTES = 10  # the most of which all pairs are looked at
_CERTAIN = 0.001  # p-value from which on two attributes are taken to go together


@dataclass(frozen=True)
class Correlated:
    """How often the best guess of an attribute is right: blind, from its own answer, and with another's answer too."""

    attribute: str
    beside: str
    blind: float
    own: float
    both: float
    pair: float  # how often both values are guessed right together, from both answers
    pair_blind: float


def correlated(scheme: Scheme | Forms, evidence: Evidence | None, priors: Mapping[str, Any]) -> tuple[Correlated, ...]:
    """For each attribute the other one whose answer helps most to guess it, by shares of pairs: given, or estimated."""
    found: dict[str, Correlated] = {}
    for names, shares in _pairs(scheme, evidence, priors):
        channels = _channels(scheme, names)
        if channels is None:
            continue
        for one, other, table, own in ((0, 1, shares, channels), (1, 0, shares.T, channels[::-1])):
            told = _guesses(names[one], names[other], table, own)
            if told.both > told.own + 0.005 and (names[one] not in found or told.both > found[names[one]].both):
                found[names[one]] = told
    return tuple(found[name] for name in scheme.schema.names if name in found)


def pair_names(key: str, names: tuple[str, ...]) -> tuple[str, str] | None:
    """The two attributes that a key like "sex+age" names, if it names two."""
    for place, letter in enumerate(key):
        if letter == "+" and key[:place] in names and key[place + 1 :] in names and key[:place] != key[place + 1 :]:
            return key[:place], key[place + 1 :]
    return None


class _Margins:
    """The shares of single attributes, each estimated once: those that the rest of the report supposes."""

    def __init__(self, scheme: Scheme | Forms, evidence: Evidence, priors: Mapping[str, Any]) -> None:
        self._schema, self._evidence, self._priors = scheme.schema, evidence, priors
        self._known: dict[str, Array | None] = {}

    def of(self, name: str) -> Array | None:
        if name not in self._known:
            domain = self._schema[name]
            self._known[name] = (
                given_shares(self._priors[name], domain.size, domain.labels, "prior")
                if name in self._priors
                else estimated_shares(self._evidence, (name,))
            )
        return self._known[name]


def _pairs(scheme: Scheme | Forms, evidence: Evidence | None, priors: Mapping[str, Any]) -> Any:
    names = scheme.schema.names
    sizes = dict(zip(names, scheme.schema.sizes(names), strict=True))
    for key, given in priors.items():
        pair = pair_names(key, names)
        if pair is not None and _channels(scheme, pair) is not None:
            shape = sizes[pair[0]], sizes[pair[1]]
            try:
                table = np.asarray(given, dtype=np.float64)
            except (TypeError, ValueError, OverflowError):
                table = np.zeros(0)
            if table.shape not in (shape, (shape[0] * shape[1],)):
                raise SfumatoError(
                    f"prior of {key!r} must be a table of numbers, {shape[0]} rows for the values of {pair[0]!r} by "
                    f"{shape[1]} for those of {pair[1]!r}"
                )
            yield pair, check_distribution(table.reshape(-1), table.size, f"prior of {key!r}").reshape(shape)
    if evidence is None:
        return
    margins = _Margins(scheme, evidence, priors)
    small = [name for name in evidence.names if sizes[name] > 1][:_ATTRIBUTES]
    for pair in combinations(small, 2):
        if sizes[pair[0]] * sizes[pair[1]] > _CELLS or _channels(scheme, pair) is None or "+".join(pair) in priors:
            continue
        try:
            if association(evidence, *pair).p_value > _CERTAIN:
                continue
            first, second = margins.of(pair[0]), margins.of(pair[1])
            shares = None if first is None or second is None else pair_shares(evidence, pair, (first, second))
        except (EstimationError, SchemeError, ChannelError):
            continue
        if shares is not None:
            yield pair, shares


def _channels(scheme: Scheme | Forms, names: tuple[str, str]) -> tuple[Channel, Channel] | None:
    """The channels of two attributes that one record answers side by side; None where there are no such two."""
    form = (
        scheme if isinstance(scheme, Scheme) else next((f for f in scheme.forms if set(names) <= set(f.schema)), None)
    )
    if form is None or any(name in form.noises for name in names) or form.group(names[0]) == form.group(names[1]):
        return None
    try:
        first, second = form[names[0]], form[names[1]]
    except (ChannelError, SchemeError):
        return None
    return (first, second) if first.k * first.m * second.k * second.m <= _ENTRIES else None


def _guesses(one: str, other: str, shares: Array, channels: tuple[Channel, ...]) -> Correlated:
    r"""Right guesses are Σ_y max_x Pr(x, y), with y the answers that are seen and x the value that is guessed."""
    P, Q = channels[0].matrix, channels[1].matrix
    own, beside = shares.sum(axis=1), shares @ Q  # Pr(x), and Pr(x, the other's answer)
    both = float(sum((P * column[:, None]).max(axis=0).sum() for column in beside.T))
    pair = float(
        sum((shares[:, :, None] * P[:, None, y, None] * Q[None]).max(axis=(0, 1)).sum() for y in range(P.shape[1]))
    )
    return Correlated(
        one, other, float(own.max()), float((own[:, None] * P).max(axis=0).sum()), both, pair, float(shares.max())
    )
