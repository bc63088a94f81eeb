"""The shares of the true values that an adversary starts from: given, estimated from the release, or equal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.channels import Channel
from sfumato.channels.pram import check_distribution
from sfumato.errors import ChannelError, EstimationError, SfumatoError, quoted
from sfumato.evidence import Evidence, mle
from sfumato.evidence.kinds import by_method
from sfumato.evidence.simplex import project
from sfumato.printable import label_text, plain_bins

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
    """The most likely shares behind a release; None where they cannot be estimated."""
    try:
        found = _likely(evidence).counts(list(names), quiet=True).population().value
    except EstimationError:
        return None
    return np.asarray(project(found, 1.0))


def shares_of_codes(channel: Channel, codes: NDArray[Any]) -> Array | None:
    """The most likely shares behind released codes of one channel; None where they cannot be estimated."""
    observed = np.bincount(codes.reshape(-1), minlength=channel.m).astype(np.float64)
    try:
        if not channel.invertible:
            return None
    except ChannelError:
        return None
    return mle.fit(channel.transition, observed, quiet=True).theta


def _likely(evidence: Evidence) -> Evidence:
    """Maximum likelihood in place of unbiased counts, which may be negative; a joint model stays what it is."""
    return evidence if evidence.smoothed else by_method(evidence, "mle")


def _few(labels: Any) -> str:
    shown = [repr(label) for label in labels]
    return ", ".join(shown[:6]) + (f" and {len(shown) - 6} more" if len(shown) > 6 else "")
