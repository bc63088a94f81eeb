"""What every domain answers: the values one attribute may take, each with a small integer code, 0 .. size - 1.

A nullable attribute has one more code, the last, for "no answer", which is randomized like any other value.

What an attribute *means* (its values, its edges) is told apart from how a file *writes* it (words for "no answer", a
unit, the format of dates) and from what happens to values outside (``clip``). Only the meaning counts when domains are
compared.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.arrays import Codes
from sfumato.errors import OutsideDomainError, OutsideDomainWarning, SchemaError, show_values, warn
from sfumato.input_checks import check_flags

if TYPE_CHECKING:
    import pyarrow as pa


#: How many values of each column lay outside its domain and were moved to "other" or to the nearest end.
Tally = Counter[str]


class Domain(ABC):
    """The values one attribute may take."""

    kind: ClassVar[str]
    nullable: bool
    missing: tuple[str, ...]  # words in the data that stand for "no answer"

    @property
    @abstractmethod
    def ordered(self) -> bool:
        """Whether the codes follow an order."""

    @property
    @abstractmethod
    def labels(self) -> tuple[Any, ...]:
        """What each code stands for, None last for a nullable attribute."""

    @property
    def label_array(self) -> NDArray[Any]:
        """The labels as an array, in the order of their codes."""
        return np.array(self.labels, dtype=object if None in self.labels else None)

    @property
    def listed(self) -> bool:
        """Whether the values can be listed; free text cannot."""
        return True

    @property
    def size(self) -> int:
        """The number of codes."""
        return len(self.labels)

    @property
    def code_type(self) -> np.dtype[Any]:
        return np.min_scalar_type(self.size - 1)

    @abstractmethod
    def encode(self, column: Any, name: str = "value", tally: Tally | None = None) -> Codes:
        """Codes of a column of raw values.

        A value outside the domain is an error, unless the domain says where it goes; then ``tally[name]`` counts it.
        """

    @property
    def spaced(self) -> bool:
        """Whether the codes stand for numbers or times at equal distances, so that their mean means something."""
        return False

    @property
    def rounds(self) -> bool:
        """Whether values lie between the codes, and are rounded to one of them at random by their owner."""
        return False

    def unrounded(self, column: Any, name: str = "value", tally: Tally | None = None) -> NDArray[np.float64]:
        """A column of raw values as numbers to be rounded, not a number for "no answer"."""
        raise SchemaError(f"column {name!r} is not rounded at random")

    def rounded(self, numbers: NDArray[np.float64], draws: NDArray[np.uint64]) -> Codes:
        """The code that each number is rounded to, by a uniform 63-bit draw."""
        raise SchemaError(f"a {self.kind} attribute is not rounded at random")

    def numbers(self, column: Any, name: str = "value", tally: Tally | None = None) -> NDArray[np.float64]:
        """A column of raw values as finite numbers inside the limits, for attributes that have them."""
        raise SchemaError(f"column {name!r} is {self.kind}: only a numeric attribute has numbers")

    @abstractmethod
    def decode(self, codes: ArrayLike) -> pa.Array:
        """Values for codes."""

    @abstractmethod
    def meaning(self) -> dict[str, Any]:
        """What the codes stand for, as JSON: equal exactly when the domains are."""

    def to_dict(self) -> dict[str, Any]:
        """The meaning, and how files write it."""
        return {**self.meaning(), **self._written()}

    def moved(self, rows: int) -> str:
        """In words: where values outside the domain went."""
        return f"{rows:,} value{'s' * (rows != 1)} outside {self.limits_text()} went to the nearest end"

    def limits_text(self) -> str:
        return f"{self.labels[0]} to {self.labels[self.size - self.nullable - 1]}"

    def _written(self) -> dict[str, Any]:
        return {"missing": list(self.missing)} if self.missing else {}

    def code(self, value: Any) -> int:
        """The code of one value."""
        return int(self.codes_of([value])[0])

    def codes_of(self, values: Sequence[Any]) -> Codes:
        """The codes of values that the caller names; an error may quote them, since they are none of the data."""
        import pyarrow as pa

        try:
            column = pa.array(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            raise SchemaError("the values of an attribute must all be text, all numbers or all booleans") from None
        with show_values():
            return self.encode(column, "value")

    def _known(self, codes: ArrayLike) -> NDArray[np.int64]:
        """The codes, if each of them stands for a value."""
        given = np.asarray(codes)
        if given.size and given.dtype.kind not in "iub":
            raise SchemaError(f"codes must be whole numbers without gaps, got {given.dtype} instead")
        known = given.astype(np.int64)
        if known.size and not 0 <= int(known.min()) <= int(known.max()) < self.size:
            raise SchemaError(f"codes must lie in [0, {self.size - 1}], got others: they are not of this domain")
        return known

    def _check_missing(self) -> None:
        """Words for "no answer" as text; they need a code of their own."""
        check_flags(SchemaError, nullable=self.nullable, clip=getattr(self, "clip", False))
        given = (self.missing,) if isinstance(self.missing, str) else self.missing
        if not isinstance(given, Iterable):
            raise SchemaError(f"missing must be a list of words for no answer, got {given!r} instead")
        words = tuple(given)
        if words and not self.nullable:
            raise SchemaError("missing names words for no answer: declare nullable=True too")
        object.__setattr__(self, "missing", tuple(str(word) for word in words))

    def _read(self, column: Any) -> pa.Array:
        """The column as Arrow, with this domain's own words for "no answer" turned into null."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = as_arrow(column)
        if not self.missing or pa.types.is_null(column.type):
            return column
        try:
            text = pc.utf8_trim_whitespace(column.cast(pa.string()))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return column  # holds no words at all; encode says what it cannot take
        plain = pc.replace_substring_regex(text, r"^([-+]?\d+)\.0+$", r"\1")  # 9 may have passed through doubles
        words = pa.array(self.missing)
        gone = pc.or_(pc.is_in(text, value_set=words), pc.is_in(plain, value_set=words))
        return pc.if_else(gone, pa.scalar(None, column.type), column)

    def _with_nulls(self, codes: pa.Array, nulls: int, name: str) -> Codes:
        if nulls:
            if not self.nullable:
                raise null_rows(name, nulls)
            codes = codes.fill_null(self.size - 1)
        return np.asarray(codes.to_numpy(zero_copy_only=False)).astype(self.code_type)


def null_rows(name: str, rows: int) -> OutsideDomainError:
    """The error of an attribute that takes no missing answers."""
    return OutsideDomainError(name, "null", None, rows, "declare the attribute nullable=True or fill them")


def count(tally: Tally | None, name: str, rows: int) -> None:
    if tally is not None and rows:
        tally[name] += rows


def warn_moved(domains: Mapping[str, Domain], tally: Tally, stacklevel: int = 3) -> None:
    """Say once for each column how many values were moved, and never which."""
    for name, rows in tally.items():
        warn(f"column {name!r}: {domains[name].moved(rows)}", OutsideDomainWarning, stacklevel=stacklevel)


def as_arrow(column: Any) -> pa.Array:
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if not isinstance(column, pa.Array):
        column = pa.array(column, from_pandas=True)
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def first_of(column: pa.Array) -> Any:
    """The first value of a column; as text where Python has none such, as times beyond the year 9999."""
    try:
        return column[0].as_py()
    except (OverflowError, ValueError):
        return column.slice(0, 1).cast("string")[0].as_py()


def is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_number(value: Any) -> bool:
    """Whether a value is read as a number, by Arrow as by Python, which also takes 1_000 and digits of other scripts.

    >>> is_number("1e3"), is_number("1_000"), is_number("x")
    (True, False, False)
    """
    if isinstance(value, str) and ("_" in value or not value.isascii()):
        return False
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
