"""What is being assessed: a channel, an attribute of a scheme, a whole scheme or a plain matrix, with a prior."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Array
from sfumato.channels import Channel, matrix, product
from sfumato.channels.pram import check_distribution
from sfumato.errors import ChannelError, SchemeError, quoted
from sfumato.forms import Forms
from sfumato.scheme import Scheme

Attribute = str | tuple[str, ...] | None
_NAMED = 4  # groups that a message names


@dataclass(frozen=True, eq=False)
class Subject:
    """A transition matrix with a prior on the true values, and what an adversary who knows both concludes."""

    P: Array
    prior: Array

    @cached_property
    def joint(self) -> Array:
        """Pr(x, y)."""
        return np.asarray(self.prior[:, None] * self.P)

    @cached_property
    def released(self) -> Array:
        """Pr(y)."""
        return np.asarray(self.prior @ self.P)

    @cached_property
    def seen(self) -> Any:
        """Which released values can occur at all under this prior; the others count nowhere."""
        return self.released > 0

    @cached_property
    def posterior(self) -> Array:
        """Pr(x | y), a column per released value; a column of zeros where y never occurs."""
        return np.divide(self.joint, self.released, out=np.zeros_like(self.joint), where=self.seen)


def subject(of: Any, prior: ArrayLike | None = None, attribute: Attribute = None) -> Subject:
    """The matrix and the prior; without a prior every possible true value is equally likely. A subject is itself.

    >>> subject([[0.9, 0.1], [0.25, 0.75]]).prior
    array([0.5, 0.5])
    """
    if isinstance(of, Subject):
        return of
    P = channel_of(of, attribute).matrix
    possible = P.sum(axis=1) > 0.5  # combinations that a channel over valid ones rules out have empty rows
    if prior is None:
        return Subject(P, possible / possible.sum())
    try:
        numbers = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError):
        raise ChannelError(f"prior must hold numbers{quoted(str(prior)[:60])}") from None
    given = check_distribution(numbers, len(P))
    if given[~possible].any():
        cell = int(np.flatnonzero(given * ~possible)[0])
        raise ChannelError(f"prior[{cell}] must be 0, got {given[cell]:.6g}: the channel rules this combination out")
    return Subject(P, given)


def one_form(schemes: Iterable[Scheme], attribute: Attribute) -> Scheme:
    """Of several schemes the one that treats these attributes together, and no others."""
    several = list(dict.fromkeys(schemes))
    if len(several) == 1:
        return several[0]
    names = (attribute,) if isinstance(attribute, str) else tuple(attribute or ())
    found = [scheme for scheme in several if any(group.names == names for group in scheme.groups)]
    if len(found) == 1:
        return found[0]
    groups = dict.fromkeys(group.names for scheme in several for group in scheme.groups)
    said = ["+".join(group) for group in groups if set(names) <= set(group)] or ["+".join(group) for group in groups]
    if found:
        raise SchemeError(f"{'+'.join(names)} went through different channels: take the parts one at a time")
    raise SchemeError(
        f"records answered different forms: name what one of them asks, as {', '.join(said[:_NAMED])}"
        + (f" or {len(said) - _NAMED} more" if len(said) > _NAMED else "")
    )


def channel_of(of: Any, attribute: Attribute = None) -> Channel:
    """The channel meant by a channel, a scheme (one attribute, or all its groups side by side), forms or a matrix."""
    if isinstance(of, Forms):
        of = one_form(of.forms, attribute)
    if isinstance(of, Scheme):
        if attribute is not None:
            return of[attribute]
        if of.noises:
            raise ChannelError(f"{next(iter(of.noises))!r} has additive noise and no finite channel: name an attribute")
        channels = [group.channel for group in of.groups]
        return channels[0] if len(channels) == 1 else product(channels)
    if attribute is not None:
        raise SchemeError(f"attribute {attribute!r} can be named only with a scheme, got {type(of).__name__} instead")
    if isinstance(of, Channel):
        return of
    if is_noise(of):
        raise ChannelError(
            f"{type(of).__name__} noise has no finite matrix: cut it into intervals with discretize(x_edges, y_edges)"
        )
    return matrix(of)


def noise_of(of: Any, attribute: Attribute = None) -> Any:
    """The additive noise meant by a noise, or by an attribute of a scheme that has one; otherwise None."""
    if isinstance(of, Scheme):
        return of.noises.get(attribute) if isinstance(attribute, str) else None
    return of if is_noise(of) else None


def is_noise(of: Any) -> bool:
    """Whether this is additive noise with a density, rather than a channel between finitely many values."""
    if isinstance(of, Channel):
        return of.continuous
    return callable(getattr(of, "pdf", None)) and callable(getattr(of, "cdf", None))
