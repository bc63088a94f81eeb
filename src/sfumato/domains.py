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

from sfumato.errors import OutsideDomainError, SchemaError

if TYPE_CHECKING:
    import pyarrow as pa

Codes = NDArray[Any]

#: What stands for "no answer" in text, unless the domain itself has such a value.
NO_ANSWER = ["", "NA", "null", "NULL"]


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

    def code(self, value: Any) -> int:
        """The code of one value."""
        import pyarrow as pa

        return int(self.encode(pa.array([value]), "value")[0])

    def _with_nulls(self, codes: pa.Array, nulls: int, name: str) -> Codes:
        if nulls:
            if not self.nullable:
                raise OutsideDomainError(name, "null", None, nulls, "declare the attribute nullable=True or fill them")
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

    def encode(self, column: Any, name: str = "value") -> Codes:
        import pyarrow as pa
        import pyarrow.compute as pc

        column = _as_arrow(column)
        try:
            given, known = self._comparable(column)
            codes = pc.index_in(given, value_set=known)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise SchemaError(f"column {name!r} of type {column.type} cannot hold {self._shown()}") from None
        codes = pc.if_else(pc.is_null(given), pa.scalar(None, pa.int32()), codes)
        nulls = given.null_count
        if codes.null_count > nulls:
            where = pc.and_(pc.is_null(codes), pc.is_valid(given))
            first = column.filter(where)[0].as_py()
            raise OutsideDomainError(name, "value", first, codes.null_count - nulls, self._shown())
        return self._with_nulls(codes, nulls, name)

    def _comparable(self, column: pa.Array) -> tuple[pa.Array, pa.Array]:
        """The column and the values in one type; what means "no answer" in text or numbers is null."""
        import pyarrow as pa
        import pyarrow.compute as pc

        known, kind = self._value_set, column.type
        if _is_text(kind) or pa.types.is_string(known.type):
            text = column.cast(pa.string())
            if pa.types.is_integer(known.type):
                text = pc.replace_substring_regex(text, r"\.0+$", "")  # whole numbers that passed through doubles
            names = known.cast(pa.string())
            if pa.types.is_boolean(known.type):
                text = pc.utf8_lower(text)
            missing = [word for word in NO_ANSWER if word not in names.to_pylist()]
            return pc.if_else(pc.is_in(text, value_set=pa.array(missing)), pa.scalar(None, pa.string()), text), names
        if pa.types.is_null(kind):
            return column.cast(known.type), known
        if pa.types.is_floating(kind):
            column = pc.if_else(pc.is_nan(column), pa.scalar(None, kind), column)
        if pa.types.is_boolean(kind) and pa.types.is_boolean(known.type):
            return column, known
        exact = pa.types.is_integer(kind) and pa.types.is_integer(known.type)
        common = pa.int64() if exact else pa.float64()
        return column.cast(common), known.cast(common)

    def _shown(self) -> str:
        return ", ".join(map(str, self.values[:8])) + (", ..." if len(self.values) > 8 else "")

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
            if not all(isinstance(x, int | float | np.number) for x in (self.low or 0, self.high or 0)):
                raise SchemaError(f"the limits must be numbers, got {self.low!r} and {self.high!r} instead")
            if not np.isfinite([self.low or 0, self.high or 0]).all():
                raise SchemaError(f"the limits must be finite, got {self.low} and {self.high} instead")
            if self.low is None or self.high is None or not self.low < self.high:
                raise SchemaError(f"low must be less than high, got {self.low} and {self.high} instead")
            if self.bins is not None and (int(self.bins) != self.bins or self.bins < 1):
                raise SchemaError(f"bins must be a whole number of at least 1, got {self.bins} instead")
            edges = tuple(np.linspace(float(self.low), float(self.high), int(self.bins or 20) + 1).tolist())
            if len(set(edges)) < len(edges):
                raise SchemaError(f"{self.bins} bins between {self.low} and {self.high} are too narrow for doubles")
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

    def numbers(self, column: Any, name: str = "value") -> NDArray[np.float64]:
        numbers, nulls = self._numbers(column, name)
        if nulls.null_count:
            raise OutsideDomainError(name, "null", None, nulls.null_count, "noise needs a number in every row")
        return numbers

    def _numbers(self, column: Any, name: str) -> tuple[NDArray[np.float64], pa.Array]:
        """The column as doubles, and as Arrow with NaN turned into null; anything outside the limits is an error."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = _as_arrow(column)
        if _is_text(column.type):
            text = pc.utf8_trim_whitespace(column)
            column = pc.if_else(pc.is_in(text, value_set=pa.array(NO_ANSWER)), pa.scalar(None, text.type), text)
        try:
            column = column.cast(pa.float64())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            bad = [value for value in column.to_pylist() if value is not None and not _is_number(value)]
            first = bad[0] if bad else column.type
            raise OutsideDomainError(name, "value", first, len(bad), f"numbers in {self._limits()}") from None
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, pa.float64()), column)
        numbers = np.asarray(column.to_numpy(zero_copy_only=False))
        outside = (numbers < self.edge_array[0]) | (numbers > self.edge_array[-1])
        if outside.any():
            first = float(numbers[outside][0])
            raise OutsideDomainError(name, "value", first, int(outside.sum()), self._limits())
        return numbers, column

    def encode(self, column: Any, name: str = "value") -> Codes:
        import pyarrow as pa

        numbers, column = self._numbers(column, name)
        codes = np.searchsorted(self.edge_array, numbers, side="right") - 1
        codes[numbers == self.edge_array[-1]] = len(self.edge_array) - 2
        mask = np.isnan(numbers)
        return self._with_nulls(pa.array(codes, mask=mask if mask.any() else None), column.null_count, name)

    def _limits(self) -> str:
        return f"[{self.low:g}, {self.high:g}]"

    def decode(self, codes: ArrayLike) -> pa.Array:
        import pyarrow as pa

        values = [*self.midpoints.tolist(), None] if self.nullable else self.midpoints
        return pa.array(values, type=pa.float64()).take(pa.array(np.asarray(codes, dtype=np.int64)))

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "edges": list(self.edges or ()), "nullable": self.nullable}


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


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
