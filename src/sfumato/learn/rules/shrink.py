"""Shrinkage of noisy supports towards the joint model: empirical Bayes, level by level."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence.base import ANSWER_CELLS
from sfumato.evidence.kinds import by_method
from sfumato.evidence.model.design_matrix import DesignMatrix, pairwise
from sfumato.evidence.model.likelihood import likelihood_of_records
from sfumato.evidence.model.loglinear import fit
from sfumato.evidence.model.tuning import TAU
from sfumato.evidence.protocol import Evidence
from sfumato.evidence.seen import Seen
from sfumato.evidence.table import Table
from sfumato.learn.rules.items import Item, Universe
from sfumato.learn.rules.supports import RecordedSupports, RecordSupports, Supports
from sfumato.learn.rules.units import ItemUnit


class TableSupports:
    """Supports as a table of all shares tells them."""

    def __init__(self, table: Table, universe: Universe) -> None:
        self._table = table
        self._place: dict[Item, tuple[str, int]] = {}
        for item in universe.items:
            family = universe.family(item)
            if universe.presence and family is not None and item.attribute not in table.names:
                name = item.attribute.partition("=")[0]
                self._place[item] = (name, universe.families[family].index(item))
            else:
                self._place[item] = (item.attribute, item.code)
        self._margins: dict[tuple[str, ...], Array] = {}

    def support(self, items: Sequence[Item]) -> float:
        """The share of records that hold all the items."""
        places = sorted(self._place[item] for item in items)
        names = tuple(name for name, _ in places)
        if names not in self._margins:
            self._margins[names] = self._table.project(names).values
        return float(self._margins[names][tuple(code for _, code in places)])


def joint_model(source: Evidence, universe: Universe, supports: Supports) -> TableSupports | None:
    """The joint model of the items' attributes, or None where their table is too large."""
    if not universe.presence:
        if not source.listable(source.names):
            return None
        shares = by_method(source, "model").shares(source.names)
        return TableSupports(Table(source.names, shares.reshape(source.schema.sizes())), universe)
    parts = supports.parts if isinstance(supports, RecordedSupports) else []
    found = [part for part in parts if isinstance(part, RecordSupports)]
    if len(found) != 1 or len(found) != len(parts):
        return None
    units = [unit for unit in found[0].units if isinstance(unit, ItemUnit)]
    if len(units) < len(found[0].units) or prod(size for unit in units for size in unit.block.sizes) > ANSWER_CELLS:
        return None
    names = tuple(name for unit in units for name in unit.block.names)
    codes = {unit.block.columns[0]: unit.codes for unit in units}
    records = Seen(names, tuple(unit.block for unit in units), found[0].counts, codes)
    fitted = fit(likelihood_of_records(records), DesignMatrix(records.shape, pairwise(len(names))), TAU)
    return TableSupports(Table(names, fitted.theta.reshape(records.shape)), universe)


def shrink(unbiased: Array, variance: Array, modelled: Array) -> Array:
    """Posterior means when the true supports scatter about the model's with a variance that is fitted here.

        t² = max(mean((s - m)² - v), 0),     s' = m + t² / (t² + v) (s - m)

    >>> shrink(np.array([0.5, 0.1]), np.array([0.01, 0.01]), np.array([0.45, 0.15]))
    array([0.45, 0.15])
    """
    scatter = max(float(np.mean((unbiased - modelled) ** 2 - variance)), 0.0)
    share = scatter / (scatter + np.maximum(variance, 1e-300)) if scatter > 0 else np.zeros_like(unbiased)
    return np.asarray(modelled + share * (unbiased - modelled))
