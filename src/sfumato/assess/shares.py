"""The shares of the true values that an adversary starts from: given, estimated from the release, or equal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.assess.shrunk_shares import SHRINK_FROM, by_each_other, toward
from sfumato.channels import Channel
from sfumato.channels.pram import check_distribution
from sfumato.channels.response import is_identity
from sfumato.errors import ChannelError, EstimationError, SfumatoError, quoted
from sfumato.evidence import Evidence, mle
from sfumato.evidence.kinds import by_method
from sfumato.evidence.questions.asked import ask
from sfumato.evidence.questions.smoothed_groups import smoothed_groups
from sfumato.evidence.simplex import project
from sfumato.printable import label_text, plain_bins

_TRACE = 1e-9
#: Where shares can come from, as reports say it.
GIVEN, ESTIMATED, EQUAL = "given", "estimated", "assumed even"


def given_shares(shares: Any, k: int, labels: Sequence[Any] = (), name: str = "shares") -> Array:
    """Shares in the order of the codes, from a list or from {value: share} over the labels.

    >>> given_shares({"no": 0.9, "yes": 0.1}, 2, ("no", "yes"))
    array([0.9, 0.1])
    """
    if isinstance(shares, Mapping):
        if not labels:
            raise SfumatoError(f"{name} by value need an attribute whose values have names: give a list of {k:,}")
        known = {plain_bins(label_text(label)): i for i, label in enumerate(labels)}
        named = {plain_bins(label_text(label)): share for label, share in shares.items()}
        for label in named:
            if label not in known:
                raise SfumatoError(f"{name} must name values of the attribute, got {label!r}: it has {_few(known)}")
        missing = [label for label in known if label not in named]
        if missing:
            raise SfumatoError(f"{name} must name every value: {_few(missing)} missing; write 0 where none is expected")
        shares = [named[label] for label in known]
    try:
        numbers = np.asarray(shares, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ChannelError(f"{name} must hold numbers{quoted(str(shares)[:60])}") from None
    return check_distribution(numbers, k, name)


def estimated_shares(evidence: Evidence, names: Sequence[str]) -> Array | None:
    """The shares behind a release, as its reader would guess them; None where they cannot be estimated.

    Of few values the most likely ones. Of many, the largest of them would be mostly noise: those in order are drawn to
    a smooth distribution, others to what they have in common.
    """
    try:
        likely = project(_likely(evidence).counts(list(names), quiet=True).population().value, 1.0)
        if evidence.smoothed or len(likely) < SHRINK_FROM or _clear(evidence, names):
            return np.asarray(likely)
        found = by_method(evidence, "moment").counts(list(names), quiet=True).population()
        unbiased = np.asarray(found.unbiased)
        smooth = _smooth(evidence, names[0]) if len(names) == 1 else None
        return by_each_other(unbiased, found.variance) if smooth is None else toward(unbiased, found.cov, smooth)
    except EstimationError:
        return None


def pair_shares(evidence: Evidence, names: tuple[str, str], margins: tuple[Array, Array]) -> Array | None:
    """The table of two attributes, by what its cells have in common, with given shares of each attribute."""
    try:
        found = by_method(evidence, "moment").counts(list(names), quiet=True).population()
    except EstimationError:
        return None
    table = by_each_other(np.asarray(found.unbiased), found.variance).reshape(found.shape)
    return _with_margins(table + _TRACE * np.outer(*margins), margins)  # a row without anything takes its margin too


def shares_of_codes(channel: Channel, codes: NDArray[Any]) -> Array | None:
    """The shares behind released codes of one channel, of values in no order; None where there is no estimate."""
    observed = np.bincount(codes.reshape(-1), minlength=channel.m).astype(np.float64)
    try:
        if not channel.invertible:
            return None
    except ChannelError:
        return None
    if channel.k < SHRINK_FROM or is_identity(channel):
        return mle.fit(channel.transition, observed, quiet=True).theta
    n, A = observed.sum(), channel.inverse
    unbiased = A.apply(observed) / n
    return by_each_other(unbiased, (A.squared().apply(observed) / n - unbiased**2) / n)


def _clear(evidence: Evidence, names: Sequence[str]) -> bool:
    """Whether these attributes were released as they are."""
    parts = [part.scheme for part in evidence.release.parts if set(names) <= set(part.scheme.schema)]
    return all(is_identity(scheme.group(name).channel) for scheme in parts for name in names)


def _smooth(evidence: Evidence, name: str) -> Array | None:
    """The smoothed shares of an attribute whose values are in order, "no answer" last; None where there are none."""
    domain = evidence.schema[name]
    (found,) = smoothed_groups(ask(evidence, (name,), None, None), name) or (None,)
    if found is None:
        return None
    return np.append(found.shares * (1 - found.missing), found.missing) if domain.nullable else found.shares


def _with_margins(table: Array, margins: tuple[Array, Array]) -> Array:
    """Rows and columns scaled in turn until they sum to the margins."""
    for _ in range(100):
        for axis, own in enumerate(margins):
            sums = table.sum(axis=1 - axis)
            factor = np.divide(own, sums, out=np.zeros_like(own), where=sums > 0)
            table = table * (factor[:, None] if axis == 0 else factor)
    return table


def _likely(evidence: Evidence) -> Evidence:
    """Maximum likelihood in place of unbiased counts, which may be negative; a joint model stays what it is."""
    return evidence if evidence.smoothed else by_method(evidence, "mle")


def _few(labels: Any) -> str:
    shown = [repr(label) for label in labels]
    return ", ".join(shown[:6]) + (f" and {len(shown) - 6} more" if len(shown) > 6 else "")
