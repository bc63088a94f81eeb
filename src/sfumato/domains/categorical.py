"""Values from a list: without an order, or lowest first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Codes
from sfumato.domains.base import Domain, Tally, count, first_of, is_number, is_text
from sfumato.errors import OutsideDomainError, SchemaError
from sfumato.reading.csv_reader import NULL_WORDS
from sfumato.reading.json_documents import SURROGATE

if TYPE_CHECKING:
    import pyarrow as pa

#: Booleans, and words of files that readers make them of: DuckDB reads Yes and No so.
_BOOLEANS = {"true": ("true", "t", "yes", "y"), "false": ("false", "f", "no", "n")}


@dataclass(frozen=True)
class Categorical(Domain):
    """Values without an order.

    ``other`` is one more value, for everything that is not listed. ``missing`` lists words in the data that stand for
    "no answer", ``spellings`` other ways in which the data write a value.

    >>> sex = Categorical(("F", "M"))
    >>> sex.encode(["M", "F"]), sex.decode([1, 0]).to_pylist()
    (array([1, 0], dtype=uint8), ['M', 'F'])
    >>> Categorical(("Bonn", "Köln"), other="elsewhere").encode(["Köln", "Ulm"])
    array([1, 2], dtype=uint8)
    >>> Categorical(("no", "yes"), nullable=True, missing=("?",), spellings={"Y": "yes"}).encode(["Y", "?", "no"])
    array([1, 2, 0], dtype=uint8)
    """

    values: tuple[Any, ...]
    nullable: bool = False
    other: Any = None
    missing: tuple[str, ...] = field(default=(), compare=False, kw_only=True)
    spellings: Mapping[str, Any] = field(default_factory=dict, compare=False, kw_only=True, repr=False)

    kind = "categorical"

    @property
    def ordered(self) -> bool:
        return False

    def __post_init__(self) -> None:
        if isinstance(self.values, str) or not isinstance(self.values, Iterable):
            raise SchemaError(f'values must be a list, such as ("F", "M"), got {self.values!r} instead')
        values = tuple(v.item() if isinstance(v, np.generic) else v for v in self.values)
        if self.other is not None and self.other not in values:
            values = (*values, self.other)
        object.__setattr__(self, "values", values)
        if not values:
            raise SchemaError("values must name at least one value, got none")
        if any(value is None for value in values):
            raise SchemaError("values must not contain None: declare nullable=True instead")
        if len({type(value) for value in values}) > 1 or not isinstance(values[0], str | bool | int | float):
            raise SchemaError(f"values must all be text, all numbers or all booleans, got {values[:5]!r} instead")
        if any(isinstance(value, str) and SURROGATE.search(value) for value in values):
            raise SchemaError("values must be text, got half of a surrogate pair, which is no character")
        if any(isinstance(value, int) and not -(1 << 63) <= value < 1 << 63 for value in values):
            raise SchemaError("values that are whole numbers must fit into 64 bits: write them as text")
        if len(set(values)) != len(values):
            seen: set[Any] = set()
            twice = next(value for value in values if value in seen or seen.add(value))  # type: ignore[func-returns-value]
            raise SchemaError(f"values must be distinct, got {twice!r} twice")
        self._check_missing()
        try:
            meant = set(self.spellings.values())
        except (AttributeError, TypeError):
            meant = {None}
        if not meant <= set(values):
            raise SchemaError("spellings must lead from what the data write to one of the values")
        object.__setattr__(self, "spellings", {str(k): v for k, v in self.spellings.items()})

    @cached_property
    def labels(self) -> tuple[Any, ...]:
        return (*self.values, None) if self.nullable else self.values

    @cached_property
    def _value_set(self) -> pa.Array:
        import pyarrow as pa

        return pa.array(self.values)

    def encode(self, column: Any, name: str = "value", tally: Tally | None = None) -> Codes:
        import pyarrow as pa
        import pyarrow.compute as pc

        column = self._read(column)
        counted = self._whole_numbers(column)
        if counted is not None:
            return counted
        try:
            given, known = self._comparable(column)
            codes = pc.index_in(given, value_set=known)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise SchemaError(f"column {name!r} of type {column.type} cannot hold {self._shown()}") from None
        codes = pc.if_else(pc.is_null(given), pa.scalar(None, pa.int32()), codes)
        nulls = given.null_count
        if codes.null_count > nulls and is_text(column.type) and not isinstance(self.values[0], str | bool):
            codes = self._numbers_in_other_forms(codes, pc.and_(pc.is_null(codes), pc.is_valid(given)), column)
        if codes.null_count > nulls:
            where = pc.and_(pc.is_null(codes), pc.is_valid(given))
            codes = self._place_outside(codes, where, column, name)
            count(tally, name, int(pc.sum(where).as_py()))
        return self._with_nulls(codes, nulls, name)

    @cached_property
    def _run(self) -> tuple[int, int] | None:
        """The first and the last value, where the values are whole numbers that follow each other."""
        first = self.values[0]
        whole = isinstance(first, int) and not isinstance(first, bool)
        return (
            (first, self.values[-1]) if whole and self.values == tuple(range(first, first + len(self.values))) else None
        )

    def _whole_numbers(self, column: pa.Array) -> Codes | None:
        """Codes by a subtraction, where values and column are whole numbers and all are listed: most of them are."""
        import pyarrow as pa

        if self._run is None or not pa.types.is_integer(column.type) or column.null_count or not len(column):
            return None
        numbers, (first, last) = column.to_numpy(), self._run
        if numbers.min() < first or numbers.max() > last:
            return None
        moved = numbers if first == 0 else numbers.astype(np.int64) - first
        return np.asarray(moved.astype(self.code_type))

    def _place_outside(self, codes: pa.Array, where: pa.Array, column: pa.Array, name: str) -> pa.Array:
        """Codes for the values that are not listed, if the domain says which."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.other is None:
            first = first_of(column.filter(where))
            raise OutsideDomainError(name, "value", first, int(pc.sum(where).as_py()), self._shown())
        return pc.if_else(where, pa.scalar(self.values.index(self.other), pa.int32()), codes)

    def _numbers_in_other_forms(self, codes: pa.Array, where: pa.Array, column: pa.Array) -> pa.Array:
        """Codes for numbers that are listed but written otherwise, 1.50 or 1e3; null for those that are not."""
        import pyarrow as pa
        import pyarrow.compute as pc

        strays = pc.utf8_trim_whitespace(column.cast(pa.string()).filter(where)).to_pylist()
        place = {float(value): code for code, value in enumerate(self.values)}
        found = [place.get(float(text)) if is_number(text) else None for text in strays]
        return pc.replace_with_mask(codes, where, pa.array(found, pa.int32()))

    def _comparable(self, column: pa.Array) -> tuple[pa.Array, pa.Array]:
        """The column and the values in one type; what means "no answer" in text or numbers is null."""
        import pyarrow as pa
        import pyarrow.compute as pc

        known, kind = self._value_set, column.type
        if is_text(kind) or pa.types.is_string(known.type):
            text = column.cast(pa.string())
            counted = pa.types.is_integer(known.type) or pa.types.is_floating(known.type)
            if counted or pa.types.is_floating(kind) or pa.types.is_temporal(kind):
                # whole numbers that passed through doubles, whole seconds in finer units
                text = pc.replace_substring_regex(text, r"\.0+$", "")
            names = known.cast(pa.string())
            if pa.types.is_boolean(known.type):
                text = pc.utf8_lower(text)
            elif pa.types.is_boolean(kind):
                text = self._as_words(text)
            text = self._spelled(text, names, self.spellings)
            strays = pc.and_(pc.is_valid(text), pc.invert(pc.is_in(text, value_set=names)))
            if pc.any(strays).as_py():  # blanks around a value, a spelling or "no answer"; a file of text has none left
                stripped = {spelling.strip(): value for spelling, value in self.spellings.items()}
                trimmed = self._spelled(pc.utf8_trim_whitespace(text), names, stripped)
                text = pc.if_else(strays, trimmed, text)
            missing = [word for word in NULL_WORDS if word not in names.to_pylist()]
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

    def _as_words(self, text: pa.Array) -> pa.Array:
        """Booleans as the words of the schema, TRUE or Yes: readers make booleans of such a column of a CSV."""
        import pyarrow.compute as pc

        for told, meant in _BOOLEANS.items():
            words = [value for value in self.values if str(value).lower() in meant]
            if len(words) == 1:
                text = pc.replace_substring(text, told, str(words[0]))
        return text

    def _spelled(self, text: pa.Array, names: pa.Array, spellings: Mapping[str, Any]) -> pa.Array:
        """The text with other spellings of a value replaced by the value."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not spellings:
            return text
        place_of = {value: code for code, value in enumerate(self.values)}
        meant = names.take(pa.array([place_of[value] for value in spellings.values()]))
        place = pc.index_in(text, value_set=pa.array(list(spellings), type=pa.string()))
        return pc.coalesce(meant.take(place), text)

    def moved(self, rows: int) -> str:
        return f"{rows:,} value{'s that are' if rows != 1 else ' that is'} not listed became {self.other!r}"

    def _shown(self) -> str:
        return ", ".join(map(str, self.values[:8])) + (", ..." if len(self.values) > 8 else "")

    def decode(self, codes: ArrayLike) -> pa.Array:
        import pyarrow as pa

        return pa.array(self.labels, type=self._value_set.type).take(pa.array(self._known(codes)))

    def meaning(self) -> dict[str, Any]:
        other = {} if self.other is None else {"other": self.other}
        return {"kind": self.kind, "values": list(self.values), **other, "nullable": self.nullable}

    def _written(self) -> dict[str, Any]:
        return {**super()._written(), **({"spellings": dict(self.spellings)} if self.spellings else {})}


@dataclass(frozen=True)
class Ordinal(Categorical):
    """Values in an order, lowest first: channels may use it, and cumulative counts make sense.

    ``clip`` takes a number that is not listed as the nearest one that is.

    >>> Ordinal((1, 2, 5, 10), clip=True).encode([2, 4, 99])
    array([1, 2, 3], dtype=uint8)
    """

    clip: bool = field(default=False, compare=False, kw_only=True)

    kind = "ordinal"

    @property
    def ordered(self) -> bool:
        return True

    @property
    def spaced(self) -> bool:
        if isinstance(self.values[0], str | bool) or len(self.values) < 2 or self.other is not None:
            return False
        gaps = np.diff(np.array(self.values, dtype=np.float64))
        return bool(gaps[0] > 0 and np.allclose(gaps, gaps[0], rtol=1e-6))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.clip and (isinstance(self.values[0], str | bool) or list(self.values) != sorted(self.values)):
            raise SchemaError("clip takes the nearest value: the values must be numbers in increasing order")
        if self.clip and self.other is not None:
            raise SchemaError("give either other or clip, not both")

    def _place_outside(self, codes: pa.Array, where: pa.Array, column: pa.Array, name: str) -> pa.Array:
        import pyarrow as pa
        import pyarrow.compute as pc

        if not self.clip:
            return super()._place_outside(codes, where, column, name)
        strays = column.filter(where)
        if is_text(strays.type):
            strays = pc.utf8_trim_whitespace(strays)
        try:
            numbers = np.asarray(strays.cast(pa.float64()).to_numpy(zero_copy_only=False))
            bad = np.flatnonzero(np.isnan(numbers)).tolist()
        except pa.ArrowInvalid:
            bad = [place for place, value in enumerate(strays.to_pylist()) if not is_number(value)]
        if bad:
            raise OutsideDomainError(name, "value", first_of(strays.slice(bad[0])), len(bad), self._shown())
        middle = (np.asarray(self.values[1:], float) + np.asarray(self.values[:-1], float)) / 2
        nearest = pa.array(np.searchsorted(middle, numbers, side="left"), type=pa.int32())
        return pc.replace_with_mask(codes, where, nearest)

    def moved(self, rows: int) -> str:
        if not self.clip:
            return super().moved(rows)
        return f"{rows:,} value{'s that are' if rows != 1 else ' that is'} not listed went to the nearest"

    def _written(self) -> dict[str, Any]:
        return {**super()._written(), **({"clip": True} if self.clip else {})}
