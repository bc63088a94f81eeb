"""What the report knows: every measure of every attribute, computed once, as plain numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import product as combinations
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.assess.entropy import interval_privacy, privacy_loss
from sfumato.assess.report.correlated import Correlated, correlated
from sfumato.assess.report.measures import BELIEFS, REPEATS, measured
from sfumato.assess.report.person import Person, person
from sfumato.assess.report.unit import Unit
from sfumato.assess.shares import EQUAL, ESTIMATED, GIVEN, estimated_shares, given_shares
from sfumato.assess.subject import subject
from sfumato.channels import Channel, tabulated
from sfumato.domains import Numeric
from sfumato.errors import SfumatoError
from sfumato.evidence import Evidence
from sfumato.forms import Forms
from sfumato.printable import label_text
from sfumato.release import Release
from sfumato.scheme import Scheme

_MOST_ENTRIES = 1 << 22
_MOST_FORMS = 6  # answers of forms that are told of one by one


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
    pseudonyms: str | None = None  # the column of a release that holds them
    person: Person | None = None
    correlated: tuple[Correlated, ...] = ()
    booked: float | None = None  # what all answers of one person in the ledger add up to

    @property
    def shown(self) -> tuple[Unit, ...]:
        """The units that are told of one by one: of many forms only the one that tells most."""
        if not isinstance(self.scheme, Forms) or len(self.units) <= _MOST_FORMS:
            return self.units
        return (max(self.units, key=lambda unit: (float(unit.measures["gamma"]), unit.channel.k)),)

    @property
    def guarded(self) -> list[Unit]:
        """The units that are randomized."""
        return [unit for unit in self.units if unit.guarded]

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
        whole |= {} if self.person is None else self.person.plain()
        document = {
            "format": "sfumato report",
            "version": 1,
            "scheme": self.scheme.fingerprint,
            "n": self.n,
            "whole_record": whole,
            "attributes": units,
            "correlated": [asdict(one) for one in self.correlated],
            "additive_noise": self.noise,
            "already_released": self.spent,
            "already_released_by_a_person": self.booked,
            "ids_in_the_clear": self.clear_ids,
            "pseudonyms": self.pseudonyms,
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
    rounds: int = 52,
    booked: float | None = None,
) -> Facts:
    """Compute every measure of every attribute or group."""
    forms = scheme.forms if isinstance(scheme, Forms) else (scheme,)
    weights = scheme.weights if isinstance(scheme, Forms) else (1.0,)
    alike: dict[Any, Unit] = {}  # questions that are treated alike are measured once
    units = tuple(
        _once(alike, unit, None if n is None else max(round(n * weight), 1))
        for form, weight in zip(forms, weights, strict=True)
        for unit in _units(form, evidence, priors)
    )
    added = {**{name: kind for form in forms for name, kind in form.noises.items()}, **noise}
    noisy = {name: _noisy(scheme, name, kind) for name, kind in added.items()}
    release = None if evidence is None else evidence.release
    return Facts(
        scheme,
        n,
        units,
        noisy,
        dict(spent),
        _ids(release, "clear"),
        release is not None and release.order == "kept",
        _ids(release, "pseudonym"),
        person(scheme, n, rounds, release),
        correlated(scheme, evidence, priors),
        booked,
    )


def _once(alike: dict[Any, Unit], unit: Unit, n: int | None) -> Unit:
    prior = None if unit.prior is None else unit.prior.tobytes()
    key = unit.channel, prior, unit.prior_from, unit.ordered, unit.nullable, n
    if key not in alike:
        alike[key] = measured(unit, n)
    return replace(unit, n=n, measures=alike[key].measures)


def _ids(release: Release | None, kind: str) -> str | None:
    return release.id if release is not None and release.id_kind == kind else None


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
