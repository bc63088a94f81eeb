"""Every measure of one attribute or group: what it discloses, and what accuracy is left."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from sfumato.arrays import Array
from sfumato.assess.anonymity import k_anonymity
from sfumato.assess.attacks.posterior import repeated
from sfumato.assess.breach import rho2
from sfumato.assess.changes import changes
from sfumato.assess.effective import effective_sample_bound, effective_sample_size
from sfumato.assess.entropy import conditional_entropy, entropy, mutual_information, privacy_loss
from sfumato.assess.guess import map_success, roc
from sfumato.assess.precision import MANY, half_width, hardest_half_width, mean_half_width, worst_half_width
from sfumato.assess.report.unit import Unit
from sfumato.assess.shares import EQUAL
from sfumato.assess.subject import subject
from sfumato.channels import Channel, identity
from sfumato.channels.average import Average
from sfumato.channels.efficiency import even_efficiency, even_prior
from sfumato.channels.pram import Blocks
from sfumato.channels.scores import mean_variance
from sfumato.errors import EstimationError

BELIEFS = (0.01, 0.1, 0.5)
REPEATS = (2, 10)
_MOST_ENTRIES = 1 << 22  # of a matrix whose changes are looked at


def measured(unit: Unit, n: int | None) -> Unit:
    """The unit with every measure of its channel."""
    channel, prior = unit.channel, unit.prior
    m: dict[str, Any] = {"values": channel.k, "answers": channel.m, "gamma": channel.gamma, "epsilon": channel.epsilon}
    if isinstance(channel, Blocks):
        m["gamma_within"] = channel.gamma_within
        m["blocks"] = len(channel.channels)
    if channel.k > 1 and not unit.identity and (channel.memoizes or channel.k * channel.m <= _MOST_ENTRIES):
        shown = changes(channel)
        m["changes"] = {"least": shown.least, "most": shown.most, "without": shown.without, "ever": shown.ever}
    m["beliefs"] = {str(belief): rho2(channel.gamma, belief) for belief in BELIEFS}
    if prior is not None and channel.k > 1:
        m |= _under(unit, channel, prior)
        m["effective_sample_bound"] = effective_sample_bound(channel)
        if len(prior) <= MANY:
            m |= _accuracy(unit, channel, prior, n)
    if channel.k > MANY and not unit.ordered and channel.arity == 1 and not unit.identity:
        m |= {"target": "shares", "effective_sample_size": even_efficiency(channel)}
        m["effective_sample_bound"] = effective_sample_bound(channel)
        if n is not None:
            m["half_width"] = hardest_half_width(channel, n)
    return replace(unit, measures=m)


def _under(unit: Unit, channel: Channel, prior: Array) -> dict[str, Any]:
    """Measures that depend on what the adversary believes beforehand."""
    seen = subject(channel, prior)
    top = float(seen.posterior.max(axis=0)[seen.seen].max())
    hidden = k_anonymity(seen)
    curve = roc(channel)
    out = {
        "guess_blind": float(prior.max()),
        "guess": map_success(seen),
        "surest": top,
        "break_even": math.inf if top >= 1 - 1e-12 else top / (1 - top),
        "entropy": entropy(prior),
        "conditional_entropy": conditional_entropy(seen),
        "mutual_information": mutual_information(seen),
        "privacy_loss": privacy_loss(seen),
        "k_anonymity": hidden.k,
        "k_distance": hidden.distance,
        "auc": curve.auc,
        "advantage": curve.advantage,
    }
    if not unit.identity and channel.k * channel.m <= 1 << 16:
        out["repeats"] = {
            str(times): 1 - float(repeated(channel, times, prior, trials=4000, rng=times).error or 0)
            for times in REPEATS
        }
    return out


def accuracy_prior(unit: Unit, prior: Array) -> Array:
    """The shares that accuracy is told for: where none are known, nobody is taken to give no answer."""
    return even_prior(unit.channel.k, nullable=True) if unit.nullable and unit.prior_from == EQUAL else prior


def widest(unit: Unit, channel: Channel, n: int, target: str = "shares") -> float:
    """The widest half-width of a share or running share. Where no shares are known: of the hardest, as in a design."""
    if target == "shares" and unit.prior_from == EQUAL:
        return worst_half_width(channel, n, nullable=unit.nullable)
    prior = None if unit.prior is None else accuracy_prior(unit, unit.prior)
    return float(half_width(channel, n, prior, target=target, nullable=unit.nullable).max())


def _accuracy(unit: Unit, channel: Channel, prior: Array, n: int | None) -> dict[str, Any]:
    target = "cdf" if unit.ordered and channel.k - unit.nullable > 2 else "shares"
    prior = accuracy_prior(unit, prior)
    if isinstance(channel, Average):
        return _of_mean(unit, channel, prior, n)
    try:
        worth = effective_sample_size(subject(channel, prior), prior, target, nullable=unit.nullable)
        out: dict[str, Any] = {"target": target, "effective_sample_size": worth}
        if n is not None:
            out["half_width"] = widest(unit, channel, n)
            if target == "cdf":
                out["half_width_cdf"] = widest(unit, channel, n, "cdf")
        return out
    except EstimationError as problem:
        return {"not_estimable": str(problem)}


def _of_mean(unit: Unit, channel: Average, prior: Array, n: int | None) -> dict[str, Any]:
    """What is left of a mean, by the scores that the channel was designed for."""
    plain = mean_variance(identity(channel.k), prior, unit.nullable)
    worth = plain / mean_variance(channel, prior, unit.nullable)
    out: dict[str, Any] = {"target": "mean", "effective_sample_size": worth}
    if n is None:
        return out
    known = None if unit.prior_from == EQUAL else prior  # where no shares are known: of hard ones, as in a design
    return out | {"half_width_mean": mean_half_width(channel, n, known, nullable=unit.nullable)}
