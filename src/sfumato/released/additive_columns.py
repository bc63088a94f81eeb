"""Numbers that were released with additive noise: as they are, for what learns from numbers, or cut into intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.channels.base import Channel
from sfumato.channels.noise import Noise
from sfumato.channels.response import is_identity
from sfumato.domains import Domain, Numeric
from sfumato.errors import ReleaseError
from sfumato.reading import tables
from sfumato.released.part import Part
from sfumato.schema import Schema
from sfumato.scheme import Scheme

#: The fewest and the most intervals that noisy numbers are cut into, and where unbounded noise is cut off.
FEWEST, MOST, TAIL = 20, 200, 1e-3


@dataclass(frozen=True, eq=False)
class NoisyNumbers:
    """The numbers of a release beside the classes of one attribute: a row per record, a column per name.

    ``noises`` holds the noise of each column (None where it passed as it was), ``support`` the range of each. A bin in
    the clear counts as its middle, an ordinal value as its place from 0.
    """

    z: Array
    classes: NDArray[Any]
    noises: tuple[Noise | None, ...]
    support: tuple[tuple[float, float], ...]
    schema: Schema  # of the columns and the target
    target: str

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name in self.schema if name != self.target)

    def clean(self, table: Any) -> tuple[Array, NDArray[Any]]:
        """(x, classes) of a table of clean records, in the same columns."""
        rows = _rows(table, self.schema.names)
        columns = [_as_numbers(self.schema[name], rows.column(name), name) for name in self.names]
        codes = self.schema[self.target].encode(rows.column(self.target), self.target)
        return np.stack(columns, axis=1), self.schema[self.target].label_array[codes]


def noisy_numbers(parts: Sequence[Part], schema: Schema, target: str) -> NoisyNumbers:
    """The numbers under noise, with ordered attributes that passed as they were, and the classes of the target."""
    schemes = {part.scheme for part in parts}
    if len(schemes) > 1:
        raise ReleaseError("numbers under noise are read where all parts have one scheme, got several")
    scheme = schemes.pop()
    if target not in schema:
        raise ReleaseError(f"there is no attribute {target!r}; the release has {', '.join(schema.names)}")
    if target in scheme.noises or not is_identity(scheme[target]):
        raise ReleaseError(
            f"{target!r} is randomized, and trees by reconstruction take the classes as they are: cut the numbers into "
            "intervals instead (release.in_intervals(), or leave --reconstruct out)"
        )
    if not scheme.noises:
        raise ReleaseError("no attribute of this release is a number with additive noise: there is none to reconstruct")
    names = [name for name in schema.names if name != target]
    for name in names:
        domain = schema[name]
        if name not in scheme.noises and (not domain.ordered or domain.nullable or not is_identity(scheme[name])):
            raise ReleaseError(
                f"{name!r} is no number, with noise or in the clear, and trees by reconstruction take nothing else: "
                "leave it out (release.select, or --columns), or cut numbers into intervals (release.in_intervals())"
            )
    rows = {name: np.concatenate([_column(part, name) for part in parts]) for name in (*names, target)}
    columns = [rows[n] if n in scheme.noises else _of_codes(schema[n])[rows[n].astype(np.int64)] for n in names]
    noises = [cast("Noise | None", scheme.noises.get(name)) for name in names]
    return NoisyNumbers(
        np.stack(columns, axis=1).astype(np.float64),
        schema[target].label_array[rows[target].astype(np.int64)],
        tuple(noises),
        tuple(_ends(schema[name]) for name in names),
        schema.select([*names, target]),
        target,
    )


def in_intervals(part: Part) -> Part:
    """The part with every number under noise as the code of an interval, under the channel between intervals."""
    import pyarrow as pa

    cuts = {name: _cut(part.scheme, name) for name in part.scheme.noises}
    if not cuts:
        return part
    channels: dict[str | tuple[str, ...], Channel] = {
        group.names: cuts[group.names[0]][0] if group.channel.continuous else group.channel
        for group in part.scheme.groups
    }
    rows = part.arrow()
    for name, (_, edges) in cuts.items():
        place = np.searchsorted(edges[1:-1], rows.column(name).to_numpy(), side="right")
        rows = rows.set_column(rows.schema.get_field_index(name), name, pa.array(place.astype(np.uint32)))
    return replace(part, rows=rows, scheme=Scheme(part.scheme.schema, channels), span=None)


def _cut(scheme: Scheme, name: str) -> tuple[Channel, Array]:
    """(channel, edges of the released numbers): as wide as the attribute's narrowest bin."""
    noise, domain = cast("Noise", scheme.noises[name]), cast(Numeric, scheme.schema[name])
    edges = domain.edge_array
    low, high = noise.reach(TAIL)
    start, end = edges[0] + low, edges[-1] + high
    cells = int(np.clip(np.ceil((end - start) / np.diff(edges).min()), FEWEST, MOST))
    y_edges = np.concatenate([[-np.inf], np.linspace(start, end, cells + 1)[1:-1], [np.inf]])
    return noise.discretize(edges, y_edges), y_edges


def _rows(table: Any, names: Sequence[str]) -> Any:
    import pyarrow as pa

    found = list(tables.batches(table, list(names)))
    if not found:
        raise ReleaseError("the table holds no rows")
    return pa.Table.from_batches(found)


def _column(part: Part, name: str) -> NDArray[Any]:
    found = [batch.column(0).to_numpy(zero_copy_only=False) for batch in part.batches([name])]
    return np.concatenate(found) if found else np.empty(0)


def _of_codes(domain: Domain) -> Array:
    return domain.midpoints if isinstance(domain, Numeric) else np.arange(domain.size, dtype=np.float64)


def _ends(domain: Domain) -> tuple[float, float]:
    if isinstance(domain, Numeric):
        return float(domain.edge_array[0]), float(domain.edge_array[-1])
    return -0.5, domain.size - 0.5


def _as_numbers(domain: Domain, column: Any, name: str) -> Array:
    if isinstance(domain, Numeric):
        return domain.numbers(column, name)
    return domain.encode(column, name).astype(np.float64)
