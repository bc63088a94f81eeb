"""Numbers that were released with additive noise: as they are, for what learns from numbers, or cut into intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.channels.base import Channel
from sfumato.channels.efficiency import best_covariance, even_prior
from sfumato.channels.noise import Noise
from sfumato.channels.response import is_identity
from sfumato.domains import Domain, Numeric
from sfumato.errors import EstimationError, ReleaseError, UnrecoverableWarning, warn
from sfumato.printable import many
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


def warn_of_bins_not_told(parts: Sequence[Part]) -> None:
    """A warning for every number whose noise hides its bins: of an average one not even the share itself is told."""
    for name in dict.fromkeys(name for part in parts for name in part.scheme.noises):
        noisy = [part for part in parts if name in part.scheme.noises]
        scheme, records = max(noisy, key=len).scheme, sum(map(len, noisy))
        edges = cast(Numeric, scheme.schema[name]).edge_array
        k = len(edges) - 1
        if _told(_cut(scheme, name)[0], records):
            continue
        even = (np.linspace(edges[0], edges[-1], bins + 1) for bins in range(min(k - 1, FEWEST), 1, -1))
        most = next((len(e) - 1 for e in even if _told(_between(scheme, name, e)[0], records)), None)
        warn(
            f"the noise hides the {k} bins of {name!r} from each other: of {many(records, 'record')}, the share of a "
            "bin is not known to within the share itself, and what is said bin by bin may be far off; "
            + (f"of {most} bins it would be known" if most is not None else "it would not be of 2 bins, either"),
            UnrecoverableWarning,
            stacklevel=3,
        )


def _told(channel: Channel, records: int) -> bool:
    """Whether an even share is told from 0: its 95 % interval is no wider than twice itself."""
    k = channel.k
    if k < 2:
        return True
    try:
        variances = np.diag(best_covariance(channel.transition.dense(), even_prior(k)))
    except EstimationError:
        return False
    return bool(1.96 * np.sqrt(np.median(variances) / max(records, 1)) <= 1 / k)


def _cut(scheme: Scheme, name: str) -> tuple[Channel, Array]:
    """(channel, edges of the released numbers) for the bins of the schema."""
    return _between(scheme, name, cast(Numeric, scheme.schema[name]).edge_array)


def _between(scheme: Scheme, name: str, edges: Array) -> tuple[Channel, Array]:
    """The channel between bins of the true numbers and intervals of the released ones, as wide as the narrowest bin."""
    noise = cast("Noise", scheme.noises[name])
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
