"""What one person gives away: all answers together, alone, among others, and over the rounds of a study."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.assess.attacks.track import track
from sfumato.assess.shuffling import shuffled
from sfumato.channels import Channel
from sfumato.channels.longitudinal import Longitudinal, lifetime_epsilon
from sfumato.channels.response import is_identity
from sfumato.errors import SfumatoError
from sfumato.forms import Forms
from sfumato.release import Release
from sfumato.scheme import Scheme

_COUNTED = 100_000  # records of a release whose answers are compared; beyond, what is expected
DELTA = 1e-6  # the chance that the promise of a crowd leaves out


@dataclass(frozen=True)
class Person:
    """The factors, as natural logarithms, that all randomized answers of one person come to."""

    alone: float
    among: float | None  # mixed among n others, but for a chance of DELTA; None where n is not known
    rounds: int
    fresh: float  # drawn anew in every round
    stays: float  # under a key, while the values stay
    changes: float  # under a key, if they change in every round
    longitudinal: bool  # whether some attribute's channel is made for rounds
    tracked: float | None  # the share of people who are found again in a keyed repeat; None where n is not known

    def plain(self) -> dict[str, Any]:
        """For a JSON document."""
        year = {"rounds": self.rounds, "fresh": self.fresh, "keyed": self.stays, "keyed_changing": self.changes}
        return {"epsilon_among_others": self.among, "delta": DELTA, "over_rounds": year, "found_again": self.tracked}


def person(scheme: Scheme | Forms, n: int | None, rounds: int, release: Release | None = None) -> Person:
    """What the randomized answers of one person give away under a scheme, or under one of several forms."""
    forms = scheme.forms if isinstance(scheme, Forms) else (scheme,)
    channels = [[group.channel for group in form.groups if _guarded(group.channel)] for form in forms]
    alone = _worst([[channel.epsilon for channel in form] for form in channels])
    among = None
    if n is not None:
        among = alone if alone in (0.0, math.inf) or _in_the_clear(forms) else shuffled(alone, n, DELTA).high
    return Person(
        alone,
        among,
        rounds,
        alone * rounds if alone else 0.0,
        _worst([[_staying(channel, rounds) for channel in form] for form in channels]),
        _worst([[lifetime_epsilon(channel, rounds) for channel in form] for form in channels]),
        any(isinstance(channel, Longitudinal) for form in channels for channel in form),
        _tracked(scheme, n, release),
    )


def _in_the_clear(forms: Sequence[Scheme]) -> bool:
    """Whether something passes unchanged, by which a person may stand alone in any crowd."""
    return any(not _guarded(group.channel) and group.channel.k > 1 for form in forms for group in form.groups)


def _guarded(channel: Channel) -> bool:
    """Whether there is something to tell, and it is not told in the clear."""
    return channel.continuous or (channel.k > 1 and not is_identity(channel))


def _tracked(scheme: Scheme | Forms, n: int | None, release: Release | None) -> float | None:
    if release is not None and len(release) <= _COUNTED:
        return float(track(release).details["found_again"])
    if not isinstance(scheme, Scheme) or n is None:
        return None
    try:
        return float(track(scheme, n=n).details["found_again"])
    except SfumatoError:  # item sets with more answers than can be listed
        return None


def _staying(channel: Channel, rounds: int) -> float:
    """ln of what rounds tell under a key while the value stays: one answer, however often it is given."""
    if isinstance(channel, Longitudinal) and rounds > 1:
        return channel.permanent.epsilon
    return float(channel.epsilon)


def _worst(forms: Sequence[Sequence[float]]) -> float:
    return max((math.fsum(form) for form in forms), default=0.0)


def check_rounds(rounds: int) -> int:
    """A number of rounds: whole and positive."""
    if isinstance(rounds, bool) or not isinstance(rounds, int) or rounds < 1:
        raise SfumatoError(f"rounds must be a whole number of at least 1, got {rounds!r} instead")
    return rounds
