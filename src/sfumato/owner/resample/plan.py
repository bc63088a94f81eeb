"""How each group of a table is released: learned in one pass over its batches, drawn in another.

A table in memory is one batch, a file many. The paper's kernel draws around the records of each batch; a model is
fitted to a sample of each class and draws without them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sfumato.arrays import Array, Index, Labels
from sfumato.errors import SchemaError, showing_values
from sfumato.membership import Method, Risk
from sfumato.owner.resample.blur import blurred
from sfumato.owner.resample.calibrate import calibrate
from sfumato.owner.resample.intake import LOOKED, Intake, check_groups, groups, refuse_one_row
from sfumato.owner.resample.model import Model
from sfumato.owner.resample.moments import Moments
from sfumato.owner.resample.paper import Kernel
from sfumato.owner.resample.proved import Proved, check_ranges
from sfumato.owner.resample.request import Key, Request
from sfumato.owner.resample.setting import Setting
from sfumato.randomness import Source, integers

#: Records of a class that a model is fitted to; of a larger class a random sample.
FITTED = 20_000
#: Rows that a model draws at a time.
_CHUNK = 1 << 18

Batches = Iterable[tuple[Intake, Labels]]


@dataclass(frozen=True)
class Piece:
    """Released rows of one group, and the record behind each where there is one (which never leaves the owner)."""

    key: Key
    X: Array
    y: Labels | None
    centres: Index | None


def learn(batches: Batches, request: Request, src: Source, named: bool = False) -> dict[Key, Moments]:
    """One pass: count, moments and sample of every group; warn of groups that are too small to mean anything."""
    learned: dict[Key, Moments] = {}
    for data, site in batches:
        for place, label, rows in groups(data.y, site, request.per_class):
            one = learned.setdefault(
                (place, label), Moments(data.X.shape[1], LOOKED, FITTED if request.modelled else 0)
            )
            one.add(data.X, rows, src)
    if not learned:
        raise SchemaError("the table is empty: there is nothing to resample")
    alone = [key for key, one in learned.items() if one.n < 2]
    if alone:  # not named unasked: a column of people taken for one of classes has one row of each
        where = _where(alone[0], named, showing_values())
        refuse_one_row(where, len(alone), pooling=not request.modelled and alone[0][1] is not None)
    named_as = [_where(key, named, showing_values()) for key in learned]
    check_groups([(m.first, m.n, where) for m, where in zip(learned.values(), named_as, strict=True)], request.modelled)
    try:
        return dict(sorted(learned.items(), key=lambda item: item[0]))
    except TypeError:  # labels of several types, or None beside them
        return dict(sorted(learned.items(), key=lambda item: tuple(map(str, item[0]))))


def _where(key: Key, named: bool, shown: bool) -> str:
    """A group in words, with its names or without."""
    place, label = key
    words = ([f"class {label}" if shown else "a class"] if label is not None else []) + (
        [f"site {place}" if shown else "a site"] if named else []
    )
    return " at ".join(words) or "the table"


@dataclass
class Plan:
    """Everything that is settled before the first row is drawn."""

    request: Request
    rows: dict[Key, int]
    kernels: dict[Key, Kernel] = field(default_factory=dict)
    models: dict[Key, tuple[Model | Proved, int]] = field(default_factory=dict)
    settings: dict[Any, Setting] = field(default_factory=dict)
    risk: dict[Any, Risk] = field(default_factory=dict)
    ranges: Array | None = None
    left: dict[Key, list[int]] = field(default_factory=dict)
    records: dict[Key, int] = field(default_factory=dict)

    @classmethod
    def make(
        cls, request: Request, learned: dict[Key, Moments], rows: dict[Key, int], names: tuple[str, ...], src: Source
    ) -> Plan:
        """Kernels from the moments, or a model for each site from its sample, calibrated or proved."""
        plan = cls(request, rows, records={key: one.n for key, one in learned.items()})
        if not request.modelled:
            for key, one in learned.items():
                plan.kernels[key] = Kernel.from_moments(one.n, one.mean, one.sd, request.multiplier, request.shrink)
                plan.left[key] = [rows[key], one.n]
            return plan
        plan.ranges = check_ranges(request.ranges, names) if request.guarantee is not None else None
        for place in dict.fromkeys(place for place, _ in learned):
            keys = [key for key in learned if key[0] == place]
            X = np.vstack([learned[key].sample for key in keys])
            y = np.repeat(np.arange(len(keys)), [len(learned[key].sample) for key in keys])
            model = plan._fit(place, X, y, sum(rows[key] for key in keys) / len(X), src)
            plan.models.update({key: (model, c) for c, key in enumerate(keys)})
        return plan

    def _fit(self, place: Any, X: Array, y: Index, per_record: float, src: Source) -> Model | Proved:
        if self.request.guarantee is not None and self.ranges is not None:
            return Proved.fit(X, y, self.ranges, self.request.guarantee.mu, src)
        setting, self.risk[place] = calibrate(X, y, *(self.request.bounds or (1.0, 1.0)), per_record, src)
        self.settings[place] = setting
        return blurred(Model.fit(X, y, setting.form, src), setting.strength, src)

    def pieces(self, batches: Batches, src: Source, into: Array | None = None) -> Iterator[Piece]:
        """The release, group by group; written into an array of all its rows where there is one."""
        start = 0
        for key, (model, c) in self.models.items():
            for done in range(0, self.rows[key], _CHUNK):
                drawn = model.draw(c, min(_CHUNK, self.rows[key] - done), src)
                start = _copy(drawn, into, start)
                yield Piece(key, drawn, None if key[1] is None else np.full(len(drawn), key[1]), None)
        if self.models:
            return
        deal = np.random.default_rng(integers(src, 1 << 32, 8))
        for data, site in batches:
            for place, label, rows in groups(data.y, site, self.request.per_class):
                key = (place, label)
                wanted, records = self.left[key]
                # How many rows a batch gets tells nothing of a record, so a seeded generator may decide it.
                share = wanted if len(rows) == records else int(deal.binomial(wanted, len(rows) / records))
                self.left[key] = [wanted - share, records - len(rows)]
                centre = rows[integers(src, len(rows), share)]
                slot = None if into is None else into[start : start + share]
                drawn = self.kernels[key].around(data.X, centre, src, slot)
                start += share
                known = None if data.y is None else data.y[centre] if label is None else np.full(share, label)
                yield Piece(key, drawn, known, centre)

    def repeat(self, place: Any) -> Method:
        """The way in which this site was released, for whoever wants to draw shadow releases of other records."""
        n = sum(rows for (at, _), rows in self.rows.items() if at == place)
        return repeat(self.request, self.settings.get(place), self.ranges, n)


def repeat(request: Request, setting: Setting | None, ranges: Array | None, rows: int) -> Method:
    """Release other records at the same setting, as many rows in all."""
    if setting is not None:
        return setting.of_rows(rows)

    def method(X: Array, y: Labels, src: Source) -> tuple[Array, Labels]:
        labels, own = np.unique(y, return_inverse=True)
        if request.guarantee is not None and ranges is not None:
            model = Proved.fit(X, own, ranges, request.guarantee.mu, src)
            counts = np.maximum(np.rint(model.sizes * (rows / len(X))), 1).astype(np.int64)
            drawn = [model.draw(c, int(k), src) for c, k in enumerate(counts)]
            return np.vstack(drawn), np.repeat(labels, counts)
        cut = [np.arange(len(X))] if not request.per_class else [np.flatnonzero(own == c) for c in range(len(labels))]
        rows_of, centres = [], []
        for members in cut:
            kernel = Kernel.fit(X, request.multiplier, request.shrink, members)
            centre = members[integers(src, len(members), max(round(rows * len(members) / len(X)), 1))]
            rows_of.append(kernel.around(X, centre, src))
            centres.append(centre)
        return np.vstack(rows_of), y[np.concatenate(centres)]

    return method


def _copy(drawn: Array, into: Array | None, start: int) -> int:
    if into is not None:
        into[start : start + len(drawn)] = drawn
    return start + len(drawn)
