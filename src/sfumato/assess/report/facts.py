"""What the report knows: every measure of every attribute, computed once, as plain numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product as combinations
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.assess.anonymity import k_anonymity
from sfumato.assess.attacks.posterior import repeated
from sfumato.assess.breach import rho2
from sfumato.assess.effective import effective_sample_bound, effective_sample_size
from sfumato.assess.entropy import conditional_entropy, entropy, interval_privacy, mutual_information, privacy_loss
from sfumato.assess.guess import map_success, roc
from sfumato.assess.precision import MANY, half_width, hardest_half_width, mean_half_width
from sfumato.assess.shares import EQUAL, ESTIMATED, GIVEN, estimated_shares, given_shares
from sfumato.assess.subject import subject
from sfumato.channels import Channel, identity, tabulated
from sfumato.channels.average import Average
from sfumato.channels.efficiency import even_efficiency, even_prior
from sfumato.channels.pram import Blocks
from sfumato.channels.response import Symmetric
from sfumato.channels.scores import mean_variance
from sfumato.domains import Numeric
from sfumato.errors import EstimationError, SfumatoError
from sfumato.evidence import Evidence
from sfumato.forms import Forms
from sfumato.printable import label_text, printable
from sfumato.scheme import Scheme

BELIEFS = (0.01, 0.1, 0.5)
REPEATS = (2, 10)
_MOST_ENTRIES = 1 << 22


@dataclass(frozen=True, eq=False)
class Unit:
    """Attributes that are randomized together, with all that is known about their channel."""

    names: tuple[str, ...]
    labels: tuple[str, ...]
    channel: Channel
    prior: Array | None
    prior_from: str  # where the prior comes from: see sfumato.assess.shares
    alike: int = 1  # how many further attributes are treated exactly the same
    ordered: bool = False
    nullable: bool = False
    measures: dict[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The attribute's name, or those of a group."""
        shown = " + ".join(self.names) if len(self.names) <= 6 else f"{' + '.join(self.names[:5])} + ..."
        return printable(shown if self.alike == 1 else f"{shown} and {self.alike - 1} alike")

    @property
    def identity(self) -> bool:
        return isinstance(self.channel, Symmetric) and self.channel.other == 0 and self.channel.k > 1


@dataclass(frozen=True, eq=False)
class Facts:
    """Everything the report says, before it is put into words."""

    scheme: Scheme | Forms
    n: int | None
    units: tuple[Unit, ...]
    noise: dict[str, dict[str, Any]]  # columns with additive noise, and what is known of each
    spent: dict[str, float]
    clear_ids: str | None = None  # the column of a release that holds ids as they are
    kept_order: bool = False  # whether a release's rows stand in the order of the owner's

    def plain(self) -> dict[str, Any]:
        """As a JSON document; infinity becomes the word "inf"."""
        units = [
            {
                "attributes": list(unit.names),
                "treated_alike": unit.alike,
                "channel": str(unit.channel),
                "prior": None if unit.prior is None else unit.prior.tolist(),
                "prior_from": unit.prior_from,
                **unit.measures,
            }
            for unit in self.units
        ]
        whole = {"gamma": self.scheme.gamma, "epsilon": self.scheme.epsilon}
        document = {
            "format": "sfumato report",
            "version": 1,
            "scheme": self.scheme.fingerprint,
            "n": self.n,
            "whole_record": whole,
            "attributes": units,
            "additive_noise": self.noise,
            "already_released": self.spent,
            "ids_in_the_clear": self.clear_ids,
            "order_kept": self.kept_order,
        }
        out: dict[str, Any] = _jsonable(document)
        return out


def gather(
    scheme: Scheme | Forms,
    evidence: Evidence | None,
    n: int | None,
    priors: Mapping[str, Any],
    noise: Mapping[str, Any],
    spent: Mapping[str, float],
) -> Facts:
    """Compute every measure of every attribute or group."""
    forms = scheme.forms if isinstance(scheme, Forms) else (scheme,)
    weights = scheme.weights if isinstance(scheme, Forms) else (1.0,)
    units = tuple(
        _measured(unit, None if n is None else max(round(n * weight), 1))
        for form, weight in zip(forms, weights, strict=True)
        for unit in _units(form, evidence, priors)
    )
    added = {**{name: kind for form in forms for name, kind in form.noises.items()}, **noise}
    noisy = {name: _noisy(scheme, name, kind) for name, kind in added.items()}
    return Facts(scheme, n, units, noisy, dict(spent), _clear_ids(evidence), _kept_order(evidence))


def _kept_order(evidence: Evidence | None) -> bool:
    return evidence is not None and evidence.release.order == "kept"


def _clear_ids(evidence: Evidence | None) -> str | None:
    release = None if evidence is None else evidence.release
    return release.id if release is not None and release.id_kind == "clear" else None


def _noisy(scheme: Scheme | Forms, name: str, noise: Any) -> dict[str, Any]:
    """What additive noise leaves open: the interval measure, and the loss if the whole range were equally likely."""
    out = {"noise": str(noise), "sd": float(noise.sd), "interval": interval_privacy(noise, 0.95)}
    if name in scheme.schema and isinstance(domain := scheme.schema[name], Numeric):
        edges = domain.edge_array
        out["range"] = float(edges[-1] - edges[0])
        out["privacy_loss"] = privacy_loss(noise, tabulated([edges[0], edges[-1]], [1.0]))
    return out


def _units(scheme: Scheme, evidence: Evidence | None, priors: Mapping[str, Any]) -> Iterator[Unit]:
    """Groups of the scheme; channels side by side count as separate ones, and many that are alike as one."""
    for group in scheme.groups:
        if group.channel.continuous:
            continue
        parts = group.channel.factors(group.names)
        if len({part for _, part in parts}) == 1 and len(parts) > 3:
            parts = parts[:1]
            alike = len(group.names) // len(parts[0][0])
        else:
            alike = 1
        for names, channel in parts:
            domains = [scheme.schema[name] for name in names]
            prior, source = _prior(scheme, names, channel, evidence, priors)
            labels: tuple[str, ...] = ()
            if channel.k <= 4096:
                labels = tuple(
                    "/".join(_label(v, len(row)) for v in row) for row in combinations(*(d.labels for d in domains))
                )
            ordered = len(domains) == 1 and domains[0].ordered
            nullable = len(domains) == 1 and domains[0].nullable
            yield Unit(names, labels, channel, prior, source, alike, ordered, nullable)


def _label(value: Any, parts: int) -> str:
    """The value's name, cut short where it stands beside others."""
    name = label_text(value)
    return name if parts == 1 else name[:4]


def _prior(
    scheme: Scheme,
    names: tuple[str, ...],
    channel: Channel,
    evidence: Evidence | None,
    priors: Mapping[str, Any],
) -> tuple[Array | None, str]:
    key = names[0] if len(names) == 1 else "+".join(names)
    if key in priors:
        try:
            labels = scheme.schema[names[0]].labels if len(names) == 1 else ()
            return subject(channel, given_shares(priors[key], channel.k, labels, "prior")).prior, GIVEN
        except SfumatoError as problem:
            raise type(problem)(f"{key}: {problem}") from None
    if channel.k * channel.m > _MOST_ENTRIES:
        return None, "not needed"
    shares = None if evidence is None else estimated_shares(evidence, names)
    return (subject(channel).prior, EQUAL) if shares is None else (shares, ESTIMATED)


def _measured(unit: Unit, n: int | None) -> Unit:
    channel, prior = unit.channel, unit.prior
    m: dict[str, Any] = {"values": channel.k, "answers": channel.m, "gamma": channel.gamma, "epsilon": channel.epsilon}
    if isinstance(channel, Blocks):
        m["gamma_within"] = channel.gamma_within
        m["blocks"] = len(channel.channels)
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


def _accuracy(unit: Unit, channel: Channel, prior: Array, n: int | None) -> dict[str, Any]:
    target = "cdf" if unit.ordered and channel.k - unit.nullable > 2 else "shares"
    if unit.nullable and unit.prior_from == EQUAL:
        prior = even_prior(channel.k, nullable=True)
    if isinstance(channel, Average):
        return _of_mean(channel, prior, n, unit.nullable)
    seen, null = subject(channel, prior), unit.nullable
    try:
        worth = effective_sample_size(seen, prior, target, nullable=null)
        out: dict[str, Any] = {"target": target, "effective_sample_size": worth}
        if n is not None:
            out["half_width"] = float(half_width(seen, n, nullable=null).max())
            if target == "cdf":
                out["half_width_cdf"] = float(half_width(seen, n, target="cdf", nullable=null).max())
        return out
    except EstimationError as problem:
        return {"not_estimable": str(problem)}


def _of_mean(channel: Average, prior: Array, n: int | None, nullable: bool) -> dict[str, Any]:
    """What is left of a mean, by the scores that the channel was designed for."""
    plain = mean_variance(identity(channel.k), prior, nullable)
    worth = plain / mean_variance(channel, prior, nullable)
    out: dict[str, Any] = {"target": "mean", "effective_sample_size": worth}
    return out if n is None else out | {"half_width_mean": mean_half_width(channel, n, prior, nullable=nullable)}


def _jsonable(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _jsonable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(inner) for inner in value]
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, np.integer):
        return int(value)
    return value


__all__ = ["BELIEFS", "REPEATS", "Facts", "Unit", "gather"]
