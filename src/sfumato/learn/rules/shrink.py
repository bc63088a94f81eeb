"""Shrinkage of noisy supports towards the joint model: empirical Bayes, level by level."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from sfumato import channels
from sfumato.channels.linear import Array
from sfumato.evidence import Evidence
from sfumato.evidence.model import ModelEvidence
from sfumato.evidence.model.evidence import JOINT_CELLS, margin
from sfumato.learn.rules.items import Item, Universe
from sfumato.learn.rules.supports import RecordSupports, ReleaseSupports
from sfumato.learn.rules.units import Unit
from sfumato.release import Release
from sfumato.schema import Categorical, Schema
from sfumato.scheme import Scheme


class ModelSupports:
    """Supports as the joint model sees them."""

    def __init__(self, model: ModelEvidence, universe: Universe) -> None:
        self.model = model
        self._place: dict[Item, tuple[int, int]] = {}
        for item in universe.items:
            family = universe.family(item)
            if universe.presence and family is not None:
                name = item.attribute.partition("=")[0]
                self._place[item] = (model.names.index(name), universe.families[family].index(item))
            else:
                self._place[item] = (model.names.index(item.attribute), item.code)
        self._tables: dict[tuple[int, ...], Array] = {}

    def support(self, items: Sequence[Item]) -> float:
        """The modelled share of records that hold all the items."""
        places = sorted(self._place[item] for item in items)
        axes = tuple(axis for axis, _ in places)
        if axes not in self._tables:
            sizes = [self.model.joint.shape[axis] for axis in axes]
            self._tables[axes] = margin(self.model.joint, axes).reshape(sizes)
        return float(self._tables[axes][tuple(code for _, code in places)])


def joint_model(source: Evidence, universe: Universe, supports: ReleaseSupports) -> ModelSupports | None:
    """The joint model of the items' attributes, or None where their table is too large."""
    if not universe.presence:
        if prod(source.schema.sizes()) > JOINT_CELLS:
            return None
        return ModelSupports(ModelEvidence(source.release, source.names, tau=0.3), universe)
    found = [part for part in supports.parts if isinstance(part, RecordSupports)]
    if len(found) != 1 or len(found) != len(supports.parts):
        return None
    units = [unit for unit in found[0].units if isinstance(unit, Unit)]
    if len(units) < len(found[0].units) or prod(size for unit in units for size in unit.sizes) > JOINT_CELLS:
        return None
    return ModelSupports(ModelEvidence(_as_categorical(units), tau=0.3), universe)


def _as_categorical(units: Sequence[Unit]) -> Release:
    """The released items as one categorical attribute a family, under the channel that its states went through."""
    import pyarrow as pa

    domains = {
        name: Categorical(tuple(range(size)))
        for unit in units
        for name, size in zip(unit.names, unit.sizes, strict=True)
    }
    treated: dict[str | tuple[str, ...], channels.Channel] = {}
    rows = {}
    for unit in units:
        P = unit.transition / unit.transition.sum(axis=1, keepdims=True)
        treated[unit.names] = channels.matrix(P, sizes=unit.sizes, outputs=(P.shape[1],))
        rows["+".join(unit.names)] = unit.codes
    return Release(pa.table(rows), Scheme(Schema(domains), treated))


def shrink(unbiased: Array, variance: Array, modelled: Array) -> tuple[Array, Array]:
    """Posterior means and variances when the true supports scatter about the model's with a variance fitted here.

        t² = max(mean((s - m)² - v), 0),     s' = m + t² / (t² + v) (s - m)

    >>> shrink(np.array([0.5, 0.1]), np.array([0.01, 0.01]), np.array([0.45, 0.15]))[0]
    array([0.45, 0.15])
    """
    scatter = max(float(np.mean((unbiased - modelled) ** 2 - variance)), 0.0)
    # The scatter is fitted to few sets at deep levels: half of what the model itself misses is never written off.
    share = scatter / (scatter + np.maximum(variance, 1e-300)) if scatter > 0 else np.zeros_like(unbiased)
    return modelled + share * (unbiased - modelled), np.asarray(share * variance)
