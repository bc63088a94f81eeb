"""The values one attribute may take: categorical, ordinal or numeric.

Every value of an attribute has a small integer code, 0 .. size - 1. A nullable attribute has one more code, the last,
for "no answer", which is randomized like any other value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.errors import SchemaError

if TYPE_CHECKING:
    import pyarrow as pa

Codes = NDArray[Any]


class Domain(ABC):
    """The values one attribute may take."""

    kind: ClassVar[str]
    ordered: ClassVar[bool]
    nullable: bool

    @property
    @abstractmethod
    def labels(self) -> tuple[Any, ...]:
        """What each code stands for, None last for a nullable attribute."""

    @property
    def size(self) -> int:
        """The number of codes."""
        return len(self.labels)

    @property
    def code_type(self) -> np.dtype[Any]:
        return np.min_scalar_type(self.size - 1)

    @abstractmethod
    def encode(self, column: Any, name: str = "value") -> Codes:
        """Codes of a column of raw values; anything outside the domain is an error that names it."""

    def numbers(self, column: Any, name: str = "value") -> NDArray[np.float64]:
        """A column of raw values as finite numbers inside the limits, for attributes that have them."""
        raise SchemaError(f"column {name!r} is {self.kind}: only a numeric attribute has numbers")

    @abstractmethod
    def decode(self, codes: ArrayLike) -> pa.Array:
        """Values for codes."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]: ...

    @property
    @abstractmethod
    def arrow_type(self) -> pa.DataType:
        """The type a CSV reader should give this column."""

    def code(self, value: Any) -> int:
        """The code of one value."""
        import pyarrow as pa

        return int(self.encode(pa.array([value]), "value")[0])

    def _with_nulls(self, codes: pa.Array, column: pa.Array, name: str) -> Codes:
        if column.null_count:
            if not self.nullable:
                raise SchemaError(
                    f"column {name!r}: {column.null_count} rows are null; "
                    f"declare the attribute nullable=True or fill them"
                )
            codes = codes.fill_null(self.size - 1)
        return np.asarray(codes.to_numpy(zero_copy_only=False)).astype(self.code_type)


@dataclass(frozen=True)
class Categorical(Domain):
    """Values without an order.

    >>> sex = Categorical(("F", "M"))
    >>> sex.encode(["M", "F"]), sex.decode([1, 0]).to_pylist()
    (array([1, 0], dtype=uint8), ['M', 'F'])
    """

    values: tuple[Any, ...]
    nullable: bool = False

    kind = "categorical"
    ordered = False

    def __post_init__(self) -> None:
        values = tuple(v.item() if isinstance(v, np.generic) else v for v in self.values)
        object.__setattr__(self, "values", values)
        if not values:
            raise SchemaError("values must name at least one value, got none")
        if any(value is None for value in values):
            raise SchemaError("values must not contain None: declare nullable=True instead")
        if len({type(value) for value in values}) > 1 or not isinstance(values[0], str | bool | int | float):
            raise SchemaError(f"values must all be text, all numbers or all booleans, got {values[:5]!r} instead")
        if len(set(values)) != len(values):
            twice = next(value for value in values if values.count(value) > 1)
            raise SchemaError(f"values must be distinct, got {twice!r} twice")

    @cached_property
    def labels(self) -> tuple[Any, ...]:
        return (*self.values, None) if self.nullable else self.values

    @cached_property
    def _value_set(self) -> pa.Array:
        import pyarrow as pa

        return pa.array(self.values)

    @property
    def arrow_type(self) -> pa.DataType:
        return self._value_set.type

    def encode(self, column: Any, name: str = "value") -> Codes:
        import pyarrow as pa
        import pyarrow.compute as pc

        column = _as_arrow(column)
        given, known = column, self._value_set
        try:
            if pa.types.is_string(known.type) and not _is_text(given.type):
                given = given.cast(pa.string())
            elif not _is_text(given.type):
                try:
                    known = known.cast(given.type)
                except pa.ArrowInvalid:
                    given = given.cast(known.type)
            elif not _is_text(known.type):
                given = given.cast(known.type)
            else:
                known = known.cast(given.type)
            codes = pc.index_in(given, value_set=known)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            first = next((v for v in column.to_pylist() if v is not None and v not in self.values), "?")
            raise self._outside(name, first, None) from None
        unknown = codes.null_count - column.null_count
        if unknown:
            where = pc.and_(pc.is_null(codes), pc.is_valid(column))
            raise self._outside(name, column.filter(where)[0].as_py(), unknown)
        return self._with_nulls(codes, column, name)

    def _outside(self, name: str, value: Any, rows: int | None) -> SchemaError:
        shown = ", ".join(map(str, self.values[:8])) + (", ..." if len(self.values) > 8 else "")
        count = "some rows hold" if rows is None else "1 row holds" if rows == 1 else f"{rows} rows hold"
        return SchemaError(
            f"column {name!r}: value {value!r} is not in its domain ({shown}); {count} such values; "
            f"add it to the schema or mend the rows"
        )

    def decode(self, codes: ArrayLike) -> pa.Array:
        import pyarrow as pa

        return pa.array(self.labels, type=self._value_set.type).take(pa.array(np.asarray(codes, dtype=np.int64)))

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "values": list(self.values), "nullable": self.nullable}


@dataclass(frozen=True)
class Ordinal(Categorical):
    """Values in an order, lowest first: channels may use it, and cumulative counts make sense."""

    kind = "ordinal"
    ordered = True


@dataclass(frozen=True)
class Numeric(Domain):
    """Numbers in [low, high], cut into bins; codes are bins, values decode to the middle of their bin.

    >>> age = Numeric(0, 100, bins=4)
    >>> age.encode([0, 24.9, 25, 100]), age.labels[0]
    (array([0, 0, 1, 3], dtype=uint8), '[0, 25)')
    """

    low: float | None = None
    high: float | None = None
    bins: int | None = None
    edges: tuple[float, ...] | None = None
    nullable: bool = False

    kind = "numeric"
    ordered = True

    def __post_init__(self) -> None:
        if self.edges is not None:
            edges = tuple(float(edge) for edge in self.edges)
            if len(edges) < 2 or not all(a < b for a, b in pairwise(edges)):
                raise SchemaError(f"edges must increase and hold at least two numbers, got {edges[:6]} instead")
            if self.bins not in (None, len(edges) - 1):
                raise SchemaError("give either bins or edges, not both")
            if self.low not in (None, edges[0]) or self.high not in (None, edges[-1]):
                raise SchemaError(f"low and high must be the first and last edge, got {self.low} and {self.high}")
        else:
            if not np.isfinite([self.low or 0, self.high or 0]).all():
                raise SchemaError(f"the limits must be finite, got {self.low} and {self.high} instead")
            if self.low is None or self.high is None or not self.low < self.high:
                raise SchemaError(f"low must be less than high, got {self.low} and {self.high} instead")
            if self.bins is not None and (int(self.bins) != self.bins or self.bins < 1):
                raise SchemaError(f"bins must be a whole number of at least 1, got {self.bins} instead")
            edges = tuple(np.linspace(self.low, self.high, int(self.bins or 20) + 1).tolist())
        if not np.isfinite(edges).all():
            raise SchemaError(f"the limits must be finite, got {edges[0]} and {edges[-1]} instead")
        object.__setattr__(self, "edges", edges)
        object.__setattr__(self, "low", edges[0])
        object.__setattr__(self, "high", edges[-1])
        object.__setattr__(self, "bins", len(edges) - 1)

    @cached_property
    def edge_array(self) -> NDArray[np.float64]:
        return np.array(self.edges)

    @cached_property
    def midpoints(self) -> NDArray[np.float64]:
        """The middle of each bin."""
        return np.asarray((self.edge_array[1:] + self.edge_array[:-1]) / 2)

    @cached_property
    def labels(self) -> tuple[Any, ...]:
        edges = self.edges or ()
        names = [f"[{a:g}, {b:g})" for a, b in pairwise(edges)]
        names[-1] = names[-1][:-1] + "]"
        return (*names, None) if self.nullable else tuple(names)

    @property
    def arrow_type(self) -> pa.DataType:
        import pyarrow as pa

        return pa.float64()

    def numbers(self, column: Any, name: str = "value") -> NDArray[np.float64]:
        numbers, nulls = self._numbers(column, name)
        if nulls.null_count:
            raise SchemaError(f"column {name!r}: {nulls.null_count} rows are null; noise needs a number in every row")
        return numbers

    def _numbers(self, column: Any, name: str) -> tuple[NDArray[np.float64], pa.Array]:
        """The column as doubles, and as Arrow with NaN turned into null; anything outside the limits is an error."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = _as_arrow(column)
        try:
            column = column.cast(pa.float64())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise SchemaError(
                f"column {name!r}: some values are not numbers; mend the rows or make it categorical"
            ) from None
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, pa.float64()), column)
        numbers = np.asarray(column.to_numpy(zero_copy_only=False))
        outside = (numbers < self.edge_array[0]) | (numbers > self.edge_array[-1])
        if outside.any():
            rows = int(outside.sum())
            raise SchemaError(
                f"column {name!r}: value {numbers[outside][0]:g} is not in its domain [{self.low:g}, {self.high:g}]; "
                f"{rows} row{'s hold' if rows > 1 else ' holds'} such values; widen the limits or mend the rows"
            )
        return numbers, column

    def encode(self, column: Any, name: str = "value") -> Codes:
        import pyarrow as pa

        numbers, column = self._numbers(column, name)
        codes = np.searchsorted(self.edge_array, numbers, side="right") - 1
        codes[numbers == self.edge_array[-1]] = len(self.edge_array) - 2
        mask = np.isnan(numbers)
        return self._with_nulls(pa.array(codes, mask=mask if mask.any() else None), column, name)

    def decode(self, codes: ArrayLike) -> pa.Array:
        import pyarrow as pa

        values = [*self.midpoints.tolist(), None] if self.nullable else self.midpoints
        return pa.array(values, type=pa.float64()).take(pa.array(np.asarray(codes, dtype=np.int64)))

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "edges": list(self.edges or ()), "nullable": self.nullable}


def _as_arrow(column: Any) -> pa.Array:
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if not isinstance(column, pa.Array):
        column = pa.array(column, from_pandas=True)
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
