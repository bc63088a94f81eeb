"""The best channel for one attribute under a bound on gamma, and a warning where its values are too many for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from sfumato.channels.arguments import real
from sfumato.channels.average import average
from sfumato.channels.base import Channel
from sfumato.channels.efficiency import even_efficiency
from sfumato.channels.prefixes import prefixes
from sfumato.channels.response import identity
from sfumato.channels.subset import subset
from sfumato.channels.valid import symmetric
from sfumato.channels.window_widths import MANY
from sfumato.channels.windows import MOST_VALUES, windows
from sfumato.errors import ChannelError, SingularChannelWarning, warn
from sfumato.schema import Domain, Text


def best_channel(names: Sequence[str], domain: Domain, gamma: float) -> Channel:
    """The channel that keeps most of the sample: for the running shares of ordered values, for the shares of others.

    The distribution of 32 and more ordered values is smoothed, which a channel serves as well as it serves their mean:
    the one that keeps most for the mean is taken. An attribute with points is there for its mean, and gets the channel
    for means, free text the one that finds its top values. A nullable attribute gets the family that it would get if
    everybody answered.
    """
    gamma = math.inf if gamma == math.inf else real("gamma", gamma)
    if isinstance(domain, Text):
        return prefixes(domain, gamma)
    if domain.size == 1 or gamma == math.inf:
        return identity(domain.size)
    values, nullable = domain.size - domain.nullable, domain.nullable
    best: Channel = symmetric(domain.size, gamma=gamma)
    if values <= 2:
        return best
    if domain.rounds:
        return average(values, gamma, nullable)
    makers: dict[str, Callable[[bool], Channel]] = {"subset": lambda null: subset(values + null, gamma)}
    if domain.ordered:
        makers["windows"] = lambda null: windows(values, gamma, nullable=null)
    target = "shares" if not domain.ordered else "cdf" if values < MANY else "mean"
    most = even_efficiency(symmetric(values, gamma=gamma))
    refused: list[str] = []
    for family, make in makers.items():
        try:
            plain = make(False)
            channel = make(True) if nullable else plain
        except ChannelError:  # too many values for its matrix
            refused.append(family)
            continue
        kept = even_efficiency(plain, target)
        if kept > most * (1 + 1e-9):  # of two that are equally good, the simpler one
            best, most = channel, kept
    if refused:
        _warn_of_many_values(names, domain, refused[-1], str(best).partition("(")[0], most)
    return best


def _warn_of_many_values(names: Sequence[str], domain: Domain, refused: str, left: str, worth: float) -> None:
    """A better family does not fit: say what is left of the sample, and what would serve."""
    remedy = f"give it at most {MOST_VALUES:,} bins" if domain.ordered else "group its values into at most 16 million"
    more = "" if len(names) == 1 else f" (and {len(names) - 1} alike)"
    able = "few shares can be estimated" if worth > 1e-4 else "no shares can be estimated"
    warn(
        f"{names[0]!r}{more} has {domain.size:,} values, too many for {refused}: under {left} a record is worth "
        f"{worth:.1g} of an unrandomized one, so that {able}; {remedy}",
        SingularChannelWarning,
        stacklevel=4,
    )
